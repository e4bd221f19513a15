package web_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cells are the rows of the table of docs/users.md about who sees what of receipts: the setting, and what it says of each column.
func cells(t *testing.T) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/users.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text2, ok := strings.Cut(string(text), "| `receipts` of the group |")
	if !ok {
		t.Fatal("the docs have no such table")
	}
	for _, line := range strings.Split(text2, "\n")[2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		var row []string
		for _, cell := range strings.Split(strings.Trim(line, "| "), "|") {
			row = append(row, strings.Trim(strings.TrimSpace(cell), "`"))
		}
		rows = append(rows, row)
	}
	return rows
}

// TestHiding: who sees what, as the table in the docs has it, in a group of five: alice, who sent the message, and ann, bob, eve and
// hugo, who have all read it. hugo hides.
func TestHiding(t *testing.T) {
	s := start(t, nil)
	members := []string{"ann", "bob", "eve", "hugo"}
	if a := s.must("hugo", "GET", "/v1/me", ""); a.field("receipts") != "shown" {
		t.Fatalf("got %s", a.body)
	}
	checkProblem(t, "another word", s.do(request{method: "PATCH", path: "/v1/me", user: "hugo", body: `{"receipts":"x"}`}), 400, "invalid_request")
	if a := s.must("hugo", "PATCH", "/v1/me", `{"receipts":"hidden"}`); a.field("receipts") != "hidden" {
		t.Fatalf("got %s", a.body)
	}
	checkProblem(t, "another setting", s.do(request{method: "POST", path: "/v1/groups", user: "alice", body: `{"receipts":"x"}`}), 400, "invalid_request")
	if a := s.must("alice", "POST", "/v1/groups", `{}`); a.field("receipts") != "optional" {
		t.Fatalf("got %s", a.body)
	}
	who := regexp.MustCompile(`"user":"(\w+)"`)
	rows := cells(t)
	var settings []string
	for _, row := range rows {
		setting := row[0]
		settings = append(settings, setting)
		group := "g-" + setting
		s.must("alice", "POST", "/v1/groups", fmt.Sprintf(`{"id":%q,"members":["ann","bob","eve","hugo"],"receipts":%q}`, group, setting))
		id := s.says("alice", group, "x")
		for _, user := range members {
			s.must(user, "POST", "/v1/groups/"+group+"/read", fmt.Sprintf(`{"id":%d}`, id))
		}
		receipts := func(user string) (names, count string) {
			a := s.must(user, "GET", fmt.Sprintf("/v1/groups/%s/messages/%d/receipts", group, id), "")
			var list []string
			for _, m := range who.FindAllStringSubmatch(a.body, -1) {
				list = append(list, m[1])
			}
			if a.field("seen") != a.field("read") || a.field("seen") != a.field("members") {
				t.Errorf("%s: not all have read it: %s", setting, a.body)
			}
			return strings.Join(list, ", "), fmt.Sprint(a.field("seen"))
		}
		shown := func(user string) string {
			a := s.must(user, "GET", "/v1/groups/"+group+"/members", "")
			list, _ := a.field("members").([]any)
			var names []string
			for _, one := range list {
				m, _ := one.(map[string]any)
				if (m["seen"] == nil) != (m["read"] == nil) {
					t.Errorf("%s: one of the two is hidden: %s", setting, a.body)
				}
				if name, _ := m["user"].(string); m["seen"] != nil && name != user {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return strings.Join(names, ", ")
		}
		names, count := receipts("alice")
		hidersNames, _ := receipts("hugo")
		got := []string{setting, names, count, hidersNames, shown("alice"), shown("hugo")}
		for i := range got {
			if got[i] == "" {
				got[i] = "nobody"
			}
		}
		if !slices.Equal(got, row) {
			t.Errorf("the docs say\n%q\ngot\n%q", row, got)
		}
	}
	if !slices.Equal(settings, []string{"optional", "required", "counts", "off"}) {
		t.Errorf("the docs have rows for %q", settings)
	}

	// In a larger group who hides is counted.
	more := make([]string, 20)
	for i := range more {
		more[i] = fmt.Sprintf(`"m%d"`, i)
	}
	s.must("alice", "POST", "/v1/groups", `{"id":"large","members":["hugo",`+strings.Join(more, ",")+`]}`)
	id := s.says("alice", "large", "x")
	s.must("hugo", "POST", "/v1/groups/large/read", fmt.Sprintf(`{"id":%d}`, id))
	a := s.must("alice", "GET", fmt.Sprintf("/v1/groups/large/messages/%d/receipts?limit=1", id), "")
	if a.field("members") != 21.0 || a.field("seen") != 1.0 || a.field("read") != 1.0 || strings.Contains(a.body, "hugo") {
		t.Errorf("got %s", a.body)
	}
	// Shown again, it holds at once.
	s.must("hugo", "PATCH", "/v1/me", `{"receipts":"shown"}`)
	a = s.must("alice", "GET", fmt.Sprintf("/v1/groups/large/messages/%d/receipts?limit=1", id), "")
	if !strings.Contains(a.body, "hugo") {
		t.Errorf("got %s", a.body)
	}
}
