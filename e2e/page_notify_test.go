package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// notified is alice with a browser that shows notifications, which a test sees.
type notified struct {
	*person
	node     *harness.Node
	front    *notifyFront
	receiver *harness.Receiver
	script   string // of each window, see testdata/notifications.js
	real     bool   // whether the browser itself shows notifications
}

// notifyFront passes everything on to a node, and puts a script before the service worker.
type notifyFront struct {
	*httptest.Server
	script  atomic.Pointer[string]
	missing atomic.Pointer[string] // a path that the server does not have
}

func startNotifyFront(t *testing.T, node string) *notifyFront {
	t.Helper()
	to := must(url.Parse(node))(t)
	f := new(notifyFront)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
			if r.In.URL.Path == "/sw.js" {
				r.Out.Header.Del("Accept-Encoding")
				r.Out.Header.Del("If-None-Match")
			}
		},
		ModifyResponse: func(r *http.Response) error {
			script := f.script.Load()
			if r.Request.URL.Path != "/sw.js" || script == nil {
				return nil
			}
			return change(r, func(body []byte) []byte { return append([]byte(*script), body...) })
		},
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if missing := f.missing.Load(); missing != nil && *missing == r.URL.Path {
			http.NotFound(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// newNotified signs alice in, in a browser with a push service or without.
func newNotified(t *testing.T, push bool) *notified {
	t.Helper()
	env := notifying("100ms")
	env["CHATD_DEV"] = "on"
	node := harness.StartNode(t, harness.Config{Env: env})
	n := &notified{person: blankPage(t, startBrowser(t), "alice"), node: node, front: startNotifyFront(t, node.URL()), receiver: harness.StartReceiver(t, 1)}
	var subscription client.DeviceDraft
	given := map[string]any{"push": nil}
	if push {
		keys := must(harness.NewBrowser())(t)
		n.receiver.Subscribe("alice", keys, must(node.Client("alice").PushKey(t.Context()))(t))
		subscription.Endpoint, subscription.Keys = n.receiver.Endpoint("alice"), &client.PushKeys{P256dh: keys.P256dh(), Auth: keys.Auth()}
		given["push"] = subscription
	}
	n.person.refused(true) // the page asks for a cookie that is not there, and for what a server may not have
	n.do(chromedp.Navigate(n.front.URL + "/manifest.webmanifest"))
	n.real = true
	n.allow(browser.PermissionSettingGranted)
	n.real = ask[string](n.person, `Notification.permission`) == "granted"
	n.allow(browser.PermissionSettingPrompt)
	t.Logf("the browser shows notifications: %t", n.real)
	given["real"] = n.real
	source := must(os.ReadFile(filepath.Join("testdata", "notifications.js")))(t)
	n.script = fmt.Sprintf("(%s)(%s);\n", strings.TrimSuffix(strings.TrimSpace(string(source)), ";"), must(json.Marshal(given))(t))
	n.front.script.Store(&n.script)
	n.prepare(n.person)
	n.do(chromedp.Navigate(n.front.URL + node.SignInURL()[len(node.URL()):]))
	n.fill("input[name=name]", "alice")
	n.enter()
	n.live()
	n.keeps()
	return n
}

// prepare gives a window what testdata/notifications.js does.
func (n *notified) prepare(p *person) {
	n.t.Helper()
	if _, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: n.script}); err != nil {
		n.t.Fatal(err)
	}
}

// allow sets what the person has said to the question of the browser.
func (n *notified) allow(setting browser.PermissionSetting) {
	n.t.Helper()
	if !n.real {
		n.person.script(`localStorage.setItem("test.permission", %q)`, strings.ReplaceAll(string(setting), "prompt", "default"))
		return
	}
	if _, err := chromedp.Call(n.ctx, browser.SetPermission, browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: "notifications"},
		Setting: setting, Origin: n.front.URL, BrowserContextID: chromedp.FromContext(n.ctx).BrowserContextID}); err != nil {
		n.t.Fatal(err)
	}
}

// visits loads the page at a view.
func (n *notified) visits(path string) {
	n.t.Helper()
	n.do(chromedp.Navigate(n.front.URL + path))
	n.live()
}

