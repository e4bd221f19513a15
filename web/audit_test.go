package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// audited are the actions of a page of the audit, and what follows it.
func (s *server) audited(user, role, query string) (actions []string, next string) {
	s.t.Helper()
	a := s.do(request{method: "GET", path: "/v1/audit?" + query, user: user, role: role})
	if a.status != 200 {
		s.t.Fatalf("GET /v1/audit?%s as %s: %d %s", query, user, a.status, a.body)
	}
	entries, _ := a.field("entries").([]any)
	for _, one := range entries {
		e, _ := one.(map[string]any)
		action, _ := e["action"].(string)
		actions = append(actions, action)
	}
	next, _ = a.field("next").(string)
	return actions, next
}

// TestAudit: operators find who did what in all groups, those who manage a group in theirs, and nobody else anything.
func TestAudit(t *testing.T) {
	s := start(t, nil)
	for _, g := range []string{"g", "h"} {
		s.must("alice", "POST", "/v1/groups", `{"id":"`+g+`","members":["bob","carl"]}`)
	}
	s.must("alice", "PUT", "/v1/groups/g/bans/bob", `{"reason":"spam"}`)
	s.must("alice", "PATCH", "/v1/groups/h/members/carl", `{"muted_until":"9999-12-31T00:00:00.000Z"}`)
	s.must("alice", "PUT", "/v1/groups/g/members/carl", `{"role":"admin"}`)
	s.must("alice", "POST", "/v1/groups/h/messages", `{"body":"nothing to note"}`)
	if got := s.do(request{method: "PUT", path: "/v1/groups/g/bans/alice", user: "carl", body: `{}`}); got.status != 403 {
		t.Errorf("a ban of the owner: %d %s", got.status, got.body)
	}

	for _, c := range []struct {
		user, role, query string
		want              []string
	}{
		{"op", "admin", "", []string{"member.role", "member.mute", "member.ban"}},
		{"op", "admin", "user=carl", []string{"member.role", "member.mute"}},
		{"op", "admin", "user=alice&action=member.ban", []string{"member.ban"}},
		{"op", "admin", "group=h", []string{"member.mute"}},
		{"op", "admin", "group=none", nil},
		{"alice", "", "group=g", []string{"member.role", "member.ban"}},
		{"carl", "", "group=g&user=bob", []string{"member.ban"}},
	} {
		if got, next := s.audited(c.user, c.role, c.query); !slices.Equal(got, c.want) || next != "" {
			t.Errorf("%s asks for %q: got %q, then %q, want %q", c.user, c.query, got, next, c.want)
		}
	}
	first, next := s.audited("op", "admin", "limit=2")
	second, end := s.audited("op", "admin", "limit=2&cursor="+url.QueryEscape(next))
	if got := slices.Concat(first, second); !slices.Equal(got, []string{"member.role", "member.mute", "member.ban"}) || end != "" {
		t.Errorf("page by page: got %q, then %q", got, end)
	}
	for path, want := range map[string]int{"": 403, "?group=g": 404, "?group=h": 403} {
		if a := s.do(request{method: "GET", path: "/v1/audit" + path, user: "bob"}); a.status != want {
			t.Errorf("bob asks for %q: %d %s, want %d", path, a.status, a.body, want)
		}
	}
	for _, query := range []string{"action=nope", "user=a%20b", "group=a~b", "cursor=a%20b", "limit=0", "what=x"} {
		checkProblem(t, query, s.do(request{method: "GET", path: "/v1/audit?" + query, user: "op", role: "admin"}), 400, "invalid_request")
	}
}

// TestAuditOfAnEarlierGroup: who makes a group by the name of one that is gone sees nothing of that one.
func TestAuditOfAnEarlierGroup(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	s.must("alice", "PUT", "/v1/groups/g/bans/bob", `{}`)
	s.must("alice", "DELETE", "/v1/groups/g", "")
	s.must("eve", "POST", "/v1/groups", `{"id":"g"}`)
	s.must("eve", "PUT", "/v1/groups/g/bans/nobody", `{}`)
	if got, _ := s.audited("eve", "", "group=g"); !slices.Equal(got, []string{"member.ban"}) {
		t.Errorf("the new owner sees %q", got)
	}
	if got, _ := s.audited("op", "admin", "group=g"); !slices.Equal(got, []string{"member.ban", "group.delete", "member.ban"}) {
		t.Errorf("an operator sees %q", got)
	}
}

