package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDataOfGroups merges custom fields into a group and looks where they are served.
func TestDataOfGroups(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"visibility":"public","data":{ "plan": "team", "seats": {"used":1, "of":5}, "gone":null }}`) // 1, 2
	of := func(a answer) (object any) {
		t.Helper()
		if err := json.Unmarshal([]byte(a.body), &object); err != nil {
			t.Fatal(err)
		}
		return object
	}
	is := func(what string, got any, want map[string]any) {
		t.Helper()
		data, _ := got.(map[string]any)["data"].(map[string]any)
		if diff := cmp.Diff(want, data); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", what, diff)
		}
	}
	first := map[string]any{"plan": "team", "seats": map[string]any{"used": 1.0, "of": 5.0}}
	is("a member", of(s.must("bob", "GET", "/v1/groups/g", "")), first)
	is("the list", s.must("bob", "GET", "/v1/groups", "").field("groups").([]any)[0], first)
	is("the public list", s.must("eve", "GET", "/v1/groups/public", "").field("groups").([]any)[0], first)

	merged := map[string]any{"seats": map[string]any{"used": 2.0}, "n": 9.0}
	is("the answer", of(s.must("alice", "PATCH", "/v1/groups/g", `{"data":{"plan":null,"seats":{"used":2,"of":null},"n":9}}`)), merged) // 3
	s.must("alice", "PATCH", "/v1/groups/g", `{"data":{"n":9},"name":""}`)                                                              // what it is already
	s.must("alice", "PATCH", "/v1/groups/g", `{"data":null}`)                                                                           // 4
	notices := s.messages("bob", "/v1/groups/g/messages?after=2")
	if len(notices) != 2 || notices[0]["notice"] != "settings" {
		t.Fatalf("got the notices %v", notices)
	}
	is("the notice", notices[0]["settings"], merged)
	is("the notice of nothing", notices[1]["settings"], map[string]any{})
	if group := of(s.must("bob", "GET", "/v1/groups/g", "")).(map[string]any); group["data"] != nil {
		t.Errorf("got %v", group["data"])
	}

	full := fmt.Sprintf(`{"data":{"a":"%s"}}`, strings.Repeat("x", 4096-len(`{"a":""}`)))
	s.must("alice", "PATCH", "/v1/groups/g", full)
	checkProblem(t, "one byte more", s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g", body: `{"data":{"b":1}}`}), 400, "out_of_range")
	checkProblem(t, "too much at creation", s.do(request{user: "alice", method: "POST", path: "/v1/groups", body: strings.Replace(full, `"x`, `"xx`, 1)}), 400, "out_of_range")
	s.must("alice", "PATCH", "/v1/groups/g", `{"data":{"b":1,"a":null}}`) // it counts what the merge leaves
	for _, data := range []string{`[]`, `"x"`, `1`, `true`, `""`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`,
		strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), `{"n":1e999}`} {
		checkProblem(t, data, s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g", body: `{"data":` + data + `}`}), 400, "invalid_request")
		checkProblem(t, data, s.do(request{user: "alice", method: "POST", path: "/v1/groups", body: `{"data":` + data + `}`}), 400, "invalid_request")
	}
	checkProblem(t, "a member", s.do(request{user: "bob", method: "PATCH", path: "/v1/groups/g", body: `{"data":{"b":2}}`}), 403, "forbidden")
	is("in the end", of(s.must("bob", "GET", "/v1/groups/g", "")), map[string]any{"b": 1.0})
}

// TestTagsOfGroups: who changes a group by its tag changes what they have seen.
func TestTagsOfGroups(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	tag := func() string {
		t.Helper()
		tag := s.must("bob", "GET", "/v1/groups/g", "").header.Get("ETag")
		if len(tag) < 3 || tag[0] != '"' {
			t.Fatalf("got the tag %q", tag)
		}
		return tag
	}
	call := func(method, match, body string) answer {
		return s.do(request{method: method, path: "/v1/groups/g", user: "alice", body: body, header: map[string]string{"If-Match": match}})
	}
	first := tag()
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"x"}`)
	s.must("bob", "POST", "/v1/groups/g/ack", `{"id":3}`)
	s.must("alice", "PUT", "/v1/groups/g/members/carl", "")
	if now := tag(); now != first {
		t.Errorf("messages and members are no new version: %s, then %s", first, now)
	}
	for _, body := range []string{`{"name":"x"}`, `{"keep":7}`, `{"data":{"a":1}}`} {
		was := tag()
		a := call("PATCH", was, body)
		if now := tag(); a.status != 200 || now == was || a.header.Get("ETag") != now {
			t.Errorf("%s: %d, %s to %s, answered %s", body, a.status, was, now, a.header.Get("ETag"))
		}
		checkProblem(t, "the old tag, "+body, call("PATCH", was, `{"name":"y"}`), 409, "conflict")
	}
	now := tag()
	for match, want := range map[string]int{"*": 200, now: 200, `"a", ` + now: 200, "W/" + now: 409, `"a"`: 409, first: 409, "": 409, strings.Trim(now, `"`): 400} {
		if a := call("PATCH", match, `{"keep":7}`); a.status != want { // as it is
			t.Errorf("If-Match: %s: got %d, want %d", match, a.status, want)
		}
	}
	checkProblem(t, "an old tag", call("DELETE", first, ""), 409, "conflict")
	checkProblem(t, "no tag", call("DELETE", "x", ""), 400, "invalid_request")
	if a := call("DELETE", now, ""); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	checkProblem(t, "the tag of another life", call("PATCH", now, `{"name":"z"}`), 409, "conflict")
	checkProblem(t, "a group that is hidden", s.do(request{method: "PATCH", path: "/v1/groups/g", user: "eve", body: `{"name":"x"}`, header: map[string]string{"If-Match": "*"}}), 404, "not_found")
}

