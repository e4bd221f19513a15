package ws_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/ws"
)

// A refused send says when to retry and is not stored, and a client that does not stop is closed.
func TestWSRateLimit(t *testing.T) {
	limits := limit.New(limit.Options{Send: limit.Rate{Count: 1, Per: time.Hour, Burst: 2}})
	n := startWS(t, ws.SessionOptions{Limits: limits})
	n.group(t, "red", "ann", "bob")
	bob, _ := n.hello(t, "bob", nil)
	ann, _ := n.hello(t, "ann", nil)
	send := func(c *wsClient, ref string) wsFrame {
		c.raw(fmt.Sprintf(`{"op":"send","ref":%q,"group":"red","body":"hi"}`, ref))
		return c.answer(ref)
	}
	send(ann, "1")
	send(ann, "2")
	if f := send(ann, "3"); f.Op != "error" || f.Code != chat.CodeRateLimited || f.RetryAfterMS < 3_590_000 || f.RetryAfterMS > 3_600_000 {
		t.Errorf("the third send: got %+v, want rate_limited for an hour", f)
	}
	if f := send(bob, "1"); f.Op != "ok" || f.ID != 5 {
		t.Errorf("another user's send: got %+v, want id 5: what was refused is not stored", f)
	}
	ann.raw(`{"op":"ack","ref":"ack","group":"red","id":2}`)
	if f := ann.answer("ack"); f.Op != "ok" {
		t.Errorf("an ack after a refused send: %+v", f)
	}
	for range 300 {
		if ann.WriteJSON(map[string]any{"op": "send", "group": "red", "body": "hi"}) != nil {
			break
		}
	}
	ann.closed(4429)
	if f := send(bob, "still"); f.Op != "ok" || f.ID != 6 {
		t.Errorf("another user's send: got %+v, want id 6", f)
	}
}

// A hello is charged to its user; a refused one may be repeated.
func TestWSHelloIsLimited(t *testing.T) {
	limits := limit.New(limit.Options{User: limit.Rate{Count: 50, Per: time.Second, Burst: 5}})
	n := startWS(t, ws.SessionOptions{Limits: limits})
	n.hello(t, "ann", nil)
	c := n.open(t)
	for {
		c.raw(`{"op":"hello","token":"ann"}`)
		f := c.get()
		if f.Op == "welcome" {
			break
		}
		if f.Code != chat.CodeRateLimited || f.RetryAfterMS < 1 || f.RetryAfterMS > 100 {
			t.Fatalf("a hello too many: %+v", f)
		}
		<-time.After(time.Duration(f.RetryAfterMS) * time.Millisecond) // as the server asked
	}
}

// A hello costs what there is to look at: the next one waits for that.
func TestWSHelloCostsItsGroups(t *testing.T) {
	limits := limit.New(limit.Options{User: limit.Rate{Count: 1, Per: time.Hour, Burst: 20}})
	n := startWS(t, ws.SessionOptions{Limits: limits})
	for i := range 100 {
		n.group(t, fmt.Sprint("g", i), "ann")
	}
	n.hello(t, "ann", nil) // 5, and 4 for its groups
	c := n.open(t)
	c.raw(`{"op":"hello","token":"ann","only":["g1"]}`) // 5
	if f := c.get(); f.Op != "welcome" {
		t.Errorf("got %+v, want a hello of one group for 5 units", f)
	}
	c.raw(`{"op":"typing","group":"g1","ref":"t"}`) // 1
	if f := c.answer("t"); f.Op != "ok" {
		t.Errorf("got %+v", f)
	}
	if _, err := limits.Spend(chat.Caller{User: "ann"}, limit.Cost{User: 6}); err == nil {
		t.Error("6 units are left, want 5")
	}
	if _, err := limits.Spend(chat.Caller{User: "ann"}, limit.Cost{User: 5}); err != nil {
		t.Errorf("5 units are left: %v", err)
	}
}

// addressed takes the client's address from a header, as behind a proxy.
func addressed(r *http.Request) netip.Addr {
	return netip.MustParseAddr(r.Header.Get("X-Forwarded-For"))
}

func from(addr string) http.Header { return http.Header{"X-Forwarded-For": {addr}} }

// A flood of sockets that say nothing pushes out its own, not those of other addresses, and nobody is refused.
func TestWSSilentSocketsGiveWay(t *testing.T) {
	const room = 20
	n := startWS(t, ws.SessionOptions{SilentMax: room, Address: addressed})
	dial := func(addr string) *wsClient {
		t.Helper()
		c, resp, err := n.dial(t, from(addr))
		if err != nil {
			t.Fatalf("a socket from %s: %v, %v", addr, resp, err)
		}
		return c
	}
	innocent := dial("192.0.2.1") // the oldest of all
	flood := make([]*wsClient, 200)
	for i := range flood {
		flood[i] = dial("192.0.2.66")
	}
	for i := range 20 { // twenty browsers connect in the middle of it
		c := dial("192.0.2.2")
		dial("192.0.2.66")
		c.raw(fmt.Sprintf(`{"op":"hello","token":"user%d"}`, i))
		c.op("welcome")
	}
	for _, c := range flood[:len(flood)-room] {
		c.closed(4408)
	}
	innocent.raw(`{"op":"hello","token":"ann"}`)
	innocent.op("welcome")
}

