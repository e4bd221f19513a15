package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWords: lists of words decide about a message by any way, before a hook is asked, and a retry gets its first answer.
func TestWords(t *testing.T) {
	h := startHooked(t)
	if a := h.root("GET", "/v1/words", ""); a.status != 200 || strings.TrimSpace(a.body) != `{"refuse":[],"mask":[]}` {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if a := h.root("PUT", "/v1/words", `{"refuse":["buy now","casino*"],"mask":["damn"]}`); a.status != 200 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	first := h.send(`{"body":"Dämn rain","client_id":"k"}`)
	if first.status != 201 || first.field("body") != "**** rain" {
		t.Errorf("got %d %s", first.status, first.body)
	}
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for _, c := range []struct{ path, body string }{
		{"/v1/groups/g/messages", `{"body":"Buy  NOW!"}`}, {"/v1/groups/g/messages", `{"data":{"a":["Casinos"]}}`},
		{"/v1/groups/g/messages", fmt.Sprintf(`{"kind":"edit","target":%v,"body":"casino"}`, first.field("id"))},
		{"/v1/groups/g/messages", `{"body":"casino","deliver_at":"` + later + `"}`}, {"/v1/users/bob/messages", `{"body":"casino"}`},
	} {
		checkProblem(t, c.body, h.do(request{method: "POST", path: c.path, body: c.body, user: "alice"}), 422, "refused")
	}
	if a := h.must("alice", "POST", "/v1/users/bob/messages", `{"body":"damn"}`); a.field("body") != "****" {
		t.Errorf("got %s", a.body)
	}
	h.hook("")
	if h.send(`{"body":"damn it"}`); h.questions()[0].Data.Message.Body != "**** it" {
		t.Errorf("the hook was asked %+v", h.questions())
	}
	checkProblem(t, "before the hook", h.send(`{"body":"casino"}`), 422, "refused")
	if n := len(h.questions()); n != 1 {
		t.Errorf("the hook was asked %d times, want 1", n)
	}
	h.root("PUT", "/v1/words", `{"refuse":["rain"]}`)
	if a := h.send(`{"body":"Dämn rain","client_id":"k"}`); a.status != 200 || a.field("id") != first.field("id") || a.field("body") != "**** rain" {
		t.Errorf("a retry: got %d %s, want %s", a.status, a.body, first.body)
	}
	if got := h.bodies("g"); !slices.Equal(got, []string{"**** rain", "**** it"}) {
		t.Errorf("got %q", got)
	}
}
