package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/queue/metrics"
)

// taskQueues are the queues that a node serves. Deliveries mostly wait for external servers, so they get more workers.
var taskQueues = []queue.QueueOptions{{Name: chat.QueueCore, Workers: 16}, {Name: chat.QueueEgress, Workers: 32}}

// taskAttemptsMax is after how many failed runs a task is dead, unless its kind has its own number.
const taskAttemptsMax = 10

// taskLease is how long a dead node's tasks wait for another node, and so how late a scheduled message may be. Every
// handler may run twice, so a node that hangs for longer does no harm.
const taskLease = 5 * time.Second

// openTasks makes the server that runs the domain's tasks, and the views of them for operators and metrics.
func (n *Node) openTasks() (err error) {
	kinds := taskKinds(n.handled()...)
	if n.taskAdmin, err = n.newTaskAdmin(kinds); err != nil {
		return err
	}
	n.taskMetrics = metrics.New("chatd", n.taskAdmin, slices.Collect(maps.Keys(kinds))...)
	n.tasks, err = n.store.TaskServer(queue.Options{
		Queues: taskQueues,
		Lease:  taskLease, AttemptsMax: taskAttemptsMax, Observe: n.taskMetrics.Observe, Logger: n.causes.over(newLogger(n.set, n.output), true),
	})
	if err != nil {
		return err
	}
	for name, kind := range kinds {
		n.tasks.HandlePolicy(name, queue.Policy{AttemptsMax: kind.AttemptsMax, Timeout: kind.Timeout}, taskHandler(kind))
	}
	return declarePeriodic(n.tasks, n.services.Files.Periodic())
}

// newTaskAdmin makes clients of all queues, for operators; kinds are those of the domain.
func (n *Node) newTaskAdmin(kinds map[string]chat.TaskKind) (_ *admin.Admin, err error) {
	queues := make([]admin.Of, len(taskQueues))
	for i, q := range taskQueues {
		queues[i].Name = q.Name
		if queues[i].Client, err = n.store.TaskClient(queue.Options{Queue: q.Name}); err != nil {
			return nil, err
		}
	}
	return admin.New(queues, func(kind string) int { return cmp.Or(kinds[kind].AttemptsMax, taskAttemptsMax) }), nil
}

// waitingSchedules pages through the schedules that have a task to come: its id begins with theirs.
func (n *Node) waitingSchedules(ctx context.Context, cursor string, limit int) (ids []string, next string, err error) {
	tasks, next, err := n.taskAdmin.List(ctx, admin.Query{Queue: chat.QueueCore, State: queue.Delayed, Kind: schedule.TaskFire, Cursor: cursor, Limit: limit})
	if errors.Is(err, queue.ErrInvalid) {
		return nil, "", &chat.Error{Code: chat.CodeInvalid, Message: err.Error(), Cause: err}
	}
	for _, t := range tasks {
		id, _, _ := strings.Cut(t.ID, ".")
		ids = append(ids, id)
	}
	return ids, next, err
}

// declarePeriodic declares periodic tasks. They belong to the queue core.
func declarePeriodic(server *queue.Server, tasks []chat.PeriodicTask) error {
	for _, t := range tasks {
		payload, err := json.Marshal(t.Payload)
		if err != nil {
			return err
		}
		err = server.Periodic(queue.Periodic{ID: t.Kind, Every: t.Every, Kind: t.Kind, Payload: payload, With: queue.Task{
			Priority: queue.Low, Unique: t.Kind, UniqueUntilEnd: true,
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// handled is a part of the domain that has tasks.
type handled interface {
	Handlers() map[string]chat.TaskKind
}

// handled are the parts of the domain that have tasks.
func (n *Node) handled() []handled {
	return []handled{n.services.Chat, n.services.Quorums, n.services.Schedules, n.services.Announcements, n.services.Notifications, n.services.Webhooks,
		n.archiver, n.services.Erasures, n.retention, n.expiry, n.services.Files, n.services.Directory, n.services.Rules, n.services.Reports, n.services.Blocks, n.services.Reviews, n.services.Buttons, n.services.Streams}
}

// taskKinds returns the kinds of tasks of all parts of the domain. Each kind belongs to one part.
func taskKinds(parts ...handled) map[string]chat.TaskKind {
	kinds := make(map[string]chat.TaskKind)
	for _, part := range parts {
		for name, kind := range part.Handlers() {
			if _, taken := kinds[name]; taken {
				panic("node: two parts of the domain handle tasks of kind " + name) //nolint:forbidigo // a programming error that shows at the start
			}
			kinds[name] = kind
		}
	}
	return kinds
}

// taskHandler runs a task of the domain and translates its result for the engine.
func taskHandler(kind chat.TaskKind) queue.Handler {
	return func(ctx context.Context, t queue.Task) error {
		err := kind.Run(ctx, chat.TaskRun{ID: t.ID, Attempt: t.Attempt, Failed: t.Attempts, Payload: t.Payload, Enqueued: t.Enqueued})
		return taskVerdict(ctx, err)
	}
}

// taskVerdict translates the result of a handler of the domain into that of the engine.
func taskVerdict(ctx context.Context, err error) error {
	var later *chat.Postponed
	switch {
	case errors.As(err, &later) && later.Cause == nil:
		return queue.Snooze(later.After)
	case errors.As(err, &later) && errors.Is(context.Cause(ctx), queue.ErrStopped):
		return later.Cause // interrupted by the stop: the engine gives the task back and counts no attempt
	case errors.As(err, &later):
		return queue.RetryAfter(later.After, later.Cause)
	case chat.CodeOf(err) == chat.CodeInvalid:
		return queue.Bury(err)
	}
	return err
}
