package ws_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/web/ws"
)

// progress is how many messages have been sent, for clients that stop reading until there are more.
type progress struct {
	mu   sync.Mutex
	more sync.Cond
	last int64
}

func newProgress() *progress {
	p := &progress{}
	p.more.L = &p.mu
	return p
}

func (p *progress) reach(last int64) {
	p.mu.Lock()
	p.last = last
	p.mu.Unlock()
	p.more.Broadcast()
}

func (p *progress) await(last int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.last < last {
		p.more.Wait()
	}
}

// Clients stop reading until the server can't write to them any more, and then read on, or close the connection in the
// middle of a frame and come back with their cursors. Each gets every message once and in order, its answers, and pings
// between them; and those that read are not held up by the others.
func TestWSStallsAndResumes(t *testing.T) {
	t.Run("with pings", func(t *testing.T) { stallAndResume(t, 100*time.Millisecond) })
	t.Run("without", func(t *testing.T) { stallAndResume(t, 10*wsPatience) }) // a signal that gets lost is not made up for
}

func stallAndResume(t *testing.T, pingEvery time.Duration) {
	const (
		clients  = 12
		messages = 120
		stall    = 25 // messages that more than fill the buffers of the kernel
	)
	n := startWS(t, ws.SessionOptions{SessionsUserMax: 2 * clients, PingEvery: pingEvery, PongWithin: time.Minute})
	n.group(t, "red", "ann", "bob")
	n.narrow()
	sent, first := newProgress(), int64(3)
	last := first + messages - 1
	var wg sync.WaitGroup
	defer wg.Wait()
	defer sent.reach(last) // also after a failure nobody waits for ever
	for i := range clients {
		wg.Go(func() {
			r := &staller{n: n, t: t, sent: sent, random: rand.New(rand.NewPCG(uint64(i), 7)), to: first - 1, last: last, stall: stall, steady: i == 0}
			if err := r.run(); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	body := strings.Repeat("x", 12<<10)
	for id := first; id <= last && !t.Failed(); id++ {
		sent.reach(n.say(t, "red", "ann", body))
	}
}

// staller is a client that stops reading now and then.
type staller struct {
	n        *wsNode
	t        *testing.T
	sent     *progress
	random   *rand.Rand
	to, last int64
	stall    int64
	steady   bool // it never stops
}

func (r *staller) run() error {
	for r.to < r.last {
		if err := r.session(); err != nil {
			return err
		}
	}
	return nil
}

// session reads until the last message, or until the client breaks the connection.
func (r *staller) session() error {
	c, _, err := r.n.dial(r.t, nil)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := c.WriteJSON(map[string]any{"op": "hello", "token": "bob", "after": map[string]any{"red": r.to}}); err != nil {
		return err
	}
	asked, answered := 0, 0
	for r.to < r.last || answered < asked {
		f, err := c.read()
		if err != nil {
			return err
		}
		switch f.Op {
		case "ok":
			if answered++; f.Ref != fmt.Sprint(answered) {
				return fmt.Errorf("got the answer to %s, want %d", f.Ref, answered)
			}
		case "messages":
			if f.From != r.to+1 || !f.Complete || f.To != f.From+int64(len(f.Messages))-1 {
				return fmt.Errorf("got %d to %d with %d messages after %d, complete %v", f.From, f.To, len(f.Messages), r.to, f.Complete)
			}
			r.to = f.To
			if r.steady {
				continue
			}
			asked++
			if err := c.WriteJSON(map[string]any{"op": "typing", "group": "red", "ref": fmt.Sprint(asked)}); err != nil {
				return err
			}
			if r.random.IntN(8) == 0 {
				r.sent.await(min(r.to+r.stall, r.last))
				if r.random.IntN(2) == 0 {
					return c.NetConn().Close() // what it has not read is lost, and comes again
				}
			}
		}
	}
	return nil
}
