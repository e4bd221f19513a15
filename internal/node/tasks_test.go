package node

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/retention"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/layout"
	"github.com/chatd/chatd/web"
)

var errBroken = errors.New("broken")

// TestTaskVerdicts runs handlers of the domain under the engine and checks what happens to their tasks.
func TestTaskVerdicts(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	tasks, err := queue.New(queue.Options{Client: rdb, AttemptsMax: 3, BackoffMin: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var failed atomic.Int64
	answers := map[string]error{
		"done":      nil,
		"fails":     errBroken,
		"hopeless":  chat.Errorf(chat.CodeInvalid, "no payload"),
		"wrapped":   errors.Join(errBroken, chat.Errorf(chat.CodeInvalid, "no payload")),
		"later":     chat.Postpone(time.Hour, nil),
		"told":      chat.Postpone(2*time.Hour, errBroken),
		"told-last": chat.Postpone(0, errBroken),
	}
	ids := map[string]string{}
	for name, answer := range answers {
		tasks.Handle(name, taskHandler(chat.TaskKind{Run: func(_ context.Context, run chat.TaskRun) error {
			if name == "told-last" {
				failed.Store(int64(run.Failed))
			}
			return answer
		}}))
		id, _, err := tasks.Enqueue(t.Context(), queue.Task{Kind: name, Payload: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = id
	}
	stop := serveTasks(t, tasks)
	harness.Eventually(t, 10*time.Second, "all have run", func() error {
		s, err := tasks.Stats(t.Context())
		if err == nil && (s.Ready[queue.Normal] > 0 || s.Leased > 0 || s.Dead < 3) {
			err = errors.New("some wait")
		}
		return err
	})
	stop()
	for name, want := range map[string]struct {
		state    queue.State
		attempts int
		after    time.Duration // 0: not checked
	}{
		"fails":     {queue.Delayed, 1, 0},
		"hopeless":  {queue.Dead, 1, 0},
		"wrapped":   {queue.Dead, 1, 0},
		"later":     {queue.Delayed, 0, time.Hour},
		"told":      {queue.Delayed, 1, 2 * time.Hour},
		"told-last": {queue.Dead, 3, 0},
	} {
		got, err := tasks.Get(t.Context(), ids[name])
		if err != nil || got.State != want.state || got.Attempts != want.attempts {
			t.Errorf("%s: got %s with %d attempts, %v; want %+v", name, got.State, got.Attempts, err, want)
		}
		if off := time.Until(got.Due) - want.after; want.after > 0 && off.Abs() > time.Minute {
			t.Errorf("%s: comes again %v beside the time it was to", name, off)
		}
	}
	if _, err := tasks.Get(t.Context(), ids["done"]); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("what is done: %v", err)
	}
	if got := failed.Load(); got != 2 {
		t.Errorf("the last run heard of %d failed ones, want 2", got)
	}
}

func serveTasks(t *testing.T, tasks *queue.Server) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- tasks.Run(ctx) }()
	var stopped atomic.Bool
	stop = func() {
		if !stopped.Swap(true) {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("run: %v", err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

// TestTaskCutOffByAStop: a run that a stop interrupts does not count as an attempt, whatever the handler returns.
func TestTaskCutOffByAStop(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	tasks, err := queue.New(queue.Options{Client: rdb, StopTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	running := make(chan struct{}, 2)
	ids := map[string]string{}
	for name, answer := range map[string]func(error) error{
		"fails": func(err error) error { return err },
		"told":  func(err error) error { return chat.Postpone(time.Hour, err) },
	} {
		tasks.Handle(name, taskHandler(chat.TaskKind{Run: func(ctx context.Context, _ chat.TaskRun) error {
			running <- struct{}{}
			<-ctx.Done()
			return answer(ctx.Err())
		}}))
		if ids[name], _, err = tasks.Enqueue(t.Context(), queue.Task{Kind: name}); err != nil {
			t.Fatal(err)
		}
	}
	stop := serveTasks(t, tasks)
	<-running
	<-running
	stop()
	for name, id := range ids {
		if got, err := tasks.Get(t.Context(), id); err != nil || got.State != queue.Ready || got.Attempts != 0 || got.Crashes != 0 {
			t.Errorf("%s: got %s with %d attempts and %d crashes, %v; want it ready again as it was", name, got.State, got.Attempts, got.Crashes, err)
		}
	}
}

// TestTaskKindsAreListed: the parts of the domain handle the kinds that package layout lists, and no others.
func TestTaskKindsAreListed(t *testing.T) {
	got, want := map[string]layout.Task{}, maps.Clone(layout.Tasks)
	for kind, task := range want {
		task.Home = ""
		want[kind] = task
	}
	n := &Node{archiver: new(archive.Archiver), retention: new(retention.Service), services: web.Services{Chat: chat.New(nil, chat.Options{})}}
	for _, part := range n.handled() {
		for name, kind := range part.Handlers() {
			_, by, _ := strings.Cut(reflect.TypeOf(part).Elem().PkgPath(), "chatd/chatd/")
			got[name] = layout.Task{Queue: kind.Queue, By: by}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// part is a part of the domain that handles one kind of tasks.
type part string

func (p part) Handlers() map[string]chat.TaskKind { return map[string]chat.TaskKind{string(p): {}} }

func TestTaskKindsAreOfOnePart(t *testing.T) {
	if got := taskKinds(part("a"), part("b")); len(got) != 2 {
		t.Errorf("got %d kinds, want both", len(got))
	}
	defer func() {
		if recover() == nil {
			t.Error("two parts handle the same kind, and nobody noticed")
		}
	}()
	taskKinds(part("a"), part("a"))
}
