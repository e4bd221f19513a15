// Package result is the option of a task that keeps what it leaves behind.
package result

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// BytesMax bounds a result, KeepMax for how long it is kept.
const (
	BytesMax = 64 << 10
	KeepMax  = 90 * 24 * time.Hour
)

var (
	// ErrDead means that a task has become a dead letter.
	ErrDead = errors.New("queue: the task is a dead letter")
	// ErrNotReady means that a task has not ended.
	ErrNotReady = errors.New("queue: the task has not ended")
)

// Result is what a task that keeps a result has left behind.
type Result struct {
	Data      []byte    // what its handler gave to queue.SetResult; nil = nothing
	Completed time.Time // by the clock of Redis
}

// Read reads what lua/result.lua answers about a task. known is false if there is neither the task nor a result of it.
func Read(what, ms, text string) (r Result, known bool, err error) {
	switch what {
	case "complete":
		at, err := strconv.ParseInt(ms, 10, 64)
		if err != nil {
			return r, true, fmt.Errorf("queue: result: malformed %.100q", ms)
		}
		r.Completed = time.UnixMilli(at)
		if text != "" {
			r.Data = []byte(text)
		}
		return r, true, nil
	case "dead":
		return r, true, fmt.Errorf("%w: %s", ErrDead, text)
	case "waits":
		return r, true, ErrNotReady
	}
	return r, false, nil
}
