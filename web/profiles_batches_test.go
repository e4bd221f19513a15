package web_test

import (
	"encoding/json"
	"fmt"
	"slices"
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
func frame(t *testing.T, conn *websocket.Conn) string { return frameOf(t, conn, "messages") }

// frameOf reads the next frame of an operation.
func frameOf(t *testing.T, conn *websocket.Conn, op string) string {
	t.Helper()
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(text), `{"op":"`+op+`"`) {
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

// TestProfilesInInboxes: the same for items of an inbox, and for those who wrote them.
func TestProfilesInInboxes(t *testing.T) {
	s := start(t, nil)
	inbox := func(user, after string) (ways []string) {
		t.Helper()
		ways = append(ways, profilesOf(t, s.must(user, "GET", "/v1/inbox?after="+after, "").body))
		var sync struct{ Inbox json.RawMessage }
		if err := json.Unmarshal([]byte(s.must(user, "POST", "/v1/sync", `{"inbox_after":`+after+`}`).body), &sync); err != nil {
			t.Fatal(err)
		}
		return append(ways, profilesOf(t, string(sync.Inbox)))
	}
	s.must("alice", "POST", "/v1/users/bob/messages", `{"body":"before"}`)
	if got := inbox("bob", "0"); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("got %q, want no field as long as there is no profile", got)
	}
	for _, user := range []string{"alice", "carl"} {
		s.must(user, "PATCH", "/v1/me", `{"name":"X"}`)
	}
	version := fmt.Sprintf("%.0f", s.must("alice", "GET", "/v1/me", "").fields()["version"])
	live := s.live(issued(t, "bob", time.Now()), "")
	if got, want := profilesOf(t, frameOf(t, live, "inbox")), `{"alice":`+version+`}`; got != want {
		t.Errorf("of what waited: got %s, want %s", got, want)
	}
	for _, c := range []struct{ from, body, want string }{
		{"dora", `{"body":"x","data":{"x":1,"from":"carl","mentions":["carl"]}}`, ""}, {"alice", `{"body":"x","data":{"x":1,"from":"carl"}}`, `{"alice":` + version + `}`},
	} {
		s.must(c.from, "POST", "/v1/users/bob/messages", c.body)
		if got := profilesOf(t, frameOf(t, live, "inbox")); got != c.want {
			t.Errorf("of %s over the websocket: got %s, want %s", c.from, got, c.want)
		}
	}
	if got, want := inbox("bob", "2"), `{"alice":`+version+`}`; !slices.Equal(got, []string{want, want}) {
		t.Errorf("got %q, want %s in a page and in a sync", got, want)
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
