package web_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/internal/harness"
)

// TestSchedulesOfAnybody: operators and keys with the scope ops list what waits, what is a user's, and what fails, without what is sent.
func TestSchedulesOfAnybody(t *testing.T) {
	s := start(t, nil)
	const secret = "a secret body"
	made := func(user, body string) string {
		id, _ := s.must(user, "POST", "/v1/schedules", `{"body":"`+secret+`","data":{"x":"`+secret+`"},`+body+`}`).field("id").(string)
		return id
	}
	for user, group := range map[string]string{"alice": "in:a", "bob": "out"} {
		s.must(user, "POST", "/v1/groups", `{"id":"`+group+`"}`)
	}
	daily, later, direct := made("alice", `"group":"in:a","cron":"0 9 * * *","count":2`), made("bob", `"group":"out","at":"`+in(time.Hour)+`"`), made("bob", `"user":"alice","at":"`+in(time.Hour)+`"`)
	paused := made("bob", `"group":"out","cron":"@daily"`)
	s.must("bob", "PATCH", "/v1/schedules/"+paused, `{"paused":true}`)
	names := map[string]string{daily: "daily", later: "later", direct: "direct", paused: "paused"}
	list := func(a answer) (named string, all []schedule.Schedule) {
		t.Helper()
		var page struct{ Schedules []schedule.Schedule }
		if err := json.Unmarshal([]byte(a.body), &page); a.status != 200 || err != nil || strings.Contains(a.body, secret) {
			t.Fatalf("got %d %s, want 200 without %q", a.status, a.body, secret)
		}
		var got []string
		for _, one := range page.Schedules {
			got = append(got, names[one.ID])
		}
		slices.Sort(got)
		return strings.Join(got, " "), page.Schedules
	}
	operator := func(query string) answer {
		return s.do(request{method: "GET", path: "/v1/schedules?all=1" + query, user: "root", role: "admin"})
	}
	for query, want := range map[string]string{"": "daily direct later", "&user=bob": "direct later paused", "&user=nobody": "", "&failing=1": ""} {
		if got, _ := list(operator(query)); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	_, of := list(operator("&user=alice"))
	if len(of) != 1 || len(of[0].NextTimes) != 2 || of[0].NextTimes[0] != *of[0].NextAt || !of[0].NextTimes[1].After(of[0].NextTimes[0].Time) {
		t.Errorf("got %+v, want the two times to come", of)
	}

	// Two fail, one after another, whose groups are gone.
	var failing []string
	for _, group := range []string{"in:gone", "gone"} {
		id := ""
		for due, early := 2*time.Second, false; !early; due *= 2 { // the group has to be gone before
			s.do(request{method: "DELETE", path: "/v1/schedules/" + id, user: "bob"})
			s.must("bob", "POST", "/v1/groups", `{"id":"`+group+`"}`)
			fires := time.Now().Add(due)
			id = made("bob", `"group":"`+group+`","at":"`+in(due)+`"`)
			s.must("bob", "DELETE", "/v1/groups/"+group, "")
			early = time.Now().Before(fires)
		}
		names[id] = group
		failing = append([]string{id}, failing...)
		harness.Eventually(t, 10*time.Second, "it fails", func() error {
			if _, all := list(operator("&failing=1")); len(all) != len(failing) || all[0].ID != id || all[0].LastError == nil || *all[0].LastError != "not_found" {
				return errors.New("not yet")
			}
			return nil
		})
	}
	first := operator("&failing=1&limit=1")
	next, _ := first.field("next").(string)
	if got, _ := list(first); got != "gone" || next == "" {
		t.Fatalf("the first page: %s", first.body)
	}
	if a := operator("&failing=1&limit=1&cursor=" + next); a.field("next") != nil {
		t.Errorf("the last page: got %s", a.body)
	} else if got, _ := list(a); got != "in:gone" {
		t.Errorf("the last page: got %s", got)
	}

	for _, query := range []string{"?user=bob", "?failing=1", "?all=0", "?all=1&failing=0", "?all=1&user=", "?all=1&user=bob&failing=1", "?all=1&user=a%20b", "?all=1&cursor=!", "?all=1&failing=1&cursor=1", "?all=1&user=bob&cursor=!"} {
		checkProblem(t, query, s.do(request{method: "GET", path: "/v1/schedules" + query, user: "root", role: "admin"}), 400, "invalid_request")
	}
	everything := request{method: "GET", path: "/v1/schedules?all=1"}
	checkProblem(t, "without a token", s.do(everything), 401, "unauthenticated")
	checkProblem(t, "a user", s.do(request{method: "GET", path: everything.path, user: "alice"}), 403, "forbidden")
	_, ops := s.key(`{"name":"ops","scopes":["ops"]}`)
	if got, _ := list(s.by(ops, "", everything)); got != "daily direct later" {
		t.Errorf("a key: got %q", got)
	}
	_, bound := s.key(`{"name":"bound","scopes":["ops"],"groups":["in:*"]}`)
	for query, want := range map[string]string{"": "daily", "&user=bob": "in:gone", "&failing=1": "in:gone"} {
		if got, _ := list(s.by(bound, "", request{method: "GET", path: everything.path + query})); got != want {
			t.Errorf("a key for some groups, %q: got %q, want %q", query, got, want)
		}
	}
	_, other := s.key(`{"name":"other","scopes":["read","send","users","groups"],"as":"any"}`)
	if refused := s.by(other, "", everything); !strings.Contains(refused.body, "ops") {
		t.Errorf("the scope is not named: %d %s", refused.status, refused.body)
	}
}
