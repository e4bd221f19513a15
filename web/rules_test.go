package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// TestMutes: who is muted reads until when from the refusal, the group and the list of members.
func TestMutes(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	until := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	got := s.must("alice", "PATCH", "/v1/groups/g/members/bob", `{"muted_until":"`+until+`","data":{"why":"spam"}}`)
	if got.field("muted_until") != until || !strings.Contains(got.body, `"why":"spam"`) {
		t.Errorf("got %s", got.body)
	}
	refused := s.do(request{user: "bob", method: "POST", path: "/v1/groups/g/messages", body: `{"body":"x"}`})
	checkProblem(t, "a send", refused, 403, "muted")
	if refused.field("until") != until {
		t.Errorf("got %s", refused.body)
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/groups/g/files", `{"name":"a","size":1}`},
		{"POST", "/v1/schedules", `{"group":"g","body":"x","at":"2036-01-01T00:00:00.000Z"}`},
	} {
		if a := s.do(request{user: "bob", method: c.method, path: c.path, body: c.body}); a.status < 400 {
			t.Errorf("%s is answered with %d %s", c.path, a.status, a.body)
		}
	}
	if own := s.must("bob", "GET", "/v1/groups/g", ""); own.field("muted_until") != until {
		t.Errorf("bob's view is %s", own.body)
	}
	if list := s.must("bob", "GET", "/v1/groups/g/members", ""); strings.Count(list.body, `"muted_until":"`+until+`"`) != 1 {
		t.Errorf("the members are %s", list.body)
	}
	if own := s.must("alice", "GET", "/v1/groups/g", ""); own.field("muted_until") != nil {
		t.Errorf("alice's view is %s", own.body)
	}
	notices := s.messages("bob", "/v1/groups/g/messages?after=2")
	if len(notices) != 2 || notices[0]["notice"] != "muted" || notices[0]["user"] != "bob" || notices[0]["muted_until"] != until {
		t.Errorf("got the notices %v", notices)
	}

	s.must("alice", "PATCH", "/v1/groups/g/members/bob", `{"muted_until":"9999-12-31T00:00:00.000Z"}`)
	refused = s.do(request{user: "bob", method: "POST", path: "/v1/groups/g/messages", body: `{"body":"x"}`})
	var problem map[string]any
	if err := json.Unmarshal([]byte(refused.body), &problem); err != nil {
		t.Fatal(err)
	}
	if end, has := problem["until"]; !has || end != nil {
		t.Errorf("a mute without an end is %s", refused.body)
	}
	s.must("alice", "PATCH", "/v1/groups/g/members/bob", `{"muted_until":null}`)
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"x"}`)

	for _, body := range []string{`{"muted_until":1}`, `{"muted_until":"tomorrow"}`, `{"muted_until":true}`} {
		checkProblem(t, body, s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g/members/bob", body: body}), 400, "invalid_request")
	}
	past := s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g/members/bob", body: `{"muted_until":"2020-01-01T00:00:00.000Z"}`})
	checkProblem(t, "the past", past, 400, "out_of_range")
	checkProblem(t, "a member", s.do(request{user: "bob", method: "PATCH", path: "/v1/groups/g/members/alice", body: `{"muted_until":null}`}), 403, "forbidden")
	checkProblem(t, "the owner", s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g/members/alice", body: `{"muted_until":"` + until + `"}`}), 403, "forbidden")
}

// TestSlowAndFrozenGroups: slow mode says how long to wait, and a frozen group takes announcements alone.
func TestSlowAndFrozenGroups(t *testing.T) {
	s := start(t, nil)
	made := s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"slow_s":600}`)
	if made.field("slow_s") != 600.0 {
		t.Errorf("got %s", made.body)
	}
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"x","client_id":"c"}`)
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"x","client_id":"c"}`)
	slowed := s.do(request{user: "bob", method: "POST", path: "/v1/groups/g/messages", body: `{"body":"y"}`})
	checkProblem(t, "slow mode", slowed, 429, "rate_limited")
	if wait := slowed.header.Get("Retry-After"); len(wait) != 3 {
		t.Errorf("Retry-After is %q", wait)
	}
	s.must("alice", "PATCH", "/v1/groups/g", `{"slow_s":0,"post":"none"}`)
	for _, user := range []string{"alice", "bob"} {
		checkProblem(t, user, s.do(request{user: user, method: "POST", path: "/v1/groups/g/messages", body: `{"body":"y"}`}), 403, "forbidden")
	}
	checkProblem(t, "too slow", s.do(request{user: "alice", method: "PATCH", path: "/v1/groups/g", body: `{"slow_s":21601}`}), 400, "out_of_range")
	s.must("alice", "PATCH", "/v1/groups/g", `{"post":"members"}`)
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"y"}`)
}

// TestBans: who is banned is out and stays out, whichever way they come, and learns no more than that.
func TestBans(t *testing.T) {
	s := start(t, withArchive(t))
	s.must("alice", "POST", "/v1/groups", `{"id":"p","name":"Public","visibility":"public","members":["bob","ann","ben"]}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","name":"Private","members":["bob"]}`)
	for _, admin := range []string{"ann", "ben"} {
		s.must("alice", "PUT", "/v1/groups/p/members/"+admin, `{"role":"admin"}`)
	}
	s.must("bob", "POST", "/v1/groups/p/messages", `{"body":"spam"}`)
	until := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	for _, c := range []struct {
		what, user, path, body string
		status                 int
		code                   string
	}{
		{"a member", "bob", "/v1/groups/p/bans/carl", "", 403, "forbidden"},
		{"a stranger of a private group", "carl", "/v1/groups/g/bans/bob", "", 404, "not_found"},
		{"an admin, an admin", "ann", "/v1/groups/p/bans/ben", "", 403, "forbidden"},
		{"an admin, the owner", "ann", "/v1/groups/p/bans/alice", "", 403, "forbidden"},
		{"the owner, themself", "alice", "/v1/groups/p/bans/alice", "", 403, "forbidden"},
		{"the past", "alice", "/v1/groups/p/bans/bob", `{"until":"2020-01-01T00:00:00.000Z"}`, 400, "out_of_range"},
		{"too few hours", "alice", "/v1/groups/p/bans/bob", `{"delete_hours":0}`, 400, "invalid_request"},
		{"too many hours", "alice", "/v1/groups/p/bans/bob", `{"delete_hours":169}`, 400, "out_of_range"},
		{"a long reason", "alice", "/v1/groups/p/bans/bob", `{"reason":"` + strings.Repeat("x", 201) + `"}`, 400, "invalid_request"},
	} {
		checkProblem(t, c.what, s.do(request{user: c.user, method: "PUT", path: c.path, body: c.body}), c.status, c.code)
	}
	_, toPublic := s.invite("alice", `{"group":"p","uses":9}`)
	_, toPrivate := s.invite("alice", `{"group":"g","uses":9}`)

	banned := s.do(request{user: "ann", method: "PUT", path: "/v1/groups/p/bans/bob", body: `{"reason":"spam","until":"` + until + `","delete_hours":168}`})
	if banned.status != 201 || banned.field("user") != "bob" || banned.field("reason") != "spam" || banned.field("until") != until || banned.field("by") != "ann" {
		t.Fatalf("got %d %s", banned.status, banned.body)
	}
	if again := s.must("ann", "PUT", "/v1/groups/p/bans/bob", `{"reason":"spam","until":"`+until+`"}`); again.status != 200 || again.body != banned.body {
		t.Errorf("a repeat: got %d %s", again.status, again.body)
	}
	s.must("alice", "PUT", "/v1/groups/g/bans/bob", "")
	if list := s.must("alice", "GET", "/v1/groups/p/bans", ""); !strings.Contains(list.body, strings.TrimSpace(banned.body)) || list.field("next") != nil {
		t.Errorf("the bans are %s", list.body)
	}
	for _, c := range []struct {
		what   string
		answer answer
		status int
		code   string
	}{
		{"a join", s.do(request{user: "bob", method: "PUT", path: "/v1/groups/p/members/bob"}), 403, "banned"},
		{"a join of a private group", s.do(request{user: "bob", method: "PUT", path: "/v1/groups/g/members/bob"}), 404, "not_found"},
		{"an invitation", s.do(request{user: "bob", method: "POST", path: "/v1/invites/accept", body: `{"code":"` + toPublic + `"}`}), 403, "banned"},
		{"an invitation to a private group", s.do(request{user: "bob", method: "POST", path: "/v1/invites/accept", body: `{"code":"` + toPrivate + `"}`}), 403, "banned"},
		{"being added", s.do(request{user: "alice", method: "PUT", path: "/v1/groups/p/members/bob"}), 409, "conflict"},
		{"being added by an operator", s.do(request{user: "root", role: "admin", method: "PUT", path: "/v1/groups/p/members/bob"}), 409, "conflict"},
		{"a send", s.do(request{user: "bob", method: "POST", path: "/v1/groups/p/messages", body: `{"body":"x"}`}), 403, "forbidden"},
		{"a read", s.do(request{user: "bob", method: "GET", path: "/v1/groups/p/messages"}), 403, "forbidden"},
		{"the bans", s.do(request{user: "bob", method: "GET", path: "/v1/groups/p/bans"}), 403, "forbidden"},
		{"the members", s.do(request{user: "bob", method: "GET", path: "/v1/groups/p/members"}), 403, "forbidden"},
		{"a private group", s.do(request{user: "bob", method: "GET", path: "/v1/groups/g"}), 404, "not_found"},
		{"the bans of a private group", s.do(request{user: "bob", method: "GET", path: "/v1/groups/g/bans"}), 404, "not_found"},
	} {
		checkProblem(t, c.what, c.answer, c.status, c.code)
		if c.code == "banned" && (strings.Contains(c.answer.body, "spam") || !strings.Contains(c.answer.body, `"until":`)) {
			t.Errorf("%s: got %s, want the end and no reason", c.what, c.answer.body)
		}
	}
	if bulk := s.must("alice", "PUT", "/v1/groups/p/members", `{"add":[{"user":"bob"},{"user":"carl"}]}`); !strings.Contains(bulk.body, `{"user":"bob","code":"conflict"}`) || bulk.field("added") != 1.0 {
		t.Errorf("got %s", bulk.body)
	}
	// What they can still learn, as docs/moderation.md has it.
	if public := s.must("bob", "GET", "/v1/groups/p", ""); public.field("name") != "Public" || public.field("role") != nil {
		t.Errorf("got %s", public.body)
	}
	if items := s.must("bob", "GET", "/v1/inbox", ""); strings.Contains(items.body, "spam") || strings.Count(items.body, `"kind":"removed"`) != 2 {
		t.Errorf("the inbox is %s", items.body)
	}
	harness.Eventually(t, 20*time.Second, "what they sent is deleted", func() error {
		if list := s.must("alice", "GET", "/v1/groups/p/messages?after=0", ""); strings.Contains(list.body, `"body":"spam"`) {
			return errors.New(list.body)
		}
		return nil
	})
	notices := []string{}
	for _, m := range s.messages("carl", "/v1/groups/p/messages?after=0") {
		if m["user"] == "bob" {
			notices = append(notices, fmt.Sprint(m["notice"], " ", m["until"], " ", m["reason"]))
		}
	}
	if want := []string{"removed <nil> <nil>", "banned " + until + " <nil>"}; !slices.Equal(notices, want) {
		t.Errorf("got the notices %q, want %q", notices, want)
	}

	s.must("ann", "DELETE", "/v1/groups/p/bans/bob", "")
	checkProblem(t, "no ban", s.do(request{user: "ann", method: "DELETE", path: "/v1/groups/p/bans/bob"}), 404, "not_found")
	if status, code := s.accept("bob", toPublic); status != 200 {
		t.Errorf("an invitation after the ban: %d %s", status, code)
	}
	direct := s.must("alice", "PUT", "/v1/direct/carl", "").field("id").(string)
	checkProblem(t, "a direct group", s.do(request{user: "root", role: "admin", method: "PUT", path: "/v1/groups/" + direct + "/bans/carl"}), 409, "conflict")
}

