package queue

import (
	"slices"
	"sync/atomic"
	"time"
)

// pool is the workers of one queue, and the tasks that are claimed for them.
//
// While handlers are quick, tasks are claimed slightly ahead: as many as the workers have lately completed in
// aheadTime, at most aheadMax. So claims go in batches and no worker waits for their round trip. The price is that a
// claimed task may run before one of higher priority that came within about that time. Tasks that have not begun after
// aheadPatience (the handlers have become slow) are given back to the head of their list, for others to claim.
type pool struct {
	queue   *serverQueue
	workers int
	strict  bool          // QueueOptions.Strict
	runs    chan *running // claimed tasks; its capacity covers all that may be, so sending never blocks
	taken   atomic.Int64  // claimed and not yet finished tasks
	done    atomic.Int64  // handlers that have ended
	freed   chan struct{} // the server's: has an entry when taken has shrunk since it was last read

	// The claim loop owns the following fields.
	handed    int64     // tasks put into runs
	rate      float64   // handlers that lately ended per second
	rateAt    time.Time // when the rate was measured
	rateDone  int64     // done at that time
	checked   int64     // handed at checkedAt
	checkedAt time.Time
}

func newPool(q *serverQueue, o QueueOptions, freed chan struct{}) *pool {
	return &pool{queue: q, workers: o.Workers, strict: o.Strict, runs: make(chan *running, o.Workers+aheadMax), freed: freed}
}

// room returns how many more tasks may be claimed.
func (p *pool) room() int {
	ahead := min(int(p.rate*aheadTime.Seconds()), aheadMax)
	return max(p.workers+ahead-int(p.taken.Load()), 0)
}

// put reports that a task is finished.
func (p *pool) put() {
	p.taken.Add(-1)
	select {
	case p.freed <- struct{}{}:
	default:
	}
}

// measure updates the rate of the handlers: half the old rate, half the rate since then, if enough time has passed to
// measure it.
func (p *pool) measure(now time.Time) {
	since := now.Sub(p.rateAt)
	if since < rateEvery {
		return
	}
	done := p.done.Load()
	p.rate = p.rate/2 + float64(done-p.rateDone)/since.Seconds()/2
	p.rateAt, p.rateDone = now, done
}

// waits returns how soon overdue has to be called again; 0 = nothing waits.
func (p *pool) waits() time.Duration {
	if len(p.runs) == 0 {
		return 0
	}
	return aheadPatience
}

// overdue takes back the tasks that wait for a worker if some have waited for aheadPatience. If it is called as often
// as waits says, none waits twice as long.
func (p *pool) overdue(now time.Time) (back []*running) {
	if now.Sub(p.checkedAt) < aheadPatience {
		return nil
	}
	if begun := p.handed - int64(len(p.runs)); begun < p.checked {
		back = p.takeBack()
		p.rate = 0 // the measured rate no longer holds
	}
	p.checked, p.checkedAt = p.handed, now
	return back
}

// takeBack empties runs. It returns the last claimed task first: each is given back in front of the one before it, in
// however many batches.
func (p *pool) takeBack() (back []*running) {
	for {
		select {
		case r := <-p.runs:
			back = append(back, r)
		default:
			slices.Reverse(back)
			return back
		}
	}
}
