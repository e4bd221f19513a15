// Package limit is the option of a task that bounds how many tasks with a key run at once.
package limit

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/option"
)

// slotsMax bounds the slots of a limit.
const slotsMax = 1000

// Limit bounds how many tasks with a key run at once. A task that is claimed takes one of the slots of its key; the step
// that ends its run frees the slot and passes it on to the task that has waited longest. With Max 1, the tasks of a key
// run one after the other, in the order in which they are claimed.
//
// It is exact among the tasks of a queue in one partition, whatever workers die: the partition of the id or the Subject,
// else the one of the unique key, else the one of the limit's key, else the one of the rate's. Tasks of one key that differ in
// these may be in several partitions, each of which has slots of its own.
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

// Busy says what a task does if its limit has no free slot: Wait, Fail, or try again after a pause of 1 ms to 30 days.
type Busy time.Duration

const (
	// Wait parks the task until a slot is passed on to it, in the order of the claims. It keeps its unique key, and its
	// deadline is checked when it is claimed again. While others are parked, no later task of the key takes a slot.
	Wait Busy = 0
	// Fail refuses the task when it is enqueued and no slot is free or others are parked: Enqueue returns queue.ErrBusy. A
	// task that is taken has its slot from then until it ends, also while it is delayed. A dead letter that is retried waits
	// for a slot.
	Fail Busy = -1
)

// The ways to write Wait and Fail in a specification; any other is a pause in ms.
const busyWait, busyFail = "wait", "fail"

// Check returns an error that says what is wrong with the limit of a task to be enqueued.
func (l *Limit) Check() error {
	switch {
	case l.Key == "" || !option.IsKey(l.Key):
		return fmt.Errorf("limit: key %q", l.Key)
	case l.Max < 1 || l.Max > slotsMax:
		return fmt.Errorf("limit: Max is %d, must be 1 to %d", l.Max, slotsMax)
	case l.Busy < Fail || time.Duration(l.Busy) > option.PauseMax:
		return fmt.Errorf("limit: Busy is a pause of %v, at most %v", time.Duration(l.Busy), option.PauseMax)
	}
	return nil
}

// Line is the limit as a specification holds it: "<max> <1 = keeps its slot until it ends> <busy> <key>".
func (l *Limit) Line() string {
	busy, keeps := busyWait, 0
	switch {
	case l.Busy == Fail:
		busy = busyFail
	case l.Busy > 0:
		busy = strconv.FormatInt(option.CeilMs(time.Duration(l.Busy)), 10)
	}
	if l.Hold || l.Busy == Fail {
		keeps = 1
	}
	return fmt.Sprintf("%d %d %s %s", l.Max, keeps, busy, l.Key)
}

// Parse parses what Line returns. ok is false for anything else.
func Parse(value string) (l *Limit, ok bool) {
	most, rest, _ := strings.Cut(value, " ")
	keeps, rest, _ := strings.Cut(rest, " ")
	busy, key, _ := strings.Cut(rest, " ")
	if key == "" || (keeps != "0" && keeps != "1") {
		return nil, false
	}
	l = &Limit{Key: key, Hold: keeps == "1"}
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
		l.Busy = Busy(option.Span(ms))
	}
	return l, true
}
