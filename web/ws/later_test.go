package ws_test

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/web/ws"
)

func TestWSDeliverAt(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "g", "alice")
	c, _ := n.hello(t, "alice", nil)
	for i, want := range []bool{false, true} {
		ref := fmt.Sprint(i)
		c.put(map[string]any{"op": "send", "ref": ref, "group": "g", "body": "later", "client_id": "c", "deliver_at": "2026-01-01T00:00:00Z"})
		f := c.answer(ref)
		if f.Op != "ok" || f.Schedule == nil || f.Schedule.State != schedule.Pending || f.Schedule.ClientID != "c" || f.Duplicate == nil || *f.Duplicate != want {
			t.Errorf("got %+v, want a schedule, duplicate %v", f, want)
		}
	}
	for at, want := range map[string]chat.Code{"2099-01-01T00:00:00Z": chat.CodeOutOfRange, "tomorrow": chat.CodeInvalid, "": chat.CodeInvalid} {
		c.put(map[string]any{"op": "send", "ref": at + "x", "group": "g", "body": "later", "deliver_at": at})
		if f := c.answer(at + "x"); f.Op != "error" || f.Code != want {
			t.Errorf("deliver_at %q: got %+v, want %s", at, f, want)
		}
	}
}
