package web_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestAllGroups: operators and keys with the scope groups list every group, and nobody else does.
func TestAllGroups(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"in:1","name":"Straße","members":["bob"],"keep":0,"data":{"a":1}}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"in:2","name":"In town"}`)
	s.must("bob", "POST", "/v1/groups", `{"id":"out","name":"Inward","visibility":"public"}`)
	s.must("alice", "POST", "/v1/groups/in:1/messages", `{"body":"hello"}`) // bob has not seen it, nor what was before
	s.must("alice", "POST", "/v1/groups/in:1/ack", `{"id":3}`)
	operator := func(query string) answer {
		t.Helper()
		return s.do(request{method: "GET", path: "/v1/groups?all=1" + query, user: "root", role: "admin"})
	}
	ids := func(a answer) string {
		t.Helper()
		if a.status != 200 {
			t.Fatalf("got %d %s", a.status, a.body)
		}
		var list []string
		for _, g := range a.field("groups").([]any) {
			list = append(list, g.(map[string]any)["id"].(string))
		}
		return strings.Join(list, " ")
	}
	for query, want := range map[string]string{
		"": "in:1 in:2 out", "&q=in": "in:1 in:2 out", "&q=in:": "in:1 in:2", "&q=STRASSE": "in:1", "&user=bob": "in:1 out", "&user=bob&q=inw": "out",
		"&sort=held": "in:1 in:2 out", "&sort=activity&limit=1": "in:1", "&q=none": "", "&user=nobody": "",
	} {
		if got := ids(operator(query)); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	first := operator("&limit=1")
	if next, _ := first.field("next").(string); next == "" || ids(operator("&limit=2&cursor="+next)) != "in:2 out" || operator("").field("next") != nil {
		t.Errorf("got %s", first.body)
	}
	row := first.field("groups").([]any)[0].(map[string]any)
	blockers, _ := row["blockers"].([]any)
	if row["held"] != 3.0 || row["held_since"] == nil || len(blockers) != 1 || blockers[0].(map[string]any)["user"] != "bob" || row["name"] != "Straße" ||
		row["data"].(map[string]any)["a"] != 1.0 || row["seen"] != nil || row["hold"] != nil {
		t.Errorf("got %v", row)
	}
	idle := operator("&q=out").field("groups").([]any)[0].(map[string]any)
	if since, ok := idle["held_since"]; idle["held"] != 0.0 || since != nil || !ok || fmt.Sprint(idle["blockers"]) != "[]" {
		t.Errorf("got %v", idle)
	}

	held := s.do(request{method: "GET", path: "/v1/blockers?limit=5", user: "root", role: "admin"})
	if ids(held) != "in:1" || held.field("looked") != 3.0 || held.field("total") != 3.0 || held.field("next") != nil {
		t.Errorf("held: got %s", held.body)
	}
	checkProblem(t, "a cursor", s.do(request{method: "GET", path: "/v1/blockers?cursor=!", user: "root", role: "admin"}), 400, "invalid_request")

	checkProblem(t, "without a token", s.do(request{method: "GET", path: "/v1/groups?all=1"}), 401, "unauthenticated")
	checkProblem(t, "a member", s.do(request{method: "GET", path: "/v1/groups?all=1", user: "alice"}), 403, "forbidden")
	for _, query := range []string{"?q=x", "?user=bob", "?sort=held", "?all=0", "?all=", "?all=1&sort=name", "?all=1&q=", "?all=1&user=a%20b", "?all=1&cursor=!", "?all=1&sort=held&cursor=!"} {
		checkProblem(t, query, s.do(request{method: "GET", path: "/v1/groups" + query, user: "root", role: "admin"}), 400, "invalid_request")
	}

	list := request{method: "GET", path: "/v1/groups?all=1"}
	_, key := s.key(`{"name":"all","scopes":["groups","read"],"as":"any"}`)
	if got := ids(s.by(key, "", list)); got != "in:1 in:2 out" {
		t.Errorf("a key: got %q", got)
	}
	checkProblem(t, "a key for a member", s.by(key, "alice", list), 403, "forbidden")
	if got := ids(s.by(key, "alice", request{method: "GET", path: "/v1/groups"})); got != "in:1 in:2" {
		t.Errorf("a member's own groups: got %q", got)
	}
	_, other := s.key(`{"name":"other","scopes":["read","send","users","ops"],"as":"any"}`)
	refused := s.by(other, "", list)
	checkProblem(t, "a key without the scope", refused, 403, "forbidden")
	if !strings.Contains(refused.body, "groups") {
		t.Errorf("the scope is not named: %s", refused.body)
	}
	_, bound := s.key(`{"name":"bound","scopes":["groups"],"groups":["in:*"]}`)
	for query, want := range map[string]string{"": "in:1 in:2", "&q=in": "in:1 in:2", "&sort=held": "in:1 in:2", "&user=bob": "in:1", "&q=inward": ""} {
		if got := ids(s.by(bound, "", request{method: "GET", path: list.path + query})); got != want {
			t.Errorf("a key for some groups, %s: got %q, want %q", query, got, want)
		}
	}
}
