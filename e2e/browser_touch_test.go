package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// phone makes the window one of a phone that is touched.
func (p *person) phone() {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(360, 720, chromedp.EmulateMobile, chromedp.EmulateTouch))
}

// tap touches the middle of what of an element is on screen, once nothing there moves and nothing covers it.
func (p *person) tap(expression string) {
	p.t.Helper()
	p.see(fmt.Sprintf(`((e) => {
		const r = e?.getBoundingClientRect(), view = document.querySelector(".scroller").getBoundingClientRect(), before = window.touching;
		window.touching = r && [(r.left + r.right) / 2, (Math.max(r.top, view.top) + Math.min(r.bottom, view.bottom)) / 2];
		return r && before?.join() === window.touching.join() && e.contains(document.elementFromPoint(...before));
	})(%s)`, expression))
	at := ask[[]float64](p, `(([at]) => { window.touching = undefined; return at; })([window.touching])`)
	for _, touch := range []input.DispatchTouchEventParams{
		{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: at[0], Y: at[1]}}},
		{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
	} {
		if _, err := chromedp.Call(p.ctx, input.DispatchTouchEvent, touch); err != nil {
			p.t.Fatal(err)
		}
	}
}

// reachable is the expression that all elements of a selector are wholly in the window, and nothing covers them.
func reachable(selector string) string {
	return fmt.Sprintf(`(() => { const all = [...document.querySelectorAll(%q)]; return all.length > 0 && all.every((e) => {
		const r = e.getBoundingClientRect(), hit = document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2);
		return r.width > 0 && r.left >= 0 && r.right <= innerWidth && r.top >= 0 && r.bottom <= innerHeight && (e === hit || e.contains(hit)); }); })()`, selector)
}

// TestBrowserLongMessageOnAPhone uses the tools of messages that are longer than the window, one's own and another's.
func TestBrowserLongMessageOnAPhone(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob, alice := node.Client("bob"), node.Client("alice")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	long := strings.Repeat("a long message that goes on and on ", 120) + "and ends"
	texts := map[string]string{"theirs": "theirs " + long, "short": "ok", "mine": "mine " + long}
	must(bob.Send(ctx, "team", client.Text(texts["theirs"])))(t)
	must(bob.Send(ctx, "team", client.Text(texts["short"])))(t)
	must(alice.Send(ctx, "team", client.Text(texts["mine"])))(t)
	page := newPerson(t, startBrowser(t), node, "alice")
	page.phone()
	page.open("team")
	for name, text := range texts {
		of := page.stands(text)
		parts := []float64{0, 0.5, 0.97} // of the message, at the top of the window
		if name == "short" {
			parts = parts[:1]
		}
		for _, part := range parts {
			ask[float64](page, fmt.Sprintf(`(() => { const el = document.querySelector(".scroller"), m = %s; document.activeElement.blur();
				return el.scrollTop = m.offsetTop + m.offsetHeight * %f; })()`, message(text), part))
			page.tap(message(text) + `.querySelector(".bubble")`)
			page.see(reachable(of + " .tools button"))
			page.fits()
		}
		// The tap that makes them appear presses none of them.
		page.see(`!document.querySelector("dialog, .popover, .about")`)
		page.tap(fmt.Sprintf(`document.querySelector(%q)`, of+` .tools button[aria-label="Add reaction"]`))
		page.see(reachable(of + " .picker button"))
		page.see(reachable(of + " .picker input"))
		page.tap(fmt.Sprintf(`document.querySelector(%q)`, of+" .picker button:nth-child(3)"))
		page.see(fmt.Sprintf(`document.querySelector(%q)?.textContent === "😂1" && !document.querySelector(".picker")`, of+" .reaction"))
		if name == "mine" {
			page.tap(message(text) + `.querySelector(".bubble")`)
			page.see(reachable(of + " .tools button"))
			page.tap(fmt.Sprintf(`document.querySelector(%q)`, of+` .tools button[aria-label="Delete"]`))
			page.see(reachable(of + " .ask button"))
			page.tap(`document.querySelector(".ask .danger")`)
			page.see(message("This message was deleted"))
		}
	}
}

