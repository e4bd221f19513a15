package store

import (
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
)

// TestRedirectToANodeWithoutScripts: a master that joined later, or was a replica, knows no scripts. The client still believes that
// the slot is where it was when the redirect comes.
func TestRedirectToANodeWithoutScripts(t *testing.T) {
	b := onCluster(t, redistest.StartCluster(t, 3, 0))
	s, hit, other := b.store, b.groups[0], b.groups[1]
	slot, _ := b.Slot(s.keys.group(hit.group).base)
	b.Migrate(slot, hit.home, other.home, nil)
	other.home.Do("SCRIPT", "FLUSH")
	if _, err := s.Append(t.Context(), chat.Append{Group: hit.group, From: "alice", Kind: chat.Text, Mark: "abcdef", SentAtMs: 1,
		Rest: []byte(`"group":"` + hit.group + `","from":"alice","kind":"text","body":"x"}`)}); err != nil {
		t.Errorf("append: %v", err)
	}
	b.Migrate(slot, other.home, hit.home, nil)
	hit.home.Do("SCRIPT", "FLUSH")
	// A transaction for each partition.
	pages, err := s.Pull(t.Context(), "alice", []chat.Pull{{Group: hit.group, Limit: 10}, {Group: other.group, Limit: 10}})
	if err != nil || len(pages[0].Messages) != 2 || len(pages[1].Messages) != 1 {
		t.Errorf("pull: got %d and %d messages, %v; want 2 and 1", len(pages[0].Messages), len(pages[1].Messages), err)
	}
}
