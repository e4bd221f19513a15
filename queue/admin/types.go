package admin

import (
	"context"
	"time"

	"github.com/chatd/chatd/queue"
)

// Tasks is what operators do. An Admin does it on Redis; an application may answer the same from elsewhere, for example
// over HTTP. Its errors wrap queue.ErrNotFound, queue.ErrConflict and queue.ErrInvalid, and say in words for people what is
// wrong; any other error means that the tasks cannot be reached.
type Tasks interface {
	// Queues counts the tasks of each queue.
	Queues(ctx context.Context) ([]Queue, error)
	// Pause pauses a queue, or, with paused false, resumes it. It returns its new state.
	Pause(ctx context.Context, queue string, paused bool) (Queue, error)
	// List returns a page of tasks, and the cursor of the next one, "" after the last. A page may be short with more to come.
	List(ctx context.Context, q Query) (page []Task, next string, err error)
	// Task describes one task.
	Task(ctx context.Context, id string) (Task, error)
	// Retry makes a dead or delayed task ready, and returns it as it became ready.
	Retry(ctx context.Context, id string) (Task, error)
	// Delete removes a task in any state.
	Delete(ctx context.Context, id string) error
	// Bulk changes the next tasks that are selected, for about a second. With an error too, the result counts what was done
	// before it.
	Bulk(ctx context.Context, b Bulk) (Changed, error)
	// Days returns how the runs of each kind ended on each of the last 1 to 90 days, the newest day first.
	Days(ctx context.Context, last int) ([]Day, error)
	// Limits returns a page of the keys of limits that are in use; limit is at most 100, and 0 = 20.
	Limits(ctx context.Context, cursor string, limit int) (page []Limit, next string, err error)
	// Periodic returns a page of the periodic tasks; limit is at most 1,000, and 0 = 100.
	Periodic(ctx context.Context, cursor string, limit int) (page []Periodic, next string, err error)
	// PausePeriodic pauses a periodic task, or, with paused false, resumes it. It returns its new state.
	PausePeriodic(ctx context.Context, id string, paused bool) (Periodic, error)
	// RunPeriodic enqueues an occurrence now, beside the plan, and returns the id of its task.
	RunPeriodic(ctx context.Context, id string) (task string, err error)
	// DeletePeriodic ends a periodic task.
	DeletePeriodic(ctx context.Context, id string) error
}

// Queue counts the tasks of a queue: see queue.Stats.
type Queue struct {
	Queue     string   `json:"queue"`
	Paused    bool     `json:"paused"`
	Ready     Ready    `json:"ready"`
	Parked    int64    `json:"parked"`
	Delayed   int64    `json:"delayed"`
	Leased    int64    `json:"leased"`
	Dead      int64    `json:"dead"`
	OldestMs  int64    `json:"oldest_ms"` // how long the oldest ready task has waited
	Enqueued  int64    `json:"enqueued"`
	Processed int64    `json:"processed"` // tasks completed
	Failed    int64    `json:"failed"`    // runs that failed
	Crashed   int64    `json:"crashed"`   // runs whose lease expired
	Buried    int64    `json:"buried"`    // times that a task became a dead letter
	Deleted   int64    `json:"deleted"`
	Dropped   int64    `json:"dropped"`  // dead letters that gave way to newer ones
	Unserved  []string `json:"unserved"` // kinds of waiting tasks that no server runs
}

// Ready counts the ready tasks of each priority.
type Ready struct {
	Critical int64 `json:"critical"`
	High     int64 `json:"high"`
	Normal   int64 `json:"normal"`
	Low      int64 `json:"low"`
}

// ReadyAll is how many tasks could be claimed now.
func (q Queue) ReadyAll() int64 {
	return q.Ready.Critical + q.Ready.High + q.Ready.Normal + q.Ready.Low
}

// In returns how many tasks are in a state.
func (q Queue) In(state queue.State) int64 {
	switch state {
	case queue.Ready:
		return q.ReadyAll()
	case queue.Parked:
		return q.Parked
	case queue.Delayed:
		return q.Delayed
	case queue.Leased:
		return q.Leased
	case queue.Dead:
		return q.Dead
	}
	return 0
}

