package node

import (
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/queue"
)

// openTasks makes the server that runs the domain's tasks.
func (n *Node) openTasks() (err error) {
	n.tasks, err = queue.New(queue.Options{
		Client: n.store.Client(), Prefix: n.store.Prefix(), Partitions: n.store.Partitions(), Logger: n.log,
	})
	if err != nil {
		return err
	}
	for name, kind := range n.service.Handlers() {
		n.tasks.HandlePolicy(name, queue.Policy{AttemptsMax: kind.AttemptsMax, Timeout: kind.Timeout}, taskHandler(kind))
	}
	return nil
}

// taskHandler runs a task of the domain and tells the engine what becomes of it.
func taskHandler(kind chat.TaskKind) queue.Handler {
	return func(ctx context.Context, t queue.Task) error {
		err := kind.Run(ctx, chat.TaskRun{ID: t.ID, Attempt: t.Attempt, Payload: t.Payload, Enqueued: t.Enqueued})
		var later *chat.Postponed
		switch {
		case errors.As(err, &later):
			return err
		case chat.CodeOf(err) == chat.CodeInvalid:
			return queue.Bury(err)
		default:
			return err
		}
	}
}
