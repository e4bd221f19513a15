package e2e

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestRedisIsKilledAndComesBack kills Redis under load, three times. It syncs its file at every write, so that nothing
// that was acknowledged may be missing; the nodes find it again by themselves.
func TestRedisIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 3*time.Minute)
	redis := redistest.Start(t, "--appendfsync", "always")
	nodes := []*harness.Node{
		harness.StartNode(t, harness.Config{Redis: redis.URL()}), harness.StartNode(t, harness.Config{Redis: redis.URL()}),
	}
	r := newRun(ctx, t, nodes, 4, 6, 3)
	reading, stop := context.WithCancel(ctx)
	r.stop = stop
	for i, way := range []reader{overStream, overPoll, overSync, overAll, overStream, overPoll} {
		r.read(reading, i, way)
	}
	writing, enough := context.WithCancel(ctx)
	defer enough()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for writing.Err() == nil && !t.Failed() {
			r.write(ctx, 25)
		}
	}()
	for range 3 {
		before := r.ledger.Count()
		harness.Eventually(t, 30*time.Second, "the next kill has its load", func() error {
			if got := r.ledger.Count(); got < before+100 && !t.Failed() {
				return fmt.Errorf("%d sends since the last", got-before)
			}
			return nil
		})
		redis.Kill()
		t.Logf("killed redis-server after %d sends", r.ledger.Count())
		redis.Restart()
	}
	enough()
	<-written
	began := time.Now()
	last := r.caughtUp(ctx, 2*time.Minute)
	t.Logf("%d sends, %d of them by a repeated attempt; all readers have them after %v", r.ledger.Count(), r.retried.Load(), time.Since(began).Round(time.Millisecond))
	r.ackAll(ctx, last, func(group string) int64 { return stored(redis, group) })
	r.busy()
}

// TestRedisHangs stops Redis without ending it: calls are refused in time and with the code that says to come back, and
// all goes on when it does.
func TestRedisHangs(t *testing.T) {
	ctx := bounded(t, time.Minute)
	redis := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: redis.URL()})
	alice := node.Client("alice", client.WithRetry(1, client.Backoff{}))
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
	stream := must(node.Client("alice").Stream(ctx, quick(nil)))(t)
	defer stream.Close()
	until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == 1 })

	redis.Signal(syscall.SIGSTOP)
	began := time.Now()
	_, err := alice.Send(ctx, "g", client.Draft{Body: "x", ClientID: "k"})
	took := time.Since(began)
	began = time.Now()
	_, next := alice.Send(ctx, "g", client.Draft{Body: "x", ClientID: "k"})
	atOnce := time.Since(began)
	ready := node.Ready()
	redis.Signal(syscall.SIGCONT)
	// A second, and no time at all, on a machine that does nothing else.
	if client.CodeOf(err) != client.CodeUnavailable || took > 2*time.Second {
		t.Errorf("got %v after %v, want unavailable within a second", err, took)
	}
	if client.CodeOf(next) != client.CodeUnavailable || atOnce > 300*time.Millisecond {
		t.Errorf("got %v after %v of the next call, want unavailable at once", next, atOnce)
	}
	if ready == nil {
		t.Error("readyz says that the node can serve, want that it says no")
	}
	began = time.Now()
	sent := must(node.Client("alice", patient()).Send(ctx, "g", client.Draft{Body: "x", ClientID: "k"}))(t)
	until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == sent.ID })
	t.Logf("refused after %v; delivered %v after Redis went on", took.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	if sent.ID != 2 {
		t.Errorf("got id %d, want 2: the attempt before counts as the same message", sent.ID)
	}
}
