package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// quorumAt is the path of the quorum of a message.
func quorumAt(id int64) string { return fmt.Sprintf("/v1/groups/g/messages/%d/quorum", id) }

func ahead(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }

// quorumItems counts the reminders of a user.
func (s *server) quorumItems(user string) int {
	s.t.Helper()
	return strings.Count(s.must(user, "GET", "/v1/inbox", "").body, `"kind":"quorum"`)
}

// TestQuorum: who may ask, who counts, and how it ends.
func TestQuorum(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl","dora"]}`)
	m := s.says("bob", "g", "read this")
	s.must("alice", "PUT", "/v1/groups/g/members/late", "")
	stands := func(id int64, state string, of, read int, pending ...string) {
		t.Helper()
		a := s.must("dora", "GET", quorumAt(id), "")
		var list []string
		for _, user := range pending {
			list = append(list, fmt.Sprintf("%q", user))
		}
		if a.field("state") != state || a.field("of") != float64(of) || a.field("read") != float64(read) ||
			!strings.Contains(a.body, `"pending":[`+strings.Join(list, ",")+`]`) {
			t.Errorf("got %s, want %s, %d of %d, and %v", a.body, state, read, of, pending)
		}
		if wrong := wrongValue(describedSchema(t, "Quorum"), a.body); wrong != "" {
			t.Errorf("%s\nis not as described: %s", a.body, wrong)
		}
	}
	ask := func(user string, id int64, need string) answer {
		t.Helper()
		return s.do(request{user: user, method: "PUT", path: quorumAt(id), body: `{"need":` + need + `,"until":"` + ahead(time.Hour) + `","remind":[{"after_s":3600}]}`})
	}
	checkProblem(t, "asking for another's message", ask("carl", m, `{"count":1}`), 403, "forbidden")
	checkProblem(t, "two needs", ask("bob", m, `{"count":1,"percent":2}`), 400, "invalid_request")
	checkProblem(t, "no need", ask("bob", m, `{}`), 400, "invalid_request")
	checkProblem(t, "too much", ask("bob", m, `{"percent":101}`), 400, "out_of_range")
	checkProblem(t, "who came later", ask("bob", m, `{"users":["late"]}`), 400, "invalid_request")
	checkProblem(t, "none", s.do(request{user: "bob", method: "GET", path: quorumAt(m)}), 404, "not_found")
	if a := ask("bob", m, `{"percent":50}`); a.status != 201 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	stands(m, "open", 3, 0, "alice", "carl", "dora")
	if a := ask("alice", m, `{"percent":51}`); a.status != 200 { // 2 of 3
		t.Errorf("got %d %s", a.status, a.body)
	}
	s.must("late", "POST", "/v1/groups/g/read", fmt.Sprintf(`{"id":%d}`, m))
	s.must("bob", "POST", "/v1/groups/g/read", fmt.Sprintf(`{"id":%d}`, m))
	s.must("carl", "POST", "/v1/groups/g/read", fmt.Sprintf(`{"id":%d}`, m))
	stands(m, "open", 3, 1, "alice", "dora")
	s.must("dora", "POST", "/v1/groups/g/read", fmt.Sprintf(`{"id":%d}`, m))
	stands(m, "met", 3, 2, "alice")
	checkProblem(t, "asking again", ask("bob", m, `{"count":3}`), 409, "conflict")
	checkProblem(t, "cancelling", s.do(request{user: "bob", method: "DELETE", path: quorumAt(m)}), 409, "conflict")

	two := s.says("alice", "g", "and this")
	ask("alice", two, `{"users":["bob","carl"]}`)
	stands(two, "open", 2, 0, "bob", "carl")
	s.must("carl", "POST", "/v1/groups/g/read", fmt.Sprintf(`{"id":%d}`, two))
	s.must("bob", "DELETE", "/v1/groups/g/members/bob", "")
	harness.Eventually(t, 30*time.Second, "who has left does not count", func() error {
		if a := s.must("dora", "GET", quorumAt(two), ""); a.field("state") != "met" {
			return fmt.Errorf("got %s", a.body)
		}
		return nil
	})
	three := s.says("alice", "g", "and that")
	ask("alice", three, `{"count":3}`)
	checkProblem(t, "cancelling another's", s.do(request{user: "carl", method: "DELETE", path: quorumAt(three)}), 403, "forbidden")
	s.must("alice", "DELETE", quorumAt(three), "")
	s.must("alice", "DELETE", quorumAt(three), "")
	stands(three, "cancelled", 3, 0, "carl", "dora", "late")
	if a := ask("alice", three, `{"count":3}`); a.status != 201 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%d}`, three))
	stands(three, "cancelled", 3, 0, "carl", "dora", "late")
}

// TestQuorumReminders: each comes once, to who has not read, and what is missed is escalated.
func TestQuorumReminders(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl","boss"]}`)
	body := `{"body":"please","client_id":"c","quorum":{"need":{"count":3},"until":"` + ahead(5*time.Second) + `","remind":[{"after_s":1},{"after_s":2,"via":"push"}],"escalate":["boss"]}}`
	sent := s.must("alice", "POST", "/v1/groups/g/messages", body)
	s.must("alice", "POST", "/v1/groups/g/messages", body) // again
	id, _ := sent.field("id").(float64)
	s.must("bob", "POST", "/v1/groups/g/read", fmt.Sprintf(`{"id":%v}`, id))
	harness.Eventually(t, 60*time.Second, "it is missed", func() error {
		if a := s.must("bob", "GET", quorumAt(int64(id))+"?wait_s=10", ""); a.field("state") != "missed" {
			return fmt.Errorf("got %s", a.body)
		}
		if n := s.quorumItems("boss"); n < 1 || n > 3 {
			return fmt.Errorf("boss has %d", n)
		}
		return nil
	})
	for user, most := range map[string]int{"bob": 1, "carl": 2, "alice": 0} {
		if n := s.quorumItems(user); n > most {
			t.Errorf("%s got %d", user, n)
		}
	}
	item := s.must("boss", "GET", "/v1/inbox", "").body
	if !strings.Contains(item, fmt.Sprintf(`"group":"g","id":%v,"data":{"state":"missed","of":3,"read":1}`, id)) {
		t.Errorf("got %s", item)
	}
	if item := s.must("carl", "GET", "/v1/inbox", "").body; strings.Contains(item, "missed") {
		t.Errorf("carl got %s", item)
	}
	socket := s.sit("alice")
	say := func(key string) (id float64) {
		socket.say(`{"op":"send","ref":"` + key + `","group":"g","body":"over the socket","client_id":"over","quorum":{"need":{"count":1},"until":"` + ahead(time.Hour) + `"}}`)
		socket.await("ok", func(f map[string]any) bool {
			id, _ = f["id"].(float64)
			return f["ref"] == key
		})
		return id
	}
	over := int64(say("1"))
	if a := s.must("bob", "GET", quorumAt(over), ""); a.field("state") != "open" {
		t.Errorf("got %s", a.body)
	}
	s.must("alice", "DELETE", quorumAt(over), "")
	if again := int64(say("2")); again != over {
		t.Errorf("a retry became message %d, and not %d", again, over)
	}
	if a := s.must("bob", "GET", quorumAt(over), ""); a.field("state") != "cancelled" {
		t.Errorf("after a retry: got %s", a.body)
	}
	socket.say(`{"op":"send","ref":"3","group":"g","body":"x","deliver_at":"` + ahead(time.Hour) + `","quorum":{"need":{"count":1},"until":"` + ahead(time.Hour) + `"}}`)
	socket.await("error", func(f map[string]any) bool { return f["ref"] == "3" && f["code"] == "invalid_request" })
	checkProblem(t, "a quorum that is none", s.do(request{user: "alice", method: "POST", path: "/v1/groups/g/messages",
		body: `{"body":"x","quorum":{"need":{},"until":"` + ahead(time.Hour) + `"}}`}), 400, "invalid_request")
}
