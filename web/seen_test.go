package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
)

// lastSeen is when a user was last seen, as an operator reads it; the zero time: nobody knows.
func (s *server) lastSeen(user string) time.Time {
	s.t.Helper()
	at, _ := s.operator("GET", "/v1/users/"+user, "").fields()["last_seen_at"].(string)
	if at == "" {
		return time.Time{}
	}
	seen, err := time.Parse(time.RFC3339, at)
	if err != nil {
		s.t.Fatal(err)
	}
	return seen
}

// TestLastSeen: by a call and by a websocket, at the node itself at once, and at another and after a restart once the node has stopped.
// Calls of a key do not count.
func TestLastSeen(t *testing.T) {
	redis := redistest.Start(t)
	shared := func(c *node.Config) { c.Redis = redis.URL() }
	a, b := start(t, shared), start(t, shared)
	begun := time.Now().Add(-time.Second)
	a.operator("PUT", "/v1/users", `{"users":[{"user":"alice","name":"A"},{"user":"bob","name":"B"},{"user":"carl","name":"C"}]}`)
	a.must("alice", "GET", "/v1/me", "")
	_, key := a.key(`{"name":"bot","scopes":["read"],"as":["carl"]}`)
	if got := a.by(key, "carl", request{method: "GET", path: "/v1/me"}); got.status != 200 {
		t.Fatalf("as carl: %d %s", got.status, got.body)
	}
	if err := a.live(token(t, "bob", ""), "").Close(); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]bool{"alice": true, "bob": true, "carl": false} {
		if at := a.lastSeen(user); at.After(begun) != want {
			t.Errorf("%s was last seen at %v", user, at)
		}
	}
	if out := a.must("alice", "GET", "/v1/me/export", ""); !strings.Contains(out.body, `{"last_seen":{"at":"`) {
		t.Errorf("the export lacks it: %s", out.body)
	}
	a.close()
	for _, s := range []*server{b, start(t, shared)} {
		for user, want := range map[string]bool{"alice": true, "bob": true, "carl": false} {
			if at := s.lastSeen(user); at.After(begun) != want {
				t.Errorf("%s was last seen at %v", user, at)
			}
		}
	}
}
