package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/queue"
)

// Envelope is a kind whose tasks run together.
var Envelope = queue.Kind[Order]{Name: "envelope"}

// handleTogether registers the handlers of tasks that depend on each other.
func (s *shop) handleTogether() {
	Envelope.HandleBatch(s.server, func(_ context.Context, _ []queue.Task, orders []Order) error {
		s.say("%d letters in one envelope", len(orders))
		return nil
	})
	s.server.HandleBatch("parcel", queue.Policy{AttemptsMax: 2}, func(_ context.Context, tasks []queue.Task) error {
		s.say("%d parcel in the van", len(tasks))
		return nil
	})
	var book queue.Mux
	book.Use(func(next queue.Handler) queue.Handler { return next })
	book.HandlePolicy("change", queue.Policy{BackoffMin: time.Millisecond, BackoffMax: time.Millisecond}, s.change)
	book.HandleBatch("sum", queue.Policy{}, func(context.Context, []queue.Task) error { return nil })
	var books queue.Mux
	books.Mount("book.", &book)
	s.server.Mount("", &books)
	s.server.Handle("call", func(context.Context, queue.Task) error {
		s.calls <- time.Now()
		return nil
	})
	s.server.Handle("thank", func(_ context.Context, t queue.Task) error {
		s.say("thanked for %s", t.Payload)
		return nil
	})
}

// change applies one change to an account. The second fails once, and the third waits for it all the same.
func (s *shop) change(ctx context.Context, t queue.Task) error {
	if string(t.Payload) == "rename" && t.Attempt == 1 {
		return errors.New("the pen is dry")
	}
	s.mu.Lock()
	s.changes = append(s.changes, string(t.Payload))
	all := strings.Join(s.changes, ", ")
	s.mu.Unlock()
	return queue.SetResult(ctx, []byte(all))
}

// together sells what takes several tasks.
func (s *shop) together(ctx context.Context) error {
	for _, one := range []func(context.Context) error{s.inOrder, s.takeStock, s.phone, s.pack, s.pay, s.once, s.flyers} {
		if err := one(ctx); err != nil {
			return err
		}
	}
	return nil
}

// inOrder applies the changes of an account one after the other, and waits for what the last has found out.
func (s *shop) inOrder(ctx context.Context) error {
	var tasks []queue.Task
	for _, change := range []string{"open", "rename", "close"} {
		tasks = append(tasks, queue.Task{Kind: "book.change", Payload: []byte(change), Keep: time.Minute, Limit: &queue.Limit{Key: "account 7", Max: 1, Hold: true}})
	}
	if _, err := s.server.EnqueueAll(ctx, tasks); err != nil {
		return err
	}
	last := tasks[2].ID // EnqueueAll has given it one
	if _, err := s.server.Wait(ctx, last); err != nil {
		return err
	}
	result, err := s.server.Result(ctx, last)
	s.say("account 7: %s", result.Data)
	return err
}

// takeStock does, under a lock, what no task may do meanwhile.
func (s *shop) takeStock(ctx context.Context) error {
	slot, err := s.server.Hold(ctx, "stock", 1)
	if err != nil {
		return err
	}
	_, another := s.server.TryHold(ctx, "stock", 1)
	_, _, refused := s.server.Enqueue(ctx, queue.Task{Kind: "thank", Limit: &queue.Limit{Key: "stock", Max: 1, Busy: queue.Fail}})
	s.say("while stock is taken: %v, %v", errors.Is(another, queue.ErrBusy), errors.Is(refused, queue.ErrBusy))
	for _, busy := range []queue.Busy{queue.Wait, queue.SnoozeFor(time.Millisecond)} {
		task := queue.Task{Kind: "thank", Payload: []byte("waiting"), Limit: &queue.Limit{Key: "stock", Max: 1, Busy: busy}}
		if _, _, err := s.server.Enqueue(ctx, task); err != nil {
			return err
		}
	}
	if err := s.until(ctx, func() (bool, error) {
		used, _, err := s.server.Limits(ctx, "", 10)
		for _, l := range used {
			if l.Key == "stock" && l.Held == 1 && l.Waiting == 1 {
				s.say("%s: one has it, one waits", l.Key)
				return true, nil
			}
		}
		return false, err
	}); err != nil {
		return err
	}
	if slot.Context().Err() != nil || slot.Fence() == 0 {
		return fmt.Errorf("the lock was lost: %w", context.Cause(slot.Context()))
	}
	return slot.Release(ctx)
}

