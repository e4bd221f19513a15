package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

var crashFlag = flag.Int("crashes", 5, "how often a test kills chatd on the embedded store")

// counting counts the requests whose outcome stayed unknown: sent, and no answer.
type counting struct {
	http.RoundTripper
	flying, unknown atomic.Int64
}

func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	c.flying.Add(1)
	defer c.flying.Add(-1)
	answer, err := c.RoundTripper.RoundTrip(req)
	var op *net.OpError
	dialing := errors.As(err, &op) && op.Op == "dial"
	if err != nil && req.Context().Err() == nil && !dialing {
		c.unknown.Add(1)
	}
	return answer, err
}

// TestKillLosesNothing kills chatd on the embedded store again and again in the middle of writing and reading. What was
// acknowledged is there, in its place, once; the readers go on where they were.
func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 3*time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	r := newRun(ctx, t, []*harness.Node{node}, 8, 6, 4)
	r.inThreads(ctx)
	reading, stop := context.WithCancel(ctx)
	r.stop = stop
	for i, way := range []reader{overStream, overPoll, overSync, overAll, overStream, overPoll} {
		r.read(reading, i, way)
	}
	watched := &counting{RoundTripper: http.DefaultTransport.(*http.Transport).Clone()}
	var enough atomic.Bool
	var writing sync.WaitGroup
	for _, name := range r.writers {
		c := node.Client(name, patient(), client.WithHTTPClient(&http.Client{Transport: watched}))
		choices := rand.New(rand.NewPCG(r.rand.Uint64(), 0))
		writing.Go(func() {
			for !enough.Load() {
				if err := r.writeOne(ctx, name, 1, choices, c.Send); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
			}
		})
	}
	crashes, acknowledged := *crashFlag, 0
	// Only a crash that cuts a send shows something: its answer never came, or, where the transport sent it once more by
	// itself, its repeat is answered by what had been stored.
	cut := func() int { return int(watched.unknown.Load()) + int(r.retried.Load()) }
	for attempt := 0; (attempt < crashes || cut() < crashes) && attempt < 4*crashes && !t.Failed(); attempt++ {
		target := acknowledged + 100 + r.rand.IntN(200)
		harness.Eventually(t, 2*time.Minute, "the next crash has its load", func() error {
			got := r.ledger.Count()
			if (got < target || watched.flying.Load() == 0) && !t.Failed() {
				return fmt.Errorf("%d sends of %d, %d in flight", got, target, watched.flying.Load())
			}
			return nil
		})
		node.Kill()
		began := time.Now()
		node.Start()
		acknowledged = r.ledger.Count()
		t.Logf("killed after %d acknowledged sends, ready again after %v", acknowledged, time.Since(began).Round(time.Millisecond))
	}
	enough.Store(true)
	writing.Wait()
	last := r.caughtUp(ctx, 2*time.Minute)
	r.checkThreads(ctx)
	r.ackAll(ctx, last, func(group string) int64 { return paged(ctx, t, node.Client("owner"), group) })
	r.busy()

	t.Logf("%d sends acknowledged, %d requests with an unknown outcome, %d repeats of what had been stored",
		r.ledger.Count(), watched.unknown.Load(), r.retried.Load())
	if got := cut(); got < crashes {
		t.Errorf("%d crashes cut %d sends: the run shows too little", crashes, got)
	}
}

// paged counts the messages of a group by reading them all.
func paged(ctx context.Context, t *testing.T, c *client.Client, group string) int64 {
	t.Helper()
	var held int64
	after := client.At(0)
	for {
		page := must(c.Messages(ctx, group, client.Range{After: after, Limit: 1000}))(t)
		held += int64(len(page.Messages))
		if !page.HasMore {
			return held
		}
		after = page.Cursor
	}
}

// TestKillOfOneNodeOfTwo kills nodes in turn while people write and read over both, on one Redis.
func TestKillOfOneNodeOfTwo(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 3*time.Minute)
	nodes := twoNodes(t)
	r := newRun(ctx, t, nodes, 4, 4, 3)
	r.inThreads(ctx)
	reading, stop := context.WithCancel(ctx)
	r.stop = stop
	for i, way := range []reader{overStream, overPoll, overSync, overAll} {
		r.read(reading, i, way)
	}
	faults := make(chan struct{})
	killing, calm := context.WithCancel(ctx)
	defer calm()
	var kills atomic.Int64
	go func() {
		defer close(faults)
		for {
			harness.Pause(killing, 500*time.Millisecond)
			if killing.Err() != nil {
				return
			}
			node := nodes[kills.Load()%2]
			node.Kill()
			kills.Add(1)
			node.Launch()
			for killing.Err() == nil && node.Ready() != nil {
				harness.Pause(killing, 20*time.Millisecond)
			}
		}
	}()
	for (r.ledger.Count() < 2000 || kills.Load() < 3) && !t.Failed() {
		r.write(ctx, 100)
	}
	calm()
	<-faults
	for _, node := range nodes {
		harness.Eventually(t, time.Minute, "the node is back", node.Ready)
	}
	last := r.caughtUp(ctx, 2*time.Minute)
	r.checkThreads(ctx)
	r.busy()
	t.Logf("%d kills, %d sends acknowledged, %d of them by a repeated attempt; groups end at %v", kills.Load(), r.ledger.Count(), r.retried.Load(), last)
}
