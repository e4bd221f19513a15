package queue

import (
	"context"
	"slices"
	"time"

	"github.com/chatd/chatd/queue/backoff"
)

// shard is what the claim loop knows about one partition.
type shard struct {
	ready   []bool    // by queue: tasks may be ready
	left    []int64   // by queue: ready tasks that the last claim left
	turn    []int     // by queue: whose turn the next claim is, see turns
	portion []portion // by queue
	// unsure means that the last call failed. Redis may have run it all the same, so until a call is answered, none
	// claims: nobody would know of the leases.
	unsure    bool
	overdueAt time.Time // when to look for due tasks and expired leases; at most claimer.lookMax away
}

// turnBack repeats the turn of a task that is given back: only tasks that begin use up turns, however slow the workers are.
func (s *shard) turnBack(q int) {
	s.turn[q] = (s.turn[q] + cyclePeriod - 1) % cyclePeriod
}

// portion is how many tasks to claim beyond a fair share from a partition. Those that have to wait for slots of their limits
// are to stay in their lists: to park one, and to pass a slot on to it, costs Redis more than to run it. So it begins low
// and doubles until some had to wait. From then on it follows the number that could run, and after every portionEvery
// claims of which all could, it tries whether more can: by 1, 2, 4 and so on.
type portion struct {
	most   int
	step   int  // how much to try next
	full   int  // claims since the last try, of which all could run
	warned bool // some had to wait
}

func newPortion() portion { return portion{most: portionBegin, step: portionBegin} }

// suit adapts it to a claim of n tasks of which got may run, and left are left.
func (p *portion) suit(n, got int, left int64) {
	switch {
	case got == n:
		if n < p.most {
			return
		}
		if p.full++; p.warned && p.full < portionEvery {
			return
		}
		p.most, p.step, p.full = min(p.most+p.step, claimMax), min(2*p.step, claimMax), 0
	case left == 0: // there were no more
	case got < n/4: // those that may run are behind the others: large claims get there soonest
		*p = portion{most: claimMax, step: 1, warned: true}
	default:
		*p = portion{most: got, step: 1, warned: true}
	}
}

// claimer is the state of the claim loop. One goroutine owns it.
type claimer struct {
	*Server
	shards  []shard
	first   []int           // by queue: the partition that claims first, after the one that claimed last
	began   time.Time       // start of the schedule of looks
	lookMax time.Duration   // the longest time between two looks at a partition
	again   backoff.Backoff // pauses before failed calls are repeated
	news    announcer
}

