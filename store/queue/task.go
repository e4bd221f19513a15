package queue

import (
	"errors"
	"fmt"
	"math"
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
	// Payload is the handler's own, in any format, at most 1 MiB. Keep it small: a reference
	// rather than the thing, for it is read back from Redis with every claim.
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
	// AttemptsMax is after how many failed runs it is buried, at most 2^31-1; 0 = as the server
	// says.
	AttemptsMax int

	// Deadline is when it is too late to begin, by the clock of Redis: then the task is
	// buried instead. The context of a handler that has begun ends with it. The zero value
	// is never.
	Deadline time.Time

	// Queue is the one that it was claimed from. Set for handlers.
	Queue string
	// Attempt counts the runs of this task, this one included; runs that ended with their
	// worker count too, snoozed ones do not. Set for handlers.
	Attempt int
	// Attempts is how many runs have failed. Set for handlers.
	Attempts int
	// Enqueued is when it was put in, by the clock of Redis. Set for handlers.
	Enqueued time.Time
	// LastError is why the last run that failed did so. Set for handlers.
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
	if len(t.Payload) > payloadBytesMax {
		return fmt.Errorf("%w: a payload of %d bytes", ErrInvalid, len(t.Payload))
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
	return int64((d-1)/time.Millisecond) + 1
}

// span is a number of ms as a duration, or the longest one there is: 292 years.
func span(ms int64) time.Duration {
	return time.Duration(min(ms, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// msOf returns a time in ms since 1970, rounded up; 0 = none.
func msOf(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	ms := at.UnixMilli()
	if at.Sub(time.UnixMilli(ms)) > 0 {
		ms++
	}
	return min(max(ms, 1), msMax)
}

// parseSpec reads what was enqueued:
// "<priority> <attempts_max> <deadline_ms> <enqueued_ms> <due_ms> <kind> <unique>\n<payload>".
func parseSpec(t *Task, spec string) error {
	head, payload, ok := strings.Cut(spec, "\n")
	if !ok {
		return fmt.Errorf("no specification in %.100q", spec)
	}
	var fields [6]string
	rest := head
	for i := range fields {
		if fields[i], rest, ok = strings.Cut(rest, " "); !ok {
			return fmt.Errorf("no specification in %.100q", head)
		}
	}
	var err error
	if t.Priority, err = ParsePriority(fields[0]); err != nil {
		return err
	}
	if t.AttemptsMax, err = strconv.Atoi(fields[1]); err != nil {
		return err
	}
	for i, to := range []*time.Time{&t.Deadline, &t.Enqueued, &t.Due} {
		ms, err := strconv.ParseInt(fields[2+i], 10, 64)
		if err != nil {
			return err
		}
		if ms != 0 {
			*to = time.UnixMilli(ms)
		}
	}
	t.Kind, t.Unique, t.Payload = fields[5], rest, []byte(payload)
	return nil
}

// record is what a task went through.
type record struct {
	attempts, crashes int
	due               int64 // of the run that came or comes after that, ms; 0 = none
	progress          Progress
	err               string
}

// parseRecord reads "<attempts> <crashes> <due_ms> <done> <total> <last error>", or "" for
// what was never run.
func parseRecord(text string) (r record, err error) {
	if text == "" {
		return r, nil
	}
	var numbers [5]int64
	rest := text
	for i := range numbers {
		var field string
		var ok bool
		if field, rest, ok = strings.Cut(rest, " "); !ok {
			return r, fmt.Errorf("no record in %.100q", text)
		}
		if numbers[i], err = strconv.ParseInt(field, 10, 64); err != nil {
			return r, err
		}
	}
	return record{
		attempts: int(numbers[0]), crashes: int(numbers[1]), due: numbers[2],
		progress: Progress{numbers[3], numbers[4]}, err: rest,
	}, nil
}
