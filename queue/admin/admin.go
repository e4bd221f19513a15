// Package admin is what operators see of the task engine and do to it: tasks of several queues in one list, counted,
// retried and deleted, one by one or many at once. Handler shows it as HTML pages; the package cli as commands.
package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/queue"
)

// Pages of tasks and of periodic tasks.
const (
	pageDefault = 100
	pageMax     = 1_000
	bulkTime    = time.Second // how long one call of Bulk goes on
)

// States is the order in which tasks of all states are listed.
var States = []queue.State{queue.Leased, queue.Ready, queue.Parked, queue.Delayed, queue.Dead}

// Of names a queue and the client that reaches it.
type Of struct {
	Name   string
	Client *queue.Client
}

// Admin is Tasks of queues on Redis. It is safe for concurrent use.
type Admin struct {
	queues      []Of
	attemptsMax func(kind string) int
}

var _ Tasks = (*Admin)(nil)

// New returns an Admin of queues. attemptsMax, which may be nil, says after how many failed runs a task of a kind is dead
// unless it has its own number: only the servers that run it know.
func New(queues []Of, attemptsMax func(kind string) int) *Admin {
	if attemptsMax == nil {
		attemptsMax = func(string) int { return 0 }
	}
	return &Admin{queues: slices.Clone(queues), attemptsMax: attemptsMax}
}

// problem is an error of the engine in words for operators.
type problem struct {
	kind error
	text string
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.kind }

func invalid(format string, args ...any) error {
	return &problem{queue.ErrInvalid, fmt.Sprintf(format, args...)}
}

var errCursor = invalid("cursor: not a cursor of this list")

// explain says for people what the engine refuses.
func explain(err error) error {
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return &problem{queue.ErrNotFound, "no such task: it never existed, is done, or was deleted"}
	case errors.Is(err, queue.ErrConflict):
		return &problem{queue.ErrConflict, "the task is already ready or running"}
	case errors.Is(err, queue.ErrInvalid):
		return errCursor
	}
	return err
}

// at returns the index of a queue.
func (a *Admin) at(name string) (int, error) {
	if i := slices.IndexFunc(a.queues, func(q Of) bool { return q.Name == name }); i >= 0 {
		return i, nil
	}
	names := make([]string, len(a.queues))
	for i, q := range a.queues {
		names[i] = q.Name
	}
	return 0, fmt.Errorf("%w; want %s", errNoQueue, strings.Join(names, " or "))
}

var errNoQueue error = &problem{queue.ErrInvalid, "queue: no such queue"}

