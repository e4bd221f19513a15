package store

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
)

// TestBeginningsAreShared counts what sessions that begin together cost the server, in one round trip: three commands each, and what is
// read of their group once for all of them.
func TestBeginningsAreShared(t *testing.T) {
	const sessions = 100
	users := make([]string, sessions)
	for i := range users {
		users[i] = fmt.Sprint("u", i)
	}
	server, s := openWithGroup(t, 1000, users...)
	var asked []beginner
	for _, user := range users {
		body := fmt.Sprintf(`"kind":"direct","from":"alice","to":%q}`, user)
		item := chat.NewItem{To: user, From: "alice", Rest: []byte(body), SentAtMs: 1, ToStrangers: true}
		if _, _, _, err := s.InboxAppend(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		asked = append(asked, beginner{user, []string{"g"}})
	}
	server.Do("CONFIG", "RESETSTAT")
	begins, err := s.readBeginnings(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range begins {
		if items, ok := b.Pull(chat.Position{}); !ok || len(items.Items) != 1 {
			t.Fatalf("%s: %+v: want one item to be known", users[i], b)
		}
		if len(b.Standings) != 1 || b.Standings[0].Role == "" {
			t.Fatalf("%s: %+v: want the standing of a member", users[i], b)
		}
	}
	var all int64
	calls := server.Calls()
	for name, n := range calls {
		if name != "config|resetstat" {
			all += n
		}
	}
	// A script for all, with the index, the base and the items of each; another, with 7 or 8 commands for the group.
	if want := int64(3*sessions + 1 + 1 + 8); all != want {
		t.Errorf("%d sessions begin with %d commands, want %d: %v", sessions, all, want, calls)
	}
}

// TestInboxBucket compares the two places that have the hash.
func TestInboxBucket(t *testing.T) {
	server, s := openWithGroup(t, 1000)
	for i := range 20 {
		user := fmt.Sprintf("user-%d~%c", i*i*7919, 'A'+i)
		server.Do("DEL", "p:{p00}:grown")
		item := chat.NewItem{To: user, From: "alice", Rest: []byte(`"kind":"direct"}`), SentAtMs: 1, ToStrangers: true}
		if _, _, _, err := s.InboxAppend(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		growth, err := s.InboxGrowth(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(growth) != 1 || growth[s.InboxBucket(user)] != 1 {
			t.Errorf("%s: %v, want 1 in bucket %d", user, growth, s.InboxBucket(user))
		}
	}
}
