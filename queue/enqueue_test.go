package queue

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEnqueueKeepsEverything(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		in := Task{Kind: "mail", Payload: []byte("a\nb \x00 c"), Priority: High, Unique: "key with blank", Subject: "ada", AttemptsMax: 7,
			Timeout: time.Minute}
		id := enqueue(t, c, in)
		p, ok := PartitionOf(id)
		if !ok || p != Partition("ada", o.Partitions) {
			t.Fatalf("id %q is not in the partition of its subject", id)
		}
		got := claimOne(t, c, p, testTerms)
		if got.ID != id || got.Kind != in.Kind || string(got.Payload) != string(in.Payload) || got.Priority != High ||
			got.Unique != in.Unique || got.AttemptsMax != 7 || got.Timeout != time.Minute || got.Attempt != 1 || got.Enqueued.IsZero() || got.LastError != "" {
			t.Errorf("got %+v", got)
		}
		if s := stats(t, c); s.Leased != 1 || s.Enqueued != 1 {
			t.Errorf("got %+v", s)
		}
	})
}

// Times and limits as large as their types allow.
func TestEnqueueTakesTheLargestNumbers(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		enqueue(t, c, Task{Kind: "k", ID: NewID(0), Delay: math.MaxInt64})
		enqueue(t, c, Task{Kind: "k", ID: NewID(0), Due: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
		if got := step(t, c, 0, 2, overdueMax, testTerms); len(got.runs) != 0 || got.wait < pollMax {
			t.Errorf("claimed %v, the next in %v", ids(got.runs), got.wait)
		}
		deadline := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
		id := enqueue(t, c, Task{Kind: "k", ID: NewID(0), AttemptsMax: math.MaxInt, Deadline: deadline})
		got := claimOne(t, c, 0, testTerms)
		if got.ID != id || got.outcome.verdict != "" || got.AttemptsMax != math.MaxInt32 || !got.Deadline.Equal(deadline) {
			t.Errorf("got %+v", got)
		}
		if left := time.Until(got.deadline); left < 200*365*24*time.Hour {
			t.Errorf("its deadline is in %v", left)
		}
	})
}

func TestEnqueueRefusesBeforeItWrites(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for _, bad := range []Task{
			{}, {Kind: "two words"}, {Kind: strings.Repeat("k", 257)}, {Kind: "ü"}, {Kind: "k", Unique: "a\nb"},
			{Kind: "k", Priority: 4}, {Kind: "k", ID: "mine"}, {Kind: "k", ID: "p99-x"}, {Kind: "k", ID: "p00-"}, {Kind: "k", AttemptsMax: -1},
			{Kind: "k", Unique: "a\rb"}, {Kind: "k", Timeout: -1}, {Kind: "k", UniqueUntilEnd: true},
		} {
			if _, err := c.EnqueueAll(context.Background(), []Task{{Kind: "good"}, bad}); err == nil {
				t.Errorf("%+v was taken", bad)
			}
		}
		if s := stats(t, c); s.Enqueued != 0 {
			t.Errorf("got %+v", s)
		}
	})
}

func TestSameIDIsEnqueuedOnce(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		id := NewID(0)
		got, err := c.EnqueueAll(context.Background(), []Task{{Kind: "k", ID: id}, {Kind: "k", ID: id}})
		if err != nil || !slices.Equal(got, []bool{true, false}) {
			t.Fatalf("got %v, %v", got, err)
		}
		settle(t, c, end(claimOne(t, c, 0, testTerms), bury, 0, "no"))
		if _, ok, err := c.Enqueue(context.Background(), Task{Kind: "k", ID: id}); ok || err != nil {
			t.Errorf("the id of a dead task was taken: %v", err)
		}
	})
}

func TestUniqueCoalescesUntilClaimed(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		task := Task{Kind: "k", Unique: "u", Subject: "s"}
		p := Partition("s", o.Partitions)
		waiting := func(want bool) {
			t.Helper()
			if _, ok, err := c.Enqueue(context.Background(), task); ok == want || err != nil {
				t.Errorf("enqueued %v, %v", ok, err)
			}
		}
		enqueue(t, c, task)
		waiting(true)
		first := claimOne(t, c, p, testTerms)
		second := enqueue(t, c, task) // while the first runs
		waiting(true)
		// The first fails and is claimed again: the key belongs to the second and stays with it.
		settle(t, c, end(first, retry, 0, "once more"))
		got := step(t, c, p, 1, overdueMax, testTerms)
		if len(got.runs) != 1 || got.runs[0].ID != second {
			t.Fatalf("claimed %v, want the second", ids(got.runs))
		}
		third := enqueue(t, c, task)
		if again := claimOne(t, c, p, testTerms); again.ID != first.ID {
			t.Fatalf("claimed %v, want the first again", again.ID)
		}
		waiting(true)
		if last := claimOne(t, c, p, testTerms); last.ID != third {
			t.Fatalf("claimed %v, want the third", last.ID)
		}
		waiting(false)
	})
}

