package e2e

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestBrowserSignsInByToken uses a server without the development sign-in.
func TestBrowserSignsInByToken(t *testing.T) {
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "off"}})
	page := openPage(t, startBrowser(t), node, "alice")
	page.refused(true)
	page.fill("input[name=name]", "alice")
	page.enter()
	page.see(`document.querySelector(".problem")?.textContent.startsWith("This server has no sign-in by name")`)

	token := func(text string) {
		ask[string](page, `document.querySelector("textarea[name=token]").value = ""`)
		page.fill("textarea[name=token]", text)
		page.click(".card button.primary")
	}
	token("no token")
	page.see(`document.querySelector(".problem")?.textContent.startsWith("This is no token")`)
	token(harness.Token("alice", "", -time.Hour))
	page.see(`document.querySelector(".problem") && !document.querySelector(".problem").textContent.startsWith("This is no token")`)
	token(harness.Token("alice", "", time.Hour))
	page.see(shows(".me-name", "alice"))
	page.live()
	page.refused(false)
	page.do(chromedp.Reload())
	page.live()
	page.click(`button[aria-label="Sign out"]`)
	page.see(`document.querySelector("input[name=name]")`)
	page.do(chromedp.Reload())
	page.see(`document.querySelector("input[name=name]")`)
}

// TestBrowserFollowsAnotherDevice reads on one device of a person, and looks at the other.
func TestBrowserFollowsAnotherDevice(t *testing.T) {
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	browser := startBrowser(t)
	desk, phone := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "alice")
	phone.size(360, 720)
	must(bob.Send(ctx, "team", client.Text("are you there?")))(t)
	for _, p := range []*person{desk, phone} {
		p.see(`document.querySelector(".badge[data-unread='1']")`)
	}
	phone.open("team")
	phone.stands("are you there?")
	desk.see(`!document.querySelector(".badge[data-unread]") && document.title === "chatd"`)
	phone.say("on my way")
	desk.open("team")
	desk.stands("on my way")
	desk.see(`document.querySelector(".message.mine .body").textContent === "on my way"`)
	must(bob.Read(ctx, "team", 4))(t)
	for _, p := range []*person{desk, phone} {
		p.see(`document.querySelector(".message.mine .readers")?.dataset.readers === "bob"`)
	}

	must(struct{}{}, bob.RemoveMember(ctx, "team", "alice"))(t)
	for _, p := range []*person{desk, phone} {
		p.see(`!document.querySelector(".group-link") && document.querySelector(".toast")?.textContent === "You are no longer in Team."`)
	}
}
