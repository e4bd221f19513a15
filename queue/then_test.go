package queue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestThenFollows: successors run after the task that they follow, and those of theirs after them.
func TestThenFollows(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		order := make(chan string, 20)
		s.Handle("*", func(_ context.Context, task Task) error {
			if string(task.Payload) == "b" && task.Attempt == 1 {
				return RetryAfter(time.Millisecond, errors.New("once more"))
			}
			order <- string(task.Payload)
			return nil
		})
		step := func(name string, then ...Task) Task {
			return Task{Kind: "k." + name, Payload: []byte(name), Then: then, Priority: High}
		}
		enqueue(t, s.Client, step("a", step("b", step("c"), step("c"), Task{Kind: "k", Payload: []byte("c"), Delay: time.Millisecond})))
		start(t, s)
		var got string
		for range 5 {
			got += receive(t, "a run", order)
		}
		if got != "abccc" {
			t.Errorf("ran in the order %s", got)
		}
		until(t, "all to be done", func() bool { s := stats(t, s.Client); return s.Done == 5 && s.Enqueued == 5 })
	})
}

// TestThenNeedsTheEnd: only the step that completes a task enqueues its successors, and once.
func TestThenNeedsTheEnd(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		tasks := []Task{{Kind: "k", ID: NewID(0), Unique: "u", UniqueUntilEnd: true, Keep: time.Hour, Limit: &Limit{Key: "l", Max: 1}, Then: []Task{
			{Kind: "next", Unique: "u"}, {Kind: "taken", Unique: "other"}, {Kind: "later", Delay: time.Hour}, {Kind: "slot", Limit: &Limit{Key: "l", Max: 1}},
		}}}
		if _, err := c.EnqueueAll(ctx, tasks); err != nil {
			t.Fatal(err)
		}
		then := tasks[0].Then
		for _, next := range then {
			if p, ok := PartitionOf(next.ID); !ok || p != 0 {
				t.Errorf("its id is %q", next.ID)
			}
		}
		r := claimOne(t, c, 0, testTerms)
		if len(r.Then) != 4 || !reflect.DeepEqual(r.Then, then) {
			t.Errorf("claimed with %+v", r.Then)
		}
		settle(t, c, end(r, retry, 0, "no"))
		if stale := settle(t, c, end(r, complete, 0, "")); len(stale) != 1 || stats(t, c).Enqueued != 1 {
			t.Errorf("%d stale, %+v", len(stale), stats(t, c))
		}
		settle(t, c, end(claimOne(t, c, 0, testTerms), bury, 0, "no"))
		if s := stats(t, c); s.Enqueued != 1 || s.Dead != 1 {
			t.Errorf("a dead letter has successors: %+v", s)
		}
		if err := c.Retry(ctx, tasks[0].ID); err != nil {
			t.Error(err)
		}
		other := enqueue(t, c, Task{Kind: "k", ID: NewID(0), Unique: "other", Delay: time.Hour})
		r = claimOne(t, c, 0, testTerms)
		settle(t, c, end(r, complete, 0, ""))
		settle(t, c, end(r, complete, 0, ""))
		s := stats(t, c)
		if s.Enqueued != 5 || s.Done != 1 || s.ReadyAll() != 2 || s.Delayed != 2 {
			t.Errorf("got %+v", s)
		}
		if _, err := c.Get(ctx, then[1].ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("its unique key was taken: %v", err)
		}
		if info := get(t, c, then[2].ID); info.State != Delayed || time.Until(info.Due) < 59*time.Minute {
			t.Errorf("got %+v", info)
		}
		if got := step(t, c, 0, 9, 0, testTerms).runs; !slices.Equal(ids(got), []string{then[0].ID, then[3].ID}) {
			t.Errorf("claimed %v", ids(got))
		}
		_ = other
	})
}

// TestThenOfMany: a batch of outcomes may have thousands of successors.
func TestThenOfMany(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		const n = 100
		for range n {
			enqueue(t, c, Task{Kind: "k", ID: NewID(0), Then: slices.Repeat([]Task{{Kind: "next"}}, thenMax)})
		}
		runs := step(t, c, 0, n, 0, testTerms).runs
		for i, r := range runs {
			runs[i] = end(r, complete, 0, "")
		}
		if stale := settle(t, c, runs...); len(stale) > 0 {
			t.Errorf("%d stale", len(stale))
		}
		if s := stats(t, c); s.Done != n || s.ReadyAll() != n*thenMax {
			t.Errorf("got %+v", s)
		}
	})
}

func TestThenIsChecked(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		deep := Task{Kind: "k"}
		for range 3 {
			deep = Task{Kind: "k", Payload: make([]byte, 20_000), Then: []Task{deep, deep}}
		}
		elsewhere := "a"
		for i := 0; Partition(elsewhere, o.Partitions) == 0 && o.Partitions > 1; i++ {
			elsewhere = fmt.Sprint("b", i)
		}
		bad := [][]Task{
			{{}}, {{Kind: "k", AttemptsMax: -1}}, slices.Repeat([]Task{{Kind: "k"}}, 17), {{Kind: "k", Batch: &Batch{MaxWait: time.Second}}},
			{{Kind: "k", Limit: &Limit{Key: "a", Max: 1, Busy: Fail}}}, {{Kind: "k", Payload: make([]byte, 100_000)}}, {deep},
			{{Kind: "k", Then: []Task{{}}}},
		}
		if o.Partitions > 1 {
			bad = append(bad, []Task{{Kind: "k", ID: NewID(1)}}, []Task{{Kind: "k", Subject: elsewhere}}, []Task{{Kind: "k", Then: []Task{{Kind: "k", ID: NewID(1)}}}})
		}
		for i, then := range bad {
			_, _, err := c.Enqueue(context.Background(), Task{Kind: "k", ID: NewID(0), Then: then})
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "then") {
				t.Errorf("%d: %v", i, err)
			}
		}
		if _, _, err := c.Enqueue(context.Background(), Task{Kind: "k", Batch: &Batch{MaxWait: time.Second}, Then: []Task{{Kind: "k"}}}); !errors.Is(err, ErrInvalid) {
			t.Errorf("of a batch: %v", err)
		}
		for _, bad := range []string{"", "x", "e30", "W10", "W3sicHJpb3JpdHkiOiJ4In1d"} {
			if tasks, ok := parseThen(bad); ok {
				t.Errorf("%q is %+v", bad, tasks)
			}
		}
	})
}

// A successor is stored with all that it asks for.
func TestThenKeepsOptions(t *testing.T) {
	want := Task{
		ID: "p00-x", Kind: "k", Payload: []byte("a\r\n\x00"), Priority: Low, Due: time.UnixMilli(1e12), Delay: time.Second, Unique: "u v",
		UniqueUntilEnd: true, AttemptsMax: 3, Deadline: time.UnixMilli(2e12), Timeout: time.Minute, Keep: time.Hour,
		Limit: &Limit{Key: "a b", Max: 2, Busy: SnoozeFor(time.Second), Hold: true}, Rate: &Rate{Key: "c d", N: 1, Per: time.Second, Burst: 2},
		Then: []Task{{ID: "p00-y", Kind: "l", Unique: "w", UniqueFor: time.Hour}},
	}
	got, ok := parseThen((&Task{Then: []Task{want}}).thenLine())
	if !ok || !reflect.DeepEqual(got, []Task{want}) {
		t.Errorf("got %+v, %v", got, ok)
	}
}
