package ws_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/web/ws"
)

func TestWSCloseCodes(t *testing.T) {
	n := startWS(t, ws.SessionOptions{SessionsUserMax: 2, FramesBurst: 300, FramesPerSecond: 1})
	greeted := func(c *wsClient) { c.raw(`{"op":"hello","token":"ann"}`); c.op("welcome") }
	cases := []struct {
		name string
		code int
		do   func(c *wsClient)
	}{
		{"not JSON", 4400, func(c *wsClient) { greeted(c); c.raw("hi") }},
		{"no object", 4400, func(c *wsClient) { greeted(c); c.raw("[1]") }},
		{"two objects", 4400, func(c *wsClient) { greeted(c); c.raw("{}{}") }},
		{"no UTF-8", 4400, func(c *wsClient) { greeted(c); c.raw("{\"op\":\"\xff\"}") }},
		{"not JSON before hello", 4400, func(c *wsClient) { c.raw("") }},
		{"a binary frame", 4400, func(c *wsClient) { greeted(c); _ = c.WriteMessage(websocket.BinaryMessage, []byte("{}")) }},
		{"a large frame", websocket.CloseMessageTooBig, func(c *wsClient) { greeted(c); c.raw(strings.Repeat(" ", 64<<10+1)) }},
		{"a large message in parts", websocket.CloseMessageTooBig, func(c *wsClient) {
			greeted(c)
			w, _ := c.NextWriter(websocket.TextMessage)
			for range 70 { // the connection may close in the middle
				if _, err := w.Write([]byte(strings.Repeat(" ", 1024))); err != nil {
					break
				}
			}
			_ = w.Close()
		}},
		{"a command before hello", 4401, func(c *wsClient) { c.raw(`{"op":"typing","group":"red"}`) }},
		{"hello without a token", 4401, func(c *wsClient) { c.raw(`{"op":"hello"}`) }},
		{"hello with a wrong token", 4401, func(c *wsClient) { c.raw(`{"op":"hello","token":"."}`) }},
		{"a token that ends", 4401, func(c *wsClient) { c.raw(`{"op":"hello","token":"ann/100ms"}`) }},
		{"too many frames", 4429, func(c *wsClient) {
			greeted(c)
			for range 310 {
				if c.WriteMessage(websocket.TextMessage, []byte(`{"op":"typing","group":"nowhere"}`)) != nil {
					return
				}
			}
		}},
		{"too many pings", 4429, func(c *wsClient) {
			greeted(c)
			for range 1000 {
				if c.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)) != nil {
					return
				}
			}
		}},
		{"the client's own close", websocket.CloseNormalClosure, func(c *wsClient) {
			greeted(c)
			_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, "bye"), time.Now().Add(time.Second))
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := n.open(t)
			tc.do(c)
			c.closed(tc.code)
		})
	}
	t.Run("no hello", func(t *testing.T) {
		startWS(t, ws.SessionOptions{HelloWithin: 300 * time.Millisecond}).open(t).closed(4408)
	})
	t.Run("too many sessions of a user", func(t *testing.T) {
		busy, _ := n.hello(t, "bob", nil)
		idle, _ := n.hello(t, "bob", nil)
		busy.raw(`{"op":"typing","group":"nowhere","ref":"x"}`)
		busy.answer("x")
		third, _ := n.hello(t, "bob", nil) // the idle one gives way, though it is newer than the busy one
		idle.closed(4409)
		third.raw(`{"op":"typing","group":"nowhere","ref":"x"}`)
		third.answer("x")
		fourth := n.open(t)
		fourth.raw(`{"op":"hello","token":"bob"}`) // no session is idle
		fourth.closed(4409)
		busy.raw(`{"op":"typing","group":"nowhere","ref":"still"}`)
		busy.answer("still")
	})
	t.Run("the reason of a refused token", func(t *testing.T) {
		c := n.open(t)
		c.raw(`{"op":"hello","token":"."}`)
		if got, want := c.closed(4401), "not a token of this test"; got != want {
			t.Errorf("got the reason %q, want %q", got, want)
		}
	})
}

// The session ends with the newest token, whether that ends before or after the previous one.
func TestWSRenew(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	c, _ := n.hello(t, "ann/1h", nil)
	begin := time.Now()
	c.raw(`{"op":"auth","ref":"shorter","token":"ann/2s"}`)
	c.raw(`{"op":"auth","ref":"longer","token":"ann/3s"}`)
	for _, ref := range []string{"shorter", "longer"} {
		if f := c.answer(ref); f.Op != "ok" {
			t.Errorf("%s: got %+v, want ok", ref, f)
		}
	}
	c.closed(4401)
	if took := time.Since(begin); took < 3*time.Second-time.Millisecond { // the end of a token is rounded to whole ms
		t.Errorf("closed after %v, before the token ended", took)
	}
}

func TestWSDrain(t *testing.T) {
	n := startWS(t, ws.SessionOptions{DrainSpread: 200 * time.Millisecond})
	n.group(t, "red", "ann")
	var clients []*wsClient
	for i := range 10 {
		c, _ := n.hello(t, fmt.Sprint("u", i), nil)
		clients = append(clients, c)
	}
	var drained sync.WaitGroup
	drained.Go(func() { n.sessions.Drain(context.Background()) })
	for _, c := range clients {
		if reason := c.closed(websocket.CloseServiceRestart); !strings.Contains(reason, "retry_after_ms=") {
			t.Errorf("reason: got %q, want retry_after_ms", reason)
		}
	}
	drained.Wait()
	if got := n.sessions.Count(); got != 0 {
		t.Errorf("after the drain: %d sessions", got)
	}
	if _, resp, _ := n.dial(t, nil); resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a handshake after the drain: got %v, want 503", resp)
	}
}
