package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestNamesCountCharacters: what people type is counted in characters, however many bytes they take, and loses the controls of the
// writing direction.
func TestNamesCountCharacters(t *testing.T) {
	s := withG(t, nil)
	for _, name := range []string{strings.Repeat("👋", 100), strings.Repeat("é", 100), "שלום"} {
		body := fmt.Sprintf(`{"name":%q}`, "\u202b"+name+"\u200f\u202c")
		if got := s.must("alice", "POST", "/v1/groups", body).field("name"); got != name {
			t.Errorf("the name of a group: got %q, want %q", got, name)
		}
		if got := s.must("alice", "PATCH", "/v1/groups/g", body).field("name"); got != name {
			t.Errorf("another name of a group: got %q, want %q", got, name)
		}
	}
	checkProblem(t, "a long name", s.do(request{method: "POST", path: "/v1/groups", user: "alice", body: `{"name":"` + strings.Repeat("n", 101) + `"}`}), 400, "invalid_request")
	checkProblem(t, "a long new name", s.do(request{method: "PATCH", path: "/v1/groups/g", user: "alice", body: `{"name":"` + strings.Repeat("👋", 101) + `"}`}), 400, "invalid_request")

	for _, name := range []string{strings.Repeat("字", 251) + ".txt", strings.Repeat("👋", 251) + ".txt", strings.Repeat("n", 255)} {
		made := s.must("alice", "POST", filesOfG, fmt.Sprintf(`{"name":%q,"size":1}`, "\u2067"+name))
		path := filesOfG + "/" + made.field("id").(string)
		s.patch("alice", path, 0, "x")
		a := s.do(request{method: "GET", path: path, user: "alice"})
		size := 0
		for field, values := range a.header {
			size += len(field) + len(strings.Join(values, "")) + 4
		}
		if !strings.HasSuffix(a.header.Get("Content-Disposition"), "UTF-8''"+strings.ReplaceAll(url.PathEscape(name), "+", "%2B")) || size > 4000 {
			t.Errorf("%d %s: got %d bytes of headers, %s", a.status, a.body, size, a.header.Get("Content-Disposition"))
		}
		checkProblem(t, "one character more", s.do(request{method: "POST", path: filesOfG, user: "alice", body: fmt.Sprintf(`{"name":%q,"size":1}`, name+"n")}), 400, "invalid_request")
	}
	checkProblem(t, "nothing is left", s.do(request{method: "POST", path: filesOfG, user: "alice", body: `{"name":"\u202e","size":1}`}), 400, "invalid_request")

	if a := s.operate("PUT", "/v1/groups/g/hold", `{"reason":"`+strings.Repeat("字", 500)+`"}`, nil); a.status != http.StatusOK {
		t.Errorf("a reason of 500 characters: got %d %s", a.status, a.body)
	}
	if a := s.do(request{method: "GET", path: "/v1/search?q=" + url.QueryEscape(strings.Repeat("字", 1000)), user: "alice"}); a.status != http.StatusOK {
		t.Errorf("a search for 1,000 characters: got %s", a.body)
	}
}

// TestBodyIsVisible: nothing is sent that nobody would see.
func TestBodyIsVisible(t *testing.T) {
	s := withG(t, nil)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"one"}`)
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	schedule := s.must("alice", "POST", "/v1/schedules", `{"group":"g","body":"x","at":"`+soon+`"}`).field("id").(string)
	for _, blank := range []string{" ", "\n\t", "\u00a0", "\u200b\u200d\ufeff", "\u3164", "\u115f\u1160\uffa0", "\u2800", "\ufe0f", "\u00ad\u2060", "\u202e\u2069", "\U000e0041"} {
		text, err := json.Marshal(blank)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []request{
			{method: "POST", path: "/v1/groups/g/messages", body: `{"body":` + string(text) + `}`},
			{method: "POST", path: "/v1/groups/g/messages", body: `{"body":` + string(text) + `,"data":1}`},
			{method: "POST", path: "/v1/groups/g/messages", body: `{"body":` + string(text) + `,"deliver_at":"` + soon + `"}`},
			{method: "POST", path: "/v1/groups/g/messages", body: `{"kind":"edit","target":3,"body":` + string(text) + `}`},
			{method: "POST", path: "/v1/users/bob/messages", body: `{"body":` + string(text) + `}`},
			{method: "POST", path: "/v1/schedules", body: `{"group":"g","body":` + string(text) + `,"at":"` + soon + `"}`},
			{method: "PATCH", path: "/v1/schedules/" + schedule, body: `{"body":` + string(text) + `}`},
			{method: "POST", path: "/v1/announcements", role: "admin", body: `{"to":{"all":true},"body":` + string(text) + `}`},
		} {
			r.user = "alice"
			checkProblem(t, r.path+" "+r.body, s.do(r), 400, "invalid_request")
		}
	}
	if a := s.must("alice", "POST", "/v1/groups/g/messages", `{"body":" 👍\u200d "}`); a.field("body") != " 👍\u200d " {
		t.Errorf("got %s", a.body)
	}
}
