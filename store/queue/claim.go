package queue

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// shard is what the claim loop knows about one partition.
type shard struct {
	ready   bool      // tasks may be ready
	sweepAt time.Time // when to look for due tasks and ended leases; at most pollMax away
	turn    int       // whose turn the next claim is, see turns
}

// claimer is the state of the claim loop. One goroutine owns it.
type claimer struct {
	*Server
	shards []shard
	first  int           // the partition that is served first: everyone in turn
	pause  time.Duration // after a failed call; 0 = the last one worked
}

// claimLoop takes steps until feed ends: when a task may be ready and a worker is free,
// when something becomes due, and at least every pollMax. Handlers run under work.
func (s *Server) claimLoop(feed, work context.Context) {
	c := &claimer{Server: s, shards: make([]shard, s.partitions)}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for feed.Err() == nil {
		sleep := c.exec(feed, work)
		if sleep <= 0 {
			continue
		}
		timer.Reset(sleep)
		wake, freed := s.wakes.ch, s.slots.freed
		if c.pause > 0 {
			wake, freed = nil, nil
		} else if !c.waiting() {
			freed = nil
		}
		select {
		case <-feed.Done():
		case <-timer.C:
		case <-wake:
		case <-freed:
		}
	}
}

// waiting says whether tasks are known to wait for a free worker.
func (c *claimer) waiting() bool {
	for i := range c.shards {
		if c.shards[i].ready {
			return true
		}
	}
	return false
}

// exec takes one step in every partition that needs one, all in one round trip, and
// returns how long nothing needs to be done: 0 if it should be called again at once.
func (c *claimer) exec(feed, work context.Context) time.Duration {
	now := time.Now()
	wishes := c.plan(now)
	if len(wishes) == 0 {
		next := now.Add(pollMax)
		for i := range c.shards {
			if at := c.shards[i].sweepAt; at.Before(next) {
				next = at
			}
		}
		return max(next.Sub(now), time.Microsecond)
	}
	calls := make([]*call, len(wishes))
	for i, w := range wishes {
		calls[i] = c.stepCall(w, c.terms)
	}
	// Not under feed: a call that is cut off half-way may have claimed.
	err := run(context.WithoutCancel(feed), c.rdb, calls)
	for i, one := range calls {
		if one.cmd == nil || one.cmd.Err() != nil {
			// What brought this step, a wake-up perhaps, must not be forgotten with it.
			c.shards[wishes[i].partition].ready = true
			c.shards[wishes[i].partition].sweepAt = now
			continue
		}
		if readErr := c.absorb(feed, work, wishes[i], one, now); readErr != nil {
			err = readErr
		}
	}
	if err == nil {
		c.pause = 0
		return 0
	}
	c.pause = min(max(2*c.pause, errorPause), pollMax)
	c.o.Logger.Warn("tasks cannot be claimed, trying again", "error", err, "pause", c.pause)
	return c.pause/2 + rand.N(c.pause/2)
}

// plan says which partitions need a step, and shares the free workers among them.
func (c *claimer) plan(now time.Time) []stepWish {
	free := c.slots.available()
	var wishes []stepWish
	for i := range c.shards {
		p := (c.first + i) % len(c.shards)
		s := &c.shards[p]
		ready, due := c.wakes.take(p)
		s.ready = s.ready || ready
		if !due.IsZero() && due.Before(s.sweepAt) {
			s.sweepAt = due
		}
		w := stepWish{partition: p}
		if !now.Before(s.sweepAt) {
			w.sweep = sweepMax
		}
		if w.sweep > 0 || (s.ready && free > 0) {
			wishes = append(wishes, w)
		}
	}
	c.first = (c.first + 1) % len(c.shards)
	left := free
	fair := (free + len(wishes) - 1) / max(len(wishes), 1)
	for i := range wishes {
		w := &wishes[i]
		w.claim = min(fair, left, claimMax)
		left -= w.claim
		w.order = turns(c.shards[w.partition].turn, w.claim)
	}
	return slices.DeleteFunc(wishes, func(w stepWish) bool { return w.claim == 0 && w.sweep == 0 })
}

// absorb takes over what a step brought: notes when to come back and starts the handlers.
func (c *claimer) absorb(feed, work context.Context, w stepWish, one *call, sent time.Time) error {
	got, bad, err := readStep(w.partition, one.cmd)
	if err != nil {
		return err
	}
	s := &c.shards[w.partition]
	s.ready = got.left > 0
	s.turn = (s.turn + len(got.tasks)) % cyclePeriod
	if w.sweep > 0 {
		wait := got.wait
		if wait < 0 || wait > pollMax {
			wait = pollMax
		}
		s.sweepAt = time.Now().Add(wait)
	}
	if got.reaped > 0 {
		c.o.Logger.Warn("leases ended before their tasks", "queue", c.o.Queue, "partition", w.partition,
			"tasks", got.reaped, "buried", got.buried)
	}
	for _, u := range bad {
		c.ended <- result{partition: u.partition, id: u.id, token: u.token, verdict: bury, reason: u.err.Error()}
	}
	if feed.Err() != nil {
		for _, t := range got.tasks {
			c.ended <- result{partition: t.partition, id: t.ID, token: t.token, verdict: giveBack}
		}
		return nil
	}
	c.start(work, got.tasks, sent.Add(c.o.Lease))
	return nil
}
