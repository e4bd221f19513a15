package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
)

// middlebox is a proxy between a browser and a server that can keep websockets from passing.
type middlebox struct {
	*httptest.Server
	mu    sync.Mutex
	block func(w http.ResponseWriter, r *http.Request) // nil: websockets pass
	live  []net.Conn                                   // of websockets
}

func newMiddlebox(t *testing.T, target string) *middlebox {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	m := &middlebox{}
	pass := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	m.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		block := m.block
		m.mu.Unlock()
		if block != nil && r.Header.Get("Upgrade") != "" {
			block(w, r)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	m.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateHijacked {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.live = append(m.live, c)
		}
	}
	m.Start()
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.set(nil)
		m.Close()
	})
	return m
}

// set decides what happens to websockets from now on, and cuts those there are.
func (m *middlebox) set(block func(w http.ResponseWriter, r *http.Request)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.block = block
	for _, c := range m.live {
		_ = c.Close() // it may be closed already
	}
	m.live = nil
}

func forbid(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "no upgrades here", http.StatusForbidden)
}
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// by waits until the page is live by a websocket ("socket") or by long polling ("poll").
func (p *person) by(way string) {
	p.t.Helper()
	p.see(`document.querySelector(".link-state")?.dataset.phase === "live" && document.querySelector(".link-state").dataset.by === "` + way + `"`)
}

// TestBrowserWithoutWebsocket keeps websockets from passing, in two ways, and does everything by long polling.
func TestBrowserWithoutWebsocket(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]func(http.ResponseWriter, *http.Request){"refused": forbid, "unanswered": hang} {
		t.Run(name, func(t *testing.T) {
			node := devNode(t)
			box := newMiddlebox(t, node.URL())
			box.set(block)
			ctx := bounded(t, browserTimeout)
			bob := node.Client("bob")
			must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)

			alice := openRefused(t, startBrowser(t), strings.Replace(node.SignInURL(), node.URL(), box.URL, 1), "alice")
			alice.fill("input[name=name]", "alice")
			alice.enter()
			alice.by("poll")

			// What comes, also in a new group and in the inbox.
			must(bob.Send(ctx, "team", client.Text("hello")))(t)
			alice.see(unread("team") + ` === 1`)
			must(bob.CreateGroup(ctx, client.GroupDraft{ID: "club", Name: "Club", Members: []string{"alice"}}))(t)
			alice.see(shows(".group-link[data-group=club] .group-name", "Club"))
			alice.see(`document.querySelector(".inbox-button .badge")?.textContent === "2"`)
			alice.click(".inbox-button")
			alice.click("dialog .buttons .button")
			alice.see(`!document.querySelector(".item") && !document.querySelector(".inbox-button .badge")`)
			alice.click(`dialog button[aria-label="Close"]`)

			// Reading, and what is sent: texts, edits, reactions.
			alice.open("team")
			alice.stands("hello")
			alice.see(unread("team") + ` === 0`)
			serverCounts(ctx, t, node, "team", 0)
			alice.say("hi bob")
			mine := alice.stands("hi bob")
			alice.tool(mine, "Add reaction")
			alice.click(mine + " .picker button:nth-child(2)")
			alice.see(`document.querySelector(".reaction")?.textContent === "❤️1"`)
			serverHasReaction(ctx, t, bob, "team", "alice")
			must(bob.Read(ctx, "team", 4))(t)
			must(bob.Send(ctx, "team", client.Text("how are you?")))(t)
			alice.stands("how are you?")
			alice.see(message("hi bob") + `.querySelector(".readers")?.dataset.readers === "bob"`)

			// The server goes away and comes back.
			node.Kill()
			alice.see(`document.querySelector(".link-state").dataset.phase !== "live"`)
			alice.say("while it was down")
			alice.see(`document.querySelectorAll(".message.is-waiting").length === 1`)
			node.Start()
			alice.by("poll")
			alice.stands("while it was down")

			// A websocket passes again, and later no longer.
			box.set(nil)
			ask[bool](alice, `dispatchEvent(new Event("online"))`)
			alice.by("socket")
			must(bob.Send(ctx, "team", client.Text("by socket")))(t)
			alice.stands("by socket")
			box.set(block)
			must(bob.Send(ctx, "team", client.Text("while it changed")))(t)
			alice.by("poll")
			alice.stands("while it changed")
			alice.say("bye")
			alice.stands("bye")
			want := "hello|hi bob|how are you?|while it was down|by socket|while it changed|bye"
			if got := ask[string](alice, `[...document.querySelectorAll(".message .body")].map((b) => b.textContent).join("|")`); got != want {
				t.Errorf("the page shows %q, want %q", got, want)
			}
		})
	}
}

// TestBrowserForgetsWhatCannotBeRead reloads with a saved position that is none: the page goes on at the newest page of that
// group, by a websocket and by long polling alike.
func TestBrowserForgetsWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	box := newMiddlebox(t, node.URL())
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	must(bob.Send(ctx, "team", client.Text("hello")))(t)
	alice := openRefused(t, startBrowser(t), strings.Replace(node.SignInURL(), node.URL(), box.URL, 1), "alice")
	alice.fill("input[name=name]", "alice")
	alice.enter()
	alice.by("socket")
	alice.open("team")
	alice.stands("hello")
	state := must(bob.Group(ctx, "team"))(t)
	for way, block := range map[string]func(http.ResponseWriter, *http.Request){"socket": nil, "poll": forbid} {
		box.set(block)
		alice.script(`addEventListener("pagehide", () => sessionStorage.setItem("chatd.cursors", %q))`,
			fmt.Sprintf(`{"team":"%s.%d.?"}`, state.Epoch, state.Last))
		alice.do(chromedp.Reload())
		alice.by(way)
		must(bob.Send(ctx, "team", client.Text("after that, by "+way)))(t)
		alice.stands("after that, by " + way)
		alice.stands("hello")
	}
}