// Query selects what List returns.
type Query struct {
	State queue.State // empty: all states
	Queue string      // empty: all queues
	// Kind, Error and Account take only tasks of a kind, with this text in their last error, and of an account (queue.WithAccount). A
	// page of them may be short, or empty, with more to come.
	Kind, Error, Account string
	Cursor               string
	Limit                int // 0: 100; at most 1,000
}

// Task is what is known about a task, without its payload: that may hold what is not for operators.
type Task struct {
	ID          string      `json:"id"`
	Queue       string      `json:"queue"`
	Kind        string      `json:"kind"`
	State       queue.State `json:"state"`
	Priority    string      `json:"priority"`
	Attempts    int64       `json:"attempts"`     // failed runs
	AttemptsMax int64       `json:"attempts_max"` // the number of failed runs that makes it dead; 0: not known here
	Crashes     int64       `json:"crashes"`      // runs whose lease expired
	EnqueuedAt  time.Time   `json:"enqueued_at"`
	DueAt       *time.Time  `json:"due_at,omitempty"`      // of a delayed one
	LeaseUntil  *time.Time  `json:"lease_until,omitempty"` // of a leased one
	DiedAt      *time.Time  `json:"died_at,omitempty"`     // of a dead one
	ParkedAt    *time.Time  `json:"parked_at,omitempty"`   // of a parked one, since when
	DeadlineAt  *time.Time  `json:"deadline_at,omitempty"`
	Limit       *TaskLimit  `json:"limit,omitempty"`
	LastError   *string     `json:"last_error"`
	Done        *int64      `json:"done,omitempty"` // the progress that its run has reported
	Total       *int64      `json:"total,omitempty"`
}

// TaskLimit says how many tasks of a key run at once.
type TaskLimit struct {
	Key string `json:"key"`
	Max int64  `json:"max"`
}

// Bulk selects tasks of a queue, and says what to do with them: see queue.BulkQuery.
type Bulk struct {
	Queue  string
	State  queue.State // Delayed or Dead
	Act    queue.BulkAct
	Kind   string    // empty: all kinds
	Error  string    // text that the last error contains; empty: any
	Before time.Time // of death, or due; zero: any
	IDs    []string  // only these, at most 100; empty: all
	Cursor string    // Changed.Next of the call before
}

// Changed says what Bulk did.
type Changed struct {
	Looked  int64  `json:"looked"`
	Changed int64  `json:"changed"`
	Left    int64  `json:"left"`           // that are in the state now, selected or not
	Next    string `json:"next,omitempty"` // empty: there are no more
}

// Day says how the runs of a kind of tasks ended on a day: see queue.DayTotals.
type Day struct {
	Day     string `json:"day"` // such as 2026-11-23, UTC
	Queue   string `json:"queue"`
	Kind    string `json:"kind"`
	Done    int64  `json:"done"`
	Failed  int64  `json:"failed"`
	Buried  int64  `json:"buried"`
	Crashed int64  `json:"crashed"`
}

// Limit says who has the slots of a key and who waits for them: see queue.LimitInfo.
type Limit struct {
	Queue        string     `json:"queue"`
	Key          string     `json:"key"`
	Held         int64      `json:"held"`
	Waiting      int64      `json:"waiting"`
	WaitingSince *time.Time `json:"waiting_since"`
	Holders      []string   `json:"holders"`
	Waiters      []string   `json:"waiters"`
}

// Periodic is a periodic task: see queue.PeriodicInfo.
type Periodic struct {
	ID       string     `json:"id"`
	Queue    string     `json:"queue"`
	Kind     string     `json:"kind"`
	Cron     string     `json:"cron"`
	Timezone string     `json:"timezone"` // "": UTC
	EveryMs  int64      `json:"every_ms"`
	Misfire  string     `json:"misfire"`
	Paused   bool       `json:"paused"`
	LastAt   *time.Time `json:"last_at"`
	NextAt   *time.Time `json:"next_at"` // nil: paused
	Fired    int64      `json:"fired"`
}