// Queues counts the tasks of each queue.
func (a *Admin) Queues(ctx context.Context) ([]Queue, error) {
	all := make([]Queue, 0, len(a.queues))
	for _, q := range a.queues {
		one, err := q.count(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (q Of) count(ctx context.Context) (Queue, error) {
	s, err := q.Client.Stats(ctx)
	if err != nil {
		return Queue{}, explain(err)
	}
	return Queue{
		Queue: q.Name, Paused: s.Paused, Delayed: s.Delayed, Parked: s.Parked, Leased: s.Leased, Dead: s.Dead, OldestMs: s.Oldest.Milliseconds(),
		Ready:    Ready{Critical: s.Ready[queue.Critical], High: s.Ready[queue.High], Normal: s.Ready[queue.Normal], Low: s.Ready[queue.Low]},
		Enqueued: s.Enqueued, Processed: s.Done, Failed: s.Failed, Crashed: s.Crashed, Buried: s.Buried, Deleted: s.Deleted, Dropped: s.Dropped,
		Unserved: append([]string{}, s.Unserved...),
	}, nil
}

// Pause pauses or resumes a queue. ErrNotFound: there is no such queue.
func (a *Admin) Pause(ctx context.Context, name string, paused bool) (Queue, error) {
	i, err := a.at(name)
	if err != nil {
		return Queue{}, &problem{queue.ErrNotFound, strings.TrimPrefix(err.Error(), "queue: ")}
	}
	change := a.queues[i].Client.Resume
	if paused {
		change = a.queues[i].Client.Pause
	}
	if err := change(ctx); err != nil {
		return Queue{}, explain(err)
	}
	return a.queues[i].count(ctx)
}

// stretch is the tasks of one state in one queue.
type stretch struct {
	queue Of
	state queue.State
}

func (s stretch) cursor(inner string) string {
	return string(s.state) + "." + s.queue.Name + "." + inner
}

// List goes stretch by stretch. A cursor is "<state>.<queue>.<cursor of the engine>".
func (a *Admin) List(ctx context.Context, q Query) (page []Task, next string, err error) {
	var stretches []stretch
	for _, state := range States {
		for _, one := range a.queues {
			if (q.State == "" || q.State == state) && (q.Queue == "" || q.Queue == one.Name) {
				stretches = append(stretches, stretch{one, state})
			}
		}
	}
	if len(stretches) == 0 {
		if _, err := a.at(q.Queue); q.Queue != "" && err != nil {
			return nil, "", err
		}
		return nil, "", invalid("state: want ready, parked, delayed, leased or dead")
	}
	from := ""
	if q.Cursor != "" {
		state, rest, _ := strings.Cut(q.Cursor, ".")
		name, inner, ok := strings.Cut(rest, ".")
		i := slices.IndexFunc(stretches, func(s stretch) bool { return s.queue.Name == name && string(s.state) == state })
		if !ok || i < 0 {
			return nil, "", errCursor
		}
		stretches, from = stretches[i:], inner
	}
	limit, looked := pageOf(q.Limit), 0
	for _, s := range stretches {
		for more := true; more; {
			if len(page) == limit || looked >= pageMax {
				return page, s.cursor(from), nil
			}
			infos, next, err := s.queue.Client.List(ctx, queue.ListQuery{State: s.state, Cursor: from, Limit: limit - len(page)})
			if err != nil {
				return nil, "", explain(err)
			}
			looked += len(infos)
			for _, info := range infos {
				if q.takes(info) {
					page = append(page, a.describe(info))
				}
			}
			from, more = next, next != ""
			if more && q.Kind+q.Error+q.Account == "" {
				return page, s.cursor(from), nil
			}
		}
	}
	return page, "", nil
}

// takes tells whether a task is one of those that are asked for.
func (q Query) takes(i queue.Info) bool {
	return (q.Kind == "" || i.Kind == q.Kind) && strings.Contains(i.LastError, q.Error) && (q.Account == "" || strings.HasSuffix(i.ID, queue.WithAccount("", q.Account)))
}

func pageOf(limit int) int {
	if limit <= 0 {
		limit = pageDefault
	}
	return min(limit, pageMax)
}

// Task describes one task.
func (a *Admin) Task(ctx context.Context, id string) (Task, error) {
	_, info, err := a.find(ctx, id)
	if err != nil {
		return Task{}, err
	}
	return a.describe(info), nil
}

// Payload returns the payload of a task. It is no part of Tasks, because it may hold what is not for everyone who may see those.
func (a *Admin) Payload(ctx context.Context, id string) ([]byte, error) {
	_, info, err := a.find(ctx, id)
	return info.Payload, err
}

// find looks for a task in every queue: an id names its partition, not its queue.
func (a *Admin) find(ctx context.Context, id string) (*queue.Client, queue.Info, error) {
	for _, q := range a.queues {
		info, err := q.Client.Get(ctx, id)
		if errors.Is(err, queue.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, queue.Info{}, explain(err)
		}
		return q.Client, info, nil
	}
	return nil, queue.Info{}, explain(queue.ErrNotFound)
}

// Retry describes the task as it became ready: a worker may have claimed or even completed it since.
func (a *Admin) Retry(ctx context.Context, id string) (Task, error) {
	client, info, err := a.find(ctx, id)
	if err != nil {
		return Task{}, err
	}
	was := a.describe(info)
	if err := client.Retry(ctx, id); err != nil {
		return Task{}, explain(err)
	}
	if was.State == queue.Dead {
		was.Attempts, was.Crashes = 0, 0
	}
	was.State, was.DiedAt, was.DueAt = queue.Ready, nil, nil
	return was, nil
}

// Delete removes a task; the result of one that runs has no effect.
func (a *Admin) Delete(ctx context.Context, id string) error {
	client, _, err := a.find(ctx, id)
	if err != nil {
		return err
	}
	if _, err = client.Cancel(ctx, id); errors.Is(err, queue.ErrConflict) {
		return &problem{queue.ErrConflict, "the task fires a periodic one: pause or delete that"}
	}
	return explain(err)
}

// Bulk changes many tasks, in the steps of the engine. With an error too, the result counts what was done before it, and
// says where to go on, but not what is left.
func (a *Admin) Bulk(ctx context.Context, b Bulk) (done Changed, err error) {
	i, err := a.at(b.Queue)
	switch {
	case err != nil:
		return done, err
	case b.State != queue.Delayed && b.State != queue.Dead:
		return done, invalid("state: want delayed or dead")
	case b.Act != queue.BulkRetry && b.Act != queue.BulkDelete && b.Act != queue.BulkRun:
		return done, invalid("act: want retry, delete or run")
	case b.Act == queue.BulkRun && b.State == queue.Dead:
		return done, invalid("act: run takes delayed tasks; retry dead ones")
	case len(b.Kind) > 256:
		return done, invalid("kind: at most 256 bytes")
	case len(b.Error) > 1024:
		return done, invalid("error: at most 1,024 bytes")
	case len(b.IDs) > 100:
		return done, invalid("tasks: at most 100")
	case len(b.IDs) > 0 && b.Cursor != "":
		return done, invalid("cursor: not with tasks, which are all taken at once")
	}
	done.Next = b.Cursor
	for began := time.Now(); ; {
		step, err := a.queues[i].Client.Bulk(ctx, queue.BulkQuery{
			Act: b.Act, State: b.State, Kind: b.Kind, Error: b.Error, Before: b.Before, IDs: b.IDs, Cursor: done.Next,
		})
		done.Looked, done.Changed = done.Looked+int64(step.Looked), done.Changed+int64(step.Changed)
		if err != nil {
			return done, explain(err)
		}
		done.Next = step.Next
		if done.Next == "" || time.Since(began) > bulkTime {
			break
		}
	}
	now, err := a.queues[i].count(ctx)
	done.Left = now.In(b.State)
	return done, err
}

// Days returns how runs ended, day by day.
func (a *Admin) Days(ctx context.Context, last int) (days []Day, err error) {
	for _, q := range a.queues {
		totals, err := q.Client.Days(ctx, last)
		if errors.Is(err, queue.ErrInvalid) {
			return nil, invalid("days: want 1 to 90")
		}
		if err != nil {
			return nil, err
		}
		for _, t := range totals {
			days = append(days, Day{t.Day.Format(time.DateOnly), q.Name, t.Kind, t.Done, t.Failed, t.Buried, t.Crashed})
		}
	}
	slices.SortStableFunc(days, func(a, b Day) int { return strings.Compare(b.Day, a.Day) })
	return days, nil
}

// Limits goes queue by queue.
func (a *Admin) Limits(ctx context.Context, cursor string, limit int) (page []Limit, next string, err error) {
	if limit <= 0 {
		limit = 20
	}
	return through(a, cursor, min(limit, 100), func(q Of, cursor string, limit int) (page []Limit, next string, err error) {
		infos, next, err := q.Client.Limits(ctx, cursor, limit)
		for _, l := range infos {
			page = append(page, Limit{
				Queue: q.Name, Key: l.Key, Held: l.Held, Waiting: l.Waiting, WaitingSince: timeOrNil(l.Since),
				Holders: append([]string{}, l.Holders...), Waiters: append([]string{}, l.Waiters...),
			})
		}
		return page, next, err
	})
}

// Periodic goes queue by queue.
func (a *Admin) Periodic(ctx context.Context, cursor string, limit int) (page []Periodic, next string, err error) {
	return through(a, cursor, pageOf(limit), func(q Of, cursor string, limit int) (page []Periodic, next string, err error) {
		infos, next, err := q.Client.ListPeriodic(ctx, cursor, limit)
		for _, info := range infos {
			page = append(page, describePeriodic(info))
		}
		return page, next, err
	})
}

// through fills a page queue by queue. A cursor is "<queue>.<cursor of the engine>".
func through[T any](a *Admin, cursor string, limit int, of func(q Of, cursor string, limit int) ([]T, string, error)) (page []T, next string, err error) {
	queues, inner := a.queues, ""
	if cursor != "" {
		name, rest, ok := strings.Cut(cursor, ".")
		i, err := a.at(name)
		if !ok || err != nil {
			return nil, "", errCursor
		}
		queues, inner = queues[i:], rest
	}
	for _, q := range queues {
		if len(page) == limit {
			return page, q.Name + ".", nil
		}
		found, more, err := of(q, inner, limit-len(page))
		if err != nil {
			return nil, "", explain(err)
		}
		page, inner = append(page, found...), ""
		if more != "" {
			return page, q.Name + "." + more, nil
		}
	}
	return page, "", nil
}

// PausePeriodic pauses or resumes a periodic task.
func (a *Admin) PausePeriodic(ctx context.Context, id string, paused bool) (info Periodic, err error) {
	err = a.withPeriodic(func(c *queue.Client) error {
		change := c.ResumePeriodic
		if paused {
			change = c.PausePeriodic
		}
		if err := change(ctx, id); err != nil {
			return err
		}
		now, err := c.GetPeriodic(ctx, id)
		info = describePeriodic(now)
		return err
	})
	return info, err
}

// RunPeriodic enqueues an occurrence now.
func (a *Admin) RunPeriodic(ctx context.Context, id string) (task string, err error) {
	err = a.withPeriodic(func(c *queue.Client) (err error) {
		task, err = c.RunPeriodic(ctx, id)
		return err
	})
	return task, err
}

// DeletePeriodic ends a periodic task.
func (a *Admin) DeletePeriodic(ctx context.Context, id string) error {
	return a.withPeriodic(func(c *queue.Client) error { return c.DeletePeriodic(ctx, id) })
}

// withPeriodic calls do for each queue until one has the periodic task: an id does not name its queue.
func (a *Admin) withPeriodic(do func(c *queue.Client) error) error {
	for _, q := range a.queues {
		switch err := do(q.Client); {
		case errors.Is(err, queue.ErrNotFound):
		case errors.Is(err, queue.ErrConflict):
			return &problem{queue.ErrConflict, "an earlier occurrence is still waiting"}
		default:
			return explain(err)
		}
	}
	return &problem{queue.ErrNotFound, "no such periodic task"}
}

// describePeriodic leaves out the payload.
func describePeriodic(i queue.PeriodicInfo) Periodic {
	return Periodic{
		ID: i.ID, Queue: i.Queue, Kind: i.Kind, Cron: i.Cron, Timezone: i.Zone, EveryMs: i.Every.Milliseconds(), Misfire: string(i.Misfire),
		Paused: i.Paused, LastAt: timeOrNil(i.Last), NextAt: timeOrNil(i.Next), Fired: i.Fired,
	}
}

// describe leaves out the payload.
func (a *Admin) describe(i queue.Info) Task {
	t := Task{
		ID: i.ID, Queue: i.Queue, Kind: i.Kind, State: i.State, Priority: i.Priority.String(),
		Attempts: int64(i.Attempts), AttemptsMax: int64(i.AttemptsMax), Crashes: int64(i.Crashes), EnqueuedAt: i.Enqueued,
		LeaseUntil: timeOrNil(i.LeaseEnds), DiedAt: timeOrNil(i.Died), ParkedAt: timeOrNil(i.ParkedSince), DeadlineAt: timeOrNil(i.Deadline),
	}
	if t.AttemptsMax == 0 {
		t.AttemptsMax = int64(a.attemptsMax(i.Kind))
	}
	if i.Limit != nil {
		t.Limit = &TaskLimit{Key: i.Limit.Key, Max: int64(i.Limit.Max)}
	}
	if i.State == queue.Delayed {
		t.DueAt = timeOrNil(i.Due)
	}
	if i.LastError != "" {
		t.LastError = &i.LastError
	}
	if i.Progress != (queue.Progress{}) {
		t.Done, t.Total = &i.Progress.Done, &i.Progress.Total
	}
	return t
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
