package node

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/web"
)

// Pages of tasks.
const (
	taskPage    = 100   // tasks, if a caller sets no limit
	taskPageMax = 1_000 //
)

// taskStates is the order in which tasks of all states are listed.
var taskStates = []queue.State{queue.Leased, queue.Ready, queue.Parked, queue.Delayed, queue.Dead}

// taskAdmin shows operators the queues of the domain. It implements web.TaskAdmin.
type taskAdmin struct {
	queues []adminQueue
	// attemptsMax is after how many failed runs a task of each kind is dead, unless the task has its own number.
	attemptsMax map[string]int
}

type adminQueue struct {
	name   string
	client *queue.Client
}

var _ web.TaskAdmin = (*taskAdmin)(nil)

// newTaskAdmin makes clients of all queues; kinds are those of the domain.
func (n *Node) newTaskAdmin(kinds map[string]chat.TaskKind) (*taskAdmin, error) {
	a := &taskAdmin{attemptsMax: make(map[string]int)}
	for _, q := range taskQueues {
		client, err := n.store.TaskClient(queue.Options{Queue: q.Name})
		if err != nil {
			return nil, err
		}
		a.queues = append(a.queues, adminQueue{q.Name, client})
	}
	for name, kind := range kinds {
		a.attemptsMax[name] = kind.AttemptsMax
	}
	return a, nil
}

