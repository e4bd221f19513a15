package web_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// TestThreadsLoseTheirAuthors: an erasure, a ban that deletes and a review leave counts that are right.
func TestThreadsLoseTheirAuthors(t *testing.T) {
	h := startHooked(t)
	h.must("ann", "POST", "/v1/groups", `{"id":"t","members":["alice","bob","carl","dave","eve"]}`)
	root, other := h.says("ann", "t", "root"), h.says("carl", "t", "other")
	h.replies("bob", "t", root, "")
	h.replies("dave", "t", root, "")
	kept := h.replies("eve", "t", root, "")
	h.replies("eve", "t", other, "")
	counts := func(replies int64, unread float64) {
		t.Helper()
		harness.Eventually(t, 30*time.Second, fmt.Sprint(replies, " replies are left"), func() error {
			p := h.thread("ann", "t", root, "")
			if p.Replies != replies || int64(len(p.Messages)) != replies || float64(p.Unread) != unread {
				return fmt.Errorf("got %+v", p)
			}
			if got := h.threadsUnread("ann"); got != unread {
				return fmt.Errorf("%v unread in threads, want %v", got, unread)
			}
			return nil
		})
	}
	counts(3, 3)
	erase := func(user string) {
		t.Helper()
		id, _ := h.must(user, "DELETE", "/v1/me", "").field("id").(string)
		harness.Eventually(t, 30*time.Second, "the erasure is done", func() error {
			if report := h.root("GET", "/v1/erasures/"+id, ""); report.field("state") != "done" {
				return fmt.Errorf("%d %s", report.status, report.body)
			}
			return nil
		})
	}
	erase("bob") // who replied
	counts(2, 2)
	if got := h.threadsUnread("eve"); got != 0 {
		t.Errorf("eve has %v unread in threads, want none", got)
	}
	erase("carl") // whose message was a root
	if list := h.threads("eve", "t", ""); len(list) != 1 || list[0].ID != root {
		t.Errorf("the threads are %+v", list)
	}
	checkProblem(t, "the thread of who was erased", h.do(request{user: "eve", method: http.MethodGet, path: threadPath("t", other, "/messages")}), 404, "not_found")
	h.must("ann", "PUT", "/v1/groups/t/bans/dave", `{"delete_hours":1}`)
	counts(1, 1)

	// What waits for a moderator counts once it is released.
	h.hook("")
	h.sayText(`{"action":"review","reason":"looks odd"}`)
	id := h.held("/v1/groups/t/messages", fmt.Sprintf(`{"body":"odd","thread":%d}`, root))
	counts(1, 1)
	if p := h.thread("alice", "t", root, ""); p.Following {
		t.Error("alice follows a thread before her reply is in it")
	}
	if got := h.decide("root", id, "release"); got != 200 {
		t.Fatalf("got %d", got)
	}
	counts(2, 2)
	if p := h.thread("alice", "t", root, ""); !p.Following || p.Unread != 0 || p.Messages[0]["id"] != float64(kept) {
		t.Errorf("got %+v", p)
	}
}
