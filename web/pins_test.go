package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
)

// pinOf is a pin as it is served.
type pinOf struct {
	Message map[string]any
	By, At  string
}

func (s *server) pins(user, group string) (list []pinOf) {
	s.t.Helper()
	var page struct {
		Pins []pinOf
		Next *string
	}
	a := s.must(user, "GET", "/v1/groups/"+group+"/pins", "")
	if err := json.Unmarshal([]byte(a.body), &page); err != nil || page.Next != nil {
		s.t.Fatalf("got %s", a.body)
	}
	if wrong := wrongValue(describedSchema(s.t, "PinPage"), a.body); wrong != "" {
		s.t.Errorf("%s\nis not as described: %s", a.body, wrong)
	}
	return page.Pins
}

// says sends a message and returns its id.
func (s *server) says(user, group, body string) int64 {
	s.t.Helper()
	id, _ := s.must(user, "POST", "/v1/groups/"+group+"/messages", fmt.Sprintf(`{"body":%q}`, body)).field("id").(float64)
	return int64(id)
}

func pinPath(group string, id int64) string { return fmt.Sprintf("/v1/groups/%s/pins/%d", group, id) }

// TestPins: what the routes answer, and the notices in the log.
func TestPins(t *testing.T) {
	s := start(t, nil)
	if a := s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`); a.field("pins") != "managers" {
		t.Errorf("a new group: %s", a.body)
	}
	if a := s.must("alice", "POST", "/v1/groups", `{"id":"open","pins":"members"}`); a.field("pins") != "members" {
		t.Errorf("a new group: %s", a.body)
	}
	one, two := s.says("bob", "g", "one"), s.says("alice", "g", "two")
	if a := s.must("bob", "GET", "/v1/groups/g/pins", ""); a.body != `{"pins":[],"next":null}`+"\n" {
		t.Errorf("got %s", a.body)
	}
	for _, id := range []int64{one, two, one} { // again is harmless
		if a := s.must("alice", "PUT", pinPath("g", id), ""); a.status != http.StatusNoContent {
			t.Errorf("got %d %s", a.status, a.body)
		}
	}
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"reaction","target":%d,"emoji":"👍"}`, one))
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"edit","target":%d,"body":"changed"}`, one))
	list := s.pins("bob", "g")
	if len(list) != 2 || list[0].Message["body"] != "two" || list[1].Message["body"] != "changed" || list[1].By != "alice" || list[1].Message["edited_at"] == nil ||
		fmt.Sprint(list[1].Message["reactions"]) != "map[👍:map[count:1 mine:true]]" {
		t.Errorf("got %+v", list)
	}
	for _, c := range []struct {
		name, user, method, path string
		status                   int
		code                     string
	}{
		{"a member", "bob", "PUT", pinPath("g", one), 403, "forbidden"},
		{"a member", "bob", "DELETE", pinPath("g", one), 403, "forbidden"},
		{"a stranger", "eve", "PUT", pinPath("g", one), 404, "not_found"},
		{"a stranger", "eve", "GET", "/v1/groups/g/pins", 404, "not_found"},
		{"a notice", "alice", "PUT", pinPath("g", 1), 400, "invalid_request"},
		{"no such message", "alice", "PUT", pinPath("g", 999), 404, "not_found"},
		{"no id", "alice", "PUT", pinPath("g", 0), 400, "invalid_request"},
		{"no cursor", "alice", "GET", "/v1/groups/g/pins?cursor=x", 400, "invalid_request"},
	} {
		checkProblem(t, c.name, s.do(request{user: c.user, method: c.method, path: c.path}), c.status, c.code)
	}
	s.must("alice", "PATCH", "/v1/groups/g", `{"pins":"members"}`)
	for range 2 {
		s.must("bob", "DELETE", pinPath("g", two), "")
	}
	s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%d}`, one))
	list = s.pins("bob", "g")
	if len(list) != 1 || list[0].Message["deleted_at"] == nil || list[0].Message["body"] != nil {
		t.Errorf("got %+v, want what is left of a deleted message", list)
	}
	checkProblem(t, "a deleted message", s.do(request{user: "bob", method: "PUT", path: pinPath("g", one)}), 404, "not_found")
	var notices []string
	for _, m := range s.messages("bob", fmt.Sprintf("/v1/groups/g/messages?after=%d", two)) {
		if m["kind"] == "notice" {
			notices = append(notices, fmt.Sprint(m["from"], " ", m["notice"], " ", m["target"]))
		}
	}
	if got, want := strings.Join(notices, ", "), fmt.Sprintf("alice pinned %d, alice pinned %d, alice settings <nil>, bob unpinned %d", one, two, two); got != want {
		t.Errorf("got the notices %s, want %s", got, want)
	}
}

