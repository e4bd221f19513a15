// Package expiry deletes messages whose time has come: `expires_at`, which the step that stores a message writes into it.
//
// A task waits for each group with such messages, due at the earliest end. It deletes each for everyone, as its author would, by the
// same step as any deletion, so that nothing has to know of another kind of it. What is late is not served meanwhile: see chat.Living. The
// clock of the store decides.
package expiry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
)

// TaskExpire deletes what has to go in a group. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const TaskExpire = "expire"

const (
	pageMax   = 500                    // messages of one step
	runPages  = 20                     // of one run: then other tasks have their turn
	tries     = 20                     // how often a message is read again because it changed meanwhile
	pause     = 500 * time.Millisecond // where something keeps it from being deleted
	failed    = 10 * time.Second       // where that was an error: a group without its task would keep its messages
	askEvery  = 10 * time.Second       // between two looks at the clock of the store
	askedSoon = time.Second            // where it did not answer
)

// Store is the store of what goes. Errors are those of chat.Store.
type Store interface {
	// Due reads which messages of a group have to go by now, in the order of their ends, at most so many. ErrNotFound: this life of it is over.
	Due(ctx context.Context, group, epoch string, limit int) ([]int64, error)
	// Settle forgets the ends of messages that are gone, at most 500, and has the task wait for the next. ErrNotFound as of Due.
	Settle(ctx context.Context, group, epoch string, gone []int64) error
}

// Logs are the logs of groups as they are stored, with what is in the archive: the methods of chat.Store.
type Logs interface {
	Infos(ctx context.Context, user string, groups []string) ([]chat.Info, error)
	Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error)
	Pinned(ctx context.Context, group string, id int64) (chat.Message, error)
	Revise(ctx context.Context, a chat.Append, changes []chat.Change, asAdmin bool) (chat.Appended, error)
}

// Service deletes what has to go. Its methods may be called from many goroutines and on many nodes at a time.
type Service struct {
	store Store
	logs  Logs
	clock *Clock
	log   *slog.Logger
}

// New makes a Service. logs are those as they are stored, with nothing left out.
func New(store Store, logs Logs, clock *Clock, log *slog.Logger) *Service {
	return &Service{store: store, logs: logs, clock: clock, log: log}
}

// Handlers are the tasks of expiry, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{TaskExpire: chat.Patient(s.expire)}
}

// expire deletes what has to go by now, and leaves the rest to the task that it enqueues. A run that is cut off begins again: what
// is deleted already costs it one read.
func (s *Service) expire(ctx context.Context, t chat.GroupTask) error {
	if err := chat.CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	for range runPages {
		due, err := s.store.Due(ctx, t.Group, t.Epoch, pageMax)
		var gone []int64
		if err == nil && len(due) > 0 {
			gone, err = s.deleteAll(ctx, t, due)
		}
		if len(gone) > 0 && len(gone) < len(due) {
			// Where one cannot be deleted, the others are.
			err = errors.Join(s.store.Settle(ctx, t.Group, t.Epoch, gone), err)
		}
		switch {
		case errors.Is(err, chat.ErrNotFound):
			return nil
		case errors.Is(err, chat.ErrConflict):
			return chat.Postpone(pause, nil)
		case err != nil && ctx.Err() == nil && chat.CodeOf(chat.AsError(err)) != chat.CodeUnavailable:
			s.log.ErrorContext(ctx, "messages whose time has come cannot be deleted; trying again", "group", t.Group, "after", failed, "error", err)
			return chat.Postpone(failed, nil)
		case err != nil:
			return err
		}
		if err := s.store.Settle(ctx, t.Group, t.Epoch, gone); err != nil && !errors.Is(err, chat.ErrNotFound) {
			return err
		}
		if len(due) < pageMax {
			return nil
		}
	}
	return chat.Postpone(0, nil)
}

// deleteAll deletes messages, and returns those that are gone.
func (s *Service) deleteAll(ctx context.Context, t chat.GroupTask, ids []int64) (gone []int64, err error) {
	infos, err := s.logs.Infos(ctx, "", []string{t.Group})
	if err != nil {
		return nil, err
	}
	stored, err := s.logs.Entries(ctx, t.Group, ids)
	if err != nil {
		return nil, err
	}
	at := make(map[int64]chat.Message, len(stored))
	for _, m := range stored {
		at[m.ID] = m
	}
	for _, id := range ids {
		m, found := at[id]
		var err error
		if found {
			err = s.delete(ctx, t, m, &infos[0])
		} else {
			err = s.pinned(ctx, t, id, &infos[0])
		}
		for n := 0; errors.Is(err, chat.ErrConflict) && n < tries; n++ {
			err = s.again(ctx, t, id, &infos[0])
		}
		if err != nil && !errors.Is(err, chat.ErrNotFound) {
			return gone, err
		}
		gone = append(gone, id)
	}
	return gone, nil
}

