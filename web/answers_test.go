package web_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
)

func TestIdempotencyKey(t *testing.T) {
	s := start(t, nil)
	create := func(user, key, body string) answer {
		return s.do(request{method: "POST", path: "/v1/groups", body: body, user: user, header: map[string]string{"Idempotency-Key": key}})
	}
	first := create("alice", "k", `{"name":"n","members":["bob"]}`)
	again := create("alice", "k", ` { "members": ["bob"], "name":"n" }`)
	if first.status != 201 || again.status != 201 || again.body != first.body {
		t.Errorf("first %d %s, again %d %s", first.status, first.body, again.status, again.body)
	}
	if first.header.Get("Idempotency-Replayed") != "" || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("replayed: first %q, again %q", first.header.Get("Idempotency-Replayed"), again.header.Get("Idempotency-Replayed"))
	}
	checkProblem(t, "other content", create("alice", "k", `{"name":"m"}`), 409, "key_reused")
	if other := create("bob", "k", `{"name":"n","members":["bob"]}`); other.status != 201 || other.field("id") == first.field("id") {
		t.Errorf("the key of another user: %d %s", other.status, other.body)
	}
	for _, key := range []string{strings.Repeat("k", 65), "a\tb", "ä"} {
		checkProblem(t, "key "+key, create("alice", key, `{}`), 400, "invalid_request")
	}
}

func TestSendAnswers(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	const path, body = "/v1/groups/g/messages", `{"body":"<hi> & \"bye\"","client_id":"c"}`
	send := func(query, body string) answer {
		return s.do(request{method: "POST", path: path + query, body: body, user: "alice"})
	}
	first := send("", body)
	if first.status != 201 || first.field("id") != float64(2) || first.field("duplicate") != nil || first.field("durability") != nil {
		t.Fatalf("first: %d %s", first.status, first.body)
	}
	if again := send("", body); again.status != 200 || again.field("duplicate") != true || again.field("id") != float64(2) || again.field("sent_at") != first.field("sent_at") {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	checkProblem(t, "other content", send("", `{"body":"other","client_id":"c"}`), 409, "key_reused")
	for _, level := range []string{"memory", "disk"} {
		if a := send("?durability="+level, `{"body":"x"}`); a.status != 201 || a.field("durability") != level {
			t.Errorf("durability %s: %d %s", level, a.status, a.body)
		}
	}
	if a := send("?durability=replica", `{"body":"x"}`); a.status != 201 || a.field("durability") == "replica" {
		t.Errorf("durability replica without one: %d %s", a.status, a.body)
	}
	header := map[string]string{"Idempotency-Key": "h"}
	byHeader := request{method: "POST", path: path, body: `{"body":"x"}`, user: "alice", header: header}
	if a := s.do(byHeader); a.status != 201 || a.field("client_id") != "h" {
		t.Errorf("with the key in the header: %d %s", a.status, a.body)
	}
	if a := s.do(byHeader); a.status != 200 || a.field("duplicate") != true {
		t.Errorf("again: %d %s", a.status, a.body)
	}
	direct := request{method: "POST", path: "/v1/users/bob/messages", body: `{"body":"x"}`, user: "alice", header: header}
	s.do(direct)
	if a := s.do(direct); a.status != 200 || a.field("duplicate") != true {
		t.Errorf("a direct message again: %d %s", a.status, a.body)
	}
	checkProblem(t, "durability", send("?durability=all", `{"body":"x"}`), 400, "invalid_request")
}

func TestConfiguredDurability(t *testing.T) {
	s := start(t, func(c *node.Config) { c.Durability = "disk" })
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	if a := s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"x"}`); a.field("durability") != "disk" {
		t.Errorf("got %s", a.body)
	}
}

// TestBatches checks that a page is the stored bytes, joined to valid JSON, with the fields of the wire contract.
func TestBatches(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	sent := s.must("alice", "POST", "/v1/groups/g/messages", `{"data":{"b":1,  "a":[null]},"kind":"data"}`)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"reaction","target":2,"emoji":"\ud83d\udc4d"}`)
	a := s.must("alice", "GET", "/v1/groups/g/messages?after=1&limit=1", "")
	var page struct {
		Group, Epoch, Cursor string
		From, To, First      int64
		Last                 int64
		Complete             bool
		HasMore              bool `json:"has_more"`
		Messages             []json.RawMessage
	}
	decoder := json.NewDecoder(strings.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&page); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	if page.Group != "g" || page.From != 2 || page.To != 2 || page.First != 1 || page.Last != 3 || !page.Complete || !page.HasMore || page.Cursor == "" {
		t.Errorf("page %+v", page)
	}
	if len(page.Messages) != 1 || !bytes.HasPrefix(page.Messages[0], []byte(strings.TrimSuffix(sent.body, "}\n"))) ||
		!bytes.HasSuffix(page.Messages[0], []byte(`,"reactions":{"👍":{"count":1,"mine":true}}}`)) {
		t.Errorf("message %s, want %s with its reactions", page.Messages, sent.body)
	}
	empty := s.must("alice", "GET", "/v1/groups/g/messages?after="+page.Cursor+"&limit=1000000", "")
	if !strings.Contains(empty.body, `"from":3,"to":3`) || !strings.Contains(empty.body, `"has_more":false`) {
		t.Errorf("after the cursor: %s", empty.body)
	}
}

