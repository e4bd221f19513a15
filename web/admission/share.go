package admission

import "time"

// shareBurst is how many requests of a caller may come at once within their share: hardly any client spaces them
// evenly.
const shareBurst = 4

// lineUpLocked decides whether a request gets into the line.
func (l *Line) lineUpLocked(key Key, units int, now time.Time) bool {
	if !l.mayLineUpLocked(key, units, now) {
		return false
	}
	if l.overloaded.Load() {
		until := l.shares[key]
		if until.Before(now) {
			until = now
		}
		l.shares[key] = until.Add(l.shareLocked(units))
	}
	return true
}

// mayLineUpLocked reports whether a request may wait. In a burst it may, as long as its caller leaves as much of the
// line free as they occupy. Under overload the line is kept about as short as a request usually takes; beyond that,
// only callers get in who have nothing in line and have not used up their share.
func (l *Line) mayLineUpLocked(key Key, units int, now time.Time) bool {
	n := 0
	if c := l.callers[key]; c != nil {
		n = len(c.line)
	}
	if n >= l.o.LineMax-l.waiting {
		return false
	}
	wait := time.Duration(l.waiting) * l.perTurn
	if !l.overloaded.Load() || wait < l.aim() {
		return true
	}
	return n == 0 && l.shares[key].Sub(now) < shareBurst*l.shareLocked(units)
}

// shareLocked returns the time that so many units take of a caller's share if all recently admitted callers get equal
// shares. It grows with the wait, so that a line that is too long gets shorter.
func (l *Line) shareLocked(units int) time.Duration {
	late := float64(l.waiting) * float64(l.perTurn) / float64(l.aim())
	return time.Duration(float64(units) * float64(l.perUnit) * float64(max(1, len(l.shares))) * min(max(late, 1), 4))
}
