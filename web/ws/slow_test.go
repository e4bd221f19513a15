package ws_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/unsent"
	"github.com/chatd/chatd/web/ws"
)

// narrow gives the following connections small kernel buffers. A size set before connecting applies to the negotiated
// window.
func (n *wsNode) narrow() {
	n.dialer.NetDialContext = (&net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10)
		}), err)
	}}).DialContext
}

// If too much is pending for clients that do not read, those that have been stuck longest are closed, so that others
// get their events; they continue later where they stopped.
func TestWSSlowestGivesWay(t *testing.T) {
	limits := chat.DefaultLimits()
	limits.PendingBytesMax = 250 << 10 // room for four stuck sessions, and for none that reads
	n := startWSWithin(t, ws.SessionOptions{CloseWithin: 500 * time.Millisecond}, limits)
	n.group(t, "red", "ann", "bob", "slow")
	body := strings.Repeat("x", 16<<10)
	last := int64(0)
	for range 300 {
		last = n.say(t, "red", "ann", body)
	}
	n.narrow()
	var slow []*wsClient
	for range 4 {
		c := n.open(t)
		c.put(map[string]any{"op": "hello", "token": "slow", "after": map[string]any{"red": 0}})
		slow = append(slow, c)
	}
	n.dialer.NetDialContext = nil
	// Others read everything, again and again, until a slow one has to give way.
	for opened := n.sessions.Count(); n.sessions.Count() == opened; {
		bob, _ := n.hello(t, "bob", map[string]any{"red": 0})
		if to, err := bob.drain(t, last); err != nil {
			t.Fatalf("bob: %v after %d", err, to)
		}
		opened++
	}
	closed := 0
	for i, c := range slow {
		to, err := c.drain(t, last)
		if err == nil {
			continue
		}
		// It may have been stuck too long to get the close frame.
		if closed++; !websocket.IsCloseError(err, 4413, websocket.CloseAbnormalClosure) {
			t.Errorf("session %d: %v after %d messages", i, err, to)
		}
		again, _ := n.hello(t, "slow", map[string]any{"red": to})
		if to, err := again.drainFrom(t, to, last); err != nil {
			t.Errorf("session %d, again: %v after %d", i, err, to)
		}
	}
	if closed == 0 {
		t.Error("no session that did not read was closed")
	}
}

// drain reads until last, or an error, and wants each message once and in order.
func (c *wsClient) drain(t *testing.T, last int64) (to int64, err error) {
	t.Helper()
	return c.drainFrom(t, 0, last)
}

func (c *wsClient) drainFrom(t *testing.T, after, last int64) (to int64, err error) {
	t.Helper()
	for to = after; to < last; {
		f, err := c.read()
		if err != nil {
			return to, err
		}
		if f.Op != "messages" {
			continue
		}
		if f.From != to+1 || !f.Complete {
			t.Fatalf("got from %d after %d, complete %v", f.From, to, f.Complete)
		}
		to = f.To
	}
	return to, nil
}

// The answers that a client does not read wait up to a bound in bytes; then its commands are no longer read. All of
// them run and are answered once it reads again.
func TestWSAnswersAreBounded(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "red", "ann", "bob")
	n.narrow()
	ann, _ := n.hello(t, "ann", map[string]any{"red": 3})
	body := strings.Repeat("x", 14<<10)
	const commands = 100 // their answers are larger than the buffers of the kernel
	wrote, some := make(chan error, 1), make(chan struct{})
	go func() {
		for i := range commands {
			if i == 25 {
				close(some)
			}
			at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
			frame, _ := json.Marshal(map[string]any{"op": "send", "ref": "r", "group": "red", "body": body, "client_id": fmt.Sprint(i), "deliver_at": at})
			if err := ann.WriteMessage(websocket.TextMessage, frame); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	<-some
	for i := range commands {
		if f := ann.answer("r"); f.Op != "ok" || f.Schedule == nil {
			t.Fatalf("command %d: got %+v", i, f)
		}
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

// A client that reads nothing is closed with 4413, and holds up nobody else.
func TestWSStalled(t *testing.T) {
	n := startWS(t, ws.SessionOptions{StallAfter: 500 * time.Millisecond, CloseWithin: time.Minute}) // longer than the sends below
	n.group(t, "red", "ann", "bob", "slow")
	n.narrow() // a kernel may let the buffer of an unread connection grow to tens of MB: nothing would ever stall
	slow, _ := n.hello(t, "slow", nil)
	n.dialer.NetDialContext = nil
	bob, _ := n.hello(t, "bob", nil)
	body := strings.Repeat("x", 16<<10)
	got := int64(0)
	// More than the buffers of a loopback connection hold, and for longer than the server waits once they are full.
	for i, begin := 0, time.Now(); i < 1200 || time.Since(begin) < 2*time.Second; i++ {
		last := n.say(t, "red", "ann", body)
		for got < last {
			f := bob.op("messages")
			if f.From != got+1 {
				t.Fatalf("bob: got from %d after %d", f.From, got)
			}
			got = f.To
		}
	}
	// The slow one resumes: it gets a dense prefix, and then the close frame.
	to := int64(0)
	for {
		f, err := slow.read()
		if websocket.IsCloseError(err, 4413) {
			break
		}
		if err != nil {
			t.Fatalf("after %d messages: %v", to, err)
		}
		if f.Op == "messages" {
			if f.From != to+1 {
				t.Fatalf("slow: got from %d after %d", f.From, to)
			}
			to = f.To
		}
	}
	if to >= got {
		t.Errorf("the slow client got all %d messages: it never stalled", got)
	}
}

// TestWSWelcomesHoldLittle: a user in many groups who does not take a welcome is told to come back for another, and gets it once
// there is room.
func TestWSWelcomesHoldLittle(t *testing.T) {
	const groups = 1000
	room := unsent.New(1<<20, 256<<10)
	n := startWS(t, ws.SessionOptions{Limits: limit.New(limit.Options{}), Unsent: room, StallAfter: wsPatience})
	var making sync.WaitGroup
	for i := range 8 {
		making.Go(func() {
			for g := i; g < groups; g += 8 {
				n.group(t, fmt.Sprintf("%0128d", g), "ann")
			}
		})
	}
	making.Wait()
	first := map[string]any{"op": "hello", "token": "ann"}
	n.narrow()
	slow := n.open(t)
	slow.put(first)
	for begin := time.Now(); unsentBytes(t, room) == 0; {
		if time.Since(begin) > wsPatience {
			t.Fatal("no welcome waits to be taken")
		}
	}
	n.dialer.NetDialContext = nil
	c := n.open(t)
	c.put(first)
	if f := c.get(); f.Code != chat.CodeRateLimited || f.RetryAfterMS < 1000 {
		t.Fatalf("while a welcome has not been taken: %s %+v, want rate_limited", f.Op, f.Code)
	}
	if f := slow.get(); len(f.Groups) != groups {
		t.Errorf("the welcome that was taken late has %d groups, want %d", len(f.Groups), groups)
	}
	c.put(first)
	if f := c.get(); len(f.Groups) != groups {
		t.Errorf("once that was taken: %s %s", f.Op, f.Code)
	}
	for begin := time.Now(); unsentBytes(t, room) > 0; {
		if time.Since(begin) > wsPatience {
			t.Fatal("what was taken is counted for ever")
		}
	}
}

func unsentBytes(t *testing.T, room *unsent.Budget) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(room)
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.GetName() == "chatd_unsent_bytes" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("no chatd_unsent_bytes")
	return 0
}
