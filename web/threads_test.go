package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
)

// threadOf is a thread as it is served.
type threadOf struct {
	ID          int64 `json:"id"`
	Replies     int64 `json:"replies"`
	LastID      int64 `json:"last_id"`
	Unread      int64 `json:"unread"`
	Read        int64 `json:"read"`
	Following   bool  `json:"following"`
	Root        map[string]any
	LastMessage map[string]any   `json:"last_message"`
	Messages    []map[string]any `json:"messages"`
	HasMore     bool             `json:"has_more"`
}

// replies sends a reply in the thread of a message and returns its id.
func (s *server) replies(user, group string, root int64, more string) int64 {
	s.t.Helper()
	id, _ := s.must(user, "POST", "/v1/groups/"+group+"/messages", fmt.Sprintf(`{"body":"reply","thread":%d%s}`, root, more)).field("id").(float64)
	return int64(id)
}

func threadPath(group string, root int64, rest string) string {
	return fmt.Sprintf("/v1/groups/%s/threads/%d%s", group, root, rest)
}

func (s *server) threads(user, group, query string) (list []threadOf) {
	s.t.Helper()
	a := s.must(user, "GET", "/v1/groups/"+group+"/threads"+query, "")
	var page struct {
		Threads []threadOf
		Next    *string
	}
	if err := json.Unmarshal([]byte(a.body), &page); err != nil || page.Next != nil {
		s.t.Fatalf("got %s", a.body)
	}
	if wrong := wrongValue(describedSchema(s.t, "ThreadPage"), a.body); wrong != "" {
		s.t.Errorf("%s\nis not as described: %s", a.body, wrong)
	}
	return page.Threads
}

func (s *server) thread(user, group string, root int64, query string) (page threadOf) {
	s.t.Helper()
	a := s.must(user, "GET", threadPath(group, root, "/messages"+query), "")
	if err := json.Unmarshal([]byte(a.body), &page); err != nil {
		s.t.Fatalf("got %s", a.body)
	}
	if wrong := wrongValue(describedSchema(s.t, "ReplyPage"), a.body); wrong != "" {
		s.t.Errorf("%s\nis not as described: %s", a.body, wrong)
	}
	return page
}

// threadsUnread is what counts for a user in the threads of their one group: in the list of groups, and in the counts of all.
func (s *server) threadsUnread(user string) (count float64) {
	s.t.Helper()
	var list struct {
		Groups []map[string]any
	}
	a := s.must(user, "GET", "/v1/groups", "")
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || len(list.Groups) != 1 {
		s.t.Fatalf("got %s", a.body)
	}
	count, _ = list.Groups[0]["threads_unread"].(float64)
	if b := s.must(user, "GET", "/v1/unread", ""); b.field("threads") != count {
		s.t.Errorf("got %s, and %v in the list of groups", b.body, count)
	}
	return count
}

