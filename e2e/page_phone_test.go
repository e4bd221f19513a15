package e2e

import (
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
)

// small are the things to press that a finger misses within 21 px of their middle, upwards, downwards or to a side, each with the size that
// shows; links in a text are as high as its lines.
const small = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [role=option]")].flatMap((e) => {
	if (!e.checkVisibility({ visibilityProperty: true }) || e.matches("[hidden], .skip, :is(p, li, .body) a:not([class])")) return [];
	const box = e.matches("[type=checkbox], [type=radio], .named input") ? e.closest("label, .named") : e, { width, height } = box.getBoundingClientRect();
	if (width === 0 || width >= 43.5 && height >= 43.5) return [];
	box.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
	const r = box.getBoundingClientRect(), x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2;
	const over = document.elementFromPoint(x, y)?.closest(".panel, [popover], .toast");
	if (over && !over.contains(box)) return []; // it is covered: nobody presses it
	const missed = [...(width < 43.5 ? [[-21, 0], [21, 0]] : []), ...(height < 43.5 ? [[0, -21], [0, 21]] : [])].flatMap(([right, down]) => {
		const at = document.elementFromPoint(x + right, y + down);
		return box.contains(at) ? [] : [right + "," + down + " is " + at?.outerHTML.slice(0, 60)];
	});
	return missed.length > 0 ? [e.outerHTML.slice(0, 100) + " " + Math.round(width) + "x" + Math.round(height) + ": " + missed.join("; ")] : [];
})`

// TestPageTouchTargets measures on every view and panel that a finger hits what it is meant to.
func TestPageTouchTargets(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	furnish(ctx, t, node)
	for _, emoji := range strings.Fields("👍 ❤️ 😂 🎉 🚂 🌍 👀 🙏 🔥 ✅") { // more than one line of them
		must(node.Client("bob").Send(ctx, "team", client.Draft{Kind: "reaction", Target: 4, Emoji: emoji}))(t)
	}
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.phone()
	for _, s := range stops() {
		if s.do != nil && s.name != "picker" || s.name == "home" {
			continue
		}
		alice.goTo(s)
		for _, found := range ask[[]string](alice, small) {
			t.Errorf("%s: %s", s.name, found)
		}
		alice.fits()
		switch s.name {
		case "group":
			alice.see(`document.querySelectorAll(".message[data-id='4'] .reaction").length === 10`)
			alice.see(`[...document.querySelectorAll(".reaction")].every((r) => r.offsetHeight < 32)`)
			alice.see(`getComputedStyle(document.querySelector(".code .icon-button")).opacity === "1"`) // nothing hovers over it
			alice.script(`document.querySelector(".reactions").scrollIntoView({ block: "center" })`)
			alice.picture(picturesDir(t), "phone-reactions.png")
		case "picker":
			alice.picture(picturesDir(t), "phone-picker.png")
		}
	}
	alice.script(`history.pushState({}, "", "/"), dispatchEvent(new PopStateEvent("popstate"))`)
	alice.see(`document.querySelector(".group-link")?.checkVisibility()`)
	for _, found := range ask[[]string](alice, small) {
		t.Errorf("list: %s", found)
	}
	alice.fits()
	alice.picture(picturesDir(t), "phone-list.png")
}

// TestPageOnAPhone: the bar has three entries, and the list and the head of a group lead to what they have no room for.
func TestPageOnAPhone(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	furnish(ctx, t, node)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.phone()
	alice.see(`[...document.querySelectorAll(".rail a")].map((a) => a.dataset.view).join() === "home,inbox,me"`)
	for _, view := range strings.Fields("search threads scheduled") {
		alice.click(`.side [data-view=` + view + `]`)
		alice.see(`location.pathname === "/` + view + `"`)
		alice.click(".back")
	}

	alice.open("team")
	more := func() {
		alice.click(`.group-head button[aria-label="More"]`)
		alice.see(`document.querySelector(".menu [name=all]")?.disabled === false`)
	}
	more()
	alice.see(reachable(".menu button"))
	alice.picture(picturesDir(t), "phone-group-menu.png")
	alice.click(".menu [name=none]")
	alice.see(`!document.querySelector(".menu")`)
	alice.see(`document.querySelector(".group-link[data-group=team].muted .mark[aria-label=Muted]")`)
	if got := must(node.Client("alice").Notify(ctx, "team"))(t); got.Level != "none" {
		t.Errorf("the level is %+v", got)
	}
	more()
	alice.see(`document.querySelector(".menu [name=none]").ariaChecked === "true"`)
	alice.click(".menu [name=star]")
	more()
	alice.click(".menu [name=all]")
	alice.see(`!document.querySelector(".group-link.muted") && document.querySelector(".group-line:has([data-group=team]) .star").ariaPressed === "true"`)
	more()
	alice.click(".menu [data-open=settings]")
	alice.see(`location.pathname === "/c/team/settings" && document.querySelector(".panel form[name=settings]")`)
	alice.click(`.panel button[aria-label="Close"]`)

	// What is said at the edge leaves the place to write free.
	alice.fill(".write textarea", "gone by tomorrow")
	alice.click(".send-buttons .later")
	alice.click(".later-menu [role=menuitem]:last-of-type")
	alice.click("dialog .buttons button")
	alice.see(`document.querySelector(".toast") && document.querySelector(".toasts").getBoundingClientRect().bottom < document.querySelector(".composer").getBoundingClientRect().top`)
	alice.stands("gone by tomorrow")
	alice.picture(picturesDir(t), "phone-toast.png")
}

// where measures parts of the page, from the side on which reading begins.
const where = `(() => Object.fromEntries(%s.map((s) => {
	const e = document.querySelector(s), r = e?.getBoundingClientRect();
	return [s, r ? [document.documentElement.dir === "rtl" ? innerWidth - r.right : r.left, r.width].map(Math.round).join("+") : "none"];
})))()`

// TestPageMirrors: from right to left, everything stands as far from the right as it stands from the left otherwise.
func TestPageMirrors(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	first := must(bob.Send(ctx, "team", client.Text("first")))(t).ID
	must(bob.Send(ctx, "team", client.Draft{Body: "an answer", ReplyTo: first}))(t)
	must(bob.Send(ctx, "team", client.Draft{Kind: "reaction", Target: first, Emoji: "👍"}))(t)
	must(bob.Send(ctx, "team", client.Text("- one\n- two\n\n> quoted\n\n```go\nfunc main() {}\n```")))(t)
	must(bob.Send(ctx, "team", client.Draft{Body: "below", Thread: first}))(t)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("team")
	of := alice.stands("first")
	alice.tool(of, "Reply")
	alice.see(`document.querySelector("button[aria-label='Attach files']")`)
	alice.paste("notes.txt", `new Uint8Array(10)`)
	alice.see(`document.querySelector(".tile[data-phase=whole]") && document.querySelector(".about") && document.querySelector(".group-head .faces .avatar")`)
	alice.mouseAway()
	parts := []string{".rail .me", ".list-filter .icon", ".side .panel-head h2", ".group-link .avatar", ".group-link .group-time", ".group-head .avatar", ".group-title h1", ".group-tools", ".line.notice p",
		".message .face .avatar", ".message .author .name", ".message .body", ".quote", ".quote .icon", ".quote .name", ".body ul", ".body blockquote", ".body .code", ".reactions", ".reaction", ".replies", ".about", ".about > .icon", ".about .icon-button",
		".about strong", ".tile", ".tile > .icon", ".tile p", ".tile .icon-button", ".write-tools .icon-button", ".send"}
	for _, panel := range []string{"", "members", "settings", "thread"} {
		if panel == "thread" {
			alice.click(".replies")
			alice.see(inThread("below"))
		} else if panel != "" {
			alice.click(`.group-head [data-open=` + panel + `]`)
			alice.see(`document.querySelector(".panel li[data-user], .panel form[name=settings]")`)
		}
		all := parts
		if panel != "" {
			all = append([]string{".panel", ".panel-head h2", ".panel-head .icon-button", ".panel li .avatar, .panel legend"}, parts...)
		}
		list := `["` + strings.Join(all, `", "`) + `"]`
		measure := func() map[string]string { return ask[map[string]string](alice, strings.Replace(where, "%s", list, 1)) }
		alice.script(`document.documentElement.dir = "ltr"`)
		alice.frames(2)
		ltr := measure()
		alice.script(`document.documentElement.dir = "rtl"`)
		alice.frames(2)
		rtl := measure()
		for _, part := range all {
			if ltr[part] == "none" && panel == "" {
				t.Errorf("there is no %s", part)
			}
			if ltr[part] != rtl[part] {
				t.Errorf("%s %s: %s from left to right, %s from right to left", panel, part, ltr[part], rtl[part])
			}
		}
		alice.fits()
		alice.picture(picturesDir(t), "mirrored"+panel+".png")
		alice.script(`document.documentElement.dir = ""`)
		if panel != "" {
			alice.click(`.panel button[aria-label="Close"]`)
		}
	}
}
