package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/jstest"
)

const (
	browserTimeout = jstest.BrowserTimeout
	waitTimeout    = time.Minute // for one condition of the page, on the slowest machine
	waitEvery      = 25 * time.Millisecond
)

// oneChromium serves all tests of the package: starting one takes about as much of the processor as a test does in it.
// What people see and store is apart all the same: each has a browser context of their own.
var oneChromium struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

// startBrowser returns a context of the one Chromium, which is started when first asked for. It ends with the test.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	b := &oneChromium
	b.once.Do(func() { b.ctx, b.stop, b.err = jstest.Chromium(context.Background()) })
	if b.err != nil {
		t.Fatalf("Chromium does not start: %v", b.err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, browserTimeout)
	t.Cleanup(cancel)
	return ctx
}

// stopBrowser ends the Chromium, if there is one, and removes its profile.
func stopBrowser() {
	if oneChromium.stop != nil {
		oneChromium.stop()
	}
}

// devNode starts chatd with the development sign-in, and with a secret that Client of the harness signs with.
func devNode(t *testing.T) *harness.Node {
	t.Helper()
	return harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "on"}})
}

// person is someone with a browser of their own: cookies, storage and windows are apart from everybody else's.
type person struct {
	t    *testing.T
	ctx  context.Context
	name string

	mu       sync.Mutex
	problems []string // what the page should not have said: errors of the console, dialogs
	network  bool     // requests may fail, and the browser may say so

	long *strings.Replacer // makes of an English text what the page shows, if it is another one
}

// reads is what the page shows for an English text.
func (p *person) reads(english string) string {
	if p.long == nil {
		return english
	}
	return p.long.Replace(english)
}

// newPerson opens the page and signs in.
func newPerson(t *testing.T, browser context.Context, node *harness.Node, name string) *person {
	t.Helper()
	p := openPage(t, browser, node, name)
	if *nginxFlag { // which the development sign-in does not go through
		p.see(`document.querySelector("textarea[name=token]") ?? void [...document.querySelectorAll(".card .text-button")].find((b) => b.textContent === "Sign in with a token")?.click()`)
		p.fill("textarea[name=token]", harness.Token(name, "", time.Hour))
		p.click(".card button.primary")
	} else {
		p.fill("input[name=name]", name)
		p.enter()
	}
	p.isSignedIn(name)
	p.live()
	p.refused(false)
	return p
}

// openPage opens the page in a browser context of its own. Nobody is signed in by a cookie yet, which the page asks for.
func openPage(t *testing.T, browser context.Context, node *harness.Node, name string) *person {
	t.Helper()
	if *nginxFlag {
		return openRefused(t, browser, node.URL(), name)
	}
	return openRefused(t, browser, node.SignInURL(), name)
}

func openAt(t *testing.T, browser context.Context, url, name string) *person {
	t.Helper()
	p := blankPage(t, browser, name)
	p.do(chromedp.Navigate(url))
	return p
}

// openRefused is openAt where the page may be refused something from its first request on.
func openRefused(t *testing.T, browser context.Context, url, name string) *person {
	t.Helper()
	p := blankPage(t, browser, name)
	p.refused(true)
	p.do(chromedp.Navigate(url))
	return p
}

// blankPage makes a browser context of its own. The test fails at its end where the page complained of anything.
func blankPage(t *testing.T, browser context.Context, name string) *person {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &person{t: t, ctx: ctx, name: name}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.problems) > 0 {
			t.Errorf("the page of %s complained:\n%s", name, strings.Join(p.problems, "\n"))
		}
	})
	p.size(1180, 760)
	return p
}

// hear collects complaints. It runs on the goroutine that reads from the browser, so it only notes.
func (p *person) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	note := func(format string, args ...any) { p.problems = append(p.problems, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, arg := range e.Args {
			note("console %s: %s %s", e.Type, arg.Value, arg.Description)
		}
	case *runtime.EventExceptionThrown:
		note("exception: %s %s", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelVerbose || p.network && e.Entry.Source == log.EntrySourceNetwork {
			return
		}
		note("log %s of %s: %s %s", e.Entry.Level, e.Entry.Source, e.Entry.Text, e.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		note("a dialog opened: %s", e.Message)
	}
}

// refused says whether the browser may complain of requests that fail: the server is down, or says no.
func (p *person) refused(may bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.network = may
}

func (p *person) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitTimeout)
	defer cancel()
	for _, action := range actions {
		err := chromedp.Do(ctx, action)
		for err != nil && isReplaced(err) {
			err = chromedp.Do(ctx, action)
		}
		if err != nil {
			p.t.Fatalf("%s: %v\n%s", p.name, err, p.text())
		}
	}
}

