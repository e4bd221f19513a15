package web_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// changed is the answer to a change of many members.
type changed struct {
	Added, Removed int
	Errors         []struct{ User, Code string }
}

func (s *server) changeMembers(user, group, body string) (c changed) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.must(user, "PUT", "/v1/groups/"+group+"/members", body).body), &c); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// TestManyMembersShareNotices adds and removes many users: 100 share a notice, at the creation of a group and later, and everybody
// sees the group at once.
func TestManyMembersShareNotices(t *testing.T) {
	s := start(t, nil)
	names := func(what string, n int) (quoted, drafts []string) {
		for i := range n {
			quoted = append(quoted, fmt.Sprintf(`"%s%03d"`, what, i))
			drafts = append(drafts, fmt.Sprintf(`{"user":"%s%03d"}`, what, i))
		}
		return quoted, drafts
	}
	notices := func(group string, after int) (all []map[string]any) {
		for {
			some := s.messages("alice", fmt.Sprintf("/v1/groups/%s/messages?limit=100&after=%d", group, after))
			if len(some) == 0 {
				return all
			}
			all, after = append(all, some...), after+len(some)
		}
	}
	first, _ := names("a", 999)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":[`+strings.Join(first, ",")+`]}`)
	got := notices("g", 0)
	if len(got) != 11 {
		t.Fatalf("a group of 1,000 begins with %d entries, want 11", len(got))
	}
	named := 0
	for _, m := range got[1:] {
		if users, _ := m["users"].([]any); m["notice"] == "joined" && m["user"] == nil {
			named += len(users)
		}
	}
	if g := s.must("a998", "GET", "/v1/groups/g", ""); named != 999 || g.field("members") != 1000.0 {
		t.Errorf("%d users are named, want 999: %s", named, g.body)
	}

	_, later := names("b", 250)
	add := `{"add":[` + strings.Join(later, ",") + `]}`
	if c := s.changeMembers("alice", "g", add); c.Added != 250 || len(c.Errors) != 0 {
		t.Errorf("added %+v", c)
	}
	if list := s.must("b249", "GET", "/v1/groups", "").body; !strings.Contains(list, `"id":"g"`) {
		t.Errorf("a new member's groups: %s", list)
	}
	if c := s.changeMembers("alice", "g", add); c.Added != 0 || len(c.Errors) != 0 {
		t.Errorf("added again: %+v", c)
	}
	if got := notices("g", 11); len(got) != 3 {
		t.Errorf("%d notices of 250 who joined, want 3", len(got))
	}
	gone, _ := names("b", 150)
	if c := s.changeMembers("alice", "g", `{"remove":["nobody","alice",`+strings.Join(gone, ",")+`],"add":[{"user":"b249","role":"owner"}]}`); c.Removed != 151 || c.Added != 0 || len(c.Errors) != 0 {
		t.Errorf("removed %+v", c)
	}
	if a := s.do(request{user: "b000", method: "GET", path: "/v1/groups/g"}); a.status != 404 {
		t.Errorf("a removed member reads the group: %d", a.status)
	}
	if g := s.must("b249", "GET", "/v1/groups/g", ""); g.field("members") != 1099.0 {
		t.Errorf("the group: %s", g.body)
	}

	// All members are listed once, though many joined with the same notice.
	var all []string
	for cursor := ""; ; {
		var page struct {
			Members []struct{ User string }
			Next    *string
		}
		if err := json.Unmarshal([]byte(s.must("b249", "GET", "/v1/groups/g/members?limit=30&cursor="+cursor, "").body), &page); err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Members {
			all = append(all, m.User)
		}
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	count := len(all)
	slices.Sort(all)
	if all = slices.Compact(all); count != 1099 || len(all) != 1099 {
		t.Errorf("listed %d members, %d of them different, want 1099", count, len(all))
	}
}

// TestChangingManyMembersIsRefusedAsForOne names users of whom some may not be added, changed or removed.
func TestChangingManyMembersIsRefusedAsForOne(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl"],"visibility":"public"}`)
	s.must("alice", "PUT", "/v1/groups/g/members/bob", `{"role":"admin"}`)
	c := s.changeMembers("bob", "g", `{"add":[{"user":"not an id"},{"user":"dora","role":"king"},{"user":"erin","role":"owner"},{"user":"fay","role":"admin"},{"user":"carl","role":"admin"}],"remove":["alice"]}`)
	if got, want := fmt.Sprint(c), "{1 0 [{not an id invalid_request} {dora invalid_request} {erin forbidden} {alice forbidden}]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if m := s.must("alice", "GET", "/v1/groups/g/members", "").body; strings.Count(m, `"role":"admin"`) != 3 || strings.Contains(m, "erin") {
		t.Errorf("the members: %s", m)
	}
	if c := s.changeMembers("gil", "g", `{"add":[{"user":"gil"}]}`); c.Added != 1 { // it is public
		t.Errorf("joining: %+v", c)
	}
	if a := s.do(request{user: "gil", method: "PUT", path: "/v1/groups/g/members", body: `{"add":[{"user":"hal"}]}`}); a.status != 403 {
		t.Errorf("a plain member adds: %d", a.status)
	}
	many := strings.Repeat(`"x",`, 1000) + `"x"`
	if a := s.do(request{user: "alice", method: "PUT", path: "/v1/groups/g/members", body: `{"remove":[` + many + `]}`}); a.status != 400 || a.field("code") != "out_of_range" {
		t.Errorf("more than 1,000: %d %s", a.status, a.body)
	}
}
