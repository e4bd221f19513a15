package web_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// messages are the messages of a page, as generic JSON.
func (s *server) messages(user, path string) []map[string]any {
	s.t.Helper()
	var page struct{ Messages []map[string]any }
	if err := json.Unmarshal([]byte(s.must(user, "GET", path, "").body), &page); err != nil {
		s.t.Fatal(err)
	}
	return page.Messages
}

// TestNoticesCarryWhatChanged reads the notices of changes as a member who was away: they say what changed, and only that.
func TestNoticesCarryWhatChanged(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","name":"G","members":["bob"]}`)                                             // 1, 2
	s.must("alice", "PATCH", "/v1/groups/g", `{"name":"H"}`)                                                                     // 3
	s.must("alice", "PATCH", "/v1/groups/g", `{"name":"","keep":3,"post":"members"}`)                                            // 4, 5: post is what it was
	s.must("alice", "PATCH", "/v1/groups/g", `{"keep":0,"post":"admins","visibility":"public","backlog_max":7,"history":false}`) // 6
	s.must("alice", "PUT", "/v1/groups/g/members/bob", `{"role":"admin"}`)                                                       // 7
	s.must("alice", "PATCH", "/v1/groups/g", `{"keep":0,"post":"admins","visibility":"public","backlog_max":7,"history":false}`) // nothing
	want := []map[string]any{
		{"notice": "renamed", "name": "H"},
		{"notice": "renamed", "name": ""},
		{"notice": "settings", "settings": map[string]any{"keep": 3.0}},
		{"notice": "settings", "settings": map[string]any{"keep": 0.0, "post": "admins", "visibility": "public", "backlog_max": 7.0, "history": false}},
		{"notice": "role", "user": "bob", "role": "admin"},
	}
	got := s.messages("bob", "/v1/groups/g/messages?after=2")
	for _, m := range got {
		for _, field := range []string{"group", "id", "from", "kind", "sent_at"} {
			delete(m, field)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestGroupsTotal pages through the caller's groups: every page counts all of them, and none of others.
func TestGroupsTotal(t *testing.T) {
	s := start(t, nil)
	for i := range 3 {
		s.must("alice", "POST", "/v1/groups", fmt.Sprintf(`{"id":"g%d"}`, i))
	}
	s.must("bob", "POST", "/v1/groups", `{"id":"other","visibility":"public"}`)
	path, pages := "/v1/groups?limit=2", 0
	for ; path != ""; pages++ {
		a := s.must("alice", "GET", path, "")
		if got := a.field("total"); got != 3.0 {
			t.Errorf("%s: total %v, want 3", path, got)
		}
		path = ""
		if next, _ := a.field("next").(string); next != "" {
			path = "/v1/groups?limit=2&cursor=" + next
		}
	}
	if pages != 2 {
		t.Errorf("got %d pages, want 2", pages)
	}
	if got := s.must("carl", "GET", "/v1/groups", "").field("total"); got != 0.0 {
		t.Errorf("a newcomer: total %v, want 0", got)
	}
}

// TestExistsRevealsNothingElse creates groups with ids that are taken. No matter who asks, and what the draft says, the
// answer is the same for a private group, a public one and the caller's own: nothing of the group, nor who is in it.
func TestExistsRevealsNothingElse(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"private","name":"Secret","members":["bob"]}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"known","name":"Known","visibility":"public"}`)
	s.must("carl", "POST", "/v1/groups", `{"id":"own","name":"Mine","post":"admins"}`)
	s.must("carl", "POST", "/v1/groups", `{"id":"blocking","overflow":"block","keep":0}`)
	want := ""
	for _, user := range []string{"carl", "bob", "dora"} {
		for _, id := range []string{"private", "known", "own", "blocking"} {
			for _, rest := range []string{``, `,"name":"Secret"`, `,"members":["alice","bob"]`, `,"visibility":"public","overflow":"block"`} {
				a := s.do(request{method: "POST", path: "/v1/groups", body: `{"id":"` + id + `"` + rest + `}`, user: user})
				what := user + " creates " + id + rest
				checkProblem(t, what, a, 409, "exists")
				got := a.body
				for _, name := range slices.Sorted(maps.Keys(a.header)) {
					if name != "Date" && !strings.HasPrefix(name, "Ratelimit") && name != "X-Request-Id" {
						got += "\n" + name + ": " + strings.Join(a.header[name], ", ")
					}
				}
				if want == "" {
					want = got
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: the first answer -, this one +:\n%s", what, diff)
				}
			}
		}
	}
}

// TestDirectGroup opens the group of two users from both sides and tries to change who is in it.
func TestDirectGroup(t *testing.T) {
	s := start(t, nil)
	made := s.must("bob", "PUT", "/v1/direct/auth0%7Cann", "")
	again := s.must("auth0|ann", "PUT", "/v1/direct/bob", "")
	if made.status != 201 || again.status != 200 || made.field("id") != again.field("id") || !strings.Contains(again.body, `"direct":["auth0|ann","bob"]`) {
		t.Errorf("got %d %s, then %d %s", made.status, made.body, again.status, again.body)
	}
	group, _ := made.field("id").(string)
	for _, c := range []struct {
		user, role, method, path, body string
		status                         int
		code                           string
	}{
		{"bob", "", "PUT", "/v1/direct/bob", "", 400, "invalid_request"},
		{"bob", "", "PUT", "/v1/groups/" + group + "/members/cid", "", 409, "conflict"},
		{"root", "admin", "PUT", "/v1/groups/" + group + "/members/cid", "", 409, "conflict"},
		{"root", "admin", "PUT", "/v1/groups/" + group + "/members", `{"add":[{"user":"cid"}]}`, 409, "conflict"},
		{"bob", "", "DELETE", "/v1/groups/" + group + "/members/bob", "", 409, "conflict"},
		{"bob", "", "DELETE", "/v1/groups/" + group + "/members/auth0%7Cann", "", 409, "conflict"},
		{"cid", "", "DELETE", "/v1/groups/" + group + "/members/bob", "", 404, "not_found"},
	} {
		checkProblem(t, c.method+" "+c.path, s.do(request{method: c.method, path: c.path, user: c.user, role: c.role, body: c.body}), c.status, c.code)
	}
	s.must("bob", "POST", "/v1/groups/"+group+"/messages", `{"body":"hi"}`)
	if list := s.must("auth0|ann", "GET", "/v1/groups", ""); !strings.Contains(list.body, `"direct":["auth0|ann","bob"]`) || !strings.Contains(list.body, `"unread":1`) {
		t.Errorf("got %s", list.body)
	}
}
