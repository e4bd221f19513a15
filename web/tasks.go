package web

import (
	"context"
	"strings"

	"github.com/chatd/chatd/web/api"
)

// What operators see of the background work. It does not include a task's payload, which may hold users' messages.
type (
	// TaskInfo describes a task.
	TaskInfo = api.Task
	// TaskState is the state of a task.
	TaskState = api.TaskState
	// TaskPriority says which of the waiting tasks goes first.
	TaskPriority = api.TaskPriority
	// TaskBulk says which tasks of a queue are changed together, and how.
	TaskBulk = api.TaskBulk
	// TaskBulkDone says how far that has come.
	TaskBulkDone = api.TaskBulkDone
	// TaskLimit is the limit that a task has.
	TaskLimit = api.TaskLimit
	// LimitInfo says who has the slots of a limit, and who waits for them.
	LimitInfo = api.LimitInfo
	// DayTotals counts the runs of a kind that ended on a day.
	DayTotals = api.DayTotals
	// QueueInfo counts the tasks of a queue.
	QueueInfo = api.Queue
	// PeriodicInfo describes a periodic task.
	PeriodicInfo = api.Periodic
)

// TaskQuery says which tasks to list. Empty fields stand for all queues, all states and the first page.
type TaskQuery struct {
	Queue, State, Cursor string
	Limit                int // 0: the usual length of a page
}

// TaskAdmin is what operators can see and do about the background work. Its errors are those of the domain: not_found for a
// task or queue that does not exist, conflict if the task's state does not allow the change.
type TaskAdmin interface {
	Queues(ctx context.Context) ([]QueueInfo, error)
	// Pause stops a queue from claiming tasks, or, with paused false, resumes it. It returns the queue's new state.
	Pause(ctx context.Context, queue string, paused bool) (QueueInfo, error)
	// Tasks returns a page and the cursor of the next one, "" after the last.
	Tasks(ctx context.Context, q TaskQuery) (tasks []TaskInfo, next string, err error)
	Task(ctx context.Context, id string) (TaskInfo, error)
	// Retry lets a dead or delayed task run now.
	Retry(ctx context.Context, id string) (TaskInfo, error)
	// Bulk retries, deletes or runs the next tasks of a queue, for a bounded time. It returns the cursor to go on with, "" after
	// the last.
	Bulk(ctx context.Context, q TaskBulk) (TaskBulkDone, error)
	// Delete removes a task; the result of a running attempt has no effect.
	Delete(ctx context.Context, id string) error

	// Days returns how the runs of each kind ended on each of the last days.
	Days(ctx context.Context, last int) ([]DayTotals, error)
	// Limits returns a page of the limits that are in use in all queues, and the cursor of the next one, "" after the last.
	Limits(ctx context.Context, cursor string, limit int) (page []LimitInfo, next string, err error)

	// Periodic returns a page of the periodic tasks of all queues, and the cursor of the next one, "" after the last.
	Periodic(ctx context.Context, cursor string, limit int) (page []PeriodicInfo, next string, err error)
	// PausePeriodic pauses a periodic task, or, with paused false, resumes it. It returns its new state.
	PausePeriodic(ctx context.Context, id string, paused bool) (PeriodicInfo, error)
	// RunPeriodic enqueues an occurrence now and returns the id of its task.
	RunPeriodic(ctx context.Context, id string) (task string, err error)
	// DeletePeriodic ends a periodic task.
	DeletePeriodic(ctx context.Context, id string) error
}

// taskIDBytesMax is the bound of the engine.
const taskIDBytesMax = 256

// validTaskID reports whether id may name a task: printable ASCII without blanks and slashes.
func validTaskID(id string) bool {
	return id != "" && len(id) <= taskIDBytesMax && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || r == '/' })
}

type taskHandlers struct{ tasks TaskAdmin }

// ListQueues serves GET /v1/tasks/queues.
func (h taskHandlers) ListQueues(ctx context.Context, _ api.ListQueuesRequestObject) (api.ListQueuesResponseObject, error) {
	queues, err := h.tasks.Queues(ctx)
	return api.ListQueues200JSONResponse{Queues: orEmpty(queues)}, err
}

// PauseQueue serves POST /v1/tasks/queues/{queue}/pause.
func (h taskHandlers) PauseQueue(ctx context.Context, r api.PauseQueueRequestObject) (api.PauseQueueResponseObject, error) {
	queue, err := h.tasks.Pause(ctx, r.Queue, true)
	return api.PauseQueue200JSONResponse(queue), err
}

// ResumeQueue serves POST /v1/tasks/queues/{queue}/resume.
func (h taskHandlers) ResumeQueue(ctx context.Context, r api.ResumeQueueRequestObject) (api.ResumeQueueResponseObject, error) {
	queue, err := h.tasks.Pause(ctx, r.Queue, false)
	return api.ResumeQueue200JSONResponse(queue), err
}

