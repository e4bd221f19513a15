package queue

import (
	"context"
	"encoding/json"
	"fmt"
)

// Kind is a kind of tasks whose payloads are values of T, as JSON. Declare it once, and enqueue and handle through it:
//
//	var Welcome = queue.Kind[User]{Name: "mail.welcome"}
type Kind[T any] struct {
	// Name is the kind of its tasks.
	Name string
	// Policy is that of its handler.
	Policy Policy
}

// Enqueuer is what tasks are enqueued into: a Client or a Server.
type Enqueuer interface {
	Enqueue(ctx context.Context, t Task) (id string, ok bool, err error)
}

// Task returns a task with this payload. Everything else about it is taken from with, in which Kind and Payload are
// empty.
func (k Kind[T]) Task(payload T, with Task) (Task, error) {
	if with.Kind != "" || with.Payload != nil {
		return Task{}, fmt.Errorf("%w: the kind %q sets Kind and Payload by itself", ErrInvalid, k.Name)
	}
	data, err := json.Marshal(payload)
	if err != nil {
		return Task{}, fmt.Errorf("%w: payload of kind %q: %w", ErrInvalid, k.Name, err)
	}
	with.Kind, with.Payload = k.Name, data
	return with, nil
}

// Enqueue enqueues one task with this payload; with is the rest of it, Task{} where nothing else matters. It returns
// what Client.Enqueue does.
func (k Kind[T]) Enqueue(ctx context.Context, to Enqueuer, payload T, with Task) (id string, ok bool, err error) {
	t, err := k.Task(payload, with)
	if err != nil {
		return with.ID, false, err
	}
	return to.Enqueue(ctx, t)
}

// Handle registers the handler of the kind. A task whose payload is no JSON of a T becomes a dead letter at once, and
// the handler does not see it.
func (k Kind[T]) Handle(in Handlers, h func(ctx context.Context, t *Task, payload T) error) {
	in.HandlePolicy(k.Name, k.Policy, func(ctx context.Context, t Task) error {
		var payload T
		if err := json.Unmarshal(t.Payload, &payload); err != nil {
			return Bury(fmt.Errorf("payload of kind %q: %w", t.Kind, err))
		}
		return h(ctx, &t, payload)
	})
}
