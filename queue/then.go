package queue

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// successor is a task of Then as the specification of the one before it holds it.
type successor struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Payload     []byte `json:"payload,omitempty"`
	Priority    string `json:"priority"`
	DueMs       int64  `json:"due_ms,omitempty"`
	DelayMs     int64  `json:"delay_ms,omitempty"`
	Unique      string `json:"unique,omitempty"`
	AttemptsMax int    `json:"attempts_max,omitempty"`
	DeadlineMs  int64  `json:"deadline_ms,omitempty"`
	Options     string `json:"options,omitempty"`
}

func (t *Task) asSuccessor() successor {
	return successor{
		ID: t.ID, Kind: t.Kind, Payload: t.Payload, Priority: t.Priority.String(), DueMs: msOf(t.Due), DelayMs: ceilMs(t.Delay),
		Unique: t.Unique, AttemptsMax: min(t.AttemptsMax, math.MaxInt32), DeadlineMs: msOf(t.Deadline), Options: t.optionLines(),
	}
}

// task is the inverse of asSuccessor.
func (s *successor) task() (t Task, err error) {
	t = Task{ID: s.ID, Kind: s.Kind, Payload: s.Payload, Unique: s.Unique, AttemptsMax: s.AttemptsMax, Delay: span(s.DelayMs)}
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

// thenLine is Then as a specification holds it: JSON in base64, which has no line breaks.
func (t *Task) thenLine() string {
	all := make([]successor, len(t.Then))
	for i := range t.Then {
		all[i] = t.Then[i].asSuccessor()
	}
	text, _ := json.Marshal(all) // strings, bytes and numbers always can be
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseThen parses what thenLine returns.
func parseThen(value string) (tasks []Task, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(value)
	var all []successor
	if err != nil || json.Unmarshal(text, &all) != nil || len(all) == 0 {
		return nil, false
	}
	tasks = make([]Task, len(all))
	for i := range all {
		if tasks[i], err = all[i].task(); err != nil {
			return nil, false
		}
	}
	return tasks, true
}

// checkThen returns an error that says what is wrong with the successors of a task to be enqueued.
func (t *Task) checkThen(partitions int) error {
	if len(t.Then) > thenMax {
		return fmt.Errorf("%w: then: %d tasks, at most %d", ErrInvalid, len(t.Then), thenMax)
	}
	if len(t.Then) > 0 && t.Batch != nil {
		return fmt.Errorf("%w: then: a task in a batch has no successors", ErrInvalid)
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
	then := make([]Task, len(t.Then))
	copy(then, t.Then)
	for i := range then {
		if then[i].ID == "" {
			then[i].ID = NewID(p)
		}
		if own, _ := PartitionOf(then[i].ID); own != p || then[i].Subject != "" && Partition(then[i].Subject, partitions) != p {
			return fmt.Errorf("%w: then: the id or the subject of a successor is of another partition than p%02d", ErrInvalid, p)
		}
		if err := then[i].nameThen(partitions); err != nil {
			return err
		}
	}
	t.Then = then
	if n := len(t.thenLine()); n > thenBytesMax {
		return fmt.Errorf("%w: then: the successors take %d bytes, at most %d", ErrInvalid, n, thenBytesMax)
	}
	return nil
}
