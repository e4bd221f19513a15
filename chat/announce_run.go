package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Bounds of the inboxes that one step fills: nobody else is served meanwhile. 200 short items take Redis 1 to 2 ms, 3 to
// 5 where their users have devices; of long ones the bytes count.
const (
	announcePageUsers = 200
	announcePageBytes = 512 << 10
)

// page is how many inboxes a step fills.
func (a AnnouncementText) page() int {
	return min(announcePageUsers, max(1, announcePageBytes/len(a.item(0).Rest())))
}

func (a AnnouncementText) item(nowMs int64) Item {
	return Item{Kind: ItemAnnouncement, From: a.From, Body: a.Body, Data: a.Data, SentAt: TimeMs(nowMs)}
}

// announce begins a run of an announcement and starts its parts. A run that was begun before, by a worker that died, goes
// on; one that is over is left alone.
func (s *Service) announce(ctx context.Context, t AnnounceTask) error {
	if !ValidID(t.Announcement) || t.Run < 1 {
		return Invalid("a task names no run of an announcement")
	}
	r, err := s.stores.Announcement(ctx, t.Announcement)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	a, err := r.text()
	if err != nil {
		return err
	}
	nowMs, err := s.stores.Clock(ctx)
	if err != nil {
		return err
	}
	// Runs that were missed, because nothing ran or the one before took long, are made up for by this one.
	next, err := a.next(max(nowMs, r.NextMs))
	if err != nil {
		return err
	}
	goOn, wait, err := s.stores.BeginAnnouncement(ctx, t.Announcement, t.Run, next)
	switch {
	case err != nil:
		return err
	case wait > 0:
		return Postpone(wait, nil)
	case !goOn:
		return nil
	}
	if err := s.stores.StartAnnouncement(ctx, t.Announcement, t.Run); err != nil {
		return err
	}
	// Where there is nobody to tell, no page will.
	return s.stores.CloseAnnouncement(ctx, t.Announcement, t.Run)
}

// announcePart does the next page of a part and comes again for the one after it, so that other tasks get their turn
// between the two.
func (s *Service) announcePart(ctx context.Context, part AnnouncementPart) error {
	if !ValidID(part.Announcement) || part.Run < 1 || part.Partition < 0 {
		return Invalid("a task names no part of an announcement")
	}
	page, err := s.stores.AnnouncementPage(ctx, part)
	if err != nil {
		return err
	}
	if page == nil {
		return s.stores.CloseAnnouncement(ctx, part.Announcement, part.Run)
	}
	var a AnnouncementText
	if err := json.Unmarshal(page.Draft, &a); err != nil {
		return fmt.Errorf("announcement %s: %w", part.Announcement, err)
	}
	nowMs := s.opt.Now()
	if page.Group != "" {
		e := Entry{Group: page.Group, From: a.From, Kind: Text, Body: a.Body, Data: a.Data}
		if a.Body == nil {
			e.Kind = Data
		}
		err = s.stores.AnnounceToGroup(ctx, page, NewAppend(e, nowMs))
	} else {
		err = s.stores.AnnounceToUsers(ctx, page, NewItem{From: a.From, Rest: a.item(nowMs).Rest(), SentAtMs: nowMs, System: true})
	}
	if err != nil {
		return err
	}
	if page.Last {
		return s.stores.CloseAnnouncement(ctx, part.Announcement, part.Run)
	}
	return Postpone(0, nil)
}
