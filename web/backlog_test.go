package web_test

import (
	"net/http"
	"testing"
)

// TestBacklogFull: overflow is a setting like the others; a group that blocks names those whom a send waits for, over HTTP and in
// the list for those who manage it.
func TestBacklogFull(t *testing.T) {
	s := start(t, nil)
	a := s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"backlog_max":3,"keep":0,"overflow":"block","backlog_bytes":5}`)
	if a.field("overflow") != "block" || a.field("backlog_bytes") != 5. {
		t.Errorf("created: %s", a.body)
	}
	for _, body := range []string{`{"overflow":""}`, `{"overflow":"wait"}`, `{"backlog_bytes":0}`, `{"backlog_bytes":1.5}`} {
		for _, r := range []request{{method: "PATCH", path: "/v1/groups/g", user: "alice", body: body}, {method: "POST", path: "/v1/groups", user: "alice", body: body}} {
			if a := s.do(r); a.status != http.StatusBadRequest {
				t.Errorf("%s %s: %s", r.method, body, a.body)
			}
		}
	}
	s.must("alice", "POST", "/v1/groups/g/ack", `{"id":2}`) // from here on, what alice sends moves her own cursor
	send := request{method: "POST", path: "/v1/groups/g/messages", user: "alice", body: `{"body":"a"}`}
	s.must("alice", "POST", send.path, send.body) // 3
	full := s.do(send)
	checkProblem(t, "blocked", full, http.StatusTooManyRequests, "backlog_full")
	blockers, _ := full.field("blockers").([]any)
	if len(blockers) != 1 || full.header.Get("Retry-After") == "" {
		t.Fatalf("blocked: %v %s", full.header, full.body)
	}
	if b := blockers[0].(map[string]any); b["user"] != "bob" || b["behind"] != 3. || b["bytes"] != 0. || b["since"] != nil {
		t.Errorf("got %v", b)
	}
	list, _ := s.must("alice", "GET", "/v1/groups/g/blockers", "").field("blockers").([]any)
	if len(list) != 1 || list[0].(map[string]any)["user"] != "bob" || list[0].(map[string]any)["since"] == nil {
		t.Errorf("got %v", list)
	}
	s.must("bob", "POST", "/v1/groups/g/ack", `{"id":1}`)
	s.must("alice", "POST", send.path, send.body) // 4
	s.must("alice", "PATCH", "/v1/groups/g", `{"overflow":"drop","backlog_bytes":7}`)
	s.must("alice", "POST", send.path, send.body)
	notices := s.messages("alice", "/v1/groups/g/messages?after=4")
	if settings, _ := notices[0]["settings"].(map[string]any); settings["overflow"] != "drop" || settings["backlog_bytes"] != 7. {
		t.Errorf("notice: %v", notices[0])
	}
}
