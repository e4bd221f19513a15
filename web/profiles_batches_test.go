package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/internal/harness"
)

// profilesOf are those of the only batch of an answer or a frame, as JSON.
func profilesOf(t *testing.T, text string) string {
	t.Helper()
	var a struct {
		Profiles json.RawMessage
		Groups   []struct{ Profiles json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if len(a.Groups) > 0 {
		return string(a.Groups[0].Profiles)
	}
	return string(a.Profiles)
}

// frame reads the next frame of messages.
func frame(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"op":"messages"`) {
			return string(text)
		}
	}
}

// TestProfilesInBatches: batches name the versions of the profiles of senders and of those who are mentioned, over every way.
func TestProfilesInBatches(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl","dora"]}`)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"before","mentions":["bob"]}`)
	for _, way := range []string{s.must("bob", "GET", "/v1/groups/g/messages", "").body, s.must("bob", "POST", "/v1/sync", `{}`).body} {
		if strings.Contains(way, "profiles") {
			t.Errorf("got %s, want no field as long as there is no profile", way)
		}
	}
	s.operator("PUT", "/v1/users", `{"users":[{"user":"dora","disabled":true},{"user":"dora","disabled":false}]}`) // which makes no profile
	live := s.live(issued(t, "carl", time.Now()), "")
	frame(t, live)
	version := func(user string) string {
		return fmt.Sprintf("%.0f", s.must(user, "GET", "/v1/me", "").fields()["version"])
	}
	s.must("alice", "PATCH", "/v1/me", `{"name":"Alice"}`)
	s.must("bob", "PATCH", "/v1/me", `{"name":"Bob"}`)
	alice, both := fmt.Sprintf(`{"alice":%s}`, version("alice")), fmt.Sprintf(`{"alice":%s,"bob":%s}`, version("alice"), version("bob"))
	s.must("dora", "POST", "/v1/groups/g/messages", `{"body":"nobody"}`)
	if got := profilesOf(t, frame(t, live)); got != "" {
		t.Errorf("of dora: got %s", got)
	}
	for _, c := range []struct{ body, want string }{
		{`{"body":"plain","data":{"mentions":["bob"]}}`, alice}, {`{"body":"x @bob","mentions":["bob"]}`, both}, {`{"body":"none, \"mentions\":[\"bob\"]"}`, alice},
	} {
		last := fmt.Sprintf("%.0f", s.must("alice", "POST", "/v1/groups/g/messages", c.body).fields()["id"].(float64)-1)
		if got := profilesOf(t, frame(t, live)); got != c.want {
			t.Errorf("%s over the websocket: got %s, want %s", c.body, got, c.want)
		}
		if got := profilesOf(t, s.must("bob", "GET", "/v1/groups/g/messages?after="+last, "").body); got != c.want {
			t.Errorf("%s in a page: got %s, want %s", c.body, got, c.want)
		}
		if got := profilesOf(t, s.must("bob", "POST", "/v1/sync", `{"after":{"g":`+last+`}}`).body); got != c.want {
			t.Errorf("%s in a sync: got %s, want %s", c.body, got, c.want)
		}
	}
}

// TestRenameWithoutSignals: what a node remembers of a profile is void a moment after another node has changed it, though no signal is heard,
// in pages, and in frames that sessions share.
func TestRenameWithoutSignals(t *testing.T) {
	p := startPair(t)
	here, there := p.nodes[0], p.nodes[1]
	here.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	here.must("alice", "PATCH", "/v1/me", `{"name":"Alice"}`)
	here.must("alice", "POST", "/v1/groups/g/messages", `{"body":"x"}`)
	there.live(issued(t, "bob", time.Now()), "") // fills the ring, from which the others get the same frame
	newest := func() [2]string {
		var bob [2]string
		bob[0] = profilesOf(t, there.must("bob", "GET", "/v1/groups/g/messages", "").body)
		conn := there.dial()
		defer func() { _ = conn.Close() }()
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		hello(t, conn, fmt.Sprintf(`{"op":"hello","token":%q}`, issued(t, "bob", time.Now())))
		bob[1] = profilesOf(t, frame(t, conn))
		return bob
	}
	expect := func(version any) {
		t.Helper()
		want := fmt.Sprintf(`{"alice":%.0f}`, version)
		harness.Eventually(t, time.Minute, "the version is that of the change", func() error {
			if got := newest(); got != [2]string{want, want} {
				return fmt.Errorf("got %s, want %s", got, want)
			}
			return nil
		})
	}
	expect(here.must("alice", "GET", "/v1/me", "").fields()["version"])
	p.mute(true)
	began := time.Now()
	expect(here.must("alice", "PATCH", "/v1/me", `{"name":"Al"}`).fields()["version"])
	t.Logf("the other node knew after %v", time.Since(began).Round(time.Millisecond))
	if p.proxies[0].Swallowed()+p.proxies[1].Swallowed() == 0 {
		t.Error("no signal was lost: the run shows nothing")
	}
}
