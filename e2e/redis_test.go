package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
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
	r.inThreads(ctx)
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
	r.checkThreads(ctx)
	r.ackAll(ctx, last, func(group string) int64 { return stored(redis, group) })
	r.busy()
}

// TestRedisHangs stops Redis without ending it, three times: calls are refused in time and with the code that says to come
// back, and all goes on when it does. Nothing is left of the callers meanwhile.
func TestRedisHangs(t *testing.T) {
	ctx := bounded(t, 2*time.Minute)
	redis := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: redis.URL()})
	alice := node.Client("alice", client.WithRetry(1, client.Backoff{}))
	insists := node.Client("alice", patient())
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
	stream := must(node.Client("alice").Stream(ctx, quick(nil)))(t)
	defer stream.Close()
	until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == 1 })
	rush(ctx, t, node, http.StatusOK) // opens what stays open
	before := atRest(ctx, t, node, alice)

	first, next := time.Hour, time.Hour
	for id := int64(2); id < 5; id++ {
		draft := client.Draft{Body: "x", ClientID: fmt.Sprint("k", id)}
		refused := func() time.Duration {
			t.Helper()
			began := time.Now()
			if _, err := alice.Send(ctx, "g", draft); client.CodeOf(err) != client.CodeUnavailable {
				t.Errorf("got %v, want unavailable", err)
			}
			return time.Since(began)
		}
		redis.Signal(syscall.SIGSTOP)
		first = min(first, refused())
		for range 5 {
			next = min(next, refused())
		}
		ready := node.Ready()
		rush(ctx, t, node, http.StatusServiceUnavailable)
		redis.Signal(syscall.SIGCONT)
		if ready == nil {
			t.Error("readyz says that the node can serve, want that it says no")
		}
		sent := must(insists.Send(ctx, "g", draft))(t)
		until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == sent.ID })
		if sent.ID != id {
			t.Errorf("got id %d, want %d: the attempt before counts as the same message", sent.ID, id)
		}
	}
	// Of several: a machine that does more than this delays some. The first finds out what is wrong, the others know.
	t.Logf("the first of a time was refused after %v, the next after %v", first.Round(time.Millisecond), next.Round(time.Millisecond))
	if first > 2*time.Second || next > first/3 {
		t.Errorf("the first was refused after %v, the next after %v; want a second, and at once", first, next)
	}
	after := atRest(ctx, t, node, alice)
	t.Logf("before: %.0f goroutines, %.0f kB live; after: %.0f, %.0f kB", before.goroutines, before.live/1024, after.goroutines, after.live/1024)
	if after.goroutines > before.goroutines+rushCalls/4 {
		t.Errorf("%.0f goroutines after the outages, %.0f before", after.goroutines, before.goroutines)
	}
	if after.live > 1.5*before.live+4<<20 {
		t.Errorf("%.0f kB are live after the outages, %.0f before", after.live/1024, before.live/1024)
	}
}

const rushCalls = 200

// rush makes many calls at once, each of which has to get this status, and leaves no connection behind.
func rush(ctx context.Context, t *testing.T, node *harness.Node, status int) {
	t.Helper()
	var calls sync.WaitGroup
	for i := range rushCalls {
		calls.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, node.URL()+"/v1/groups", nil)
			if err != nil {
				t.Error(err)
				return
			}
			req.Close = true
			req.Header.Set("Authorization", "Bearer "+harness.Token(fmt.Sprint("rusher", i), "", time.Hour))
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			if _ = resp.Body.Close(); resp.StatusCode != status {
				t.Errorf("a call of many ended with status %d, want %d", resp.StatusCode, status)
			}
		})
	}
	calls.Wait()
}

// rest is what a node uses that has nothing to do.
type rest struct{ goroutines, live float64 }

// atRest reads it once the garbage was collected twice: what the first time only marks as unused is gone the second time.
// The runtime aims at twice of what is live, 4 MiB at least.
func atRest(ctx context.Context, t *testing.T, node *harness.Node, alice *client.Client) (r rest) {
	t.Helper()
	begun := must(node.Metrics(ctx))(t)["go_gc_duration_seconds_count"]
	harness.Eventually(t, time.Minute, "the node collects its garbage", func() error {
		m, err := node.Metrics(ctx)
		if err != nil {
			return err
		}
		r = rest{m["go_goroutines"], m["go_memstats_next_gc_bytes"] / 2}
		if n := m["go_gc_duration_seconds_count"] - begun; n < 2 {
			for range 50 { // makes garbage
				if _, err := alice.Groups(ctx, client.Page{}); err != nil {
					return err
				}
			}
			return fmt.Errorf("it did so %.0f times", n)
		}
		return nil
	})
	return r
}
