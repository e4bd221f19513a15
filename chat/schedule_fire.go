package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/chat/schedule/cron"
)

// fireSchedule sends an occurrence that is due. Whatever happens to the worker, the schedule's version makes it happen once:
// the step that sends raises it, and a task of another version does nothing.
func (s *Service) fireSchedule(ctx context.Context, t ScheduleTask) error {
	if !ValidID(t.Schedule) {
		return Invalid("a task names no valid schedule")
	}
	r, nowMs, err := s.stores.Schedule(ctx, t.Schedule)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	case r.State != SchedulePending || r.Version != t.Version:
		return nil
	case nowMs < r.NextMs:
		return Postpone(time.Duration(r.NextMs-nowMs)*time.Millisecond, nil)
	}
	f, err := s.firing(ctx, r, nowMs)
	if err != nil {
		return err
	}
	done, err := s.stores.Fire(ctx, f)
	if err != nil {
		return err
	}
	if done.Outcome == FiringEarly {
		return Postpone(done.Wait, nil)
	}
	return nil
}

// newFiring is what a store needs to send what is planned.
func (s *Service) newFiring(ctx context.Context, r ScheduleRecord, nowMs int64) (Firing, error) {
	p := r.Plan
	f := Firing{ID: r.ID, Version: r.Version, Recurs: p.recurs(), Epoch: p.Epoch, Failed: ScheduleFailedTask{
		Schedule: r.ID, Version: r.Version, Owner: p.Owner, Group: p.Group, User: p.User, AtMs: r.NextMs}}
	// By the clock that found it due: what a person sees is never before the time that was asked for.
	if p.Group != "" {
		a := NewAppend(p.entry(), nowMs)
		a.Operator = p.Operator
		f.Append = &a
		return f, nil
	}
	it := NewDirect(p.User, Item{Kind: ItemDirect, From: p.Owner, Body: p.Body, Data: p.Data, ClientID: p.ClientID, SentAt: TimeMs(nowMs)})
	f.Item = &it
	return f, s.MayWrite(ctx, p.owner(), p.User)
}

// firing is newFiring for an occurrence: with the one that comes after it, and with the reason where nothing is to be sent.
func (s *Service) firing(ctx context.Context, r ScheduleRecord, nowMs int64) (Firing, error) {
	f, err := s.newFiring(ctx, r, nowMs)
	if errors.Is(err, ErrForbidden) {
		f.Refused, err = CodeForbidden, nil
	}
	if err != nil {
		return Firing{}, err
	}
	late := nowMs-r.NextMs > lateMax.Milliseconds()
	over := late && (r.Plan.Misfire == MisfireSkip || r.Plan.UntilMs != 0 && nowMs > r.Plan.UntilMs)
	if over && f.Refused == "" {
		f.Refused = CodeMissed
	}
	if !r.Plan.recurs() {
		return f, nil
	}
	plan, err := cron.Parse(r.Plan.Cron, r.Plan.Timezone)
	if err != nil {
		f.Refused = CodeInvalid // it could be read once: the zone is gone from the tz database of this node
		return f, nil
	}
	after := time.UnixMilli(r.NextMs)
	if late {
		f.Missed = missed(plan, r, nowMs)
		after = time.UnixMilli(nowMs)
	}
	fired := r.Fired + 1
	if f.Refused == CodeMissed {
		f.Missed++
		fired--
	}
	next, ok := plan.Next(after)
	if ok && (r.Plan.UntilMs == 0 || next.UnixMilli() <= r.Plan.UntilMs) && (r.Plan.Count == 0 || fired < r.Plan.Count) {
		f.NextMs = next.UnixMilli()
	}
	return f, nil
}

// missed counts the occurrences after the one that is late, up to now.
func missed(plan cron.Plan, r ScheduleRecord, nowMs int64) (n int64) {
	for at := time.UnixMilli(r.NextMs); n < missedMax; n++ {
		next, ok := plan.Next(at)
		if !ok || next.UnixMilli() > nowMs || r.Plan.UntilMs != 0 && next.UnixMilli() > r.Plan.UntilMs {
			break
		}
		at = next
	}
	return n
}

// scheduleFailed are the reasons in words.
var scheduleFailed = map[Code]string{
	CodeNotFound:   "the group is not there for you any more",
	CodeForbidden:  "you may not write there any more",
	CodeInboxFull:  "the inbox of the recipient was full",
	CodeKeyReused:  "a message with the same client_id and other content was sent before",
	CodeOutOfRange: "what it replies to is not there",
	CodeInvalid:    "its plan cannot be read",
	CodeMissed:     "its time passed while nothing could be sent",
}

// tellScheduleFailed puts the reason why nothing was sent into the inbox of the owner, once for each occurrence.
func (s *Service) tellScheduleFailed(ctx context.Context, t ScheduleFailedTask) error {
	if !ValidID(t.Schedule) || !ValidID(t.Owner) {
		return Invalid("a task names no valid schedule or owner")
	}
	reason, ok := scheduleFailed[t.Code]
	if !ok {
		reason = "it could not be sent"
	}
	body := "A scheduled message was not sent: " + reason + "."
	now := s.opt.Now()
	item := Item{Kind: ItemScheduleFailed, Group: t.Group, Body: &body, SentAt: TimeMs(now), Data: scheduleFailedData(t, "")}
	if err := s.PutItem(ctx, t.Owner, item, fmt.Sprintf("%s %s %d", ItemScheduleFailed, t.Schedule, t.Version)); err != nil {
		return err
	}
	return s.tellHooks(ctx, t.Owner, hookEvent{Type: EventScheduleFailed, Key: fmt.Sprintf("%s %d", t.Schedule, t.Version),
		At: TimeMs(now), Data: scheduleFailedData(t, t.Owner)})
}

// scheduleFailedData is what programs are told: which schedule, whose unless it is the owner who is told, to whom, when it
// was to be sent, and why it was not.
func scheduleFailedData(t ScheduleFailedTask, owner string) json.RawMessage {
	return Encode(struct {
		Schedule string `json:"schedule"`
		Owner    string `json:"owner,omitempty"`
		Group    string `json:"group,omitempty"`
		User     string `json:"user,omitempty"`
		At       Time   `json:"at"`
		Code     Code   `json:"code"`
	}{t.Schedule, owner, t.Group, t.User, TimeMs(t.AtMs), t.Code})
}

// forgetSchedule removes a schedule that ended a day ago.
func (s *Service) forgetSchedule(ctx context.Context, t ScheduleTask) error {
	if !ValidID(t.Schedule) {
		return Invalid("a task names no valid schedule")
	}
	return s.stores.ForgetSchedule(ctx, t.Schedule)
}
