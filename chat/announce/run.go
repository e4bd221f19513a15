package announce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chatd/chatd/chat"
)

// Bounds of the inboxes that one step fills: Redis serves nobody else meanwhile. 200 short items take it 1 to 2 ms, 3
// to 5 if their users have devices; for long ones the bytes count.
const (
	batchUsersMax = 200
	batchBytesMax = 512 << 10
)

// page returns how many inboxes a step fills.
func (a Plan) page() int {
	return min(batchUsersMax, max(1, batchBytesMax/len(a.item(0).Rest())))
}

func (a Plan) item(nowMs int64) chat.Item {
	return chat.ItemOf(chat.ItemAnnouncement, a.From, a.Content, nowMs)
}

// run starts a run of an announcement and its parts. A run that was started before, by a worker that died, continues; a
// finished one is left alone.
func (s *Service) run(ctx context.Context, t RunTask) error {
	if !chat.ValidID(t.Announcement) || t.Run < 1 {
		return chat.Invalid("a task names no run of an announcement")
	}
	r, err := s.store.Announcement(ctx, t.Announcement)
	if errors.Is(err, chat.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	a, err := r.text()
	if err != nil {
		return err
	}
	nowMs, err := s.store.Clock(ctx)
	if err != nil {
		return err
	}
	// This run also makes up for those missed because nothing ran or the previous one took long: skip them.
	next, err := a.next(max(nowMs, r.NextMs))
	if err != nil {
		return err
	}
	goOn, wait, err := s.store.BeginAnnouncement(ctx, t.Announcement, t.Run, next)
	switch {
	case err != nil:
		return err
	case wait > 0:
		return chat.Postpone(wait, nil)
	case !goOn:
		return nil
	}
	if err := s.store.StartAnnouncement(ctx, t.Announcement, t.Run); err != nil {
		return err
	}
	// Without recipients, no batch will close the run.
	return s.store.CloseAnnouncement(ctx, t.Announcement, t.Run)
}

// runPart delivers the next batch of a part and asks to run again for the one after it, so that other tasks get their
// turn in between.
func (s *Service) runPart(ctx context.Context, part Part) error {
	if !chat.ValidID(part.Announcement) || part.Run < 1 || part.Partition < 0 {
		return chat.Invalid("a task names no part of an announcement")
	}
	page, err := s.store.AnnouncementPage(ctx, part)
	if err != nil {
		return err
	}
	if page == nil {
		return s.store.CloseAnnouncement(ctx, part.Announcement, part.Run)
	}
	var a Plan
	if err := json.Unmarshal(page.Draft, &a); err != nil {
		return fmt.Errorf("announcement %s: %w", part.Announcement, err)
	}
	nowMs := s.opt.Now()
	if page.Group != "" {
		e := chat.Entry{Group: page.Group, From: a.From, Content: a.Content}
		e.Kind = a.ImpliedKind()
		err = s.store.AnnounceToGroup(ctx, page, chat.NewAppend(e, nowMs))
	} else {
		err = s.store.AnnounceToUsers(ctx, page, chat.NewItem{From: a.From, Rest: a.item(nowMs).Rest(), SentAtMs: nowMs, System: true})
	}
	if err != nil {
		return err
	}
	if page.Last {
		return s.store.CloseAnnouncement(ctx, part.Announcement, part.Run)
	}
	return chat.Postpone(0, nil)
}
