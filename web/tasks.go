package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/web/api"
)

// taskIDBytesMax is the bound of the engine.
const taskIDBytesMax = 256

// validTaskID reports whether id may name a task: printable ASCII without blanks and slashes.
func validTaskID(id string) bool {
	return id != "" && len(id) <= taskIDBytesMax && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || r == '/' })
}

// taskHandlers show operators the background work. The payloads of tasks may hold users' messages: they have a route of their own.
type taskHandlers struct {
	tasks *admin.Admin
	log   *slog.Logger
}

// ListQueues serves GET /v1/tasks/queues.
func (h taskHandlers) ListQueues(ctx context.Context, _ api.ListQueuesRequestObject) (api.ListQueuesResponseObject, error) {
	queues, err := h.tasks.Queues(ctx)
	return api.ListQueues200JSONResponse{Queues: orEmpty(queues)}, taskError(err)
}

// PauseQueue serves POST /v1/tasks/queues/{queue}/pause.
func (h taskHandlers) PauseQueue(ctx context.Context, r api.PauseQueueRequestObject) (api.PauseQueueResponseObject, error) {
	queue, err := h.tasks.Pause(ctx, r.Queue, true)
	return api.PauseQueue200JSONResponse(queue), taskError(err)
}

// ResumeQueue serves POST /v1/tasks/queues/{queue}/resume.
func (h taskHandlers) ResumeQueue(ctx context.Context, r api.ResumeQueueRequestObject) (api.ResumeQueueResponseObject, error) {
	queue, err := h.tasks.Pause(ctx, r.Queue, false)
	return api.ResumeQueue200JSONResponse(queue), taskError(err)
}

// ListTasks serves GET /v1/tasks.
func (h taskHandlers) ListTasks(ctx context.Context, r api.ListTasksRequestObject) (api.ListTasksResponseObject, error) {
	list, cursor, err := h.tasks.List(ctx, admin.Query{
		Queue: deref(r.Params.Queue), State: queue.State(deref(r.Params.State)),
		Kind: deref(r.Params.Kind), Error: deref(r.Params.Error), Account: deref(r.Params.Webhook),
		Cursor: deref(r.Params.Cursor), Limit: limitOf(r.Params.Limit),
	})
	return api.ListTasks200JSONResponse{Tasks: each(list, describeTask), Next: next(cursor)}, taskError(err)
}

// GetTask serves GET /v1/tasks/{task}.
func (h taskHandlers) GetTask(ctx context.Context, r api.GetTaskRequestObject) (api.GetTaskResponseObject, error) {
	task, err := h.tasks.Task(ctx, r.Task)
	return api.GetTask200JSONResponse(describeTask(task)), taskError(err)
}

// RetryTask serves POST /v1/tasks/{task}/retry.
func (h taskHandlers) RetryTask(ctx context.Context, r api.RetryTaskRequestObject) (api.RetryTaskResponseObject, error) {
	task, err := h.tasks.Retry(ctx, r.Task)
	return api.RetryTask200JSONResponse(describeTask(task)), taskError(err)
}

// DeleteTask serves DELETE /v1/tasks/{task}.
func (h taskHandlers) DeleteTask(ctx context.Context, r api.DeleteTaskRequestObject) (api.DeleteTaskResponseObject, error) {
	return api.DeleteTask204Response{}, taskError(h.tasks.Delete(ctx, r.Task))
}

// ChangeTasks serves POST /v1/tasks/bulk. What was changed before an error is not lost: the answer says how far that came.
func (h taskHandlers) ChangeTasks(ctx context.Context, r api.ChangeTasksRequestObject) (api.ChangeTasksResponseObject, error) {
	q := r.Body
	if q.Before != nil && q.Before.IsZero() {
		return nil, chat.Errorf(chat.CodeInvalid, "before: the year 1 is no time of a task; leave it out to take tasks of any time")
	}
	for i, id := range deref(q.Tasks) {
		if !validTaskID(id) {
			return nil, chat.Errorf(chat.CodeInvalid, "tasks[%d]: want the id of a task", i)
		}
	}
	changed, err := h.tasks.Bulk(ctx, admin.Bulk{
		Queue: q.Queue, State: queue.State(q.State), Act: queue.BulkAct(q.Act), Kind: deref(q.Kind), Error: deref(q.Error), Before: deref(q.Before).Time,
		IDs: deref(q.Tasks), Cursor: deref(q.Cursor),
	})
	if err != nil && changed.Looked == 0 {
		return nil, taskError(err)
	}
	if err != nil {
		h.log.WarnContext(ctx, "tasks: a change of many stopped before its end, and can go on", "queue", q.Queue, "act", q.Act,
			"looked", changed.Looked, "changed", changed.Changed, "error", err)
	}
	done := api.ChangeTasks200JSONResponse{Looked: changed.Looked, Changed: changed.Changed, Next: next(changed.Next)}
	if err == nil {
		done.Left = &changed.Left
	}
	return done, nil
}

// payloadShownMax is how many bytes of a payload are shown.
const payloadShownMax = 64 << 10

// GetTaskPayload serves GET /v1/tasks/{task}/payload.
func (h taskHandlers) GetTaskPayload(ctx context.Context, r api.GetTaskPayloadRequestObject) (api.GetTaskPayloadResponseObject, error) {
	payload, err := h.tasks.Payload(ctx, r.Task)
	if err != nil {
		return nil, taskError(err)
	}
	return api.GetTaskPayload200JSONResponse(describePayload(payload)), nil
}

