package queue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Task is a unit of background work. To enqueue one, Kind is all that must be set.
type Task struct {
	// ID names the task. Left empty, a new one is made. One that is given begins with the
	// partition ("p00-", see NewID); while a task of this id exists, dead ones included, a
	// second one is not enqueued.
	ID string
	// Kind chooses the handler. Printable ASCII without blanks, at most 256 bytes.
	Kind string
	// Payload is the handler's own, in any format. Keep it small: a reference rather than
	// the thing, for it is read back from Redis with every claim.
	Payload []byte
	// Priority says who goes first. The zero value is Normal.
	Priority Priority
	// Due is when it may start, by the clock of Redis, in ms rounded up. The zero value is now.
	Due time.Time
	// Delay is when it may start, counted from the moment Redis takes it. It needs no
	// clock of this machine; with Due set it says nothing.
	Delay time.Duration
	// Unique coalesces: while a task with this key waits, no second one is enqueued. The
	// key is free again when the task is claimed, so what happens during a run can
	// enqueue the next. At most 256 bytes, no line breaks.
	Unique string
	// Subject is what the task is about. Tasks of one subject live in one partition, the
	// one of its group or user; without a subject they are spread.
	Subject string
	// AttemptsMax is after how many failed runs it is buried; 0 = as the server says.
	AttemptsMax int

	// Attempt counts the runs of this task, this one included; runs that ended with their
	// worker count too. Set for handlers.
	Attempt int
	// Enqueued is when it was put in, by the clock of Redis. Set for handlers.
	Enqueued time.Time
	// LastError is why the run before this one failed. Set for handlers.
	LastError string
}

// ErrInvalid says that a task cannot be enqueued as it is. Nothing was written.
var ErrInvalid = errors.New("queue: invalid task")

// check returns the error that says what is wrong with a task to be enqueued.
func (t *Task) check(partitions int) error {
	if t.Kind == "" || len(t.Kind) > nameBytesMax || strings.ContainsFunc(t.Kind, notPrintable) {
		return fmt.Errorf("%w: kind %q", ErrInvalid, t.Kind)
	}
	if len(t.Unique) > nameBytesMax || strings.ContainsAny(t.Unique, "\r\n") {
		return fmt.Errorf("%w: unique key %q", ErrInvalid, t.Unique)
	}
	if t.Priority > Low {
		return fmt.Errorf("%w: %v", ErrInvalid, t.Priority)
	}
	if t.AttemptsMax < 0 {
		return fmt.Errorf("%w: attempts max %d", ErrInvalid, t.AttemptsMax)
	}
	if t.ID == "" {
		return nil
	}
	p, ok := PartitionOf(t.ID)
	if !ok || p >= partitions || len(t.ID) > nameBytesMax || strings.ContainsFunc(t.ID, notPrintable) {
		return fmt.Errorf("%w: id %q", ErrInvalid, t.ID)
	}
	return nil
}

func notPrintable(r rune) bool { return r <= ' ' || r > '~' }

// ceilMs rounds up: what is due at a time may not start before it.
func ceilMs(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// dueMs returns the due time in ms since 1970, rounded up; 0 = none.
func (t *Task) dueMs() int64 {
	if t.Due.IsZero() {
		return 0
	}
	ms := t.Due.UnixMilli()
	if t.Due.Sub(time.UnixMilli(ms)) > 0 {
		ms++
	}
	return max(ms, 1)
}

// claimed is a task with the lease on it.
type claimed struct {
	Task
	partition int
	token     string
	attempts  int // failed runs before this one
	crashes   int // runs that ended with their worker
}

// parseClaim reads what step.lua says about one claimed task. The specification is
// "<priority> <attempts_max> <deadline_ms> <enqueued_ms> <due_ms> <kind> <unique>\n<payload>",
// the run "<token> <attempts> <crashes> <error>" or nothing.
func parseClaim(partition int, id, token, run, spec string) (*claimed, error) {
	head, payload, ok := strings.Cut(spec, "\n")
	fields := strings.SplitN(head, " ", 7)
	if !ok || len(fields) != 7 {
		return nil, fmt.Errorf("queue: task %s: no specification in %.100q", id, spec)
	}
	c := &claimed{partition: partition, token: token}
	c.ID, c.Kind, c.Payload, c.Unique = id, fields[5], []byte(payload), fields[6]
	var errs [5]error
	c.Priority, errs[0] = ParsePriority(fields[0])
	c.AttemptsMax, errs[1] = strconv.Atoi(fields[1])
	var enqueued, due int64
	enqueued, errs[2] = strconv.ParseInt(fields[3], 10, 64)
	due, errs[3] = strconv.ParseInt(fields[4], 10, 64)
	c.Enqueued = time.UnixMilli(enqueued)
	if due > 0 {
		c.Due = time.UnixMilli(due)
	}
	if run != "" {
		errs[4] = c.parseRun(run)
	}
	c.Attempt = c.attempts + c.crashes + 1
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("queue: task %s: %w", id, err)
	}
	return c, nil
}

func (c *claimed) parseRun(run string) error {
	fields := strings.SplitN(run, " ", 4)
	if len(fields) != 4 {
		return fmt.Errorf("no run in %.100q", run)
	}
	var errAttempts, errCrashes error
	c.attempts, errAttempts = strconv.Atoi(fields[1])
	c.crashes, errCrashes = strconv.Atoi(fields[2])
	c.LastError = fields[3]
	return errors.Join(errAttempts, errCrashes)
}
