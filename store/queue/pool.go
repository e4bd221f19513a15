package queue

import (
	"slices"
	"sync/atomic"
	"time"
)

// pool is the workers of one queue, and the tasks that are ready for them.
//
// While handlers are quick, tasks are claimed a little ahead: as many as the workers have
// lately done in aheadTime, at most aheadMax. So claims go in batches and nobody waits for
// their round trip. What was claimed ahead stands behind what came later but is of higher
// priority for about that time; what has not begun after aheadPatience (the handlers have
// become slow) is given back, to the head of its list, for others to claim.
type pool struct {
	queue   *served
	workers int
	runs    chan *running // claimed; holds all that may be, so that filling it never blocks
	taken   atomic.Int64  // tasks claimed and not done with
	done    atomic.Int64  // handlers that have ended
	freed   chan struct{} // of the server: has an entry when taken has shrunk since it was last read

	// What follows is the claim loop's.
	handed    int64     // tasks put into jobs
	rate      float64   // handlers that end in a second, lately
	rateAt    time.Time // when it was measured
	rateDone  int64     // and done then
	checked   int64     // handed, at checkedAt
	checkedAt time.Time
}

func newPool(q *served, workers int, freed chan struct{}) *pool {
	return &pool{queue: q, workers: workers, runs: make(chan *running, workers+aheadMax), freed: freed}
}

// room is how many tasks may be claimed.
func (p *pool) room() int {
	ahead := min(int(p.rate*aheadTime.Seconds()), aheadMax)
	return max(p.workers+ahead-int(p.taken.Load()), 0)
}

// put says that a task is done with.
func (p *pool) put() {
	p.taken.Add(-1)
	select {
	case p.freed <- struct{}{}:
	default:
	}
}

// measure notes how quick the handlers are: half by what was known, half by what has happened
// since, if that is long enough to say something.
func (p *pool) measure(now time.Time) {
	since := now.Sub(p.rateAt)
	if since < rateEvery {
		return
	}
	done := p.done.Load()
	p.rate = p.rate/2 + float64(done-p.rateDone)/since.Seconds()/2
	p.rateAt, p.rateDone = now, done
}

// waits says how long at most until overdue has to be asked; 0 = nothing waits.
func (p *pool) waits() time.Duration {
	if len(p.runs) == 0 {
		return 0
	}
	return aheadPatience
}

// overdue takes back what waits for a worker if some of it has for aheadPatience. It has for
// less than twice that if it is asked as often as waits says.
func (p *pool) overdue(now time.Time) (back []*running) {
	if now.Sub(p.checkedAt) < aheadPatience {
		return nil
	}
	if begun := p.handed - int64(len(p.runs)); begun < p.checked {
		back = p.takeBack()
		p.rate = 0 // what was known of the handlers no longer holds
	}
	p.checked, p.checkedAt = p.handed, now
	return back
}

// takeBack empties jobs. What was claimed last comes first: each goes back in front of what
// went before it, in however many batches.
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
