package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// States of tasks.
const (
	TaskReady   = "ready"
	TaskParked  = "parked" // waits for a slot of its limit
	TaskDelayed = "delayed"
	TaskLeased  = "leased"
	TaskDead    = "dead"
)

// Task is a unit of the server's background work as operators see it, without its payload.
type Task struct {
	ID          string     `json:"id"`
	Queue       string     `json:"queue"`
	Kind        string     `json:"kind"`
	State       string     `json:"state"`
	Priority    string     `json:"priority"`     // critical, high, normal or low
	Attempts    int64      `json:"attempts"`     // failed runs
	AttemptsMax int64      `json:"attempts_max"` // the number of failed runs that makes it dead
	Crashes     int64      `json:"crashes"`      // runs whose worker died
	EnqueuedAt  time.Time  `json:"enqueued_at"`
	DueAt       *time.Time `json:"due_at,omitempty"`      // of a delayed one
	LeaseUntil  *time.Time `json:"lease_until,omitempty"` // of a leased one
	DiedAt      *time.Time `json:"died_at,omitempty"`     // of a dead one
	ParkedAt    *time.Time `json:"parked_at,omitempty"`   // of a parked one, since when
	DeadlineAt  *time.Time `json:"deadline_at,omitempty"` // it is not started after this
	Limit       *TaskLimit `json:"limit,omitempty"`       // nil: none
	LastError   *string    `json:"last_error"`            // why its last run failed
	Done        *int64     `json:"done,omitempty"`        // the progress that its run has reported
	Total       *int64     `json:"total,omitempty"`
}

// TaskLimit says how many tasks of a key run at once.
type TaskLimit struct {
	Key string `json:"key"`
	Max int64  `json:"max"`
}

// DayTotals counts the runs of a kind of tasks that ended on a day.
type DayTotals struct {
	Day     string `json:"day"` // such as 2026-11-23, in UTC
	Queue   string `json:"queue"`
	Kind    string `json:"kind"`
	Done    int64  `json:"done"`    // runs that completed their task
	Failed  int64  `json:"failed"`  // runs that failed
	Buried  int64  `json:"buried"`  // tasks that became dead letters
	Crashed int64  `json:"crashed"` // runs whose worker died
}

// Days counts the runs of the last days, 1 to 90, the newest day first.
func (c *Client) Days(ctx context.Context, last int) ([]DayTotals, error) {
	var answer struct {
		Days []DayTotals `json:"days"`
	}
	query := url.Values{"days": {strconv.Itoa(last)}}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"tasks", "days"}, query: query, again: true}, &answer)
	return answer.Days, err
}

// LimitUse says who has the slots of a limit, and who waits for them, in one partition.
type LimitUse struct {
	Queue        string     `json:"queue"`
	Key          string     `json:"key"`
	Held         int64      `json:"held"`          // tasks that have a slot
	Waiting      int64      `json:"waiting"`       // tasks that are parked
	WaitingSince *time.Time `json:"waiting_since"` // nil: none waits
	Holders      []string   `json:"holders"`       // ids, 20 at most
	Waiters      []string   `json:"waiters"`       // ids, the longest parked first, 20 at most
}

