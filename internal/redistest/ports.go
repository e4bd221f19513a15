package redistest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// The kernel picks the ports of outgoing connections from 32768 up. Servers get lower ones, so that no connection takes
// the port of a server that is down.
const (
	portMin    = 11_000 // browsers open nothing at 10080, the last "bad port" of the Fetch standard
	portMax    = 32_000
	blockPorts = 100 // for one test process
)

// ports are the ports that one process hands out. It listens on the first of a block, which keeps other processes away
// from the rest.
type ports struct {
	mu    sync.Mutex
	claim net.Listener
	first int
	next  int // offset from first
	taken map[int]bool
}

var own ports

// FreeAddr returns a loopback address that belongs to the test until it ends: nothing listens there, and neither
// another test nor a client takes it while this test's server is down.
func FreeAddr(tb testing.TB) string { tb.Helper(); return own.addr(tb) }

func (p *ports) addr(tb testing.TB) string {
	tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.claim == nil {
		p.claimBlock(tb)
	}
	for range blockPorts {
		p.next = p.next%(blockPorts-1) + 1
		port := p.first + p.next
		if p.taken[port] {
			continue
		}
		listener, err := listen(port)
		if err != nil {
			continue
		}
		_ = listener.Close()
		p.taken[port] = true
		tb.Cleanup(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.taken, port)
		})
		return listener.Addr().String()
	}
	tb.Fatalf("none of %d ports from %d on is free", blockPorts, p.first)
	return ""
}

func (p *ports) claimBlock(tb testing.TB) {
	tb.Helper()
	const blocks = (portMax - portMin) / blockPorts
	start := rand.IntN(blocks)
	for i := range blocks {
		first := portMin + (start+i)%blocks*blockPorts
		if claim, err := listen(first); err == nil {
			p.claim, p.first, p.taken = claim, first, map[int]bool{}
			return
		}
	}
	tb.Fatalf("no block of ports from %d to %d is free", portMin, portMax)
}

func listen(port int) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
}
