package queue

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/store/script"
)

// State is where a task is.
type State string

// The states of a task. One that is done is gone.
const (
	Delayed State = "delayed"
	Ready   State = "ready"
	Leased  State = "leased"
	Dead    State = "dead"
)

var (
	// ErrNotFound says that there is no such task: it never was, or it is done or gone.
	ErrNotFound = errors.New("queue: no such task")
	// ErrConflict says that the task is in a state that does not allow it.
	ErrConflict = errors.New("queue: the task is ready or runs")
)

// Progress is how far a task says it is.
type Progress struct{ Done, Total int64 }

// Info is what there is to know of a task. Times are by the clock of Redis; the zero time
// stands for none.
type Info struct {
	ID, Queue, Kind string
	State           State
	Priority        Priority
	Payload         []byte
	Attempts        int    // failed runs
	Crashes         int    // runs whose lease ended
	AttemptsMax     int    // 0 = as the server or the kind says
	LastError       string // of a task that cannot be read: why, if nothing else is known
	Enqueued        time.Time
	Due             time.Time // when it may run next, of a delayed one; else when it was to be first
	Deadline        time.Time
	LeaseEnds       time.Time // of a leased one
	Died            time.Time // of a dead one
	Progress        Progress
}

// Get returns one task. ErrNotFound: there is none of this id.
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
		return Info{}, fmt.Errorf("queue: get: answer of %d values", len(values))
	}
	return c.info(State(values[1]), values[0], values[2], values[3], values[4])
}

// info reads what show.lua and list.lua say of one task. What cannot be read of it (written by
// another version) is left out: it must not hide the others of its page.
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
		Enqueued: t.Enqueued, Due: t.Due, Deadline: t.Deadline, Progress: h.progress,
	}
	when := time.UnixMilli(int64(ms))
	switch state {
	case Delayed:
		i.Due = when
	case Leased:
		i.LeaseEnds = when
	case Dead:
		i.Died = when
	}
	return i, nil
}

// ListQuery says which tasks to list.
type ListQuery struct {
	// State is theirs. It must be given.
	State State
	// Cursor is where the page before ended; empty = the first page.
	Cursor string
	// Limit is the length of a page: 100 by default, 1,000 at most.
	Limit int
}

// List returns a page of the tasks in one state, partition by partition: delayed ones by due
// time, ready ones in the order of their lists, leased ones by the end of their leases, dead
// ones with the newest first. next is empty after the last page, else the cursor of the next.
// A page may be short, or even empty, with more to come.
//
// Tasks move while pages are read. One that stays in its state is on one of them; one whose
// neighbours leave may be on two.
func (c *Client) List(ctx context.Context, q ListQuery) (infos []Info, next string, err error) {
	switch q.State {
	case Delayed, Ready, Leased, Dead:
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
			return nil, "", fmt.Errorf("queue: list: answer of %d values", len(values))
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

// makeCursor writes where a page of a state has ended.
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

// texts runs one call whose answer is an array of strings.
func (c *Client) texts(ctx context.Context, what script.Call) ([]string, error) {
	one := &call{Call: what}
	if err := c.run(ctx, []*call{one}); err != nil {
		return nil, err
	}
	return one.cmd.StringSlice()
}

// partitionOf returns where a task of this id would be. ErrNotFound: nowhere.
func (c *Client) partitionOf(id string) (int, error) {
	p, ok := PartitionOf(id)
	if !ok || p >= c.partitions {
		return 0, ErrNotFound
	}
	return p, nil
}
