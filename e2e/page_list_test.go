package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// tab presses the Tab key until something of the selector has the focus, and returns how often that took.
func (p *person) tab(selector string, most int) int {
	p.t.Helper()
	for n := 1; n <= most; n++ {
		p.press(kb.Tab)
		if ask[bool](p, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return n
		}
	}
	p.t.Errorf("%s: %d presses of Tab do not come to %s but to %s", p.name, most, selector, ask[string](p, `document.activeElement.outerHTML.slice(0, 200)`))
	return most
}

// TestPageListOfManyGroups has 300 groups: few rows are drawn, a mention stands above the rest, and the keyboard passes the
// list with one press.
func TestPageListOfManyGroups(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	for i := range 300 {
		must(bob.CreateGroup(ctx, client.GroupDraft{ID: fmt.Sprintf("g%03d", i), Name: fmt.Sprintf("Group %03d", i), Members: []string{"alice"}}))(t)
	}
	mention := must(bob.Send(ctx, "g007", mentioning("hello @alice", "alice")))(t)
	must(bob.Send(ctx, "g009", client.Text("hello all")))(t)

	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.see(`document.querySelector(".list-head[data-section=groups] span")?.textContent === "298"`)
	alice.see(`document.querySelector(".group-link").dataset.group === "g007" && document.querySelector("[data-group=g007] .badge.at")`)
	alice.see(unread("g009") + ` === 1`)
	if rows := ask[int](alice, `document.querySelectorAll(".group-link").length`); rows > 60 {
		t.Errorf("%d rows are drawn of 300", rows)
	}

	// The keyboard: one stop for the list, in which End, Home, letters and arrows move.
	alice.open("g007")
	alice.do(chromedp.Reload())
	alice.live()
	alice.see(`document.querySelector(".write textarea") && document.querySelectorAll(".group-link[tabindex='0']").length === 1`)
	alice.script(`document.activeElement.blur()`)
	alice.tab(".skip", 1)
	alice.tab(".group-link", 6)
	alice.press(kb.End)
	alice.see(`document.activeElement.dataset.group === "g000"`)
	harness.Eventually(t, waitTimeout, "the letters of a name lead to its group", func() error { // if they come within 700 ms of each other
		alice.press(kb.End + "Group 15")
		alice.frames(2)
		if at := ask[string](alice, `document.activeElement.dataset.group ?? document.activeElement.outerHTML`); at != "g159" {
			return errors.New(at)
		}
		return nil
	})
	alice.press(kb.ArrowDown)
	alice.see(`document.activeElement.dataset.group === "g158"`)
	alice.press(kb.Home)
	alice.see(`document.activeElement.closest(".groups") && document.activeElement.dataset.group.match(/^g00[79]$/)`)
	alice.script(`document.activeElement.blur(), document.querySelector(".skip").focus()`)
	alice.tab(".message", 10)
	alice.script(`document.activeElement.blur(), document.querySelector(".skip").focus()`)
	alice.tab(".write textarea", 11) // and .skip is one
	alice.script(`document.querySelector(".skip").focus()`)
	alice.enter() // the shortest way: Tab, Enter
	alice.see(`document.activeElement.matches(".write textarea")`)

	// The filter, and what unread groups say from out of sight.
	alice.do(chromedp.Focus(chromedp.CSS("input[name=filter]")))
	alice.press("group 123")
	alice.see(`document.querySelectorAll(".group-link").length === 1`)
	alice.enter()
	alice.see(`location.pathname === "/c/g123" && document.querySelector("input[name=filter]").value === ""`)
	alice.script(`document.querySelector(".groups").scrollTop = 6000`)
	alice.see(`document.querySelector(".beyond.up")?.textContent.match(/^\d unread above/)`)
	alice.click(".beyond.up")
	alice.see(`document.querySelector(".groups").scrollTop === 0 && !document.querySelector(".beyond")`)

	// A favourite has a section of its own, also after a reload.
	alice.click(`button[aria-label="Add to favourites"]`)
	alice.see(`document.querySelector(".list-head[data-section=starred]")`)
	alice.do(chromedp.Reload())
	alice.see(`document.querySelector(".list-head[data-section=starred] span")?.textContent === "1"`)

	// Its width.
	alice.do(chromedp.Focus(chromedp.CSS(".divider")))
	alice.press(kb.End)
	alice.see(`document.querySelector(".side").offsetWidth === 420`)

	// From one unread group to the next, also from an empty place to write, where the arrow alone would edit; and round the regions.
	must(node.Client("alice").Read(ctx, "g007", mention.ID))(t)
	must(bob.Send(ctx, "g020", client.Text("and again")))(t)
	alice.see(`["g020", "g009"].every((id, i) => document.querySelectorAll(".group-link")[i].dataset.group === id)`)
	alice.click(".write textarea")
	alice.chord(kb.ArrowUp, chromedp.ModifierAlt, chromedp.ModifierShift)
	alice.see(`location.pathname === "/c/g009" && document.querySelector(".write textarea")`)
	alice.click(".write textarea")
	alice.chord(kb.ArrowDown, chromedp.ModifierAlt, chromedp.ModifierShift)
	alice.see(`location.pathname === "/c/g020" && document.querySelector(".write textarea")`)
	alice.script(`document.activeElement.blur()`)
	for _, region := range []string{".rail [aria-current], .rail a", ".group-link", "main", ".write textarea", ".rail *"} {
		alice.press(kb.F6)
		alice.see(fmt.Sprintf(`document.activeElement.matches(%q)`, region))
	}
	alice.chord(kb.F6, chromedp.ModifierShift)
	alice.see(`document.activeElement.matches(".write textarea")`)
}