// Thousands of clients that reconnect at once, with the token in the hello, are all accepted, however late they say
// hello.
func TestWSHellosOfABurst(t *testing.T) {
	n := startWS(t, ws.SessionOptions{HelloWithin: time.Hour})
	clients := make([]*wsClient, 1500)
	for i := range clients {
		c, resp, err := n.dial(t, nil)
		if err != nil {
			t.Fatalf("socket %d: %v, %v", i, resp, err)
		}
		clients[i] = c
	}
	for i, c := range clients {
		c.raw(fmt.Sprintf(`{"op":"hello","token":"user%d"}`, i))
	}
	for _, c := range clients {
		c.op("welcome")
	}
}

// Sockets that carry one user's token count from the handshake on, whether they say hello or not, and until they are closed:
// their client takes its time for that.
func TestWSSocketsOfAUser(t *testing.T) {
	const most = 5
	n := startWS(t, ws.SessionOptions{SessionsUserMax: most, SessionsNodeMax: 40})
	ctx, cancel := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	for range 4 {
		flood.Go(func() {
			for i := 0; i < 500 && ctx.Err() == nil; i++ {
				if c, _, err := n.dial(t, http.Header{"Authorization": {"Bearer mallory"}}); err == nil && ctx.Err() == nil {
					go func() { _, _ = c.read() }()
				}
			}
		})
	}
	for i := range 30 { // others get in every time
		c, _ := n.hello(t, fmt.Sprintf("user%d", i), nil)
		c.raw(`{"op":"typing","ref":"x","group":"nowhere"}`)
		c.answer("x")
		_ = c.Close()
	}
	cancel()
	flood.Wait()
	if len(n.sessions.Users()) > 30 {
		t.Errorf("users: %v", n.sessions.Users())
	}
}

// Behind a proxy the websockets of an address are counted here, and no longer once they end.
func TestWSConnectionsOfAnAddress(t *testing.T) {
	limits := limit.New(limit.Options{Conns: 2, IP: limit.Rate{Count: 1000, Per: time.Second, Burst: 1000}})
	n := startWS(t, ws.SessionOptions{Limits: limits, Address: addressed})
	dial := func(addr string) (*wsClient, int) {
		c, resp, err := n.dial(t, from(addr))
		if resp == nil {
			t.Fatal(err)
		}
		return c, resp.StatusCode
	}
	first, _ := dial("192.0.2.1")
	dial("192.0.2.1")
	if _, status := dial("192.0.2.1"); status != http.StatusTooManyRequests {
		t.Errorf("a third: %d, want 429", status)
	}
	if _, status := dial("192.0.2.2"); status != http.StatusSwitchingProtocols {
		t.Errorf("from another address: %d", status)
	}
	_ = first.Close()
	for begin := time.Now(); ; {
		if _, status := dial("192.0.2.1"); status == http.StatusSwitchingProtocols {
			return
		}
		if time.Since(begin) > wsPatience {
			t.Fatal("a socket that ended makes no room")
		}
	}
}

// TestWSLine: a command waits for its turn like a call. A refused one says when to retry, and may be sent again.
func TestWSLine(t *testing.T) {
	line := admission.New(admission.Options{Max: 1, Patience: 50 * time.Millisecond})
	n := startWS(t, ws.SessionOptions{Line: line})
	n.group(t, "red", "ann")
	ann, _ := n.hello(t, "ann", nil)
	slot, ok := line.Enter(t.Context(), admission.Key{User: "bob"}, 1)
	if !ok {
		t.Fatal("an empty line refuses")
	}
	send := func(ref string) wsFrame {
		ann.raw(fmt.Sprintf(`{"op":"send","ref":%q,"group":"red","body":"hi"}`, ref))
		return ann.answer(ref)
	}
	if f := send("1"); f.Op != "error" || f.Code != chat.CodeUnavailable || f.RetryAfterMS < 1000 || f.RetryAfterMS > 4000 {
		t.Errorf("while the node works on as much as it may: %+v", f)
	}
	late := n.open(t)
	hello := func() wsFrame {
		late.put(map[string]any{"op": "hello", "ref": "h", "token": "ann"})
		return late.get()
	}
	if f := hello(); f.Op != "error" || f.Code != chat.CodeUnavailable {
		t.Errorf("a hello meanwhile: %+v", f)
	}
	slot.Leave()
	// A busy machine may keep a turn for longer than anybody waits.
	again := func(call func() wsFrame) wsFrame {
		for begin := time.Now(); ; {
			if f := call(); f.Code != chat.CodeUnavailable || time.Since(begin) > wsPatience {
				return f
			}
		}
	}
	for range 3 {
		if f := again(func() wsFrame { return send("2") }); f.Op != "ok" {
			t.Errorf("afterwards: %+v", f)
		}
	}
	if f := again(hello); f.Op != "welcome" && f.Op != "ok" {
		t.Errorf("the hello afterwards: %+v", f)
	}
}