// A task that is not enqueued because its id exists does not take its unique key either.
func TestKnownTaskTakesNoUniqueKey(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c, id := newClient(t, o), NewID(0)
		known := []Task{{Kind: "k", ID: id, Unique: "first"}, {Kind: "k", ID: id, Unique: "second"}}
		put, err := c.EnqueueAll(context.Background(), known) // known within the batch
		if want := []bool{true, false}; err != nil || !slices.Equal(put, want) {
			t.Fatalf("put in %v, %v, want %v", put, err, want)
		}
		if _, ok, err := c.Enqueue(context.Background(), Task{Kind: "k", ID: id, Unique: "third"}); ok || err != nil {
			t.Fatalf("put in %v, %v, want false", ok, err)
		}
		for _, key := range []string{"second", "third"} {
			if _, ok, err := c.Enqueue(context.Background(), Task{Kind: "k", ID: NewID(0), Unique: key}); !ok || err != nil {
				t.Errorf("the key %q is free: put in %v, %v, want true", key, ok, err)
			}
		}
		if _, ok, err := c.Enqueue(context.Background(), Task{Kind: "k", ID: NewID(0), Unique: "first"}); ok || err != nil {
			t.Errorf("the key of the task that waits: put in %v, %v, want false", ok, err)
		}
	})
}

func TestFirstInFirstOut(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		tasks := make([]Task, 600)
		for i := range tasks {
			tasks[i] = Task{Kind: "k", Subject: "s", Priority: Low}
		}
		if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		var got []string
		for len(got) < len(tasks) {
			s := step(t, c, Partition("s", o.Partitions), claimMax, 0, testTerms)
			if want := int64(len(tasks) - len(got) - len(s.runs)); s.left != want || len(s.runs) == 0 {
				t.Fatalf("%d claimed, %d left, want %d", len(s.runs), s.left, want)
			}
			got = append(got, ids(s.runs)...)
		}
		for i := range tasks {
			if got[i] != tasks[i].ID {
				t.Fatalf("task %d: got %s, want %s", i, got[i], tasks[i].ID)
			}
		}
	})
}

func TestPrioritiesShareByWeight(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		var tasks []Task
		for _, p := range priorities {
			for range 60 {
				tasks = append(tasks, Task{Kind: "k", Subject: "s", Priority: p})
			}
		}
		if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		p := Partition("s", o.Partitions)
		count := func(n int) (by [4]int) {
			for _, task := range step(t, c, p, n, 0, testTerms).runs {
				by[slices.Index(priorities[:], task.Priority)]++
			}
			return by
		}
		if got, want := count(1), [4]int{1, 0, 0, 0}; got != want {
			t.Errorf("the first of all: got %v, want %v", got, want)
		}
		if got, want := count(60), [4]int{32, 16, 8, 4}; got != want {
			t.Errorf("four rounds: got %v, want %v", got, want)
		}
		// 27 critical ones are left; their turns go to high when they are gone.
		if got, want := count(60), [4]int{27, 21, 8, 4}; got != want {
			t.Errorf("the next 60: got %v, want %v", got, want)
		}
	})
}

// Tasks without a subject go to one partition for a moment, so that their callers share calls, and to all over time.
func TestTasksWithoutSubjectShareAPartition(t *testing.T) {
	const partitions, moments = 16, 4000
	o := options(connect(t, startRedis(t)), partitions)
	a, b := newClient(t, o), newClient(t, o)
	began := time.Now().Truncate(spreadEvery)
	got, differ := map[int]int{}, 0
	for i := range moments {
		at := began.Add(time.Duration(i) * spreadEvery)
		p := a.partitionAt(at)
		got[p]++
		if late := a.partitionAt(at.Add(spreadEvery - 1)); late != p {
			t.Errorf("moment %d: partition %d, and %d at its end", i, p, late)
		}
		if b.partitionAt(at) != p {
			differ++
		}
	}
	for p := range partitions {
		if n := got[p]; n < moments/partitions/2 || n > moments/partitions*2 {
			t.Errorf("partition %d has %d of %d moments", p, n, moments)
		}
	}
	if differ < moments/2 {
		t.Errorf("two clients choose the same partition in %d of %d moments", moments-differ, moments)
	}

	tasks := make([]Task, 2*enqueueMax+1)
	for i := range tasks {
		tasks[i] = Task{Kind: "k"}
	}
	if _, err := a.EnqueueAll(context.Background(), tasks); err != nil {
		t.Fatal(err)
	}
	used := map[int]bool{}
	for _, one := range tasks {
		p, _ := PartitionOf(one.ID)
		used[p] = true
	}
	if len(used) > 3 {
		t.Errorf("%d tasks went to %d partitions, want 3 at most", len(tasks), len(used))
	}
}
