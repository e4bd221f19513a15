package web_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestHiddenHistory joins a group without history and looks for what was before in every call that reads.
func TestHiddenHistory(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","history":false}`)                              // 1
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"secret one","mentions":["bob"]}`)     // 2
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"data","data":"secret data"}`)         // 3
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"edit","target":2,"body":"secret 2"}`) // 4
	s.must("alice", "PUT", "/v1/groups/g/members/bob", "")                                           // 5
	if last := s.must("bob", "GET", "/v1/groups", "").body; !strings.Contains(last, `"last_message":null`) || !strings.Contains(last, `"first":5,`) {
		t.Errorf("the list: %s", last)
	}
	if g := s.must("bob", "GET", "/v1/groups/g", ""); g.field("first") != 5.0 {
		t.Errorf("the group: %s", g.body)
	}
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"edit","target":2,"body":"secret 3"}`)                 // 6
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"edit","target":3,"data":"secret 4","client_id":"k"}`) // 7
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"reaction","target":2,"emoji":":x:"}`)                 // 8
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"open","reply_to":2}`)                                 // 9
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"edit","target":9,"body":"open two"}`)                 // 10
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"delete","target":3}`)                                 // 11
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/groups/g/messages?after=0", ""}, {"GET", "/v1/groups/g/messages", ""}, {"GET", "/v1/groups/g/messages?after=4", ""},
		{"GET", "/v1/groups/g/messages?before=99", ""}, {"POST", "/v1/sync", `{}`}, {"POST", "/v1/sync", `{"after":{"g":1},"wait_s":5}`},
	} {
		a := s.must("bob", c.method, c.path, c.body)
		if strings.Contains(a.body, "secret") || !strings.Contains(a.body, `"complete":true`) || !strings.Contains(a.body, `"from":5,"to":11,"first":5`) {
			t.Errorf("%s %s %s: %s", c.method, c.path, c.body, a.body)
		}
		if strings.Count(a.body, "open two") != 2 || strings.Count(a.body, `"kind":"edit"`) != 3 {
			t.Errorf("%s %s %s: %s, want three edits, one with its content", c.method, c.path, c.body, a.body)
		}
	}
	if a := s.must("bob", "GET", "/v1/groups/g/messages?before=3", ""); !strings.Contains(a.body, `"complete":true,"has_more":false,"messages":[]`) {
		t.Errorf("before joining: %s", a.body)
	}
	if a := s.must("alice", "GET", "/v1/groups/g/messages?after=5&limit=1", ""); !strings.Contains(a.body, "secret 3") {
		t.Errorf("alice: %s, want the content", a.body)
	}
	for _, c := range []struct{ body, want string }{
		{`{"body":"x","reply_to":4}`, "400 out_of_range reply_to: must be 5 to 11"},
		{`{"body":"x","reply_to":12}`, "400 out_of_range reply_to: must be 5 to 11"},
		{`{"body":"x","reply_to":4,"deliver_at":"2026-01-01T00:00:00Z"}`, "400 out_of_range reply_to: must be 5 to 11"},
		{`{"kind":"reaction","target":4,"emoji":":x:"}`, "404 not_found no such group or message"},
		{`{"kind":"delete","target":4}`, "404 not_found no such group or message"},
		{`{"body":"x","reply_to":5}`, "201"},
	} {
		a := s.do(request{method: "POST", path: "/v1/groups/g/messages", user: "bob", body: c.body})
		got := fmt.Sprint(a.status)
		if a.status >= 400 {
			got = fmt.Sprintf("%d %s %v", a.status, a.code(), a.field("detail"))
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.body, got, c.want)
		}
	}
	for _, path := range []string{"/v1/groups/g/messages/4/receipts", "/v1/groups/g/messages/2/receipts?wait_s=1"} {
		checkProblem(t, path, s.do(request{method: "GET", path: path, user: "bob"}), 404, "not_found")
	}
	if a := s.must("bob", "GET", "/v1/inbox", ""); strings.Contains(a.body, "mention") {
		t.Errorf("the inbox: %s", a.body)
	}
}
