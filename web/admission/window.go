package admission

import "time"

// A line measures in windows of at least this length and this many requests.
const (
	windowTime = 100 * time.Millisecond
	windowMin  = 16
)

// How much longer than usual requests may take before the bound is lowered: so many times as long, or by slack where that
// is more. Processors are handed out in slices of some milliseconds. With a lower bound they stand idle although a line
// waits, since those in progress all wait for a store that has no processor.
const (
	tolerance = 2
	slack     = 8 * time.Millisecond
)

// Under overload, the target wait is half of what a request usually takes, within these bounds. Overload begins only at
// a wait several times as long: at an ordinary peak, nobody needs to be refused.
const (
	aimMin      = 3 * time.Millisecond
	aimMax      = 50 * time.Millisecond
	lateFactor  = 4 // times what a request usually takes
	lateWaitMin = 40 * time.Millisecond
)

// How long a request usually takes is measured on those that begin and end while few are in progress: with many, it would
// say how many there are. Where requests wait and that has not happened for a while, a probe admits only few at once. It
// measures the first that it admits, because the first to end would be the quick ones.
const (
	fewShare   = 8  // of the bound, as a divisor; well above tolerance, so that a bound that is too high comes down
	measured   = 32 // requests
	sampleMost = 4  // times what is usual: what one sample counts for at most
	probeEvery = 20 * time.Second
	probeMax   = time.Second // then it ends with those it has admitted
)

// window is what has happened since begin.
type window struct {
	begin    time.Time
	done     int
	units    int           // of those done
	atWork   time.Duration // sum over those done
	refused  int
	shortest int // shortest line seen when a request ended
	late     int // the same, without those who only wait for requests of their own
}

// probe is a period with few requests in progress.
type probe struct {
	on       bool
	begin    time.Time
	admitted int // measured requests
}

// sample is how long measured requests took.
type sample struct {
	number int // changes where a probe begins and where its requests are done: others don't count
	want   int // all that a probe has admitted, once it is over; 0: as many as measured
	done   int
	atWork time.Duration // sum
}

// aim is the wait that is acceptable under overload.
func (l *Line) aim() time.Duration { return min(max(l.usual/2, aimMin), aimMax) }

// fewLocked returns how many requests in progress are few.
func (l *Line) fewLocked() int { return max(l.o.Probe, int(l.bound)/fewShare) }

// roomLocked returns how many requests may be in progress.
func (l *Line) roomLocked() int {
	if l.probe.on {
		return l.fewLocked()
	}
	return int(l.bound)
}

// beginLocked counts a request of c in, and decides whether it is measured.
func (l *Line) beginLocked(c *caller, units int, now time.Time) Slot {
	l.working++
	c.load += weight(units)
	measure := l.sample.want == 0 && l.working <= l.fewLocked()
	if l.probe.on {
		l.probe.admitted++
		measure = l.probe.admitted <= measured
	}
	return Slot{line: l, caller: c, units: units, since: now, measured: measure, sample: l.sample.number}
}

// endLocked counts a request out.
func (l *Line) endLocked(p Slot, now time.Time) {
	took := now.Sub(p.since)
	l.working--
	p.caller.load -= weight(p.units)
	l.forgetLocked(p.caller)
	l.window.done++
	l.window.units += p.units
	l.window.atWork += took
	few := l.probe.on || l.sample.want > 0 || l.working < l.fewLocked()
	if p.measured && p.sample == l.sample.number && few {
		l.sample.done++
		l.sample.atWork += took
	}
}

// usualLocked learns from a sample how long requests usually take, and begins the next. A probe counts for more, because
// there are few of them. A sample of requests that a stalled store held back raises the figure by a limited factor: with
// a higher one, nobody would have to wait, and nothing would be measured any more.
func (l *Line) usualLocked(took time.Duration, probed bool) {
	weight, number := time.Duration(8), l.sample.number
	if probed {
		weight, number = 2, number+1
	}
	if l.usual == 0 {
		l.usual = took
	}
	l.usual += (min(took, sampleMost*l.usual) - l.usual) / weight
	l.sample = sample{number: number}
}

