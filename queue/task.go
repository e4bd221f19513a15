package queue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/option"
)

// Task is a unit of background work. To enqueue one, only Kind is required.
type Task struct {
	// ID names the task. If empty, a new one is made. One that you set begins with the partition ("p00-", see NewID);
	// while a task with this id exists, even a dead one, no second one is enqueued.
	ID string
	// Kind selects the handler. Printable ASCII without blanks, at most 256 bytes.
	Kind string
	// Payload belongs to the handler: any format, at most 1 MiB. Keep it small, a reference rather than the content,
	// because every claim reads it back from Redis.
	Payload []byte
	// Priority decides who goes first. The zero value is Normal.
	Priority Priority
	// Due is when it may start, by the clock of Redis, rounded up to ms. The zero value is now.
	Due time.Time
	// Delay is when it may start, counted from the moment Redis accepts it, so it does not depend on this machine's
	// clock. Ignored if Due is set.
	Delay time.Duration
	// Unique deduplicates: while a task with this key waits, no second one is enqueued. A claim frees the key, so an
	// event during the run can enqueue the next task. At most 256 bytes, no line breaks.
	Unique string
	// UniqueUntilEnd keeps the key also while the task runs and waits for its retries, until it ends: it is complete, a
	// dead letter or cancelled, and frees the key in the same step. A dead letter that is retried takes the key again,
	// unless another task has it by then.
	UniqueUntilEnd bool
	// UniqueFor takes the key for that long after the enqueue, by the clock of Redis, whatever happens to the task: it may
	// be complete, dead or cancelled long before, or still wait when another one may be enqueued. 1 ms to 30 days, rounded
	// up to ms; the zero value is none. It excludes UniqueUntilEnd.
	UniqueFor time.Duration
	// Subject is what the task is about. Tasks with the same subject share a partition, that of the group or user;
	// tasks without one are spread over all.
	Subject string
	// AttemptsMax is how many failed runs bury it, at most 2^31-1; 0 = the server's default.
	AttemptsMax int

	// Deadline is when it is too late to begin, by the clock of Redis: the task is then buried instead. The context of
	// a handler that has begun ends at that time. The zero value is never.
	Deadline time.Time
	// Timeout is how long one run may take: the context of the handler ends then. The zero value is that of the policy of
	// its kind.
	Timeout time.Duration
	// Limit, if set, bounds how many tasks with its key run at once.
	Limit *Limit
	// Rate, if set, bounds how often tasks with its key begin.
	Rate *Rate
	// Keep is how long the result of the task is kept once it is complete, at most 90 days: Client.Result and Client.Wait
	// return it, see SetResult. The zero value leaves nothing behind.
	Keep time.Duration
	// Then are tasks that the step which completes this one enqueues, at most 16, and 128 KiB as they are stored: they exist
	// if and only if it is complete. If it becomes a dead letter or is cancelled, they never do. They are as other tasks, may have
	// successors of their own, and are in its partition: an ID or a Subject has to be of that. A Delay counts from then on. One
	// whose unique key is taken by then is not enqueued. They join no batch, and a limit with Fail is refused.
	Then []Task
	// Batch, if set, has the task run together with others of its kind, priority and batch key, see Batch.
	Batch *Batch

	// Queue is the queue that it was claimed from. Set for handlers.
	Queue string
	// Attempt counts the runs of this task, including this one and those whose worker died, but not snoozed ones. Set
	// for handlers.
	Attempt int
	// Attempts is how many runs have failed. Set for handlers.
	Attempts int
	// Enqueued is when it was enqueued, by the clock of Redis. Set for handlers.
	Enqueued time.Time
	// LastError is the error of the last failed run. Set for handlers.
	LastError string

	members []Task // of a batch that a handler runs
}

// ErrInvalid means that the task cannot be enqueued as it is. Nothing was written.
var ErrInvalid = errors.New("queue: invalid task")

// check returns an error that says what is wrong with a task to be enqueued.
func (t *Task) check(partitions int) error {
	if t.Kind == "" || len(t.Kind) > nameBytesMax || ofEngine(t.Kind) || strings.ContainsFunc(t.Kind, notPrintable) {
		return fmt.Errorf("%w: kind %q", ErrInvalid, t.Kind)
	}
	if !option.IsKey(t.Unique) {
		return fmt.Errorf("%w: unique key %q", ErrInvalid, t.Unique)
	}
	if len(t.Payload) > payloadBytesMax {
		return fmt.Errorf("%w: payload of %d bytes, at most %d", ErrInvalid, len(t.Payload), payloadBytesMax)
	}
	if t.Priority > Low {
		return fmt.Errorf("%w: %v", ErrInvalid, t.Priority)
	}
	if t.AttemptsMax < 0 {
		return fmt.Errorf("%w: AttemptsMax is %d", ErrInvalid, t.AttemptsMax)
	}
	if t.hasOptions() {
		if err := t.checkOptions(partitions); err != nil {
			return err
		}
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

// ofEngine tells whether a kind is one that only the engine enqueues.
func ofEngine(kind string) bool { return kind == KindHold || strings.HasPrefix(kind, KindPeriodic) }

func notPrintable(r rune) bool { return r <= ' ' || r > '~' }

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

// parseSpec parses a task's specification: "<priority> <attempts_max> <deadline_ms> <enqueued_ms> <due_ms> <kind>
// <unique>[\r<option> <value>]...\n<payload>".
func parseSpec(t *Task, spec string) error {
	head, payload, ok := strings.Cut(spec, "\n")
	if !ok {
		return fmt.Errorf("malformed specification %.100q", spec)
	}
	var fields [6]string
	rest := head
	for i := range fields {
		if fields[i], rest, ok = strings.Cut(rest, " "); !ok {
			return fmt.Errorf("malformed specification %.100q", head)
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
	unique, lines, some := strings.Cut(rest, "\r")
	t.Kind, t.Unique, t.Payload = fields[5], unique, []byte(payload)
	if some {
		return t.parseOptions(lines)
	}
	return nil
}

// record is the history of a task.
type record struct {
	attempts, crashes int
	due               int64 // due time of the run after those, ms; 0 = none
	progress          Progress
	err               string
}

// parseRecord parses "<attempts> <crashes> <due_ms> <done> <total> <last error>", or "" for a task that never ran.
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
			return r, fmt.Errorf("malformed run record %.100q", text)
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
