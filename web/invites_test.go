package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// invite makes an invitation and returns its id and its code.
func (s *server) invite(user, body string) (id, code string) {
	s.t.Helper()
	a := s.must(user, "POST", "/v1/invites", body)
	id, _ = a.field("id").(string)
	code, _ = a.field("code").(string)
	if url, _ := a.field("url").(string); a.status != 201 || !strings.HasSuffix(url, "/#invite="+code) || len(code) < 26 {
		s.t.Fatalf("got %d %s", a.status, a.body)
	}
	return id, code
}

// accept uses a code and returns the status and the problem.
func (s *server) accept(user, code string) (int, string) {
	s.t.Helper()
	a := s.do(request{method: "POST", path: "/v1/invites/accept", user: user, body: fmt.Sprintf(`{"code":%q}`, code)})
	if a.status == 200 {
		return 200, ""
	}
	return a.status, a.code()
}

// TestInvitation: a code shows what it is for, lets one join, and costs nothing again until they have left.
func TestInvitation(t *testing.T) {
	s := start(t, nil)
	s.must("ann", "POST", "/v1/groups", `{"id":"g","name":"Trip","members":["bob"]}`)
	id, code := s.invite("ann", `{"group":"g","role":"admin","uses":2,"note":"for cid"}`)
	open := func(code string) answer {
		return s.do(request{method: "POST", path: "/v1/invites/check", body: fmt.Sprintf(`{"code":%q}`, code)})
	}
	a := open(code)
	if a.status != 200 || a.field("group_name") != "Trip" || a.field("members") != 2.0 || a.field("from_name") != "ann" || a.field("server") == nil {
		t.Errorf("got %d %s", a.status, a.body)
	}
	checkProblem(t, "another code", open(code[:len(code)-1]+"b"), 404, "not_found") // no code ends like this
	checkProblem(t, "no code", open("x"), 404, "not_found")
	for _, step := range []struct {
		what, user string
		status     int
		code       string
		used       float64
	}{
		{"a member", "bob", 200, "", 0},
		{"the first", "cid", 200, "", 1},
		{"a repeat", "cid", 200, "", 1},
		{"the second", "dan", 200, "", 2},
		{"one more", "eve", 410, "gone", 2},
		{"a repeat of the last", "dan", 200, "", 2},
	} {
		if status, problem := s.accept(step.user, code); status != step.status || problem != step.code {
			t.Errorf("%s: got %d %s", step.what, status, problem)
		}
		list := s.must("bob", "GET", "/v1/groups/g/members", "").body
		if strings.Contains(list, step.user) != (step.status == 200) {
			t.Errorf("%s: got %s", step.what, list)
		}
		if list := s.must("ann", "GET", "/v1/invites?group=g", ""); !strings.Contains(list.body, fmt.Sprintf(`"used":%v,`, step.used)) || strings.Contains(list.body, code) {
			t.Errorf("%s: got %s", step.what, list.body)
		}
	}
	checkProblem(t, "used up", open(code), 410, "gone")
	s.must("cid", "DELETE", "/v1/groups/g/members/cid", "")
	if status, _ := s.accept("cid", code); status != 410 {
		t.Errorf("who left came back without a use: %d", status)
	}
	checkProblem(t, "a member revokes", s.do(request{method: "DELETE", path: "/v1/invites/" + id, user: "bob"}), 404, "not_found")
	if a := s.do(request{method: "DELETE", path: "/v1/invites/" + id, user: "ann"}); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}

	// dan, an admin by the invitation, invites and loses the right to.
	_, other := s.invite("dan", `{"group":"g"}`)
	revokedID, revoked := s.invite("dan", `{"group":"g"}`)
	s.must("dan", "DELETE", "/v1/invites/"+revokedID, "")
	s.must("ann", "PUT", "/v1/groups/g/members/dan", `{"role":"member"}`)
	for what, code := range map[string]string{"of who lost the right": other, "revoked": revoked} {
		if status, problem := s.accept("eve", code); status != 410 || problem != "gone" {
			t.Errorf("%s: got %d %s", what, status, problem)
		}
		checkProblem(t, what, open(code), 410, "gone")
	}
	_, soon := s.invite("ann", `{"group":"g","expires_at":"`+time.Now().Add(1100*time.Millisecond).UTC().Format(time.RFC3339Nano)+`"}`)
	for status := 200; status != 410; { // the time comes
		status = open(soon).status
	}
	if status, problem := s.accept("eve", soon); status != 410 || problem != "gone" {
		t.Errorf("expired: got %d %s", status, problem)
	}
	_, last := s.invite("ann", `{"group":"g"}`)
	s.must("ann", "DELETE", "/v1/groups/g", "")
	if status, _ := s.accept("eve", last); status != 404 && status != 410 {
		t.Errorf("of a deleted group: got %d", status)
	}
}

