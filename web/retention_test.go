package web_test

import (
	"net/http"
	"testing"
)

// TestRetainDays: a setting like the others, at the creation and later, with a notice that carries it.
func TestRetainDays(t *testing.T) {
	s := start(t, nil)
	if a := s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"retain_days":30}`); a.field("retain_days") != 30. {
		t.Errorf("a new group: %s", a.body)
	}
	for days, code := range map[string]string{"-1": "invalid_request", "36501": "out_of_range"} {
		checkProblem(t, days, s.do(request{method: "PATCH", path: "/v1/groups/g", user: "alice", body: `{"retain_days":` + days + `}`}), http.StatusBadRequest, code)
		checkProblem(t, days, s.do(request{method: "POST", path: "/v1/groups", user: "alice", body: `{"retain_days":` + days + `}`}), http.StatusBadRequest, code)
	}
	checkProblem(t, "a member", s.do(request{method: "PATCH", path: "/v1/groups/g", user: "bob", body: `{"retain_days":1}`}), http.StatusForbidden, "forbidden")
	for _, days := range []string{"36500", "0"} {
		if a := s.must("alice", "PATCH", "/v1/groups/g", `{"retain_days":`+days+`}`); a.status != http.StatusOK {
			t.Errorf("%s days: %s", days, a.body)
		}
	}
	if a := s.must("bob", "GET", "/v1/groups/g", ""); a.field("retain_days") != 0. {
		t.Errorf("then: %s", a.body)
	}
	notices := s.messages("bob", "/v1/groups/g/messages?after=2")
	if len(notices) != 2 || notices[0]["settings"].(map[string]any)["retain_days"] != 36500. || notices[1]["settings"].(map[string]any)["retain_days"] != 0. {
		t.Errorf("got %v", notices)
	}
}
