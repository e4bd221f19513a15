package e2e

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// mentioning is a text that mentions users.
func mentioning(body string, users ...string) client.Draft {
	return client.Draft{Body: body, Mentions: users}
}

// TestPageInboxEmpties: what was read where it was said is done, here and on the server; the rest is done one by one.
func TestPageInboxEmpties(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	for _, id := range []string{"one", "two"} {
		must(bob.CreateGroup(ctx, client.GroupDraft{ID: id, Name: id, Members: []string{"alice"}}))(t)
	}
	said := must(bob.Send(ctx, "one", mentioning("hello @alice", "alice")))(t)
	must(bob.Send(ctx, "two", mentioning("and @alice again", "alice")))(t)

	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.see(`document.querySelector("[data-view=inbox] .badge")?.textContent === "4"`)
	alice.click("[data-view=inbox]")
	alice.see(`document.querySelectorAll(".inbox-group").length === 2`)

	// Read on another device: the items of that group are done.
	must(node.Client("alice").Read(ctx, "one", said.ID))(t)
	alice.see(`document.querySelectorAll(".inbox-group").length === 1`)
	// One is done with by hand, and stays so over a reload although an earlier one is open.
	alice.click(`.item[data-kind=mention] button[aria-label="Done"]`)
	alice.see(`document.querySelectorAll(".item").length === 1`)
	alice.script(`location.reload()`)
	alice.see(`document.querySelector("[data-view=inbox] .badge")?.textContent === "1"`)
	alice.click(`.item button[aria-label="Done"]`)
	alice.see(`document.querySelector(".nothing h2")?.textContent.includes("caught up")`)
	alice.see(`!document.querySelector("[data-view=inbox] .badge")`)
	harness.Eventually(t, waitTimeout, "the server knows that the inbox is done with", func() error {
		if left := must(node.Client("alice").Inbox(ctx, nil, 0))(t).Items; len(left) > 0 {
			return fmt.Errorf("it has %d items", len(left))
		}
		return nil
	})

	// What is said to alice alone stands under one heading, whoever says it.
	for _, from := range []string{"bob", "carol"} {
		must(node.Client(from).SendDirect(ctx, "alice", client.Direct{Body: "hello from " + from}))(t)
	}
	alice.see(`document.querySelectorAll(".item[data-kind=direct]").length === 2 && document.querySelectorAll(".inbox-group").length === 1`)
}
