package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
)

// TaskPurge deletes what a user who was banned sent. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const TaskPurge = "purge"

// PurgeTask deletes texts and data that a user sent since a time, up to an id.
type PurgeTask struct {
	Group   string `json:"group"`
	Epoch   string `json:"epoch"`
	User    string `json:"user"`
	By      string `json:"by"`
	Via     string `json:"via"`
	SinceMs int64  `json:"since_ms"`
	ID      int64  `json:"id"`
}

const (
	purgePage  = 100 // entries that a step looks at, a few MiB at most
	purgeSteps = 500 // of one run: then other tasks have their turn
	purgeTries = 20  // how often a page is read again because something in it changed meanwhile
	purgePause = 500 * time.Millisecond
	purgeSkew  = time.Minute // by which the clocks of nodes may differ, so that ids and times have another order
	perRest    = 50          // deletions between two rests
	rest       = 50 * time.Millisecond
)

// Logs are the logs of groups, with what is in the archive: the methods of chat.Store.
type Logs interface {
	Infos(ctx context.Context, user string, groups []string) ([]chat.Info, error)
	Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error)
	Pinned(ctx context.Context, group string, id int64) (chat.Message, error)
	Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]chat.Message, chat.LogEnd, error)
	Revise(ctx context.Context, a chat.Append, changes []chat.Change, asAdmin bool) (chat.Appended, error)
}

// Handlers are the tasks of rules, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{TaskPurge: chat.Patient(s.purge), TaskRequested: chat.Patient(s.requested)}
}

// purge goes from the newest message of a user to older ones. A run that is cut off begins again: what is deleted costs it one read.
func (s *Service) purge(ctx context.Context, t PurgeTask) error {
	if err := chat.CheckTask(t.Group, t.Epoch, t.User); err != nil {
		return err
	}
	if err := s.purgePins(ctx, t); err != nil {
		return err
	}
	for range purgeSteps {
		done, err := s.purgePage(ctx, t)
		for tries := 0; errors.Is(err, chat.ErrConflict) && tries < purgeTries; tries++ {
			done, err = s.purgePage(ctx, t)
		}
		switch {
		case errors.Is(err, chat.ErrConflict):
			return chat.Postpone(purgePause, nil)
		case errors.Is(err, chat.ErrNotFound), err == nil && done:
			return nil
		case err != nil:
			return err
		}
		t.ID -= purgePage
	}
	return s.store.Enqueue(ctx, chat.NewTask{Queue: chat.QueueCore, Kind: TaskPurge, Subject: t.Group, Payload: t, Priority: chat.PriorityNormal,
		Unique: fmt.Sprint(TaskPurge, ":", t.Group, ":", t.Epoch, ":", t.User, ":", t.SinceMs, ":", t.ID)})
}

// purgePins deletes what the user wrote of what is pinned: of that the log may have nothing any longer.
func (s *Service) purgePins(ctx context.Context, t PurgeTask) error {
	pinned, err := s.store.PinsOf(ctx, t.Group, t.User)
	for _, m := range pinned {
		var e chat.Entry
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			return fmt.Errorf("message %d of %s: %w", m.ID, t.Group, err)
		}
		if m.ID > t.ID || e.SentAt.UnixMilli() < t.SinceMs {
			continue
		}
		if err := s.tryDelete(ctx, t, chat.Caller{}, m.ID); err != nil {
			return err
		}
	}
	return err
}

