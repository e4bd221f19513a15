package ws_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/ws"
)

// Messages across reconnects, resumed by cursor, arrive once each and in order.
func TestWSResume(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "red", "ann", "bob")
	const count = 1000
	var sender sync.WaitGroup
	sender.Go(func() {
		for i := range count {
			n.say(t, "red", "ann", fmt.Sprint(i))
		}
	})
	defer sender.Wait()
	after := map[string]any{"red": 2}
	next := 0
	for round := 0; next < count; round++ {
		c, _ := n.hello(t, "bob", after)
		for taken := 0; taken < 1+round%97 && next < count; {
			f := c.op("messages")
			for _, m := range f.Messages {
				if m.Body == nil || *m.Body != fmt.Sprint(next) || m.ID != int64(next+3) {
					t.Fatalf("message %d: got %+v", next, m)
				}
				next++
				taken++
			}
			if round%2 == 0 {
				after["red"] = f.Cursor
			} else {
				after["red"] = f.To
			}
		}
		_ = c.Close()
	}
}

// A session survives an outage of the store and continues afterwards.
func TestWSStoreRestart(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.redis.Do("CONFIG", "SET", "appendfsync", "always") // writes must survive the kill
	n.group(t, "red", "ann", "bob")
	bob, _ := n.hello(t, "bob", nil)
	last := n.say(t, "red", "ann", "before")
	for bob.op("messages").To < last {
	}
	n.redis.Kill()
	bob.raw(`{"op":"send","ref":"down","group":"red","body":"hi","client_id":"k"}`)
	if f := bob.answer("down"); f.Code != chat.CodeUnavailable {
		t.Errorf("with the store down: got %+v, want %s", f, chat.CodeUnavailable)
	}
	n.redis.Restart()
	patience, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for { // the server takes a moment to notice the outage
		if _, err := n.UnreadCounts(patience, chat.Caller{User: "ann"}); err == nil || patience.Err() != nil {
			break
		}
	}
	// The message may come before the answer to its send.
	retry := `{"op":"send","ref":"up","group":"red","body":"hi","client_id":"k"}`
	bob.raw(retry)
	to, id := last, int64(0)
	for id == 0 || to < id {
		switch f := bob.get(); {
		case f.Op == "messages" && f.From != to+1:
			t.Fatalf("got from %d after %d", f.From, to)
		case f.Op == "messages":
			to = f.To
		case f.Code == chat.CodeUnavailable:
			bob.raw(retry)
		case f.Op == "ok":
			id = f.ID
		case f.Op == "error":
			t.Fatalf("with the store back: got %+v", f)
		}
	}
}
