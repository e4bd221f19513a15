package e2e

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// wire is the network between clients and a server. It takes time, and can be made to fail in the ways that networks do.
type wire struct {
	addr string

	mu       sync.Mutex
	conns    map[*wireConn]bool
	upgrades string // what becomes of a websocket: it passes, is refused, or is left unanswered
	opened   int    // websockets so far
	lost     int    // answers
}

const (
	letPass    = ""
	refuseThem = "refused"
	holdThem   = "unanswered"
)

type wireConn struct {
	client, server net.Conn
	socket         bool // a websocket
	loses          bool // the next thing that the server says is lost, and the connection with it
	dead           bool // nothing passes any more
}

const wireDelayMax = 8 * time.Millisecond // in each direction

// startWire leads to addr. It ends with the test.
func startWire(t *testing.T, addr string) *wire {
	t.Helper()
	listener := must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	w := &wire{addr: listener.Addr().String(), conns: map[*wireConn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", addr)
			if err != nil { // it is down
				_ = client.Close()
				continue
			}
			c := &wireConn{client: client, server: server}
			w.mu.Lock()
			w.conns[c] = true
			w.mu.Unlock()
			all.Go(func() { w.carry(c, c.client, c.server, w.said) })
			all.Go(func() { w.carry(c, c.server, c.client, w.answered) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut()
		all.Wait()
	})
	return w
}

func (w *wire) url() string { return "http://" + w.addr }

// carry passes on what one side says, as far as may says.
func (w *wire) carry(c *wireConn, from, to net.Conn, may func(*wireConn, []byte) (passes, goesOn bool)) {
	defer w.drop(c)
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		<-time.After(rand.N(wireDelayMax))
		passes, goesOn := may(c, buffer[:n])
		if !goesOn {
			return
		}
		if passes {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
}

// said looks at what a client says.
func (w *wire) said(c *wireConn, data []byte) (passes, goesOn bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !c.socket && bytes.Contains(bytes.ToLower(data), []byte("sec-websocket-key")) {
		switch w.upgrades {
		case refuseThem:
			_, _ = c.client.Write([]byte("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
			return false, false
		case holdThem:
			c.dead = true
		default:
			c.socket = true
			w.opened++
		}
	}
	return !c.dead, true
}

// answered looks at what the server says.
func (w *wire) answered(c *wireConn, _ []byte) (passes, goesOn bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.loses {
		w.lost++
	}
	return !c.dead && !c.loses, !c.loses
}

func (w *wire) drop(c *wireConn) {
	_ = c.client.Close()
	_ = c.server.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
}

// each does something with all connections there are.
func (w *wire) each(do func(*wireConn)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		do(c)
	}
}

// cut ends all connections.
func (w *wire) cut() {
	w.each(func(c *wireConn) {
		_ = c.client.Close()
		_ = c.server.Close()
	})
}

// lose has the next answer on each connection lost, and the connection with it: what was asked is done.
func (w *wire) lose() { w.each(func(c *wireConn) { c.loses = true }) }

// die has all connections stay open while nothing passes on them any more, as after a change of the network. New ones work.
func (w *wire) die() { w.each(func(c *wireConn) { c.dead = true }) }

// websockets decides what becomes of them from now on.
func (w *wire) websockets(become string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.upgrades = become
}

// counts returns how many websockets are open, how many there were, and how many answers were lost.
func (w *wire) counts() (open, ever, lost int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		if c.socket {
			open++
		}
	}
	return open, w.opened, w.lost
}
