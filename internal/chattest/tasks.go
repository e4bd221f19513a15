package chattest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
)

// runsMax is how often a task may ask to run again at once.
const runsMax = 1000

// Do runs a task until it is done or asks for a pause, which it returns. A finished task runs once more, because a
// worker may die after its work: the second run must do no harm.
func Do(t *testing.T, kind chat.TaskKind, payload any) (pause time.Duration) {
	t.Helper()
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	for done := 0; done < 2; {
		for runs := 0; ; runs++ {
			err := kind.Run(t.Context(), chat.TaskRun{Payload: raw})
			var later *chat.Postponed
			if err == nil {
				done++
				break
			}
			if !errors.As(err, &later) || later.Cause != nil {
				t.Fatal(err)
			}
			if later.After > 0 {
				return later.After
			}
			if runs == runsMax {
				t.Fatal("the task does not end")
			}
		}
	}
	return 0
}

// Done runs a task as Do does, and ends the test if the task asks for a pause.
func Done(t *testing.T, kind chat.TaskKind, payload any) {
	t.Helper()
	if pause := Do(t, kind, payload); pause > 0 {
		t.Fatalf("the task waits for %v", pause)
	}
}

// RefuseGarbage checks that handlers refuse payloads that no store writes.
func RefuseGarbage(t *testing.T, handlers map[string]chat.TaskKind) {
	t.Helper()
	for name, kind := range handlers {
		for _, payload := range []string{"", "x", `[]`, `{}`, `{"group":"a b","epoch":"e","from":"x","by":"x"}`, `{"group":{}}`} {
			err := kind.Run(t.Context(), chat.TaskRun{Payload: []byte(payload)})
			if got := chat.CodeOf(err); got != chat.CodeInvalid {
				t.Errorf("%s with %s: got %v, want %q", name, payload, err, chat.CodeInvalid)
			}
		}
	}
}

// Work runs the tasks of a store, as a node does, until the test ends. Failed tasks are retried at once.
func Work(t *testing.T, s *store.Store, services ...interface {
	Handlers() map[string]chat.TaskKind
}) {
	t.Helper()
	server, err := queue.New(queue.Options{
		Client: s.Client(), Prefix: s.Prefix(), Partitions: s.Partitions(),
		Queues: []queue.QueueOptions{{Name: chat.QueueCore, Workers: 8}, {Name: chat.QueueEgress, Workers: 8}},
		Lease:  time.Second, CrashesMax: 50, BackoffMin: time.Millisecond, BackoffMax: 10 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range services {
		for name, kind := range service.Handlers() {
			server.HandlePolicy(name, queue.Policy{AttemptsMax: kind.AttemptsMax, Timeout: kind.Timeout}, handler(kind))
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = server.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
}

func handler(kind chat.TaskKind) queue.Handler {
	return func(ctx context.Context, t queue.Task) error {
		err := kind.Run(ctx, chat.TaskRun{ID: t.ID, Attempt: t.Attempt, Failed: t.Attempts, Payload: t.Payload, Enqueued: t.Enqueued})
		var later *chat.Postponed
		switch {
		case errors.As(err, &later) && later.Cause == nil:
			return queue.Snooze(later.After)
		case errors.As(err, &later):
			return queue.RetryAfter(later.After, later.Cause)
		case chat.CodeOf(err) == chat.CodeInvalid:
			return queue.Bury(err)
		}
		return err
	}
}
