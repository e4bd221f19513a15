package web_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestAnswersAreBounded: however much is asked for, an answer has 1 MiB, and a little around it.
func TestAnswersAreBounded(t *testing.T) {
	s := start(t, nil)
	const n = 90 // of 16,000 bytes each
	large := `{"body":"` + strings.Repeat("x", 16_000) + `"}`
	s.must("alice", "POST", "/v1/groups", `{"id":"log"}`)
	for i := range n {
		group := fmt.Sprint("g", i)
		s.must("alice", "POST", "/v1/groups", `{"id":"`+group+`"}`)
		s.must("alice", "POST", "/v1/groups/"+group+"/messages", large)
		s.must("alice", "POST", "/v1/groups/log/messages", large)
		s.must("alice", "POST", "/v1/users/bob/messages", large)
	}
	for _, r := range []request{
		{method: "GET", path: "/v1/groups?limit=1000", user: "alice"},
		{method: "GET", path: "/v1/groups/log/messages?after=0&limit=1000", user: "alice"},
		{method: "GET", path: "/v1/groups/log/messages?before=1000000&limit=1000", user: "alice"},
		{method: "GET", path: "/v1/inbox?limit=1000", user: "bob"},
		{method: "POST", path: "/v1/sync", body: `{"limit":1000,"after":{"log":0}}`, user: "alice"},
		{method: "POST", path: "/v1/sync", body: `{"limit":1000,"inbox_after":0}`, user: "bob"},
	} {
		a := s.do(r)
		if got := len(a.body); a.status != 200 || got > 1<<20+4<<10 || got < 1<<19 {
			t.Errorf("%s %s: status %d, %d bytes, want about 1 MiB", r.method, r.path, a.status, got)
		}
	}
}
