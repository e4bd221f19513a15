package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// stop is a place of the page: a path, what is done there, and what shows then.
type stop struct {
	name, path, shows string
	do                func(p *person)
	refused           bool // the server knows nothing of it
}

// furnish gives alice something of everything that the page shows.
func furnish(ctx context.Context, t *testing.T, node *harness.Node) {
	t.Helper()
	alice, bob := node.Client("alice"), node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team with a name that is longer than the list is wide", Members: []string{"alice", "carol"}, Visibility: "public"}))(t)
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "own", Name: "Own", Members: []string{"bob"}}))(t)
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "open", Name: "Open to everybody", Visibility: "public"}))(t)
	for _, draft := range []client.Draft{
		{Body: "**Release** notes:\n- one `code`\n- two https://example.com/a/long/path/that/goes/on/and/on/until/it/is/cut\n> quoted\n```go\nfunc main() {}\n```"},
		mentioning("hello @alice, see #3", "alice"), {Body: "an answer", ReplyTo: 4}, {Body: "🎉"}, {Data: []byte(`{"type":"build","ok":true}`)}, {Body: "שלום עולם, מה שלומך?"},
	} {
		must(bob.Send(ctx, "team", draft))(t)
	}
	mine := must(alice.Send(ctx, "team", client.Text("what I wrote")))(t)
	must(bob.Send(ctx, "team", client.Draft{Kind: "reaction", Target: mine.ID, Emoji: "👍"}))(t)
	must(alice.Send(ctx, "team", client.Draft{Kind: "edit", Target: mine.ID, Body: "what I wrote again"}))(t)
	gone := must(bob.Send(ctx, "team", client.Text("gone")))(t)
	must(bob.Send(ctx, "team", client.Draft{Kind: "delete", Target: gone.ID}))(t)
	must(bob.Send(ctx, "own", client.Text("something unread")))(t)
	must(alice.CreateSchedule(ctx, client.ScheduleDraft{Group: "team", At: new(time.Now().Add(time.Hour)), Body: "later"}))(t)
	must(bob.Send(ctx, "team", client.Draft{Body: "below it, @alice", Mentions: []string{"alice"}, Thread: 4}))(t)
	must(bob.Send(ctx, "team", client.Draft{Body: "and **more**", Thread: 4}))(t)
	must(alice.Read(ctx, "team", 4))(t)
}

// chord presses a key with others held.
func (p *person) chord(key string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

// stops are all views and panels of the page, and what opens over them.
func stops() []stop {
	row := `.message[data-from=alice][data-id]`
	click := func(selector string) func(*person) { return func(p *person) { p.click(selector) } }
	tool := func(label string) func(*person) { return func(p *person) { p.tool(row, label) } }
	entry := func(label string) func(*person) { return func(p *person) { p.chooses(row, label) } }
	return []stop{
		{name: "home", path: "/", shows: ".home"},
		{name: "inbox", path: "/inbox", shows: ".pane-body :is(.inbox, .nothing)"},
		{name: "search", path: "/search?q=wrote", shows: ".hit mark"},
		{name: "threads", path: "/threads", shows: ".thread-card"},
		{name: "scheduled", path: "/scheduled", shows: ".schedule"},
		{name: "me", path: "/me", shows: "[data-list=sessions] li"},
		{name: "new", path: "/new", shows: "form[name=new-group]"},
		{name: "browse", path: "/browse", shows: "li[data-public]"},
		{name: "not a member", path: "/c/nothere", shows: ".nothing h1", refused: true},
		{name: "direct", path: "/dm/carol", shows: ".write textarea"},
		{name: "group", path: "/c/team", shows: ".message"},
		{name: "message", path: "/c/team/4", shows: ".message.found, .message:focus"},
		{name: "members", path: "/c/team/members", shows: ".panel li[data-user]"},
		{name: "files", path: "/c/team/files", shows: ".panel .panel-body > *"},
		{name: "pins", path: "/c/team/pins", shows: ".panel [data-pins]"},
		{name: "settings", path: "/c/own/settings", shows: ".panel form[name=settings]"},
		{name: "search panel", path: "/c/team/search", shows: ".panel input[name=q]"},
		{name: "receipts", path: "/c/team/4/receipts", shows: ".panel [data-receipts]"},
		{name: "thread", path: "/c/team/t/4", shows: ".thread ol:last-of-type .message"},
		{name: "forward", path: "/c/team", shows: "dialog [data-choice]", do: entry("Forward…")},
		{name: "remind", path: "/c/team", shows: "dialog form[name=remind]", do: entry("Remind me…")},
		{name: "menu", path: "/c/team", shows: ".menu", do: tool("More actions")},
		{name: "picker", path: "/c/team", shows: ".emoji-grid", do: tool("Add reaction")},
		{name: "delete", path: "/c/team", shows: ".ask", do: func(p *person) {
			p.tool(row, "More actions")
			p.click(fmt.Sprintf(`%s .menu button[aria-label=%q]`, row, p.reads("Delete")))
		}},
		{name: "edit", path: "/c/team", shows: ".about", do: func(p *person) { p.do(chromedp.Focus(chromedp.CSS(row))); p.press("e") }},
		{name: "send later", path: "/c/team", shows: ".popover [role=menuitem]", do: func(p *person) { p.fill(".write textarea", "x"); p.click(".send-buttons .later") }},
		{name: "leave", path: "/c/team/settings", shows: "dialog form[name=confirm]", do: click("button[name=leave]")},
		{name: "switcher", path: "/c/team", shows: "input[name=switch]", do: func(p *person) { p.chord("k", chromedp.ModifierCtrl) }},
		{name: "shortcuts", path: "/", shows: "dialog .shortcuts", do: func(p *person) { p.script(`document.activeElement.blur()`); p.press("?") }},
		{name: "behind the scenes", path: "/c/team", shows: ".behind", do: func(p *person) { p.click(".behind-open button") }},
	}
}

// goTo follows the history to a stop, and does what is done there. What was open over the stop before is closed first.
func (p *person) goTo(s stop) {
	p.t.Helper()
	for range 2 { // a question and what it is about
		if ask[bool](p, `!!document.querySelector("dialog[open], :popover-open, .ask, .about")`) {
			p.press(kb.Escape)
		}
	}
	p.see(`!document.querySelector("dialog[open], :popover-open")`)
	if s.refused {
		p.refused(true)
		defer p.refused(false)
	}
	p.script(`history.pushState({}, "", %q), dispatchEvent(new PopStateEvent("popstate"))`, s.path)
	if s.do != nil {
		p.see(`document.querySelector(".home, .message")`)
		s.do(p)
	}
	p.see(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, s.shows))
	p.frames(2)
}
