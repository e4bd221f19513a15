package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// inboxPage is what the tests below look at in a page of the inbox.
type inboxPage struct {
	Epoch, Cursor                string
	From, To, First, Last, Acked int64
	Complete                     bool
	Items                        []struct{ Seq int64 }
}

func pageIn(t *testing.T, body string) (p inboxPage) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err, body)
	}
	return p
}

// TestSecondDeviceReadsTheInbox has one device ack six items, and another one that comes later read all of them.
func TestSecondDeviceReadsTheInbox(t *testing.T) {
	s := start(t, nil)
	direct := func() { t.Helper(); s.must("alice", "POST", "/v1/users/bob/messages", `{"body":"hi"}`) }
	for range 3 {
		direct()
	}
	first := pageIn(t, s.must("bob", "GET", "/v1/inbox", "").body)
	for range 3 {
		direct()
	}
	if a := s.must("bob", "POST", "/v1/inbox/ack", `{"seq":6}`); !strings.Contains(a.body, `{"acked":6}`) {
		t.Errorf("the ack says %s", a.body)
	}
	all := pageIn(t, s.must("bob", "GET", "/v1/inbox?after=0", "").body)
	if !all.Complete || len(all.Items) != 6 || all.First != 1 || all.Acked != 6 {
		t.Errorf("from the start: got %+v", all)
	}
	rest := pageIn(t, s.must("bob", "GET", "/v1/inbox?after="+first.Cursor, "").body)
	if !rest.Complete || len(rest.Items) != 3 || rest.Cursor != all.Cursor {
		t.Errorf("from a cursor: got %+v", rest)
	}
	for _, after := range []string{"3", `"` + first.Cursor + `"`} {
		var a struct{ Inbox json.RawMessage }
		body := s.must("bob", "POST", "/v1/sync", `{"inbox_after":`+after+`}`).body
		if err := json.Unmarshal([]byte(body), &a); err != nil {
			t.Fatal(err)
		}
		if p := pageIn(t, string(a.Inbox)); p.From != 4 || p.To != 6 || p.Cursor != all.Cursor {
			t.Errorf("a sync after %s: got %+v", after, p)
		}
	}
}

// TestAcksByCursor acks groups and the inbox by cursors: those of what is there, and of what is not there any longer.
func TestAcksByCursor(t *testing.T) {
	s := start(t, nil)
	cursorOf := func() string {
		t.Helper()
		var b struct{ Cursor string }
		if err := json.Unmarshal([]byte(s.must("bob", "GET", "/v1/groups/g/messages?after=0", "").body), &b); err != nil {
			t.Fatal(err)
		}
		return b.Cursor
	}
	// A creation puts an item into the inbox of each member, by a task, which does nothing once the group is gone.
	reach := func(items int) {
		t.Helper()
		harness.Eventually(t, 10*time.Second, "the items of bob's inbox", func() error {
			if n := len(pageIn(t, s.must("bob", "GET", "/v1/inbox", "").body).Items); n < items {
				return fmt.Errorf("%d of %d", n, items)
			}
			return nil
		})
	}
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	reach(1)
	old := cursorOf()
	if a := s.must("bob", "POST", "/v1/groups/g/ack", `{"cursor":"`+old+`"}`); !strings.Contains(a.body, `"seen":2`) {
		t.Errorf("by cursor: got %s", a.body)
	}
	s.must("alice", "DELETE", "/v1/groups/g", "")
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	s.must("alice", "POST", "/v1/users/bob/messages", `{"body":"hi"}`)
	reach(3)
	inbox := pageIn(t, s.must("bob", "GET", "/v1/inbox", "").body)
	foreign := "other" + strings.TrimPrefix(inbox.Cursor, inbox.Epoch)
	for path, body := range map[string]string{"/v1/groups/g/ack": old, "/v1/groups/g/read": old, "/v1/inbox/ack": foreign} {
		if a := s.do(request{user: "bob", method: "POST", path: path, body: `{"cursor":"` + body + `"}`}); a.status != http.StatusConflict || !strings.Contains(a.body, `"code":"conflict"`) {
			t.Errorf("%s of another life: got %d %s", path, a.status, a.body)
		}
		for _, wrong := range []string{`{}`, `{"cursor":"7"}`, `{"cursor":"x"}`, `{"cursor":7}`, `{"id":1,"seq":1}`, `{"id":1,"cursor":"` + old + `"}`, `{"seq":1,"cursor":"` + old + `"}`} {
			if a := s.do(request{user: "bob", method: "POST", path: path, body: wrong}); a.status != http.StatusBadRequest {
				t.Errorf("%s with %s: got %d %s", path, wrong, a.status, a.body)
			}
		}
	}
	a := s.must("bob", "POST", "/v1/sync", `{"ack":{"g":"`+old+`"},"inbox_ack":"`+foreign+`"}`)
	if want := `"errors":[{"group":"","inbox":true,"code":"conflict"},{"group":"g","code":"conflict"}]`; !strings.Contains(a.body, want) {
		t.Errorf("a sync: got %s, want %s in it", a.body, want)
	}
	a = s.must("bob", "POST", "/v1/sync", `{"ack":{"g":"`+cursorOf()+`"},"inbox_ack":"`+inbox.Cursor+`"}`)
	if strings.Contains(a.body, "errors") || strings.Contains(a.body, `"items"`) {
		t.Errorf("a sync with cursors of today: got %s", a.body)
	}
	if got := pageIn(t, s.must("bob", "GET", "/v1/inbox", "").body); got.Acked != inbox.To {
		t.Errorf("the inbox: got %+v, want acked %d", got, inbox.To)
	}
}
