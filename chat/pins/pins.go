// Package pins is what is pinned in groups. The group keeps a pinned message as it reads now, so that it is there whole where the log
// has trimmed it: whatever changes a message changes that in the same step.
package pins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/each"
)

const putTries = 5 // of a message that keeps changing

// Pin is a message that is pinned in a group. Of one that was deleted, that is left which is left in the log.
type Pin struct {
	Message chat.MessageView
	By      string // who pinned it; empty: somebody who is erased
	At      chat.Time
}

// Put is a pin to be kept.
type Put struct {
	By       chat.Caller
	Group    string
	Was      chat.Message // as it was read
	Below    *chat.Below  // it is in the archive
	Author   string
	SentAtMs int64
	AtMs     int64
	Notice   chat.NoticeEntry
}

// Store keeps pins. Every method is one atomic step and may be repeated. Errors are those of chat.Store.
type Store interface {
	// PutPin pins a message, unless it is pinned. ErrConflict: it has changed since it was read. CodeConflict, too: Limits.GroupPinsMax
	// are pinned.
	PutPin(ctx context.Context, p Put) error
	// DropPin unpins a message, if it is pinned.
	DropPin(ctx context.Context, by chat.Caller, group string, id, atMs int64, notice chat.NoticeEntry) error
	// PinPage reads a page of the pins that user may see, the newest first, with those reactions that the store itself holds. after is next
	// of the page before.
	PinPage(ctx context.Context, group, user, after string, limit, bytesMax int) (list []Pin, next string, err error)
}

// Logs are the logs of groups, with what is in the archive.
type Logs interface {
	// Entries is that of chat.LogStore.
	Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error)
	// Pinned is that of chat.LogStore.
	Pinned(ctx context.Context, group string, id int64) (chat.Message, error)
	// Reactions is that of chat.LogStore.
	Reactions(ctx context.Context, group, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error)
}

// Service pins messages. It may be used from many goroutines.
type Service struct {
	core  *chat.Service
	store Store
	logs  Logs
}

// New makes a Service. logs are those that the core serves.
func New(core *chat.Service, store Store, logs Logs) *Service { return &Service{core, store, logs} }

// Pin pins a text or data of a group, if it is not pinned: its owner, admins, operators, and where Group.Pins says so, members who may
// write. CodeConflict: Limits.GroupPinsMax are pinned.
func (s *Service) Pin(ctx context.Context, by chat.Caller, group string, id int64) (err error) {
	if err := cmp.Or(chat.CheckGroup(by, group), checkID(id)); err != nil {
		return err
	}
	for range putTries {
		if err = s.pin(ctx, by, group, min(id, chat.IDMax)); !changed(err) {
			break
		}
	}
	return err
}

// changed tells that a message has changed since it was read, and not another conflict.
func changed(err error) bool {
	var e *chat.Error
	return errors.As(err, &e) && e == chat.ErrConflict
}

func checkID(id int64) error {
	if id < 1 {
		return chat.Invalid("id: must be at least 1")
	}
	return nil
}

// pinner reads a group in which by may pin. The store decides the same again at the instant of the write; the check here decides what the
// answer says.
func (s *Service) pinner(ctx context.Context, by chat.Caller, group string) (chat.Info, error) {
	if by.Admin {
		return s.core.Managed(ctx, by, group)
	}
	info, err := s.core.MayRead(ctx, by, group)
	switch {
	case err != nil || info.Role.Manages():
		return info, err
	case info.Pins != chat.PinMembers:
		return chat.Info{}, chat.ErrManagersOnly
	}
	return s.core.MayPost(ctx, by, group)
}

func (s *Service) pin(ctx context.Context, by chat.Caller, group string, id int64) error {
	info, err := s.pinner(ctx, by, group)
	if err != nil {
		return err
	}
	p := Put{By: by, Group: group, AtMs: s.core.Options().Now()}
	if p.Was, err = s.message(ctx, info, id); err != nil {
		return chat.AsError(err)
	}
	var e chat.Entry
	if err := json.Unmarshal(p.Was.JSON, &e); err != nil {
		return chat.AsError(fmt.Errorf("message %d of %s: %w", id, group, err))
	}
	switch {
	case e.DeletedAt != nil:
		return chat.ErrNotFound
	case e.Kind != chat.Text && e.Kind != chat.Data:
		return chat.Invalid("id: only text and data can be pinned")
	}
	if id >= info.First && id < info.Held {
		p.Below = &chat.Below{Epoch: info.Epoch, Late: info.Late}
	}
	p.Author, p.SentAtMs, p.Notice = e.From, e.SentAt.UnixMilli(), notice(by, group, p.AtMs, chat.NoticePinned, id)
	return chat.AsError(s.store.PutPin(ctx, p))
}

// message reads a message of a group: of its log, or of its pins, where the log has trimmed it.
func (s *Service) message(ctx context.Context, info chat.Info, id int64) (chat.Message, error) {
	if info.Role != "" && id < info.Hidden() {
		return chat.Message{}, chat.ErrNotFound
	}
	found, err := s.logs.Entries(ctx, info.ID, []int64{id})
	if err != nil || len(found) > 0 {
		return append(found, chat.Message{})[0], err
	}
	return s.logs.Pinned(ctx, info.ID, id)
}

func notice(by chat.Caller, group string, atMs int64, what string, target int64) chat.NoticeEntry {
	return chat.NewNotice(by, group, atMs, chat.Entry{Notice: what, Content: chat.Content{Target: target}})
}

// Unpin unpins a message, if it is pinned: who may pin.
func (s *Service) Unpin(ctx context.Context, by chat.Caller, group string, id int64) error {
	if err := cmp.Or(chat.CheckGroup(by, group), checkID(id)); err != nil {
		return err
	}
	if _, err := s.pinner(ctx, by, group); err != nil {
		return err
	}
	now, id := s.core.Options().Now(), min(id, chat.IDMax)
	return chat.AsError(s.store.DropPin(ctx, by, group, id, now, notice(by, group, now, chat.NoticeUnpinned, id)))
}

// List reads a page of the pins of a group, the newest first, each with the message as it reads now: for members, without what was said
// before they joined where history is hidden.
func (s *Service) List(ctx context.Context, by chat.Caller, group string, limit int, cursor string) (list chat.List[Pin], err error) {
	limits := s.core.Options().Limits
	most, err := limits.Page(cmp.Or(limit, limits.GroupPinsMax))
	if number, wrong := strconv.ParseInt(cursor, 10, 64); err == nil && cursor != "" && (wrong != nil || number < 1 || number > chat.IDMax) {
		err = chat.Invalid("cursor: not one of this list")
	}
	if err != nil {
		return list, err
	}
	info, err := s.core.MayRead(ctx, by, group)
	if err != nil {
		return list, err
	}
	if list.Items, list.Next, err = s.store.PinPage(ctx, group, by.User, cursor, most, limits.PageBytesMax); err != nil {
		return list, s.core.Refused(ctx, by, group, err)
	}
	// The archive has the reactions to what it has.
	var below []int
	for i := range list.Items {
		m := &list.Items[i].Message
		m.Message = m.Live(s.core.Options().StoreNow())
		m.Reactions = chat.OneSpelling(m.Reactions)
		if m.ID >= info.First && m.ID < info.Held {
			below = append(below, i)
		}
	}
	err = each.Of(ctx, below, func(ctx context.Context, i int) error {
		id := list.Items[i].Message.ID
		found, err := s.logs.Reactions(ctx, group, by.User, id, id)
		list.Items[i].Message.Reactions = chat.OneSpelling(found[id])
		return err
	})
	return list, chat.AsError(err)
}
