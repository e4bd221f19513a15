package web_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
)

// TestWebhooks registers a webhook over HTTP and has it told, on the embedded store. Its secret is in the answers that made
// it, in no other, and in no log.
func TestWebhooks(t *testing.T) {
	type call struct {
		header http.Header
		body   []byte
	}
	calls := make(chan call, 100)
	var answered atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- call{r.Header, body}
		if !answered.Swap(true) {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, "CANARY-ANSWER") //nolint:errcheck // the other end may be gone
		}
	}))
	defer receiver.Close()
	s := start(t, func(c *node.Config) { c.EgressAllow, c.Log = []string{"127.0.0.0/8"}, "debug" })
	root := func(method, path, body, key string) answer {
		t.Helper()
		r := request{method: method, path: path, body: body, user: "root", role: "admin"}
		if key != "" {
			r.header = map[string]string{"Idempotency-Key": key}
		}
		return s.do(r)
	}
	draft := `{"url":"` + receiver.URL + `/CANARY-PATH","events":["message.created"]}`
	made := root("POST", "/v1/webhooks", draft, "k")
	signed, _ := made.field("secret").(string)
	id, _ := made.field("id").(string)
	if made.status != http.StatusCreated || !strings.HasPrefix(signed, "whsec_") {
		t.Fatalf("got %d %s", made.status, made.body)
	}
	again := root("POST", "/v1/webhooks", draft, "k")
	if again.status != made.status || again.field("id") != id || again.field("secret") != nil || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("again: got %d %s, want %s without its secret", again.status, again.body, made.body)
	}
	checkProblem(t, "another request", root("POST", "/v1/webhooks", `{"url":"https://hooks.example/"}`, "k"), 409, "key_reused")
	for _, body := range []string{`{"url":"https://10.0.0.1/"}`, `{"url":"http://192.168.0.1/"}`, `{"url":"https://a@hooks.example/"}`, `{"url":"x"}`, `{"url":""}`, `{}`,
		`{"url":"https://hooks.example/","events":["nope"]}`, `{"url":"https://127.1/"}`} {
		checkProblem(t, body, root("POST", "/v1/webhooks", body, ""), 400, "invalid_request")
	}
	for _, path := range []string{"/v1/webhooks", "/v1/webhooks/" + id} {
		if a := root("GET", path, "", ""); a.status != 200 || !strings.Contains(a.body, id) || strings.Contains(a.body, "secret") || strings.Contains(a.body, "whsec_") {
			t.Errorf("%s: got %d %s", path, a.status, a.body)
		}
	}
	rotated, repeated := root("POST", "/v1/webhooks/"+id+"/rotate", "", "r"), root("POST", "/v1/webhooks/"+id+"/rotate", "", "r")
	newer, _ := rotated.field("secret").(string)
	if repeated.status != 200 || repeated.field("id") != id || repeated.field("secret") != nil {
		t.Errorf("the rotation again: got %d %s", repeated.status, repeated.body)
	}
	if rotated.status != 200 || newer == "" || newer == signed {
		t.Errorf("got %d %s", rotated.status, rotated.body)
	}

	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"CANARY-BODY"}`)
	var got call
	select {
	case got = <-calls:
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	for _, secret := range []string{signed, newer} {
		w, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Verify(got.body, got.header); err != nil {
			t.Error(err)
		}
	}
	if text := string(got.body); !strings.Contains(text, `"type":"message.created"`) || !strings.Contains(text, `"body":"CANARY-BODY"`) {
		t.Errorf("got %s", text)
	}
	harness.Eventually(t, 10*time.Second, "the failure is shown", func() error {
		a := root("GET", "/v1/webhooks/"+id, "", "")
		if a.field("last_error") != "answered 400" || a.field("failing_since") == nil || a.field("waiting") != 1.0 {
			return errors.New(a.body)
		}
		return nil
	})
	if a := root("GET", "/v1/webhooks", "", ""); strings.Contains(a.body, "CANARY-ANSWER") || !strings.Contains(a.body, `"waiting":1`) {
		t.Errorf("got %s", a.body)
	}
	if a := root("GET", "/v1/tasks?state=delayed&queue=egress", "", ""); !strings.Contains(a.body, "answered 400") || !strings.Contains(a.body, id) {
		t.Errorf("got %s, want the task of the webhook with why it failed", a.body)
	}
	for _, line := range []string{"chatd_webhooks_failing 1\n", "chatd_webhook_deliveries_waiting 1\n", "chatd_webhook_deliveries_waiting_bytes "} {
		if a := s.do(request{method: "GET", path: "/metrics"}); !strings.Contains(a.body, line) {
			t.Errorf("%q is not in the metrics", line)
		}
	}
	if a := root("DELETE", "/v1/webhooks/"+id, "", ""); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	checkProblem(t, "gone", root("GET", "/v1/webhooks/"+id, "", ""), 404, "not_found")
	s.close()
	host := strings.TrimPrefix(receiver.URL, "http://")
	if n := strings.Count(s.log.String(), "webhook delivery failed"); n != 1 || !strings.Contains(s.log.String(), host) {
		t.Errorf("the failure is in the log %d times, want once with %s:\n%s", n, host, s.log)
	}
	for _, canary := range []string{signed, newer, "CANARY", "whsec_"} {
		if strings.Contains(s.log.String(), canary) {
			t.Errorf("%s is in the log:\n%s", canary, s.log)
		}
	}
}

// TestBodiesOfWebhooksAreDescribed: each event, and a notification, is as the description says.
func TestBodiesOfWebhooksAreDescribed(t *testing.T) {
	bodies := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	defer receiver.Close()
	s := start(t, func(c *node.Config) { c.EgressAllow, c.NotifyDelay = []string{"127.0.0.0/8"}, "1ms" })
	described := map[string]string{
		"message.created": "MessageEvent", "message.edited": "MessageEvent", "message.deleted": "MessageEvent", "message.pinned": "MessageEvent", "message.unpinned": "MessageEvent", "message.reported": "MessageReportedEvent", "quorum.met": "QuorumEvent", "quorum.missed": "QuorumEvent", "message.action": "MessageActionEvent", "member.joined": "MessageEvent",
		"member.left": "MessageEvent", "member.muted": "MessageEvent", "member.banned": "MessageEvent", "member.requested": "MemberRequestedEvent", "group.created": "MessageEvent", "group.deleted": "GroupDeletedEvent",
		"schedule.failed": "ScheduleFailedEvent", "notification": "NotificationEvent",
	}
	a := s.do(request{method: "POST", path: "/v1/webhooks", body: `{"url":"` + receiver.URL + `"}`, user: "root", role: "admin"})
	if a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	s.must("bob", "PUT", "/v1/devices/phone", `{"kind":"webhook","url":"`+receiver.URL+`"}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	s.must("alice", "PUT", "/v1/groups/g/members/carl", "")                              // 3
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"hi","mentions":["bob"]}`) // 4
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"edit","target":4,"body":"ho"}`)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"oh"}`) // 6
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"delete","target":6}`)
	s.must("bob", "POST", "/v1/groups/g/messages/4/reports", `{"reason":"spam"}`)
	s.must("alice", "PUT", "/v1/groups/g/pins/4", "")
	s.must("alice", "PUT", "/v1/groups/g/members/root", "")
	asked := s.do(request{user: "root", role: "admin", method: "POST", path: "/v1/groups/g/messages", body: `{"body":"Deploy?","actions":[{"id":"yes","label":"Yes"}]}`})
	s.must("bob", "POST", fmt.Sprintf("/v1/groups/g/messages/%v/actions", asked.field("id")), `{"id":"yes","value":[1]}`)
	s.must("alice", "DELETE", "/v1/groups/g/pins/4", "")
	s.must("alice", "PUT", "/v1/groups/g/messages/4/quorum", `{"need":{"users":["bob"]},"until":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`)
	s.must("bob", "POST", "/v1/groups/g/read", `{"id":4}`)
	s.must("root", "PUT", fmt.Sprintf("/v1/groups/g/messages/%v/quorum", asked.field("id")), `{"need":{"count":100},"until":"`+time.Now().Add(2*time.Second).UTC().Format(time.RFC3339)+`"}`)
	at := time.Now().Add(2 * time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
	s.must("carl", "POST", "/v1/schedules", `{"group":"g","body":"x","at":"`+at+`"}`)
	s.must("alice", "PATCH", "/v1/groups/g/members/carl", `{"muted_until":"9999-12-31T00:00:00.000Z"}`)
	s.must("alice", "PUT", "/v1/groups/g/bans/carl", "")
	s.must("alice", "POST", "/v1/groups", `{"id":"ask","visibility":"public","join":"ask"}`)
	s.must("carl", "PUT", "/v1/groups/ask/requests/me", `{"note":"hi"}`)
	left := maps.Clone(described)
	for deadline := time.After(time.Minute); len(left) > 0; {
		select {
		case <-deadline:
			t.Fatalf("never got %v", slices.Collect(maps.Keys(left)))
		case body := <-bodies:
			kind, _ := (answer{body: body}).field("type").(string)
			schema := describedSchema(t, described[kind])
			if wrong := wrongValue(schema, body); wrong != "" {
				t.Errorf("%s\nis not as described: %s", body, wrong)
			}
			delete(left, kind)
			if _, notified := left["notification"]; !notified && len(left) == 1 {
				s.must("alice", "DELETE", "/v1/groups/g", "")
			}
		}
	}
}