// TestDrain stops a server while a long poll waits: it is answered at once, and the server says before that it is not ready.
func TestDrain(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	s.must("alice", "POST", "/v1/groups/g/ack", `{"id":1}`)
	answered := make(chan answer, 1)
	begin := time.Now()
	go func() {
		answered <- s.do(request{method: "POST", path: "/v1/sync", body: `{"wait_s":60}`, user: "alice"})
	}()
	s.waitFor(`chatd_requests_in_flight 2`) // the long poll, and the question
	s.close()
	a := <-answered
	if a.status != 200 || !strings.HasPrefix(a.body, `{"groups":[]`) {
		t.Errorf("the long poll: %d %s", a.status, a.body)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestDrainEndsConnections: a server that is about to stop serves on, and has its clients open new connections.
func TestDrainEndsConnections(t *testing.T) {
	s := start(t, func(c *node.Config) { c.DrainDelay = "3s" })
	if status, ends := s.connectionEnds("/livez"); status != 200 || ends {
		t.Errorf("before: got %d, connection ends: %v, want 200, false", status, ends)
	}
	s.stop()
	deadline := time.After(time.Minute)
	for s.do(request{method: "GET", path: "/readyz"}).status != 503 {
		select {
		case <-deadline:
			t.Fatal("readyz does not say no")
		default:
		}
	}
	if status, ends := s.connectionEnds("/livez"); status != 200 || !ends {
		t.Errorf("during the delay: got %d, connection ends: %v, want 200, true", status, ends)
	}
}

// connectionEnds makes a request, and reports its status and whether the response ends the connection.
func (s *server) connectionEnds(path string) (status int, ends bool) {
	s.t.Helper()
	resp, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Close
}

// waitFor returns when the metrics hold a line.
func (s *server) waitFor(line string) {
	s.t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(s.do(request{method: "GET", path: "/metrics"}).body, line) {
		select {
		case <-deadline:
			s.t.Fatalf("no %q in the metrics", line)
		default:
		}
	}
}

// TestAnswersEndTheLine: a prompt after `curl` begins on a line of its own.
func TestAnswersEndTheLine(t *testing.T) {
	s := start(t, nil)
	for _, r := range []request{
		{method: "POST", path: "/v1/groups", user: "alice", body: `{"id":"g"}`},
		{method: "POST", path: "/v1/groups", user: "alice", body: `{"id":"h"}`, header: map[string]string{"Idempotency-Key": "k"}},
		{method: "POST", path: "/v1/groups", user: "alice", body: `{"id":"h"}`, header: map[string]string{"Idempotency-Key": "k"}},
		{method: "POST", path: "/v1/groups/g/messages", user: "alice", body: `{"body":"x"}`},
		{method: "POST", path: "/v1/groups/g/ack", user: "alice", body: `{"id":1}`},
		{method: "POST", path: "/v1/sync", user: "alice", body: `{}`},
		{method: "GET", path: "/v1/groups/g/messages", user: "alice"},
		{method: "GET", path: "/v1/groups", user: "alice"},
		{method: "GET", path: "/v1/groups/none", user: "alice"},
		{method: "GET", path: "/v1/inbox", user: "alice"},
		{method: "GET", path: "/v1/unread"},
		{method: "GET", path: "/livez"},
		{method: "GET", path: "/readyz"},
		{method: "GET", path: "/nope"},
	} {
		if a := s.do(r); !strings.HasSuffix(a.body, "}\n") {
			t.Errorf("%s %s answered %q", r.method, r.path, a.body)
		}
	}
}
