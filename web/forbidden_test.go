package web_test

import "testing"

// TestForbiddenSaysWhoMay reads the details of refusals.
func TestForbiddenSaysWhoMay(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl"]}`) // 1..3
	s.must("alice", "PUT", "/v1/groups/g/members/carl", `{"role":"admin"}`)      // 4
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"hi"}`)            // 5
	for _, c := range []struct{ user, role, method, path, body, want string }{
		{"bob", "", "PATCH", "/v1/groups/g", `{"name":"x"}`, "only the owner and admins of the group may do this"},
		{"bob", "", "PUT", "/v1/groups/g/members/dora", "", "only the owner and admins of the group may do this"},
		{"carl", "", "PUT", "/v1/groups/g/members/bob", `{"role":"owner"}`, "only the owner may make another member the owner"},
		{"carl", "", "PUT", "/v1/groups/g/members/alice", `{"role":"member"}`, "only the owner may change the owner's role, by making another member the owner"},
		{"bob", "", "POST", "/v1/groups/g/messages", `{"kind":"edit","target":5,"body":"x"}`, "only the author may edit a message"},
		{"bob", "", "POST", "/v1/groups/g/messages", `{"kind":"delete","target":5}`, "only the author, the owner and admins may delete a message"},
		{"root", "admin", "GET", "/v1/groups/g/messages", "", "only members of the group may do this, operators too"},
	} {
		a := s.do(request{method: c.method, path: c.path, body: c.body, user: c.user, role: c.role})
		checkProblem(t, c.method+" "+c.path+" "+c.body, a, 403, "forbidden")
		if got := a.field("detail"); got != c.want {
			t.Errorf("%s %s %s: got %q, want %q", c.method, c.path, c.body, got, c.want)
		}
	}
}