// learnLocked closes the sample, the probe and the window once they are over.
func (l *Line) learnLocked(now time.Time) {
	if l.probe.on && now.Sub(l.probe.begin) > probeMax {
		l.probe.on, l.sample.want = false, min(l.probe.admitted, measured)
	}
	if s := l.sample; s.done == measured || s.want > 0 && s.done >= s.want {
		l.usualLocked(s.atWork/time.Duration(s.done), l.probe.on || s.want > 0)
		l.probe.on, l.probed = false, now
	}
	w := l.window
	took := now.Sub(w.begin)
	if took < windowTime || w.done < windowMin && took < 10*windowTime {
		return
	}
	l.window = window{begin: now, shortest: l.waiting, late: l.waiting}
	if w.done > 0 {
		perTurn, perUnit := took/time.Duration(w.done), took/time.Duration(w.units)
		if l.perTurn == 0 {
			l.perTurn, l.perUnit = perTurn, perUnit
		}
		l.perTurn += (perTurn - l.perTurn) / 4
		l.perUnit += (perUnit - l.perUnit) / 4
		l.adaptLocked(now, w.atWork/time.Duration(w.done), w.shortest > 0 || w.refused > 0)
	}
	l.decideLocked(now, took, w)
}

// decideLocked decides whether there is overload: a line that stands, except for callers who only wait for themselves. It ends when nobody has waited or been refused for BurstTime.
func (l *Line) decideLocked(now time.Time, took time.Duration, w window) {
	if time.Duration(w.late)*l.perTurn > max(lateFactor*l.usual, lateWaitMin) {
		l.standing += took
	} else {
		l.standing = 0
	}
	if w.refused > 0 || w.late > 0 {
		l.calm = 0
	} else {
		l.calm += took
	}
	switch {
	case l.standing >= l.o.BurstTime:
		l.beginOverloadLocked(now)
	case l.calm >= l.o.BurstTime && l.overloaded.Load():
		l.endOverloadLocked(now)
	}
	forget := max(time.Second, 2*l.shareLocked(1))
	for key, until := range l.shares {
		if now.Sub(until) > forget {
			delete(l.shares, key)
		}
	}
}

// reportEvery is the least time between two overloads that are logged. A node at its limit may go in and out of overload
// every few seconds, and the lines are written under the lock.
const reportEvery = time.Minute

// report is what the log says about overload.
type report struct {
	last    time.Time // when the newest logged overload began
	on      bool      // its end has to be logged too
	refused int       // calls before it began
}

// beginOverloadLocked begins refusing. It may be on already.
func (l *Line) beginOverloadLocked(now time.Time) {
	if l.overloaded.Swap(true) || !l.report.last.IsZero() && now.Sub(l.report.last) < reportEvery {
		return
	}
	l.report = report{last: now, on: true, refused: l.refused}
	l.o.Log.Warn("overload: calls that cannot be served soon are refused", "working", l.working, "waiting", l.waiting)
}

// endOverloadLocked admits everybody again.
func (l *Line) endOverloadLocked(now time.Time) {
	l.overloaded.Store(false)
	clear(l.shares)
	if !l.report.on {
		return
	}
	l.report.on = false
	l.o.Log.Info("the overload is over", "lasted", now.Sub(l.report.last).Round(time.Second), "refused", l.refused-l.report.refused)
}

// adaptLocked adjusts the bound by comparing how long requests take with how long they usually take. That is measured
// again and again, because what clients ask for and how fast the store is may have changed.
func (l *Line) adaptLocked(now time.Time, took time.Duration, busy bool) {
	if !busy {
		// Never down: a slow store needs more requests in progress than there are processors, even after a quiet time.
		l.bound = max(l.bound, l.bound+(float64(l.o.Start)-l.bound)/8)
		return
	}
	if l.probe.on || l.sample.want > 0 && l.usual == 0 {
		return
	}
	if l.usual == 0 || now.Sub(l.probed) > probeEvery && l.sample.want == 0 {
		l.probed, l.probe, l.sample = now, probe{on: true, begin: now}, sample{number: l.sample.number + 1}
		return
	}
	most := max(tolerance*l.usual.Seconds(), (l.usual + slack).Seconds())
	gradient := min(max(most/max(took, 1).Seconds(), 0.5), 1.25)
	l.bound = min(max(l.bound*(1+gradient)/2+0.5, float64(l.o.Min)), float64(l.o.Max))
}