// Limits lists the limits that are in use. A page has at most 100, and may be short with more to come: next is empty after
// the last one.
func (c *Client) Limits(ctx context.Context, page Page) (limits []LimitUse, next string, err error) {
	var answer struct {
		Limits []LimitUse `json:"limits"`
		Next   string     `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"tasks", "limits"}, query: page.query(), again: true}, &answer)
	return answer.Limits, answer.Next, err
}

// Queue counts the tasks of a queue. At every instant Enqueued is the sum of the existing ones (ready, parked, delayed,
// leased, dead) and of Processed, Deleted and Dropped.
type Queue struct {
	Queue  string `json:"queue"`
	Paused bool   `json:"paused"`
	Ready  struct {
		Critical int64 `json:"critical"`
		High     int64 `json:"high"`
		Normal   int64 `json:"normal"`
		Low      int64 `json:"low"`
	} `json:"ready"`
	Parked    int64 `json:"parked"` // waiting for a slot of their limits
	Delayed   int64 `json:"delayed"`
	Leased    int64 `json:"leased"`
	Dead      int64 `json:"dead"`
	OldestMs  int64 `json:"oldest_ms"` // how long the oldest ready task has waited
	Enqueued  int64 `json:"enqueued"`
	Processed int64 `json:"processed"` // tasks completed
	Failed    int64 `json:"failed"`    // runs that failed
	Crashed   int64 `json:"crashed"`   // runs whose worker died
	Buried    int64 `json:"buried"`    // times that a task became a dead letter
	Deleted   int64 `json:"deleted"`
	Dropped   int64 `json:"dropped"` // dead letters dropped to make room for newer ones
	// Unserved are kinds of waiting tasks that no server has announced to run, as far as a sample shows.
	Unserved []string `json:"unserved"`
}

// ReadyAll is how many tasks wait for a worker, in all priorities.
func (q Queue) ReadyAll() int64 {
	return q.Ready.Critical + q.Ready.High + q.Ready.Normal + q.Ready.Low
}

// Queues counts the tasks of every queue. For operators, like all calls below.
func (c *Client) Queues(ctx context.Context) ([]Queue, error) {
	var answer struct {
		Queues []Queue `json:"queues"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"tasks", "queues"}, again: true}, &answer)
	return answer.Queues, err
}

// PauseQueue stops a queue from claiming tasks; running ones go on.
func (c *Client) PauseQueue(ctx context.Context, queue string) (Queue, error) {
	return c.steerQueue(ctx, queue, "pause")
}

// ResumeQueue resumes a queue.
func (c *Client) ResumeQueue(ctx context.Context, queue string) (Queue, error) {
	return c.steerQueue(ctx, queue, "resume")
}

func (c *Client) steerQueue(ctx context.Context, queue, verb string) (Queue, error) {
	return answerTo[Queue](ctx, c, call{method: http.MethodPost, path: []string{"tasks", "queues", queue, verb}, again: true})
}

