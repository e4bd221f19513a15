package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// TestWords: lists of words decide about a message by any way, before a hook is asked, and a retry gets its first answer.
func TestWords(t *testing.T) {
	h := startHooked(t)
	if a := h.root("GET", "/v1/words", ""); a.status != 200 || strings.TrimSpace(a.body) != `{"refuse":[],"mask":[],"review":[]}` {
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

// TestGroupWords: a group has lists beside those of the server, on every node though the nodes hear nothing from each other, and
// they end with the group. Sends to other groups cost what they did.
func TestGroupWords(t *testing.T) {
	p := startPair(t)
	a, b := p.nodes[0], p.nodes[1]
	make := func(id string) {
		t.Helper()
		a.must("alice", "POST", "/v1/groups", `{"id":"`+id+`","members":["bob","ann"]}`)
	}
	make("g")
	make("other")
	a.must("alice", "PUT", "/v1/groups/g/members/ann", `{"role":"admin"}`)
	put := func(user, words string) {
		t.Helper()
		a.must(user, "PUT", "/v1/groups/g/words", words)
	}
	say := func(s *server, group, body string) answer {
		return s.do(request{method: "POST", path: "/v1/groups/" + group + "/messages", body: `{"body":"` + body + `"}`, user: "bob"})
	}
	refused := func(what string) {
		t.Helper()
		checkProblem(t, what+", here", say(a, "g", "casino"), 422, "refused")
		harness.Eventually(t, 5*time.Second, what+", there", func() error {
			if got := say(b, "g", "casino"); got.status != 422 || got.field("code") != "refused" {
				return fmt.Errorf("got %d %s", got.status, got.body)
			}
			return nil
		})
	}
	watch := p.redis.Watch(t)
	sends := func(group string) (n int) {
		t.Helper()
		watch.Take(t)
		if got := say(a, group, "fine"); got.status != 201 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		for _, line := range watch.Take(t) {
			if strings.Contains(line, ":g:"+group+":") {
				n++
			}
		}
		return n
	}
	sends("other")
	before := sends("other")
	p.mute(true)
	if got := a.must("ann", "GET", "/v1/groups/g/words", ""); strings.TrimSpace(got.body) != `{"refuse":[],"mask":[],"review":[]}` {
		t.Errorf("got %s", got.body)
	}
	put("alice", `{"refuse":["casino"],"mask":["damn"]}`)
	if got := b.must("ann", "GET", "/v1/groups/g/words", ""); strings.TrimSpace(got.body) != `{"refuse":["casino"],"mask":["damn"],"review":[]}` {
		t.Errorf("got %s", got.body)
	}
	refused("a new list")
	if after := sends("other"); after != before || before == 0 {
		t.Errorf("a send to a group without words: %d commands, want %d", after, before)
	}
	if got := say(b, "g", "Dämn it"); got.field("body") != "**** it" {
		t.Errorf("got %s", got.body)
	}
	if got := say(a, "other", "casino damn"); got.field("body") != "casino damn" {
		t.Errorf("got %s", got.body)
	}

	a.operator("PUT", "/v1/words", `{"refuse":["spam"],"mask":["damn it all"]}`)
	checkProblem(t, "a word of the server", say(a, "g", "spam"), 422, "refused")
	if got := say(a, "g", "so damn it all, damn"); got.field("body") != "so **** ** ***, ****" {
		t.Errorf("got %s", got.body)
	}
	a.operator("PUT", "/v1/words", `{}`)

	put("ann", `{"mask":["casino"]}`)
	harness.Eventually(t, 5*time.Second, "another list", func() error {
		if got := say(b, "g", "casino"); got.field("body") != "******" {
			return fmt.Errorf("got %d %s", got.status, got.body)
		}
		return nil
	})
	put("ann", `{"refuse":["casino"]}`)
	refused("the first list again")

	a.must("alice", "DELETE", "/v1/groups/g", "")
	make("g")
	for _, s := range p.nodes {
		if got := say(s, "g", "casino"); got.status != 201 {
			t.Errorf("a group with the same id: got %d %s", got.status, got.body)
		}
	}
	direct := a.must("alice", "PUT", "/v1/direct/bob", "").field("id").(string)
	checkProblem(t, "a direct group", a.do(request{method: "PUT", path: "/v1/groups/" + direct + "/words", body: `{"mask":["x"]}`, user: "root", role: "admin"}), 409, "conflict")
}
