package e2e

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

var loadFlag = flag.Int("load", 1_000, "messages of the load tests over two nodes; `make soak` sends 20,000")

const (
	loadWriters = 8
	loadReaders = 20
	loadGroups  = 10
)

// TestEveryReaderGetsEveryMessage has eight people write into ten groups over two nodes while twenty read in every way
// there is: everyone gets everything, once and in order, and what all have acked is trimmed to what the group keeps.
func TestEveryReaderGetsEveryMessage(t *testing.T) {
	load(t, *loadFlag, func(context.Context, *deployment) func(*testing.T) { return func(*testing.T) {} })
}

// TestEveryReaderGetsEveryMessageWithoutSignals is the same while the nodes' subscriptions are cut ten times a second.
func TestEveryReaderGetsEveryMessageWithoutSignals(t *testing.T) {
	load(t, *loadFlag, func(ctx context.Context, on *deployment) func(*testing.T) {
		killed, cuts := int64(0), 0
		done := make(chan struct{})
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				if n := on.sum("CLIENT", "KILL", "TYPE", "pubsub"); n > 0 {
					killed += n
					cuts++
				}
				harness.Pause(ctx, 100*time.Millisecond)
			}
		}()
		return func(t *testing.T) {
			cancel()
			<-done
			t.Logf("cut %d subscriptions in %d rounds", killed, cuts)
			if cuts < 5 {
				t.Errorf("the subscriptions were cut %d times, want at least 5: the run shows nothing", cuts)
			}
		}
	})
}

func load(t *testing.T, messages int, disturb func(context.Context, *deployment) func(*testing.T)) {
	ctx := bounded(t, 6*time.Minute)
	on := deploy(t)
	nodes := []*harness.Node{
		harness.StartNode(t, harness.Config{Redis: on.url}), harness.StartNode(t, harness.Config{Redis: on.url}),
	}
	r := newRun(ctx, t, nodes, loadWriters, loadReaders, loadGroups)
	reading, stop := context.WithCancel(ctx)
	r.stop = stop
	ways := []reader{overStream, overPoll, overSync, overStream, overPoll, overAll}
	for i := range loadReaders * 3 / 4 {
		r.read(reading, i, ways[i%len(ways)])
	}
	calm := disturb(reading, on)
	for _, master := range on.masters {
		master.Do("CONFIG", "RESETSTAT")
	}
	began := time.Now()
	r.write(ctx, messages/loadWriters/4)
	for i := loadReaders * 3 / 4; i < loadReaders; i++ { // some come late and begin with a backlog
		r.read(reading, i, ways[i%len(ways)])
	}
	r.write(ctx, messages/loadWriters*3/4)
	wrote := time.Since(began)
	calm(t)
	last := r.caughtUp(ctx, 3*time.Minute)
	all := time.Since(began)
	commands := on.calls()
	r.ackAll(ctx, last, on.stored)

	sends := messages / loadWriters / 4 * loadWriters
	sends += messages / loadWriters * 3 / 4 * loadWriters
	if got := r.ledger.Count(); got != sends {
		t.Errorf("%d sends were acknowledged, want %d", got, sends)
	}
	var total int64
	for group := range r.keep {
		total += last[group]
	}
	if notices := int64(loadGroups * 2); total != int64(sends)+notices { // created, and joined for all members
		t.Errorf("the groups end at %d in sum, want %d sends and %d notices", total, sends, notices)
	}
	r.busy()
	t.Logf("%d sends in %v (%.0f/s), %d deliveries in %v (%.0f/s); evalsha per send %.2f", sends, wrote.Round(time.Millisecond),
		float64(sends)/wrote.Seconds(), total*loadReaders, all.Round(time.Millisecond), float64(total*loadReaders)/all.Seconds(),
		float64(commands["evalsha"])/float64(sends))
}

// busy fails when a reader did not really read in its way: a run that shows nothing must not be green.
func (r *run) busy() {
	r.t.Helper()
	for i, one := range r.readings {
		sessions, answers := one.sessions.Load(), one.answers.Load()
		if sessions+answers == 0 {
			r.t.Errorf("reader %d made neither a session nor a poll that brought anything", i)
		}
	}
}
