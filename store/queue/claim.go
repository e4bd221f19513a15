package queue

import (
	"context"
	"slices"
	"time"

	"github.com/chatd/chatd/internal/backoff"
)

// shard is what the claim loop knows about one partition.
type shard struct {
	ready []bool // by queue: tasks may be ready
	turn  []int  // by queue: whose turn the next claim is, see turns
	// unsure means that the last call failed. Redis may have run it all the same, so until a call is answered, none
	// claims: nobody would know of the leases.
	unsure    bool
	overdueAt time.Time // when to look for due tasks and expired leases; at most pollMax away
}

// turnBack repeats the turn of a task that is given back: only tasks that begin use up turns, however slow the workers are.
func (s *shard) turnBack(q int) {
	s.turn[q] = (s.turn[q] + cyclePeriod - 1) % cyclePeriod
}

// claimer is the state of the claim loop. One goroutine owns it.
type claimer struct {
	*Server
	shards []shard
	first  int             // the partition to serve first: each in turn
	again  backoff.Backoff // pauses after failed calls
}

func newClaimer(s *Server) *claimer {
	c := &claimer{Server: s, again: backoff.Backoff{Min: errorPause, Max: pollMax}, shards: make([]shard, s.set.partitions)}
	for i := range c.shards {
		c.shards[i].ready, c.shards[i].turn = make([]bool, len(s.pools)), make([]int, len(s.pools))
	}
	return c
}

