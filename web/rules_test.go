package web_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestMutes: who is muted reads until when from the refusal, the group and the list of members.
func TestMutes(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	until := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	got := s.must("alice", "PATCH", "/v1/groups/g/members/bob", `{"muted_until":"`+until+`","data":{"why":"spam"}}`)
	if got.field("muted_until") != until || !strings.Contains(got.body, `"why":"spam"`) {
		t.Errorf("got %s", got.body)
	}
	refused := s.do(request{user: "bob", method: "POST", path: "/v1/groups/g/messages", body: `{"body":"x"}`})
	checkProblem(t, "a send", refused, 403, "muted")
	if refused.field("until") != until {
		t.Errorf("got %s", refused.body)
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/groups/g/files", `{"name":"a","size":1}`},
		{"POST", "/v1/schedules", `{"group":"g","body":"x","at":"2036-01-01T00:00:00.000Z"}`},
	} {
		if a := s.do(request{user: "bob", method: c.method, path: c.path, body: c.body}); a.status < 400 {
			t.Errorf("%s is answered with %d %s", c.path, a.status, a.body)
		}
	}
	if own := s.must("bob", "GET", "/v1/groups/g", ""); own.field("muted_until") != until {
		t.Errorf("bob's view is %s", own.body)
	}
	if list := s.must("bob", "GET", "/v1/groups/g/members", ""); strings.Count(list.body, `"muted_until":"`+until+`"`) != 1 {
		t.Errorf("the members are %s", list.body)
	}
	if own := s.must("alice", "GET", "/v1/groups/g", ""); own.field("muted_until") != nil {
		t.Errorf("alice's view is %s", own.body)
	}
	notices := s.messages("bob", "/v1/groups/g/messages?after=2")
	if len(notices) != 2 || notices[0]["notice"] != "muted" || notices[0]["user"] != "bob" || notices[0]["muted_until"] != until {
		t.Errorf("got the notices %v", notices)
	}

	s.must("alice", "PATCH", "/v1/groups/g/members/bob", `{"muted_until":"9999-12-31T00:00:00.000Z"}`)
	refused = s.do(request{user: "bob", method: "POST", path: "/v1/groups/g/messages", body: `{"body":"x"}`})
	var problem map[string]any
	if err := json.Unmarshal([]byte(refused.body), &problem); err != nil {
		t.Fatal(err)
	}
	if end, has := problem["until"]; !has || end != nil {
		t.Errorf("a mute without an end is %s", refused.body)
	}
	s.must("alice", "PATCH", "/v1/groups/g/members/bob", `{"muted_until":null}`)
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"x"}`)

	for _, body := range []string{`{"muted_until":1}`, `{"muted_until":"tomorrow"}`, `{"muted_until":true}`} {
		checkProblem(t, body, s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g/members/bob", body: body}), 400, "invalid_request")
	}
	past := s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g/members/bob", body: `{"muted_until":"2020-01-01T00:00:00.000Z"}`})
	checkProblem(t, "the past", past, 400, "out_of_range")
	checkProblem(t, "a member", s.do(request{user: "bob", method: "PATCH", path: "/v1/groups/g/members/alice", body: `{"muted_until":null}`}), 403, "forbidden")
	checkProblem(t, "the owner", s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g/members/alice", body: `{"muted_until":"` + until + `"}`}), 403, "forbidden")
}

// TestSlowAndFrozenGroups: slow mode says how long to wait, and a frozen group takes announcements alone.
func TestSlowAndFrozenGroups(t *testing.T) {
	s := start(t, nil)
	made := s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"slow_s":600}`)
	if made.field("slow_s") != 600.0 {
		t.Errorf("got %s", made.body)
	}
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"x","client_id":"c"}`)
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"x","client_id":"c"}`)
	slowed := s.do(request{user: "bob", method: "POST", path: "/v1/groups/g/messages", body: `{"body":"y"}`})
	checkProblem(t, "slow mode", slowed, 429, "rate_limited")
	if wait := slowed.header.Get("Retry-After"); len(wait) != 3 {
		t.Errorf("Retry-After is %q", wait)
	}
	s.must("alice", "PATCH", "/v1/groups/g", `{"slow_s":0,"post":"none"}`)
	for _, user := range []string{"alice", "bob"} {
		checkProblem(t, user, s.do(request{user: user, method: "POST", path: "/v1/groups/g/messages", body: `{"body":"y"}`}), 403, "forbidden")
	}
	checkProblem(t, "too slow", s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g", body: `{"slow_s":21601}`}), 400, "out_of_range")
	s.must("alice", "PATCH", "/v1/groups/g", `{"post":"members"}`)
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"y"}`)
}
