package e2e

import (
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
)

// small are the things to press that are under 44 px in a direction, each with its size; links in a text are as high as its lines.
const small = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [role=option]")].flatMap((e) => {
	if (!e.checkVisibility({ visibilityProperty: true }) || e.matches("[hidden], .skip, :is(p, li, .body) a:not([class])")) return [];
	const r = (e.matches("[type=checkbox], [type=radio], .named input") ? e.closest("label, .named") : e).getBoundingClientRect();
	return r.width > 0 && r.height < 43.5 || r.width > 0 && r.width < 43.5 ? [e.outerHTML.slice(0, 100) + " " + Math.round(r.width) + "x" + Math.round(r.height)] : [];
})`

// TestPageTouchTargets measures on every view and panel that a finger hits what it is meant to.
func TestPageTouchTargets(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	furnish(bounded(t, browserTimeout), t, node)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.phone()
	for _, s := range stops() {
		if s.do != nil || s.name == "home" {
			continue
		}
		alice.goTo(s)
		for _, found := range ask[[]string](alice, small) {
			t.Errorf("%s: %s", s.name, found)
		}
		alice.fits()
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
