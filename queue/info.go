package queue

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/script"
)

// State is the state of a task.
type State string

// The states of a task. A completed task has none: it is gone.
const (
	Delayed State = "delayed"
	Ready   State = "ready"
	Parked  State = "parked" // waits for a slot of its limit
	Leased  State = "leased"
	Dead    State = "dead"
)

var (
	// ErrNotFound means that there is no such task: it never existed, was completed, or was cancelled.
	ErrNotFound = errors.New("queue: no such task")
	// ErrConflict means that the task's state does not allow the operation.
	ErrConflict = errors.New("queue: the task is ready, parked or running")
)

// Progress is the progress that a task has reported.
type Progress struct{ Done, Total int64 }

// Info is all that is known about a task. Times are by the clock of Redis; the zero time means none.
type Info struct {
	ID, Queue, Kind string
	State           State
	Priority        Priority
	Payload         []byte
	Attempts        int    // failed runs
	Crashes         int    // runs whose lease expired
	AttemptsMax     int    // 0 = the default of its kind or of the server
	LastError       string // of a task that cannot be read: the reason, if no error is known
	Enqueued        time.Time
	Due             time.Time // of a delayed task, when it may run next; of others, when it was first due
	Deadline        time.Time
	LeaseEnds       time.Time // of a leased task
	Died            time.Time // of a dead task
	ParkedSince     time.Time // of a parked task
	Limit           *Limit    // nil = none
	Rate            *Rate     // nil = none
	Progress        Progress
}

// Get returns one task, or ErrNotFound.
func (c *Client) Get(ctx context.Context, id string) (Info, error) {
	p, err := c.partitionOf(id)
	if err != nil {
		return Info{}, err
	}
	values, err := c.texts(ctx, showScript.On(c.work[p]).Arg("id", id))
	if err != nil {
		return Info{}, fmt.Errorf("queue: get: %w", err)
	}
	if len(values) == 0 {
		return Info{}, ErrNotFound
	}
	if len(values) != 5 {
		return Info{}, fmt.Errorf("queue: get: unexpected answer of %d values", len(values))
	}
	return c.info(State(values[1]), values[0], values[2], values[3], values[4])
}

// info parses what show.lua and list.lua return about one task. Fields that cannot be read (written by another version)
// are left out: they must not hide the other tasks of the page.
func (c *Client) info(state State, id, at, spec, record string) (Info, error) {
	var t Task
	h, err := parseRecord(record)
	if specErr := parseSpec(&t, spec); specErr != nil {
		err = specErr
	}
	if err != nil && h.err == "" {
		h.err = reason(err)
	}
	ms, err := strconv.ParseFloat(at, 64) // as Redis prints scores; whole ms
	if err != nil {
		return Info{}, fmt.Errorf("queue: task %s: time %q", id, at)
	}
	i := Info{
		ID: id, Queue: c.name, Kind: t.Kind, State: state, Priority: t.Priority, Payload: t.Payload,
		Attempts: h.attempts, Crashes: h.crashes, AttemptsMax: t.AttemptsMax, LastError: h.err,
		Enqueued: t.Enqueued, Due: t.Due, Deadline: t.Deadline, Progress: h.progress, Limit: t.Limit, Rate: t.Rate,
	}
	when := time.UnixMilli(int64(ms))
	switch state {
	case Delayed:
		i.Due = when
	case Leased:
		i.LeaseEnds = when
	case Dead:
		i.Died = when
	case Parked:
		i.ParkedSince = when
	}
	return i, nil
}

// ListQuery selects the tasks to list.
type ListQuery struct {
	// State of the tasks, required.
	State State
	// Cursor is the next cursor of the previous page; empty = the first page.
	Cursor string
	// Limit is the page size: 100 by default, 1,000 at most.
	Limit int
}

// List returns a page of the tasks in one state, partition by partition: delayed tasks by due time, ready ones in the
// order of their lists, parked ones longest parked first, leased ones by the end of their leases, dead ones newest first.
// next is the cursor of the next page, empty after the last one. A page may be short, or even empty, with more to come.
//
// Tasks move while you read pages. A task that stays in its state is on one of them; if its neighbours leave, it may be
// on two.
func (c *Client) List(ctx context.Context, q ListQuery) (infos []Info, next string, err error) {
	switch q.State {
	case Delayed, Ready, Parked, Leased, Dead:
	default:
		return nil, "", fmt.Errorf("%w: state %q", ErrInvalid, q.State)
	}
	if q.Limit <= 0 {
		q.Limit = listDefault
	}
	q.Limit = min(q.Limit, listMax)
	p, anchor, ok := parseCursor(q.State, q.Cursor)
	if !ok || p >= c.partitions {
		return nil, "", fmt.Errorf("%w: cursor %q", ErrInvalid, q.Cursor)
	}
	for ; p < c.partitions; p, anchor = p+1, "" {
		values, err := c.texts(ctx, listScript.On(c.work[p]).Arg("state", string(q.State)).Arg("limit", q.Limit-len(infos)).
			Arg("anchor", anchor))
		if err != nil {
			return nil, "", fmt.Errorf("queue: list: %w", err)
		}
		if len(values)%4 != 1 {
			return nil, "", fmt.Errorf("queue: list: unexpected answer of %d values", len(values))
		}
		for i := 1; i < len(values); i += 4 {
			info, err := c.info(q.State, values[i], values[i+1], values[i+2], values[i+3])
			if err != nil {
				return nil, "", err
			}
			infos = append(infos, info)
		}
		if values[0] != "" {
			return infos, makeCursor(q.State, p, values[0]), nil
		}
		if len(infos) == q.Limit && p+1 < c.partitions {
			return infos, makeCursor(q.State, p+1, ""), nil
		}
	}
	return infos, "", nil
}

// makeCursor returns the cursor of the position where a page ended.
func makeCursor(state State, partition int, anchor string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %d %s", state, partition, anchor))
}

// parseCursor is the inverse of makeCursor. It takes only anchors that list.lua can read:
// "<list> <place> <id>" for ready tasks, else "<score> <member>".
func parseCursor(state State, cursor string) (partition int, anchor string, ok bool) {
	if cursor == "" {
		return 0, "", true
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	fields := strings.SplitN(string(text), " ", 3)
	if err != nil || len(fields) != 3 || fields[0] != string(state) {
		return 0, "", false
	}
	partition, err = strconv.Atoi(fields[1])
	if err != nil || partition < 0 {
		return 0, "", false
	}
	anchor = fields[2]
	if anchor == "" {
		return partition, "", true
	}
	first, rest, ok := strings.Cut(anchor, " ")
	if state == Ready {
		var position string
		position, rest, ok = strings.Cut(rest, " ")
		list, err := strconv.ParseUint(first, 10, 8)
		if err != nil || len(first) != 1 || list < 1 || list > uint64(len(priorities)) {
			return 0, "", false
		}
		first = position
	}
	_, err = strconv.ParseUint(first, 10, 53)
	return partition, anchor, ok && rest != "" && err == nil
}

// texts runs one call that returns an array of strings.
func (c *access) texts(ctx context.Context, what script.Call) ([]string, error) {
	one := &call{Call: what}
	if err := c.run(ctx, []*call{one}); err != nil {
		return nil, err
	}
	return one.cmd.StringSlice()
}

// partitionOf returns the partition of a task id, or ErrNotFound if it names none.
func (c *access) partitionOf(id string) (int, error) {
	p, ok := PartitionOf(id)
	if !ok || p >= c.partitions {
		return 0, ErrNotFound
	}
	return p, nil
}
