package queuetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/queuetest"
)

// failing is a test that notes how it fails.
type failing struct {
	testing.TB
	said string
}

type failed struct{}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(failed{}) // in place of runtime.Goexit
}

// fails returns how a test fails that calls act.
func fails(t *testing.T, act func(tb testing.TB)) (said string) {
	t.Helper()
	f := &failing{TB: t}
	defer func() {
		if _, ok := recover().(failed); !ok {
			t.Error("it did not fail")
		}
		said = f.said
	}()
	act(f)
	return ""
}

func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, one := range want {
		if !strings.Contains(got, one) {
			t.Errorf("%q lacks %q", got, one)
		}
	}
}

func TestRequireEnqueuedComparesWhatIsSet(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	o := r.Options("mail")
	o.Partitions = 2
	s := newServer(t, o)
	deadline := r.Now().Add(time.Hour + 300*time.Microsecond)
	id := enqueue(t, s, queue.Task{Kind: "welcome", Payload: []byte(`{"name":"Ada"}`), Priority: queue.High})
	later := enqueue(t, s, queue.Task{Kind: "remind", Delay: time.Minute, AttemptsMax: 3, Deadline: deadline})
	for _, want := range []queue.Task{
		{}, {ID: id}, {Kind: "welcome"}, {Payload: []byte(`{"name":"Ada"}`)}, {Priority: queue.High},
		{ID: id, Kind: "welcome", Payload: []byte(`{"name":"Ada"}`), Priority: queue.High},
	} {
		if got := queuetest.RequireEnqueued(t, s, want); got.ID != id {
			t.Errorf("%+v: got %+v", want, got)
		}
	}
	for _, want := range []queue.Task{
		{Kind: "remind"}, {Delay: time.Minute}, {AttemptsMax: 3}, {Deadline: deadline}, {Due: r.Now().Add(time.Minute)},
	} {
		if got := queuetest.RequireEnqueued(t, s, want); got.ID != later {
			t.Errorf("%+v: got %+v", want, got)
		}
	}
	for _, want := range []queue.Task{
		{Kind: "other"}, {ID: id, Kind: "remind"}, {Payload: []byte("ada")}, {Priority: queue.Low}, {Delay: time.Hour},
		{AttemptsMax: 2}, {Deadline: deadline.Add(time.Millisecond)}, {Due: r.Now()},
	} {
		queuetest.RequireNotEnqueued(t, s, want)
		said := fails(t, func(tb testing.TB) { queuetest.RequireEnqueued(tb, s, want) })
		contains(t, said, "no task like {", "2 wait", "ready welcome "+id+", high priority", `payload "{\"name\":\"Ada\"}"`,
			"delayed remind "+later, "due 1m0s after it was enqueued")
	}
	said := fails(t, func(tb testing.TB) { queuetest.RequireNotEnqueued(tb, s, queue.Task{Kind: "remind"}) })
	contains(t, said, "a task like {Kind: remind} waits", later)
	said = fails(t, func(tb testing.TB) { queuetest.RequireEnqueued(tb, s, queue.Task{Subject: "ada"}) })
	contains(t, said, "only ID, Kind,")
	if _, err := s.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cancel(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	said = fails(t, func(tb testing.TB) { queuetest.RequireEnqueued(tb, s, queue.Task{Kind: "remind"}) })
	contains(t, said, "nothing waits")
}

// Pages are read to the end: the task that is looked for stands behind a thousand others.
func TestRequireEnqueuedReadsEveryPage(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	s := newServer(t, r.Options("mail"))
	tasks := make([]queue.Task, 250)
	for i := range tasks {
		tasks[i] = queue.Task{Kind: "k"}
	}
	tasks[249].Kind = "last"
	if _, err := s.EnqueueAll(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
	queuetest.RequireEnqueued(t, s, queue.Task{Kind: "last"})
	said := fails(t, func(tb testing.TB) { queuetest.RequireEnqueued(tb, s, queue.Task{Kind: "none"}) })
	contains(t, said, "250 wait", "and 200 more")
}

func TestMistakesFailTheTest(t *testing.T) {
	t.Parallel()
	said := fails(t, func(tb testing.TB) { queuetest.New(tb).Advance(-time.Second) })
	contains(t, said, "the clock does not go back")
	said = fails(t, func(tb testing.TB) {
		r := queuetest.New(tb)
		r.RunAll(t.Context(), newServer(t, r.Options("mail")))
	})
	contains(t, said, `no handler for queue "mail"`)
	ctx, cancel := context.WithCancel(t.Context())
	said = fails(t, func(tb testing.TB) {
		r := queuetest.New(tb)
		s, n := newServer(t, r.Options("mail")), 0
		s.Handle("k", func(context.Context, queue.Task) error {
			if n++; n == 10 {
				cancel()
			}
			return queue.Snooze(0)
		})
		enqueue(t, s, queue.Task{Kind: "k"})
		r.RunAll(ctx, s)
	})
	contains(t, said, "after 10 runs: context canceled")
}
