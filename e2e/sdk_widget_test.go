package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// widgetSite is a page of another origin that embeds the widget under a policy that allows its own files and one server.
type widgetSite struct {
	*httptest.Server
	node      *harness.Node
	signedOut atomic.Bool // its backend gives no tokens
}

func startWidgetSite(t *testing.T) *widgetSite {
	t.Helper()
	s := &widgetSite{}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("testdata/sdkwidget")))
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		if s.signedOut.Load() {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = fmt.Fprintln(w, harness.Token("ada", "", time.Hour))
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server := s.node.URL()
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self' "+server+"; style-src 'self'; img-src data:; connect-src 'self' "+server+" "+
			strings.Replace(server, "http", "ws", 1)+"; require-trusted-types-for 'script'; trusted-types 'none'")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	s.node = harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_ORIGINS": s.URL, "CHATD_ARCHIVE": "off"}})
	return s
}

// open shows the page to a person with a browser of their own, with attributes of the widget: "mode", "group".
func (s *widgetSite) open(t *testing.T, browser context.Context, user string, attributes ...string) *person {
	t.Helper()
	p := blankPage(t, browser, user)
	s.visit(p, attributes...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the widget of %s: %s", user, ask[string](p, `(chat.shadowRoot?.innerHTML ?? "is not there").slice(0, 3000)`))
		}
		if refused := ask[[]string](p, `refusedByPolicy`); len(refused) > 0 {
			t.Errorf("the content security policy refused %q", refused)
		}
	})
	return p
}

func (s *widgetSite) visit(p *person, attributes ...string) {
	p.t.Helper()
	q := url.Values{"url": {s.node.URL()}, "token": {harness.Token(p.name, "", time.Hour)}}
	for i := 0; i < len(attributes); i += 2 {
		q.Set(attributes[i], attributes[i+1])
	}
	p.do(chromedp.Navigate(s.URL + "/#" + strings.ReplaceAll(q.Encode(), "+", "%20")))
}

// in is an expression over the widget: $ finds an element in it, $$ all. It is undefined while one is missing.
func in(expression string) string {
	return `(() => {
		const $ = (s) => chat.shadowRoot.querySelector(s), $$ = (s) => [...chat.shadowRoot.querySelectorAll(s)];
		try {
			return ` + expression + `;
		} catch {}
	})()`
}

// row is the expression of the row with this very text.
func row(text string) string {
	return fmt.Sprintf(`$$(".row").find((r) => r.querySelector(".body")?.textContent === %q)`, text)
}

// widgetSays is the expression that a message is in the log and shown.
func widgetSays(text string) string {
	return in(row(text) + `?.dataset.state === "sent"`)
}

// inWidget writes and sends.
func (p *person) inWidget(text string) {
	p.t.Helper()
	p.see(in(`($("textarea").focus(), chat.shadowRoot.activeElement === $("textarea"))`))
	p.press(text)
	p.see(in(`!$(".send").disabled`))
	p.enter()
	p.see(in(`$("textarea").value === ""`))
}

// within presses the middle of an element of the widget, as a mouse does, and again where it moved all the same. What
// comes first is done before each try.
func (p *person) within(selector string, first ...func()) {
	p.t.Helper()
	element := in(fmt.Sprintf(`$(%q)`, selector))
	tries := 0
	for missed := true; missed; missed = ask[bool](p, `window.missed === true`) {
		if tries++; tries > 20 {
			p.t.Fatalf("%s: no press of %d reached %s\n%s", p.name, tries-1, selector, p.text())
		}
		for _, act := range first {
			act()
		}
		p.see(still(element))
		// What was drawn anew meanwhile, and lies where the press comes, is what was meant.
		p.script(`window.missed = false, ["pointerdown", "click"].forEach((kind) =>
			window.addEventListener(kind, (e) => { window.missed = !e.composedPath().some((n) => n.matches?.(%q)); }, { capture: true, once: true }))`, selector)
		at := ask[[]float64](p, fmt.Sprintf(`((r) => [r.x + r.width / 2, r.y + r.height / 2])(%s.getBoundingClientRect())`, element))
		p.do(chromedp.MouseClickXY(at[0], at[1]))
	}
}

