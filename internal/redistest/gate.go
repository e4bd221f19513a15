package redistest

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// gates lead to the ports of one server, and tell its clients from the other servers by what they say first.
type gates struct {
	tb testing.TB

	mu      sync.Mutex
	links   map[*gateLink]bool
	refuses func(peer string) bool // nil: nobody
}

// gateLink is a connection through a gate. peer is the id of a cluster node, serverPeer, or "" for a client.
type gateLink struct {
	in, out net.Conn
	peer    string
}

const (
	serverPeer = "server" // a replica or a sentinel
	// A message of the cluster bus has the id of its sender behind 40 bytes of other fields.
	busSender, busSenderEnd = 40, 80
)

// StartGated is Start with a proxy in front of the server. Its replicas and sentinels have to use Public.
func StartGated(tb testing.TB, extra ...string) *Server {
	tb.Helper()
	s := Start(tb, extra...)
	s.gates = newGates(tb)
	s.public = s.gates.open(s.Addr, false)
	return s
}

// Isolate cuts the connections of replicas and sentinels to a gated server. Clients still reach it.
func (s *Server) Isolate() { s.gates.cut(func(peer string) bool { return peer != "" }) }

// Join ends Isolate.
func (s *Server) Join() { s.gates.cut(nil) }

func newGates(tb testing.TB) *gates {
	return &gates{tb: tb, links: map[*gateLink]bool{}}
}

// open listens on a free port, whose address it returns, and forwards what comes to another address.
func (g *gates) open(to string, bus bool) string {
	g.tb.Helper()
	addr := FreeAddr(g.tb)
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		g.tb.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { g.serve(in, to, bus) })
		}
	})
	g.tb.Cleanup(func() {
		_ = listener.Close()
		g.cut(func(string) bool { return true })
		running.Wait()
	})
	return addr
}

// cut ends the connections of these peers, and refuses others of theirs until it is called again. nil refuses nobody.
func (g *gates) cut(refuses func(peer string) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuses = refuses
	for l := range g.links {
		if refuses != nil && refuses(l.peer) {
			l.close()
		}
	}
}

func (l *gateLink) close() {
	_ = l.in.Close()
	_ = l.out.Close()
}

// admit notes who a connection is from, and reports whether it may go on.
func (g *gates) admit(l *gateLink, peer string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.peer = peer
	g.links[l] = true
	return g.refuses == nil || !g.refuses(peer)
}

func (g *gates) serve(in net.Conn, to string, bus bool) {
	out, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to)
	if err != nil {
		_ = in.Close()
		return
	}
	l := &gateLink{in: in, out: out}
	defer func() {
		l.close()
		g.mu.Lock()
		delete(g.links, l)
		g.mu.Unlock()
	}()
	var back sync.WaitGroup
	defer back.Wait()
	defer l.close()
	if !bus && !g.admit(l, "") { // until it says what it is
		return
	}
	back.Go(func() {
		_, _ = io.Copy(in, out)
		l.close()
	})
	g.forward(l, bus)
}

// forward passes on what a peer says, as long as it may. The first message on the bus tells who it is; a replica and a sentinel
// introduce themselves within the first few.
func (g *gates) forward(l *gateLink, bus bool) {
	buffer, known := make([]byte, 64<<10), false
	for {
		n, err := l.in.Read(buffer)
		said := buffer[:n]
		switch lower := bytes.ToLower(said); {
		case known || n == 0:
		case bus && n >= busSenderEnd:
			if known = true; !g.admit(l, string(said[busSender:busSenderEnd])) {
				return
			}
		case !bus && (bytes.Contains(lower, []byte("replconf")) || bytes.Contains(lower, []byte("sentinel-"))):
			if known = true; !g.admit(l, serverPeer) {
				return
			}
		}
		if n > 0 {
			if _, err := l.out.Write(said); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
