package queue

import (
	"errors"
	"time"

	"github.com/chatd/chatd/queue/option/limit"
)

// Limit bounds how many tasks with a key run at once: Key, Max, what to do if it is Busy, and whether to Hold the slot.
type Limit = limit.Limit

// Busy says what a task does if its limit has no free slot: Wait, Fail or SnoozeFor.
type Busy = limit.Busy

// Wait parks the task until a slot is passed on to it. Fail refuses it when it is enqueued: Enqueue returns ErrBusy.
const Wait, Fail = limit.Wait, limit.Fail

// SnoozeFor has the task try again after a pause of 1 ms to 30 days. No attempt is counted. Others may overtake it.
func SnoozeFor(pause time.Duration) Busy { return Busy(pause) }

// ErrBusy means that a task was not enqueued because its limit, with Fail, has no free slot, or that TryHold got none.
// EnqueueAll enqueues the other tasks all the same.
var ErrBusy = errors.New("queue: every slot of the limit is taken")
