package node

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/web"
)

// taskAdmin shows operators the queues of the domain, in the words of the API. It implements web.TaskAdmin.
type taskAdmin struct{ *admin.Admin }

var _ web.TaskAdmin = taskAdmin{}

// newTaskAdmin makes clients of all queues; kinds are those of the domain.
func (n *Node) newTaskAdmin(kinds map[string]chat.TaskKind) (a taskAdmin, err error) {
	queues := make([]admin.Of, len(taskQueues))
	for i, q := range taskQueues {
		queues[i].Name = q.Name
		if queues[i].Client, err = n.store.TaskClient(queue.Options{Queue: q.Name}); err != nil {
			return a, err
		}
	}
	return taskAdmin{admin.New(queues, func(kind string) int { return cmp.Or(kinds[kind].AttemptsMax, taskAttemptsMax) })}, nil
}

// all describes what was found, unless there is an error.
func all[From, To any](found []From, next string, err error, describe func(From) To) ([]To, string, error) {
	if err != nil {
		return nil, "", taskError(err)
	}
	described := make([]To, len(found))
	for i, one := range found {
		described[i] = describe(one)
	}
	return described, next, nil
}

// Queues counts the tasks of each queue.
func (a taskAdmin) Queues(ctx context.Context) ([]web.QueueInfo, error) {
	queues, err := a.Admin.Queues(ctx)
	infos, _, err := all(queues, "", err, describeQueue)
	return infos, err
}

// Pause pauses or resumes a queue.
func (a taskAdmin) Pause(ctx context.Context, name string, paused bool) (web.QueueInfo, error) {
	q, err := a.Admin.Pause(ctx, name, paused)
	return describeQueue(q), taskError(err)
}

// Tasks lists tasks.
func (a taskAdmin) Tasks(ctx context.Context, q web.TaskQuery) ([]web.TaskInfo, string, error) {
	page, next, err := a.List(ctx, admin.Query{State: queue.State(q.State), Queue: q.Queue, Cursor: q.Cursor, Limit: q.Limit})
	return all(page, next, err, describeTask)
}

// Days counts the runs of the last days, the newest first.
func (a taskAdmin) Days(ctx context.Context, last int) ([]web.DayTotals, error) {
	days, err := a.Admin.Days(ctx, last)
	totals, _, err := all(days, "", err, func(d admin.Day) web.DayTotals {
		return web.DayTotals{Day: d.Day, Queue: d.Queue, Kind: d.Kind, Done: d.Done, Failed: d.Failed, Buried: d.Buried, Crashed: d.Crashed}
	})
	return totals, err
}

// Limits lists the keys of limits.
func (a taskAdmin) Limits(ctx context.Context, cursor string, limit int) ([]web.LimitInfo, string, error) {
	page, next, err := a.Admin.Limits(ctx, cursor, limit)
	return all(page, next, err, func(l admin.Limit) web.LimitInfo {
		return web.LimitInfo{
			Queue: l.Queue, Key: l.Key, Held: l.Held, Waiting: l.Waiting, WaitingSince: chatTime(l.WaitingSince), Holders: l.Holders, Waiters: l.Waiters,
		}
	})
}

// Task describes one task.
func (a taskAdmin) Task(ctx context.Context, id string) (web.TaskInfo, error) {
	task, err := a.Admin.Task(ctx, id)
	return describeTask(task), taskError(err)
}

// Retry makes a task ready.
func (a taskAdmin) Retry(ctx context.Context, id string) (web.TaskInfo, error) {
	task, err := a.Admin.Retry(ctx, id)
	return describeTask(task), taskError(err)
}

