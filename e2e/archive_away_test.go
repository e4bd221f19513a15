package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
)

var archiveAway = flag.Duration("archive-away", time.Second, "how long the tests of the archive keep PostgreSQL away")

const (
	awayRate    = 500 // sends a second while the database is away
	awayWriters = 20  // each in a group of their own, which is trimmed as soon as it is archived
	awayKeep    = 5
)

// TestArchiveAwayUnderSends keeps PostgreSQL away while people write: no send fails or costs Redis more, the node stays ready and
// says what is away, pages of the store are served, and after its return what waited is archived and trimmed.
func TestArchiveAwayUnderSends(t *testing.T) {
	t.Parallel()
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		awayUnderSends(t, (*pgtest.Server).Stop, (*pgtest.Server).Restart)
	})
	t.Run("hangs", func(t *testing.T) {
		t.Parallel()
		awayUnderSends(t, (*pgtest.Server).Pause, (*pgtest.Server).Resume)
	})
}

func awayUnderSends(t *testing.T, leave, back func(*pgtest.Server)) {
	ctx := bounded(t, time.Minute+4**archiveAway)
	redis, postgres := redistest.Start(t), pgtest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_ARCHIVE": postgres.Database()}})
	w := newSenders(ctx, t, node)
	up := w.send(ctx, t, redis, *archiveAway)
	archived := func() {
		t.Helper()
		harness.Eventually(t, 20*time.Second+*archiveAway, "everything is archived and trimmed", func() error {
			for _, name := range w.names {
				if got := stored(redis, name); got != awayKeep {
					return fmt.Errorf("the store holds %d messages of %s", got, name)
				}
			}
			body, err := getBody(ctx, node.URL()+"/readyz")
			if err == nil && strings.Contains(string(body), `"archive"`) {
				err = fmt.Errorf("%s", body)
			}
			return err
		})
	}
	archived()
	leave(postgres)
	left := time.Now()
	away := w.send(ctx, t, redis, *archiveAway)
	for time.Since(left) < *archiveAway {
		harness.Pause(ctx, time.Until(left.Add(*archiveAway)))
	}
	w.checkAway(ctx, t, node)
	for _, name := range w.names {
		if got := stored(redis, name); got < int64(away.sends/awayWriters) {
			t.Errorf("the store holds %d messages of %s, and %d were sent while the archive was away", got, name, away.sends/awayWriters)
		}
	}
	back(postgres)
	returned := time.Now()
	archived()
	t.Logf("with the database: %v; without it for %v: %v; archived %v after its return", up, returned.Sub(left).Round(time.Millisecond), away,
		time.Since(returned).Round(time.Millisecond))
	// What nodes do beside sends costs so much a second: the slower the machine, the more of it comes to a send.
	if away.each() > 2*up.each() {
		t.Errorf("a send costs %.2f commands while the database is away, and %.2f with it", away.each(), up.each())
	}
	w.check(ctx, t, node)
}

// cost is what a number of sends cost.
type cost struct {
	sends    int
	commands int64 // of Redis, with those of scripts
	took     time.Duration
}

func (c cost) each() float64 { return float64(c.commands) / float64(c.sends) }

func (c cost) String() string {
	return fmt.Sprintf("%d sends at %.0f/s, %.2f commands each", c.sends, float64(c.sends)/c.took.Seconds(), c.each())
}

// senders write, each into a group of their own.
type senders struct {
	names   []string
	clients []*client.Client
	bodies  [][]string // of each, what was acknowledged, in order
	first   []int64    // ids below are no messages
}

func newSenders(ctx context.Context, t *testing.T, node *harness.Node) *senders {
	t.Helper()
	w := &senders{bodies: make([][]string, awayWriters)}
	keep := int64(awayKeep)
	for n := range awayWriters {
		name := fmt.Sprint("writer", n)
		c := node.Client(name, client.WithRetry(1, client.Backoff{})) // a send that fails shows
		group := must(c.CreateGroup(ctx, client.GroupDraft{ID: name, Keep: &keep}))(t)
		must(c.Ack(ctx, name, group.Last))(t) // from here on a sender's cursor follows what they send
		w.names, w.clients, w.first = append(w.names, name), append(w.clients, c), append(w.first, group.Last+1)
	}
	return w
}

// send sends awayRate messages a second for a time; where the machine is slower, as many in more time.
func (w *senders) send(ctx context.Context, t *testing.T, redis *redistest.Server, during time.Duration) cost {
	t.Helper()
	each := int(awayRate * during.Seconds() / awayWriters)
	c := cost{sends: each * awayWriters}
	redis.Do("CONFIG", "RESETSTAT")
	began := time.Now()
	var writing sync.WaitGroup
	for n, from := range w.clients {
		writing.Go(func() {
			for i := range each {
				harness.Pause(ctx, time.Until(began.Add(time.Duration(i*awayWriters+n)*time.Second/awayRate)))
				body := fmt.Sprint(w.names[n], " ", len(w.bodies[n]))
				sent, err := from.Send(ctx, w.names[n], client.Text(body))
				if want := w.first[n] + int64(len(w.bodies[n])); err == nil && sent.ID != want {
					err = fmt.Errorf("it got the id %d, want %d", sent.ID, want)
				}
				if err != nil {
					t.Errorf("message %d of %s: %v", len(w.bodies[n]), w.names[n], err)
					return
				}
				w.bodies[n] = append(w.bodies[n], body)
			}
		})
	}
	writing.Wait()
	c.took = time.Since(began)
	for _, calls := range redis.Calls() {
		c.commands += calls
	}
	return c
}

// checkAway looks at what a node serves without its archive.
func (w *senders) checkAway(ctx context.Context, t *testing.T, node *harness.Node) {
	t.Helper()
	harness.Eventually(t, 20*time.Second, "the node says that the archive is away", func() error {
		body, err := getBody(ctx, node.URL()+"/readyz")
		if err != nil || !strings.Contains(string(body), `"archive"`) {
			return errors.Join(err, fmt.Errorf("%s", body))
		}
		return node.Ready()
	})
	c, group := w.clients[0], w.names[0]
	if got, err := c.Messages(ctx, group, client.Range{After: client.At(0), Limit: 10}); client.CodeOf(err) != "unavailable" {
		t.Errorf("a page that only the archive has: %+v, %v", got, err)
	}
	state := must(c.Group(ctx, group))(t)
	must(c.Messages(ctx, group, client.Range{Before: state.Last + 1, Limit: awayKeep}))(t)
	answer := must(c.Sync(ctx, client.SyncRequest{After: map[string]client.Position{group: client.At(1)}, Limit: 10}))(t)
	if len(answer.Errors) != 1 {
		t.Errorf("a sync that needs the archive: %+v", answer)
	}
}

// check reads every log: what was acknowledged is there once, in its place, and nothing else.
func (w *senders) check(ctx context.Context, t *testing.T, node *harness.Node) {
	t.Helper()
	for n, name := range w.names {
		all := wholeLog(ctx, t, node.Client(name, patient()), name) // pages may be refused for another half second
		if want := int(w.first[n]) - 1 + len(w.bodies[n]); len(all) != want {
			t.Errorf("%s has %d messages, want %d", name, len(all), want)
			continue
		}
		for i, body := range w.bodies[n] {
			if got := all[int(w.first[n])-1+i]; got.Body != body {
				t.Errorf("message %d of %s is %q, want %q", got.ID, name, got.Body, body)
			}
		}
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
