package live_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// TestPollsServeEachEntryOnce has users poll two nodes in random ways, several at once, woken by signals alone, while members
// come and go, entries are edited and deleted, and groups are deleted and created again. Every poll that follows another goes on
// where that ended, what it reads is of a moment when the user was a member, and nobody misses the end.
func TestPollsServeEachEntryOnce(t *testing.T) {
	t.Parallel()
	l := startLive(t, signalsOnly)
	w := &pollWorld{node: l, t: t, random: rand.New(rand.NewPCG(1, 2)), spans: map[string]map[string][]memberSpan{}, end: map[string]chat.LogEnd{}}
	for i := range 10 {
		w.users = append(w.users, fmt.Sprint("u", i))
	}
	for _, g := range pollGroups {
		w.create(g, w.users...)
	}
	pollers, ctx := w.pollers(l, joinLive(t, l.redis, signalsOnly)), t.Context()
	var polling sync.WaitGroup
	for _, p := range pollers {
		polling.Go(func() { p.follow(ctx, t, w) })
	}
	for range 300 {
		w.act()
	}
	w.finish()
	polling.Wait()
	if calls := l.redis.Calls(); calls["zmscore"] == 0 {
		t.Errorf("no read was shared: %v", calls)
	}
	served := 0
	for _, p := range pollers {
		served += len(p.got)
		w.audit(p)
	}
	t.Logf("%d batches", served)
}

// pollGroups: the history of the first is hidden.
var pollGroups = []string{"c0", "c1", "c2"}

// memberSpan is when a user was a member: while the log ended at from and after, but before to.
type memberSpan struct{ from, to int64 }

// pollWorld is what happens, one thing after another, and what is known of it.
type pollWorld struct {
	*node
	t      *testing.T
	random *rand.Rand
	users  []string
	spans  map[string]map[string][]memberSpan // by epoch and user

	mu  sync.Mutex
	end map[string]chat.LogEnd // where each group ends in the end; empty before
}

func (w *pollWorld) create(group string, members ...string) {
	w.t.Helper()
	history := group != pollGroups[0]
	if _, err := w.CreateGroup(w.t.Context(), chat.Caller{User: "ann"}, chat.GroupDraft{ID: group, Members: members, History: &history}); err != nil {
		w.t.Fatal(err)
	}
	spans := map[string][]memberSpan{}
	for _, user := range members {
		spans[user] = []memberSpan{{1, math.MaxInt64}}
	}
	w.spans[w.endOf(group).Epoch] = spans
}

func (w *pollWorld) endOf(group string) chat.LogEnd {
	w.t.Helper()
	ends, err := w.store.Lasts(w.t.Context(), []string{group})
	if err != nil {
		w.t.Fatal(err)
	}
	return ends[0]
}

// spansOf are those of a user in a group as it is now; in: the last one has not ended.
func (w *pollWorld) spansOf(group, user string) (end chat.LogEnd, spans []memberSpan, in bool) {
	end = w.endOf(group)
	spans = w.spans[end.Epoch][user]
	return end, spans, len(spans) > 0 && spans[len(spans)-1].to == math.MaxInt64
}

func (w *pollWorld) put(group, user string) {
	w.t.Helper()
	if _, _, in := w.spansOf(group, user); in {
		return
	}
	if _, _, err := w.PutMember(w.t.Context(), chat.Caller{User: "ann"}, group, user, ""); err != nil {
		w.t.Fatal(err)
	}
	end, spans, _ := w.spansOf(group, user)
	w.spans[end.Epoch][user] = append(spans, memberSpan{end.Last, math.MaxInt64})
}

func (w *pollWorld) remove(group, user string) {
	w.t.Helper()
	if _, _, in := w.spansOf(group, user); !in {
		return
	}
	if err := w.RemoveMember(w.t.Context(), chat.Caller{User: "ann"}, group, user); err != nil {
		w.t.Fatal(err)
	}
	end, spans, _ := w.spansOf(group, user)
	spans[len(spans)-1].to = end.Last
}

// act does something at random.
func (w *pollWorld) act() {
	w.t.Helper()
	group, i := pollGroups[w.random.IntN(len(pollGroups))], w.random.IntN(len(w.users))
	user, sender := w.users[i], w.users[i-i%2] // sending moves the cursors of those who are at the end: senders ack nothing
	ctx, ann, body, target := w.t.Context(), chat.Caller{User: "ann"}, "x", 1+w.random.Int64N(w.endOf(group).Last)
	what := w.random.IntN(100)
	switch {
	case what < 12:
		w.put(group, user)
	case what < 24:
		w.remove(group, user)
	case what < 27:
		if err := w.DeleteGroup(ctx, ann, group); err != nil {
			w.t.Fatal(err)
		}
		w.create(group, w.users[:w.random.IntN(len(w.users))]...)
	case what < 40: // refused where the target is a notice, or deleted
		_, _ = w.Send(ctx, ann, group, chat.Content{Kind: chat.Edit, Target: target, Body: &body}, "")
	case what < 50:
		_, _ = w.Send(ctx, ann, group, chat.Content{Kind: chat.Delete, Target: target}, "")
	case what < 60:
		_, _ = w.Send(ctx, chat.Caller{User: sender}, group, chat.Content{Body: &body}, "") // refused outside
	default:
		for range 1 + w.random.IntN(3) {
			w.say(w.t, group, "ann", body)
		}
	}
}

