package e2e

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
)

// TestPageMentionsAll mentions everybody by @all, which is offered to those who may.
func TestPageMentionsAll(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	must(node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "town", Members: []string{"bob", "carol"}}))(t)
	browser := startBrowser(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")
	alice.open("town")
	alice.fill(".write textarea", "Fire drill @al")
	alice.see(`document.querySelector(".offered [aria-selected=true]")?.dataset.offer === "@all"`)
	alice.press(kb.Tab)
	alice.see(field + `.value === "Fire drill @all " && !document.querySelector(".write-note")`)
	alice.enter()
	bob.see(`document.querySelector("[data-group=town] .badge.at")?.textContent.includes("@")`)
	bob.open("town")
	bob.see(`document.querySelector(".message.for-me .mention.self")?.textContent === "@all"`)
	if sent := texts(t, node.Client("carol"), "town", 1); sent[0].Body != "Fire drill @all" || !slices.Equal(sent[0].Mentions, []string{"@all"}) {
		t.Errorf("sent %+v", sent)
	}

	// An ordinary member may not, by default, and is told what the text is then.
	bob.fill(".write textarea", "@all ")
	bob.see(shows(".write-note", "Not a member: @all"))
	must(node.Client("alice").UpdateGroup(ctx, "town", client.GroupChange{MentionAll: new("members")}))(t)
	bob.see(`!document.querySelector(".write-note")`)
	bob.enter()
	alice.see(`document.querySelectorAll(".message.for-me .mention.self").length === 1`)
}
