package admission

import "time"

// A line measures in windows of at least this length and this many requests.
const (
	windowTime = 100 * time.Millisecond
	windowMin  = 16
)

// tolerance is how many times longer than usual requests may take before the bound is lowered.
const tolerance = 1.5

// Under overload, the target wait is half of what a request usually takes, within these bounds. Overload begins only at
// a wait several times as long: at an ordinary peak, nobody needs to be refused.
const (
	aimMin      = 2 * time.Millisecond
	aimMax      = 50 * time.Millisecond
	lateFactor  = 4 // times what a request usually takes
	lateWaitMin = 20 * time.Millisecond
)

// From time to time, while requests wait, a probe admits only a few at once to measure how long they take then. It
// measures the first few it admits, because the first to end would be the quick ones.
const (
	probeEvery = 20 * time.Second
	probeFirst = 16
	probeShare = 2 // of the bound, as a divisor
	probeMax   = time.Second
)

// window is what has happened since begin.
type window struct {
	begin    time.Time
	done     int
	atWork   time.Duration // sum over those done
	refused  int
	shortest int // shortest line seen when a request ended
}

// probe is a period with few requests in progress.
type probe struct {
	on       bool
	begin    time.Time
	admitted int           // measured requests, at most probeFirst
	done     int           // of those
	atWork   time.Duration // sum over those done
}

// aim is the wait that is acceptable under overload.
func (l *Line) aim() time.Duration { return min(max(l.usual/2, aimMin), aimMax) }

// roomLocked returns how many requests may be in progress.
func (l *Line) roomLocked() int {
	if l.probe.on {
		return max(l.o.Probe, int(l.bound)/probeShare)
	}
	return int(l.bound)
}

// beginLocked counts a request in.
func (l *Line) beginLocked() (probed bool) {
	l.working++
	if l.probe.on && l.probe.admitted < probeFirst {
		l.probe.admitted++
		return true
	}
	return false
}

// endLocked counts a request out.
func (l *Line) endLocked(p Slot, now time.Time) {
	took := now.Sub(p.since)
	l.working--
	l.window.done++
	l.window.atWork += took
	if l.probe.on && p.probed && !p.since.Before(l.probe.begin) {
		l.probe.done++
		l.probe.atWork += took
	}
}

// learnLocked closes the probe and the window once they are over.
func (l *Line) learnLocked(now time.Time) {
	if p := &l.probe; p.on && p.done == probeFirst {
		p.on = false
		if l.usual == 0 {
			l.usual = p.atWork / probeFirst
		}
		l.usual += (p.atWork/probeFirst - l.usual) / 2
	} else if p.on && now.Sub(p.begin) > probeMax {
		p.on = false
	}
	w := l.window
	took := now.Sub(w.begin)
	if took < windowTime || w.done < windowMin && took < 10*windowTime {
		return
	}
	l.window = window{begin: now, shortest: l.waiting}
	if w.done > 0 {
		perTurn := took / time.Duration(w.done)
		if l.perTurn == 0 {
			l.perTurn = perTurn
		}
		l.perTurn += (perTurn - l.perTurn) / 4
		l.adaptLocked(now, w.atWork/time.Duration(w.done), w.shortest > 0 || w.refused > 0)
	}
	l.decideLocked(now, took, w)
}

// decideLocked decides whether there is overload. It ends when nobody has waited or been refused for BurstTime.
func (l *Line) decideLocked(now time.Time, took time.Duration, w window) {
	if time.Duration(w.shortest)*l.perTurn > max(lateFactor*l.usual, lateWaitMin) {
		l.standing += took
	} else {
		l.standing = 0
	}
	if w.refused > 0 || w.shortest > 0 {
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
	forget := max(time.Second, 2*l.shareLocked())
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
	on      bool      // its end is to be logged too
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
// while nobody waits, and by probes while somebody does, because what clients ask for and how fast the store is may
// have changed.
func (l *Line) adaptLocked(now time.Time, took time.Duration, busy bool) {
	if !busy {
		if l.usual == 0 {
			l.usual = took
		}
		l.usual += (took - l.usual) / 8
		l.probed = now
		// Never down: a slow store needs more requests in progress than there are processors, even after a quiet time.
		l.bound = max(l.bound, l.bound+(float64(l.o.Start)-l.bound)/8)
		return
	}
	if l.usual == 0 || now.Sub(l.probed) > probeEvery {
		l.probed, l.probe = now, probe{on: true, begin: now}
		return
	}
	gradient := min(max(tolerance*float64(l.usual)/float64(max(took, 1)), 0.5), 1.25)
	l.bound = min(max(l.bound*(1+gradient)/2+0.5, float64(l.o.Min)), float64(l.o.Max))
}