// Queues counts the tasks of each queue.
func (a *taskAdmin) Queues(ctx context.Context) ([]web.QueueInfo, error) {
	var infos []web.QueueInfo
	for _, q := range a.queues {
		info, err := q.info(ctx)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (q adminQueue) info(ctx context.Context) (web.QueueInfo, error) {
	s, err := q.client.Stats(ctx)
	if err != nil {
		return web.QueueInfo{}, taskError(err)
	}
	info := web.QueueInfo{
		Queue: q.name, Paused: s.Paused, Delayed: s.Delayed, Parked: s.Parked, Leased: s.Leased, Dead: s.Dead, OldestMs: s.Oldest.Milliseconds(),
		Enqueued: s.Enqueued, Processed: s.Done, Failed: s.Failed, Crashed: s.Crashed,
		Buried: s.Buried, Deleted: s.Deleted, Dropped: s.Dropped,
		Unserved: append([]string{}, s.Unserved...),
	}
	info.Ready.Critical, info.Ready.High = s.Ready[queue.Critical], s.Ready[queue.High]
	info.Ready.Normal, info.Ready.Low = s.Ready[queue.Normal], s.Ready[queue.Low]
	return info, nil
}

// Pause pauses or resumes a queue.
func (a *taskAdmin) Pause(ctx context.Context, name string, paused bool) (web.QueueInfo, error) {
	i := slices.IndexFunc(a.queues, func(q adminQueue) bool { return q.name == name })
	if i < 0 {
		return web.QueueInfo{}, chat.Errorf(chat.CodeNotFound, "no such queue: want core or egress")
	}
	q := a.queues[i]
	change := q.client.Resume
	if paused {
		change = q.client.Pause
	}
	if err := change(ctx); err != nil {
		return web.QueueInfo{}, taskError(err)
	}
	return q.info(ctx)
}

// stretch is the tasks of one state in one queue.
type stretch struct {
	queue adminQueue
	state queue.State
}

// Tasks lists tasks stretch by stretch. A cursor is "<state> <queue> <cursor of the engine>", with dots.
func (a *taskAdmin) Tasks(ctx context.Context, q web.TaskQuery) (tasks []web.TaskInfo, next string, err error) {
	var stretches []stretch
	for _, state := range taskStates {
		for _, one := range a.queues {
			if (q.State == "" || q.State == string(state)) && (q.Queue == "" || q.Queue == one.name) {
				stretches = append(stretches, stretch{one, state})
			}
		}
	}
	if len(stretches) == 0 {
		return nil, "", chat.Errorf(chat.CodeInvalid, "queue: no such queue; want core or egress")
	}
	from := ""
	if q.Cursor != "" {
		state, rest, _ := strings.Cut(q.Cursor, ".")
		name, inner, ok := strings.Cut(rest, ".")
		i := slices.IndexFunc(stretches, func(s stretch) bool { return s.queue.name == name && string(s.state) == state })
		if !ok || i < 0 {
			return nil, "", errTaskCursor
		}
		stretches, from = stretches[i:], inner
	}
	limit := q.Limit
	if limit <= 0 {
		limit = taskPage
	}
	limit = min(limit, taskPageMax)
	for _, s := range stretches {
		if len(tasks) == limit {
			return tasks, s.cursor(""), nil
		}
		infos, more, err := s.queue.client.List(ctx, queue.ListQuery{State: s.state, Cursor: from, Limit: limit - len(tasks)})
		if err != nil {
			return nil, "", taskError(err)
		}
		for _, info := range infos {
			tasks = append(tasks, a.describe(info))
		}
		if more != "" {
			return tasks, s.cursor(more), nil
		}
		from = ""
	}
	return tasks, "", nil
}

// Days counts the runs of the last days, the newest first.
func (a *taskAdmin) Days(ctx context.Context, last int) (days []web.DayTotals, err error) {
	for _, q := range a.queues {
		totals, err := q.client.Days(ctx, last)
		if errors.Is(err, queue.ErrInvalid) {
			return nil, chat.Errorf(chat.CodeInvalid, "days: want 1 to 90")
		}
		if err != nil {
			return nil, taskError(err)
		}
		for _, t := range totals {
			days = append(days, web.DayTotals{
				Day: t.Day.Format(time.DateOnly), Queue: q.name, Kind: t.Kind, Done: t.Done, Failed: t.Failed, Buried: t.Buried, Crashed: t.Crashed,
			})
		}
	}
	slices.SortStableFunc(days, func(a, b web.DayTotals) int { return strings.Compare(b.Day, a.Day) })
	return days, nil
}

// Limits lists the keys of limits queue by queue. A cursor is "<queue>.<cursor of the engine>".
func (a *taskAdmin) Limits(ctx context.Context, cursor string, limit int) (page []web.LimitInfo, next string, err error) {
	queues, inner := a.queues, ""
	if cursor != "" {
		name, rest, ok := strings.Cut(cursor, ".")
		i := slices.IndexFunc(queues, func(q adminQueue) bool { return q.name == name })
		if !ok || i < 0 {
			return nil, "", errTaskCursor
		}
		queues, inner = queues[i:], rest
	}
	for _, q := range queues {
		infos, more, err := q.client.Limits(ctx, inner, limit-len(page))
		if err != nil {
			return nil, "", taskError(err)
		}
		for _, l := range infos {
			page = append(page, web.LimitInfo{
				Queue: q.name, Key: l.Key, Held: l.Held, Waiting: l.Waiting, WaitingSince: timeOrNull(l.Since),
				Holders: append([]string{}, l.Holders...), Waiters: append([]string{}, l.Waiters...),
			})
		}
		if more != "" || limit > 0 && len(page) >= limit {
			return page, q.name + "." + more, nil
		}
		inner = ""
	}
	return page, "", nil
}

func (s stretch) cursor(inner string) string {
	return string(s.state) + "." + s.queue.name + "." + inner
}

// Task describes one task.
func (a *taskAdmin) Task(ctx context.Context, id string) (web.TaskInfo, error) {
	_, info, err := a.find(ctx, id)
	return info, err
}

// find looks for a task in every queue: an id names its partition, not its queue.
func (a *taskAdmin) find(ctx context.Context, id string) (*queue.Client, web.TaskInfo, error) {
	for _, q := range a.queues {
		info, err := q.client.Get(ctx, id)
		if errors.Is(err, queue.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, web.TaskInfo{}, taskError(err)
		}
		return q.client, a.describe(info), nil
	}
	return nil, web.TaskInfo{}, taskError(queue.ErrNotFound)
}

// Retry makes a task ready and describes it as it became ready: a worker may have claimed or even completed it since.
func (a *taskAdmin) Retry(ctx context.Context, id string) (web.TaskInfo, error) {
	client, was, err := a.find(ctx, id)
	if err != nil {
		return web.TaskInfo{}, err
	}
	if err := client.Retry(ctx, id); err != nil {
		return web.TaskInfo{}, taskError(err)
	}
	if was.State == web.TaskState(queue.Dead) {
		was.Attempts, was.Crashes = 0, 0
	}
	was.State, was.DiedAt, was.DueAt = web.TaskState(queue.Ready), nil, nil
	return was, nil
}

// bulkTime is how long one call of Bulk goes on.
const bulkTime = time.Second

// Bulk changes many tasks, in the steps of the engine. What it has changed before an error is not lost: the answer says
// how far it came.
func (a *taskAdmin) Bulk(ctx context.Context, q web.TaskBulk) (done web.TaskBulkDone, err error) {
	i := slices.IndexFunc(a.queues, func(one adminQueue) bool { return one.name == q.Queue })
	if i < 0 {
		return done, chat.Errorf(chat.CodeInvalid, "queue: no such queue; want core or egress")
	}
	query := queue.BulkQuery{
		Act: queue.BulkAct(q.Act), State: queue.State(q.State), Kind: textOf(q.Kind), Error: textOf(q.Error), Cursor: textOf(q.Cursor),
	}
	switch {
	case query.State != queue.Delayed && query.State != queue.Dead:
		return done, chat.Errorf(chat.CodeInvalid, "state: want delayed or dead")
	case query.Act != queue.BulkRetry && query.Act != queue.BulkDelete && query.Act != queue.BulkRun:
		return done, chat.Errorf(chat.CodeInvalid, "act: want retry, delete or run")
	case query.Act == queue.BulkRun && query.State == queue.Dead:
		return done, chat.Errorf(chat.CodeInvalid, "act: run takes delayed tasks; retry dead ones")
	case len(query.Kind) > 256:
		return done, chat.Errorf(chat.CodeInvalid, "kind: at most 256 bytes")
	case len(query.Error) > 1024:
		return done, chat.Errorf(chat.CodeInvalid, "error: at most 1,024 bytes")
	case q.Before != nil && q.Before.IsZero():
		return done, chat.Errorf(chat.CodeInvalid, "before: the year 1 is no time of a task; leave it out to take tasks of any time")
	}
	if q.Before != nil {
		query.Before = q.Before.Time
	}
	for began := time.Now(); ; {
		step, err := a.queues[i].client.Bulk(ctx, query)
		if err != nil && done.Looked == 0 {
			return done, taskError(err)
		}
		if err != nil {
			slog.WarnContext(ctx, "tasks: a change of many stopped before its end, and can go on", "queue", q.Queue, "act", q.Act,
				"looked", done.Looked, "changed", done.Changed, "error", err)
			break
		}
		done.Looked, done.Changed = done.Looked+int64(step.Looked), done.Changed+int64(step.Changed)
		if query.Cursor = step.Next; query.Cursor == "" || time.Since(began) > bulkTime {
			break
		}
	}
	if query.Cursor != "" {
		done.Next = &query.Cursor
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
func (a *taskAdmin) Delete(ctx context.Context, id string) error {
	client, _, err := a.find(ctx, id)
	if err != nil {
		return err
	}
	if _, err = client.Cancel(ctx, id); errors.Is(err, queue.ErrConflict) {
		return chat.Errorf(chat.CodeConflict, "the task fires a periodic one: pause or delete that")
	}
	return taskError(err)
}

// describe leaves out the payload.
func (a *taskAdmin) describe(i queue.Info) web.TaskInfo {
	t := web.TaskInfo{
		Id: i.ID, Queue: i.Queue, Kind: i.Kind, State: web.TaskState(i.State), Priority: web.TaskPriority(i.Priority.String()),
		Attempts: int64(i.Attempts), AttemptsMax: int64(i.AttemptsMax), Crashes: int64(i.Crashes),
		EnqueuedAt: chat.Time{Time: i.Enqueued}, LeaseUntil: timeOrNull(i.LeaseEnds), DiedAt: timeOrNull(i.Died), DeadlineAt: timeOrNull(i.Deadline),
	}
	t.ParkedAt = timeOrNull(i.ParkedSince)
	if i.Limit != nil {
		t.Limit = &web.TaskLimit{Key: i.Limit.Key, Max: int64(i.Limit.Max)}
	}
	if t.AttemptsMax == 0 {
		t.AttemptsMax = int64(a.attemptsMax[i.Kind])
	}
	if t.AttemptsMax == 0 {
		t.AttemptsMax = taskAttemptsMax
	}
	if i.State == queue.Delayed {
		t.DueAt = timeOrNull(i.Due)
	}
	if i.LastError != "" {
		t.LastError = &i.LastError
	}
	if i.Progress != (queue.Progress{}) {
		t.Done, t.Total = &i.Progress.Done, &i.Progress.Total
	}
	return t
}

func timeOrNull(t time.Time) *chat.Time {
	if t.IsZero() {
		return nil
	}
	return &chat.Time{Time: t}
}

var errTaskCursor = chat.Errorf(chat.CodeInvalid, "cursor: not a cursor of this list")

// taskError translates the errors of the engine.
func taskError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, queue.ErrNotFound):
		return chat.Errorf(chat.CodeNotFound, "no such task: it never existed, is done, or was deleted")
	case errors.Is(err, queue.ErrConflict):
		return chat.Errorf(chat.CodeConflict, "the task is already ready or running")
	case errors.Is(err, queue.ErrInvalid):
		return errTaskCursor
	}
	return &chat.Error{Code: chat.CodeUnavailable, Message: chat.ErrUnavailable.Message, RetryAfter: chat.ErrUnavailable.RetryAfter, Cause: err}
}
