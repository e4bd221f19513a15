// Package rate is the option of a task that bounds how often tasks with a key begin.
package rate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/option"
)

// most bounds the runs of a rate, and its bursts.
const most = 1_000_000

// Rate bounds how often tasks with a key begin: N in each Per, a run every Per/N. Each run counts, also one after a
// failure. A task that is claimed too soon is delayed to the exact time of its turn, without an attempt; turns are given
// in the order of the claims, so a higher priority counts only until then.
//
// It is the generic cell rate algorithm, by the clock of Redis. In any span of Per, no more than N+Burst tasks have their
// turn. A task that comes too late for its turn, because all workers were busy or down, begins at once if it is late by no
// more than Burst turns or 100 ms, whichever is more; otherwise it gets another turn. So after an outage the backlog does
// not begin all at once.
//
// It holds for the tasks of a queue in one partition, see limit.Limit. A task with a Limit too takes its slot first, and frees
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

// Check returns an error that says what is wrong with the rate of a task to be enqueued.
func (r *Rate) Check() error {
	switch {
	case r.Key == "" || !option.IsKey(r.Key):
		return fmt.Errorf("rate: key %q", r.Key)
	case r.N < 1 || r.N > most:
		return fmt.Errorf("rate: N is %d, must be 1 to %d", r.N, most)
	case r.Per < time.Millisecond || r.Per > option.PauseMax:
		return fmt.Errorf("rate: Per is %v, must be 1ms to %v", r.Per, option.PauseMax)
	case r.perUs() < int64(r.N):
		return fmt.Errorf("rate: %d in %v is more than one a microsecond", r.N, r.Per)
	case r.Burst < 0 || r.Burst > most:
		return fmt.Errorf("rate: Burst is %d, must be 1 to %d, or 0 for N", r.Burst, most)
	}
	return nil
}

// Line is the rate as a specification holds it: "<N> <Per in us> <Burst> <key>".
func (r *Rate) Line() string { return fmt.Sprintf("%d %d %d %s", r.N, r.perUs(), r.burst(), r.Key) }

// Parse parses what Line returns. ok is false for anything else.
func Parse(value string) (r *Rate, ok bool) {
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