// finish has everybody in every group, and says where each ends.
func (w *pollWorld) finish() {
	w.t.Helper()
	for _, g := range pollGroups {
		for _, user := range w.users {
			w.put(g, user)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range pollGroups {
		w.say(w.t, g, "ann", "the end")
		w.end[g] = w.endOf(g)
	}
}

// poller is a client of one user that polls.
type poller struct {
	*node
	user   string
	acks   bool // it acks what it was given, and sends no positions
	random *rand.Rand
	at     map[string]chat.Batch // the last of each group
	got    []chat.Batch
}

// pollers are two of each user who send positions, and one of each user who acks: two would see what the other acked.
func (w *pollWorld) pollers(nodes ...*node) (all []*poller) {
	for i, user := range w.users {
		for k := range 2 - i%2 {
			all = append(all, &poller{node: nodes[(i/2+k)%len(nodes)], user: user, acks: i%2 == 1, at: map[string]chat.Batch{},
				random: rand.New(rand.NewPCG(uint64(i), uint64(k)))})
		}
	}
	return all
}

// follow polls until it has reached the end of every group.
func (p *poller) follow(ctx context.Context, t *testing.T, w *pollWorld) {
	for !p.done(w) {
		req := live.SyncRequest{Limit: 1 + p.random.IntN(30), WaitS: 30, After: map[string]string{}, Ack: map[string]chat.Position{}}
		for g, b := range p.at {
			if p.acks {
				req.Ack[g], _ = chat.ParsePosition(b.Cursor)
			} else if p.random.IntN(8) > 0 {
				req.After[g] = b.Cursor
			} else {
				req.After[g] = fmt.Sprintf("%s.%d.-", b.Epoch, b.To)
			}
		}
		a, err := p.Sync(ctx, chat.Caller{User: p.user}, req)
		n := 0
		for _, b := range a.Groups {
			p.got, p.at[b.Group] = append(p.got, b), b
			n += len(b.Messages)
		}
		for _, g := range a.Left {
			delete(p.at, g)
		}
		for _, e := range a.Errors { // the log that it acks is gone
			delete(p.at, e.Group)
		}
		if none := len(a.Groups)+len(a.Left)+len(a.Errors) == 0; err != nil || none || n > req.Limit {
			t.Errorf("%s: got %q, %v, for a limit of %d, after %v", p.user, outline(a), err, req.Limit, req.After)
			return
		}
	}
}

func (p *poller) done(w *pollWorld) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range pollGroups {
		if end, over := w.end[g]; !over || p.at[g].Epoch != end.Epoch || p.at[g].To != end.Last {
			return false
		}
	}
	return true
}

// audit compares what a poller was given with what happened.
func (w *pollWorld) audit(p *poller) {
	w.t.Helper()
	before, in := map[string]chat.Batch{}, map[string]memberSpan{}
	for _, b := range p.got {
		var span memberSpan
		for _, s := range w.spans[b.Epoch][p.user] {
			if s.from <= b.Last && b.Last < s.to {
				span = s
			}
		}
		last, same := before[b.Group], before[b.Group].Epoch == b.Epoch && in[b.Group] == span
		switch {
		case span == (memberSpan{}):
			w.t.Errorf("%s: %s %d..%d/%d: no member at that time: %v", p.user, b.Group, b.From, b.To, b.Last, w.spans[b.Epoch][p.user])
		case same && (b.From != last.To+1 || !b.Complete):
			w.t.Errorf("%s: %s %d..%d/%d after %d, complete: %v", p.user, b.Group, b.From, b.To, b.Last, last.To, b.Complete)
		case b.Group == pollGroups[0] && b.From < span.from && span.from > int64(1):
			w.t.Errorf("%s: %s %d..%d/%d: joined with %d", p.user, b.Group, b.From, b.To, b.Last, span.from)
		}
		before[b.Group], in[b.Group] = b, span
		w.compare(p.user, b)
	}
}

// compare looks whether the entries of a batch are those of the log.
func (w *pollWorld) compare(user string, b chat.Batch) {
	w.t.Helper()
	if b.To != b.From-1+int64(len(b.Messages)) {
		w.t.Errorf("%s: %s %d..%d has %d entries", user, b.Group, b.From, b.To, len(b.Messages))
	}
	if len(b.Messages) == 0 || w.end[b.Group].Epoch != b.Epoch {
		return
	}
	stored, _, err := w.store.Range(w.t.Context(), b.Group, b.From, len(b.Messages), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, m := range b.Messages {
		if stored[i].ID != m.ID || stored[i].Mark != m.Mark {
			w.t.Errorf("%s: %s has %d %s in the place of %d %s", user, b.Group, m.ID, m.Mark, stored[i].ID, stored[i].Mark)
		}
	}
}
