package e2e

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
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

// TestPageWithoutWebsocket keeps websockets from passing, in two ways, and does everything by long polling. The page says that it is on a
// slower way.
func TestPageWithoutWebsocket(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]func(http.ResponseWriter, *http.Request){"refused": forbid, "unanswered": hang} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			alice.see(`document.querySelector(".rail .me .slow")`)

			// What comes, also in a new group and in the inbox.
			must(bob.Send(ctx, "team", client.Text("hello")))(t)
			alice.see(unread("team") + ` === 1`)
			must(bob.CreateGroup(ctx, client.GroupDraft{ID: "club", Name: "Club", Members: []string{"alice"}}))(t)
			alice.see(shows(".group-link[data-group=club] .group-name", "Club"))
			alice.see(`document.querySelector("[data-view=inbox] .badge")?.textContent === "2"`)
			alice.click("[data-view=inbox]")
			alice.click(".pane-head .text-button") // Mark all as read
			alice.see(`!document.querySelector(".item") && !document.querySelector("[data-view=inbox] .badge")`)

			// Reading, and what is sent: texts, reactions.
			alice.open("team")
			alice.stands("hello")
			alice.see(unread("team") + ` === 0`)
			serverCounts(ctx, t, node, "team", 0)
			stream := must(bob.Stream(ctx, client.StreamOptions{}))(t)
			defer stream.Close()
			until(ctx, t, stream.Next, func(client.Connected) bool { return true })
			alice.say("hi bob")
			until(ctx, t, stream.Next, func(e client.Typing) bool { return e.Group == "team" && e.User == "alice" })
			mine := alice.stands("hi bob")
			alice.tool(mine, "React with ❤️")
			alice.see(shows(".reaction", "❤️ 1"))
			serverHasReaction(ctx, t, bob, "team", "alice")
			bobTypes(ctx, bob, alice)
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
			alice.script(`dispatchEvent(new Event("online"))`)
			alice.by("websocket")
			alice.see(`!document.querySelector(".rail .me .slow")`)
			must(bob.Send(ctx, "team", client.Text("by websocket")))(t)
			alice.stands("by websocket")
			box.set(block)
			must(bob.Send(ctx, "team", client.Text("while it changed")))(t)
			alice.by("poll")
			alice.stands("while it changed")
			alice.say("bye")
			alice.stands("bye")
			alice.see(textsShown + ` === "hello|hi bob|how are you?|while it was down|by websocket|while it changed|bye"`)
		})
	}
}

// bobTypes has bob type until alice, who polls, sees it: a sign between two polls is lost.
func bobTypes(ctx context.Context, bob *client.Client, alice *person) {
	typing, stop := context.WithCancel(ctx)
	var types sync.WaitGroup
	defer types.Wait()
	defer stop()
	types.Go(func() {
		for typing.Err() == nil {
			_ = bob.Typing(typing, "team")
			harness.Pause(typing, 500*time.Millisecond)
		}
	})
	alice.see(`document.querySelector(".typing").textContent.includes("bob is typing")`)
}
