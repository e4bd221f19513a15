package ws_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

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

// A hello that has a position for each of 1,000 groups fits, with the longest ids, and cursors at least as long as those of this
// server. One position that cannot be read spoils no other.
func TestWSHelloOfManyGroups(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "red", "ann", "bob")
	n.group(t, "blue", "ann", "bob")
	after := map[string]any{"red": "no cursor", "blue": 1}
	for i := range 998 {
		after[fmt.Sprintf("%0128d", i)] = strings.Repeat("A", 32) + ".9007199254740991." + strings.Repeat("B", 32)
	}
	c, w := n.hello(t, "bob", after)
	if len(w.Groups) != 1 || fmt.Sprint(w.Errors) != "[{red false invalid_request}]" {
		t.Errorf("got %v, errors %v; want blue, and an error for red", w.Groups, w.Errors)
	}
	if f := c.op("messages"); f.Group != "blue" || f.From != 2 {
		t.Errorf("got %+v, want blue from 2", f)
	}
	c.raw(`{"op":"typing","group":"` + strings.Repeat("x", 64<<10) + `"}`)
	c.closed(websocket.CloseMessageTooBig)
}

// Only so many of the sockets that have not shown a token yet may be sending a long hello at once; short ones get in beside.
func TestWSLongHellosAreFew(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	const long, most = 128 << 10, 128
	half := func() *wsClient {
		c := n.open(t)
		w, err := c.NextWriter(websocket.TextMessage)
		if err == nil {
			_, err = w.Write(bytes.Repeat([]byte(" "), long))
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	refused := make(chan string, most+1)
	for range most + 1 {
		c := half()
		go func() {
			var closed *websocket.CloseError
			if _, _, err := c.ReadMessage(); errors.As(err, &closed) && closed.Code == 4429 {
				refused <- closed.Text
			}
		}()
	}
	if got := <-refused; !strings.Contains(got, "long hellos") {
		t.Errorf("got %q", got)
	}
	n.hello(t, "bob", nil)
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
