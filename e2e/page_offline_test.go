package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
)

// keeps waits until the service worker keeps the page and answers for it.
func (p *person) keeps() {
	p.t.Helper()
	p.settles(`navigator.serviceWorker.controller && caches.match("/")`)
}

// settles waits until what a promise gives is true.
func (p *person) settles(promise string) {
	p.t.Helper()
	p.see(fmt.Sprintf(`(window.settled ??= {})[%q] ?? void (async () => { if (await (%s)) window.settled[%q] = true; })()`, promise, promise, promise))
}

// online says whether the browser has a network: what it tells the page, and whether requests go through.
func (p *person) online(on bool) {
	p.t.Helper()
	cut := network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{}}
	if !on {
		cut.MatchedNetworkConditions = append(cut.MatchedNetworkConditions, &network.Conditions{Offline: true})
	}
	if _, err := chromedp.Call(p.ctx, network.EmulateNetworkConditionsByRule, cut); err != nil {
		p.t.Fatal(err)
	}
	if _, err := chromedp.Call(p.ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: !on}); err != nil {
		p.t.Fatal(err)
	}
}

// TestPageOpensOffline reloads the page while server and network are away: what was there is there, and what is written meanwhile is
// sent once when they are back.
func TestPageOpensOffline(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	for _, group := range []string{"team", "plans"} {
		must(bob.CreateGroup(ctx, client.GroupDraft{ID: group, Name: strings.ToUpper(group), Members: []string{"alice"}}))(t)
	}
	for n := range 30 {
		must(bob.Send(ctx, "team", client.Text(fmt.Sprintf("message %d", n))))(t)
	}
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("plans")
	alice.fill(".write textarea", "a draft")
	alice.open("team")
	alice.stands("message 29")
	alice.keeps()

	node.Kill()
	alice.refused(true)
	alice.online(false)
	_, err := chromedp.Call(alice.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		new MutationObserver((_, o) => { if (document.querySelector(".message[data-id]")) { window.shown = performance.now(); o.disconnect(); } }).observe(document, {subtree: true, childList: true});`})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a page that came from the browser reloads as well
		alice.do(chromedp.Reload())
		alice.see(message("message 29") + " && window.shown")
		t.Logf("messages after %.0f ms", ask[float64](alice, `window.shown`))
	}
	alice.see(`/^You’re offline since \d/.test(document.querySelector(".link-state span").textContent) && !document.querySelector(".door, form[name=name]")`)
	alice.see(`[...document.querySelectorAll(".group-link")].map((g) => g.dataset.group).sort().join() === "plans,team"`)
	alice.open("plans")
	alice.see(`document.querySelector(".write textarea").value === "a draft"`)
	alice.open("team")
	alice.say("written offline")
	alice.see(`document.querySelector(".link-state").textContent.includes("1 message waits")`)
	alice.do(chromedp.Reload())
	alice.see(message("written offline"))

	node.Start()
	alice.online(true)
	alice.live()
	alice.stands("written offline")
	alice.see(`!document.querySelector(".link-state > div")`)
	batch := must(bob.Messages(ctx, "team", client.Range{Limit: 100}))(t)
	written := 0
	for _, m := range batch.Messages {
		if m.Body == "written offline" {
			written++
		}
	}
	if written != 1 {
		t.Errorf("what was written offline is stored %d times", written)
	}
}

// shelter is a server that passes everything on to a node, as long as nothing else is said: another version of the page, of which it
// has the service worker say what it likes.
type shelter struct {
	*httptest.Server
	version    atomic.Pointer[string] // of the service worker, instead of its own; empty: there is none
	incomplete atomic.Bool            // whether the service worker names a file that is not there
}

var versionOf = regexp.MustCompile(`"version":"\w+"`)

func startShelter(t *testing.T, node string) *shelter {
	t.Helper()
	to := must(url.Parse(node))(t)
	s := new(shelter)
	s.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
			if r.In.URL.Path == "/sw.js" || r.In.URL.Path == "/" {
				r.Out.Header.Del("Accept-Encoding")
				r.Out.Header.Del("If-None-Match")
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ModifyResponse: func(r *http.Response) error {
			version := s.version.Load()
			if version == nil || r.StatusCode != http.StatusOK {
				return nil
			}
			switch {
			case r.Request.URL.Path == "/sw.js" && *version == "":
				r.StatusCode = http.StatusNotFound
			case r.Request.URL.Path == "/sw.js":
				return change(r, func(body []byte) []byte {
					if s.incomplete.Load() {
						body = bytes.Replace(body, []byte(`"files":[`), []byte(`"files":["/assets/0/nothing.js",`), 1)
					}
					return versionOf.ReplaceAll(body, []byte(`"version":"`+*version+`"`))
				})
			case r.Request.URL.Path == "/":
				return change(r, func(body []byte) []byte {
					return bytes.Replace(body, []byte("<html"), []byte(`<html data-version="`+*version+`"`), 1)
				})
			}
			return nil
		},
	})
	t.Cleanup(s.Close)
	return s
}

func change(r *http.Response, how func([]byte) []byte) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("the answer of the node: %w", err)
	}
	body = how(body)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Length")
	return nil
}

// TestServiceWorkerFollowsTheServer has the server change what it serves: the page is the server's while there is one, an update
// takes the place of the version before once it is complete, and a server without a service worker gets rid of it.
func TestServiceWorkerFollowsTheServer(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	front := startShelter(t, node.URL())
	alice := blankPage(t, startBrowser(t), "alice")
	alice.refused(true)
	visit := func(version string) {
		t.Helper()
		front.version.Store(&version)
		alice.do(chromedp.Navigate(front.URL + "/"))
		alice.live()
		if got := ask[string](alice, `document.documentElement.dataset.version`); got != version {
			t.Errorf("the page is of version %q, want %q", got, version)
		}
	}
	keeps := func(version string) {
		t.Helper()
		alice.settles(fmt.Sprintf(`caches.keys().then((names) => names.join() === "chatd-page-%s")`, version))
	}
	alice.do(chromedp.Navigate(front.URL + node.SignInURL()[len(node.URL()):]))
	alice.fill("input[name=name]", "alice")
	if n := ask[int](alice, `navigator.serviceWorker.getRegistrations().then((all) => all.length)`); n != 0 {
		t.Errorf("%d service workers at the door", n)
	}
	alice.enter()
	alice.live()
	alice.keeps()
	paths := ask[[]string](alice, `caches.keys().then(([name]) => caches.open(name)).then((c) => c.keys()).then((all) => all.map((r) => new URL(r.url).pathname))`)
	asset := regexp.MustCompile(`^/assets/[0-9a-f]{16}/[\w-]+\.(js|css|woff2|svg)$`)
	for _, path := range paths {
		if path != "/" && !asset.MatchString(path) || strings.Contains(path, "admin") {
			t.Errorf("%s is kept", path)
		}
	}
	if len(paths) < 10 {
		t.Errorf("only %q are kept", paths)
	}

	visit("second") // at once, although the version before is kept
	keeps("second")

	front.incomplete.Store(true)
	visit("third")
	if became := ask[string](alice, `navigator.serviceWorker.ready.then((r) => new Promise((done) => {
		r.onupdatefound = () => { const worker = r.installing; worker.onstatechange = () => done(worker.state); };
		r.update().catch(() => {});
	}))`); became != "redundant" {
		t.Errorf("an update that is not complete became %s", became)
	}
	node.Kill()
	alice.do(chromedp.Navigate(front.URL + "/inbox")) // the proxy says that the server is away, which is no page
	alice.see(`document.querySelector(".app") && document.documentElement.dataset.version === "second" && location.pathname === "/inbox"`)
	node.Start()
	front.incomplete.Store(false)
	visit("third")
	keeps("third")

	visit("")
	alice.settles(`Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()]).then(([names, all]) => names.length + all.length === 0)`)
}
