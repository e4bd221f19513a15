package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/internal/harness"
)

// seat is a websocket of a user.
type seat struct {
	t *testing.T
	*websocket.Conn
}

func (s *server) sit(user string) seat {
	s.t.Helper()
	c := s.dial()
	one := seat{s.t, c}
	one.say(fmt.Sprintf(`{"op":"hello","token":%q}`, token(s.t, user, "")))
	one.await("welcome", func(map[string]any) bool { return true })
	return one
}

func (w seat) say(frame string) {
	w.t.Helper()
	if err := w.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		w.t.Fatal(err)
	}
}

// await reads up to a frame.
func (w seat) await(op string, is func(map[string]any) bool) map[string]any {
	w.t.Helper()
	_ = w.SetReadDeadline(time.Now().Add(30 * time.Second))
	for {
		var f map[string]any
		if err := w.ReadJSON(&f); err != nil {
			w.t.Fatalf("no %s that is wanted: %v", op, err)
		}
		if f["op"] == op && is(f) {
			return f
		}
	}
}

// here waits until so many have the group open.
func (w seat) here(count int, users ...any) {
	w.t.Helper()
	w.await("here", func(f map[string]any) bool {
		list, _ := f["users"].([]any)
		return f["count"] == float64(count) && (len(users) == 0 || slices.Equal(list, users))
	})
}

// TestPresence: who is there, who has a group open, and who hides.
func TestPresence(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl"]}`)
	s.must("eve", "POST", "/v1/groups", `{"id":"other"}`)
	sees := func(user, want string) {
		t.Helper()
		harness.Eventually(t, 30*time.Second, user+" sees "+want, func() error {
			var list []string
			users, _ := s.must(user, "POST", "/v1/presence", `{"users":["alice","bob","carl","eve"]}`).field("users").([]any)
			for _, one := range users {
				u, _ := one.(map[string]any)
				list = append(list, fmt.Sprint(u["user"], " ", u["state"]))
			}
			if got := strings.Join(list, ", "); got != want {
				return fmt.Errorf("got %q", got)
			}
			return nil
		})
	}
	sees("alice", "")
	alice, bob := s.sit("alice"), s.sit("bob")
	s.sit("eve")
	sees("carl", "alice online, bob online")
	sees("eve", "eve online")
	group := s.must("carl", "GET", "/v1/groups/g/presence?limit=1", "")
	if users, _ := group.field("users").([]any); group.field("online") != 2.0 || len(users) != 1 || group.field("next") != "alice" {
		t.Errorf("got %s", group.body)
	}
	group = s.must("carl", "GET", "/v1/groups/g/presence?cursor=alice", "")
	if users, _ := group.field("users").([]any); len(users) != 1 || group.field("next") != nil {
		t.Errorf("got %s", group.body)
	}

	alice.say(`{"op":"focus","group":"g","ref":"1"}`)
	alice.here(1, "alice")
	bob.say(`{"op":"focus","group":"g"}`)
	alice.here(2, "alice", "bob")
	bob.here(2, "alice", "bob")
	bob.say(`{"op":"focus","group":null}`)
	sees("carl", "alice online, bob away")
	alice.here(1, "alice")
	bob.say(`{"op":"focus","group":null,"away":false}`)
	sees("carl", "alice online, bob online")
	bob.say(`{"op":"focus","group":"g","away":true}`)
	sees("carl", "alice online, bob away")
	bob.say(`{"op":"focus","group":"g"}`)
	sees("carl", "alice online, bob online")
	alice.here(2)
	for _, wrong := range []string{`""`, `7`} {
		bob.say(`{"op":"focus","ref":"w","group":` + wrong + `}`)
		bob.await("error", func(f map[string]any) bool { return f["code"] == "invalid_request" })
	}
	bob.say(`{"op":"focus","ref":"w","group":"other"}`)
	bob.await("error", func(f map[string]any) bool { return f["code"] == "not_found" })

	if me := s.must("bob", "PATCH", "/v1/me", `{"presence":"hidden"}`); me.field("presence") != "hidden" {
		t.Errorf("got %s", me.body)
	}
	alice.here(1, "alice")
	sees("carl", "alice online")
	sees("bob", "")
	if of := s.must("bob", "GET", "/v1/groups/g/presence", ""); of.field("online") != 0.0 {
		t.Errorf("bob sees %s", of.body)
	}
	seen := func(by, user string, want bool) {
		t.Helper()
		at, has := s.must(by, "GET", "/v1/users/"+user, "").field("last_seen_at").(string)
		when, err := time.Parse(time.RFC3339, at)
		if has != want || has && (err != nil || !when.Truncate(5*time.Minute).Equal(when)) {
			t.Errorf("%s sees of %s %q", by, user, at)
		}
	}
	seen("carl", "alice", true)
	seen("carl", "bob", false)
	seen("bob", "alice", false)
	if me := s.must("bob", "PATCH", "/v1/me", `{"presence":"shown"}`); me.field("presence") != "shown" {
		t.Errorf("got %s", me.body)
	}
	alice.here(2)
	sees("carl", "alice online, bob online")
	_ = bob.Close()
	sees("carl", "alice online")
	alice.here(1, "alice")
	s.must("alice", "DELETE", "/v1/groups/g/members/alice", "")
	sees("carl", "")
}

// TestPresenceOfLargeGroups: of a group with more than 1,000 members it is the number, and some of them.
func TestPresenceOfLargeGroups(t *testing.T) {
	s := start(t, nil)
	var members []string
	for n := range 999 {
		members = append(members, fmt.Sprintf(`"u%03d"`, n))
	}
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":[`+strings.Join(members, ",")+`]}`)
	s.must("alice", "PUT", "/v1/groups/g/members/bob", "")
	for n := range 60 {
		s.sit(fmt.Sprintf("u%03d", n))
	}
	bob, first := s.sit("bob"), s.sit("u000")
	s.sit("stranger")
	harness.Eventually(t, 60*time.Second, "61 are there", func() error {
		of := s.must("alice", "GET", "/v1/groups/g/presence", "")
		if users, _ := of.field("users").([]any); of.field("online") != 61.0 || len(users) != 50 || of.field("next") != nil {
			return fmt.Errorf("got %v, %d of them", of.field("online"), len(users))
		}
		return nil
	})

	// Typing goes to those who have it open.
	bob.say(`{"op":"focus","group":"g"}`)
	bob.here(1, "bob")
	first.say(`{"op":"typing","group":"g"}`)
	bob.await("typing", func(f map[string]any) bool { return f["user"] == "u000" })
	bob.say(`{"op":"focus","group":null,"ref":"closed"}`)
	bob.await("ok", func(f map[string]any) bool { return f["ref"] == "closed" })
	first.say(`{"op":"typing","group":"g"}`)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"hi"}`)
	bob.await("messages", func(f map[string]any) bool { return true })
}
