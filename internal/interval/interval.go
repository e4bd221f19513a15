// Package interval says how long the loops of tests wait that look again and again for what has no event.
package interval

import "time"

const (
	pauseMin  = 4 * time.Millisecond
	pauseMax  = 100 * time.Millisecond
	restTimes = 2 // as long as the look before took
)

// Growing is that of one loop. The zero value is ready.
type Growing struct {
	pause time.Duration
	began time.Time // the look before
}

// Next says when to look again. The pauses grow from 4 to 100 ms, and each is at least twice as long as the look before it took: on a
// busy machine, those who wait leave the processor to what they wait for.
func (l *Growing) Next() <-chan time.Time {
	l.pause = min(max(l.pause*3/2, pauseMin), pauseMax)
	pause := l.pause
	if !l.began.IsZero() {
		pause = max(pause, restTimes*time.Since(l.began))
	}
	l.began = time.Now().Add(pause)
	return time.After(pause)
}
