package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
)

// at waits until the page is at a path, with a panel beside the conversation ("": none), and still is after some frames.
func (p *person) at(path, panel string) {
	p.t.Helper()
	where := fmt.Sprintf(`location.pathname + location.search === %q && (document.querySelector(".panel")?.dataset.panel ?? "") === %q`, path, panel)
	p.see(where)
	p.frames(5)
	p.see(where)
}

// TestPageRoutes goes to and fro with panels open: Back closes a panel and only it, and none opens by itself.
func TestPageRoutes(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	for _, id := range []string{"one", "two"} {
		must(bob.CreateGroup(ctx, client.GroupDraft{ID: id, Name: id, Members: []string{"alice"}}))(t)
		for i := range 4 {
			must(bob.Send(ctx, id, client.Text(fmt.Sprint("text ", i))))(t)
		}
	}
	alice := newPerson(t, startBrowser(t), node, "alice")
	back := func() { t.Helper(); alice.script(`history.back()`) }

	for _, panel := range []string{"search", "members", "settings"} {
		alice.open("one")
		alice.open("two")
		alice.click(fmt.Sprintf("[data-open=%s]", panel))
		alice.at("/c/two/"+panel, panel)
		back()
		alice.at("/c/two", "")
		alice.open("one")
		alice.open("two")
		alice.at("/c/two", "")
		alice.click(fmt.Sprintf("[data-open=%s]", panel))
		alice.do(chromedp.Reload())
		alice.live()
		alice.at("/c/two/"+panel, panel)
		alice.click(`.panel button[aria-label="Close"]`)
		alice.at("/c/two", "")
	}
	// One panel takes the place of another; Escape twice does not leave the group.
	alice.click("[data-open=members]")
	alice.click("[data-open=settings]")
	alice.at("/c/two/settings", "settings")
	alice.script(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true})), document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}))`)
	alice.at("/c/two", "")
	// Forward opens what Back has closed.
	alice.script(`history.forward()`)
	alice.at("/c/two/settings", "settings")
	back()

	// A search: the panel stays while one goes to what was found, and Back closes it.
	alice.click("[data-open=search]")
	alice.fill(".panel input[name=q]", "text 2")
	alice.click(".panel .hit")
	alice.see(`location.pathname.match(/^\/c\/two\/\d+\/search$/) && document.querySelector(".panel mark")`)
	back()
	alice.at("/c/two", "")

	// Each view by its address, and a group that is not one's own.
	for path, shown := range map[string]string{
		"/": ".home", "/inbox": ".item, .nothing", "/search?q=text": ".hit mark", "/c/one/3": ".messages", "/c/one/members": ".panel",
	} {
		alice.do(chromedp.Navigate(node.URL() + "" + path))
		alice.see(fmt.Sprintf("document.querySelector(%q)", shown))
		alice.see(fmt.Sprintf("location.pathname + location.search === %q", path))
	}
	alice.do(chromedp.Navigate(node.URL() + "/#one")) // as earlier versions wrote it
	alice.see(shows(".group-title h1", "one"))

	// The switcher, and the neighbours in the list.
	alice.script(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true}))`)
	alice.fill("input[name=switch]", "two")
	alice.enter()
	alice.see(shows(".group-title h1", "two"))
	alice.script(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", altKey: true, bubbles: true}))`)
	alice.see(shows(".group-title h1", "one"))
	alice.script(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "?", bubbles: true}))`)
	alice.see(`document.querySelectorAll("dialog .shortcuts").length === 2`)

	alice.click(`dialog button[aria-label="Close"]`)

	// An answer does not lead away from where one went before it came.
	alice.do(chromedp.Navigate(node.URL() + "/new"))
	alice.live()
	alice.script(`window.load = fetch, window.fetch = (url, options) => options?.method === "POST" && url.endsWith("/groups")
		? new Promise((go) => { window.answer = go; }).then(() => load(url, options)) : load(url, options)`)
	alice.fill("form[name=new-group] input[name=name]", "three")
	alice.click("form[name=new-group] .primary")
	alice.see(`window.answer`)
	alice.click(`.rail [data-view=inbox]`)
	alice.see(`document.querySelector(".inbox, .nothing")`)
	alice.script(`answer()`)
	alice.see(`[...document.querySelectorAll(".group-name")].some((e) => e.textContent === "three")`)
	alice.at("/inbox", "")
	alice.open("one")

	// The group goes while it is open.
	alice.refused(true) // what it asked for then
	if err := bob.RemoveMember(ctx, "one", "alice"); err != nil {
		t.Fatal(err)
	}
	alice.see(`document.querySelector(".nothing h1") && !document.querySelector(".write")`)
	alice.at("/c/one", "")
	alice.do(chromedp.Navigate(node.URL() + "/c/nothere"))
	alice.see(shows(".nothing h1", "You’re not in this group"))
}