// again deletes a message that has changed since it was read, wherever it is.
func (s *Service) again(ctx context.Context, t chat.GroupTask, id int64, info *chat.Info) error {
	infos, err := s.logs.Infos(ctx, "", []string{t.Group})
	if err != nil {
		return err
	}
	if *info = infos[0]; info.Epoch != t.Epoch {
		return chat.ErrNotFound
	}
	found, err := s.logs.Entries(ctx, t.Group, []int64{id})
	switch {
	case err != nil:
		return err
	case len(found) > 0:
		return s.delete(ctx, t, found[0], info)
	}
	return s.pinned(ctx, t, id, info)
}

// pinned deletes a message that is nowhere but among the pins, or nowhere.
func (s *Service) pinned(ctx context.Context, t chat.GroupTask, id int64, info *chat.Info) error {
	m, err := s.logs.Pinned(ctx, t.Group, id)
	if err != nil {
		return err
	}
	return s.delete(ctx, t, m, info)
}

// delete deletes a message as its author would. ErrNotFound: it is deleted already, or another one.
func (s *Service) delete(ctx context.Context, t chat.GroupTask, m chat.Message, info *chat.Info) error {
	var e chat.Entry
	if err := json.Unmarshal(m.JSON, &e); err != nil {
		return fmt.Errorf("message %d of %s: %w", m.ID, t.Group, err)
	}
	if e.DeletedAt != nil || e.ExpiresAt == nil {
		return chat.ErrNotFound
	}
	deletion := chat.Entry{Group: t.Group, From: e.From, Content: chat.Content{Kind: chat.Delete, Target: m.ID}}
	a := chat.NewAppend(deletion, s.clock.NowMs())
	a.Decided, deletion.SentAt = true, chat.TimeMs(a.SentAtMs)
	below := m.ID >= info.First && m.ID < info.Held
	if below {
		a.Below = &chat.Below{Epoch: info.Epoch, Late: info.Late}
	}
	list := []chat.Message{m}
	if len(m.Edits) > 0 {
		edits, err := s.logs.Entries(ctx, t.Group, m.Edits)
		if err != nil {
			return err
		}
		list = slices.Concat(list, edits)
	}
	var changes []chat.Change
	for i, was := range list {
		var edit chat.Entry
		if i > 0 && (json.Unmarshal(was.JSON, &edit) != nil || edit.Kind != chat.Edit || edit.Target != m.ID) {
			continue // the store may have lost the edit, and have another entry there
		}
		now, err := chat.Applied(was, deletion)
		if err != nil {
			return err
		}
		changes = append(changes, chat.Change{Old: was, New: now})
	}
	done, err := s.logs.Revise(ctx, a, changes, true)
	if err == nil && below {
		info.Late = done.ID
	}
	return err
}

// Clock is the clock of the store, as a node knows it: what it last said, and the time that has passed since by a clock that nobody
// sets.
type Clock struct {
	read func(context.Context) (int64, error)
	last atomic.Pointer[said]
}

// said is what the store said when it was asked at a time.
type said struct {
	ms int64
	at time.Time
}

// NewClock makes a Clock. Until it was asked, it is the clock of the node.
func NewClock(read func(context.Context) (int64, error)) *Clock {
	return &Clock{read: read}
}

// Ask asks the store.
func (c *Clock) Ask(ctx context.Context) error {
	at := time.Now()
	ms, err := c.read(ctx)
	if err == nil {
		c.last.Store(&said{ms, at})
	}
	return err
}

// NowMs is the time by the clock of the store, or a little more: by what the answer took.
func (c *Clock) NowMs() int64 {
	last := c.last.Load()
	if last == nil {
		return time.Now().UnixMilli()
	}
	return last.ms + time.Since(last.at).Milliseconds()
}

// Run asks the store now and then until ctx ends.
func (c *Clock) Run(ctx context.Context) error {
	after := askEvery
	for {
		timer := time.NewTimer(after)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		if after = askEvery; c.Ask(ctx) != nil {
			after = askedSoon
		}
	}
}