// ListTasks serves GET /v1/tasks.
func (h taskHandlers) ListTasks(ctx context.Context, r api.ListTasksRequestObject) (api.ListTasksResponseObject, error) {
	list, cursor, err := h.tasks.Tasks(ctx, TaskQuery{
		Queue: deref(r.Params.Queue), State: string(deref(r.Params.State)),
		Cursor: deref(r.Params.Cursor), Limit: limitOf(r.Params.Limit),
	})
	return api.ListTasks200JSONResponse{Tasks: orEmpty(list), Next: next(cursor)}, err
}

// GetTask serves GET /v1/tasks/{task}.
func (h taskHandlers) GetTask(ctx context.Context, r api.GetTaskRequestObject) (api.GetTaskResponseObject, error) {
	task, err := h.tasks.Task(ctx, r.Task)
	return api.GetTask200JSONResponse(task), err
}

// RetryTask serves POST /v1/tasks/{task}/retry.
func (h taskHandlers) RetryTask(ctx context.Context, r api.RetryTaskRequestObject) (api.RetryTaskResponseObject, error) {
	task, err := h.tasks.Retry(ctx, r.Task)
	return api.RetryTask200JSONResponse(task), err
}

// DeleteTask serves DELETE /v1/tasks/{task}.
func (h taskHandlers) DeleteTask(ctx context.Context, r api.DeleteTaskRequestObject) (api.DeleteTaskResponseObject, error) {
	return api.DeleteTask204Response{}, h.tasks.Delete(ctx, r.Task)
}

// ChangeTasks serves POST /v1/tasks/bulk.
func (h taskHandlers) ChangeTasks(ctx context.Context, r api.ChangeTasksRequestObject) (api.ChangeTasksResponseObject, error) {
	done, err := h.tasks.Bulk(ctx, *r.Body)
	return api.ChangeTasks200JSONResponse(done), err
}

// daysDefault is how many days are counted if the caller does not say.
const daysDefault = 7

// ListDays serves GET /v1/tasks/days.
func (h taskHandlers) ListDays(ctx context.Context, r api.ListDaysRequestObject) (api.ListDaysResponseObject, error) {
	last := daysDefault
	if r.Params.Days != nil {
		last = int(*r.Params.Days)
	}
	list, err := h.tasks.Days(ctx, last)
	return api.ListDays200JSONResponse{Days: orEmpty(list)}, err
}

// ListLimits serves GET /v1/tasks/limits.
func (h taskHandlers) ListLimits(ctx context.Context, r api.ListLimitsRequestObject) (api.ListLimitsResponseObject, error) {
	list, cursor, err := h.tasks.Limits(ctx, deref(r.Params.Cursor), limitOf(r.Params.Limit))
	return api.ListLimits200JSONResponse{Limits: orEmpty(list), Next: next(cursor)}, err
}

// ListPeriodic serves GET /v1/tasks/periodic.
func (h taskHandlers) ListPeriodic(ctx context.Context, r api.ListPeriodicRequestObject) (api.ListPeriodicResponseObject, error) {
	list, cursor, err := h.tasks.Periodic(ctx, deref(r.Params.Cursor), limitOf(r.Params.Limit))
	return api.ListPeriodic200JSONResponse{Periodic: orEmpty(list), Next: next(cursor)}, err
}

// PausePeriodic serves POST /v1/tasks/periodic/{periodic}/pause.
func (h taskHandlers) PausePeriodic(ctx context.Context, r api.PausePeriodicRequestObject) (api.PausePeriodicResponseObject, error) {
	p, err := h.tasks.PausePeriodic(ctx, r.Periodic, true)
	return api.PausePeriodic200JSONResponse(p), err
}

// ResumePeriodic serves POST /v1/tasks/periodic/{periodic}/resume.
func (h taskHandlers) ResumePeriodic(ctx context.Context, r api.ResumePeriodicRequestObject) (api.ResumePeriodicResponseObject, error) {
	p, err := h.tasks.PausePeriodic(ctx, r.Periodic, false)
	return api.ResumePeriodic200JSONResponse(p), err
}

// RunPeriodic serves POST /v1/tasks/periodic/{periodic}/run.
func (h taskHandlers) RunPeriodic(ctx context.Context, r api.RunPeriodicRequestObject) (api.RunPeriodicResponseObject, error) {
	task, err := h.tasks.RunPeriodic(ctx, r.Periodic)
	return api.RunPeriodic202JSONResponse{Task: task}, err
}

// DeletePeriodic serves DELETE /v1/tasks/periodic/{periodic}.
func (h taskHandlers) DeletePeriodic(ctx context.Context, r api.DeletePeriodicRequestObject) (api.DeletePeriodicResponseObject, error) {
	return api.DeletePeriodic204Response{}, h.tasks.DeletePeriodic(ctx, r.Periodic)
}