// TestThreads: what the routes answer.
func TestThreads(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","eve"]}`)
	root, other := s.says("alice", "g", "root"), s.says("alice", "g", "other")
	s.must("bob", "POST", "/v1/groups/g/read", fmt.Sprintf(`{"id":%d}`, other))
	if a := s.must("bob", "GET", "/v1/groups/g/threads", ""); a.body != `{"threads":[],"next":null}`+"\n" {
		t.Errorf("got %s", a.body)
	}
	if p := s.thread("bob", "g", root, ""); p.Replies != 0 || len(p.Messages) != 0 || p.HasMore || p.Following {
		t.Errorf("a message without replies: %+v", p)
	}
	one := s.replies("alice", "g", root, "")
	two := s.replies("bob", "g", root, `,"reply_to":1,"mentions":["eve"]`)
	if a := s.must("eve", "GET", "/v1/unread", ""); a.field("total") != float64(2) || a.field("threads") != float64(1) || a.field("mentions") != float64(0) {
		t.Errorf("got %s", a.body)
	}
	for user, want := range map[string]float64{"alice": 1, "bob": 0, "eve": 1} {
		if got := s.threadsUnread(user); got != want {
			t.Errorf("%s: %v unread in threads, want %v", user, got, want)
		}
	}
	s.must("eve", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"reaction","target":%d,"emoji":"👍"}`, one))
	s.must("eve", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"reaction","target":%d,"emoji":"👍"}`, root))
	list := s.threads("alice", "g", "?following=1&unread=1")
	if len(list) != 1 || list[0].ID != root || list[0].Replies != 2 || list[0].LastID != two || list[0].Unread != 1 || !list[0].Following ||
		list[0].Root["body"] != "root" || list[0].Root["replies"] != float64(2) || list[0].Root["reactions"] == nil || list[0].LastMessage["id"] != float64(two) ||
		list[0].LastMessage["thread"] != float64(root) {
		t.Errorf("got %+v", list)
	}
	page := s.thread("alice", "g", root, "")
	if len(page.Messages) != 2 || page.Messages[0]["id"] != float64(one) || page.Messages[0]["reactions"] == nil || page.Messages[1]["id"] != float64(two) || page.Unread != 1 {
		t.Errorf("got %+v", page)
	}
	if page = s.thread("alice", "g", root, fmt.Sprintf("?after=%d", one)); len(page.Messages) != 1 || page.Messages[0]["id"] != float64(two) {
		t.Errorf("after the first: %+v", page)
	}
	if page = s.thread("alice", "g", root, fmt.Sprintf("?before=%d&limit=1", two)); len(page.Messages) != 1 || page.Messages[0]["id"] != float64(one) || page.HasMore {
		t.Errorf("before the second: %+v", page)
	}
	for _, m := range s.messages("bob", "/v1/groups/g/messages?after=0") {
		want := any(nil)
		if m["id"] == float64(root) {
			want = float64(2)
		}
		if m["replies"] != want || want != nil && m["last_reply_id"] != float64(two) {
			t.Errorf("got %v", m)
		}
	}
	// Reading the group moves no thread.
	s.must("eve", "POST", "/v1/groups/g/read", fmt.Sprintf(`{"id":%d}`, two))
	if got := s.threadsUnread("eve"); got != 1 {
		t.Errorf("%v unread in threads after reading the group, want 1", got)
	}
	if a := s.must("eve", "POST", threadPath("g", root, "/read"), fmt.Sprintf(`{"id":%d}`, two)); a.field("unread") != float64(0) || a.field("read") != float64(two) {
		t.Errorf("got %s", a.body)
	}
	if a := s.must("alice", "PUT", threadPath("g", root, ""), `{"following":false}`); a.field("following") != false {
		t.Errorf("got %s", a.body)
	}
	if got := s.threadsUnread("alice"); got != 0 {
		t.Errorf("%v unread in a thread that is not followed", got)
	}
	for _, c := range []struct {
		name, user, method, path, body string
		status                         int
		code                           string
	}{
		{"a reply as the root", "bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"body":"x","thread":%d}`, one), 400, "out_of_range"},
		{"a notice as the root", "bob", "POST", "/v1/groups/g/messages", `{"body":"x","thread":1}`, 400, "out_of_range"},
		{"no such root", "bob", "POST", "/v1/groups/g/messages", `{"body":"x","thread":999}`, 404, "not_found"},
		{"an edit", "bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"edit","target":%d,"body":"x","thread":%d}`, two, root), 400, "invalid_request"},
		{"below 1", "bob", "POST", "/v1/groups/g/messages", `{"body":"x","thread":-1}`, 400, ""},
		{"the thread of a reply", "bob", "GET", threadPath("g", one, "/messages"), "", 400, "out_of_range"},
		{"no such thread", "bob", "GET", threadPath("g", 999, "/messages"), "", 404, "not_found"},
		{"a stranger", "zoe", "GET", threadPath("g", root, "/messages"), "", 404, "not_found"},
		{"after and before", "bob", "GET", threadPath("g", root, "/messages?after=1&before=2"), "", 400, "invalid_request"},
		{"no cursor", "bob", "GET", "/v1/groups/g/threads?cursor=x", "", 400, "invalid_request"},
		{"read above the end", "bob", "POST", threadPath("g", root, "/read"), `{"id":999}`, 400, "out_of_range"},
	} {
		a := s.do(request{user: c.user, method: c.method, path: c.path, body: c.body})
		if c.code == "" && a.status == c.status {
			continue
		}
		checkProblem(t, c.name, a, c.status, c.code)
	}
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"edit","target":%d,"body":"changed"}`, two))
	if page = s.thread("bob", "g", root, ""); page.Messages[1]["body"] != "changed" || page.Messages[1]["thread"] != float64(root) {
		t.Errorf("an edited reply: %+v", page)
	}
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%d}`, two))
	if list = s.threads("bob", "g", ""); len(list) != 1 || list[0].Replies != 1 || list[0].LastID != one {
		t.Errorf("after a deletion: %+v", list)
	}
	s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%d}`, root))
	if list = s.threads("bob", "g", ""); len(list) != 0 {
		t.Errorf("after the deletion of the root: %+v", list)
	}
	checkProblem(t, "a deleted root", s.do(request{user: "bob", method: http.MethodGet, path: threadPath("g", root, "/messages")}), 404, "not_found")
	checkProblem(t, "a reply to it", s.do(request{user: "bob", method: http.MethodPost, path: "/v1/groups/g/messages", body: fmt.Sprintf(`{"body":"x","thread":%d}`, root)}), 404, "not_found")
	for _, m := range s.messages("bob", "/v1/groups/g/messages?after=0") {
		if _, ok := m["replies"]; ok || m["id"] == float64(two) && m["thread"] != float64(root) {
			t.Errorf("got %v", m)
		}
	}
}

// TestThreadsOfTheArchive: a root that was trimmed keeps its thread, and may get one.
func TestThreadsOfTheArchive(t *testing.T) {
	store := redistest.Start(t)
	archive := withArchive(t)
	s := start(t, func(c *node.Config) {
		c.Redis = store.URL()
		archive(c)
	})
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"keep":0}`)
	root, plain := s.says("alice", "g", "root"), s.says("alice", "g", "plain")
	third := s.says("alice", "g", "third")
	one := s.replies("bob", "g", root, "")
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
	two := s.replies("bob", "g", root, "")
	if page := s.thread("alice", "g", root, ""); page.Replies != 2 || len(page.Messages) != 2 || page.Messages[0]["id"] != float64(one) || page.Messages[1]["id"] != float64(two) {
		t.Errorf("got %+v", page)
	}
	first := s.replies("bob", "g", plain, "")
	if list := s.threads("alice", "g", "?following=1"); len(list) != 2 || list[0].Root["body"] != "plain" || list[0].LastID != first || list[0].Unread != 1 {
		t.Errorf("got %+v", list)
	}
	// What is scheduled finds its root there, too.
	s.must("bob", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"body":"later","thread":%d,"deliver_at":%q}`, third, in(400*time.Millisecond)))
	harness.Eventually(t, 60*time.Second, "the thread has its reply", func() error {
		if p := s.thread("alice", "g", third, ""); p.Replies != 1 || !p.Following || p.Unread != 1 {
			return fmt.Errorf("got %+v", p)
		}
		return nil
	})
	for _, m := range s.messages("alice", "/v1/groups/g/messages?after=0") {
		if m["id"] == float64(root) && m["replies"] != float64(2) {
			t.Errorf("got %v", m)
		}
	}
}
