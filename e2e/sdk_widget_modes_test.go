package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestSDKWidgetList picks conversations from the list, wide and narrow, by keys.
func TestSDKWidgetList(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	s.talk(t)
	name := `<img src=x onerror=alert(1)>"'&`
	must(s.node.Client("chen").UpdateMe(t.Context(), client.ProfileChange{Name: &name}))(t)
	ada := s.open(t, startBrowser(t), "ada", "mode", "list")
	ada.see(in(`$$(".item").length === 3 && $$(".item strong")[0].textContent === ` + fmt.Sprintf("%q", name) + ` && !$("img")`))
	ada.see(in(`$$(".item")[2].querySelector(".badge").textContent === "3" && $$(".item")[2].querySelector(".said").textContent === "Bob Lindgren: And we are out of sesame 🌾"`))

	ada.see(in(`($$(".item")[2].focus(), true)`))
	ada.enter()
	ada.see(widgetSays("And we are out of sesame 🌾"))
	ada.see(in(`$(".item[aria-current]")?.textContent.includes("Morning shift") && chat.shadowRoot.activeElement === $("textarea")`))
	ada.see(`heard.some((h) => h.type === "chatd-group" && h.group === "shift")`)
	ada.press("not sent")
	ada.see(in(`($$(".item")[1].click(), true)`))
	ada.see(widgetSays("Flour comes on Thursday, not Wednesday."))
	ada.see(in(`$("textarea").value === ""`))

	// Where there is no room for both, one leads to the other and back.
	ada.size(390, 780)
	ada.see(in(`!$(".list").checkVisibility() && $(".back").checkVisibility()`))
	ada.within(".back")
	ada.see(in(`$(".list").checkVisibility() && chat.shadowRoot.activeElement?.textContent.includes("Suppliers")`))
	ada.see(in(`($$(".item").find((i) => i.textContent.includes("Morning shift")).click(), true)`))
	ada.see(in(`$("textarea")?.value === "not sent" && $(".back").checkVisibility()`))
	ada.see(`document.documentElement.scrollWidth <= innerWidth`)
}

// TestSDKWidgetLauncher opens and closes the panel.
func TestSDKWidgetLauncher(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	s.talk(t)
	ada := s.open(t, startBrowser(t), "ada", "mode", "launcher")
	ada.see(in(`$(".launch .badge").textContent === "5" && !$(".launch .badge").hidden && $(".launch").getAttribute("aria-label") === "Open chat, 5 unread" && $(".panel").hidden`))
	ada.within(".launch")
	ada.see(in(`!$(".panel").hidden && $(".launch").ariaExpanded === "true" && chat.open && $(".launch .badge").hidden`))
	ada.see(in(`chat.shadowRoot.activeElement?.matches(".item")`))
	ada.enter()
	ada.see(widgetSays("Do you have a minute after the shift?"))
	ada.see(in(`chat.shadowRoot.activeElement === $("textarea")`))
	ada.press(kb.Escape)
	ada.see(in(`$(".panel").hidden && chat.shadowRoot.activeElement === $(".launch") && !chat.hasAttribute("open")`))
	ada.see(`heard.filter((h) => h.type === "chatd-toggle").map((h) => h.open).join() === "true,false"`)

	// What comes while it is closed counts, and is not read.
	chen := s.node.Client("chen")
	must(chen.Send(t.Context(), must(chen.Direct(t.Context(), "ada"))(t).ID, client.Text("Now?")))(t)
	ada.see(in(`$(".launch .badge").textContent === "5" && !$(".launch .badge").hidden`))
	ada.see(`(chat.open = true)`)
	ada.see(in(`$(".launch .badge").hidden`) + ` && ` + widgetSays("Now?"))
	ada.see(`chat.chat.snapshot().groups.find((g) => g.direct).unread === 0`)
	ada.size(390, 780)
	ada.see(in(`$(".panel").getBoundingClientRect().width === innerWidth && !$(".launch").checkVisibility()`))
	ada.within(".talk .shut")
	ada.see(in(`$(".panel").hidden && $(".launch").checkVisibility()`))
}

