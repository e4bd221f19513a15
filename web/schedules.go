package web

import (
	"bytes"
	"context"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type scheduleHandlers struct {
	core      *chat.Service
	schedules *schedule.Service
}

// CreateSchedule serves POST /v1/schedules.
func (h scheduleHandlers) CreateSchedule(ctx context.Context, r api.CreateScheduleRequestObject) (api.CreateScheduleResponseObject, error) {
	draft, err := scheduleDraft(r.Body)
	if err != nil {
		return nil, err
	}
	if !(schedule.Plan{Group: draft.Group}).ReachedBy(callerOf(ctx)) {
		return nil, chat.ErrReach // also of a repeat
	}
	ctx = asking(ctx, h.core, draft.Group)
	return keyed(ctx, h.core, "createSchedule", r.Params.IdempotencyKey, r.Body, http.StatusCreated, func(key string) (any, error) {
		draft.Key = key
		return h.schedules.Create(ctx, callerOf(ctx), draft)
	})
}

func (a rawAnswer) VisitCreateScheduleResponse(w http.ResponseWriter) error { return a.write(w) }

func scheduleDraft(b *api.ScheduleDraft) (schedule.Draft, error) {
	d := schedule.Draft{
		Group: b.Group, User: b.User, Content: chat.Content{Body: b.Body, Data: b.Data, ExpireS: b.ExpireS}, Cron: b.Cron, Timezone: b.Timezone, Misfire: b.Misfire, Count: b.Count,
	}
	var err error
	if d.At, err = wire.Instant("at", b.At); err != nil {
		return d, err
	}
	d.Until, err = wire.Instant("until", b.Until)
	return d, err
}

// ListSchedules serves GET /v1/schedules.
func (h scheduleHandlers) ListSchedules(ctx context.Context, r api.ListSchedulesRequestObject) (api.ListSchedulesResponseObject, error) {
	p := r.Params
	if p.All != nil {
		list, err := h.schedules.All(ctx, callerOf(ctx), schedule.Query{User: deref(p.User), Failing: p.Failing != nil, Limit: limitOf(p.Limit), Cursor: deref(p.Cursor)})
		return api.ListSchedules200JSONResponse{Schedules: orEmpty(list.Items), Next: next(list.Next)}, err
	}
	if p.User != nil || p.Failing != nil {
		return nil, chat.Invalid("user and failing are for all=1")
	}
	list, err := h.schedules.List(ctx, callerOf(ctx), limitOf(p.Limit), deref(p.Cursor))
	return api.ListSchedules200JSONResponse{Schedules: orEmpty(list.Items), Next: next(list.Next)}, err
}

// GetSchedule serves GET /v1/schedules/{schedule}.
func (h scheduleHandlers) GetSchedule(ctx context.Context, r api.GetScheduleRequestObject) (api.GetScheduleResponseObject, error) {
	schedule, err := h.schedules.Get(ctx, callerOf(ctx), r.Schedule)
	return api.GetSchedule200JSONResponse(schedule), err
}

// UpdateSchedule serves PATCH /v1/schedules/{schedule}.
func (h scheduleHandlers) UpdateSchedule(ctx context.Context, r api.UpdateScheduleRequestObject) (api.UpdateScheduleResponseObject, error) {
	b := r.Body
	change := schedule.Change{Content: chat.Content{Body: b.Body, Data: b.Data, ExpireS: b.ExpireS}, Cron: given(b.Cron), Timezone: given(b.Timezone),
		Misfire: given(b.Misfire), Count: b.Count, Paused: b.Paused}
	var err error
	if change.At, err = wire.Instant("at", b.At); err != nil {
		return nil, err
	}
	if change.Until, err = wire.Instant("until", b.Until); err != nil {
		return nil, err
	}
	ctx = chat.WithRelease(ctx, callOf(ctx).release)
	schedule, err := h.schedules.Change(ctx, callerOf(ctx), r.Schedule, change)
	return api.UpdateSchedule200JSONResponse(schedule), err
}

// CancelSchedule serves DELETE /v1/schedules/{schedule}.
func (h scheduleHandlers) CancelSchedule(ctx context.Context, r api.CancelScheduleRequestObject) (api.CancelScheduleResponseObject, error) {
	return api.CancelSchedule204Response{}, h.schedules.Cancel(ctx, callerOf(ctx), r.Schedule)
}

// RunSchedule serves POST /v1/schedules/{schedule}/run.
func (h scheduleHandlers) RunSchedule(ctx context.Context, r api.RunScheduleRequestObject) (api.RunScheduleResponseObject, error) {
	if callerOf(ctx).Reach != nil { // a repeat too is answered only if it is reached
		if _, err := h.schedules.Get(ctx, callerOf(ctx), r.Schedule); err != nil {
			return nil, err
		}
	}
	return keyed(ctx, h.core, "runSchedule", r.Params.IdempotencyKey, r.Schedule, http.StatusOK, func(key string) (any, error) {
		return h.schedules.SendNow(ctx, callerOf(ctx), r.Schedule, key)
	})
}

func (a rawAnswer) VisitRunScheduleResponse(w http.ResponseWriter) error { return a.write(w) }

// laterAnswer is the answer to a send with deliver_at.
type laterAnswer struct {
	schedule.Schedule
	duplicate bool
}

func (a laterAnswer) write(w http.ResponseWriter) error {
	return writeBuffered(w, statusOf(a.duplicate, http.StatusAccepted), 0, func(buf *bytes.Buffer) {
		wire.JSON(buf, "", struct {
			schedule.Schedule
			Duplicate bool `json:"duplicate,omitempty"`
		}{a.Schedule, a.duplicate})
	})
}

func (a laterAnswer) VisitSendMessageResponse(w http.ResponseWriter) error { return a.write(w) }
func (a laterAnswer) VisitSendDirectResponse(w http.ResponseWriter) error  { return a.write(w) }