// describePayload shows a payload in the first of the three ways that can say it.
func describePayload(payload []byte) api.TaskPayload {
	shown := api.TaskPayload{Bytes: int64(len(payload)), Truncated: len(payload) > payloadShownMax}
	if !shown.Truncated && utf8.Valid(payload) && json.Valid(payload) {
		shown.Json = new(json.RawMessage(payload))
		return shown
	}
	part := payload[:min(len(payload), payloadShownMax)]
	// What is cut inside a character ends before it.
	for cut := 0; cut < utf8.UTFMax && cut <= len(part); cut++ {
		if some := part[:len(part)-cut]; (cut == 0 || shown.Truncated) && utf8.Valid(some) {
			shown.Text = new(string(some))
			return shown
		}
	}
	shown.Base64 = new(base64.StdEncoding.EncodeToString(part))
	return shown
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
	return api.ListDays200JSONResponse{Days: orEmpty(list)}, taskError(err)
}

// ListLimits serves GET /v1/tasks/limits.
func (h taskHandlers) ListLimits(ctx context.Context, r api.ListLimitsRequestObject) (api.ListLimitsResponseObject, error) {
	list, cursor, err := h.tasks.Limits(ctx, deref(r.Params.Cursor), limitOf(r.Params.Limit))
	return api.ListLimits200JSONResponse{Limits: each(list, describeLimit), Next: next(cursor)}, taskError(err)
}

// ListPeriodic serves GET /v1/tasks/periodic.
func (h taskHandlers) ListPeriodic(ctx context.Context, r api.ListPeriodicRequestObject) (api.ListPeriodicResponseObject, error) {
	list, cursor, err := h.tasks.Periodic(ctx, deref(r.Params.Cursor), limitOf(r.Params.Limit))
	return api.ListPeriodic200JSONResponse{Periodic: each(list, describePeriodic), Next: next(cursor)}, taskError(err)
}

// PausePeriodic serves POST /v1/tasks/periodic/{periodic}/pause.
func (h taskHandlers) PausePeriodic(ctx context.Context, r api.PausePeriodicRequestObject) (api.PausePeriodicResponseObject, error) {
	p, err := h.tasks.PausePeriodic(ctx, r.Periodic, true)
	return api.PausePeriodic200JSONResponse(describePeriodic(p)), taskError(err)
}

// ResumePeriodic serves POST /v1/tasks/periodic/{periodic}/resume.
func (h taskHandlers) ResumePeriodic(ctx context.Context, r api.ResumePeriodicRequestObject) (api.ResumePeriodicResponseObject, error) {
	p, err := h.tasks.PausePeriodic(ctx, r.Periodic, false)
	return api.ResumePeriodic200JSONResponse(describePeriodic(p)), taskError(err)
}

// RunPeriodic serves POST /v1/tasks/periodic/{periodic}/run.
func (h taskHandlers) RunPeriodic(ctx context.Context, r api.RunPeriodicRequestObject) (api.RunPeriodicResponseObject, error) {
	task, err := h.tasks.RunPeriodic(ctx, r.Periodic)
	return api.RunPeriodic202JSONResponse{Task: task}, taskError(err)
}

// DeletePeriodic serves DELETE /v1/tasks/periodic/{periodic}.
func (h taskHandlers) DeletePeriodic(ctx context.Context, r api.DeletePeriodicRequestObject) (api.DeletePeriodicResponseObject, error) {
	return api.DeletePeriodic204Response{}, taskError(h.tasks.DeletePeriodic(ctx, r.Periodic))
}

func describeTask(i admin.Task) api.Task {
	return api.Task{
		Id: i.ID, Queue: i.Queue, Kind: i.Kind, State: api.TaskState(i.State), Priority: api.TaskPriority(i.Priority),
		Attempts: i.Attempts, AttemptsMax: i.AttemptsMax, Crashes: i.Crashes, EnqueuedAt: chat.Time{Time: i.EnqueuedAt},
		DueAt: chatTime(i.DueAt), LeaseUntil: chatTime(i.LeaseUntil), DiedAt: chatTime(i.DiedAt), ParkedAt: chatTime(i.ParkedAt),
		DeadlineAt: chatTime(i.DeadlineAt), Limit: i.Limit, LastError: i.LastError, Done: i.Done, Total: i.Total,
	}
}

func describeLimit(l admin.Limit) api.LimitInfo {
	return api.LimitInfo{
		Queue: l.Queue, Key: l.Key, Held: l.Held, Waiting: l.Waiting, WaitingSince: chatTime(l.WaitingSince), Holders: l.Holders, Waiters: l.Waiters,
	}
}

func describePeriodic(i admin.Periodic) api.Periodic {
	return api.Periodic{
		Id: i.ID, Queue: i.Queue, Kind: i.Kind, Cron: i.Cron, Timezone: i.Timezone, EveryMs: i.EveryMs, Misfire: i.Misfire,
		Paused: i.Paused, LastAt: chatTime(i.LastAt), NextAt: chatTime(i.NextAt), Fired: i.Fired,
	}
}

func chatTime(t *time.Time) *chat.Time {
	if t == nil {
		return nil
	}
	return &chat.Time{Time: *t}
}

// each is what describe makes of each element; never nil, so that clients see an empty list as [].
func each[From, To any](found []From, describe func(From) To) []To {
	described := make([]To, len(found))
	for i, one := range found {
		described[i] = describe(one)
	}
	return described
}

// taskError translates the errors of the engine.
func taskError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, queue.ErrNotFound):
		return chat.Errorf(chat.CodeNotFound, "%s", err)
	case errors.Is(err, queue.ErrConflict):
		return chat.Errorf(chat.CodeConflict, "%s", err)
	case errors.Is(err, queue.ErrInvalid):
		return chat.Errorf(chat.CodeInvalid, "%s", err)
	}
	return chat.Unavailable(err)
}