// TestSDKWidgetActs does what can be done with a message, by the mouse and by keys.
func TestSDKWidgetActs(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	group := s.talk(t)
	ada := s.open(t, startBrowser(t), "ada", "mode", "group", "group", group)
	ada.see(widgetSays("And we are out of sesame 🌾"))
	peel := "Can somebody bring the long peel?"
	id := ask[string](ada, in(row(peel)+`.dataset.id`))
	tool := func(id string, n int) string { return fmt.Sprintf(".row[data-id='%s'] .tool:nth-child(%d)", id, n) }
	// What can be done with a message shows under the mouse, and lines move while they are drawn.
	over := func(id string) func() {
		return func() {
			t.Helper()
			harness.Eventually(t, waitTimeout, "what can be done with a message shows", func() error {
				at := ask[[]float64](ada, in(fmt.Sprintf(`((r) => [r.x + 8, r.y + r.height / 2])($(".row[data-id='%s'] .bubble").getBoundingClientRect())`, id)))
				ada.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
				if !ask[bool](ada, in(fmt.Sprintf(`getComputedStyle($(".row[data-id='%s'] .tools")).visibility === "visible"`, id))) {
					return errors.New(ada.text())
				}
				return nil
			})
		}
	}

	ada.within(tool(id, 1), over(id))
	ada.within(tool(id, 2))
	ada.see(in(row(peel) + `.querySelector(".reaction[aria-pressed=true]").textContent === "❤️1"`))

	ada.within(tool(id, 2), over(id))
	ada.see(in(`$(".about").textContent === "Reply to Bob Lindgren" + ` + fmt.Sprintf("%q", peel)))
	ada.inWidget("I have it")
	ada.see(in(row("I have it") + `.querySelector(".quote").textContent === "Bob Lindgren" + ` + fmt.Sprintf("%q", peel)))
	ada.see(widgetSays("I have it"))
	ada.see(in(`$(".about").hidden`))

	// From the lines, the arrows lead to messages, and the Tab key to what can be done with one.
	ada.press("a draft")
	ada.see(in(`($(".scroller").focus(), true)`))
	ada.press(kb.ArrowUp)
	ada.see(in(`chat.shadowRoot.activeElement === ` + row("I have it")))
	ada.press(kb.Tab + kb.Tab + kb.Tab + kb.Tab) // the quote, react, reply, edit
	ada.see(in(`chat.shadowRoot.activeElement.ariaLabel === "Edit"`))
	ada.enter()
	ada.see(in(`$("textarea").value === "I have it" && $(".about strong").textContent === "Edit message"`))
	ada.press(kb.Escape)
	ada.see(in(`$("textarea").value === "a draft" && $(".about").hidden`))
	own := ask[string](ada, in(row("I have it")+`.dataset.id`))
	ada.within(tool(own, 3), over(own))
	ada.press(" here")
	ada.enter()
	ada.see(in(row("I have it here") + `.querySelector(".foot").textContent.startsWith("edited") && $("textarea").value === "a draft"`))

	ada.within(tool(own, 4), over(own))
	ada.see(in(`$(".tool.danger").textContent === "Delete for everyone"`))
	// A line that is drawn anew meanwhile still asks.
	thumb := client.Draft{Kind: client.KindReaction, Target: must(strconv.ParseInt(own, 10, 64))(t), Emoji: "👍"}
	must(s.node.Client("bob").Send(t.Context(), group, thumb))(t)
	ada.see(in(row("I have it here") + `.querySelector(".reaction") && $(".tool.danger").matches(":focus")`))
	ada.within(".tool.danger")
	ada.see(in(row("This message was deleted") + ` && !` + row("I have it here")))
	ada.see(in(`!$(".row[data-id='` + own + `'] .tools")`))
}