// TestWebhookIsTested: an operator sends an event to it, signed, and learns what its endpoint answered. It says nothing of its deliveries.
func TestWebhookIsTested(t *testing.T) {
	status := make(chan int, 1)
	got := make(chan string, 1)
	var secret string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		signed, err := standardwebhooks.NewWebhook(secret)
		if err == nil {
			err = signed.Verify(body, r.Header)
		}
		if err != nil {
			t.Error(err)
		}
		got <- string(body)
		w.WriteHeader(<-status)
	}))
	s := start(t, func(c *node.Config) { c.EgressAllow = []string{"127.0.0.0/8"} })
	root := func(method, path, body string) answer {
		t.Helper()
		return s.do(request{method: method, path: path, body: body, user: "root", role: "admin"})
	}
	made := root("POST", "/v1/webhooks", `{"url":"`+receiver.URL+`","events":["group.deleted"]}`)
	secret, _ = made.field("secret").(string)
	path := "/v1/webhooks/" + made.field("id").(string)
	for _, code := range []int{204, 500} {
		status <- code
		a := root("POST", path+"/test", "")
		if a.status != 200 || a.field("delivered") != (code == 204) || a.field("status") != float64(code) || (a.field("error") == nil) != (code == 204) {
			t.Errorf("got %d %s, want what it answered: %d", a.status, a.body, code)
		}
		if wrong := wrongValue(describedSchema(t, "WebhookTestEvent"), <-got); wrong != "" {
			t.Error(wrong)
		}
	}
	receiver.Close()
	if a := root("POST", path+"/test", ""); a.status != 200 || a.field("delivered") != false || a.field("status") != nil || a.field("error") != "connection refused" {
		t.Errorf("nobody answers: got %d %s", a.status, a.body)
	}
	if a := root("GET", path, ""); a.field("failing_since") != nil || a.field("last_success_at") != nil || a.field("waiting") != 0.0 {
		t.Errorf("got %s, want no trace of tests", a.body)
	}
}
