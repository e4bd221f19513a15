package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/internal/harness"
)

func in(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339Nano) }

func TestDeliverAt(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	at := time.Now().Add(400 * time.Millisecond)
	for _, test := range []struct{ path, more string }{{"/v1/groups/g/messages", `,"mentions":["bob"],"reply_to":1`}, {"/v1/users/bob/messages", ""}} {
		send := func(body, more string) answer {
			return s.do(request{method: "POST", path: test.path, body: fmt.Sprintf(`{"body":%q,"client_id":"c","deliver_at":%q%s}`, body, at.Format(time.RFC3339Nano), more), user: "alice"})
		}
		first, again := send("hi", test.more), send("hi", test.more)
		if first.status != 202 || again.status != 200 || first.field("id") == nil || again.field("id") != first.field("id") || first.field("client_id") != "c" {
			t.Fatalf("%s: first %d %s, again %d %s", test.path, first.status, first.body, again.status, again.body)
		}
		if first.field("duplicate") != nil || again.field("duplicate") != true {
			t.Errorf("%s: got duplicate %v and then %v, want none and then true", test.path, first.field("duplicate"), again.field("duplicate"))
		}
		checkProblem(t, "other content", send("ho", test.more), 409, "key_reused")
		id, _ := first.field("id").(string)
		harness.Eventually(t, 10*time.Second, "the message is sent", func() error {
			if a := s.must("alice", "GET", "/v1/schedules/"+id, ""); a.field("state") != "done" || a.field("sent") != float64(1) {
				return errors.New(a.body)
			}
			return nil
		})
	}
	var page struct{ Messages []chat.Entry }
	if err := json.Unmarshal([]byte(s.must("bob", "GET", "/v1/groups/g/messages?after=2", "").body), &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Messages) != 1 || page.Messages[0].ClientID != "c" || page.Messages[0].ReplyTo != 1 || page.Messages[0].SentAt.Before(at.Truncate(time.Millisecond)) {
		t.Errorf("got %+v, want one message, not before %v", page.Messages, at)
	}
	for _, bad := range []string{`"kind":"delete","target":1`, `"kind":"edit","target":1,"body":"x"`, `"kind":"reaction","target":1,"emoji":"x"`} {
		a := s.do(request{method: "POST", path: "/v1/groups/g/messages", body: `{` + bad + `,"deliver_at":"` + in(time.Hour) + `"}`, user: "alice"})
		checkProblem(t, bad, a, 400, "invalid_request")
	}
	for _, path := range []string{"/v1/groups/g/messages", "/v1/users/bob/messages"} {
		a := s.do(request{method: "POST", path: path, body: `{"body":"x","deliver_at":"` + in(367*24*time.Hour) + `"}`, user: "alice"})
		checkProblem(t, "a year and more ahead", a, 400, "out_of_range")
		if detail, _ := a.field("detail").(string); !strings.HasPrefix(detail, "deliver_at: ") {
			t.Errorf("got detail %q, want it to name deliver_at", detail)
		}
	}
}

// TestSchedulesBelongToTheirOwner: what another asks for is not there, in the very words in which nothing is.
func TestSchedulesBelongToTheirOwner(t *testing.T) {
	s := start(t, nil)
	for i, visibility := range []string{"private", "public"} {
		group := s.newGroup(fmt.Sprintf("g%d", i), visibility)
		body := `{"group":"` + group + `","body":"x","at":"` + in(time.Hour) + `"}`
		outside := map[string]string{"private": "404", "public": "403"}[visibility]
		for caller, want := range map[string]string{"anonymous": "401", "non-member": outside, "ex-member": outside, "operator": "403", "member": "201", "admin": "201"} {
			for _, r := range []request{
				{method: "POST", path: "/v1/schedules", body: body},
				{method: "POST", path: "/v1/groups/" + group + "/messages", body: `{"body":"x","deliver_at":"` + in(time.Hour) + `"}`},
			} {
				want := want
				if want == "201" && r.path != "/v1/schedules" {
					want = "202"
				}
				if a := s.do(asCaller(caller, r)); fmt.Sprint(a.status) != want {
					t.Errorf("%s in a %s group as %s: got %d %s, want %s", r.path, visibility, caller, a.status, a.body, want)
				}
			}
		}
		id, _ := s.must("owner", "POST", "/v1/schedules", body).field("id").(string)
		for _, r := range []request{
			{method: "GET", path: "/v1/schedules/" + id}, {method: "PATCH", path: "/v1/schedules/" + id, body: `{"body":"y"}`},
			{method: "POST", path: "/v1/schedules/" + id + "/run"}, {method: "DELETE", path: "/v1/schedules/" + id},
		} {
			for _, caller := range []string{"non-member", "ex-member", "member", "admin"} {
				absent := r
				absent.path = strings.Replace(r.path, id, "p00-absent", 1)
				a, b := s.do(asCaller(caller, r)), s.do(asCaller(caller, absent))
				if a.status != 404 || a.body != b.body {
					t.Errorf("%s %s as %s: got %d %s, one that does not exist %s", r.method, r.path, caller, a.status, a.body, b.body)
				}
			}
			if a := s.do(asCaller("operator", r)); a.status >= 300 && !strings.HasSuffix(r.path, "/run") && r.method != "DELETE" {
				t.Errorf("%s as operator: got %d %s", r.method, a.status, a.body)
			}
		}
		if a := s.must("member", "GET", "/v1/schedules", ""); strings.Contains(a.body, `"owner":"owner"`) {
			t.Errorf("the list shows another's: %s", a.body)
		}
	}
}

