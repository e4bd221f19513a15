package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
)

// TestPageNoticesADeadNetwork has all connections die in silence while nobody does anything: the page says so, and is live again by
// itself. The server is said to send something every second, so that the test need not wait as long as people have to.
func TestPageNoticesADeadNetwork(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	wire := startWire(t, node.Addr)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)

	alice := blankPage(t, startBrowser(t), "alice")
	alice.refused(true)
	_, err := chromedp.Call(alice.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.WebSocket = class extends WebSocket {
			set onmessage(run) { super.onmessage = run && (({data}) => run({data: data.replace(/"ping_s":\d+/, '"ping_s":1')})); }
		};
		window.phases = [];
		new MutationObserver(() => {
			const s = document.querySelector(".link-state");
			if (s && window.phases.at(-1) !== s.dataset.phase + s.childElementCount) window.phases.push(s.dataset.phase + s.childElementCount);
		}).observe(document, {subtree: true, childList: true, attributes: true});`})
	if err != nil {
		t.Fatal(err)
	}
	alice.do(chromedp.Navigate(wire.url() + node.SignInURL()[len(node.URL()):]))
	alice.fill("input[name=name]", "alice")
	alice.enter()
	alice.by("websocket")
	alice.script(`phases.length = 0`)
	wire.die()
	must(bob.Send(ctx, "team", client.Text("into the hole")))(t)
	alice.see(`phases.includes("connecting0") || phases.includes("waiting0") || phases.includes("waiting1")`)
	alice.by("websocket")
	alice.see(unread("team") + ` === 1`)

	// The browser says that it has no network, as when somebody switches it off: that shows at once, with what waits.
	alice.open("team")
	alice.script(`Object.defineProperty(navigator, "onLine", {get: () => false, configurable: true}), dispatchEvent(new Event("offline"))`)
	alice.see(`document.querySelector(".link-state strong")?.textContent === "You’re offline"`)
	alice.script(`delete navigator.onLine, dispatchEvent(new Event("online"))`)
	alice.see(`!document.querySelector(".link-state > div")`)

	// The server goes away: since when, and how many wait.
	node.Kill()
	alice.see(`document.querySelector(".link-state > div")?.textContent.includes("since")`)
	alice.say("while it was down")
	alice.see(`document.querySelector(".link-state > div").textContent.includes("1 message waits") && document.querySelector("[data-group=team] .mark")`)
	node.Start()
	alice.by("websocket")
	alice.stands("while it was down")
}
