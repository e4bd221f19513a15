package web_test

import (
	"strings"
	"testing"
)

// TestBlocks: what the routes answer, and what somebody who is blocked gets to hear.
func TestBlocks(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"ours","members":["bob"]}`)
	s.must("bob", "POST", "/v1/groups", `{"id":"theirs"}`)
	first := s.must("alice", "PUT", "/v1/blocks/bob", "")
	if again := s.must("alice", "PUT", "/v1/blocks/bob", ""); first.status != 201 || again.status != 200 || again.body != first.body {
		t.Errorf("got %d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
	if list := s.must("alice", "GET", "/v1/blocks", ""); !strings.Contains(list.body, `"blocks":[{"user":"bob","created_at":"`) || list.field("next") != nil {
		t.Errorf("the list is %s", list.body)
	}
	if one := s.must("alice", "GET", "/v1/blocks/bob", ""); one.body != first.body {
		t.Errorf("got %s", one.body)
	}
	if export := s.must("alice", "GET", "/v1/me/export", ""); !strings.Contains(export.body, `{"block":{"user":"bob"`) {
		t.Errorf("the export is %s", export.body)
	}
	checkProblem(t, "oneself", s.do(request{user: "alice", method: "PUT", path: "/v1/blocks/alice"}), 400, "invalid_request")
	checkProblem(t, "a cursor", s.do(request{user: "alice", method: "GET", path: "/v1/blocks?cursor=x"}), 400, "invalid_request")

	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/users/alice/messages", `{"body":"x"}`},
		{"PUT", "/v1/direct/alice", ""},
		{"PUT", "/v1/groups/theirs/members/alice", ""},
		{"POST", "/v1/groups", `{"members":["alice"]}`},
	} {
		checkProblem(t, c.path, s.do(request{user: "bob", method: c.method, path: c.path, body: c.body}), 403, "blocked")
	}
	many := s.must("bob", "PUT", "/v1/groups/theirs/members", `{"add":[{"user":"alice"},{"user":"carl"}]}`)
	if !strings.Contains(many.body, `"added":1`) || !strings.Contains(many.body, `{"user":"alice","code":"blocked"}`) {
		t.Errorf("got %s", many.body)
	}
	s.must("bob", "POST", "/v1/groups/ours/messages", `{"body":"hello @alice","mentions":["alice"]}`)
	s.must("alice", "DELETE", "/v1/blocks/bob", "")
	s.must("bob", "POST", "/v1/users/alice/messages", `{"body":"x"}`)
	if gone := s.do(request{user: "alice", method: "GET", path: "/v1/blocks/bob"}); gone.status != 404 {
		t.Errorf("got %d %s", gone.status, gone.body)
	}
}
