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
		if e.Response.FromDiskCache {
			delete(l.asked, e.RequestID)
		} else if url := l.asked[e.RequestID]; url != "" && e.Response.Status == 200 {
			l.full = append(l.full, url)
		}
	case *network.EventLoadingFinished:
		l.bytes += e.EncodedDataLength
	}
}

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

// TestBrowserLoadsLittle counts the requests and bytes from an empty cache to an open group, the calls included, and
// then what a second visit asks for.
func TestBrowserLoadsLittle(t *testing.T) {
	t.Parallel()
	const requestsMax, bytesMax = 14, 66_000
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	must(bob.Send(ctx, "team", client.Text("hello")))(t)

	alice := blankPage(t, startBrowser(t), "alice")
	count := &traffic{asked: make(map[network.RequestID]string)}
	if err := chromedp.Listen(alice.ctx, count.hear); err != nil {
		t.Fatal(err)
	}
	alice.do(chromedp.Navigate(node.SignInURL()))
	ask[string](alice, `location.hash = "team"`)
	alice.fill("input[name=name]", "alice")
	alice.enter()
	alice.live()
	alice.stands("hello")
	alice.see(`!document.querySelector(".badge[data-unread]")`)
	asked, _, bytes := count.since()
	asked = slices.DeleteFunc(asked, func(url string) bool { return strings.HasSuffix(url, "/v1/sync") }) // until a late websocket is there
	t.Logf("%d requests, %.0f bytes", len(asked), bytes)
	if len(asked) > requestsMax || bytes > bytesMax {
		t.Errorf("%d requests and %.0f bytes, want at most %d and %d:\n%s", len(asked), bytes, requestsMax, bytesMax, strings.Join(asked, "\n"))
	}
	if len(asked) < 5 || bytes < 10_000 {
		t.Errorf("%d requests and %.0f bytes: what was counted?", len(asked), bytes)
	}

	alice.do(chromedp.Navigate("about:blank"), chromedp.Navigate(node.URL()+"#team"))
	alice.live()
	alice.stands("hello")
	asked, full, bytes := count.since()
	t.Logf("again: %d requests, %.0f bytes", len(asked), bytes)
	for _, url := range full {
		if strings.Contains(url, "/assets/") || strings.HasSuffix(url, ".js") || strings.HasSuffix(url, ".css") {
			t.Errorf("the second visit loads %s again", url)
		}
	}
}

// TestBrowserAsksForDialogsAgain keeps the file of the dialogs away: who opens one is told, and a later try works.
func TestBrowserAsksForDialogsAgain(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	alice := blankPage(t, startBrowser(t), "alice")
	alice.refused(true)
	block := func(urls ...*network.BlockPattern) {
		t.Helper()
		if _, err := chromedp.Call(alice.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: urls}); err != nil {
			t.Fatal(err)
		}
	}
	block(&network.BlockPattern{URLPattern: "*://*:*/*/sheets.js", Block: true})
	alice.do(chromedp.Navigate(node.SignInURL()))
	alice.fill("input[name=name]", "alice")
	alice.enter()
	alice.live()
	alice.click(`button[aria-label="Create group"]`)
	alice.see(`document.querySelector(".toast.bad")?.textContent.includes("could not be loaded")`)
	block()
	makeGroup(alice, "Later", "", "private")
}