// phone makes two calls, at most 50 a second.
func (s *shop) phone(ctx context.Context) error {
	call := queue.Task{Kind: "call", Rate: &queue.Rate{Key: "carrier", N: 50, Per: time.Second, Burst: 1}}
	if _, err := s.server.EnqueueAll(ctx, []queue.Task{call, call}); err != nil {
		return err
	}
	var at [2]time.Time
	for i := range at {
		select {
		case at[i] = <-s.calls:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.say("the second call came later: %v", at[1].After(at[0]))
	return nil
}

// pack puts three letters into one envelope, and looks into it when there are two.
func (s *shop) pack(ctx context.Context) error {
	batch := queue.Batch{Key: "Ada", Max: 3, Bytes: 1 << 20, Quiet: time.Minute, MaxWait: time.Hour}
	for i := range 3 {
		if _, _, err := Envelope.Enqueue(ctx, s.server, Order{Number: i}, queue.Task{Batch: &batch}); err != nil {
			return err
		}
		if i != 1 {
			continue
		}
		waiting, _, err := s.server.List(ctx, queue.ListQuery{State: queue.Delayed})
		if err != nil {
			return err
		}
		for _, one := range waiting {
			if one.Kind == Envelope.Name {
				letters, err := s.server.Batch(ctx, one.ID)
				if err != nil {
					return err
				}
				s.say("%d letters wait", len(letters))
			}
		}
	}
	_, _, err := s.server.Enqueue(ctx, queue.Task{Kind: "parcel", Batch: &queue.Batch{Key: "van", Max: 1, MaxWait: time.Hour}})
	return err
}

// pay has a task follow another.
func (s *shop) pay(ctx context.Context) error {
	_, _, err := s.server.Enqueue(ctx, queue.Task{
		Kind: "thank", Payload: []byte("payment"), Subject: "order 7", Then: []queue.Task{{Kind: "thank", Payload: []byte("order 7")}},
	})
	return err
}

// once shows whose a unique key is, and until when.
func (s *shop) once(ctx context.Context) error {
	for _, unique := range []queue.Task{
		{Kind: "thank", Payload: []byte("a reminder"), Unique: "remind 7", UniqueFor: time.Hour},
		{Kind: "thank", Payload: []byte("an inventory"), Unique: "inventory", UniqueUntilEnd: true, Delay: 50 * time.Millisecond},
	} {
		first, _, err := s.server.Enqueue(ctx, unique)
		if err != nil {
			return err
		}
		holder, again, err := s.server.Enqueue(ctx, unique)
		if err != nil {
			return err
		}
		s.say("%s: again %v, the key is the first one's: %v", unique.Unique, again, holder == first)
	}
	return nil
}

// flyers is called off: all of them run now, or are removed.
func (s *shop) flyers(ctx context.Context) error {
	var tasks []queue.Task
	for i := range 6 {
		tasks = append(tasks, queue.Task{Kind: fmt.Sprint("mail.flyer", i%2), Delay: time.Duration(1+i) * time.Hour})
	}
	if _, err := s.server.EnqueueAll(ctx, tasks); err != nil {
		return err
	}
	for _, query := range []queue.BulkQuery{
		{Act: queue.BulkRun, State: queue.Delayed, Kind: "mail.flyer0", Before: time.Now().Add(4 * time.Hour)},
		{Act: queue.BulkRetry, State: queue.Delayed, Kind: "mail.flyer0"},
		{Act: queue.BulkDelete, State: queue.Delayed, Kind: "mail.flyer1"},
		{Act: queue.BulkDelete, State: queue.Dead, Error: "deadline passed"},
		{Act: queue.BulkRetry, State: queue.Dead, IDs: []string{"p00-flyer"}}, // as someone selected them
	} {
		changed, act := 0, query.Act
		for {
			step, err := s.server.Bulk(ctx, query)
			if err != nil {
				return err
			}
			changed += step.Changed
			if query.Cursor = step.Next; query.Cursor == "" {
				break
			}
		}
		s.say("%s: %d", act, changed)
	}
	return nil
}