// claimLoop takes steps until feed ends: when a task may be ready and a worker is free, when something becomes due, and
// at least every pollMax.
func (s *Server) claimLoop(feed context.Context) {
	c := newClaimer(s)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for feed.Err() == nil {
		sleep := c.exec(feed)
		if sleep <= 0 {
			continue
		}
		timer.Reset(sleep)
		wake, freed := s.wakes.ch, s.freed
		if c.again.Failing() {
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

// waiting reports whether tasks are known to wait for a free worker.
func (c *claimer) waiting() bool {
	for i := range c.shards {
		if slices.Contains(c.shards[i].ready, true) {
			return true
		}
	}
	return false
}

// exec takes one step in every partition that needs one, all in one round trip, and returns how long to sleep: 0 means
// call it again at once.
func (c *claimer) exec(feed context.Context) time.Duration {
	now := time.Now()
	for q, h := range c.pools {
		h.measure(now)
		for _, r := range h.overdue(now) {
			c.shards[r.partition].turnBack(q)
			c.giveBack(h, r)
		}
	}
	demands := c.plan(now)
	if len(demands) == 0 {
		return c.idle(now)
	}
	steps, calls := make([]*stepCall, len(demands)), make([]*call, len(demands))
	for i, w := range demands {
		steps[i] = c.set.stepCall(w, c.terms)
		calls[i] = &steps[i].call
	}
	// Not under feed: a call that is cut off may have claimed tasks.
	err := run(context.WithoutCancel(feed), c.rdb, calls)
	for i, one := range steps {
		if one.cmd == nil || one.cmd.Err() != nil {
			// Whatever caused this step, perhaps a wake-up, must not be lost with it.
			s := &c.shards[demands[i].partition]
			s.overdueAt, s.unsure = now, true
			for q := range s.ready {
				s.ready[q] = true
			}
			continue
		}
		if readErr := c.absorb(feed, demands[i], one, now); readErr != nil {
			err = readErr
		}
	}
	if err == nil {
		c.again.Reset()
		return 0
	}
	pause := c.again.Next()
	c.o.Logger.Warn("cannot claim tasks, retrying", "error", err, "pause", pause)
	return pause
}

// idle returns how long there is nothing to do.
func (c *claimer) idle(now time.Time) time.Duration {
	next := now.Add(pollMax)
	for i := range c.shards {
		if at := c.shards[i].overdueAt; at.Before(next) {
			next = at
		}
	}
	for _, h := range c.pools {
		if wait := h.waits(); wait > 0 {
			next = sooner(next, now.Add(wait))
		}
	}
	return max(next.Sub(now), time.Microsecond)
}

// plan decides which partitions need a step, and divides the free workers of each queue among them.
func (c *claimer) plan(now time.Time) []stepDemand {
	rooms := make([]int, len(c.pools))
	for q, h := range c.pools {
		rooms[q] = h.room()
	}
	var demands []stepDemand
	asking := make([]int, len(c.pools)) // by queue: partitions that may have tasks
	for i := range c.shards {
		p := (c.first + i) % len(c.shards)
		s := &c.shards[p]
		if due := c.wakes.take(p, s.ready); !due.IsZero() && due.Before(s.overdueAt) {
			s.overdueAt = due
		}
		w := stepDemand{partition: p}
		if !now.Before(s.overdueAt) {
			w.overdue = overdueMax
		}
		claims := false
		for q, ready := range s.ready {
			if ready && rooms[q] > 0 && !s.unsure {
				claims = true
			}
		}
		if w.overdue == 0 && !claims {
			continue
		}
		w.claims = make([]claimDemand, len(c.pools))
		demands = append(demands, w)
		for q, ready := range s.ready {
			if (ready || w.overdue > 0) && !s.unsure {
				asking[q]++
			}
		}
	}
	c.first = (c.first + 1) % len(c.shards)
	for q := range c.pools {
		fair := (rooms[q] + asking[q] - 1) / max(asking[q], 1)
		for i := range demands {
			w := &demands[i]
			s := &c.shards[w.partition]
			if s.unsure || (!s.ready[q] && w.overdue == 0) {
				continue
			}
			n := min(fair, rooms[q], claimMax)
			rooms[q] -= n
			w.claims[q] = claimDemand{n: n, order: turns(s.turn[q], n)}
		}
	}
	return slices.DeleteFunc(demands, func(w stepDemand) bool { return w.overdue == 0 && w.wanted() == 0 })
}

// absorb processes the result of a step: it notes when to come back and hands out the tasks.
func (c *claimer) absorb(feed context.Context, w stepDemand, one *stepCall, sent time.Time) error {
	got, err := c.set.readStep(w.partition, one, sent, c.terms)
	if err != nil {
		return err
	}
	s := &c.shards[w.partition]
	s.unsure = false
	if w.overdue > 0 {
		wait := got.wait
		if wait < 0 || wait > pollMax {
			wait = pollMax
		}
		s.overdueAt = time.Now().Add(wait)
	}
	for q, part := range got.queues {
		s.ready[q] = part.left > 0
		s.turn[q] = (s.turn[q] + len(part.runs)) % cyclePeriod
		if part.reaped > 0 {
			c.o.Logger.Warn("leases expired before their tasks ended", "queue", c.pools[q].queue.name, "partition", w.partition,
				"tasks", part.reaped, "buried", part.buried)
		}
		arrange(part.runs, w.claims[q].order)
		c.give(feed, c.pools[q], part.runs)
	}
	return nil
}

// give hands claimed tasks to the workers of their queue. It ends those that must not run, and gives all of them back
// if feed has ended.
func (c *claimer) give(feed context.Context, h *pool, runs []*running) {
	if len(runs) == 0 {
		return
	}
	h.taken.Add(int64(len(runs)))
	c.held.add(runs)
	stopping := feed.Err() != nil
	if stopping {
		slices.Reverse(runs) // the order that takeBack explains
	}
	for _, r := range runs {
		r.ctx.parent, r.ctx.run = c.parent, r
		switch {
		case r.outcome.verdict != "":
			c.conclude(r, r.outcome, time.Now())
			h.put()
		case stopping:
			c.giveBack(h, r)
		default:
			h.handed++
			h.runs <- r
		}
	}
}

// giveBack ends a run that has not begun, so that another worker can claim the task.
func (s *Server) giveBack(h *pool, r *running) {
	if s.held.finish(r) {
		r.outcome = outcome{verdict: giveBack}
		s.ended <- r
		s.held.sending.Done()
	}
	h.put()
}