// TestPinsMax: the 101st is a conflict until another one goes, whoever comes at the same time.
func TestPinsMax(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	ids := make([]int64, 104)
	for i := range ids {
		ids[i] = s.says("alice", "g", fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	statuses := make([]int, len(ids))
	for n := range 4 {
		wg.Go(func() {
			for i := n; i < len(ids); i += 4 {
				statuses[i] = s.do(request{user: "alice", method: "PUT", path: pinPath("g", ids[i])}).status
			}
		})
	}
	wg.Wait()
	full, first := 0, 0
	for i, status := range statuses {
		switch status {
		case http.StatusConflict:
			full = i
		case http.StatusNoContent:
			first = i
		default:
			t.Errorf("got %d", status)
		}
	}
	if list := s.pins("alice", "g"); len(list) != 100 {
		t.Fatalf("got %d pins", len(list))
	}
	checkProblem(t, "the 101st", s.do(request{user: "alice", method: "PUT", path: pinPath("g", ids[full])}), 409, "conflict")
	s.must("alice", "DELETE", pinPath("g", ids[first]), "")
	s.must("alice", "PUT", pinPath("g", ids[full]), "")
	if list := s.pins("alice", "g"); len(list) != 100 || list[0].Message["body"] != fmt.Sprint(full) {
		t.Errorf("got %d pins, the first %v", len(list), list[0])
	}
}

// TestPinsOfTrimmed: a pinned message is whole where the log is trimmed, and its author may still change it, with and without an archive.
func TestPinsOfTrimmed(t *testing.T) {
	t.Run("without an archive", func(t *testing.T) { pinsOfTrimmed(t, func(*node.Config) {}, "<nil>") })
	t.Run("with an archive", func(t *testing.T) { pinsOfTrimmed(t, withArchive(t), "map[👍:map[count:1 mine:false]]") })
}

func pinsOfTrimmed(t *testing.T, archive func(*node.Config), reactions string) {
	store := redistest.Start(t)
	s := start(t, func(c *node.Config) {
		c.Redis = store.URL()
		archive(c)
	})
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"keep":0}`)
	id := s.says("bob", "g", "hello")
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"reaction","target":%d,"emoji":"👍"}`, id))
	s.must("alice", "PUT", pinPath("g", id), "")
	harness.Eventually(t, 30*time.Second, "the log is trimmed", func() error {
		last, _ := s.must("alice", "GET", "/v1/groups/g", "").field("last").(float64)
		for _, user := range []string{"alice", "bob"} {
			s.must(user, "POST", "/v1/groups/g/ack", fmt.Sprintf(`{"id":%d}`, int64(last)))
		}
		if stored, ok := store.Do("KEYS", "*g:g:msgs").([]any); !ok || len(stored) > 0 {
			return fmt.Errorf("messages are stored: %v", stored)
		}
		return nil
	})
	look := func(body any) {
		t.Helper()
		list := s.pins("alice", "g")
		if len(list) != 1 || list[0].Message["body"] != body || list[0].Message["id"] != float64(id) || list[0].Message["from"] != "bob" {
			t.Fatalf("got %+v, want the body %v", list, body)
		}
		if got := fmt.Sprint(list[0].Message["reactions"]); body != nil && got != reactions {
			t.Errorf("got the reactions %s, want %s", got, reactions)
		}
	}
	look("hello")
	s.must("alice", "PUT", pinPath("g", id), "") // again
	edit := fmt.Sprintf(`{"kind":"edit","target":%d,"body":"changed"}`, id)
	checkProblem(t, "an edit of another's", s.do(request{user: "alice", method: "POST", path: "/v1/groups/g/messages", body: edit}), 403, "forbidden")
	s.must("bob", "POST", "/v1/groups/g/messages", edit)
	look("changed")
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%d}`, id))
	look(nil)
	for _, m := range s.messages("bob", fmt.Sprintf("/v1/groups/g/messages?after=%d", id)) {
		if m["body"] != nil {
			t.Errorf("an edit of what is deleted reads %v", m)
		}
	}
	checkProblem(t, "deleted", s.do(request{user: "alice", method: "PUT", path: pinPath("g", id)}), 404, "not_found")
	s.must("alice", "DELETE", pinPath("g", id), "")
	checkProblem(t, "gone", s.do(request{user: "bob", method: "POST", path: "/v1/groups/g/messages", body: edit}), 404, "not_found")
}

// TestPinsOfErased: an erased author leaves nothing of what is pinned, also where only the pins have it, and who pinned leaves no name.
func TestPinsOfErased(t *testing.T) {
	s := startOperated(t)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl"],"keep":0,"pins":"members"}`)
	ofBob, ofAlice, deleted := s.says("bob", "g", "a secret"), s.says("alice", "g", "stays"), s.says("bob", "g", "another secret")
	for _, id := range []int64{ofBob, ofAlice, deleted} {
		s.must("bob", "PUT", pinPath("g", id), "")
	}
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%d}`, deleted))
	last, _ := s.must("alice", "GET", "/v1/groups/g", "").field("last").(float64)
	for _, user := range []string{"alice", "bob", "carl"} {
		s.must(user, "POST", "/v1/groups/g/ack", fmt.Sprintf(`{"id":%d}`, int64(last)))
	}
	s.must("bob", "DELETE", "/v1/me", "")
	harness.Eventually(t, 30*time.Second, "the pins name nobody", func() error {
		a := s.must("alice", "GET", "/v1/groups/g/pins", "")
		if strings.Contains(a.body, "bob") || strings.Contains(a.body, "secret") {
			return fmt.Errorf("got %s", a.body)
		}
		return nil
	})
	list := s.pins("alice", "g")
	if len(list) != 3 || list[1].Message["body"] != "stays" || list[1].By != "" || list[2].Message["deleted_at"] == nil || list[2].Message["from"] != "" {
		t.Errorf("got %+v", list)
	}
	left, err := s.rdb.HGetAll(t.Context(), s.rdb.Keys(t.Context(), "*g:g:pins").Val()[0]).Result()
	for _, pin := range left {
		if strings.Contains(pin, "bob") {
			t.Errorf("%q is kept", pin)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestPinsOfKeys: a key pins as those do who manage a group, for itself or for a user, in the groups that it is bound to.
func TestPinsOfKeys(t *testing.T) {
	s := start(t, nil)
	for _, group := range []string{"in:a", "beyond"} {
		s.must("alice", "POST", "/v1/groups", `{"id":"`+group+`","members":["bob"]}`)
		s.says("alice", group, "x") // 3
	}
	manager, manages := s.key(`{"name":"manages","scopes":["groups"],"groups":["in:*"]}`)
	_, acts := s.key(`{"name":"acts","scopes":["send","read"],"as":"any"}`)
	_, reads := s.key(`{"name":"reads","scopes":["read"],"as":"any"}`)
	for _, c := range []struct {
		key, as, method, path string
		status                int
	}{
		{manages, "", "PUT", "/v1/groups/in:a/pins/3", http.StatusNoContent},
		{manages, "", "PUT", "/v1/groups/beyond/pins/3", http.StatusForbidden},
		{manages, "", "GET", "/v1/groups/in:a/pins", http.StatusForbidden},
		{acts, "", "GET", "/v1/groups/in:a/pins", http.StatusBadRequest},
		{acts, "alice", "PUT", "/v1/groups/beyond/pins/3", http.StatusNoContent},
		{acts, "bob", "PUT", "/v1/groups/beyond/pins/3", http.StatusForbidden},
		{reads, "alice", "DELETE", "/v1/groups/beyond/pins/3", http.StatusForbidden},
		{reads, "bob", "GET", "/v1/groups/beyond/pins", http.StatusOK},
	} {
		if got := s.by(c.key, c.as, request{method: c.method, path: c.path}); got.status != c.status {
			t.Errorf("%s %s as %q: got %d %s, want %d", c.method, c.path, c.as, got.status, got.body, c.status)
		}
	}
	if list := s.pins("bob", "in:a"); len(list) != 1 || list[0].By != "key:"+manager {
		t.Errorf("got %+v", list)
	}
	if list := s.pins("bob", "beyond"); len(list) != 1 || list[0].By != "alice" {
		t.Errorf("got %+v", list)
	}
}