// TestSDKWidgetLanguages is in the language of its attribute, else of the page, and from right to left where that is written so.
func TestSDKWidgetLanguages(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	group := s.talk(t)
	browser := startBrowser(t)
	zh := s.open(t, browser, "ada", "mode", "direct", "user", "chen", "pageLang", "zh-CN")
	zh.see(widgetSays("Do you have a minute after the shift?"))
	zh.see(in(`$("h2").textContent === "陈晓" && $(".mark.day").textContent === "今天" && $(".mark.new").textContent === "新消息" && $(".whole").dir === "ltr"`))

	ar := s.open(t, browser, "ada", "mode", "group", "group", group, "lang", "ar")
	ar.see(in(`$(".whole").dir === "rtl" && ` + row("On my way") + ` === undefined && $(".row.own")`))
	ar.see(in(`((own, other) => own.left < other.left && own.right < other.right)($(".row.own .bubble").getBoundingClientRect(), $(".row:not(.own) .bubble").getBoundingClientRect())`))
	ar.see(in(`$(".row time").textContent === new Intl.DateTimeFormat("ar", { hour: "numeric", minute: "2-digit" }).format(new Date($(".row time").dateTime))`))
	ask[bool](ar, `(chat.words = { write: "اكتب رسالة" }, true)`)
	ar.see(in(`$("textarea").placeholder === "اكتب رسالة"`))
	ask[bool](ar, `(chat.lang = "he", chat.dir = "ltr", true)`)
	ar.see(in(`$(".whole").dir === "ltr" && $(".whole").lang === "he"`))

	// It takes the colours of the attribute, else of the system; a page has the last word.
	ground := func(colour string) {
		t.Helper()
		ar.see(in(`getComputedStyle($(".frame")).backgroundColor`) + fmt.Sprintf(` === %q`, colour))
	}
	ar.scheme("light")
	ground("rgb(255, 255, 255)")
	ar.scheme("dark")
	ground("rgb(22, 25, 29)")
	ask[bool](ar, `(chat.setAttribute("theme", "light"), true)`)
	ground("rgb(255, 255, 255)")
	ask[bool](ar, `(chat.style.setProperty("--chatd-ground", "rgb(1, 2, 3)"), true)`)
	ground("rgb(1, 2, 3)")
}

