package redistest

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy sits between a node and a server: it can swallow what the server pushes to subscriptions, lose answers, and add
// latency.
type Proxy struct {
	Addr string

	tb    testing.TB
	to    string
	delay time.Duration // in each direction
	mu    sync.Mutex
	mute  bool
	hole  bool
	ate   int64 // bytes of subscriptions that were swallowed
	loses string
	every int
	asked int // requests that match loses, since it was set
	lost  int // lost answers
}

type link struct {
	subscribed bool
	loses      bool // the connection breaks instead of the next answer
	holed      bool // data on it was swallowed
}

// StartProxy forwards to addr, with delay in each direction. It ends with the test.
func StartProxy(tb testing.TB, addr string, delay time.Duration) *Proxy {
	tb.Helper()
	p := &Proxy{tb: tb, to: addr, delay: delay}
	p.listen()
	return p
}

// URL returns the address as CHATD_REDIS takes it.
func (p *Proxy) URL() string { return "redis://" + p.Addr + "/0" }

// Mute swallows signals, without the connections noticing anything, until it is called with false.
func (p *Proxy) Mute(mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = mute
}

// Swallowed returns how many bytes of signals were swallowed.
func (p *Proxy) Swallowed() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ate
}

// Blackhole swallows everything in both directions, on connections that stay open, until it is called with false: then
// connections that lost data break.
func (p *Proxy) Blackhole(hole bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hole = hole
}

// swallowed reports whether data is swallowed, which breaks the connection once the black hole ends.
func (p *Proxy) swallowed(l *link) (swallowed, broken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.holed = l.holed || p.hole
	return p.hole, l.holed && !p.hole
}

// Lose lets every n-th request that contains text reach the server and breaks the connection before the answer: the
// caller cannot know whether it ran. 0 ends that.
func (p *Proxy) Lose(text string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loses, p.every, p.asked = text, n, 0
}

// Lost returns how many answers were lost.
func (p *Proxy) Lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// sent examines what a node sends: a connection that subscribes carries signals from then on.
func (p *Proxy) sent(l *link, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes.Contains(bytes.ToLower(data), []byte("subscribe\r\n")) {
		l.subscribed = true
	}
	if p.every > 0 && !l.subscribed && bytes.Contains(data, []byte(p.loses)) {
		p.asked++
		l.loses = l.loses || p.asked%p.every == 0
	}
}

// passes reports whether data from the server may go on to the node, and whether the connection stays up. Only pushes
// are swallowed without breaking it: the replies by which the node checks its subscription get through.
func (p *Proxy) passes(l *link, data []byte) (pass, goOn bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.loses {
		p.lost++
		return false, false
	}
	push := bytes.Contains(data, []byte("message\r\n"))
	if p.mute && l.subscribed && push {
		p.ate += int64(len(data))
		return false, true
	}
	return true, true
}

func (p *Proxy) listen() {
	listener, err := (&net.ListenConfig{}).Listen(p.tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		p.tb.Fatal(err)
	}
	p.Addr = listener.Addr().String()
	var all sync.WaitGroup
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	all.Go(func() {
		for {
			node, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.to)
			if err != nil {
				node.Close()
				continue
			}
			mu.Lock()
			conns[node], conns[server] = true, true
			mu.Unlock()
			l := &link{}
			through := func(passes func(data []byte) (bool, bool)) func([]byte) (bool, bool) {
				return func(data []byte) (bool, bool) {
					if swallowed, broken := p.swallowed(l); swallowed || broken {
						return false, !broken
					}
					return passes(data)
				}
			}
			all.Go(func() {
				p.forward(server, node, through(func(data []byte) (bool, bool) { p.sent(l, data); return true, true }))
			})
			all.Go(func() { p.forward(node, server, through(func(data []byte) (bool, bool) { return p.passes(l, data) })) })
		}
	})
	p.tb.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for conn := range conns {
			conn.Close()
		}
		mu.Unlock()
		all.Wait()
	})
}

type chunk struct {
	data []byte
	due  time.Time
}

// forward copies from one side to the other, each piece delay after it arrived, and closes both when one ends.
func (p *Proxy) forward(to, from net.Conn, passes func([]byte) (pass, goOn bool)) {
	waiting := make(chan chunk, 1024)
	var writing sync.WaitGroup
	writing.Go(func() {
		for c := range waiting {
			if wait := time.Until(c.due); wait > 0 {
				<-time.After(wait)
			}
			if _, err := to.Write(c.data); err != nil {
				from.Close()
			}
		}
		to.Close()
	})
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		pass, goOn := true, true
		if n > 0 {
			pass, goOn = passes(buffer[:n])
		}
		if n > 0 && pass {
			waiting <- chunk{append([]byte(nil), buffer[:n]...), time.Now().Add(p.delay)}
		}
		if err != nil || !goOn {
			break
		}
	}
	close(waiting)
	writing.Wait()
	from.Close()
}
