package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestHold: operators see a legal hold, nobody else does; a held group is not deleted, and the refusal says why.
func TestHold(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	for _, body := range []string{`{}`, `{"reason":" "}`, `{"reason":"a\nb"}`, `{"reason":"\u202e"}`, `{"reason":"\u200b"}`, `{"reason":"` + strings.Repeat("x", 501) + `"}`, `{"reason":"x","by":"bob"}`} {
		checkProblem(t, body, s.operate("PUT", "/v1/groups/g/hold", body, nil), http.StatusBadRequest, "invalid_request")
	}
	checkProblem(t, "no group", s.operate("PUT", "/v1/groups/absent/hold", `{"reason":"x"}`, nil), http.StatusNotFound, "not_found")
	first := s.operate("PUT", "/v1/groups/g/hold", `{"reason":"Case 1"}`, nil)
	again := s.operate("PUT", "/v1/groups/g/hold", `{"reason":" \u202eCase\u2066 2026-117\u2069 "}`, nil)
	if again.status != http.StatusOK || again.field("reason") != "Case 2026-117" || again.field("by") != "op" || again.field("since") != first.field("since") {
		t.Errorf("got %d %s after %s", again.status, again.body, first.body)
	}
	hold, _ := s.operate("GET", "/v1/groups/g", "", nil).field("hold").(map[string]any)
	if hold["reason"] != "Case 2026-117" || hold["since"] != first.field("since") {
		t.Errorf("an operator sees %v", hold)
	}
	for _, user := range []string{"alice", "bob"} {
		if a := s.must(user, "GET", "/v1/groups/g", ""); a.field("hold") != nil {
			t.Errorf("%s sees %s", user, a.body)
		}
	}
	s.must("alice", "DELETE", "/v1/groups/g/members/alice", "")
	for what, a := range map[string]answer{
		"the owner deletes":      s.do(request{method: "DELETE", path: "/v1/groups/g", user: "bob"}),
		"an operator deletes":    s.operate("DELETE", "/v1/groups/g", "", nil),
		"the last member leaves": s.do(request{method: "DELETE", path: "/v1/groups/g/members/bob", user: "bob"}),
	} {
		checkProblem(t, what, a, http.StatusConflict, "conflict")
		if detail, _ := a.field("detail").(string); !strings.Contains(detail, "Case 2026-117") {
			t.Errorf("%s: %q does not name the hold", what, detail)
		}
	}
	for range 2 {
		if a := s.operate("DELETE", "/v1/groups/g/hold", "", nil); a.status != http.StatusNoContent {
			t.Errorf("got %d %s", a.status, a.body)
		}
	}
	if a := s.operate("GET", "/v1/groups/g", "", nil); a.field("hold") != nil {
		t.Errorf("a hold outlives its end: %s", a.body)
	}
	s.must("bob", "DELETE", "/v1/groups/g/members/bob", "")
}