// TestAuditOfTheServer: what operators do to users and to what belongs to the whole server. An erased user is not named.
func TestAuditOfTheServer(t *testing.T) {
	s := start(t, nil)
	operate := func(method, path, body string) answer {
		t.Helper()
		a := s.operate(method, path, body, nil)
		if a.status >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
		}
		return a
	}
	made := func(path, body string) string {
		t.Helper()
		id, _ := operate("POST", path, body).field("id").(string)
		return path + "/" + id
	}
	operate("POST", "/v1/users/me/revoke", `{"before":"2026-11-20T10:00:00Z"}`) // what people do to themselves is not noted
	operate("POST", "/v1/users/me/disconnect", "")
	key := made("/v1/keys", `{"name":"bot","scopes":["read"],"as":"any"}`)
	for range 2 {
		operate("PATCH", key, `{"name":"robot"}`)
	}
	operate("POST", key+"/rotate", "")
	operate("DELETE", key, "")
	hook := made("/v1/hooks", `{"url":"https://hooks.example/"}`)
	operate("PATCH", hook, `{"timeout_ms":700}`)
	operate("DELETE", hook, "")
	webhook := made("/v1/webhooks", `{"url":"https://hooks.example/"}`)
	operate("POST", webhook+"/rotate", "")
	operate("DELETE", webhook, "")
	invitation := made("/v1/invites", `{"uses":2}`)
	for range 2 {
		operate("DELETE", invitation, "")
	}
	for range 2 {
		operate("PUT", "/v1/words", `{"refuse":["zzz"]}`)
		operate("PUT", "/v1/users", `{"users":[{"user":"bob","disabled":true,"role":"admin"}]}`)
	}
	operate("PUT", "/v1/users", `{"users":[{"user":"bob","disabled":false,"role":null}]}`)
	operate("POST", "/v1/users/bob/revoke", "")
	operate("POST", "/v1/users/bob/disconnect", "")
	for _, path := range []string{"/v1/keys", "/v1/hooks", "/v1/webhooks"} {
		if a := s.do(request{method: "DELETE", path: path + "/absent", user: "carl"}); a.status != 403 {
			t.Errorf("DELETE %s/absent as carl: %d %s", path, a.status, a.body)
		}
		if a := s.operate("DELETE", path+"/absent", "", nil); a.status != 404 {
			t.Errorf("DELETE %s/absent: %d %s", path, a.status, a.body)
		}
	}
	want := []string{"key.create", "key.update", "key.rotate", "key.delete", "hook.create", "hook.update", "hook.delete", "webhook.create", "webhook.rotate", "webhook.delete",
		"invite.create", "invite.revoke", "words.update", "user.disable", "user.role", "user.enable", "user.role", "user.revoke", "user.disconnect"}
	got, _ := s.audited("op", "admin", "limit=100")
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	erasure, _ := operate("DELETE", "/v1/users/bob", "").field("id").(string)
	harness.Eventually(t, 20*time.Second, "the erasure is done", func() error {
		if a := s.operate("GET", "/v1/erasures/"+erasure, "", nil); a.field("state") != "done" {
			return fmt.Errorf("%d %s", a.status, a.body)
		}
		return nil
	})
	if got, _ := s.audited("op", "admin", "user=bob"); len(got) > 0 {
		t.Errorf("bob is named in %q", got)
	}
	a := s.operate("GET", "/v1/audit?action=user.erase", "", nil)
	if !strings.Contains(a.body, `"detail":{"erasure":"`+erasure+`"}`) || strings.Contains(a.body, "bob") {
		t.Errorf("the erasure: %s", a.body)
	}
	if got, _ := s.audited("op", "admin", "user=op&limit=100"); len(got) != len(want)+1 {
		t.Errorf("op did %q", got)
	}
}

