package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPageFocusReturns opens by the keyboard what opens: Escape closes the innermost, and the focus goes back to what opened it.
func TestPageFocusReturns(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	furnish(bounded(t, browserTimeout), t, node)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.goTo(stop{path: "/c/team", shows: ".message"})
	on := func(selector string) string { return fmt.Sprintf(`document.activeElement.matches(%q)`, selector) }
	press := func(selector string) {
		t.Helper()
		alice.see(fmt.Sprintf(`document.querySelector(%q)`, selector))
		alice.do(chromedp.Focus(chromedp.CSS(selector)))
		alice.see(fmt.Sprintf(`getComputedStyle(document.activeElement).outlineStyle !== "none" && %s`, on(selector)))
		alice.enter()
	}
	for _, panel := range []string{"search", "files", "members", "settings"} {
		button := fmt.Sprintf(`.group-tools [data-open=%s]`, panel)
		press(button)
		alice.see(fmt.Sprintf(`document.querySelector(".panel[data-panel=%s]")`, panel))
		alice.press(kb.Escape)
		alice.see(`!document.querySelector(".panel") && ` + on(button))
	}

	// A question over a panel: one Escape each.
	press(".group-tools [data-open=settings]")
	press("button[name=leave]")
	alice.see(`document.querySelector("dialog form[name=confirm]")`)
	alice.press(kb.Escape)
	alice.see(`!document.querySelector("dialog") && document.querySelector(".panel") && ` + on("button[name=leave]"))
	alice.press(kb.Escape)
	alice.see(`!document.querySelector(".panel") && ` + on(".group-tools [data-open=settings]"))

	// Over everything: back to where one was.
	alice.chord("k", chromedp.ModifierCtrl)
	alice.see(on("input[name=switch]"))
	alice.press(kb.Escape)
	alice.see(`!document.querySelector("dialog") && ` + on(".group-tools [data-open=settings]"))

	// The toolbar of a message is one stop, in which arrows move; what was chosen from its menu gives the focus back to the message.
	row := `.message[data-from=alice][data-id]`
	alice.do(chromedp.Focus(chromedp.CSS(row)))
	alice.see(fmt.Sprintf(`document.querySelectorAll(%q).length === 1`, row+` .tools [tabindex="0"]`))
	alice.press(".")
	alice.see(on(row + " .menu [role=menuitem]"))
	alice.press(kb.Escape)
	alice.see(`!document.querySelector(".menu") && ` + on(row))
	alice.press(".")
	press(row + ` .menu [aria-label="View read receipts"]`)
	alice.see(`document.querySelector(".panel[data-panel=receipts]")`)
	alice.press(kb.Escape)
	alice.see(`!document.querySelector(".panel") && ` + on(row))
}
