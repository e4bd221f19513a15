package health

import (
	"math"
	"sync/atomic"
	"time"
)

// Totals are what a node has done since it started.
type Totals struct {
	Sessions int64 // live ones
	Messages int64
	Requests int64
	Failures int64
	Took     [classes]int64 // requests that did not wait, by how long they took
}

// classes are classes of durations: class i ends at base*2^(i/2), the last one has no end.
const (
	classes = 36
	base    = 100 * time.Microsecond
)

// Meter counts the requests of a node, and the messages that it takes. It may be used from many goroutines.
type Meter struct {
	Messages           atomic.Int64
	requests, failures atomic.Int64
	took               [classes]atomic.Int64
}

// Observe counts a request. waits: it may have waited for something to happen, so how long it took says nothing.
func (m *Meter) Observe(status int, took time.Duration, waits bool) {
	m.requests.Add(1)
	if status >= 500 { //nolint:mnd // the server's own
		m.failures.Add(1)
	}
	if !waits {
		m.took[class(took)].Add(1)
	}
}

// Totals reads the meter.
func (m *Meter) Totals() (t Totals) {
	t.Messages, t.Requests, t.Failures = m.Messages.Load(), m.requests.Load(), m.failures.Load()
	for i := range m.took {
		t.Took[i] = m.took[i].Load()
	}
	return t
}

func class(took time.Duration) int {
	if took <= base {
		return 0
	}
	return min(classes-1, int(math.Ceil(2*math.Log2(float64(took)/float64(base))))) //nolint:mnd // two classes an octave
}

// since returns the values of Figures over a step that began with before.
func (t Totals) since(before Totals, step, store time.Duration) []float64 {
	rate := func(n int64) float64 { return float64(n) / step.Seconds() }
	return []float64{
		float64(t.Sessions), rate(t.Messages - before.Messages), rate(t.Requests - before.Requests), rate(t.Failures - before.Failures),
		milliseconds(slow(t.Took, before.Took)), milliseconds(store),
	}
}

// slow is how long 95 of 100 requests took at most: the end of their class. 0: there were none.
func slow(now, before [classes]int64) time.Duration {
	var all, seen int64
	for i := range now {
		all += now[i] - before[i]
	}
	for i := range now {
		if seen += now[i] - before[i]; all > 0 && seen*100 >= all*95 {
			return time.Duration(float64(base) * math.Pow(2, float64(i)/2)) //nolint:mnd // see class
		}
	}
	return 0
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
