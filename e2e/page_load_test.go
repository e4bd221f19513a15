package e2e

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
)

// traffic counts what a page loads over the wire, as the browser's network layer says.
type traffic struct {
	mu    sync.Mutex
	asked map[network.RequestID]string // requests that the cache has not answered
	order []network.RequestID
	full  []string // answered with a body
	bytes float64  // headers included
}

func (l *traffic) hear(event any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		l.asked[e.RequestID], l.order = e.Request.URL, append(l.order, e.RequestID)
	case *network.EventWebSocketCreated:
		l.asked[e.RequestID], l.order = e.URL, append(l.order, e.RequestID)
	case *network.EventRequestServedFromCache:
		delete(l.asked, e.RequestID)
	case *network.EventResponseReceived:
		if e.Response.FromDiskCache || e.Response.FromServiceWorker {
			delete(l.asked, e.RequestID)
		} else if url := l.asked[e.RequestID]; url != "" && e.Response.Status == 200 {
			l.full = append(l.full, url)
		}
	case *network.EventLoadingFinished:
		if !isPoll(l.asked[e.RequestID]) {
			l.bytes += e.EncodedDataLength
		}
	}
}

// isPoll tells whether a request is a long poll, which takes the place of a websocket that comes late.
func isPoll(url string) bool { return strings.HasSuffix(url, "/v1/sync") }

// since returns what was counted, and begins again.
func (l *traffic) since() (asked, full []string, bytes float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range l.order {
		if url := l.asked[id]; url != "" {
			asked = append(asked, url)
		}
	}
	full, bytes = l.full, l.bytes
	l.asked, l.order, l.full, l.bytes = make(map[network.RequestID]string), nil, nil, 0
	return asked, full, bytes
}

// TestPageLoadsLittle counts the requests and bytes from an empty cache to the door, and on to an open group, the calls included, and
// then what a second visit asks for.
func TestPageLoadsLittle(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	must(bob.Send(ctx, "team", client.Text("hello")))(t)

	p := blankPage(t, startBrowser(t), "alice")
	count := &traffic{asked: make(map[network.RequestID]string)}
	if err := chromedp.Listen(p.ctx, count.hear); err != nil {
		t.Fatal(err)
	}
	var all []string
	var sum float64
	within := func(where string, requestsMax int, bytesMax float64) {
		t.Helper()
		asked, _, bytes := count.since()
		all, sum = append(all, asked...), sum+bytes
		all = slices.DeleteFunc(all, isPoll)
		t.Logf("%s: %d requests, %.0f bytes", where, len(all), sum)
		if len(all) > requestsMax || sum > bytesMax {
			t.Errorf("%s: %d requests and %.0f bytes, want at most %d and %.0f:\n%s", where, len(all), sum, requestsMax, bytesMax, strings.Join(all, "\n"))
		}
		if len(all) < 4 || sum < 10_000 {
			t.Errorf("%s: %d requests and %.0f bytes: what was counted?", where, len(all), sum)
		}
	}
	p.do(chromedp.Navigate(strings.Replace(node.SignInURL(), "/#", "/c/team#", 1)))
	p.see(`document.querySelector("input[name=name]")`)
	p.see(`document.fonts.status === "loaded"`)
	within("the door", 8, 58_000)
	p.fill("input[name=name]", "alice")
	p.enter()
	p.isSignedIn("alice")
	p.stands("hello")
	p.see(unread("team") + ` === 0`)
	within("the first group", 25, 158_700)

	p.keeps() // else the second visit may come before anything is kept
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(node.URL()+"/c/team"))
	p.live()
	p.stands("hello")
	asked, full, bytes := count.since()
	t.Logf("again: %d requests, %.0f bytes", len(asked), bytes)
	for _, url := range full {
		if strings.HasSuffix(url, "/sw.js") {
			continue // whether there is another one is asked each time
		}
		if strings.Contains(url, "/dist/") || strings.Contains(url, "/assets/") || strings.HasSuffix(url, ".js") || strings.HasSuffix(url, ".css") {
			t.Errorf("the second visit loads %s again", url)
		}
	}

	// A part of the page that cannot be loaded: one is told, and a later try works.
	p.refused(true)
	block := func(urls ...*network.BlockPattern) {
		t.Helper()
		if _, err := chromedp.Call(p.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: urls}); err != nil {
			t.Fatal(err)
		}
	}
	block(&network.BlockPattern{URLPattern: "*://*:*/*.js", Block: true})
	p.click(`.group-head button[aria-label="Members"]`)
	p.see(`document.querySelector(".panel .problem")?.textContent.includes("could not be loaded")`)
	block()
	p.click(`.panel .problem button`)
	p.see(`document.querySelector(".panel li[data-user=bob]")`)
}
