package queue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// A task's own timeout replaces that of its kind, whichever is longer.
func TestTimeoutOfATaskReplacesThatOfItsKind(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		left := make(chan time.Duration, 1)
		s.HandlePolicy("k", Policy{Timeout: time.Hour}, func(ctx context.Context, _ Task) error {
			end, _ := ctx.Deadline()
			left <- time.Until(end)
			return nil
		})
		start(t, s)
		for _, want := range []time.Duration{time.Minute, 24 * time.Hour, time.Hour} {
			task := Task{Kind: "k", Timeout: want}
			if want == time.Hour {
				task.Timeout = 0
			}
			enqueue(t, s.Client, task)
			if got := receive(t, "a run", left); got > want || got < want-30*time.Second {
				t.Errorf("a run may take %v, want %v", got, want)
			}
		}
	})
}

// An option stands between the unique key and the payload, and neither is taken for it.
func TestUniqueKeyBesideAnOption(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		one := Task{Kind: "k", ID: NewID(0), Unique: "u", Timeout: time.Minute, Payload: []byte("\rtimeout 5\n")}
		enqueue(t, c, one)
		if _, ok, err := c.Enqueue(context.Background(), Task{Kind: "k", ID: NewID(0), Unique: "u"}); ok || err != nil {
			t.Errorf("a second one waits, %v", err)
		}
		got := claimOne(t, c, 0, testTerms)
		if got.Unique != "u" || got.Timeout != time.Minute || string(got.Payload) != string(one.Payload) {
			t.Errorf("got %+v", got)
		}
		if n, err := o.Client.HLen(context.Background(), c.keys[0].Of("unique")).Result(); n != 0 || err != nil {
			t.Errorf("the claim leaves the key, %v", err)
		}
	})
}

// A task with an option of a newer version becomes a dead letter: it must not run as if it had none.
func TestUnknownOptionIsBuried(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for _, lines := range []string{"\rnovel 1", "\rtimeout x", "\rtimeout 0", "\rtimeout"} {
			id := enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
			poke(t, o.Client, c.keys[0].Of("tasks"), "HSET", id, "normal 0 0 1 0 k "+lines+"\n")
			if got := claimOne(t, c, 0, testTerms); got.outcome.verdict != bury {
				t.Errorf("%q: verdict %q", lines, got.outcome.verdict)
			}
		}
	})
}

// A strict queue runs a lower priority only when no higher one waits; the queue beside it shares by weight.
func TestStrictPriorityTakesTheHighestFirst(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Queues = []QueueOptions{{Name: "strict", Workers: 1, Strict: true}, {Name: "shared", Workers: 1}}
		s := newServer(t, o)
		order := map[string]chan Priority{"strict": make(chan Priority, 80), "shared": make(chan Priority, 80)}
		s.Handle("k", func(_ context.Context, task Task) error {
			order[task.Queue] <- task.Priority
			return nil
		})
		for _, name := range []string{"strict", "shared"} {
			mine := o
			mine.Queue = name
			c := newClient(t, mine)
			var tasks []Task
			for _, p := range []Priority{Low, Normal, High, Critical} {
				tasks = append(tasks, slices.Repeat([]Task{{Kind: "k", Subject: "s", Priority: p}}, 20)...)
			}
			if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
				t.Fatal(err)
			}
		}
		start(t, s)
		var strict, shared []Priority
		for range 80 {
			strict = append(strict, receive(t, "a run", order["strict"]))
			shared = append(shared, receive(t, "a run", order["shared"]))
		}
		var want []Priority
		for _, p := range []Priority{Critical, High, Normal, Low} {
			want = append(want, slices.Repeat([]Priority{p}, 20)...)
		}
		if !slices.Equal(strict, want) {
			t.Errorf("strict: got %v", strict)
		}
		if slices.Equal(shared, want) {
			t.Error("the other queue is strict as well")
		}
	})
}

// TestOptionsAreChecked: what is wrong with an option of a task, or with several together.
func TestOptionsAreChecked(t *testing.T) {
	quick := &Batch{Quiet: 1}
	for want, task := range map[string]Task{
		"Timeout is -1":          {Timeout: -1},
		"limit: key":             {Limit: &Limit{Max: 1}},
		"rate: key":              {Rate: &Rate{N: 1, Per: time.Second}},
		"batch: Quiet":           {Batch: &Batch{}},
		"has no limit":           {Limit: &Limit{Key: "a", Max: 1}, Batch: quick},
		"has no rate":            {Rate: &Rate{Key: "a", N: 1, Per: time.Second}, Batch: quick},
		"has no unique key":      {Unique: "u", Batch: quick},
		"due time or delay":      {Delay: 1, Batch: quick},
		"has no deadline":        {Deadline: time.Now(), Batch: quick},
		"leaves no result":       {Keep: time.Second, Batch: quick},
		"has no successors":      {Then: []Task{{Kind: "k"}}, Batch: quick},
		"without a unique key":   {UniqueFor: time.Second},
		"for a time or until":    {Unique: "u", UniqueFor: time.Second, UniqueUntilEnd: true},
		"Keep is":                {Keep: 91 * 24 * time.Hour},
		"successor joins no bat": {Then: []Task{{Kind: "k", Batch: quick}}},
	} {
		task.Kind = "k"
		if err := task.check(1); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
