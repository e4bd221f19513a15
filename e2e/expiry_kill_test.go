package e2e

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

var (
	expiryKills = flag.Int("expiry-kills", 4, "how often TestExpiryUnderKills kills a node; `make soak` kills more")
	expiryMany  = flag.Int("expiry-messages", 200, "messages of TestExpiryIsPunctual; `make soak` has 100,000, and bounds how late they go")
)

const (
	shortestLife = time.Minute // of a message with an end
	clockSlack   = 100 * time.Millisecond
	measured     = 100_000 // messages of TestExpiryIsPunctual from which on it measures
)

// atStore sends at the store itself, as if a while ago: a message with an end lives for a minute at least.
type atStore struct {
	store *store.Store
}

func openStore(ctx context.Context, t *testing.T, redis *redistest.Server) *atStore {
	t.Helper()
	s := must(store.Open(ctx, store.Options{URL: redis.URL(), Limits: chat.DefaultLimits()}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return &atStore{s}
}

// send sends a text that goes at a time, and returns its id.
func (s *atStore) send(ctx context.Context, group, body string, goes time.Time) (int64, error) {
	e := chat.Entry{Group: group, From: "bot", Content: chat.Content{Kind: chat.Text, Body: &body, ExpireS: int64(shortestLife / time.Second)}}
	done, err := s.store.Append(ctx, chat.NewAppend(e, goes.Add(-shortestLife).UnixMilli()))
	return done.ID, err
}

// expected is what a log has to have in the end.
type expected struct {
	mu    sync.Mutex
	stays map[int64]string // the bodies of what stays
	goes  []int64
	later int64 // messages that have an end, but not yet
}

// TestExpiryUnderKills has messages with an end and without sent at two nodes, of which one is killed meanwhile, or while messages
// go, again and again: nothing is served after its end, each of what had to go is deleted once, and everything else is there.
func TestExpiryUnderKills(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 2*time.Minute+time.Duration(*expiryKills)*20*time.Second)
	redis, dice := redistest.Start(t), random(t)
	nodes := []*harness.Node{
		harness.StartNode(t, harness.Config{Redis: redis.URL()}), harness.StartNode(t, harness.Config{Redis: redis.URL()}),
	}
	ends := func() int64 { return redis.Int("ZCARD", "chat:{p00}:g:g:expires") }
	must(nodes[0].Client("bot", patient()).CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"ann"}, Keep: new(int64(100_000))}))(t)
	direct, want := openStore(ctx, t, redis), &expected{stays: map[int64]string{}}

	reading, stop := context.WithCancel(ctx)
	var readers sync.WaitGroup
	for _, node := range nodes {
		readers.Go(func() { readsNothingLate(reading, t, node.Client("ann", client.WithRetry(1, client.Backoff{}))) })
	}
	for kill := range *expiryKills {
		begun := make(chan struct{})
		var sending sync.WaitGroup
		for i, node := range nodes {
			at := node.Client("bot", patient())
			sending.Go(func() { sendsWhatStays(ctx, t, at, fmt.Sprintf("stays %d %d", kill, i), want) })
		}
		in := make([]time.Duration, 40)
		for i := range in {
			in[i] = time.Duration(dice.IntN(2000)) * time.Millisecond
		}
		sending.Go(func() {
			for i, d := range in {
				id, err := direct.send(ctx, "g", fmt.Sprintf("goes %d %d", kill, i), time.Now().Add(d))
				if err != nil {
					t.Errorf("a message with an end: %v", err)
				}
				want.mu.Lock()
				want.goes = append(want.goes, id)
				want.mu.Unlock()
				if i == len(in)/4 {
					close(begun)
				}
			}
		})
		<-begun
		if kill%2 > 0 {
			sending.Wait()
			before := ends()
			harness.Eventually(t, time.Minute, "some are deleted", func() error {
				if now := ends(); before > want.later && now >= before {
					return fmt.Errorf("%d have an end", now)
				}
				return nil
			})
		}
		dead := nodes[dice.IntN(2)]
		dead.Kill()
		dead.Start()
		sending.Wait()
	}
	harness.Eventually(t, time.Minute, "what had to go is deleted", func() error {
		if left := ends(); left != want.later {
			return fmt.Errorf("%d have an end, of which %d come later", left, want.later)
		}
		return nil
	})
	stop()
	readers.Wait()
	want.check(ctx, t, nodes[0].Client("ann", patient()))
}

// sendsWhatStays sends messages without an end, and with one that does not come.
func sendsWhatStays(ctx context.Context, t *testing.T, at *client.Client, name string, want *expected) {
	t.Helper()
	for i := range 12 {
		draft := client.Draft{Body: fmt.Sprintf("%s %d", name, i), ExpireS: int64(i%2) * 3600}
		sent, err := at.Send(ctx, "g", draft)
		if err != nil {
			t.Errorf("%q: %v", draft.Body, err)
			return
		}
		want.mu.Lock()
		want.stays[sent.ID], want.later = draft.Body, want.later+int64(i%2)
		want.mu.Unlock()
	}
}

