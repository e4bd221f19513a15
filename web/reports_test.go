package web_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// reportsFor are the bodies of the messages that are reported, as somebody sees them.
func (s *server) reportsFor(user, role, path string) (bodies []string) {
	s.t.Helper()
	a := s.do(request{user: user, role: role, method: "GET", path: path})
	if a.status != 200 {
		s.t.Fatalf("%s: got %d %s", path, a.status, a.body)
	}
	list, _ := a.field("reports").([]any)
	for _, r := range list {
		report, _ := r.(map[string]any)
		message, _ := report["message"].(map[string]any)
		bodies = append(bodies, fmt.Sprint(message["body"]))
	}
	return bodies
}

// reported reports a message as carl, and returns the id of the report.
func (s *server) reported(group string, id any) string {
	s.t.Helper()
	report, _ := s.must("carl", "POST", fmt.Sprintf("/v1/groups/%s/messages/%v/reports", group, id), `{"reason":"spam"}`).field("id").(string)
	return report
}

// TestReports: what a member reports is kept as it read, whatever becomes of it, and the author learns nothing.
func TestReports(t *testing.T) {
	s := start(t, withArchive(t))
	s.must("alice", "POST", "/v1/groups", `{"id":"g","keep":0,"members":["ann","bob","carl","dora"]}`)
	s.must("alice", "PUT", "/v1/groups/g/members/ann", `{"role":"admin"}`)
	spam := s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"first words"}`)
	path := fmt.Sprintf("/v1/groups/g/messages/%v/reports", spam.field("id"))

	first := s.must("carl", "POST", path, `{"reason":"spam","note":"line one\nline two"}`)
	if first.status != 201 || first.field("by") != "carl" || first.field("from") != "bob" || first.field("target") != spam.field("id") || first.field("message") != nil {
		t.Fatalf("got %d %s", first.status, first.body)
	}
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"edit","target":%v,"body":"other words"}`, spam.field("id")))
	s.must("dora", "POST", path, `{"reason":"worse"}`)
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%v}`, spam.field("id")))
	if again := s.must("carl", "POST", path, `{"reason":"spam again"}`); again.status != 200 || again.body != first.body {
		t.Errorf("a repeat: got %d %s, want %s", again.status, again.body, first.body)
	}
	checkProblem(t, "a deleted message", s.do(request{user: "ann", method: "POST", path: path, body: `{"reason":"late"}`}), 404, "not_found")
	want := []string{"other words", "first words"}
	for _, list := range [][]string{s.reportsFor("alice", "", "/v1/groups/g/reports"), s.reportsFor("root", "admin", "/v1/reports"), s.reportsFor("root", "admin", "/v1/groups/g/reports")} {
		if !slices.Equal(list, want) {
			t.Errorf("got %q, want %q", list, want)
		}
	}
	page := s.must("alice", "GET", "/v1/groups/g/reports?limit=1", "")
	if rest := s.reportsFor("alice", "", fmt.Sprintf("/v1/groups/g/reports?cursor=%v", page.field("next"))); !slices.Equal(rest, want[1:]) {
		t.Errorf("the second page is %q", rest)
	}

	for _, c := range []struct {
		what, user, path, body string
		status                 int
		code                   string
	}{
		{"nobody's message", "carl", "/v1/groups/g/messages/900/reports", `{"reason":"x"}`, 404, "not_found"},
		{"one's own", "alice", fmt.Sprintf("/v1/groups/g/messages/%v/reports", s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"y"}`).field("id")), `{"reason":"x"}`, 400, "invalid_request"},
		{"a notice", "carl", "/v1/groups/g/messages/1/reports", `{"reason":"x"}`, 400, "invalid_request"},
		{"no reason", "carl", path, `{"reason":"  "}`, 400, "invalid_request"},
		{"a long reason", "carl", path, `{"reason":"` + strings.Repeat("x", 201) + `"}`, 400, "invalid_request"},
		{"a long note", "carl", path, `{"reason":"x","note":"` + strings.Repeat("x", 1001) + `"}`, 400, "invalid_request"},
		{"a stranger", "eve", path, `{"reason":"x"}`, 404, "not_found"},
	} {
		checkProblem(t, c.what, s.do(request{user: c.user, method: "POST", path: c.path, body: c.body}), c.status, c.code)
	}
	for user, status := range map[string]int{"bob": 403, "eve": 404} {
		if a := s.do(request{user: user, method: "GET", path: "/v1/groups/g/reports"}); a.status != status {
			t.Errorf("%s lists the reports: got %d %s", user, a.status, a.body)
		}
	}

	// An admin who is reported sees nothing of it, nor can anybody who is reported find it in what is theirs.
	about := s.must("ann", "POST", "/v1/groups/g/messages", `{"body":"of an admin"}`)
	id := s.reported("g", about.field("id"))
	if list := s.reportsFor("ann", "", "/v1/groups/g/reports"); !slices.Equal(list, want) {
		t.Errorf("the reported sees %q", list)
	}
	checkProblem(t, "the reported decides", s.do(request{user: "ann", method: "POST", path: "/v1/reports/" + id, body: `{"action":"dismiss"}`}), 404, "not_found")
	s.must("alice", "POST", "/v1/reports/"+id, `{"action":"delete"}`)
	for _, path := range []string{"/v1/groups/g/messages?after=0", "/v1/inbox", "/v1/me/export"} {
		if a := s.must("ann", "GET", path, ""); strings.Contains(a.body, `"spam"`) || strings.Contains(a.body, id) {
			t.Errorf("%s: the reported finds %s", path, a.body)
		}
	}
	if a := s.must("carl", "GET", "/v1/me/export", ""); !strings.Contains(a.body, `{"report":{"id":"`+fmt.Sprint(first.field("id"))) || strings.Contains(a.body, "first words") {
		t.Errorf("the export of who reported is %s", a.body)
	}

	// The archive has what is trimmed here: it can be reported, too, and goes with its author.
	trimmed := s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"long ago"}`)
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"the end"}`)
	for _, user := range []string{"alice", "ann", "bob", "carl", "dora"} {
		s.must(user, "POST", "/v1/groups/g/ack", fmt.Sprintf(`{"id":%v}`, s.must(user, "GET", "/v1/groups/g", "").field("last")))
	}
	s.reported("g", trimmed.field("id"))
	if list := s.reportsFor("ann", "", "/v1/groups/g/reports"); !slices.Equal(list, append([]string{"long ago"}, want...)) {
		t.Errorf("got %q", list)
	}
	s.must("bob", "DELETE", "/v1/me", "")
	harness.Eventually(t, 30*time.Second, "the reports of an erased person are gone", func() error {
		if list := s.reportsFor("root", "admin", "/v1/reports"); len(list) > 0 {
			return fmt.Errorf("there are %q", list)
		}
		return nil
	})
}

