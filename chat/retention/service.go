package retention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/chatd/chatd/chat"
)

const (
	day       = 24 * time.Hour
	every     = 10 * time.Minute // between two runs for a group: with it, what is too old is gone a quarter of an hour later
	awayPause = time.Minute      // while the store or the archive cannot be reached
	delayMax  = 30 * day         // of a task: those of deleted groups do not wait for years
	pageMax   = 200              // entries whose age is looked at in a step, some 6 MiB at most
	runSteps  = 500              // steps of one run of a task: then other groups have their turn
)

// Options of a Service.
type Options struct {
	Days int64 // after how many days the messages of all groups go; 0: never
	Log  *slog.Logger
}

// Service removes messages because of their age. Its methods may be called from many goroutines and on many nodes at a time:
// every step may be repeated.
type Service struct {
	store   Store
	archive Archive // nil: there is none
	opt     Options
}

// New makes a Service. archive is nil where there is none.
func New(store Store, archive Archive, opt Options) *Service {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{store: store, archive: archive, opt: opt}
}

// Handlers are the tasks of retention, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{TaskRetain: chat.Handle(s.retain), TaskWalk: chat.Handle(s.walk)}
}

// Switch records at the start of a node after how many days messages go. Where that is new, a task makes every group follow.
func (s *Service) Switch(ctx context.Context) error {
	followed, err := s.store.RecordRetention(ctx, s.opt.Days)
	if err != nil || followed {
		return err
	}
	s.opt.Log.InfoContext(ctx, "how long messages are kept has changed", "days", s.opt.Days)
	return s.store.Enqueue(ctx, chat.NewTask{Queue: chat.QueueCore, Kind: TaskWalk, Subject: TaskWalk, Payload: WalkTask{&s.opt.Days},
		Priority: chat.PriorityLow, Unique: fmt.Sprint(TaskWalk, ":", s.opt.Days)})
}

// walk enqueues the task of every group. A run that is cut off begins again: what it enqueued is not enqueued twice.
func (s *Service) walk(ctx context.Context, t WalkTask) error {
	if t.Days == nil {
		return chat.Invalid("a task names no number of days")
	}
	days, err := s.store.RetentionDays(ctx)
	for cursor := uint64(0); err == nil; {
		var groups []string
		if groups, cursor, err = s.store.GroupIDs(ctx, cursor); err == nil {
			err = s.store.PlanRetention(ctx, groups)
		}
		if err == nil && cursor == 0 {
			err = s.store.RetentionWalked(ctx, days)
			break
		}
	}
	return patient(ctx, err)
}

// patient waits for a store or an archive that cannot be reached, and passes on any other error.
func patient(ctx context.Context, err error) error {
	if ctx.Err() == nil && chat.CodeOf(err) == chat.CodeUnavailable {
		return chat.Postpone(awayPause, nil)
	}
	return err
}

// retain removes what is too old in a group, and has the task come again when the next message is due. A run that fails comes
// again too, whatever failed: a group without its task would keep its messages for ever.
func (s *Service) retain(ctx context.Context, t Task) error {
	if err := chat.CheckTask(t.Group, t.Epoch); err != nil || t.Days < 1 {
		return errors.Join(err, chat.Invalid("a task names no number of days"))
	}
	after, err := s.expire(ctx, t)
	switch {
	case errors.Is(err, errOver):
		return nil
	case err != nil && ctx.Err() == nil && chat.CodeOf(err) != chat.CodeUnavailable:
		s.opt.Log.ErrorContext(ctx, "old messages cannot be removed; trying again", "group", t.Group, "after", every, "error", err)
		after = every
	case err != nil:
		return patient(ctx, err)
	}
	return patient(ctx, s.store.Enqueue(ctx, chat.NewTask{Queue: chat.QueueCore, Kind: TaskRetain, Subject: t.Group, Payload: t,
		Priority: chat.PriorityLow, Delay: after, Unique: fmt.Sprint(TaskRetain, ":", t.Group, ":", t.Epoch, ":", t.Days)}))
}

// errOver says that a task has nothing left to do: another one does it, or will when the legal hold ends, or nobody has to.
var errOver = errors.New("over")

// expire removes what is too old, and says after how long to come again.
func (s *Service) expire(ctx context.Context, t Task) (after time.Duration, err error) {
	for range runSteps {
		a, err := s.store.Aging(ctx, t.Group)
		switch {
		case errors.Is(err, chat.ErrNotFound):
			return 0, errOver
		case err != nil:
			return 0, err
		case a.Epoch != t.Epoch || a.Days != t.Days || a.OnHold:
			return 0, errOver
		}
		keep := time.Duration(a.Days) * day
		pinned, err := s.pinned(ctx, t, a)
		if err != nil {
			return 0, err
		}
		old, oldest, err := s.old(ctx, t.Group, a, a.Now.Add(-keep))
		if oldest.After(pinned) {
			oldest = pinned
		}
		switch {
		case errors.Is(err, chat.ErrConflict):
			continue
		case err != nil:
			return 0, err
		case old.ID == 0:
			// What is sent from now on is due later than in keep.
			return min(max(oldest.Add(keep).Sub(a.Now), every), delayMax), s.forget(ctx, t, a)
		}
		first, err := s.store.Expire(ctx, t.Group, t.Epoch, t.Days, old.ID, old.Mark)
		switch {
		case errors.Is(err, chat.ErrNotFound), chat.IsHeld(err):
			return 0, errOver
		case errors.Is(err, chat.ErrConflict):
		case err != nil:
			return 0, err
		case first == a.First: // the archive does not have them yet
			return every, s.forget(ctx, t, a)
		}
	}
	return 0, nil
}

// pinned unpins what is too old, and says when the oldest message that is still pinned was sent; the clock's time where none is. The log
// may have trimmed that, and nothing older.
func (s *Service) pinned(ctx context.Context, t Task, a Aging) (oldest time.Time, err error) {
	if a.Pins {
		oldest, err = s.store.ExpirePins(ctx, t.Group, t.Epoch, t.Days)
	}
	if errors.Is(err, chat.ErrNotFound) || chat.IsHeld(err) {
		err = errOver
	}
	if oldest.IsZero() {
		oldest = a.Now
	}
	return oldest, err
}

// old is the newest entry of the beginning of a log that was sent before a time together with all below it, among so many as
// one step looks at; an ID of 0: there is none. oldest is when the first that is left was sent; the clock's time where none is.
func (s *Service) old(ctx context.Context, group string, a Aging, before time.Time) (old chat.Message, oldest time.Time, err error) {
	if a.First > a.Last {
		return old, a.Now, nil
	}
	if a.Archived && s.archive == nil {
		return old, a.Now, chat.ErrUnavailable // another node has the archive
	}
	messages, end, err := s.store.Range(ctx, group, a.First, pageMax, 0)
	if err == nil && end.Epoch != a.Epoch {
		err = chat.ErrConflict
	}
	if err != nil {
		return old, a.Now, err
	}
	for _, m := range messages {
		var e struct {
			SentAt chat.Time `json:"sent_at"`
		}
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			return old, a.Now, fmt.Errorf("message %d of %s: %w", m.ID, group, err)
		}
		if !e.SentAt.Before(before) {
			return old, e.SentAt.Time, nil
		}
		old = m
	}
	return old, a.Now, nil
}

// forget deletes from the archive what cannot be reached there any longer.
func (s *Service) forget(ctx context.Context, t Task, a Aging) error {
	if !a.Archived || s.archive == nil {
		return nil
	}
	return s.archive.Forget(ctx, t.Group, t.Epoch, a.First)
}