// purgePage deletes what the user wrote of the newest entries up to t.ID. done: there are none before, or they are too old.
func (s *Service) purgePage(ctx context.Context, t PurgeTask) (done bool, err error) {
	from := max(t.ID-purgePage+1, 1)
	if t.ID < from {
		return true, nil
	}
	page, end, err := s.logs.Range(ctx, t.Group, from, int(t.ID-from+1), 0)
	if err != nil || end.Epoch != t.Epoch || len(page) == 0 {
		return true, err
	}
	infos, err := s.logs.Infos(ctx, t.User, []string{t.Group})
	if err != nil {
		return false, err
	}
	deleted := 0
	for _, m := range slices.Backward(page) {
		var e chat.Entry
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			return false, fmt.Errorf("message %d of %s: %w", m.ID, t.Group, err)
		}
		done = e.SentAt.UnixMilli() < t.SinceMs-purgeSkew.Milliseconds()
		if e.From != t.User || e.Kind != chat.Text && e.Kind != chat.Data || e.DeletedAt != nil || e.SentAt.UnixMilli() < t.SinceMs {
			continue
		}
		id, err := s.purgeOne(ctx, t, chat.Caller{}, m, infos[0])
		if errors.Is(err, chat.ErrNotFound) {
			continue // deleted or trimmed meanwhile
		}
		if err != nil {
			return false, err
		}
		if m.ID < infos[0].Held {
			infos[0].Late = id
		}
		if deleted++; deleted%perRest == 0 {
			select {
			case <-time.After(rest): // so that readers of the group are not flooded
			case <-ctx.Done():
				return false, context.Cause(ctx)
			}
		}
	}
	return done || from == 1, nil
}

// Delete deletes a text or data in the name of by, who manages the group by what the caller of it has checked, and need be no member.
// One that is deleted or gone already stays so.
func (s *Service) Delete(ctx context.Context, by chat.Caller, group string, id int64) error {
	return chat.AsError(s.tryDelete(ctx, PurgeTask{Group: group, By: by.User, Via: by.Via}, by, id))
}

// tryDelete deletes a message in the name of t.By, in any life of the group if t has none, however often it changes meanwhile.
func (s *Service) tryDelete(ctx context.Context, t PurgeTask, actor chat.Caller, id int64) error {
	err := error(chat.ErrConflict)
	for tries := 0; errors.Is(err, chat.ErrConflict) && tries < purgeTries; tries++ {
		err = s.deleteOne(ctx, t, actor, id)
	}
	if errors.Is(err, chat.ErrNotFound) {
		return nil
	}
	return err
}

func (s *Service) deleteOne(ctx context.Context, t PurgeTask, actor chat.Caller, id int64) error {
	page, end, err := s.logs.Range(ctx, t.Group, id, 1, 0)
	if err != nil || t.Epoch != "" && end.Epoch != t.Epoch {
		return err
	}
	t.Epoch = end.Epoch
	if len(page) == 0 || page[0].ID != id {
		m, err := s.logs.Pinned(ctx, t.Group, id)
		if err != nil {
			return err
		}
		page = []chat.Message{m}
	}
	var e chat.Entry
	if err := json.Unmarshal(page[0].JSON, &e); err != nil {
		return fmt.Errorf("message %d of %s: %w", id, t.Group, err)
	}
	if e.DeletedAt != nil {
		return nil
	}
	infos, err := s.logs.Infos(ctx, e.From, []string{t.Group})
	if err == nil {
		_, err = s.purgeOne(ctx, t, actor, page[0], infos[0])
	}
	return err
}

// purgeOne deletes a message and its edits in the name of t.By; actor is whom the audit names, or empty: a ban has an entry for all. ErrConflict:
// something has changed since it was read.
func (s *Service) purgeOne(ctx context.Context, t PurgeTask, actor chat.Caller, m chat.Message, info chat.Info) (id int64, err error) {
	deletion := chat.Entry{Group: t.Group, From: t.By, Via: t.Via, Content: chat.Content{Kind: chat.Delete, Target: m.ID}}
	a := chat.NewAppend(deletion, s.core.Options().Now())
	a.Decided, a.Actor, deletion.SentAt = true, actor, chat.TimeMs(a.SentAtMs)
	if m.ID >= info.First && m.ID < info.Held {
		a.Below = &chat.Below{Epoch: info.Epoch, Late: info.Late}
	}
	list := []chat.Message{m}
	if len(m.Edits) > 0 {
		edits, err := s.logs.Entries(ctx, t.Group, m.Edits)
		if err != nil {
			return 0, err
		}
		list = append(list, edits...)
	}
	var changes []chat.Change
	for _, old := range list {
		now, err := chat.Applied(old, deletion)
		if err != nil {
			return 0, err
		}
		changes = append(changes, chat.Change{Old: old, New: now})
	}
	done, err := s.logs.Revise(ctx, a, changes, true)
	return done.ID, err
}
