package web_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

const draftPath = "/v1/groups/ours/draft"

// TestDrafts: what the routes answer, and what the user's sessions get, on another node as well.
func TestDrafts(t *testing.T) {
	p := startPair(t)
	s := p.nodes[0]
	s.must("alice", "POST", "/v1/groups", `{"id":"ours","members":["bob"]}`)
	sessions := []*websocket.Conn{s.live(token(t, "alice", ""), ""), p.nodes[1].live(token(t, "alice", ""), "")}
	others := s.live(token(t, "bob", ""), "")
	hear := func(want string) {
		t.Helper()
		for i, session := range sessions {
			if got := nextDraft(t, session); got != want {
				t.Errorf("session %d got %s, want %s", i, got, want)
			}
		}
	}
	call := func(method, body string) answer {
		t.Helper()
		return s.do(request{user: "alice", method: method, path: draftPath, body: body})
	}

	checkProblem(t, "without one", call("GET", ""), 404, "not_found")
	const first = `{"body":"Shall we","data":{"a":[1]},"reply_to":41,"thread":7,"rev":3}`
	for range 2 {
		if got := call("PUT", first); got.status != 200 || got.body != first+"\n" {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
	hear(`{"op":"draft","group":"ours",` + first[1:])
	if got := p.nodes[1].must("alice", "GET", draftPath, ""); got.body != first+"\n" {
		t.Errorf("got %s", got.body)
	}
	for name, body := range map[string]string{"an older one": `{"body":"x","rev":2}`, "the same with other content": `{"body":"x","rev":3}`} {
		checkProblem(t, name, call("PUT", body), 409, "conflict")
	}
	checkProblem(t, "no revision", call("PUT", `{"body":"x"}`), 400, "invalid_request")
	checkProblem(t, "a revision of 0", call("PUT", `{"body":"x","rev":0}`), 400, "invalid_request")
	if got := call("PUT", `{"body":"","data":null,"rev":4}`); got.body != `{"body":"","rev":4}`+"\n" {
		t.Errorf("got %d %s", got.status, got.body)
	}
	hear(`{"op":"draft","group":"ours","body":"","rev":4}`)
	if export := s.must("alice", "GET", "/v1/me/export", ""); !strings.Contains(export.body, `{"draft":{"group":"ours","body":"","rev":4}}`) {
		t.Errorf("the export is %s", export.body)
	}
	for range 2 {
		if got := call("DELETE", ""); got.status != 204 {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
	hear(`{"op":"draft","group":"ours","deleted":true}`)
	checkProblem(t, "deleted", call("GET", ""), 404, "not_found")

	longest := strings.Repeat("x", 16<<10-len(`{"a":1}`))
	checkProblem(t, "too long", call("PUT", `{"body":"x`+longest+`","data":{"a":1},"rev":1}`), 413, "too_large")
	if got := call("PUT", `{"body":"`+longest+`","data":{"a": 1},"rev":1}`); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
	hear(`{"op":"draft","group":"ours","body":"` + longest + `","data":{"a":1},"rev":1}`)
	s.must("bob", "PUT", draftPath, `{"body":"mine","rev":1}`)
	if got := nextDraft(t, others); got != `{"op":"draft","group":"ours","body":"mine","rev":1}` {
		t.Errorf("bob's session got %s", got)
	}
}

// TestDraftsAreListed: all that the caller has begun to write, page by page, of this life of their groups.
func TestDraftsAreListed(t *testing.T) {
	s := start(t, nil)
	c, err := client.New(s.url, client.StaticToken(token(t, "alice", "")))
	if err != nil {
		t.Fatal(err)
	}
	if list, next, err := c.ListDrafts(t.Context(), client.Page{}); err != nil || len(list) != 0 || next != "" {
		t.Errorf("got %v, %q, %v", list, next, err)
	}
	var want []string
	for i := range 45 {
		group := fmt.Sprintf("g%02d", i)
		s.must("alice", "POST", "/v1/groups", `{"id":"`+group+`","members":["bob"]}`)
		s.must("alice", "PUT", "/v1/groups/"+group+"/draft", fmt.Sprintf(`{"body":"in %s","reply_to":%d,"rev":%d}`, group, i+1, i+1))
		want = append(want, fmt.Sprint(group, " in ", group, " ", i+1, " ", i+1))
	}
	s.must("bob", "PUT", "/v1/groups/g00/draft", `{"body":"mine","rev":1}`)
	for _, limit := range []int{0, 7, 1000} {
		var got []string
		for page, more := (client.Page{Limit: limit}), true; more; more = page.Cursor != "" {
			list, next, err := c.ListDrafts(t.Context(), page)
			if most := []int{20, limit}[min(limit, 1)]; err != nil || len(list) == 0 || len(list) > min(most, 20) {
				t.Fatalf("a page of %d: got %d drafts, %v", limit, len(list), err)
			}
			for _, d := range list {
				got = append(got, fmt.Sprint(d.Group, " ", d.Body, " ", d.ReplyTo, " ", d.Rev))
			}
			page.Cursor = next
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %q, want %q", limit, got, want)
		}
	}
	checkProblem(t, "a cursor", s.do(request{user: "alice", method: "GET", path: "/v1/drafts?cursor=a%20b"}), 400, "invalid_request")
}

// nextDraft reads frames up to one about a draft.
func nextDraft(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	for {
		_, frame, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(frame, []byte(`{"op":"draft"`)) {
			return string(frame)
		}
	}
}

// TestDraftsEnd: a draft goes with the membership, however that ends, with the group, and with the person.
func TestDraftsEnd(t *testing.T) {
	s := startOperated(t)
	remain := func(what string, want int) {
		t.Helper()
		harness.Eventually(t, 20*time.Second, what, func() error {
			keys, err := s.rdb.Keys(t.Context(), "*:drafts").Result()
			if err == nil && len(keys) != want {
				err = fmt.Errorf("the drafts of %d users are kept, want %d: %q", len(keys), want, keys)
			}
			return err
		})
	}
	begin := func(users ...string) {
		t.Helper()
		for _, user := range users {
			s.must("alice", "PUT", "/v1/groups/ours/members/"+user, "")
			s.must(user, "PUT", draftPath, `{"body":"a secret","rev":1}`)
		}
	}
	s.must("alice", "POST", "/v1/groups", `{"id":"ours"}`)
	s.must("alice", "PUT", draftPath, `{"body":"mine","rev":1}`)
	begin("leaves", "removed", "banned", "erased")
	remain("all have begun", 5)
	checkProblem(t, "a stranger", s.do(request{user: "stranger", method: "PUT", path: draftPath, body: `{"body":"x","rev":1}`}), 404, "not_found")

	s.must("leaves", "DELETE", "/v1/groups/ours/members/leaves", "")
	s.must("alice", "DELETE", "/v1/groups/ours/members/removed", "")
	s.must("alice", "PUT", "/v1/groups/ours/bans/banned", `{}`)
	s.must("erased", "DELETE", "/v1/me", "")
	remain("only alice is there", 1)
	s.must("alice", "PUT", "/v1/groups/ours/members/leaves", "")
	checkProblem(t, "who comes back", s.do(request{user: "leaves", method: "GET", path: draftPath}), 404, "not_found")

	for i := range 20 { // a draft that is written while its user leaves
		user := fmt.Sprint("racer", i)
		s.must("alice", "PUT", "/v1/groups/ours/members/"+user, "")
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { s.do(request{user: user, method: "PUT", path: draftPath, body: `{"body":"late","rev":1}`}) })
		}
		s.must(user, "DELETE", "/v1/groups/ours/members/"+user, "")
		wg.Wait()
	}
	remain("nobody who left has one", 1)

	begin("removed")
	s.must("alice", "DELETE", "/v1/groups/ours", "")
	remain("the group is deleted", 0)
	s.must("alice", "POST", "/v1/groups", `{"id":"ours"}`)
	checkProblem(t, "another group of this name", s.do(request{user: "alice", method: "GET", path: draftPath}), 404, "not_found")
}

// TestDraftsOfKeys: a key acts for a user in the groups that it is bound to, as far as its scopes go, and its sessions hear of these.
func TestDraftsOfKeys(t *testing.T) {
	s := start(t, nil)
	for _, group := range []string{"in:a", "beyond"} {
		s.must("alice", "POST", "/v1/groups", `{"id":"`+group+`"}`)
	}
	_, writes := s.key(`{"name":"writes","scopes":["send","read"],"as":"any","groups":["in:*"]}`)
	_, reads := s.key(`{"name":"reads","scopes":["read"],"as":"any"}`)
	session := s.live(writes, "alice")
	for _, c := range []struct {
		key, as, method, group string
		status                 int
	}{
		{writes, "alice", "PUT", "in:a", http.StatusOK},
		{writes, "alice", "GET", "in:a", http.StatusOK},
		{writes, "alice", "PUT", "beyond", http.StatusForbidden},
		{writes, "bob", "GET", "in:a", http.StatusNotFound},
		{writes, "", "GET", "in:a", http.StatusBadRequest},
		{reads, "alice", "GET", "in:a", http.StatusOK},
		{reads, "alice", "PUT", "in:a", http.StatusForbidden},
		{reads, "alice", "DELETE", "in:a", http.StatusForbidden},
	} {
		r := request{method: c.method, path: "/v1/groups/" + c.group + "/draft"}
		if c.method == http.MethodPut {
			r.body = `{"body":"of ` + c.group + `","rev":1}`
		}
		if got := s.by(c.key, c.as, r); got.status != c.status {
			t.Errorf("%s %s as %q: got %d %s, want %d", c.method, r.path, c.as, got.status, got.body, c.status)
		}
	}
	if got := nextDraft(t, session); got != `{"op":"draft","group":"in:a","body":"of in:a","rev":1}` {
		t.Errorf("the session got %s", got)
	}
	s.must("alice", "PUT", "/v1/groups/beyond/draft", `{"body":"hidden","rev":1}`)
	s.must("alice", "DELETE", "/v1/groups/in:a/draft", "")
	if got := nextDraft(t, session); got != `{"op":"draft","group":"in:a","deleted":true}` {
		t.Errorf("the session got %s, want nothing of a group beyond those of its key", got)
	}
}