func newClaimer(s *Server) *claimer {
	partitions, queues := s.set.partitions, len(s.pools)
	c := &claimer{
		Server: s, shards: make([]shard, partitions), first: make([]int, queues), began: time.Now(),
		lookMax: pollMax * time.Duration((partitions+looksMax-1)/looksMax),
		again:   backoff.Backoff{Min: errorPause, Max: pollMax}, news: newAnnouncer(s),
	}
	for i := range c.shards {
		c.shards[i] = shard{ready: make([]bool, queues), left: make([]int64, queues), turn: make([]int, queues), portion: slices.Repeat([]portion{newPortion()}, queues)}
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
		if !c.waiting() {
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
	return slices.ContainsFunc(c.shards, func(s shard) bool { return !s.unsure && slices.Contains(s.ready, true) })
}

// failing reports whether the last call of some partition failed.
func (c *claimer) failing() bool {
	return slices.ContainsFunc(c.shards, func(s shard) bool { return s.unsure })
}

// exec takes one step in every partition that needs one, all in one round trip, and returns how long to sleep: 0 means
// call it again at once. Partitions whose step failed are left alone for a while; the others go on.
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
	steps, calls := make([]*stepCall, len(demands)), make([]*call, len(demands), len(demands)+1)
	for i, w := range demands {
		steps[i] = c.set.stepCall(w, c.terms)
		calls[i] = &steps[i].call
	}
	if news := c.news.call(c.prefix, now); news != nil {
		calls = append(calls, news) // that it fails is no harm: the figures name too many kinds until the next one
	}
	totals, answered := c.tallies.calls(now, tallyEvery)
	// Not under feed: a call that is cut off may have claimed tasks.
	err := run(context.WithoutCancel(feed), c.rdb, append(calls, totals...))
	answered()
	var failed []*shard
	for i, one := range steps {
		s := &c.shards[demands[i].partition]
		if one.cmd == nil || one.cmd.Err() != nil {
			failed = append(failed, s)
		} else if readErr := c.absorb(feed, demands[i], one, now); readErr != nil {
			failed, err = append(failed, s), readErr
		}
	}
	if len(failed) == 0 {
		if !c.failing() {
			c.again.Reset()
		}
		return 0
	}
	pause := c.again.Next()
	for _, s := range failed {
		// Whatever caused this step, perhaps a wake-up, must not be lost with it.
		s.overdueAt, s.unsure = time.Now().Add(pause), true
		for q := range s.ready {
			s.ready[q] = true
		}
	}
	c.o.Logger.Warn("cannot claim tasks, retrying", "error", err, "pause", pause)
	return 0
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

// plan decides which partitions need a step, and what each queue claims in them.
func (c *claimer) plan(now time.Time) []stepDemand {
	demands := make([]stepDemand, len(c.shards))
	for p := range c.shards {
		s := &c.shards[p]
		if due := c.wakes.take(p, s.ready); !due.IsZero() && due.Before(s.overdueAt) {
			s.overdueAt = due
		}
		demands[p] = stepDemand{partition: p, claims: make([]claimDemand, len(c.pools))}
		if !now.Before(s.overdueAt) {
			demands[p].overdue = overdueMax
		}
	}
	for q := range c.pools {
		c.divide(q, demands)
	}
	return slices.DeleteFunc(demands, func(w stepDemand) bool { return w.overdue == 0 && w.wanted() == 0 })
}

// divide distributes the free workers of a queue over the partitions that may have tasks, in turn. It claims many tasks from a
// partition that is known to have many: a few large claims cost Redis far less than a small one in each partition. Nor does
// it claim what little room such claims have left.
func (c *claimer) divide(q int, demands []stepDemand) {
	asks := func(p int) bool {
		s := &c.shards[p]
		return !s.unsure && (s.ready[q] || demands[p].overdue > 0)
	}
	asking := 0
	for p := range demands {
		if asks(p) {
			asking++
		}
	}
	room := c.pools[q].room()
	fair := (room + asking - 1) / max(asking, 1)
	some := false
	for i, first := 0, c.first[q]; i < len(demands) && room > 0; i++ {
		p := (first + i) % len(demands)
		if !asks(p) {
			continue
		}
		s := &c.shards[p]
		n := min(max(fair, int(min(s.left[q], int64(s.portion[q].most)))), claimMax)
		if n > room && some && n > fair {
			break // it is the first one next time, with more room
		}
		n = min(n, room)
		room, some = room-n, true
		demands[p].claims[q] = claimDemand{n: n, order: c.pools[q].turns(s.turn[q], n)}
		c.first[q] = (p + 1) % len(demands)
	}
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
		now := time.Now()
		s.overdueAt = now.Add(c.nextLook(w.partition, now))
		if due := now.Add(got.wait); got.wait >= 0 && due.Before(s.overdueAt) {
			s.overdueAt = due
		}
	}
	for q, part := range got.queues {
		s.ready[q], s.left[q] = part.left > 0, part.left
		s.turn[q] = (s.turn[q] + len(part.runs)) % cyclePeriod
		s.portion[q].suit(w.claims[q].n, len(part.runs), part.left)
		if part.reaped > 0 {
			c.countReaped(q, part.lapsed)
			c.o.Logger.Warn("leases expired before their tasks ended", "queue", c.pools[q].queue.name, "partition", w.partition,
				"tasks", part.reaped, "buried", part.buried)
		}
		arrange(part.runs, w.claims[q].order)
		c.give(feed, c.pools[q], part.runs)
	}
	return nil
}

// nextLook is how long after now to look at a partition next: some of them every pollMax, each once in lookMax.
func (c *claimer) nextLook(partition int, now time.Time) time.Duration {
	turn := pollMax * time.Duration(partition) % c.lookMax
	return c.lookMax - (now.Sub(c.began)+c.lookMax-turn)%c.lookMax
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
