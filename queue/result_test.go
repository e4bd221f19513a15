package queue

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/queue/option/result"
)

// TestResultIsKept: what the run that counted gave to SetResult last is there until its time is over.
func TestResultIsKept(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := patient(t)
		s := newServer(t, o)
		want := []byte("a\x00b\r\nc \xff")
		s.Handle("k", func(ctx context.Context, task Task) error {
			if err := SetResult(ctx, []byte("of attempt 1")); err != nil || task.Attempt == 1 {
				return errors.Join(err, errors.New("once more"))
			}
			data := bytes.Clone(want)
			err := SetResult(ctx, data)
			data[0] = 'x'
			return err
		})
		s.Handle("silent", func(context.Context, Task) error { return nil })
		id := enqueue(t, s.Client, Task{Kind: "k", ID: NewID(0), Keep: time.Hour})
		if _, err := s.Result(ctx, id); !errors.Is(err, ErrNotReady) {
			t.Errorf("before it ran: %v", err)
		}
		silent := enqueue(t, s.Client, Task{Kind: "silent", ID: NewID(0), Keep: time.Hour, Limit: &Limit{Key: "a", Max: 1}})
		gone := enqueue(t, s.Client, Task{Kind: "silent", ID: NewID(0)})
		before := o.Client.Time(ctx).Val()
		start(t, s)
		got, err := s.Wait(ctx, id)
		if err != nil || !bytes.Equal(got.Data, want) || got.Completed.Before(before.Truncate(time.Millisecond)) || got.Completed.After(before.Add(time.Minute)) {
			t.Errorf("got %q of %v, %v", got.Data, got.Completed, err)
		}
		kept, err := o.Client.ZScore(ctx, s.keys[0].Of("kept"), id).Result()
		if in := int64(kept) - got.Completed.UnixMilli(); err != nil || in < 3_600_000 || in > 3_600_001 {
			t.Errorf("it is kept for %d ms, %v, want an hour", in, err)
		}
		if got, err := s.Wait(ctx, silent); err != nil || got.Data != nil || got.Completed.IsZero() {
			t.Errorf("no result: %+v, %v", got, err)
		}
		if _, err := s.Wait(ctx, gone); !errors.Is(err, ErrNotFound) {
			t.Errorf("one without Keep: %v", err)
		}
		if info, err := s.Get(ctx, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("it is still a task: %+v, %v", info, err)
		}
		noSlots(t, s.Client)
		// When its time is over it is not there, and the next one that is complete removes it.
		poke(t, o.Client, s.keys[0].Of("kept"), "ZADD", 1, id)
		if _, err := s.Result(ctx, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("kept for too long: %v", err)
		}
		last := enqueue(t, s.Client, Task{Kind: "silent", ID: NewID(0), Keep: time.Hour})
		if _, err := s.Wait(ctx, last); err != nil {
			t.Error(err)
		}
		left, err := o.Client.ZRange(ctx, s.keys[0].Of("kept"), 0, -1).Result()
		results, err2 := o.Client.HKeys(ctx, s.keys[0].Of("results")).Result()
		slices.Sort(left)
		slices.Sort(results)
		both := []string{silent, last}
		slices.Sort(both)
		if err != nil || err2 != nil || !slices.Equal(left, both) || !slices.Equal(results, both) {
			t.Errorf("kept %v, results of %v, %v, %v", left, results, err, err2)
		}
	})
}

// TestResultNeedsTheLease: a run that lost its task leaves nothing, and what does not complete the task neither.
func TestResultNeedsTheLease(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := patient(t)
		c := newClient(t, o)
		id := enqueue(t, c, Task{Kind: "k", ID: NewID(0), Keep: time.Hour})
		r := claimOne(t, c, 0, testTerms)
		done := end(r, complete, 0, "")
		done.outcome.result = []byte("late")
		settle(t, c, end(r, retry, 0, "no"))
		if stale := settle(t, c, done); len(stale) != 1 {
			t.Errorf("%d stale", len(stale))
		}
		if _, err := c.Result(ctx, id); !errors.Is(err, ErrNotReady) {
			t.Errorf("got %v", err)
		}
		settle(t, c, end(claimOne(t, c, 0, testTerms), bury, 0, "no luck"))
		if _, err := c.Wait(ctx, id); !errors.Is(err, ErrDead) || err.Error() != ErrDead.Error()+": no luck" {
			t.Errorf("got %v", err)
		}
		if _, err := c.Cancel(ctx, id); err != nil {
			t.Error(err)
		}
		if _, err := c.Wait(ctx, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("cancelled: %v", err)
		}
		waits := enqueue(t, c, Task{Kind: "k", ID: NewID(0), Delay: time.Hour})
		soon, stop := context.WithTimeout(ctx, 20*time.Millisecond)
		defer stop()
		if _, err := c.Wait(soon, waits); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		for _, unknown := range []string{"p00-x", "p99-x", "x"} {
			if _, err := c.Wait(ctx, unknown); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %v", unknown, err)
			}
		}
	})
}

func TestResultIsChecked(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := patient(t)
		s := newServer(t, o)
		if err := SetResult(ctx, nil); err == nil {
			t.Error("outside of a handler")
		}
		errs := make(chan error, 2)
		s.Handle("k", func(ctx context.Context, task Task) error {
			errs <- SetResult(ctx, make([]byte, result.BytesMax+1))
			return SetResult(ctx, make([]byte, result.BytesMax))
		})
		s.Handle("none", func(ctx context.Context, task Task) error { errs <- SetResult(ctx, nil); return nil })
		id := enqueue(t, s.Client, Task{Kind: "k", Keep: time.Hour})
		enqueue(t, s.Client, Task{Kind: "none"})
		start(t, s)
		for range 2 {
			if err := receive(t, "an error", errs); !errors.Is(err, ErrInvalid) {
				t.Errorf("got %v", err)
			}
		}
		if got, err := s.Wait(ctx, id); err != nil || len(got.Data) != result.BytesMax {
			t.Errorf("%d bytes, %v", len(got.Data), err)
		}
		for _, task := range []Task{{Keep: -1}, {Keep: 91 * 24 * time.Hour}, {Keep: time.Hour, Batch: &Batch{MaxWait: time.Second}}} {
			task.Kind = "k"
			if _, _, err := s.Enqueue(ctx, task); !errors.Is(err, ErrInvalid) {
				t.Errorf("%+v: %v", task, err)
			}
		}
		for _, bad := range []string{"keep", "keep x", "keep 0", "keep -1"} {
			if err := new(Task).parseOptions(bad); err == nil {
				t.Errorf("%q was taken", bad)
			}
		}
	})
}