// talk fills two groups and a direct conversation for ada.
func (s *widgetSite) talk(t *testing.T) (group string) {
	t.Helper()
	users := map[string]string{"ada": "Ada Okafor", "bob": "Bob Lindgren", "chen": "陈晓", "noor": "نور الهاشمي"}
	for user, name := range users {
		must(s.node.Client(user).UpdateMe(t.Context(), client.ProfileChange{Name: &name}))(t)
	}
	ada, bob, chen, noor := s.node.Client("ada"), s.node.Client("bob"), s.node.Client("chen"), s.node.Client("noor")
	baking := must(ada.CreateGroup(t.Context(), client.GroupDraft{ID: "shift", Name: "Morning shift", Members: []string{"bob", "chen", "noor"}}))(t).ID
	say := func(c *client.Client, group string, draft client.Draft) int64 {
		return must(c.Send(t.Context(), group, draft))(t).ID
	}
	for i := range 150 {
		say(bob, baking, client.Text(fmt.Sprintf("Tray %d is out of the oven", i+1)))
	}
	rye := say(bob, baking, client.Text("Morning! The rye starter doubled overnight, so we can bake forty loaves instead of thirty."))
	say(bob, baking, client.Text("Recipe is here: https://example.com/rye?batch=40, have a look."))
	say(chen, baking, client.Text("好的，我六点到，顺便带上新的模具。"))
	say(noor, baking, client.Text("صباح الخير! سأحضر الطحين الإضافي معي."))
	first := say(ada, baking, client.Draft{Body: "Great. I take the frist delivery at 6:30 then.", ReplyTo: rye})
	say(ada, baking, client.Draft{Kind: "edit", Target: first, Body: "Great. I take the first delivery at 6:30 then."})
	for _, c := range []*client.Client{bob, chen} {
		say(c, baking, client.Draft{Kind: "reaction", Target: first, Emoji: "👍"})
	}
	must(ada.Read(t.Context(), baking, must(ada.Group(t.Context(), baking))(t).Last))(t)
	for _, text := range []string{"The van is parked at the back", "Can somebody bring the long peel?", "And we are out of sesame 🌾"} {
		say(bob, baking, client.Text(text))
	}
	supplies := must(bob.CreateGroup(t.Context(), client.GroupDraft{Name: "Suppliers and deliveries", Members: []string{"ada"}}))(t).ID
	say(bob, supplies, client.Text("Flour comes on Thursday, not Wednesday."))
	say(chen, must(chen.Direct(t.Context(), "ada"))(t).ID, client.Text("Do you have a minute after the shift?"))
	return baking
}

// TestSDKWidget shows one group and writes to it.
func TestSDKWidget(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	group := s.talk(t)
	browser := startBrowser(t)
	ada := s.open(t, browser, "ada", "mode", "group", "group", group)
	bob := s.node.Client("bob")
	say := func(draft client.Draft) int64 { return must(bob.Send(t.Context(), group, draft))(t).ID }

	// It opens at what is unread, and reads what is on screen.
	ada.see(widgetSays("And we are out of sesame 🌾"))
	ada.see(in(`$(".mark.new")?.textContent === "New messages" && $("h2").textContent === "Morning shift" && $(".titles p").textContent === "4 members"`))
	ada.see(in(`$$(".author").some((a) => a.textContent === "Bob Lindgren")`))
	ada.see(in(`((a) => a?.rel.includes("noopener") && a.target === "_blank")($(".body a[href='https://example.com/rye?batch=40']"))`))
	ada.see(in(row("Great. I take the first delivery at 6:30 then.") + `?.textContent.includes("edited") && ` + row("Great. I take the first delivery at 6:30 then.") + `.querySelector(".quote strong").textContent === "Bob Lindgren"`))
	ada.see(`chat.chat.snapshot().groups.find((g) => g.id === "shift").unread === 0`)
	ada.see(`heard.some((h) => h.type === "chatd-unread" && h.unread > 0)`)

	// Both ways; the Enter key sends, with Shift it begins a line.
	ada.inWidget("On my way")
	ada.see(widgetSays("On my way"))
	ada.press("two")
	ada.enter(chromedp.ModifierShift)
	ada.press("lines")
	ada.enter()
	ada.see(widgetSays("two\nlines"))
	hostile := `<img src=x onerror=alert(1)> javascript:alert(1) https://example.com/"onclick=alert(1)`
	say(client.Text(hostile))
	ada.see(widgetSays(hostile))
	ada.see(in(`!$("img, script") && [...$$("a")].every((a) => a.protocol === "https:" && !a.onclick)`))
	ada.see(in(`$(".scroller").scrollHeight - $(".scroller").scrollTop - $(".scroller").clientHeight < 2`))
	ada.see(fmt.Sprintf(`heard.some((h) => h.type === "chatd-message" && h.body === %q)`, hostile))

	// What is changed later.
	van := say(client.Text("The van is here"))
	ada.see(widgetSays("The van is here"))
	say(client.Draft{Kind: "reaction", Target: van, Emoji: "🎉"})
	ada.see(in(row("The van is here") + `.querySelector(".reaction")?.textContent === "🎉1"`))
	ada.see(in(`(` + row("The van is here") + `.querySelector(".reaction").click(), true)`))
	ada.see(in(row("The van is here") + `.querySelector(".reaction[aria-pressed=true]")?.textContent === "🎉2"`))
	say(client.Draft{Kind: "edit", Target: van, Body: "The van is there"})
	ada.see(in(row("The van is there") + `?.querySelector(".foot").textContent.startsWith("edited")`))
	say(client.Draft{Kind: "delete", Target: van})
	ada.see(in(`!` + row("The van is there") + ` && ` + row("This message was deleted")))

	s.olderInWidget(ada, say)

	other := s.open(t, browser, "bob", "mode", "group", "group", group)
	other.see(widgetSays("On my way"))
	typing := func() error {
		ask[bool](other, in(`($("textarea").focus(), true)`))
		other.press("x")
		if !ask[bool](ada, in(`$(".typing").textContent.includes("Bob Lindgren is typing")`)) {
			return fmt.Errorf("it is not shown")
		}
		return nil
	}
	harness.Eventually(t, waitTimeout, "ada sees that bob is typing", typing)
}

