package erase

import (
	"context"
	"errors"
	"time"

	"github.com/chatd/chatd/chat"
)

// Kinds of the tasks. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const (
	TaskErase  = "erase"       // Task: an erasure was begun
	TaskForget = "erasure_end" // Task: the record of an erasure has been kept for long enough
	TaskHeld   = "erase_held"  // chat.GroupTask: a legal hold has ended
)

// Task names an erasure.
type Task struct {
	Erasure string `json:"erasure"`
}

const (
	runsMax    = 2                      // erasures that one node carries out at a time
	busyPause  = 500 * time.Millisecond // while it does
	retryPause = 500 * time.Millisecond // the store or the archive is away, or what was read has changed
	recordKeep = 30 * 24 * time.Hour    // how long a report can be had
)

// Handlers are the tasks of erasures, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{
		TaskErase:  chat.Handle(s.carryOut),
		TaskForget: chat.Handle(s.forget),
		TaskHeld:   chat.Handle(s.afterHold),
	}
}

// patiently runs what has to happen however long a store is away.
func (s *Service) patiently(ctx context.Context, do func(context.Context) error) error {
	select {
	case s.runs <- struct{}{}:
		defer func() { <-s.runs }()
	default:
		return chat.Postpone(busyPause, nil)
	}
	err := do(ctx)
	if ctx.Err() == nil && (errors.Is(err, chat.ErrUnavailable) || errors.Is(err, chat.ErrConflict)) {
		s.opt.Log.DebugContext(ctx, "an erasure waits", "error", err)
		return chat.Postpone(retryPause, nil)
	}
	return err
}

// carryOut goes through the phases of an erasure, from the one that it was in.
func (s *Service) carryOut(ctx context.Context, t Task) error {
	return s.patiently(ctx, func(ctx context.Context) error {
		r, err := s.record(ctx, t)
		if err != nil || r.State == Done || r.User == "" {
			return err
		}
		if r.Phase == "edits" || r.Phase == "reactions" { // of an earlier version
			r.Phase, r.Cursor = "others", ""
		}
		e := &eraser{Service: s, record: r, last: chat.IDMax}
		for _, phase := range []struct {
			name string
			run  func(context.Context) error
		}{{"person", e.person}, {"groups", e.groups}, {"archive", e.archived}, {"others", e.others}, {"leave", e.leave}, {"deliveries", e.deliveries}, {"inboxes", e.inboxes}, {"end", e.end}} {
			if e.record.Phase == "" {
				e.record.Phase = phase.name
			}
			if e.record.Phase != phase.name {
				continue
			}
			if err := e.move(ctx, e.record.Cursor); err != nil {
				return err
			}
			if err := phase.run(ctx); err != nil {
				return err
			}
			e.record.Phase, e.record.Cursor = "", ""
		}
		return nil
	})
}

// record reads the erasure that a task names; one that is forgotten has no user.
func (s *Service) record(ctx context.Context, t Task) (Record, error) {
	if !chat.ValidID(t.Erasure) {
		return Record{}, chat.Invalid("a task names no erasure")
	}
	r, err := s.store.Erasure(ctx, t.Erasure)
	if errors.Is(err, chat.ErrNotFound) {
		return Record{}, nil
	}
	return r, err
}

func (s *Service) forget(ctx context.Context, t Task) error {
	r, err := s.record(ctx, t)
	if err != nil || r.User == "" {
		return err
	}
	return s.store.ForgetErasure(ctx, r)
}

// afterHold erases in a group what erasures could not while it was under a legal hold.
func (s *Service) afterHold(ctx context.Context, t chat.GroupTask) error {
	if !chat.ValidGroupID(t.Group) {
		return chat.Invalid("a task names no group")
	}
	return s.patiently(ctx, func(ctx context.Context) error {
		waiting, err := s.store.WaitingErasures(ctx, t.Group)
		if err != nil {
			return err
		}
		for _, w := range waiting {
			r, err := s.record(ctx, Task{Erasure: w.Erasure})
			if err != nil {
				return err
			}
			if err := (&eraser{Service: s, record: r, last: w.Last}).released(ctx, t.Group, w); err != nil {
				return err
			}
		}
		return nil
	})
}
