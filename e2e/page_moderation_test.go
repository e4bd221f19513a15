package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chatd/chatd/client"
)

// TestPageModeration: a member reports a message, and those who manage the group decide; what waits for them they release or drop.
func TestPageModeration(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	node := devNode(t)
	owner, carl := node.Client("alice"), node.Client("carl")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"bob", "carl"}}))(t)
	bad := must(carl.Send(ctx, "team", client.Text("Cheap watches")))(t)
	browser := startBrowser(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")

	row := fmt.Sprintf(".message[data-id=%q]", fmt.Sprint(bad.ID))
	bob.open("team")
	bob.tool(row, "More actions")
	bob.click(`[role=menuitem][aria-label="Report…"]`)
	bob.click("dialog input[name=reason][value=abuse]")
	bob.fill("dialog textarea[name=note]", "for the third time")
	bob.picture(picturesDir(t), "report.png")
	bob.click("dialog form[name=report] button.primary")
	bob.see(`!document.querySelector("dialog") && document.querySelector(".toast")?.textContent.includes("Reported")`)

	alice.open("team")
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.see(shows(".requests li[data-report] .said", "Cheap watches"))
	alice.see(`/bob.*abusive.*for the third time/.test(document.querySelector(".requests li[data-report] .note").textContent)`)
	alice.picture(picturesDir(t), "reports.png")
	alice.click(".requests li[data-report] button[name=delete]")
	alice.see(`!document.querySelector("li[data-report]")`)
	bob.see(`!document.body.textContent.includes("Cheap watches")`)

	// What a list of words holds back is read by them first.
	must(owner.PutGroupWords(ctx, "team", client.Words{Refuse: []string{}, Mask: []string{}, Review: []string{"offer*"}}))(t)
	for _, body := range []string{"An offer for you", "An offering for the church"} {
		var e *client.Error
		if _, err := carl.Send(ctx, "team", client.Text(body)); !errors.As(err, &e) || e.Code != client.CodeInReview {
			t.Fatalf("got %v, want that it waits", err)
		}
	}
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.see(`document.querySelectorAll(".requests li[data-review]").length === 2`)
	alice.picture(picturesDir(t), "reviews.png")
	alice.click(".requests li[data-review] button[name=drop]")
	alice.see(`document.querySelectorAll(".requests li[data-review]").length === 1`)
	alice.click(".requests li[data-review] button[name=release]")
	alice.see(`!document.querySelector(".requests")`)
	bob.see(message("An offering for the church"))
	bob.see(`!document.body.textContent.includes("An offer for you")`)
	alice.size(390, 800)
	alice.fits()
}