// TestBrowserReactionPicker opens and closes pickers in every way, and reacts.
func TestBrowserReactionPicker(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	for _, text := range []string{"one", "something", "between", "them", "two"} {
		must(bob.Send(ctx, "team", client.Text(text)))(t)
	}
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("team")
	one, two := alice.stands("one"), alice.stands("two")
	closed := `!document.querySelector(".picker")`
	open := func(of string) string {
		return fmt.Sprintf(`document.querySelectorAll(".picker").length === 1 && document.querySelector(%q)?.checkVisibility()`, of+" .picker")
	}

	alice.tool(one, "Add reaction")
	alice.see(open(one))
	alice.see(`document.activeElement.ariaLabel === "React with 👍"`)
	alice.press(kb.Escape)
	alice.see(closed)
	alice.see(`document.activeElement.ariaLabel === "Add reaction"`)

	alice.tool(one, "Add reaction")
	alice.see(open(one))
	alice.click(one + ` button[aria-label="Add reaction"]`)
	alice.see(closed)

	alice.tool(one, "Add reaction")
	alice.see(open(one))
	alice.click(".group-title")
	alice.see(closed)

	alice.tool(one, "Add reaction")
	alice.see(open(one))
	alice.tool(two, "Add reaction")
	alice.see(open(two))

	// One emoji is a reaction; anything else is refused with a reason.
	for _, text := range []string{"x", "👍👍", "👍 ok", "+1", "1"} {
		ask[string](alice, `document.querySelector(".picker input").value = ""`)
		alice.fill(two+" .picker input", text)
		alice.enter()
		alice.see(shows(".picker .problem", "Enter a single emoji."))
	}
	ask[string](alice, `document.querySelector(".picker input").value = ""`)
	if _, err := chromedp.Call(alice.ctx, input.InsertText, input.InsertTextParams{Text: "👩‍🚀"}); err != nil { // no key has it
		t.Fatal(err)
	}
	alice.enter()
	alice.see(fmt.Sprintf(`document.querySelector(%q)?.textContent === "👩‍🚀1"`, two+" .reaction"))
	alice.see(closed)
	serverHasReaction(ctx, t, bob, "team", "alice")
}

// serverHasReaction waits until the server has the one reaction that the page shows: that may still be in its outbox.
func serverHasReaction(ctx context.Context, t *testing.T, reader *client.Client, group, from string) {
	t.Helper()
	harness.Eventually(t, waitTimeout, "the server's reactions", func() error {
		var found []client.Message
		for _, m := range must(reader.Messages(ctx, group, client.Range{After: client.At(0)}))(t).Messages {
			if m.Kind == "reaction" {
				found = append(found, m)
			}
		}
		if len(found) != 1 || found[0].From != from {
			return fmt.Errorf("%+v, want one of %s", found, from)
		}
		return nil
	})
}

// TestBrowserManyAndLongNames looks at the members and the notices of a group where names are as long as they may be.
func TestBrowserManyAndLongNames(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	alice := node.Client("alice")
	long := strings.Repeat("w", 64)
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: strings.Repeat("W", 100)}))(t)
	people := []string{"bob", long, "carol", "dora", "erik"}
	for _, name := range people {
		must(alice.PutMember(ctx, "team", name, ""))(t)
	}
	must(struct{}{}, alice.RemoveMember(ctx, "team", "erik"))(t)
	page := newPerson(t, startBrowser(t), node, "alice")
	page.phone()
	page.open("team")

	added := fmt.Sprintf(`[...document.querySelectorAll(".line.notice summary")].find((s) => s.textContent === "alice added bob, %s and 3 others")`, long)
	page.see(added)
	page.see(`[...document.querySelectorAll(".line.notice")].map((l) => (l.querySelector("summary") ?? l).textContent).at(-1) === "alice removed erik"`)
	page.see(`document.querySelectorAll(".line.notice").length === 3`)
	page.tap(added)
	page.see(added + `.parentElement.open && [...document.querySelectorAll(".line.notice li")].map((l) => l.textContent).at(-1) === "alice added erik"`)
	page.fits()

	page.click(`button[aria-label="Members"]`)
	page.see(`document.querySelectorAll("dialog .people li").length === 5`)
	row := fmt.Sprintf(`dialog li[data-user=%s]`, long)
	page.see(reachable(row + " select"))
	page.see(reachable(row + " button"))
	page.see(fmt.Sprintf(`(() => { const name = document.querySelector(%q), sheet = document.querySelector(".sheet-body");
		return name.textContent === %q && name.scrollWidth <= name.clientWidth && name.clientWidth > 150 && sheet.scrollWidth <= sheet.clientWidth; })()`, row+" .person", long))
	page.see(reachable("dialog .row-form input[name=user]"))
	page.see(reachable("dialog .row-form .primary"))
	page.do(chromedp.SetValue(chromedp.CSS(row+" select"), "admin"))
	ask[bool](page, fmt.Sprintf(`document.querySelector(%q).dispatchEvent(new Event("change", { bubbles: true }))`, row+" select"))
	page.see(fmt.Sprintf(`[...document.querySelectorAll(".line.notice")].some((l) => l.textContent === "%s is now an admin")`, long))
	page.click(row + ` button[aria-label^="Remove"]`)
	page.see(fmt.Sprintf(`!document.querySelector(%q)`, row))
}