// TestAuditOfMessages: who deletes a message of somebody else is named, also where a report was the reason.
func TestAuditOfMessages(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl"]}`)
	var ids []any
	for range 3 {
		ids = append(ids, s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"x"}`).field("id"))
	}
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%v}`, ids[0]))
	s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%v,"client_id":"k"}`, ids[1]))
	s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%v,"client_id":"k"}`, ids[1]))
	report, _ := s.must("carl", "POST", fmt.Sprintf("/v1/groups/g/messages/%v/reports", ids[2]), `{"reason":"spam"}`).field("id").(string)
	s.must("alice", "POST", "/v1/reports/"+report, `{"action":"delete"}`)
	if got, _ := s.audited("op", "admin", "user=alice"); !slices.Equal(got, []string{"report.close", "message.delete", "message.delete"}) {
		t.Errorf("got %q", got)
	}
	if a := s.must("alice", "GET", "/v1/audit?group=g&user=bob&action=message.delete", ""); !strings.Contains(a.body, fmt.Sprintf(`"user":"bob","detail":{"target":%v}`, ids[1])) {
		t.Errorf("got %s", a.body)
	}
}

// TestAuditOfAccounts: what operators do to accounts, not what people do to their own.
func TestAuditOfAccounts(t *testing.T) {
	s := start(t, withOpenAccounts)
	s.registers("alice")
	if a := s.operator("POST", "/v1/accounts", `{"user":"bob","password":"`+rightWord+`","role":"admin"}`); a.status != 201 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	for _, kind := range []string{"reset", "link"} {
		if a := s.operator("POST", "/v1/users/alice/codes", `{"kind":"`+kind+`"}`); a.status != 201 {
			t.Fatalf("got %d %s", a.status, a.body)
		}
	}
	own := s.logs("alice")
	s.logs("alice")
	if a := s.with(own.Token, "DELETE", "/v1/me/logins", ""); a.status != 204 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	var list struct{ Logins []struct{ ID string } }
	if err := json.Unmarshal([]byte(s.operator("GET", "/v1/users/alice/logins", "").body), &list); err != nil || len(list.Logins) != 1 {
		t.Fatalf("got %v, %v", list, err)
	}
	for _, want := range []int{204, 404} {
		if a := s.do(request{method: "DELETE", path: "/v1/users/alice/logins/" + list.Logins[0].ID, user: "operator", role: "admin"}); a.status != want {
			t.Errorf("got %d %s, want %d", a.status, a.body, want)
		}
	}
	for query, want := range map[string][]string{
		"": {"account.logout", "account.link", "account.reset", "user.role", "account.create"}, "user=bob": {"user.role", "account.create"},
		"user=operator&action=user.role": {"user.role"},
	} {
		if got, _ := s.audited("operator", "admin", query); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

// TestAuditOfReports: nobody sees what became of a report about themself, and those who manage a group no legal hold.
func TestAuditOfReports(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["ann","bob"]}`)
	s.must("alice", "PUT", "/v1/groups/g/members/ann", `{"role":"admin"}`)
	s.must("ann", "POST", "/v1/groups/g/messages", `{"body":"x"}`)
	last := s.must("ann", "GET", "/v1/groups/g", "").field("last")
	report, _ := s.must("bob", "POST", fmt.Sprintf("/v1/groups/g/messages/%v/reports", last), `{"reason":"spam"}`).field("id").(string)
	s.must("alice", "POST", "/v1/reports/"+report, `{"action":"dismiss"}`)
	if a := s.operate("PUT", "/v1/groups/g/hold", `{"reason":"a case"}`, nil); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for user, want := range map[string][]string{"alice": {"report.close", "member.role"}, "ann": {"member.role"}} {
		if got, _ := s.audited(user, "", "group=g"); !slices.Equal(got, want) {
			t.Errorf("%s sees %q, want %q", user, got, want)
		}
	}
	if got, _ := s.audited("op", "admin", "group=g"); !slices.Equal(got, []string{"group.hold", "report.close", "member.role"}) {
		t.Errorf("an operator sees %q", got)
	}
	a := s.must("alice", "GET", "/v1/audit?group=g&action=report.close", "")
	if strings.Contains(a.body, "bob") || !strings.Contains(a.body, `"action":"dismiss"`) {
		t.Errorf("the report: %s", a.body)
	}
}
