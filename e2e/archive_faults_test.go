package e2e

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
)

var archiveKills = flag.Int("archive-kills", 5, "how often the tests of the archive kill chatd, and PostgreSQL")

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
	var enough atomic.Bool
	written := make(chan struct{})
	go func() {
		defer close(written)
		for !enough.Load() && !t.Failed() {
			r.write(ctx, 10)
		}
	}()
	for n := range *archiveKills * len(faults) {
		target := r.ledger.Count() + 30 + r.rand.IntN(60)
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

// TestArchiveAwayUnderSends stops PostgreSQL for some seconds while people write: no send fails, the node stays ready and
// says what is away, pages of the store are served, and after its return what waited is archived and trimmed.
func TestArchiveAwayUnderSends(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	redis, postgres := redistest.Start(t), pgtest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_ARCHIVE": postgres.Database()}})
	once := client.WithRetry(1, client.Backoff{}) // a send that fails shows
	ann := node.Client("ann", once)
	keep := int64(5)
	must(ann.CreateGroup(ctx, client.GroupDraft{ID: "g", Keep: &keep}))(t)
	say := func(n int) {
		sent := must(ann.Send(ctx, "g", client.Text(fmt.Sprint(n))))(t)
		must(ann.Ack(ctx, "g", sent.ID))(t)
	}
	for n := range 50 {
		say(n)
	}
	harness.Eventually(t, 20*time.Second, "the group is trimmed", func() error {
		if got := stored(redis, "g"); got != keep {
			return fmt.Errorf("the store holds %d", got)
		}
		return nil
	})
	postgres.Stop()
	var writing sync.WaitGroup
	var more atomic.Int64
	pause, resume := context.WithTimeout(ctx, 3*time.Second)
	defer resume()
	for range 4 {
		writing.Go(func() {
			for pause.Err() == nil {
				say(int(50 + more.Add(1)))
			}
		})
	}
	harness.Eventually(t, 20*time.Second, "the node says that the archive is away", func() error {
		body, err := getBody(ctx, node.URL()+"/readyz")
		if err != nil || !strings.Contains(string(body), `"archive"`) {
			return fmt.Errorf("%s, %w", body, err)
		}
		return node.Ready()
	})
	if got, err := ann.Messages(ctx, "g", client.Range{After: client.At(0), Limit: 10}); client.CodeOf(err) != "unavailable" {
		t.Errorf("a page that only the archive has: %+v, %v", got, err)
	}
	state := must(ann.Group(ctx, "g"))(t)
	must(ann.Messages(ctx, "g", client.Range{Before: state.Last + 1, Limit: int(keep)}))(t)
	answer := must(ann.Sync(ctx, client.SyncRequest{After: map[string]client.Position{"g": client.At(1)}, Limit: 10}))(t)
	if len(answer.Errors) != 1 {
		t.Errorf("a sync that needs the archive: %+v", answer)
	}
	writing.Wait()
	if got := stored(redis, "g"); got < more.Load() {
		t.Errorf("the store holds %d entries, and %d were sent while the archive was away", got, more.Load())
	}
	postgres.Restart()
	harness.Eventually(t, 20*time.Second, "what waited is archived", func() error {
		if got := stored(redis, "g"); got != keep {
			return fmt.Errorf("the store holds %d", got)
		}
		body, err := getBody(ctx, node.URL()+"/readyz")
		if err == nil && strings.Contains(string(body), `"archive"`) {
			err = fmt.Errorf("%s", body)
		}
		return err
	})
	if got, want := int64(len(wholeLog(ctx, t, ann, "g"))), must(ann.Group(ctx, "g"))(t).Last; got != want {
		t.Errorf("the log has %d messages, want %d", got, want)
	}
}

// wholeLog reads all messages of a group, which are dense from 1 on.
func wholeLog(ctx context.Context, t *testing.T, c *client.Client, group string) (all []client.Message) {
	t.Helper()
	for after := client.At(0); ; {
		page := must(c.Messages(ctx, group, client.Range{After: after, Limit: 200}))(t)
		for _, m := range page.Messages {
			if m.ID != int64(len(all)+1) {
				t.Fatalf("message %d of %s is %d", len(all)+1, group, m.ID)
			}
			all = append(all, m)
		}
		if after = page.Cursor; !page.HasMore {
			return all
		}
	}
}
