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
	p.do(chromedp.EmulateViewport(360, 720, chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Reload())
	p.live()
}

// mouseAway takes the mouse, which click uses, off the messages: a toolbar that follows it would move them.
func (p *person) mouseAway() {
	p.t.Helper()
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, 1, 1))
	p.frames(2)
}

// tap touches the middle of what of an element is on screen, once nothing there moves and nothing covers it.
func (p *person) tap(expression string) { p.t.Helper(); p.touch(expression, "") }

// hold is tap with a finger that stays until the menu of the message is there.
func (p *person) hold(expression string) {
	p.t.Helper()
	p.touch(expression, `document.querySelector(".menu")`)
}

// touch is tap where the finger stays until a condition holds.
func (p *person) touch(expression, hold string) {
	p.t.Helper()
	p.see(fmt.Sprintf(`((e) => {
		const r = e?.getBoundingClientRect(), view = (e?.closest("[popover], .scroller") ?? document.body).getBoundingClientRect(), before = window.touching;
		window.touching = r && [(r.left + r.right) / 2, (Math.max(r.top, view.top) + Math.min(r.bottom, view.bottom)) / 2];
		return r && before?.join() === window.touching.join() && e.contains(document.elementFromPoint(...before));
	})(%s)`, expression))
	at := ask[[]float64](p, `(([at]) => { window.touching = undefined; return at; })([window.touching])`)
	for _, touch := range []input.DispatchTouchEventParams{
		{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: at[0], Y: at[1]}}},
		{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
	} {
		if hold != "" && touch.Type == input.DispatchTouchEventTypeTouchEnd {
			p.see(hold)
		}
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

// TestPageLongMessageOnAPhone uses the tools of messages by touch, also of those that are longer than the window, one's own and another's.
func TestPageLongMessageOnAPhone(t *testing.T) {
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
	page.see(shows(".log-top", "This is the beginning of Team")) // it opens at "New" once it is all there
	page.mouseAway()
	page.tapsTools(texts["short"])
	for name, text := range texts {
		of := page.stands(text)
		at := func(selector string) string { return fmt.Sprintf(`document.querySelector(%q)`, of+" "+selector) }
		item := func(label string) string { return at(fmt.Sprintf(".menu button[aria-label=%q]", label)) }
		held := func() {
			page.hold(message(text) + `.querySelector(".body")`)
			page.see(reachable(of + " .menu button"))
			page.fits()
		}
		parts := []float64{0, 0.5, 0.97} // of the message, at the top of the window
		if name == "short" {
			parts = parts[:1]
		} else {
			page.script(`%s.scrollIntoView({ block: "center" })`, at(".show-all")) // clear of "Jump to latest"
			page.tap(at(".show-all"))
			page.see(message(text) + `.offsetHeight > innerHeight`)
		}
		for _, part := range parts {
			ask[float64](page, fmt.Sprintf(`(() => { const el = document.querySelector(".scroller"), m = %s; document.activeElement.blur();
				return el.scrollTop = m.offsetTop + m.offsetHeight * %f; })()`, message(text), part))
			held()
			page.press(kb.Escape)
			page.see(`!document.querySelector(".menu")`)
		}
		held()
		page.tap(item("Add reaction"))
		page.see(reachable(of + " .emoji-picker input"))
		page.fill(of+" .emoji-picker input", "tears of joy")
		page.see(reachable(of + " .emoji-picker [aria-selected=true]"))
		page.tap(at(".emoji-picker [aria-selected=true]"))
		page.see(at(".reaction") + `?.textContent === "😂 1" && !document.querySelector(".emoji-picker")`)
		if name == "mine" {
			held()
			page.tap(item("Delete"))
			page.see(reachable(of + " .ask button"))
			page.tap(`document.querySelector(".ask .danger")`)
			page.see(`document.querySelector(".line.deleted")?.textContent === "A message of alice was deleted"`)
		}
	}
}

// tapsTools uses the tools of a message where nothing hovers: a tap shows them, and the next ones react and take that back.
func (p *person) tapsTools(text string) {
	p.t.Helper()
	p.see(`matchMedia("(hover: none) and (any-hover: none)").matches`)
	of := p.stands(text)
	at := func(selector string) string { return fmt.Sprintf(`document.querySelector(%q)`, of+" "+selector) }
	p.script(`%s.scrollIntoView({ block: "center" })`, at(".body"))
	p.tap(at(".body"))
	p.see(reachable(of + " .tools .quick"))
	p.tap(at(".tools .quick"))
	p.see(at(".reaction") + `?.ariaPressed === "true"`)
	p.script(`%s.scrollIntoView({ block: "center" })`, at(".reaction"))
	p.tap(at(".reaction"))
	p.see(`!` + at(".reaction"))
	p.script(`document.activeElement.blur()`)
}

// TestPageReactionPicker opens and closes pickers in every way, and reacts.
func TestPageReactionPicker(t *testing.T) {
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
	closed := `!document.querySelector(".emoji-picker")`
	open := func(of string) string {
		return fmt.Sprintf(`document.querySelectorAll(".emoji-picker input").length === 1 && document.querySelector(%q)?.checkVisibility()`, of+" .emoji-picker input")
	}

	alice.tool(one, "Add reaction")
	alice.see(open(one) + ` && document.activeElement.matches(".emoji-picker input")`)
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
	alice.do(chromedp.Focus(chromedp.CSS(two))) // the toolbar stays at what is open
	alice.press("+")
	alice.see(open(two))

	// What is not found is no reaction.
	alice.fill(two+" .emoji-picker input", "no such thing")
	alice.see(shows(".emoji-grid", "No emoji is called so"))
	alice.enter()
	alice.see(open(two))
	alice.retype(two+" .emoji-picker input", "cat")
	alice.see(`document.querySelectorAll(".emoji-grid [role=option]").length > 3`)
	chosen := ask[string](alice, `document.querySelector(".emoji-grid [aria-selected=true]").textContent`)
	alice.enter()
	alice.see(fmt.Sprintf(`document.querySelector(%q)?.textContent === %q`, two+" .reaction", chosen+" 1"))
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

// TestPageManyAndLongNames looks at the members and the notices of a group where names are as long as they may be.
func TestPageManyAndLongNames(t *testing.T) {
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

	// All that was changed is one line, which opens.
	page.see(shows(".line.notice button", "7 changes to the group"))
	page.tap(`document.querySelector(".line.notice button")`)
	page.see(`[...document.querySelectorAll(".line.notice p")].map((l) => l.textContent).slice(-2).join() === "alice added erik,alice removed erik"`)
	page.fits()

	page.click(`.group-head button[aria-label="Members"]`)
	page.see(`document.querySelectorAll(".panel li[data-user]").length === 5`)
	row := fmt.Sprintf(`.panel li[data-user=%s]`, long)
	page.see(reachable(row + " button"))
	page.see(fmt.Sprintf(`(() => { const name = document.querySelector(%q), panel = document.querySelector(".panel-body");
		return name.textContent === %q && name.title === name.textContent && name.parentElement.clientWidth > 150 && panel.scrollWidth <= panel.clientWidth; })()`, row+" .person .name", long))
	page.see(reachable(".panel form[name=add-member] :is(input, .button)"))
	page.see(`document.querySelector("form[name=add-member] .named").offsetHeight === document.querySelector("form[name=add-member] .button").offsetHeight`)
	page.menu(long, "Make admin")
	page.sure()
	page.see(fmt.Sprintf(`document.querySelector("%s[data-role=admin]")`, row))
	page.menu(long, "Remove")
	page.sure()
	page.see(fmt.Sprintf(`!document.querySelector(%q)`, row))
}