func TestScheduleLife(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	create := func(key, body string) answer {
		return s.do(request{method: "POST", path: "/v1/schedules", body: body, user: "alice", header: map[string]string{"Idempotency-Key": key}})
	}
	body := `{"group":"g","body":"x","cron":"0 9 * * MON-FRI","timezone":"Europe/Berlin","misfire":"skip","count":5,"until":"2099-01-01T00:00:00+01:00"}`
	first, again := create("k", body), create("k", body)
	if first.status != 201 || again.status != 201 || again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
		t.Fatalf("first %d %s, again %d %s", first.status, first.body, again.status, again.body)
	}
	checkProblem(t, "other content", create("k", `{"group":"g","body":"y","cron":"@daily"}`), 409, "key_reused")
	id, _ := first.field("id").(string)
	path := "/v1/schedules/" + id
	if first.field("until") != "2098-12-31T23:00:00.000Z" || first.field("count") != float64(5) || first.field("misfire") != "skip" || first.field("last_id") != nil {
		t.Errorf("got %s", first.body)
	}
	patch := func(change string) answer {
		return s.do(request{method: "PATCH", path: path, body: change, user: "alice"})
	}
	if a := patch(`{"paused":true}`); a.field("state") != "paused" || a.field("next_at") != nil {
		t.Errorf("paused: got %s", a.body)
	}
	if a := patch(`{"paused":false,"body":"z","cron":"0 0 * * *"}`); a.field("state") != "pending" || a.field("next_at") == nil || a.field("body") != "z" {
		t.Errorf("goes on: got %s", a.body)
	}
	if a := s.must("alice", "POST", path+"/run", ""); a.field("state") != "pending" || a.field("sent") != float64(1) || a.field("last_id") != float64(3) {
		t.Errorf("sent now: got %s", a.body)
	}
	run := func(path, key string) answer {
		return s.do(request{method: "POST", path: path + "/run", user: "alice", header: map[string]string{"Idempotency-Key": key}})
	}
	ran, repeated := run(path, "r"), run(path, "r")
	if ran.field("sent") != float64(2) || ran.header.Get("Idempotency-Replayed") != "" || repeated.status != 200 || repeated.body != ran.body || repeated.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("sent now with a key: got %s, then %d %s", ran.body, repeated.status, repeated.body)
	}
	checkProblem(t, "the key of a creation", run(path, "k"), 409, "key_reused")
	checkProblem(t, "no key", run(path, strings.Repeat("k", 65)), 400, "invalid_request")
	for range 2 {
		if a := s.must("alice", "DELETE", path, ""); a.status != 204 {
			t.Errorf("cancel: got %d", a.status)
		}
	}
	checkProblem(t, "changed when cancelled", patch(`{"body":"x"}`), 409, "conflict")
	checkProblem(t, "sent when cancelled", s.do(request{method: "POST", path: path + "/run", user: "alice"}), 409, "conflict")
	done, _ := s.must("alice", "POST", "/v1/schedules", `{"user":"bob","body":"x","at":"2026-01-01T00:00:00Z"}`).field("id").(string)
	harness.Eventually(t, 10*time.Second, "a past one is sent at once", func() error {
		if a := s.must("alice", "GET", "/v1/schedules/"+done, ""); a.field("state") != "done" {
			return errors.New(a.body)
		}
		return nil
	})
	checkProblem(t, "cancelled when done", s.do(request{method: "DELETE", path: "/v1/schedules/" + done, user: "alice"}), 409, "conflict")
	var got []string
	for cursor := ""; ; {
		a := s.must("alice", "GET", "/v1/schedules?limit=1"+cursor, "")
		var page struct {
			Schedules []schedule.Schedule
			Next      *string
		}
		if err := json.Unmarshal([]byte(a.body), &page); err != nil {
			t.Fatal(err)
		}
		for _, v := range page.Schedules {
			got = append(got, v.ID+" "+string(v.State))
		}
		if page.Next == nil {
			break
		}
		cursor = "&cursor=" + *page.Next
	}
	if want := []string{id + " cancelled", done + " done"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	checkProblem(t, "a cursor of none", s.do(request{method: "GET", path: "/v1/schedules?cursor=x", user: "alice"}), 400, "invalid_request")
}