// olderInWidget loads what is above, and keeps the place of what is looked at.
func (s *widgetSite) olderInWidget(ada *person, say func(client.Draft) int64) {
	ada.t.Helper()
	moved := func() {
		ada.t.Helper()
		if by := ask[float64](ada, in("$(`[data-id=\"${looked.id}\"]`).getBoundingClientRect().top - looked.top")); by > 1 || by < -1 {
			ada.t.Errorf("what is looked at moved by %v px", by)
		}
	}
	look := in(`((r) => globalThis.looked = { rows: $$(".row").length, id: r.dataset.id, top: r.getBoundingClientRect().top })($(".row[data-id]")).rows > 0`)
	ask[bool](ada, in(`($(".scroller").scrollTop = 0, true)`))
	ask[bool](ada, look)
	ada.see(in(`$$(".row").length > looked.rows && !$("[aria-busy]")`))
	moved()
	ada.see(in(`($(".scroller").scrollTop = 0, ` + row("Tray 1 is out of the oven") + `)`))
	ada.see(in(`$(".edge").hidden && $(".mark.day").textContent === "Today"`))

	ask[bool](ada, look)
	ada.see(in(`$(".newest").getAttribute("aria-label") === "Jump to newest"`))
	say(client.Text("while you read"))
	ada.see(in(`$(".newest").textContent === "1 new message" && ` + row("while you read")))
	moved()
	ada.within(".newest")
	ada.see(widgetSays("while you read"))
	ada.see(in(`$(".newest").hidden`))
	ada.see(`chat.chat.snapshot().groups.find((g) => g.id === "shift").unread === 0`)

	// A quote leads to what it quotes.
	ada.see(in(`($(".quote").scrollIntoView(), true)`))
	ada.within(".quote")
	ada.see(in(`$(".row.found .body")?.textContent.startsWith("Morning! The rye")`))
}

// TestSDKWidgetOffline writes while the server is down, and is refused.
func TestSDKWidgetOffline(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	noor, ada := s.node.Client("noor"), s.node.Client("ada")
	group := must(ada.CreateGroup(t.Context(), client.GroupDraft{Name: "Night shift", Members: []string{"noor"}}))(t).ID
	p := s.open(t, startBrowser(t), "noor", "mode", "group", "group", group, "lang", "zh-CN")
	p.see(in(`$("textarea").placeholder === "输入消息" && $(".titles p").textContent === "2 位成员"`))
	p.see(`chat.chat.state.phase === "live"`)

	p.refused(true)
	s.node.Kill()
	p.see(in(`!$(".state").hidden && $(".state").textContent.startsWith("网络已断开")`))
	p.inWidget("one")
	p.inWidget("two")
	p.see(in(`$$(".row.queued").length === 2 && $$(".row.queued .foot").length === 1`))
	s.node.Start()
	p.see(in(`($(".state button")?.click(), true)`))
	p.see(widgetSays("one") + ` && ` + widgetSays("two"))
	p.see(in(`$(".state").hidden`))

	admins, members := "admins", "members"
	must(ada.UpdateGroup(t.Context(), group, client.GroupChange{Post: &admins}))(t)
	p.inWidget("late")
	p.see(in(`$(".row.failed .trouble")?.textContent.startsWith("未发送")`))
	p.see(`heard.some((h) => h.type === "chatd-failed" && h.error.code === "forbidden")`)
	p.inWidget("too late")
	p.see(in(`$$(".row.failed").length === 2`))
	p.see(in(`(` + row("too late") + `.querySelectorAll(".trouble button")[1].click(), true)`))
	p.see(in(`!` + row("too late")))
	must(ada.UpdateGroup(t.Context(), group, client.GroupChange{Post: &members}))(t)
	p.see(in(`(` + row("late") + `.querySelectorAll(".trouble button")[0].click(), true)`))
	p.see(widgetSays("late"))
	stored := must(noor.Messages(t.Context(), group, client.Range{After: client.At(0)}))(t)
	var bodies []string
	for _, m := range stored.Messages {
		if m.Kind == "text" {
			bodies = append(bodies, m.Body)
		}
	}
	if got := strings.Join(bodies, " "); got != "one two late" {
		t.Errorf("the server has %q", got)
	}
}

