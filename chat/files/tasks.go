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
	}
}

// removeBytes removes the bytes of a file whose record is gone, and then frees the quota of its owner.
func (s *Service) removeBytes(ctx context.Context, t RemovedTask) error {
	if !chat.ValidID(t.Group) || !chat.ValidID(t.File) || !chat.ValidID(t.Owner) {
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
	if !chat.ValidID(t.Group) {
		return chat.Invalid("a task names no valid group")
	}
	for range stepsMax {
		if more, err := step(ctx, t.Group); err != nil || !more {
			return err
		}
	}
	return chat.Errorf(chat.CodeConflict, "more files left to remove than one task handles")
}

// Run compares blobs and records again and again until ctx ends. Each node does it; doing it twice does no harm.
func (s *Service) Run(ctx context.Context) {
	if s.blobs == nil {
		return
	}
	every := time.NewTicker(compareEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if err := s.compare(ctx, letterAt(s.opt.Now())); err != nil && ctx.Err() == nil {
			s.opt.Log.WarnContext(ctx, "files and their records could not be compared", "error", err)
		}
	}
}
