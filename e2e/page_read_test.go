package e2e

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/client"
)

// TestPageReadsWhatIsOnScreen opens a group of which not everything fits.
func TestPageReadsWhatIsOnScreen(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	unreadGroup(ctx, t, node, "long", 50)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.see(unread("long") + ` === 50`)
	// The page where it opens comes late: until then it does not begin anywhere else.
	ask[bool](alice, `(() => {
		const load = fetch;
		fetch = async (url, options) => {
			for (let frames = url.includes("before=") ? 30 : 0; frames > 0; frames--) await new Promise(requestAnimationFrame);
			return load(url, options);
		};
		return true;
	})()`)
	alice.open("long")
	alice.stands("long 1")
	alice.see(`document.querySelector(".line.new")`)
	alice.see(unread("long") + ` === 50 - ` + lastShown)
	shown := ask[int64](alice, lastShown)
	if shown < 3 || shown > 30 {
		t.Fatalf("%d messages are on screen", shown)
	}
	// The server knows the same: of 50 what was not on screen is unread.
	alice.see(`document.querySelector(".to-end")?.textContent.endsWith("unread")`)
	serverCounts(ctx, t, node, "long", 50-shown)

	ask[int](alice, `document.querySelector(".scroller").scrollTop += 400`)
	alice.see(fmt.Sprintf(`%s > %d && %s === 50 - %s`, lastShown, shown, unread("long"), lastShown))
	if got := ask[int](alice, unread("long")); got == 0 {
		t.Error("everything is read after some scrolling")
	}
	alice.click(".to-end")
	alice.see(unread("long") + ` === 0 && ` + lastShown + ` === 50`)
}

// TestPageReadsNothingUnseen has a page in the background, and one that another tab covers.
func TestPageReadsNothingUnseen(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	unreadGroup(ctx, t, node, "team", 2)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("team")
	alice.stands("team 2")
	alice.see(unread("team") + ` === 0`)

	visible := func(state string) {
		ask[bool](alice, fmt.Sprintf(`Object.defineProperty(document, "visibilityState", { value: %q, configurable: true }) && document.dispatchEvent(new Event("visibilitychange"))`, state))
	}
	visible("hidden")
	bob := node.Client("bob")
	for i := range 40 {
		must(bob.Send(ctx, "team", client.Text(fmt.Sprintf("team %d", i+3))))(t)
	}
	alice.stands("team 42")
	alice.see(unread("team") + ` === 40 && document.title === "• team · chatd"`)
	serverCounts(ctx, t, node, "team", 40)
	visible("visible")
	alice.see(unread("team") + ` === 42 - ` + lastShown)
	// It stayed at the first of them, which is marked as new.
	alice.see(`document.querySelector(".line.new").nextElementSibling.querySelector(".body").textContent === "team 3"`)
	if got := ask[int](alice, unread("team")); got == 0 || got == 40 {
		t.Errorf("%d unread after a look, want some", got)
	}
}

// TestPageOpensAtTheFirstUnread opens a group with more unread than a page, and goes from there in both directions.
func TestPageOpensAtTheFirstUnread(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	unreadGroup(ctx, t, node, "busy", 500)
	must(node.Client("alice").Read(ctx, "busy", 152))(t) // two notices and 150 messages
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.see(unread("busy") + ` === 350`)
	alice.open("busy")
	alice.see(`document.querySelector(".line.new")?.nextElementSibling.querySelector(".body").textContent === "busy 151"`)
	alice.see(`(() => { const at = document.querySelector(".line.new").getBoundingClientRect().top, view = document.querySelector(".scroller").getBoundingClientRect(); return at >= view.top && at < view.top + 200; })()`)
	alice.see(message("busy 150"))
	alice.see(`!` + message("busy 500"))
	alice.see(unread("busy") + ` === 500 - ` + lastShown)

	// What comes live and what changes meanwhile takes nothing away and is not shown before its turn.
	bob := node.Client("bob")
	must(bob.Send(ctx, "busy", client.Text("busy 501")))(t)
	must(bob.Send(ctx, "busy", client.Draft{Kind: "edit", Target: 153, Body: "busy 151 edited"}))(t)
	must(bob.Send(ctx, "busy", client.Draft{Kind: "delete", Target: 403}))(t)
	alice.see(message("busy 151 edited"))
	alice.see(`!` + message("busy 501"))

	// Up to the beginning, and down to the end: everything once, in order.
	alice.scrollUntil(message("busy 1"), -4000)
	alice.scrollUntil(everything+` && `+unread("busy")+` === 0`, 4000)
	want := ""
	for i := 1; i <= 501; i++ {
		switch i {
		case 151:
			want += "busy 151 edited\n"
		case 401:
			want += "deleted\n"
		default:
			want += fmt.Sprintf("busy %d\n", i)
		}
	}
	if got := ask[string](alice, noted); got != want {
		t.Errorf("the page shows\n%s", got)
	}
	serverCounts(ctx, t, node, "busy", 0)
}

// TestPageWritesAmongUnread writes while the newest messages are not loaded: the page goes to the end.
func TestPageWritesAmongUnread(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	unreadGroup(bounded(t, browserTimeout), t, node, "busy", 200)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("busy")
	alice.see(message("busy 1"))
	alice.see(`!` + message("busy 200"))
	alice.say("here I am")
	alice.stands("here I am")
	alice.see(message("busy 200"))
	alice.see(unread("busy") + ` === 0 && !document.querySelector(".to-end")`)
}

// TestPageKeepsWhereAPersonScrolled draws the list after each scroll, before the browser reports the scroll.
func TestPageKeepsWhereAPersonScrolled(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	unreadGroup(bounded(t, browserTimeout), t, node, "team", 30)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("team")
	alice.stands("team 30")
	alice.scrollUntil(unread("team")+` === 0`, 4000)
	for _, percent := range []int{50, 20, 80, 0} { // from the end, from the middle, up and down
		alice.script(`((el) => {
			el.scrollTop = %d / 100 * (el.scrollHeight - el.clientHeight);
			window.scrolledTo = el.scrollTop;
			document.querySelector(".message").dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true }));
		})(document.querySelector(".scroller"))`, percent)
		alice.see(`document.querySelector(".about")`)
		alice.frames(2)
		if moved := ask[int](alice, `Math.round(document.querySelector(".scroller").scrollTop - window.scrolledTo)`); moved < -5 || moved > 5 {
			t.Errorf("scrolled to %d%%, and the page went on by %d px", percent, moved)
		}
		alice.click(`.about button`)
		alice.see(`!document.querySelector(".about")`)
		alice.frames(2)
	}
}