// Tasks lists tasks, of one state or queue if they are given. A page may be short with more to come: next is empty
// after the last one.
func (c *Client) Tasks(ctx context.Context, state, queue string, page Page) (tasks []Task, next string, err error) {
	query := page.query()
	if state != "" {
		query.Set("state", state)
	}
	if queue != "" {
		query.Set("queue", queue)
	}
	var answer struct {
		Tasks []Task `json:"tasks"`
		Next  string `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"tasks"}, query: query, again: true}, &answer)
	return answer.Tasks, answer.Next, err
}

// Task describes one task.
func (c *Client) Task(ctx context.Context, id string) (Task, error) {
	var t Task
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"tasks", id}, again: true}, &t)
	if err == nil && t.ID != id { // for example "queues", which is another route
		err = &Error{Status: http.StatusNotFound, Code: CodeNotFound, Detail: "no such task"}
	}
	return t, err
}

// RetryTask makes a dead or delayed task run now. It is not repeated if its outcome is unknown: the task may have
// failed again by then.
func (c *Client) RetryTask(ctx context.Context, id string) (Task, error) {
	return answerTo[Task](ctx, c, call{method: http.MethodPost, path: []string{"tasks", id, "retry"}})
}

// DeleteTask removes a task; if it is running, the result has no effect. It is not repeated if its outcome is unknown:
// a new task may have the same id by then.
func (c *Client) DeleteTask(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"tasks", id}}, nil)
}

// TasksQuery says which tasks ChangeTasks takes.
type TasksQuery struct {
	Queue  string     `json:"queue"` // core or egress
	State  string     `json:"state"` // delayed or dead
	Kind   string     `json:"kind,omitempty"`
	Error  string     `json:"error,omitempty"`  // text that the error of the last run contains
	Before *time.Time `json:"before,omitempty"` // dead tasks that died before, delayed ones that are due before
	Tasks  []string   `json:"tasks,omitempty"`  // ids: only these, at most 100
	Act    string     `json:"act"`              // retry, delete or run
	Cursor string     `json:"cursor,omitempty"` // TasksChanged.Next of the call before
}

// TasksChanged says how far ChangeTasks has come.
type TasksChanged struct {
	Looked  int64  `json:"looked"`  // tasks that the call looked at
	Changed int64  `json:"changed"` // those that it retried, deleted or ran
	Left    int64  `json:"left"`    // tasks of the queue that are in the state now, selected or not
	Next    string `json:"next"`    // empty: there are no more
}

// ChangeTasks retries, deletes or runs the next tasks of a queue, for a second at most. It is not repeated if its outcome
// is unknown; calling it again without a cursor goes on with what is left.
func (c *Client) ChangeTasks(ctx context.Context, q TasksQuery) (TasksChanged, error) {
	return answerTo[TasksChanged](ctx, c, call{method: http.MethodPost, path: []string{"tasks", "bulk"}, body: q})
}

// TaskPayload is what a task is given to work on: one of JSON, Text and Base64.
type TaskPayload struct {
	Bytes     int64           `json:"bytes"`
	Truncated bool            `json:"truncated"` // there is only the first part of Text or Base64
	JSON      json.RawMessage `json:"json,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Base64    *string         `json:"base64,omitempty"`
}

// Payload reads the payload of a task, which may hold messages of users: for operators, and keys with the scope ops.
func (c *Client) Payload(ctx context.Context, id string) (TaskPayload, error) {
	return answerTo[TaskPayload](ctx, c, call{method: http.MethodGet, path: []string{"tasks", id, "payload"}, again: true})
}

// Periodic is a periodic task of the server as operators see it.
type Periodic struct {
	ID       string     `json:"id"`
	Queue    string     `json:"queue"`
	Kind     string     `json:"kind"`     // of the tasks that it enqueues
	Cron     string     `json:"cron"`     // when it is due, in the zone; or
	Timezone string     `json:"timezone"` // "" is UTC
	EveryMs  int64      `json:"every_ms"` // the time between two occurrences
	Misfire  string     `json:"misfire"`  // what happens with missed occurrences: once, skip or all
	Paused   bool       `json:"paused"`
	LastAt   *time.Time `json:"last_at"` // its last occurrence
	NextAt   *time.Time `json:"next_at"` // nil: paused
	Fired    int64      `json:"fired"`   // how many occurrences there were
}

// PeriodicTasks lists periodic tasks. A page may be short with more to come: next is empty after the last one.
func (c *Client) PeriodicTasks(ctx context.Context, page Page) (tasks []Periodic, next string, err error) {
	var answer struct {
		Periodic []Periodic `json:"periodic"`
		Next     string     `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"tasks", "periodic"}, query: page.query(), again: true}, &answer)
	return answer.Periodic, answer.Next, err
}

// PausePeriodic lets no occurrence of a periodic task be enqueued until it is resumed.
func (c *Client) PausePeriodic(ctx context.Context, id string) (Periodic, error) {
	return c.steerPeriodic(ctx, id, "pause")
}

// ResumePeriodic resumes a periodic task: it is due at its next time from now on.
func (c *Client) ResumePeriodic(ctx context.Context, id string) (Periodic, error) {
	return c.steerPeriodic(ctx, id, "resume")
}

func (c *Client) steerPeriodic(ctx context.Context, id, verb string) (p Periodic, err error) {
	err = c.do(ctx, call{method: http.MethodPost, path: []string{"tasks", "periodic", id, verb}, again: true}, &p)
	return p, err
}

// RunPeriodic enqueues an occurrence of a periodic task now, besides its plan, and returns the id of its task. It is not
// repeated if its outcome is unknown.
func (c *Client) RunPeriodic(ctx context.Context, id string) (task string, err error) {
	var answer struct {
		Task string `json:"task"`
	}
	err = c.do(ctx, call{method: http.MethodPost, path: []string{"tasks", "periodic", id, "run"}}, &answer)
	return answer.Task, err
}

// DeletePeriodic ends a periodic task. A server that starts and declares it makes it again.
func (c *Client) DeletePeriodic(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"tasks", "periodic", id}, again: true}, nil)
}
