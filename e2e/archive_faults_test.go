package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
)

var archiveKills = flag.Int("archive-kills", 3, "how often the tests of the archive kill chatd, and PostgreSQL")

// TestArchiveSurvivesKills kills chatd and PostgreSQL in the middle of writing, reading and archiving. In the end the whole
// log is served, every acknowledged message once and in its place, and the store holds what the groups keep.
func TestArchiveSurvivesKills(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		redis, postgres := redistest.Start(t), pgtest.Start(t)
		node := harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_ARCHIVE": postgres.Database()}})
		restart := func() { node.Kill(); node.Start() }
		crash := func() { postgres.Kill(); postgres.Restart() }
		survives(t, node, func(group string) int64 { return stored(redis, group) }, restart, crash)
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		node := harness.StartNode(t, harness.Config{}) // an archive is beside the embedded store
		survives(t, node, nil, func() { node.Kill(); node.Start() })
	})
}

// survives writes and reads while faults happen in turn. held counts what the store holds of a group, where that can be told.
func survives(t *testing.T, node *harness.Node, held func(group string) int64, faults ...func()) {
	ctx := bounded(t, time.Minute)
	r := newRun(ctx, t, []*harness.Node{node}, 4, 2, 3)
	reading, stop := context.WithCancel(ctx)
	r.stop = stop
	for i, way := range []reader{overStream, overPoll} {
		r.read(reading, i, way)
	}
	choices := rand.New(rand.NewPCG(r.rand.Uint64(), 0)) // apart from those of the writers, who go on meanwhile
	var enough atomic.Bool
	written := make(chan struct{})
	go func() {
		defer close(written)
		for !enough.Load() && !t.Failed() {
			r.write(ctx, 10)
		}
	}()
	for n := range *archiveKills * len(faults) {
		target := r.ledger.Count() + 30 + choices.IntN(60)
		harness.Eventually(t, 30*time.Second, "the next fault has its load", func() error {
			if got := r.ledger.Count(); got < target && !t.Failed() {
				return fmt.Errorf("%d sends of %d", got, target)
			}
			return nil
		})
		faults[n%len(faults)]()
	}
	enough.Store(true)
	<-written
	last := r.caughtUp(ctx, 30*time.Second)
	for group, id := range last {
		for _, name := range append(append([]string{"owner"}, r.writers...), r.readers...) {
			must(node.Client(name, patient()).Ack(ctx, group, id))(t)
		}
	}
	for group, keep := range r.keep {
		if want := min(last[group], keep); held != nil {
			harness.Eventually(t, 20*time.Second, group+" is trimmed", func() error {
				if got := held(group); got != want {
					return fmt.Errorf("the store holds %d messages, want %d", got, want)
				}
				return nil
			})
		}
	}
	whole := &harness.Transcript{Name: "history"}
	owner := node.Client("owner", patient())
	for group := range last {
		for after := client.At(0); ; {
			page := must(owner.Messages(ctx, group, client.Range{After: after, Limit: 200}))(t)
			if err := whole.Add(group, page.Messages); err != nil || !page.Complete {
				t.Fatalf("%s after %s: %v, complete is %v", group, after, err, page.Complete)
			}
			if after = page.Cursor; !page.HasMore {
				break
			}
		}
	}
	r.ledger.Check(t, last, whole)
	t.Logf("%d sends were acknowledged, %d of them by a repeated attempt", r.ledger.Count(), r.retried.Load())
}
