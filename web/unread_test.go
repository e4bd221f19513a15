package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/node"
)

// TestSyncNamesTheInbox acks more of the inbox than there is.
func TestSyncNamesTheInbox(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	a := s.must("alice", "POST", "/v1/sync", `{"inbox_ack":9,"ack":{"g":9}}`)
	if want := `"errors":[{"group":"","inbox":true,"code":"out_of_range"},{"group":"g","code":"out_of_range"}]`; !strings.Contains(a.body, want) {
		t.Errorf("got %s, want %s in it", a.body, want)
	}
}

// TestSyncListsWhatItCannotRead spoils one position of each kind: all else is acked and served.
func TestSyncListsWhatItCannotRead(t *testing.T) {
	s := start(t, nil)
	for _, g := range []string{"g", "h", "i"} {
		s.must("alice", "POST", "/v1/groups", `{"id":"`+g+`","members":["bob"]}`)
	}
	for _, c := range []struct { // in order: the acks change what later rows are served
		body  string
		wants []string
	}{
		{`{"after":{"g":"nonsense","h":0},"only":["g","h"]}`, []string{`"errors":[{"group":"g","code":"invalid_request"}]`, `{"group":"h",`}},
		{`{"after":{"g":"","h":"2"},"wait_s":60}`, []string{`"status":400`}},
		{`{"after":{"g":""},"wait_s":60}`, []string{`"errors":[{"group":"g","code":"invalid_request"}]`, `{"group":"h",`, `{"group":"i",`}},
		{`{"ack":{"g":"nonsense","i":2},"inbox_ack":"x"}`, []string{`"errors":[{"group":"","inbox":true,"code":"invalid_request"},{"group":"g","code":"invalid_request"}]`, `{"group":"g",`, `{"group":"h",`}},
		{`{"inbox_after":"nonsense"}`, []string{`"errors":[{"group":"","inbox":true,"code":"invalid_request"}]`, `{"group":"h",`}},
		{`{"after":{"elsewhere":"nonsense"}}`, []string{`"left":["elsewhere"]`, `{"group":"h",`}},
		{`{"only":["elsewhere"]}`, []string{`"groups":[]`, `"errors":[{"group":"elsewhere","code":"not_found"}]`}},
		{`{"only":["elsewhere"],"after":{"elsewhere":0},"limit":9}`, []string{`"groups":[]`, `"left":["elsewhere"],"next`}},
		{`{"start":"newest","limit":1}`, []string{`"from":2,"to":2`, `"complete":false,"has_more":false`}},
		{`{"start":"oldest"}`, []string{`"status":400`, `start: `}},
	} {
		a := s.do(request{method: "POST", path: "/v1/sync", user: "bob", body: c.body})
		for _, want := range c.wants {
			if !strings.Contains(a.body, want) {
				t.Errorf("%s: got %s, want %s in it", c.body, a.body, want)
			}
		}
	}
	if a := s.must("bob", "POST", "/v1/sync", `{"after":{"i":0}}`); !strings.Contains(a.body, `"last":2,"cursor"`) || !strings.Contains(a.body, `"seen":2`) {
		t.Errorf("got %s, want the ack of i beside that of g", a.body)
	}
}

// TestUnreadIsWhatCanBeHad lets messages be trimmed that one member has acked and not read: every call that shows unread
// counts what is left.
func TestUnreadIsWhatCanBeHad(t *testing.T) {
	s := start(t, func(c *node.Config) { c.Archive = "off" })
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"keep":1}`)          // 1, 2
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"one","mentions":["bob"]}`)   // 3
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"two"}`)                      // 4
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"three","mentions":["bob"]}`) // 5
	s.must("alice", "POST", "/v1/groups/g/ack", `{"id":5}`)

	type counts struct {
		First, Unread, Total, Mentions int64
		MentionsUnread                 int64 `json:"mentions_unread"`
		Groups                         json.RawMessage
	}
	read := func(a answer) (c counts) {
		t.Helper()
		if err := json.Unmarshal([]byte(a.body), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	one := func(a answer) counts {
		t.Helper()
		var list []json.RawMessage
		if err := json.Unmarshal(read(a).Groups, &list); err != nil || len(list) != 1 {
			t.Fatalf("got %s, want one group", a.body)
		}
		return read(answer{body: string(list[0])})
	}
	check := func(what string, first, unread, mentions int64) {
		t.Helper()
		if c := one(s.must("bob", "GET", "/v1/groups", "")); c.First != first || c.Unread != unread || c.MentionsUnread != mentions {
			t.Errorf("%s: the list shows %+v, want first %d, unread %d, mentions %d", what, c, first, unread, mentions)
		}
		c := read(s.must("bob", "GET", "/v1/unread", ""))
		if c.Total != unread || c.Mentions != mentions {
			t.Errorf("%s: GET /v1/unread shows %+v, want total %d, mentions %d", what, c, unread, mentions)
		}
		if c := one(s.must("bob", "POST", "/v1/sync", `{"after":{"g":4}}`)); c.Unread != unread {
			t.Errorf("%s: a sync shows %+v, want unread %d", what, c, unread)
		}
	}
	check("nothing trimmed", 1, 3, 2)
	if c := read(s.must("bob", "POST", "/v1/groups/g/ack", `{"id":5}`)); c.Unread != 1 {
		t.Errorf("the ack shows %+v, want unread 1", c)
	}
	check("trimmed", 5, 1, 1)
}