// switchOn allows notifications, and asks for them by the button of the settings.
func (n *notified) switchOn() {
	n.t.Helper()
	n.visits("/me")
	n.see(`document.querySelector("[data-part=alerts]").dataset.state === "off"`)
	if asked := ask[int](n.person, `askedFor`); asked != 0 {
		n.t.Errorf("the page asked for permission %d times before a click", asked)
	}
	n.allow(browser.PermissionSettingGranted)
	n.click("button[name=alerts-on]")
	n.see(`document.querySelector("[data-part=alerts]").dataset.state === "on" && !document.querySelector("[name=alerts-off]").disabled && askedFor === 1`)
}

// shown are the notifications that stand, as "title: body", and of which direction the text is.
const shownNow = `navigator.serviceWorker.getRegistration("/").then((r) => r.getNotifications()).then((all) => all.map((n) => n.title + ": " + n.body + " " + n.dir).sort().join("\n"))`

// shows waits until just these notifications stand.
func (n *notified) shows(want ...string) {
	n.t.Helper()
	var all []string
	for _, one := range want {
		all = append(all, one+" auto")
	}
	harness.Eventually(n.t, waitTimeout, fmt.Sprintf("these stand: %q", want), func() error {
		if got := ask[string](n.person, shownNow); got != strings.Join(all, "\n") {
			return fmt.Errorf("got %q\n%s", got, n.text())
		}
		return nil
	})
}

// timesShown is how often a notification with this text was shown.
func (n *notified) timesShown(body string) int {
	n.t.Helper()
	return ask[int](n.person, fmt.Sprintf(`caches.match("/notified", {cacheName: "test"}).then((a) => a?.json() ?? []).then((all) => all.filter((n) => n.body === %q).length)`, body))
}

// clicks does what the browser does when a person clicks the notification of a group.
func (n *notified) clicks(group string) {
	n.t.Helper()
	ask[bool](n.person, fmt.Sprintf(`navigator.serviceWorker.ready.then((r) => new Promise((done) => {
		const { port1, port2 } = new MessageChannel();
		port1.onmessage = (e) => done(e.data);
		r.active.postMessage({ click: "chatd " + %q }, [port2]);
	}))`, group))
}

// worker is the service worker's registration, as the DevTools protocol names it.
func (n *notified) worker() serviceworker.RegistrationID {
	n.t.Helper()
	events := chromedp.Events(n.ctx, serviceworker.WorkerRegistrationUpdated)
	if _, err := chromedp.Call(n.ctx, serviceworker.Enable, cdp.Empty{}); err != nil {
		n.t.Fatal(err)
	}
	for e, err := range events {
		if err != nil {
			n.t.Fatal(err)
		}
		for _, r := range e.Registrations {
			if r.ScopeURL == n.front.URL+"/" && !r.IsDeleted {
				return r.RegistrationID
			}
		}
	}
	return ""
}

// push delivers to the service worker what its push service would.
func (n *notified) push(to serviceworker.RegistrationID, body any) {
	n.t.Helper()
	if _, err := chromedp.Call(n.ctx, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{
		Origin: n.front.URL, RegistrationID: to, Data: string(must(json.Marshal(body))(n.t))}); err != nil {
		n.t.Fatal(err)
	}
}

