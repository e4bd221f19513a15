package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
)

// TestPageBlocks blocks the author of a message, looks at one all the same, and ends it at oneself; then blocks a member.
func TestPageBlocks(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "team", Members: []string{"alice"}}))(t)
	must(bob.Send(ctx, "team", client.Draft{Body: "out with it"}))(t)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("team")
	row := alice.stands("out with it")
	alice.tool(row, "More actions")
	alice.click(row + ` button[aria-label="Block…"]`)
	alice.see(`document.querySelector(".ask")?.textContent.startsWith("Block bob?")`)
	alice.picture(picturesDir(t), "block-question.png")
	alice.click(row + " .ask .danger")
	alice.see(shows(row, "Blocked person · Show"))
	alice.see(`document.querySelector(".group-link[data-group=team] .group-last").textContent === "Message of a blocked person"`)
	alice.picture(picturesDir(t), "blocked-folded.png")
	if _, err := bob.SendDirect(ctx, "alice", client.Direct{Body: "psst"}); client.CodeOf(err) != client.CodeBlocked {
		t.Errorf("got %v", err)
	}

	// It holds for what comes, and after a reload; each can be looked at.
	must(bob.Send(ctx, "team", client.Draft{Body: "again"}))(t)
	alice.see(`document.querySelectorAll(".message.folded").length === 2`)
	alice.do(chromedp.Reload())
	alice.see(`document.querySelectorAll(".message.folded").length === 2`)
	alice.click(row + " button[name=show-blocked]")
	alice.stands("out with it")
	alice.see(`document.querySelectorAll(".message.folded").length === 1`)

	// The list of them.
	alice.click(`.rail a[href="/me"]`)
	alice.see(`document.querySelector("[data-list=blocked] [data-user=bob]")`)
	alice.script(`document.querySelector("[data-list=blocked]").scrollIntoView({ block: "center" })`)
	alice.picture(picturesDir(t), "blocked-people.png")
	alice.click("[data-list=blocked] [data-user=bob] button")
	alice.see(`!document.querySelector("[data-list=blocked]")`)
	alice.script("history.back()")
	alice.stands("again")
	must(bob.SendDirect(ctx, "alice", client.Direct{Body: "psst"}))(t)

	alice.click(`.group-head button[aria-label="Members"]`)
	alice.menu("bob", "Block")
	alice.sure()
	alice.see(`document.querySelectorAll(".message.folded").length === 2`)
	alice.menu("bob", "Unblock")
	alice.sure()
	alice.stands("again")
}
