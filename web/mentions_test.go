package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// TestMentionAll mentions all members of a group: who may, what it counts, and whom it tells.
func TestMentionAll(t *testing.T) {
	s := start(t, nil)
	made := s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl"]}`)
	if made.field("mention_all") != "managers" {
		t.Errorf("got %s", made.body)
	}
	send := func(user, more string) answer {
		return s.do(request{user: user, method: "POST", path: "/v1/groups/g/messages", body: `{"body":"hello @all","mentions":["@all"]` + more + `}`})
	}
	checkProblem(t, "a member", send("bob", ""), 403, "forbidden")
	if a := send("alice", `,"client_id":"1"`); a.status != http.StatusCreated || !strings.Contains(a.body, `"mentions":["@all"]`) {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if a := send("alice", `,"client_id":"1"`); a.status != http.StatusOK {
		t.Errorf("a retry: %d %s", a.status, a.body)
	}
	checkProblem(t, "no such word", s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g", body: `{"mention_all":"all"}`}), 400, "invalid_request")
	s.must("alice", "PATCH", "/v1/groups/g", `{"mention_all":"members"}`)
	if a := send("bob", ""); a.status != http.StatusCreated {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	unread := func(user string, want int64) {
		t.Helper()
		var counts struct{ Mentions int64 }
		if err := json.Unmarshal([]byte(s.must(user, "GET", "/v1/unread", "").body), &counts); err != nil || counts.Mentions != want {
			t.Errorf("%s: got %+v, %v, want %d", user, counts, err, want)
		}
	}
	unread("alice", 1)
	unread("bob", 1)
	unread("carl", 2)
	for user, want := range map[string]int{"carl": 2, "bob": 1, "alice": 1} {
		harness.Eventually(t, 10*time.Second, "items of the mentions", func() error {
			if items := s.must(user, "GET", "/v1/inbox", "").body; strings.Count(items, `"kind":"mention"`) != want {
				return errors.New(items)
			}
			return nil
		})
	}
	s.must("alice", "PATCH", "/v1/groups/g", `{"mention_all":"off"}`)
	checkProblem(t, "where nobody may", send("alice", ""), 403, "forbidden")

	checkProblem(t, "a user of that name", s.do(request{user: "alice", method: "PUT", path: "/v1/groups/g/members/@all", body: `{}`}), 400, "invalid_request")
}
