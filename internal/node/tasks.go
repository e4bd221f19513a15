package node

import (
	"context"
	"errors"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/queue"
)

// taskQueues are the queues that a node serves. Deliveries mostly wait for others, so they get more hands.
var taskQueues = []queue.Served{{Name: chat.QueueCore, Workers: 16}, {Name: chat.QueueEgress, Workers: 32}}

// taskAttemptsMax is after how many failed runs a task is dead where its kind says nothing else.
const taskAttemptsMax = 10

// taskLease is how long what a node was about to do waits for another when it dies: a scheduled message in flight is that late.
// Every handler may run twice, so a node that is held up for longer does no harm.
const taskLease = 5 * time.Second

// openTasks makes the server that runs the domain's tasks, and what operators and the figures see of them.
func (n *Node) openTasks() (err error) {
	kinds := taskKinds(n.services.Chat, n.services.Schedules, n.services.Announcements, n.services.Notifications, n.services.Webhooks,
		n.archiver)
	if n.taskAdmin, err = n.newTaskAdmin(kinds); err != nil {
		return err
	}
	n.figures = newTaskFigures(n.taskAdmin, kinds)
	n.tasks, err = n.store.TaskServer(queue.Options{
		Queues: taskQueues,
		Lease:  taskLease, AttemptsMax: taskAttemptsMax, Observe: n.figures.observe, Logger: n.log,
	})
	if err != nil {
		return err
	}
	for name, kind := range kinds {
		n.tasks.HandlePolicy(name, queue.Policy{AttemptsMax: kind.AttemptsMax, Timeout: kind.Timeout}, taskHandler(kind))
	}
	return nil
}

// handled is a part of the domain with tasks of its own.
type handled interface {
	Handlers() map[string]chat.TaskKind
}

// taskKinds are the kinds of tasks of all parts of the domain. Each kind is of one part alone.
func taskKinds(parts ...handled) map[string]chat.TaskKind {
	kinds := make(map[string]chat.TaskKind)
	for _, part := range parts {
		for name, kind := range part.Handlers() {
			if _, taken := kinds[name]; taken {
				panic("node: two parts of the domain handle tasks of kind " + name) //nolint:forbidigo // a mistake of the program, seen at its start
			}
			kinds[name] = kind
		}
	}
	return kinds
}

// taskHandler runs a task of the domain and tells the engine what becomes of it.
func taskHandler(kind chat.TaskKind) queue.Handler {
	return func(ctx context.Context, t queue.Task) error {
		err := kind.Run(ctx, chat.TaskRun{ID: t.ID, Attempt: t.Attempt, Failed: t.Attempts, Payload: t.Payload, Enqueued: t.Enqueued})
		return taskVerdict(ctx, err)
	}
}

// taskVerdict says in the words of the engine what a handler of the domain has answered.
func taskVerdict(ctx context.Context, err error) error {
	var later *chat.Postponed
	switch {
	case errors.As(err, &later) && later.Cause == nil:
		return queue.Snooze(later.After)
	case errors.As(err, &later) && errors.Is(context.Cause(ctx), queue.ErrStopped):
		return later.Cause // cut off by the stop: the engine gives the task back, and no attempt is counted
	case errors.As(err, &later):
		return queue.RetryAfter(later.After, later.Cause)
	case chat.CodeOf(err) == chat.CodeInvalid:
		return queue.Bury(err)
	}
	return err
}
