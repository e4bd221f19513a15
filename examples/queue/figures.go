package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/queue"
)

// look shows what can be known of a queue that is at work.
func (s *shop) look(ctx context.Context) error {
	id := queue.WithAccount(queue.NewID(queue.Partition("ada", 2)), "ada")
	if _, _, err := s.server.Enqueue(ctx, queue.Task{ID: id, Kind: "thank", Delay: time.Hour}); err != nil {
		return err
	}
	accounts, err := s.server.Accounts(ctx)
	if err != nil {
		return err
	}
	if _, err := s.server.Cancel(ctx, id); err != nil {
		return err
	}
	partition, known := queue.PartitionOf(id)
	s.say("of ada: %d task in partition %d, %v", accounts["ada"].Tasks, partition, known && partition == queue.Partition("ada", 2))
	kinds, err := s.server.Serving(ctx)
	if err != nil {
		return err
	}
	s.say("served: %q", kinds)
	critical, err := queue.ParsePriority("critical")
	s.say("priorities have names: %v", critical == queue.Critical && queue.Low.String() == "low")
	return err
}

// plan declares a periodic task, in code and beside it, and pauses it.
func (s *shop) plan() error {
	return s.server.Periodic(queue.Periodic{
		ID: "tidy", Every: 24 * time.Hour, Kind: "thank", Payload: []byte("tidying"), Misfire: queue.MisfireSkip, With: queue.Task{Unique: "tidy"},
	})
}

func (s *shop) pausePlan(ctx context.Context) error {
	if err := s.until(ctx, func() (bool, error) { // Run declares it
		_, err := s.server.GetPeriodic(ctx, "tidy")
		if errors.Is(err, queue.ErrNotFound) {
			return false, nil
		}
		return true, err
	}); err != nil {
		return err
	}
	if err := s.server.PausePeriodic(ctx, "tidy"); err != nil {
		return err
	}
	paused, err := s.server.GetPeriodic(ctx, "tidy")
	s.say("tidy is paused: %v", paused.Paused)
	return errors.Join(err, s.server.ResumePeriodic(ctx, "tidy"), s.server.DeletePeriodic(ctx, "tidy"))
}

// mistakes are found at start, or by the first call.
func (s *shop) mistakes(ctx context.Context, o queue.Options) error {
	idle, err := queue.New(o)
	if err != nil {
		return err
	}
	s.say("without a handler: %v", errors.Is(idle.Run(ctx), queue.ErrNoHandler))
	recorded, err := queue.CheckPartitions(ctx, o.Client, o.Prefix, 0)
	if err != nil {
		return err
	}
	o.Partitions = recorded + 1
	other, err := queue.NewClient(o)
	if err != nil {
		return err
	}
	_, _, wrong := other.Enqueue(ctx, queue.Task{Kind: "thank"})
	_, _, invalid := s.server.Enqueue(ctx, queue.Task{})
	s.say("with %d partitions for %d: %v; without a kind: %v", o.Partitions, recorded, errors.Is(wrong, queue.ErrPartitions), errors.Is(invalid, queue.ErrInvalid))
	return nil
}

// today counts what was done, when the server has stopped.
func (s *shop) today(ctx context.Context) error {
	days, err := s.server.Days(ctx, 2)
	sums := map[string]queue.DayTotals{}
	for _, d := range days { // two of them around midnight
		sum := sums[d.Kind]
		sum.Done, sum.Failed, sum.Buried = sum.Done+d.Done, sum.Failed+d.Failed, sum.Buried+d.Buried
		sums[d.Kind] = sum
	}
	change := sums["book.change"]
	s.say("book.change: %d done, %d failed", change.Done, change.Failed)
	if len(days) == 0 {
		err = errors.Join(err, fmt.Errorf("no totals"))
	}
	return err
}