// TestSDKWidgetGap comes back after messages were removed that another device had received.
func TestSDKWidgetGap(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	noor, ada := s.node.Client("noor"), s.node.Client("ada")
	keep := int64(5)
	group := must(ada.CreateGroup(t.Context(), client.GroupDraft{Name: "Night shift", Members: []string{"noor"}, Keep: &keep}))(t).ID
	must(ada.Send(t.Context(), group, client.Text("early")))(t)
	p := s.open(t, startBrowser(t), "noor", "mode", "group", "group", group)
	p.see(widgetSays("early"))
	p.see(fmt.Sprintf(`chat.chat.snapshot().groups.find((g) => g.id === %q).unread === 0`, group))
	p.do(chromedp.Navigate("about:blank"))
	var last int64
	for i := range 30 {
		last = must(ada.Send(t.Context(), group, client.Text(fmt.Sprintf("late %d", i+1))))(t).ID
		must(noor.Ack(t.Context(), group, last))(t)
		must(ada.Ack(t.Context(), group, last))(t)
	}
	s.visit(p, "mode", "group", "group", group)
	p.see(widgetSays("late 30"))
	p.see(in(`($(".scroller").scrollTop = 0, $(".mark.gap")?.textContent === "Some messages are missing here Load")`))
	p.see(in(`!` + row("late 1") + ` && ` + row("early")))
	p.within(".mark.gap button")
	p.see(in(`$(".mark.gap")?.textContent === "Some messages are no longer available "`))
}

// TestSDKWidgetLoadsAGap comes back to a group that shows by now what was written meanwhile.
func TestSDKWidgetLoadsAGap(t *testing.T) {
	t.Parallel()
	s := startWidgetSite(t)
	noor, ada := s.node.Client("noor"), s.node.Client("ada")
	history := false
	group := must(ada.CreateGroup(t.Context(), client.GroupDraft{Name: "Night shift", Members: []string{"noor", "max"}, History: &history}))(t).ID
	say := func(text string, n int) {
		t.Helper()
		for i := range n {
			must(ada.Send(t.Context(), group, client.Text(fmt.Sprintf("%s %d", text, i+1))))(t)
		}
	}
	say("before", 1)
	p := s.open(t, startBrowser(t), "noor", "mode", "group", "group", group)
	p.see(widgetSays("before 1"))
	p.see(fmt.Sprintf(`chat.chat.snapshot().groups.find((g) => g.id === %q).unread === 0`, group))
	p.do(chromedp.Navigate("about:blank"))
	if err := noor.RemoveMember(t.Context(), group, "noor"); err != nil {
		t.Fatal(err)
	}
	say("hidden", 3)
	must(ada.PutMember(t.Context(), group, "noor", "member"))(t)
	say("after", 1)
	s.visit(p, "mode", "group", "group", group)
	p.see(widgetSays("after 1"))
	p.see(in(`$(".mark.gap button")`))
	history = true
	must(ada.UpdateGroup(t.Context(), group, client.GroupChange{History: &history}))(t)
	p.picture(picturesDir(t), "widget-gap.png")
	p.refused(true)
	p.online(false)
	p.script(in(`$(".mark.gap button").click()`))
	p.see(in(`$(".mark.gap")?.textContent === "Messages could not be loaded. Retry"`))
	p.online(true)
	p.script(in(`$(".mark.gap button").focus()`))
	p.press(kb.Enter)
	p.see(in(`!$(".mark.gap") && ` + row("before 1") + ` && ` + row("hidden 1") + ` && ` + row("hidden 3") + ` && ` + row("after 1")))
	p.see(in(`chat.shadowRoot.activeElement?.matches(".row")`))
}