// readsNothingLate reads a log from time to time until ctx ends, whatever becomes of the node: what had to go before it asked must not
// be in an answer.
func readsNothingLate(ctx context.Context, t *testing.T, at *client.Client) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	last := int64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		page, err := at.Messages(ctx, "g", client.Range{After: client.At(max(0, last-150)), Limit: 200})
		if err != nil {
			continue // the node is dead, or begins
		}
		for _, m := range page.Messages {
			if m.ExpiresAt != nil && m.DeletedAt == nil && asked.After(m.ExpiresAt.Add(clockSlack)) {
				t.Errorf("message %d is served with %q, %v after its end", m.ID, m.Body, asked.Sub(*m.ExpiresAt))
			}
		}
		last = page.To
	}
}

// check compares a log with what it has to have.
func (want *expected) check(ctx context.Context, t *testing.T, at *client.Client) {
	t.Helper()
	deletions, entries := map[int64]int{}, map[int64]client.Message{}
	after := client.Position("0")
	for more := true; more; {
		page := must(at.Messages(ctx, "g", client.Range{After: after, Limit: 200}))(t)
		for _, m := range page.Messages {
			switch m.Kind {
			case client.KindDelete:
				deletions[m.Target]++
			case client.KindText:
				entries[m.ID] = m
			}
		}
		after, more = page.Cursor, page.HasMore
	}
	for id, body := range want.stays {
		if m := entries[id]; m.Body != body || m.DeletedAt != nil || deletions[id] > 0 {
			t.Errorf("message %d is %q, deleted at %v, by %d entries, and not %q", id, m.Body, m.DeletedAt, deletions[id], body)
		}
	}
	for _, id := range want.goes {
		if m, ok := entries[id]; !ok || m.Body != "" || m.DeletedAt == nil || deletions[id] != 1 {
			t.Errorf("message %d is %q, deleted at %v, by %d entries", id, m.Body, m.DeletedAt, deletions[id])
		}
	}
	if n := len(want.stays) + len(want.goes); n != len(entries) {
		t.Errorf("there are %d messages, and not %d", len(entries), n)
	}
}

// TestExpiryIsPunctual has many messages go in up to a hundred groups, 1,667 a second, and says how late their deletions were.
func TestExpiryIsPunctual(t *testing.T) {
	if *expiryMany < measured {
		t.Parallel() // it measures nothing
	}
	groups := min(100, *expiryMany/20)
	ctx := bounded(t, 5*time.Minute)
	redis := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: redis.URL()})
	bot, direct := node.Client("bot", patient()), openStore(ctx, t, redis)
	for i := range groups {
		must(bot.CreateGroup(ctx, client.GroupDraft{ID: fmt.Sprintf("g%d", i), Keep: new(int64(100_000))}))(t)
	}
	// The first end comes when all of them are sent.
	const every = 600 * time.Microsecond
	begin := time.Now().Add(2*time.Second + time.Duration(*expiryMany)*every)
	ends := make([]map[int64]time.Time, groups)
	for i := range ends {
		ends[i] = map[int64]time.Time{}
	}
	var mu sync.Mutex
	var sending sync.WaitGroup
	for i := range 16 {
		sending.Go(func() {
			for n := i; n < *expiryMany; n += 16 {
				goes := begin.Add(every * time.Duration(n))
				id, err := direct.send(ctx, fmt.Sprintf("g%d", n%groups), "x", goes)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				ends[n%groups][id] = goes
				mu.Unlock()
			}
		})
	}
	sending.Wait()
	t.Logf("sent %v before the first end", time.Until(begin))
	var late []time.Duration
	for i, ends := range ends {
		group, after := fmt.Sprintf("g%d", i), int64(0)
		harness.Eventually(t, 5*time.Minute, "what had to go is deleted", func() error {
			for more := true; more; {
				page, err := bot.Messages(ctx, group, client.Range{After: client.At(after), Limit: 200})
				if err != nil {
					return err
				}
				for _, m := range page.Messages {
					if goes, ours := ends[m.Target]; m.Kind == client.KindDelete && ours {
						late = append(late, m.SentAt.Sub(goes))
						delete(ends, m.Target)
					}
				}
				after, more = page.To, page.HasMore
			}
			if len(ends) > 0 {
				return fmt.Errorf("%d of %s are there", len(ends), group)
			}
			return nil
		})
	}
	slices.Sort(late)
	most := late[len(late)-1]
	t.Logf("%d messages, late by %v, p99 %v, at most %v", len(late), late[len(late)/2], late[len(late)*99/100], most)
	if late[0] < -clockSlack {
		t.Errorf("a message was deleted %v before its end", -late[0])
	}
	if *expiryMany >= measured && most > 5*time.Second {
		t.Errorf("a message was deleted %v after its end", most)
	}
}