// TestLastUseOfAnInvitation has 50 callers redeem it: one joins.
func TestLastUseOfAnInvitation(t *testing.T) {
	s := start(t, nil)
	s.must("ann", "POST", "/v1/groups", `{"id":"g"}`)
	_, code := s.invite("ann", `{"group":"g"}`)
	answers := make([]int, 50)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i], _ = s.accept(fmt.Sprint("u", i), code) })
	}
	wg.Wait()
	count := map[int]int{}
	for _, status := range answers {
		count[status]++
	}
	if a := s.must("ann", "GET", "/v1/groups/g", ""); count[200] != 1 || count[410] != 49 || a.field("members") != 2.0 {
		t.Errorf("got %v and %s", count, a.body)
	}
}

// TestInvitationIsMadeOnce: a retry answers the same id without the code, which is stored nowhere.
func TestInvitationIsMadeOnce(t *testing.T) {
	s := start(t, nil)
	s.must("ann", "POST", "/v1/groups", `{"id":"g"}`)
	for _, c := range []struct{ user, role, body string }{{"ann", "", `{"group":"g"}`}, {"root", "admin", `{"uses":3}`}} {
		r := request{method: "POST", path: "/v1/invites", user: c.user, role: c.role, body: c.body, header: map[string]string{"Idempotency-Key": "k"}}
		first, again := s.do(r), s.do(r)
		if first.status != 201 || again.status != 201 || first.field("id") != again.field("id") || first.field("code") == nil || again.field("code") != nil || again.field("url") != nil {
			t.Errorf("got %d %s, then %d %s", first.status, first.body, again.status, again.body)
		}
	}
}

// TestInvitationsAreForManagers: who may make them, and for what.
func TestInvitationsAreForManagers(t *testing.T) {
	s := start(t, nil)
	s.must("ann", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	direct := s.must("ann", "PUT", "/v1/direct/bob", "").field("id").(string)
	for _, c := range []struct {
		user, role, body string
		status           int
		code             string
	}{
		{"bob", "", `{"group":"g"}`, 403, "forbidden"},
		{"eve", "", `{"group":"g"}`, 404, "not_found"},
		{"ann", "", `{"group":"none"}`, 404, "not_found"},
		{"ann", "", `{}`, 403, "forbidden"},
		{"ann", "", `{"group":"g","role":"owner"}`, 400, "invalid_request"},
		{"ann", "", `{"group":"g","uses":0}`, 400, "invalid_request"},
		{"ann", "", `{"group":"g","uses":1001}`, 400, "out_of_range"},
		{"ann", "", `{"group":"g","expires_at":"2020-01-01T00:00:00Z"}`, 400, "out_of_range"},
		{"ann", "", `{"group":"` + direct + `"}`, 409, "conflict"},
		{"root", "admin", `{"role":"member"}`, 400, "invalid_request"},
	} {
		checkProblem(t, c.user+" "+c.body, s.do(request{method: "POST", path: "/v1/invites", user: c.user, role: c.role, body: c.body}), c.status, c.code)
	}
	a := s.do(request{method: "POST", path: "/v1/invites", user: "root", role: "admin", body: `{"group":"g"}`})
	code, _ := a.field("code").(string)
	if status, _ := s.accept("eve", code); a.status != 201 || status != http.StatusOK {
		t.Errorf("of an operator: got %d, %s", status, a.body)
	}
}
