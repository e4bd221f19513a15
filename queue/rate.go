package queue

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate bounds how often tasks with a key begin: N in each Per, a run every Per/N. Each run counts, also one after a
// failure. A task that is claimed too soon is delayed to the exact time of its turn, without an attempt; turns are given
// in the order of the claims, so a higher priority counts only until then.
//
// It is the generic cell rate algorithm, by the clock of Redis. In any span of Per, no more than N+Burst tasks have their
// turn. A task that comes too late for its turn, because all workers were busy or down, begins at once if it is late by no
// more than Burst turns or 100 ms, whichever is more; otherwise it gets another turn. So after an outage the backlog does
// not begin all at once.
//
// It holds for the tasks of a queue in one partition, see Limit. A task with a Limit too takes its slot first, and frees
// it while it is delayed, unless it holds it.
type Rate struct {
	// Key is what the tasks have in common, an account or a host for example. 1 to 256 bytes, no line breaks.
	Key string
	// N is how many may begin in each Per, 1 to 1,000,000, and no more than one a microsecond. Each task is judged by its own.
	N int
	// Per is 1 ms to 30 days, rounded up to us.
	Per time.Duration
	// Burst is how many may begin at once if none did for a while, 1 to 1,000,000. 0 is N. With 1, runs are at least
	// Per/N apart, except for those that are late.
	Burst int
}

func (r *Rate) burst() int {
	if r.Burst == 0 {
		return r.N
	}
	return r.Burst
}

// perUs is Per in us, rounded up.
func (r *Rate) perUs() int64 { return int64((r.Per-1)/time.Microsecond) + 1 }

// checkRate returns an error that says what is wrong with the rate of a task to be enqueued.
func (t *Task) checkRate() error {
	r := t.Rate
	if r == nil {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: rate: "+format, append([]any{ErrInvalid}, args...)...)
	}
	switch {
	case r.Key == "" || len(r.Key) > nameBytesMax || strings.ContainsAny(r.Key, "\r\n"):
		return wrong("key %q", r.Key)
	case r.N < 1 || r.N > rateMax:
		return wrong("N is %d, must be 1 to %d", r.N, rateMax)
	case r.Per < time.Millisecond || r.Per > pauseMax:
		return wrong("Per is %v, must be 1ms to %v", r.Per, pauseMax)
	case r.perUs() < int64(r.N):
		return wrong("%d in %v is more than one a microsecond", r.N, r.Per)
	case r.Burst < 0 || r.Burst > rateMax:
		return wrong("Burst is %d, must be 1 to %d, or 0 for N", r.Burst, rateMax)
	case t.Batch != nil:
		return wrong("a task in a batch has no rate")
	}
	return nil
}

// line is the rate as a specification holds it: "<N> <Per in us> <Burst> <key>".
func (r *Rate) line() string { return fmt.Sprintf("%d %d %d %s", r.N, r.perUs(), r.burst(), r.Key) }

// parseRate parses what line returns.
func parseRate(value string) (*Rate, bool) {
	fields := strings.SplitN(value, " ", 4)
	if len(fields) < 4 || fields[3] == "" {
		return nil, false
	}
	var numbers [3]int
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.Atoi(fields[i]); err != nil || numbers[i] < 1 {
			return nil, false
		}
	}
	return &Rate{Key: fields[3], N: numbers[0], Per: time.Duration(numbers[1]) * time.Microsecond, Burst: numbers[2]}, true
}
