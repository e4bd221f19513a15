package web_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
)

// TestReceiptsWaitOverHTTP waits for the last ack; a server that stops answers what there is.
func TestReceiptsWaitOverHTTP(t *testing.T) {
	s := start(t, func(c *node.Config) { c.Archive = "off" })
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"keep":0}`)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"part"}`) // 3
	const path = "/v1/groups/g/messages/3/receipts"
	ask := func(path string) <-chan answer {
		answers := make(chan answer, 1)
		go func() { answers <- s.do(request{method: "GET", path: path, user: "alice"}) }()
		return answers
	}
	check := func(what string, answers <-chan answer, members, seen float64) {
		t.Helper()
		select {
		case a := <-answers:
			if a.status != http.StatusOK || a.field("members") != members || a.field("seen") != seen {
				t.Errorf("%s: got %d %s, want %v of %v", what, a.status, a.body, seen, members)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: no answer", what)
		}
	}
	check("no wait", ask(path), 1, 0)
	for _, bad := range []string{"-1", "x", "1.5"} {
		checkProblem(t, "wait_s="+bad, <-ask(path+"?wait_s="+bad), 400, "invalid_request")
	}
	waiting := ask(path + "?wait_s=60")
	s.waitFor(`chatd_requests_in_flight 2`) // it, and the question
	s.must("bob", "POST", "/v1/groups/g/ack", `{"id":3}`)
	check("acked", waiting, 1, 1)
	s.must("alice", "POST", "/v1/groups/g/ack", `{"id":3}`)
	if first := s.must("alice", "GET", "/v1/groups/g", "").field("first"); first != 4.0 {
		t.Fatalf("first is %v, want 4: nothing is trimmed", first)
	}
	check("trimmed", ask(path+"?wait_s=60"), 2, 2)
	checkProblem(t, "an id to come", <-ask("/v1/groups/g/messages/9/receipts"), 404, "not_found")

	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"last"}`) // 4
	waiting = ask("/v1/groups/g/messages/4/receipts?wait_s=60")
	s.waitFor(`chatd_requests_in_flight 2`)
	s.stop()
	check("stopped", waiting, 1, 0)
}
