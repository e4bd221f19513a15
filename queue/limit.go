package queue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Limit bounds how many tasks with a key run at once. A task that is claimed takes one of the slots of its key; the step
// that ends its run frees the slot and passes it on to the task that has waited longest. With Max 1, the tasks of a key
// run one after the other, in the order in which they are claimed.
//
// It is exact among the tasks of a queue in one partition, whatever workers die: the partition of the id or the Subject,
// else the one of the unique key, else the one of the limit's key, else the one of the rate's. Tasks of one key that differ in these may be in
// several partitions, each of which has slots of its own.
type Limit struct {
	// Key is what the tasks have in common, an account for example. 1 to 256 bytes, no line breaks.
	Key string
	// Max is how many of them may run at once, 1 to 1,000. Each task is judged by its own.
	Max int
	// Busy is what a task does if no slot is free when it is claimed. The zero value is Wait.
	Busy Busy
	// Hold has the task keep its slot through its retries and snoozes, until it is complete, a dead letter or
	// cancelled: with Max 1, the next task of a sequence does not begin before this one has ended.
	Hold bool
}

// Busy says what a task does if its limit has no free slot: Wait, Fail or SnoozeFor.
type Busy time.Duration

const (
	// Wait parks the task until a slot is passed on to it, in the order of the claims. It keeps its unique key, and its
	// deadline is checked when it is claimed again. While others are parked, no later task of the key takes a slot.
	Wait Busy = 0
	// Fail refuses the task when it is enqueued and no slot is free or others are parked: Enqueue returns ErrBusy. A task that is taken has its slot from then
	// until it ends, also while it is delayed. A dead letter that is retried waits for a slot.
	Fail Busy = -1
)

// SnoozeFor has the task try again after a pause of 1 ms to 30 days. No attempt is counted. Others may overtake it.
func SnoozeFor(pause time.Duration) Busy { return Busy(pause) }

// ErrBusy means that a task was not enqueued because its limit, with Fail, has no free slot, or that TryHold got none.
// EnqueueAll enqueues the other tasks all the same.
var ErrBusy = errors.New("queue: every slot of the limit is taken")

// The ways to write Wait and Fail in a specification; any other is a pause in ms.
const busyWait, busyFail = "wait", "fail"

// checkLimit returns an error that says what is wrong with the limit of a task to be enqueued.
func (t *Task) checkLimit() error {
	l := t.Limit
	if l == nil {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: limit: "+format, append([]any{ErrInvalid}, args...)...)
	}
	switch {
	case l.Key == "" || len(l.Key) > nameBytesMax || strings.ContainsAny(l.Key, "\r\n"):
		return wrong("key %q", l.Key)
	case l.Max < 1 || l.Max > slotsMax:
		return wrong("Max is %d, must be 1 to %d", l.Max, slotsMax)
	case l.Busy < Fail || time.Duration(l.Busy) > pauseMax:
		return wrong("Busy is a pause of %v, at most %v", time.Duration(l.Busy), pauseMax)
	case t.Batch != nil:
		return wrong("a task in a batch has no limit")
	}
	return nil
}

// line is the limit as a specification holds it: "<max> <1 = keeps its slot until it ends> <busy> <key>".
func (l *Limit) line() string {
	busy, keeps := busyWait, 0
	switch {
	case l.Busy == Fail:
		busy = busyFail
	case l.Busy > 0:
		busy = strconv.FormatInt(ceilMs(time.Duration(l.Busy)), 10)
	}
	if l.Hold || l.Busy == Fail {
		keeps = 1
	}
	return fmt.Sprintf("%d %d %s %s", l.Max, keeps, busy, l.Key)
}

// parseLimit parses what line returns.
func parseLimit(value string) (*Limit, bool) {
	most, rest, _ := strings.Cut(value, " ")
	keeps, rest, _ := strings.Cut(rest, " ")
	busy, key, _ := strings.Cut(rest, " ")
	if key == "" || (keeps != "0" && keeps != "1") {
		return nil, false
	}
	l := &Limit{Key: key, Hold: keeps == "1"}
	var err error
	if l.Max, err = strconv.Atoi(most); err != nil || l.Max < 1 {
		return nil, false
	}
	switch busy {
	case busyWait:
	case busyFail:
		l.Busy, l.Hold = Fail, false
	default:
		ms, err := strconv.ParseInt(busy, 10, 64)
		if err != nil || ms < 1 {
			return nil, false
		}
		l.Busy = Busy(span(ms))
	}
	return l, true
}