// isReplaced says that the page has put another element in the place of the one that was found, before anything was done to it.
func isReplaced(err error) bool {
	return slices.ContainsFunc([]string{"ode with given id", "ode is detached", "not have a layout object", "compute content quads", "compute box model"},
		func(text string) bool { return strings.Contains(err.Error(), text) })
}

// isGone says that an expression ran in the document before, which has just gone.
func isGone(err error) bool {
	return strings.Contains(err.Error(), "Cannot find context") || strings.Contains(err.Error(), "navigated or closed")
}

// see waits until a condition of the page holds.
func (p *person) see(expression string) {
	p.t.Helper()
	// What is not there yet has no fields: that is no reason to give up.
	holds := "(() => { try { return !!(" + expression + "); } catch (err) { if (err instanceof TypeError) return false; throw err; } })()"
	poll := chromedp.Poll[chromedp.Void](holds, chromedp.WithPollingInterval(waitEvery), chromedp.WithPollingTimeout(waitTimeout))
	_, err := chromedp.Run(p.ctx, poll)
	for err != nil && isGone(err) {
		_, err = chromedp.Run(p.ctx, poll)
	}
	if err != nil {
		p.t.Fatalf("%s does not see %s: %v\nThe page:\n%s", p.name, expression, err, p.text())
	}
}

// types has a person type until another sees it. A sign of typing holds for 5 s, which a busy machine may take to look at the page.
func (p *person) types(other *person) {
	p.t.Helper()
	harness.Eventually(p.t, waitTimeout, other.name+" sees that "+p.name+" is typing", func() error {
		p.press("x" + kb.Backspace)
		if !ask[bool](other, fmt.Sprintf(`document.querySelector(".typing").textContent.includes(%q)`, p.name+" is typing")) {
			return errors.New(other.text())
		}
		return nil
	})
}

// unhurried has what the page takes away after 5 to 10 s, a message with its Undo, stand ten times as long until the page is
// loaded anew: a busy machine may take longer to click than a person does.
func (p *person) unhurried() {
	p.t.Helper()
	p.script(`((set) => { window.setTimeout = (run, ms, ...rest) => set(run, ms >= 5000 && ms <= 10000 ? 10 * ms : ms, ...rest); })(setTimeout)`)
}

// text is all that the page shows, for the message of a failure.
func (p *person) text() string {
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText + "\n" + JSON.stringify([...document.querySelectorAll("input, textarea")].map((i) => i.value))`))
	if err != nil {
		return err.Error()
	}
	return text
}

// ask evaluates an expression.
func ask[T any](p *person, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	return value
}

// frames waits until the browser has drawn so many frames: what happens at the next one has happened.
func (p *person) frames(n int) {
	p.t.Helper()
	ask[bool](p, fmt.Sprintf(`(async () => { for (let i = 0; i < %d; i++) await new Promise(requestAnimationFrame); return true; })()`, n))
}

// enter presses the Enter key. One event with its text, as a keyboard makes it: a page that prevents the keydown then
// gets no character, which chromedp would send as an event of its own.
func (p *person) enter(modifiers ...chromedp.Modifier) {
	p.t.Helper()
	key := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", Text: kb.Enter, UnmodifiedText: kb.Enter, WindowsVirtualKeyCode: 13}
	for _, m := range modifiers {
		key.Modifiers |= int64(m)
	}
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		key.Type = kind
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, key); err != nil {
			p.t.Fatal(err)
		}
		key.Text, key.UnmodifiedText = "", ""
	}
}

// click presses the middle of an element once it no longer moves, and again where it moved all the same or the browser did
// not hand the click on. A document that the click has led to knows nothing of it.
func (p *person) click(selector string) {
	p.t.Helper()
	for missed := true; missed; {
		p.see(still(fmt.Sprintf(`document.querySelector(%q)`, selector)))
		p.script(`window.hit = {}, ["pointerdown", "click"].forEach((kind) =>
			window.addEventListener(kind, (e) => { window.hit[kind] = e.target.closest(%q); }, { capture: true, once: true }))`, selector)
		p.do(chromedp.Click(chromedp.CSS(selector)))
		var err error
		if missed, err = chromedp.Run(p.ctx, chromedp.Evaluate[bool](`!!window.hit && (({ pointerdown: at, click }) =>
			!at || (click === undefined ? at.isConnected && !at.matches(":disabled") : !click))(window.hit)`)); err != nil && !isGone(err) {
			p.t.Fatalf("%s clicks %s: %v", p.name, selector, err)
		}
	}
}

// still is the expression that an element is in view and stands where it stood when this was last asked.
func still(element string) string {
	return fmt.Sprintf(`((e) => {
		e?.scrollIntoViewIfNeeded();
		const r = e?.getBoundingClientRect(), before = window.stood;
		window.stood = r && [r.x, r.y, r.width, r.height].join();
		return r?.width > 0 && window.stood === before;
	})(%s)`, element)
}

func (p *person) fill(selector, text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}
func (p *person) press(keys string) { p.t.Helper(); p.do(chromedp.KeyEvent(keys)) }

func (p *person) live() {
	p.t.Helper()
	p.see(`document.querySelector(".link-state")?.dataset.phase === "live"`)
}

func (p *person) size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// scheme sets what the system prefers: light or dark.
func (p *person) scheme(scheme string) {
	p.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		p.t.Fatal(err)
	}
}

// open shows a group of the list.
func (p *person) open(group string) {
	p.t.Helper()
	p.click(fmt.Sprintf(".group-link[data-group=%q]", group))
	p.see(fmt.Sprintf(`document.querySelector(".group-link[aria-current]")?.dataset.group === %q && document.querySelector(".messages")`, group))
}

// say types a message into the open group and sends it by Enter.
func (p *person) say(text string) {
	p.t.Helper()
	p.fill(".write textarea", text)
	p.enter()
	p.see(`document.querySelector(".write textarea").value === ""`)
}

// shows is the expression that the first element of a selector has this text. Go's quoting of what the tests use is
// JavaScript's as well.
func shows(selector, text string) string {
	return fmt.Sprintf("document.querySelector(%q)?.textContent === %q", selector, text)
}

// message is the expression of the message with this very text.
func message(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".message")].find((m) => m.querySelector(".body")?.textContent === %q)`, text)
}

