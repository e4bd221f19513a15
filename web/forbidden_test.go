package web_test

import (
	"testing"
	"time"
)

// TestForbiddenSaysWhoMay reads the details of refusals.
func TestForbiddenSaysWhoMay(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	s.must("alice", "PUT", "/v1/groups/g/members/carl", "")                 // 3
	s.must("alice", "PUT", "/v1/groups/g/members/carl", `{"role":"admin"}`) // 4
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"hi"}`)       // 5
	s.must("alice", "POST", "/v1/groups", `{"id":"p","members":["bob"],"visibility":"public"}`)
	s.must("alice", "POST", "/v1/groups/p/messages", `{"body":"hi"}`)
	s.must("bob", "POST", "/v1/groups/p/messages", `{"body":"hi"}`) // 4
	s.must("alice", "PATCH", "/v1/groups/p", `{"post":"admins"}`)
	later := time.Now().AddDate(0, 1, 0).Format(time.RFC3339)
	const (
		members  = "only members of the group may do this"
		managers = "only the owner and admins of the group may do this"
		posters  = "only the owner and admins may post in this group"
	)
	for _, c := range []struct{ user, role, method, path, body, want string }{
		{"bob", "", "PATCH", "/v1/groups/g", `{"name":"x"}`, managers},
		{"bob", "", "PUT", "/v1/groups/g/members/dora", "", managers},
		{"carl", "", "PUT", "/v1/groups/g/members/bob", `{"role":"owner"}`, "only the owner may make another member the owner"},
		{"carl", "", "PUT", "/v1/groups/g/members/alice", `{"role":"member"}`, "only the owner may change the owner's role, by making another member the owner"},
		{"bob", "", "POST", "/v1/groups/g/messages", `{"kind":"edit","target":5,"body":"x"}`, "only the author may edit a message"},
		{"bob", "", "POST", "/v1/groups/g/messages", `{"kind":"delete","target":5}`, "only the author, the owner and admins may delete a message"},
		{"carl", "", "DELETE", "/v1/groups/g", "", "only the owner of the group may do this"},
		{"carl", "", "DELETE", "/v1/groups/g/members/alice", "", "only operators (role admin) may remove the owner of a group"},
		{"bob", "", "DELETE", "/v1/groups/g/members/carl", "", managers},
		{"bob", "", "DELETE", "/v1/groups/g", "", managers},
		{"root", "admin", "GET", "/v1/groups/g/messages", "", members},
		{"root", "admin", "POST", "/v1/groups/g/messages", `{"body":"x"}`, members},
		{"root", "admin", "POST", "/v1/groups/g/ack", `{"id":1}`, members},
		{"bob", "", "POST", "/v1/groups/p/messages", `{"body":"x"}`, posters},
		{"bob", "", "POST", "/v1/groups/p/messages", `{"kind":"reaction","target":4,"emoji":":x:"}`, posters},
		{"bob", "", "POST", "/v1/groups/p/messages", `{"kind":"edit","target":4,"body":"x"}`, posters},
		{"bob", "", "POST", "/v1/groups/p/messages", `{"body":"x","deliver_at":"` + later + `"}`, posters},
		{"bob", "", "POST", "/v1/schedules", `{"group":"p","body":"x","cron":"@daily"}`, posters},
		{"dora", "", "GET", "/v1/groups/p/messages", "", members},
		{"dora", "", "GET", "/v1/groups/p/members", "", members},
		{"dora", "", "GET", "/v1/groups/p/messages/2/receipts", "", members},
		{"dora", "", "GET", "/v1/groups/p/notify", "", members},
		{"dora", "", "POST", "/v1/groups/p/messages", `{"body":"x"}`, members},
		{"dora", "", "POST", "/v1/groups/p/messages", `{"body":"x","deliver_at":"` + later + `"}`, members},
		{"dora", "", "POST", "/v1/groups/p/messages", `{"kind":"edit","target":4,"body":"x"}`, members},
		{"dora", "", "POST", "/v1/groups/p/ack", `{"id":1}`, members},
		{"dora", "", "POST", "/v1/groups/p/unread", `{"id":1}`, members},
		{"dora", "", "DELETE", "/v1/groups/p/members/bob", "", members},
		{"dora", "", "DELETE", "/v1/groups/p", "", members},
	} {
		a := s.do(request{method: c.method, path: c.path, body: c.body, user: c.user, role: c.role})
		checkProblem(t, c.method+" "+c.path+" "+c.body, a, 403, "forbidden")
		if got := a.field("detail"); got != c.want {
			t.Errorf("%s %s %s: got %q, want %q", c.method, c.path, c.body, got, c.want)
		}
	}
}
