package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/queue/script"
)

const (
	daysKept   = 90              // days that totals are kept for, the present one included
	tallyEvery = 5 * time.Second // how often a server writes what it has counted
)

// kindUnknown is what runs of kinds without a handler are counted under.
const kindUnknown = "*"

// DayTotals counts the runs of a kind that ended on a day.
type DayTotals struct {
	Day     time.Time // when it began, UTC
	Kind    string    // as it is registered, a pattern perhaps; "*" if no server had a handler
	Done    int64     // runs that completed their task
	Failed  int64     // runs that failed, whether a retry followed or not
	Buried  int64     // tasks that became dead letters
	Crashed int64     // runs whose lease expired
}

// Days returns the totals of the last days, at most 90, the present one (UTC, by the clock of Redis) included: the newest
// day first, and the kinds of a day in order. What did not happen on a day has no entry.
//
// Servers count in memory and write every 5 s and when they stop, so that counting costs a task no command. A server that
// is killed takes up to 5 s of its counts with it, a run belongs to the day on which it was written, and a run whose
// outcome was stored although its answer got lost is not counted; Stats is exact.
func (c *Client) Days(ctx context.Context, last int) ([]DayTotals, error) {
	if last < 1 || last > daysKept {
		return nil, fmt.Errorf("%w: %d days: want 1 to %d", ErrInvalid, last, daysKept)
	}
	one := &call{Call: daysScript.On(nil).Key("days", NewKeys(c.prefix, 0, c.name).Of("days")).Arg("last", last)}
	if err := c.run(ctx, []*call{one}); err != nil {
		return nil, fmt.Errorf("queue: days: %w", err)
	}
	values, err := one.cmd.Slice()
	if err != nil || len(values)%2 != 1 {
		return nil, fmt.Errorf("queue: days: unexpected answer %.200v", one.cmd)
	}
	reply := script.Reply(values)
	totals := make([]DayTotals, 0, len(values)/2)
	for i := 1; i < len(values); i += 2 {
		day, kind, _ := strings.Cut(reply.Text(i), " ")
		t := DayTotals{Day: time.Unix(script.Number(day)*86400, 0).UTC(), Kind: kind}
		if _, err := fmt.Sscan(reply.Text(i+1), &t.Done, &t.Failed, &t.Buried, &t.Crashed); err != nil {
			return nil, fmt.Errorf("queue: days: %s: %w", reply.Text(i), err)
		}
		totals = append(totals, t)
	}
	slices.SortFunc(totals, func(a, b DayTotals) int { return cmp.Or(b.Day.Compare(a.Day), cmp.Compare(a.Kind, b.Kind)) })
	return totals, nil
}

// tally is what a server has counted of one queue and not written yet. Its methods are safe for concurrent use.
type tally struct {
	key    string // of Redis
	server string

	mu     sync.Mutex
	counts map[string]*DayTotals // by kind
	sent   map[string]*DayTotals // of the call that was not answered yet; nil: none
	seq    int64                 // of sent
	at     time.Time             // when sent was sent last
}

func newTally(key string) *tally { return &tally{key: key, server: rand.Text()} }

// add counts runs of a kind.
func (t *tally) add(kind string, n DayTotals) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]*DayTotals{}
	}
	sum := t.counts[kind]
	if sum == nil {
		sum = &DayTotals{}
		t.counts[kind] = sum
	}
	sum.Done, sum.Failed, sum.Buried, sum.Crashed = sum.Done+n.Done, sum.Failed+n.Failed, sum.Buried+n.Buried, sum.Crashed+n.Crashed
}

// writing returns the call that writes what was counted, or nil: nothing was, or the last call is too recent. What was not
// answered is sent again, as it was, before the rest.
func (t *tally) writing(now time.Time, recent time.Duration) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sent == nil && len(t.counts) == 0 || now.Sub(t.at) < recent {
		return nil
	}
	if t.sent == nil {
		t.sent, t.counts = t.counts, nil
		t.seq++
	}
	t.at = now
	one := countDaysScript.On(nil).Key("days", t.key).Arg("server", t.server).Arg("seq", t.seq).Arg("keep", daysKept)
	for kind, n := range t.sent {
		one = one.MoreArgs("runs", "kind", kind, "done", n.Done, "failed", n.Failed, "buried", n.Buried, "crashed", n.Crashed)
	}
	return &call{Call: one}
}

// answered forgets what was written.
func (t *tally) answered(one *call) {
	if one.cmd == nil || one.cmd.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = nil
}

// countedAs returns what runs of a kind are counted under; empty if they are not, because the engine itself runs them.
func (s *registry) countedAs(kind, queue string) string {
	if strings.HasPrefix(kind, KindPeriodic) {
		return ""
	}
	pattern, _, _ := s.registered(kind, queue)
	return cmp.Or(pattern, kindUnknown)
}

// count counts runs whose outcomes are stored.
func (s *Server) count(stored []*running, stale []*running) {
	lost := make(map[*running]bool, len(stale))
	for _, r := range stale {
		lost[r] = true
	}
	type where struct {
		tally *tally
		kind  string
	}
	sums := map[where]DayTotals{}
	for _, r := range stored {
		at := where{s.tallies[r.queue.index], s.countedAs(r.Kind, r.Queue)}
		if lost[r] || at.kind == "" {
			continue
		}
		n := sums[at]
		switch r.outcome.verdict {
		case complete:
			n.Done++
		case retry:
			n.Failed++
		case bury:
			n.Failed, n.Buried = n.Failed+1, n.Buried+1
		case expire:
			n.Buried++
		default:
			continue
		}
		sums[at] = n
	}
	for at, n := range sums {
		at.tally.add(at.kind, n)
	}
}

// countReaped counts runs whose leases expired, as step.lua returns them: kind, how many, how many of them were buried.
func (s *Server) countReaped(queue int, reaped []any) {
	reply := script.Reply(reaped)
	for i := 0; i+2 < len(reply); i += 3 {
		if kind := s.countedAs(reply.Text(i), s.pools[queue].queue.name); kind != "" {
			s.tallies[queue].add(kind, DayTotals{Crashed: reply.Number(i + 1), Buried: reply.Number(i + 2)})
		}
	}
}

// tallies are those of the queues of a server.
type tallies []*tally

// calls returns the calls that are due, and what to do when they have run.
func (all tallies) calls(now time.Time, recent time.Duration) (calls []*call, answered func()) {
	var of []*tally
	for _, t := range all {
		if one := t.writing(now, recent); one != nil {
			calls, of = append(calls, one), append(of, t)
		}
	}
	return calls, func() {
		for i, t := range of {
			t.answered(calls[i])
		}
	}
}

// writeTallies writes what was counted, in two round trips at most: what was sent before and not answered, and the rest.
func (s *Server) writeTallies(ctx context.Context) {
	for range 2 {
		calls, answered := s.tallies.calls(time.Now(), 0)
		if len(calls) == 0 {
			return
		}
		if err := run(ctx, s.rdb, calls); err != nil {
			s.o.Logger.Warn("cannot store the totals of the day", "error", err)
		}
		answered()
	}
}