// TestSDKWidgetSaysWhatItIs looks at the widget as a screen reader does: everything that can be used has a name.
func TestSDKWidgetSaysWhatItIs(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	group := s.talk(t)
	ada := s.open(t, startBrowser(t), "ada", "mode", "list", "group", group)
	ada.see(widgetSays("And we are out of sesame 🌾"))
	ada.see(in(`$$(".item").length === 3`))
	tree, err := chromedp.Call(ada.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	text := func(v *accessibility.Value) (said string) {
		if v != nil {
			_ = json.Unmarshal(v.Value, &said)
		}
		return said
	}
	found := map[string]bool{}
	for _, node := range tree.Nodes {
		role, name := text(node.Role), text(node.Name)
		found[role+" "+name] = true
		if slices.Contains([]string{"button", "textbox", "link", "log", "region", "dialog", "heading"}, role) && name == "" && !node.Ignored {
			t.Errorf("a %s has no name", role)
		}
	}
	for _, want := range []string{"log Messages", "textbox Write a message", "button Send", "region Conversations", "region Morning shift", "list Conversations", "button 👍, 2"} {
		if !found[want] {
			t.Errorf("there is no %s", want)
		}
	}
}

// TestSDKWidgetLives comes, moves and goes: elements share one client, and the last one leaves nothing behind.
func TestSDKWidgetLives(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	group := s.talk(t)
	ada := s.open(t, startBrowser(t), "ada", "mode", "group", "group", group)
	ada.see(widgetSays("And we are out of sesame 🌾"))
	ask[bool](ada, `!!(globalThis.first = chat.chat, globalThis.other = put({ url: chat.getAttribute("url"), mode: "direct", user: "chen" }))`)
	ada.see(`other.shadowRoot.querySelector(".row") && other.chat === chat.chat && sockets.size === 1`)

	// Moving one, and removing one of two, ends nothing.
	ask[bool](ada, `(document.querySelector("main").append(chat), other.remove(), true)`)
	ada.see(widgetSays("And we are out of sesame 🌾"))
	ada.see(`chat.chat === first && opened === 1 && sockets.size === 1 && first.state.phase === "live" && !other.chat`)

	ask[bool](ada, `(chat.remove(), true)`)
	ada.see(`first.state.phase === "closed" && sockets.size === 0 && timers.size === 0`)
	ask[bool](ada, `(document.body.append(chat), true)`)
	ada.see(widgetSays("And we are out of sesame 🌾"))
	ada.see(`chat.chat !== first && sockets.size === 1 && opened === 2`)
	ada.inWidget("back again")
	ada.see(widgetSays("back again"))

	// Attributes that are set later are followed.
	ask[bool](ada, `(chat.setAttribute("mode", "list"), true)`)
	ada.see(in(`$$(".item").length === 3`))

	// Tokens by an address of the page's backend, which may say that the person has signed out.
	ask[bool](ada, `(chat.remove(), chat = put({ url: chat.getAttribute("url"), mode: "list", "token-url": "/token" }), true)`)
	ada.see(in(`$$(".item").length === 3 && chat.chat.state.phase === "live"`))
	ask[bool](ada, `(chat.remove(), true)`)
	s.signedOut.Store(true)
	ada.refused(true)
	ada.see(`sockets.size === 0`)
	ask[bool](ada, `(document.body.append(chat), true)`)
	ada.see(in(`!$(".state").hidden && $(".state").textContent === "You are signed out"`))
	ada.see(`heard.some((h) => h.type === "chatd-signed-out")`)

	// Where the server does not know the person as a member.
	s.signedOut.Store(false)
	ask[bool](ada, `(chat.remove(), chat = put({ url: chat.getAttribute("url"), mode: "group", group: "nowhere", "token-url": "/token" }), true)`)
	ada.see(in(`$(".empty").textContent === "You are not a member of this conversation" && $(".write").hidden`))
}

// TestSDKWidgetPictures shows every mode in every look. CHATD_PICTURES names a folder to keep the pictures in.
func TestSDKWidgetPictures(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	group := s.talk(t)
	browser := startBrowser(t)
	dir := picturesDir(t)
	for _, c := range []struct {
		name       string
		attributes []string
	}{
		{"group", []string{"mode", "group", "group", group}},
		{"direct", []string{"mode", "direct", "user", "chen"}},
		{"list", []string{"mode", "list", "group", group}},
		{"launcher", []string{"mode", "launcher", "open", ""}},
		{"zh", []string{"mode", "list", "group", group, "lang", "zh"}},
		{"rtl", []string{"mode", "list", "group", group, "lang", "ar"}},
	} {
		s.pictures(t, browser, dir, c.name, c.attributes)
	}
}

func (s *widgetSite) pictures(t *testing.T, browser context.Context, dir, name string, attributes []string) {
	t.Helper()
	p := s.open(t, browser, "ada", attributes...)
	p.see(in(`$(".row .bubble") || $$(".panel .item").length === 3`))
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		for _, screen := range []struct {
			name          string
			width, height int64
		}{{"desktop", 1100, 760}, {"phone", 390, 780}} {
			p.size(screen.width, screen.height)
			p.frames(2)
			p.see(`document.documentElement.scrollWidth <= innerWidth`)
			p.picture(dir, "widget-"+name+"-"+screen.name+"-"+scheme+".png")
		}
	}
}