// TestDataOfMembers: managers note custom fields about members, and everyone in the group sees them.
func TestDataOfMembers(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"visibility":"public"}`)     // 1, 2
	a := s.must("alice", "PUT", "/v1/groups/g/members/carl", `{"role":"admin","data":{"desk":12}}`) // 3: joined, 4: role, 5: data
	if data, _ := a.field("data").(map[string]any); a.status != 201 || data["desk"] != 12.0 || a.field("role") != "admin" {
		t.Errorf("got %d %s", a.status, a.body)
	}
	for _, c := range []struct {
		user, method, body string
		status             int
		want               string
	}{
		{"carl", "PATCH", `{"data":{"shift":"late"}}`, 200, `"data":{"desk":12,"shift":"late"}`},
		{"alice", "PUT", `{"data":{"desk":null}}`, 200, `"data":{"shift":"late"}`},
		{"alice", "PUT", ``, 200, `"data":{"shift":"late"}`},
		{"alice", "PATCH", `{}`, 200, `"data":{"shift":"late"}`},
		{"alice", "PATCH", `{"data":null}`, 200, `"role":"admin"`},
		{"bob", "PATCH", `{"data":{"a":1}}`, 403, `"forbidden"`},
		{"bob", "PUT", `{"data":{"a":1}}`, 403, `"forbidden"`},
		{"alice", "PATCH", `{"data":[]}`, 400, `"invalid_request"`},
		{"alice", "PATCH", `{"data":{"a":1,"a":1}}`, 400, `"invalid_request"`},
		{"alice", "PATCH", `{"role":"member"}`, 400, `"invalid_request"`},
		{"alice", "PATCH", `{"data":{"a":"` + strings.Repeat("x", 4096) + `"}}`, 400, `"out_of_range"`},
		{"alice", "PUT", `{"data":{"a":"` + strings.Repeat("x", 4096) + `"}}`, 400, `"out_of_range"`},
	} {
		a := s.do(request{user: c.user, method: c.method, path: "/v1/groups/g/members/carl", body: c.body})
		if a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s %s by %s: got %d %s, want %d and %s", c.method, c.body, c.user, a.status, a.body, c.status, c.want)
		}
	}
	checkProblem(t, "who is no member", s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g/members/eve", body: `{"data":{}}`}), 404, "not_found")
	// Nobody joins by what they may not do.
	checkProblem(t, "eve joins with data", s.do(request{user: "eve", method: "PUT", path: "/v1/groups/g/members/eve", body: `{"data":{"a":1}}`}), 403, "forbidden")
	checkProblem(t, "eve is added with too much", s.do(request{user: "alice", method: "PUT", path: "/v1/groups/g/members/eve", body: `{"data":{"a":"` + strings.Repeat("x", 4096) + `"}}`}), 400, "out_of_range")
	s.must("alice", "PATCH", "/v1/groups/g/members/carl", `{"data":{"desk":7}}`)
	list := s.must("bob", "GET", "/v1/groups/g/members", "").body
	if strings.Count(list, `"data"`) != 1 || !strings.Contains(list, `"data":{"desk":7}`) || strings.Contains(list, "eve") {
		t.Errorf("got %s", list)
	}
	var notices int
	for _, m := range s.messages("bob", "/v1/groups/g/messages?after=2") {
		if m["notice"] == "data" && m["user"] == "carl" && m["data"] == nil {
			notices++
		}
	}
	if notices != 5 {
		t.Errorf("got %d notices, want one for each change: 5", notices)
	}
	if lines := s.must("carl", "GET", "/v1/me/export", "").body; !strings.Contains(lines, `{"member":{"group":"g","data":{"desk":7}}}`) {
		t.Errorf("an export lacks it: %s", lines)
	}
}
