package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// TestErasures erases a person over HTTP, on the embedded store.
func TestErasures(t *testing.T) {
	s := start(t, nil)
	s.must("bob", "POST", "/v1/groups", `{"id":"g","members":["alice"]}`)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"a secret"}`)
	s.must("alice", "POST", "/v1/users/bob/messages", `{"body":"a secret"}`)
	begun := s.must("alice", "DELETE", "/v1/me", "")
	id, _ := begun.field("id").(string)
	if state := begun.field("state"); begun.status != 202 || id == "" || state != "pending" && state != "running" {
		t.Fatalf("got %d %s", begun.status, begun.body)
	}
	var report answer
	harness.Eventually(t, 20*time.Second, "the erasure is done", func() error {
		if report = s.operate("GET", "/v1/erasures/"+id, "", nil); report.field("state") != "done" {
			return fmt.Errorf("%d %s", report.status, report.body)
		}
		return nil
	})
	if want := `{"id":"` + id + `","state":"done","messages":2,"groups":1,"held":[]}`; strings.TrimSpace(report.body) != want {
		t.Errorf("got %s, want %s", report.body, want)
	}
	for _, path := range []string{"/v1/groups/g/messages?after=0", "/v1/inbox"} {
		if page := s.must("bob", "GET", path, ""); strings.Contains(page.body, "secret") || !strings.Contains(page.body, `"deleted_at"`) {
			t.Errorf("%s: got %s", path, page.body)
		}
	}
	if second := s.operate("DELETE", "/v1/users/alice", "", nil); second.status != 202 || second.field("id") == id {
		t.Errorf("got %d %s", second.status, second.body)
	}
}