// Bulk changes many tasks. What it has changed before an error is not lost: the answer says how far it came.
func (a taskAdmin) Bulk(ctx context.Context, q web.TaskBulk) (web.TaskBulkDone, error) {
	bulk := admin.Bulk{
		Queue: q.Queue, State: queue.State(q.State), Act: queue.BulkAct(q.Act), Kind: textOf(q.Kind), Error: textOf(q.Error), Cursor: textOf(q.Cursor),
	}
	if q.Before != nil {
		if q.Before.IsZero() {
			return web.TaskBulkDone{}, chat.Errorf(chat.CodeInvalid, "before: the year 1 is no time of a task; leave it out to take tasks of any time")
		}
		bulk.Before = q.Before.Time
	}
	changed, err := a.Admin.Bulk(ctx, bulk)
	if err != nil && changed.Looked == 0 {
		return web.TaskBulkDone{}, taskError(err)
	}
	if err != nil {
		slog.WarnContext(ctx, "tasks: a change of many stopped before its end, and can go on", "queue", q.Queue, "act", q.Act,
			"looked", changed.Looked, "changed", changed.Changed, "error", err)
	}
	done := web.TaskBulkDone{Looked: changed.Looked, Changed: changed.Changed}
	if changed.Next != "" {
		done.Next = &changed.Next
	}
	return done, nil
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Delete removes a task.
func (a taskAdmin) Delete(ctx context.Context, id string) error {
	return taskError(a.Admin.Delete(ctx, id))
}

// Periodic lists the periodic tasks.
func (a taskAdmin) Periodic(ctx context.Context, cursor string, limit int) ([]web.PeriodicInfo, string, error) {
	page, next, err := a.Admin.Periodic(ctx, cursor, limit)
	return all(page, next, err, describePeriodic)
}

// PausePeriodic pauses or resumes a periodic task.
func (a taskAdmin) PausePeriodic(ctx context.Context, id string, paused bool) (web.PeriodicInfo, error) {
	p, err := a.Admin.PausePeriodic(ctx, id, paused)
	return describePeriodic(p), taskError(err)
}

// RunPeriodic enqueues an occurrence now.
func (a taskAdmin) RunPeriodic(ctx context.Context, id string) (string, error) {
	task, err := a.Admin.RunPeriodic(ctx, id)
	return task, taskError(err)
}

// DeletePeriodic ends a periodic task.
func (a taskAdmin) DeletePeriodic(ctx context.Context, id string) error {
	return taskError(a.Admin.DeletePeriodic(ctx, id))
}

func describeQueue(q admin.Queue) web.QueueInfo {
	info := web.QueueInfo{
		Queue: q.Queue, Paused: q.Paused, Delayed: q.Delayed, Parked: q.Parked, Leased: q.Leased, Dead: q.Dead, OldestMs: q.OldestMs,
		Enqueued: q.Enqueued, Processed: q.Processed, Failed: q.Failed, Crashed: q.Crashed, Buried: q.Buried, Deleted: q.Deleted, Dropped: q.Dropped,
		Unserved: q.Unserved,
	}
	info.Ready.Critical, info.Ready.High, info.Ready.Normal, info.Ready.Low = q.Ready.Critical, q.Ready.High, q.Ready.Normal, q.Ready.Low
	return info
}

func describeTask(i admin.Task) web.TaskInfo {
	t := web.TaskInfo{
		Id: i.ID, Queue: i.Queue, Kind: i.Kind, State: web.TaskState(i.State), Priority: web.TaskPriority(i.Priority),
		Attempts: i.Attempts, AttemptsMax: i.AttemptsMax, Crashes: i.Crashes, EnqueuedAt: chat.Time{Time: i.EnqueuedAt},
		DueAt: chatTime(i.DueAt), LeaseUntil: chatTime(i.LeaseUntil), DiedAt: chatTime(i.DiedAt), ParkedAt: chatTime(i.ParkedAt),
		DeadlineAt: chatTime(i.DeadlineAt), LastError: i.LastError, Done: i.Done, Total: i.Total,
	}
	if i.Limit != nil {
		t.Limit = &web.TaskLimit{Key: i.Limit.Key, Max: i.Limit.Max}
	}
	return t
}

func describePeriodic(i admin.Periodic) web.PeriodicInfo {
	return web.PeriodicInfo{
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
	return &chat.Error{Code: chat.CodeUnavailable, Message: chat.ErrUnavailable.Message, RetryAfter: chat.ErrUnavailable.RetryAfter, Cause: err}
}
