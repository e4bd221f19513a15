package queue

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/chatd/chatd/queue/option"
	"github.com/chatd/chatd/queue/option/then"
)

func (t *Task) asSuccessor() then.Successor {
	return then.Successor{
		ID: t.ID, Kind: t.Kind, Payload: t.Payload, Priority: t.Priority.String(), DueMs: msOf(t.Due), DelayMs: option.CeilMs(t.Delay),
		Unique: t.Unique, AttemptsMax: min(t.AttemptsMax, math.MaxInt32), DeadlineMs: msOf(t.Deadline), Options: t.optionLines(),
	}
}

// ofSuccessor is the inverse of asSuccessor.
func ofSuccessor(s *then.Successor) (t Task, err error) {
	t = Task{ID: s.ID, Kind: s.Kind, Payload: s.Payload, Unique: s.Unique, AttemptsMax: s.AttemptsMax, Delay: option.Span(s.DelayMs)}
	if s.DueMs > 0 {
		t.Due = time.UnixMilli(s.DueMs)
	}
	if s.DeadlineMs > 0 {
		t.Deadline = time.UnixMilli(s.DeadlineMs)
	}
	if t.Priority, err = ParsePriority(s.Priority); err == nil && s.Options != "" {
		err = t.parseOptions(s.Options[1:])
	}
	return t, err
}

// thenLine is Then as a specification holds it.
func (t *Task) thenLine() string {
	all := make([]then.Successor, len(t.Then))
	for i := range t.Then {
		all[i] = t.Then[i].asSuccessor()
	}
	return then.Line(all)
}

// parseThen is the inverse of thenLine.
func parseThen(value string) (tasks []Task, ok bool) {
	all, ok := then.Parse(value)
	tasks = make([]Task, len(all))
	for i := range all {
		var err error
		tasks[i], err = ofSuccessor(&all[i])
		ok = ok && err == nil
	}
	return tasks, ok
}

// checkThen returns an error that says what is wrong with the successors of a task to be enqueued.
func (t *Task) checkThen(partitions int) error {
	if len(t.Then) > thenMax {
		return fmt.Errorf("%w: then: %d tasks, at most %d", ErrInvalid, len(t.Then), thenMax)
	}
	for i := range t.Then {
		next := &t.Then[i]
		switch {
		case next.Batch != nil:
			return fmt.Errorf("%w: then: a successor joins no batch", ErrInvalid)
		case next.Limit != nil && next.Limit.Busy == Fail:
			return fmt.Errorf("%w: then: a successor cannot be refused: its limit waits or snoozes", ErrInvalid)
		}
		if err := next.check(partitions); err != nil {
			return fmt.Errorf("then: %w", err)
		}
	}
	return nil
}

// nameThen gives the successors of a task their ids, which are in its partition, and checks what they take in all.
func (t *Task) nameThen(partitions int) error {
	if len(t.Then) == 0 {
		return nil
	}
	p, _ := PartitionOf(t.ID)
	named := slices.Clone(t.Then)
	for i := range named {
		next := &named[i]
		if next.ID == "" {
			next.ID = NewID(p)
		}
		if own, _ := PartitionOf(next.ID); own != p || next.Subject != "" && Partition(next.Subject, partitions) != p {
			return fmt.Errorf("%w: then: the id or the subject of a successor is of another partition than p%02d", ErrInvalid, p)
		}
		if err := next.nameThen(partitions); err != nil {
			return err
		}
	}
	t.Then = named
	if n := len(t.thenLine()); n > thenBytesMax {
		return fmt.Errorf("%w: then: the successors take %d bytes, at most %d", ErrInvalid, n, thenBytesMax)
	}
	return nil
}
