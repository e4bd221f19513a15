package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// kept is all that the browser has stored, as text.
const kept = `(async () => JSON.stringify([(await indexedDB.databases()).map((d) => d.name), { ...localStorage }, { ...sessionStorage }]))()`

// TestPageKeepsUsersApart leaves an unsent message and a draft behind, once by signing out and once because another tab signs in: the next
// user neither sees nor sends them. Nothing is left of whoever signed out.
func TestPageKeepsUsersApart(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	must(node.Client("carol").CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice", "bob"}}))(t)
	p := newPerson(t, startBrowser(t), node, "alice")
	p.refused(true)
	leaveBehind := func(who string) {
		t.Helper()
		p.open("team")
		p.say("hello from " + who)
		p.stands("hello from " + who)
		node.Kill()
		p.see(`document.querySelector(".link-state").dataset.phase !== "live"`)
		p.say("left behind by " + who)
		p.see(`document.querySelectorAll(".message.is-waiting").length === 1`)
		p.fill(".write textarea", "draft of "+who)
	}

	p.click(".rail .me")
	p.see(`document.querySelector("button[name=sign-out]")`) // loaded once, it works without the server
	leaveBehind("alice")
	p.click(".rail .me")
	p.click("button[name=sign-out]")
	p.see(`document.querySelector("input[name=name]") && !/left behind|draft of|team/i.test(document.body.innerText + location.href)`)
	if left := ask[string](p, kept); strings.Contains(left, "team") || strings.Contains(left, "alice") {
		t.Errorf("left behind: %s", left)
	}
	node.Start()
	p.do(chromedp.Reload())
	p.click(".card .text-button")
	p.fill("textarea[name=token]", harness.Token("bob", "", time.Hour))
	p.click(".card button.primary")
	p.isSignedIn("bob")
	p.open("team")
	p.see(field + `.value === ""`)

	leaveBehind("bob")
	p.anotherTab(signInOf("alice", harness.Token("alice", "", time.Hour)))
	p.see(`document.querySelector(".rail .me")?.title === "alice" && !/left behind|draft of/.test(document.body.innerText) && location.pathname === "/c/team"`)
	node.Start()
	p.live()
	p.open("team")
	p.see(field + `.value === ""`)
	p.say("bye")
	p.stands("bye")
	const want = "hello from alice|hello from bob|bye"
	p.see(fmt.Sprintf(`%s === %q`, textsShown, want))
	var stored []string
	for _, m := range texts(t, node.Client("carol"), "team", 3) {
		stored = append(stored, m.Body)
	}
	if got := strings.Join(stored, "|"); got != want {
		t.Errorf("the server has %q, want %q", got, want)
	}
}

// TestPageDropsAnswersOfTheLastUser holds back an answer until another user is signed in.
func TestPageDropsAnswersOfTheLastUser(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team"}))(t)
	must(bob.SendDirect(ctx, "alice", client.Direct{Body: "for alice alone"}))(t)
	p := blankPage(t, startBrowser(t), "alice")
	_, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		delete window.WebSocket; // all comes as answers
		const load = fetch;
		fetch = async (url, options) => {
			const answer = await load(url, options);
			if (String(url).includes("/v1/sync") && !window.release) await new Promise((done) => { window.release = done; });
			return answer;
		};
		new MutationObserver(() => { window.leaked ||= /for alice alone/.test(document.body?.innerText) || document.querySelector("[data-view=inbox] .badge") !== null; })
			.observe(document, { subtree: true, childList: true, characterData: true });`})
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(node.SignInURL() + "&user=alice"))
	p.see(`window.release`)
	p.anotherTab(signInOf("bob", harness.Token("bob", "", time.Hour)))
	p.isSignedIn("bob")
	p.open("team")
	p.script(`window.release()`)
	p.say("hello")
	p.stands("hello")
	if ask[bool](p, `!!window.leaked`) {
		t.Error("bob saw what is in alice's inbox")
	}
	p.anotherTab(signInOf("alice", harness.Token("alice", "", time.Hour))) // whom it is for
	p.see(`window.leaked`)
}

// TestPageFollowsAnotherDevice reads on one device of a person, and looks at the other.
func TestPageFollowsAnotherDevice(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	browser := startBrowser(t)
	desk, phone := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "alice")
	both := []*person{desk, phone}
	phone.size(360, 720)
	must(bob.Send(ctx, "team", client.Text("are you there?")))(t)
	for _, p := range both {
		p.see(unread("team") + ` === 1 && document.title === "(1) chatd"`)
	}
	phone.open("team")
	phone.stands("are you there?")
	desk.see(unread("team") + ` === 0 && document.title === "chatd"`)
	phone.say("on my way")
	desk.open("team")
	desk.stands("on my way")
	desk.see(shows(".message.mine .body", "on my way"))
	must(bob.Read(ctx, "team", 4))(t)
	for _, p := range both {
		p.see(`document.querySelector(".message.mine .readers")?.dataset.readers === "bob"`)
		p.refused(true) // a page that still loads older messages is refused them
	}
	must(struct{}{}, bob.RemoveMember(ctx, "team", "alice"))(t)
	for _, p := range both {
		p.see(`!document.querySelector(".group-link") && document.querySelector(".nothing h1")?.textContent === "You’re not in this group"`)
	}
}