// TestPageNotifies has bob write to alice in groups of each level while her page is open: she is notified once of what concerns her, and
// not of what she has before her, by one notification a group, which goes when she has read it.
func TestPageNotifies(t *testing.T) {
	t.Parallel()
	n := newNotified(t, false)
	ctx := bounded(t, browserTimeout)
	bob, alice := n.node.Client("bob"), n.node.Client("alice")
	for _, id := range []string{"team", "quiet", "named"} {
		must(bob.CreateGroup(ctx, client.GroupDraft{ID: id, Name: strings.ToUpper(id), Members: []string{"alice"}}))(t)
	}
	must(alice.SetNotify(ctx, "quiet", client.NotifySetting{Level: client.NotifyNone}))(t)
	must(alice.SetNotify(ctx, "named", client.NotifySetting{Level: client.NotifyMentions}))(t)
	direct := must(bob.Direct(ctx, "alice"))(t).ID
	n.switchOn()
	if text := n.text(); !strings.Contains(text, "Only while chatd is open in some window. This browser has no push service.") {
		t.Errorf("the page does not say that there is no push: %s", text)
	}
	n.click("button[name=alerts-test]")
	n.shows("Notifications work: New messages look like this.")
	n.person.script(`navigator.serviceWorker.ready.then((r) => r.getNotifications()).then(([one]) => one.close())`)
	n.shows()

	must(bob.Send(ctx, "quiet", client.Text("nobody hears this")))(t)
	must(bob.Send(ctx, "named", client.Text("nor this")))(t)
	must(bob.Send(ctx, "team", client.Text("**Lunch** at [noon](https://example.com/)?\nI am hungry")))(t)
	n.shows("bob · TEAM: Lunch at noon? I am hungry")
	named := must(bob.Send(ctx, "named", client.Draft{Body: "@alice, you", Mentions: []string{"alice"}}))(t).ID
	must(bob.Send(ctx, direct, client.Text("שלום")))(t)
	last := must(bob.Send(ctx, "team", client.Text("or at one")))(t).ID
	n.shows("bob · NAMED: @alice, you", "bob · TEAM: or at one", "bob: שלום")

	n.clicks("named")
	n.see(fmt.Sprintf(`location.pathname === "/c/named/%d" && `, named) + message("@alice, you"))
	n.shows("bob · TEAM: or at one", "bob: שלום")
	must(alice.Read(ctx, "team", last))(t) // on another device
	n.shows("bob: שלום")

	// Of what is before her she is not notified, unless she looks at another window.
	must(bob.Send(ctx, "named", client.Draft{Body: "@alice, again", Mentions: []string{"alice"}}))(t)
	n.stands("@alice, again")
	must(bob.Send(ctx, direct, client.Text("are you there?")))(t)
	n.shows("bob: are you there?")
	n.person.script(`document.hasFocus = () => false`)
	gone := must(bob.Send(ctx, "named", client.Draft{Body: "@alice, wake up", Mentions: []string{"alice"}}))(t).ID
	n.shows("bob · NAMED: @alice, wake up", "bob: are you there?")
	must(bob.Send(ctx, "named", client.Draft{Kind: client.KindDelete, Target: gone}))(t)
	n.shows("bob: are you there?")

	// The bell counts at once, although its level was known.
	n.open("team")
	n.click(`.group-head button[aria-label="Notifications of this group"]`)
	n.click(`.menu button[name=none]`)
	n.see(`!document.querySelector(".menu") && document.querySelector(".group-link[data-group=team].muted")`)
	must(bob.Send(ctx, "team", client.Text("too late")))(t)
	n.stands("too late")
	must(bob.Send(ctx, direct, client.Text("hello?")))(t)
	n.shows("bob: hello?")
	for _, body := range []string{"nobody hears this", "nor this", "@alice, again", "too late"} {
		if times := n.timesShown(body); times > 0 {
			t.Errorf("alice is notified of %q %d times", body, times)
		}
	}

	n.visits("/me")
	n.click("button[name=alerts-off]")
	n.see(`document.querySelector("[data-part=alerts]").dataset.state === "off"`)
	n.shows()
	if devices := must(alice.Devices(ctx))(t); len(devices) > 0 {
		t.Errorf("the server has %+v", devices)
	}
}

// TestPageNotifiesOnce has two windows open: one of them asks for each notification, also after the other has gone.
func TestPageNotifiesOnce(t *testing.T) {
	t.Parallel()
	n := newNotified(t, false)
	ctx := bounded(t, browserTimeout)
	bob := n.node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	second, cancel := chromedp.NewContext(n.ctx)
	t.Cleanup(cancel)
	other := &notified{person: &person{t: t, ctx: second, name: "alice's other window"}, front: n.front, script: n.script, real: n.real}
	if err := chromedp.Do(second, chromedp.Navigate("about:blank")); err != nil { // ends with its context, which what do makes would not
		t.Fatal(err)
	}
	other.prepare(other.person)
	other.visits("/inbox")
	n.switchOn() // which the other window hears of
	for at := range 5 {
		body := fmt.Sprintf("message %d", at)
		must(bob.Send(ctx, "team", client.Text(body)))(t)
		other.shows("bob · Team: " + body)
	}
	n.do(chromedp.Navigate(n.front.URL + "/docs"))
	other.see(`document.querySelector(".link-state")?.dataset.by === "websocket"`) // it leads now
	must(bob.Send(ctx, "team", client.Text("message 5")))(t)
	other.shows("bob · Team: message 5")
	for at := range 6 {
		if times := other.timesShown(fmt.Sprintf("message %d", at)); times != 1 {
			t.Errorf("message %d is shown %d times", at, times)
		}
	}

	other.clicks("team")
	other.see(`location.pathname.startsWith("/c/team/") && ` + message("message 5"))
	if focused := ask[[]string](other.person, `caches.match("/focused", {cacheName: "test"}).then((a) => a.json())`); len(focused) != 1 || !strings.HasPrefix(focused[0], n.front.URL) {
		t.Errorf("a click focuses %q", focused)
	}
}