// TestRequests: where those who manage a group decide who joins, people ask, are answered once, and read what came of it.
func TestRequests(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"ask","visibility":"public","join":"ask"}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"open","visibility":"public"}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"closed","visibility":"public","join":"closed"}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"private"}`)
	for group, want := range map[string]string{"ask": "ask", "open": "open", "closed": "closed", "private": "closed"} {
		if got := s.must("alice", "GET", "/v1/groups/"+group, "").field("join"); got != want {
			t.Errorf("join of %s is %v", group, got)
		}
	}
	for _, c := range []struct {
		what, user, method, path, body string
		status                         int
		code                           string
	}{
		{"a join where one asks", "bob", "PUT", "/v1/groups/ask/members/bob", "", 403, "forbidden"},
		{"a join of a closed group", "bob", "PUT", "/v1/groups/closed/members/bob", "", 403, "forbidden"},
		{"a join of a private group", "bob", "PUT", "/v1/groups/private/members/bob", "", 404, "not_found"},
		{"asking a closed group", "bob", "PUT", "/v1/groups/closed/requests/me", "", 403, "forbidden"},
		{"asking a private group", "bob", "PUT", "/v1/groups/private/requests/me", "", 404, "not_found"},
		{"asking no group", "bob", "PUT", "/v1/groups/none/requests/me", "", 404, "not_found"},
		{"asking an open group", "bob", "PUT", "/v1/groups/open/requests/me", "", 409, "conflict"},
		{"asking as a member", "alice", "PUT", "/v1/groups/ask/requests/me", "", 409, "conflict"},
		{"a long note", "bob", "PUT", "/v1/groups/ask/requests/me", `{"note":"` + strings.Repeat("x", 501) + `"}`, 400, "invalid_request"},
		{"taking back nothing", "bob", "DELETE", "/v1/groups/ask/requests/me", "", 404, "not_found"},
		{"answering nobody", "alice", "PUT", "/v1/groups/ask/requests/bob", `{"accept":true}`, 404, "not_found"},
		{"a word that is none", "alice", "PATCH", "/v1/groups/ask", `{"join":"sometimes"}`, 400, "invalid_request"},
	} {
		checkProblem(t, c.what, s.do(request{user: c.user, method: c.method, path: c.path, body: c.body}), c.status, c.code)
	}

	// What a private group is told counts once it is public, told before or with that.
	for i, changes := range [][]string{{`{"visibility":"public","join":"closed"}`}, {`{"join":"closed"}`, `{"visibility":"public"}`}} {
		group := fmt.Sprintf("/v1/groups/turns%d", i)
		s.must("alice", "POST", "/v1/groups", fmt.Sprintf(`{"id":"turns%d"}`, i))
		for _, change := range changes {
			s.must("alice", "PATCH", group, change)
		}
		checkProblem(t, changes[0], s.do(request{user: "bob", method: "PUT", path: group + "/members/bob"}), 403, "forbidden")
		last := s.must("alice", "GET", group, "").field("last")
		if again := s.must("alice", "PATCH", group, `{"join":"closed"}`); again.field("last") != last {
			t.Errorf("a change to what is so already: %s", again.body)
		}
	}

	asked := s.do(request{user: "bob", method: "PUT", path: "/v1/groups/ask/requests/me", body: `{"note":"same class"}`})
	if asked.status != 201 || asked.field("user") != "bob" || asked.field("note") != "same class" {
		t.Fatalf("got %d %s", asked.status, asked.body)
	}
	if again := s.must("bob", "PUT", "/v1/groups/ask/requests/me", `{"note":"class of 2020"}`); again.status != 200 || again.field("at") != asked.field("at") {
		t.Errorf("asking again: got %d %s", again.status, again.body)
	}
	for _, user := range []string{"carl", "dora", "eve"} {
		s.must(user, "PUT", "/v1/groups/ask/requests/me", "")
	}
	s.must("eve", "DELETE", "/v1/groups/ask/requests/me", "")
	checkProblem(t, "a stranger reads", s.do(request{user: "eve", method: "GET", path: "/v1/groups/ask/requests"}), 403, "forbidden")
	checkProblem(t, "a stranger answers", s.do(request{user: "eve", method: "PUT", path: "/v1/groups/ask/requests/bob", body: `{"accept":true}`}), 403, "forbidden")
	list := func(query string) (users []string, next any) {
		t.Helper()
		a := s.must("alice", "GET", "/v1/groups/ask/requests"+query, "")
		var got struct{ Requests []struct{ User, Note string } }
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Requests {
			users = append(users, strings.TrimSpace(r.User+" "+r.Note))
		}
		return users, a.field("next")
	}
	if users, next := list(""); !slices.Equal(users, []string{"bob class of 2020", "carl", "dora"}) || next != nil {
		t.Errorf("the requests are %q, next %v", users, next)
	}
	users, next := list("?limit=2")
	more, _ := list(fmt.Sprintf("?limit=2&cursor=%v", next))
	if len(users) != 2 || !slices.Equal(more, []string{"dora"}) {
		t.Errorf("pages are %q and %q", users, more)
	}

	s.must("alice", "PUT", "/v1/groups/ask/requests/bob", `{"accept":true}`)
	s.must("alice", "PUT", "/v1/groups/ask/requests/carl", `{"accept":false}`)
	for _, user := range []string{"bob", "carl"} {
		checkProblem(t, "a second answer", s.do(request{user: "alice", method: "PUT", path: "/v1/groups/ask/requests/" + user, body: `{"accept":true}`}), 404, "not_found")
	}
	s.must("bob", "POST", "/v1/groups/ask/messages", `{"body":"hello"}`)
	checkProblem(t, "who was declined", s.do(request{user: "carl", method: "POST", path: "/v1/groups/ask/messages", body: `{"body":"x"}`}), 403, "forbidden")
	for user, accepted := range map[string]bool{"bob": true, "carl": false} {
		want := fmt.Sprintf(`"accepted":%v`, accepted)
		harness.Eventually(t, time.Minute, "the inbox of "+user, func() error {
			if a := s.must(user, "GET", "/v1/inbox", ""); strings.Count(a.body, `"kind":"request"`) != 1 || !strings.Contains(a.body, want) {
				return fmt.Errorf("it is %s", a.body)
			}
			return nil
		})
	}
	s.must("carl", "PUT", "/v1/groups/ask/requests/me", "") // who was declined may ask again

	// Who comes another way, or is banned, asks no longer.
	s.must("alice", "PUT", "/v1/groups/ask/members/dora", "")
	s.must("alice", "PUT", "/v1/groups/ask/bans/carl", "")
	if users, _ := list(""); len(users) > 0 {
		t.Errorf("%q still ask", users)
	}
	checkProblem(t, "asking while banned", s.do(request{user: "carl", method: "PUT", path: "/v1/groups/ask/requests/me"}), 403, "banned")
}