// stands waits until a message is there and confirmed by the server, and gives the selector of it.
func (p *person) stands(text string) string {
	p.t.Helper()
	p.see(message(text) + `?.dataset.id && !` + message(text) + `.dataset.pending`)
	return fmt.Sprintf(".message[data-id=%q]", ask[string](p, message(text)+".dataset.id"))
}

// tool presses one of the buttons that a message shows when it has the focus.
func (p *person) tool(selector, label string) {
	p.t.Helper()
	p.do(chromedp.Focus(chromedp.CSS(selector)))
	button := fmt.Sprintf("%s button[aria-label=%q]", selector, p.reads(label))
	// The one toolbar of the page goes to the message that was focused or pointed at last: that may be one that came under the mouse.
	p.see(fmt.Sprintf(`document.querySelector(%q) ?? void ((m) => { m.blur(); m.focus(); })(document.querySelector(%q))`, button, selector))
	p.click(button)
}

// blankBytes is more than a picture has with nothing on it: of a phone 2,740 bytes, of 1,600 by 1,000 pixels 6,989. Those of the
// tests have 26,000 and more.
const blankBytes = 12_000

// picture takes a screenshot, checks that it shows something, and keeps it in the folder of the test.
func (p *person) picture(dir, name string) []byte {
	p.t.Helper()
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, 1, 1)) // nothing is drawn as under the mouse
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if len(shot) < blankBytes {
		p.t.Errorf("%s has %d bytes: is there anything on it?", name, len(shot))
	}
	if err := os.WriteFile(filepath.Join(dir, name), shot, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return shot
}

// fits checks that the page is not wider than its window.
func (p *person) fits() {
	p.t.Helper()
	p.see(`document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll(".scroller, .groups")].every((e) => e.scrollWidth <= e.clientWidth)`)
}

// script runs statements that give no value.
func (p *person) script(format string, args ...any) {
	p.t.Helper()
	ask[bool](p, fmt.Sprintf("("+format+", true)", args...))
}

// signInOf is what the browser has under the key of the sign-in.
func signInOf(user, token string) string {
	return fmt.Sprintf(`{"user":%q,"token":%q,"expires_at":"","dev":false}`, user, token)
}

// anotherTab does what a browser does when another tab signs in, or signs out ("").
func (p *person) anotherTab(signIn string) {
	p.t.Helper()
	if signIn == "" {
		p.script(`localStorage.removeItem("chatd.signin")`)
	} else {
		p.script(`localStorage.setItem("chatd.signin", %q)`, signIn)
	}
	p.script(`dispatchEvent(new StorageEvent("storage", { key: "chatd.signin" }))`)
}

// textsShown is the expression of all texts that the page shows, in order.
const textsShown = `[...document.querySelectorAll(".message .body")].map((b) => b.textContent).join("|")`

// by waits until the page is live by a websocket or by long polling ("poll").
func (p *person) by(way string) {
	p.t.Helper()
	p.see(`document.querySelector(".link-state")?.dataset.phase === "live" && document.querySelector(".link-state").dataset.by === "` + way + `"`)
}