// TestDecisions: each action does what it says in the name of who decides, once, and closes the report; one that is refused does not.
func TestDecisions(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["ann","bob","carl"]}`)
	s.must("alice", "PUT", "/v1/groups/g/members/ann", `{"role":"admin"}`)
	say := func(user string) any {
		return s.must(user, "POST", "/v1/groups/g/messages", `{"body":"spam"}`).field("id")
	}
	decide := func(user, role, id, body string) answer {
		return s.do(request{user: user, role: role, method: "POST", path: "/v1/reports/" + id, body: body})
	}
	until := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")

	ofOwner := s.reported("g", say("alice"))
	checkProblem(t, "a ban of the owner", decide("root", "admin", ofOwner, `{"action":"ban"}`), 403, "forbidden")
	checkProblem(t, "a member", decide("bob", "", ofOwner, `{"action":"dismiss"}`), 404, "not_found")
	checkProblem(t, "the reporter", decide("carl", "", ofOwner, `{"action":"dismiss"}`), 404, "not_found")
	for _, body := range []string{`{"action":"praise"}`, `{}`, `{"action":"delete","until":"` + until + `"}`, `{"action":"mute","until":"tomorrow"}`} {
		checkProblem(t, body, decide("ann", "", ofOwner, body), 400, "invalid_request")
	}
	if a := decide("ann", "", ofOwner, `{"action":"dismiss"}`); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	checkProblem(t, "a second time", decide("ann", "", ofOwner, `{"action":"dismiss"}`), 404, "not_found")

	message := say("bob")
	if a := decide("root", "admin", s.reported("g", message), `{"action":"delete"}`); a.status != 204 { // who is no member
		t.Errorf("got %d %s", a.status, a.body)
	}
	deleted := fmt.Sprintf(`"from":"root","kind":"delete","target":%v`, message)
	if a := s.must("alice", "GET", "/v1/groups/g/messages?after=0", ""); !strings.Contains(a.body, deleted) {
		t.Errorf("want %s in %s", deleted, a.body)
	}
	if a := decide("alice", "", s.reported("g", say("bob")), `{"action":"mute","until":"`+until+`"}`); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if m := s.must("bob", "GET", "/v1/groups/g", ""); m.field("muted_until") != until {
		t.Errorf("got %s", m.body)
	}
	s.must("alice", "PATCH", "/v1/groups/g/members/bob", `{"muted_until":null}`)
	toMute, toBan := s.reported("g", say("bob")), s.reported("g", say("bob"))
	if a := decide("alice", "", toBan, `{"action":"ban"}`); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if bans := s.must("alice", "GET", "/v1/groups/g/bans", ""); !strings.Contains(bans.body, `"user":"bob","reason":"spam","until":null,"by":"alice"`) {
		t.Errorf("got %s", bans.body)
	}
	checkProblem(t, "a mute of who is gone", decide("alice", "", toMute, `{"action":"mute"}`), 409, "conflict")
	if list := s.reportsFor("alice", "", "/v1/groups/g/reports"); len(list) != 1 {
		t.Errorf("open are %q, want the one whose action was refused", list)
	}

	// Of many who decide at once, one does.
	s.must("alice", "PUT", "/v1/groups/g/members/dora", "")
	last := say("dora")
	id := s.reported("g", last)
	answers := make(chan answer, 8)
	for i := range cap(answers) {
		go func() {
			answers <- decide([]string{"alice", "ann", "root"}[i%3], []string{"", "", "admin"}[i%3], id, `{"action":"delete"}`)
		}()
	}
	done := 0
	for range cap(answers) {
		switch a := <-answers; {
		case a.status == 204:
			done++
		case a.status != 404 && a.status != 409:
			t.Errorf("got %d %s", a.status, a.body)
		}
	}
	deletion := fmt.Sprintf(`"kind":"delete","target":%v`, last)
	if a := s.must("alice", "GET", "/v1/groups/g/messages?after=0", ""); done != 1 || strings.Count(a.body, deletion) != 1 {
		t.Errorf("%d did, and the log is %s", done, a.body)
	}
	s.must("alice", "DELETE", "/v1/groups/g", "")
	if list := s.reportsFor("root", "admin", "/v1/reports"); len(list) > 0 {
		t.Errorf("a group that is gone has left %q", list)
	}
}

// TestReportAgainstDelete: a message that is deleted while it is reported is reported as it read, or not at all.
func TestReportAgainstDelete(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl"]}`)
	want := 0
	for range 20 {
		id := s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"spam"}`).field("id")
		deleted := make(chan answer)
		go func() {
			deleted <- s.do(request{user: "bob", method: "POST", path: "/v1/groups/g/messages", body: fmt.Sprintf(`{"kind":"delete","target":%v}`, id)})
		}()
		a := s.do(request{user: "carl", method: "POST", path: fmt.Sprintf("/v1/groups/g/messages/%v/reports", id), body: `{"reason":"x"}`})
		switch {
		case a.status == 201:
			want++
		case a.status != 404:
			t.Errorf("got %d %s", a.status, a.body)
		}
		if d := <-deleted; d.status != 201 {
			t.Fatal(errors.New(d.body))
		}
	}
	list := s.reportsFor("alice", "", "/v1/groups/g/reports")
	if len(list) != want || slices.ContainsFunc(list, func(body string) bool { return body != "spam" }) {
		t.Errorf("got %q, want %d as they read", list, want)
	}
}