// TestPageIsPushedTo closes the page: the server pushes to the browser, which shows it once, and no longer after signing out.
func TestPageIsPushedTo(t *testing.T) {
	t.Parallel()
	n := newNotified(t, true)
	ctx := bounded(t, browserTimeout)
	bob, alice := n.node.Client("bob"), n.node.Client("alice")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	n.switchOn()
	n.see(`document.querySelector("[data-part=alerts] .lead").textContent === "On in this browser. Also while chatd is closed."`)
	if key := must(alice.PushKey(ctx))(t); ask[string](n.person, `localStorage.getItem("test.key")`) != key {
		t.Errorf("the browser has not subscribed with the server's key %s", key)
	}
	n.see(`document.querySelector(".group-link[data-group=team]")`)
	n.do(chromedp.Reload()) // keeps for pushes how groups are called
	n.live()
	n.settles(`caches.match("/names", {cacheName: "chatd-names"}).then((a) => a?.json()).then((names) => names?.titles.team === "Team")`)

	n.do(chromedp.Navigate(n.front.URL + "/docs")) // the page is closed
	worker := n.worker()
	id := must(bob.Send(ctx, "team", client.Draft{Body: "**Fire!** @alice", Mentions: []string{"alice"}}))(t).ID
	pushed := n.receiver.Wait(waitTimeout, "alice", 1)[0]
	n.push(worker, pushed.Notification)
	n.shows("bob · Team: Fire! @alice")
	n.push(worker, pushed.Notification)
	n.clicks("team")
	if opened := ask[[]string](n.person, `caches.match("/opened", {cacheName: "test"}).then((a) => a.json())`); len(opened) != 1 || opened[0] != fmt.Sprintf("/c/team/%d", id) {
		t.Errorf("a click opens %q", opened)
	}
	if times := n.timesShown("Fire! @alice"); times != 1 {
		t.Errorf("what was pushed twice is shown %d times", times)
	}

	n.visits("/c/team")
	n.shows() // it is read
	n.visits("/me")
	n.click("button[name=sign-out]")
	n.see(`document.querySelector("input[name=name]") && !localStorage.getItem("test.key") && !localStorage.getItem("chatd.alerts")`)
	n.settles(`caches.has("chatd-names").then((there) => !there)`)
	if devices := must(alice.Devices(ctx))(t); len(devices) > 0 {
		t.Errorf("after signing out the server has %+v", devices)
	}
}

// TestPageSaysWhyItCannotNotify: what is in the way is said, and offered is only what can be done about it.
func TestPageSaysWhyItCannotNotify(t *testing.T) {
	t.Parallel()
	n := newNotified(t, true)
	said := func(state, want string) {
		t.Helper()
		n.see(fmt.Sprintf(`document.querySelector("[data-part=alerts]")?.dataset.state === %q`, state))
		if got := ask[string](n.person, `document.querySelector("[data-part=alerts] .lead").textContent`); !strings.Contains(got, want) {
			t.Errorf("%s: the page says %q, want %q", state, got, want)
		}
		if n, on := ask[int](n.person, `document.querySelectorAll("[data-part=alerts] button").length`), state == "on" || state == "off"; (n > 0) != on {
			t.Errorf("%s: there are %d buttons", state, n)
		}
	}
	key, worker := "/v1/push/key", "/sw.js"
	n.front.missing.Store(&key)
	n.switchOn()
	said("on", "Only while chatd is open in some window. This server sends no push messages.")
	n.click("button[name=alerts-off]")
	said("off", "Get notified")

	n.allow(browser.PermissionSettingDenied)
	n.visits("/me")
	said("denied", "Allow them in the browser’s settings")
	n.allow(browser.PermissionSettingPrompt)
	n.front.missing.Store(&worker)
	n.do(chromedp.Navigate(n.front.URL + "/docs")) // the page may still be registering it, which keeps one that is about to go
	if !ask[bool](n.person, `navigator.serviceWorker.ready.then((r) => r.unregister())`) {
		n.t.Error("there was no service worker")
	}
	n.visits("/me")
	said("unserved", "the server has none")
}
