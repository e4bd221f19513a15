package files

import (
	"context"
	"errors"
	"time"

	"github.com/chatd/chatd/chat"
)

// Handlers are the tasks of this package, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{
		TaskRemoved: chat.Patient(s.removeBytes),
		TaskExpire:  chat.Patient(func(ctx context.Context, t GroupTask) error { return s.steps(ctx, t, s.store.ExpireFiles) }),
		TaskGone:    chat.Patient(func(ctx context.Context, t GroupTask) error { return s.steps(ctx, t, s.store.GoneFiles) }),
		TaskCompare: chat.Handle(s.compareSome),
	}
}

// removeBytes removes the bytes of a file whose record is gone, and then frees the quota of its owner.
func (s *Service) removeBytes(ctx context.Context, t RemovedTask) error {
	if !chat.ValidGroupID(t.Group) || !chat.ValidID(t.File) || !chat.ValidUserID(t.Owner) {
		return chat.Invalid("a task names no valid group, file or user")
	}
	if s.blobs == nil { // the record is gone, and the bytes belong to a store that is not configured any longer
		return s.store.ReleaseFile(ctx, t.Owner, t.File)
	}
	if err := errors.Join(s.blobs.Remove(ctx, previewOf(t.File)), s.blobs.Remove(ctx, t.File)); err != nil {
		s.opt.Log.WarnContext(ctx, "the bytes of a removed file are still there; the task comes again", "error", err)
		return chat.Postpone(time.Minute, nil)
	}
	return s.store.ReleaseFile(ctx, t.Owner, t.File)
}

// steps repeats a step on a group until nothing is left.
func (s *Service) steps(ctx context.Context, t GroupTask, step func(context.Context, string) (more bool, err error)) error {
	if !chat.ValidGroupID(t.Group) {
		return chat.Invalid("a task names no valid group")
	}
	for range stepsMax {
		if more, err := step(ctx, t.Group); err != nil || !more {
			return err
		}
	}
	return chat.Errorf(chat.CodeConflict, "more files left to remove than one task handles")
}

// Periodic are the recurring tasks, if several nodes share the work. A node that is the only one has Run instead.
func (s *Service) Periodic() []chat.PeriodicTask {
	if s.blobs == nil || s.opt.Sole {
		return nil
	}
	return []chat.PeriodicTask{{Kind: TaskCompare, Every: compareEvery, Payload: CompareTask{}}}
}

// Run compares blobs and records until ctx ends, at once and then each hour, if this node is the only one.
func (s *Service) Run(ctx context.Context) {
	if s.blobs == nil || !s.opt.Sole {
		return
	}
	every := time.NewTicker(compareEvery)
	defer every.Stop()
	for s.compareSome(ctx, CompareTask{}) == nil {
		select {
		case <-ctx.Done():
		case <-every.C:
		}
	}
}

// compareSome compares a part of the blobs and records, another one each hour. What fails is tried again when its turn comes.
func (s *Service) compareSome(ctx context.Context, _ CompareTask) error {
	if s.blobs == nil {
		return nil // files were switched off since
	}
	if err := s.compare(ctx, letterAt(s.opt.Now())); err != nil && ctx.Err() == nil {
		s.opt.Log.WarnContext(ctx, "files and their records could not be compared", "error", err)
	}
	return ctx.Err()
}
