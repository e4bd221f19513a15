package web

import (
	"context"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type announcementHandlers struct {
	core          *chat.Service
	announcements *announce.Service
}

// CreateAnnouncement serves POST /v1/announcements.
func (h announcementHandlers) CreateAnnouncement(ctx context.Context, r api.CreateAnnouncementRequestObject) (api.CreateAnnouncementResponseObject, error) {
	draft, err := announcementDraft(r.Body)
	if err != nil {
		return nil, err
	}
	return keyed(ctx, h.core, "createAnnouncement", r.Params.IdempotencyKey, r.Body, http.StatusAccepted, func(key string) (any, error) {
		draft.Key = key
		a, err := h.announcements.Create(ctx, callerOf(ctx), draft)
		return announced{Announcement: a}, err
	})
}

// announced is the answer to a creation: all but whom it is for, which may be thousands, and whom the caller knows.
type announced struct {
	announce.Announcement
	To *struct{} `json:"to,omitempty"` // hides that of the announcement
}

func (a rawAnswer) VisitCreateAnnouncementResponse(w http.ResponseWriter) error { return a.write(w) }

func announcementDraft(b *api.AnnouncementDraft) (announce.Draft, error) {
	d := announce.Draft{
		To:      announce.Target{All: deref(b.To.All), Groups: deref(b.To.Groups), Users: deref(b.To.Users)},
		Content: chat.Content{Body: b.Body, Data: b.Data, ExpireS: b.ExpireS}, Cron: b.Cron, Timezone: b.Timezone, Priority: b.Priority,
	}
	var err error
	d.At, err = wire.Instant("at", b.At)
	return d, err
}

// ListAnnouncements serves GET /v1/announcements.
func (h announcementHandlers) ListAnnouncements(ctx context.Context, r api.ListAnnouncementsRequestObject) (api.ListAnnouncementsResponseObject, error) {
	list, err := h.announcements.List(ctx, callerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListAnnouncements200JSONResponse{Announcements: orEmpty(list.Items), Next: next(list.Next)}, err
}

// GetAnnouncement serves GET /v1/announcements/{announcement}.
func (h announcementHandlers) GetAnnouncement(ctx context.Context, r api.GetAnnouncementRequestObject) (api.GetAnnouncementResponseObject, error) {
	announcement, err := h.announcements.Get(ctx, callerOf(ctx), r.Announcement)
	return api.GetAnnouncement200JSONResponse(announcement), err
}

// CancelAnnouncement serves DELETE /v1/announcements/{announcement}.
func (h announcementHandlers) CancelAnnouncement(ctx context.Context, r api.CancelAnnouncementRequestObject) (api.CancelAnnouncementResponseObject, error) {
	return api.CancelAnnouncement204Response{}, h.announcements.Cancel(ctx, callerOf(ctx), r.Announcement)
}
