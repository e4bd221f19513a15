package main

import (
	"context"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
)

// remoteTasks are the tasks of a server, over HTTP.
type remoteTasks struct {
	server *client.Client
	at     callee
}

var _ admin.Tasks = remoteTasks{}

// every translates what a call has returned.
func every[From, To any](r remoteTasks, found []From, next string, err error, to func(From) To) ([]To, string, error) {
	all := make([]To, len(found))
	for i, one := range found {
		all[i] = to(one)
	}
	return all, next, r.at.explain(err)
}

func (r remoteTasks) Queues(ctx context.Context) ([]admin.Queue, error) {
	queues, err := r.server.Queues(ctx)
	all, _, err := every(r, queues, "", err, toQueue)
	return all, err
}

func (r remoteTasks) Pause(ctx context.Context, name string, paused bool) (admin.Queue, error) {
	change := r.server.ResumeQueue
	if paused {
		change = r.server.PauseQueue
	}
	q, err := change(ctx, name)
	return toQueue(q), r.at.explain(err)
}

func (r remoteTasks) List(ctx context.Context, q admin.Query) ([]admin.Task, string, error) {
	page, next, err := r.server.Tasks(ctx, string(q.State), q.Queue, client.Page{Limit: q.Limit, Cursor: q.Cursor})
	return every(r, page, next, err, toTask)
}

func (r remoteTasks) Task(ctx context.Context, id string) (admin.Task, error) {
	task, err := r.server.Task(ctx, id)
	return toTask(task), r.at.explain(err)
}

func (r remoteTasks) Retry(ctx context.Context, id string) (admin.Task, error) {
	task, err := r.server.RetryTask(ctx, id)
	return toTask(task), r.at.explain(err)
}

func (r remoteTasks) Delete(ctx context.Context, id string) error {
	return r.at.explain(r.server.DeleteTask(ctx, id))
}

func (r remoteTasks) Bulk(ctx context.Context, b admin.Bulk) (admin.Changed, error) {
	q := client.TasksQuery{Queue: b.Queue, State: string(b.State), Kind: b.Kind, Error: b.Error, Act: string(b.Act), Tasks: b.IDs, Cursor: b.Cursor}
	if !b.Before.IsZero() {
		q.Before = &b.Before
	}
	done, err := r.server.ChangeTasks(ctx, q)
	return admin.Changed(done), r.at.explain(err)
}

func (r remoteTasks) Days(ctx context.Context, last int) ([]admin.Day, error) {
	days, err := r.server.Days(ctx, last)
	all, _, err := every(r, days, "", err, func(d client.DayTotals) admin.Day { return admin.Day(d) })
	return all, err
}

// Limits belongs to no command: chatd's tasks have no limits.
func (remoteTasks) Limits(context.Context, string, int) ([]admin.Limit, string, error) {
	return nil, "", nil
}

func (r remoteTasks) Periodic(ctx context.Context, cursor string, limit int) ([]admin.Periodic, string, error) {
	page, next, err := r.server.PeriodicTasks(ctx, client.Page{Limit: limit, Cursor: cursor})
	return every(r, page, next, err, func(p client.Periodic) admin.Periodic { return admin.Periodic(p) })
}

func (r remoteTasks) PausePeriodic(ctx context.Context, id string, paused bool) (admin.Periodic, error) {
	change := r.server.ResumePeriodic
	if paused {
		change = r.server.PausePeriodic
	}
	p, err := change(ctx, id)
	return admin.Periodic(p), r.at.explain(err)
}

func (r remoteTasks) RunPeriodic(ctx context.Context, id string) (string, error) {
	task, err := r.server.RunPeriodic(ctx, id)
	return task, r.at.explain(err)
}

func (r remoteTasks) DeletePeriodic(ctx context.Context, id string) error {
	return r.at.explain(r.server.DeletePeriodic(ctx, id))
}

func toQueue(q client.Queue) admin.Queue {
	return admin.Queue{
		Queue: q.Queue, Paused: q.Paused, Ready: admin.Ready(q.Ready), Parked: q.Parked, Delayed: q.Delayed, Leased: q.Leased, Dead: q.Dead,
		OldestMs: q.OldestMs, Enqueued: q.Enqueued, Processed: q.Processed, Failed: q.Failed, Crashed: q.Crashed, Buried: q.Buried,
		Deleted: q.Deleted, Dropped: q.Dropped, Unserved: q.Unserved,
	}
}

func toTask(t client.Task) admin.Task {
	task := admin.Task{
		ID: t.ID, Queue: t.Queue, Kind: t.Kind, State: queue.State(t.State), Priority: t.Priority, Attempts: t.Attempts, AttemptsMax: t.AttemptsMax,
		Crashes: t.Crashes, EnqueuedAt: t.EnqueuedAt, DueAt: t.DueAt, LeaseUntil: t.LeaseUntil, DiedAt: t.DiedAt, ParkedAt: t.ParkedAt,
		DeadlineAt: t.DeadlineAt, LastError: t.LastError, Done: t.Done, Total: t.Total,
	}
	if t.Limit != nil {
		task.Limit = &admin.TaskLimit{Key: t.Limit.Key, Max: t.Limit.Max}
	}
	return task
}
