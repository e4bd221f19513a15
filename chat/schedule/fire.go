package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue/cron"
)

// fire sends a due occurrence. The schedule's version makes that happen once, whatever happens to the worker: the step
// that sends raises it, and a task with another version does nothing.
func (s *Service) fire(ctx context.Context, t FireTask) error {
	if !chat.ValidID(t.Schedule) {
		return chat.Invalid("a task names no valid schedule")
	}
	r, nowMs, err := s.store.Schedule(ctx, t.Schedule)
	switch {
	case errors.Is(err, chat.ErrNotFound):
		return nil
	case err != nil:
		return err
	case r.State != Pending || r.Version != t.Version:
		return nil
	case nowMs < r.NextMs:
		return chat.Postpone(time.Duration(r.NextMs-nowMs)*time.Millisecond, nil)
	}
	f, err := s.firing(ctx, r, nowMs)
	if err != nil {
		return err
	}
	done, err := s.store.Fire(ctx, f)
	if errors.Is(err, chat.ErrConflict) { // the archive has changed since the root of the thread was read there
		return chat.Postpone(time.Second, nil)
	}
	if err != nil {
		return err
	}
	if done.Outcome == OutcomeEarly {
		return chat.Postpone(done.Wait, nil)
	}
	return nil
}

// newFiring returns what a store needs to send the planned message.
func (s *Service) newFiring(ctx context.Context, r Record, nowMs int64) (Firing, error) {
	p := r.Plan
	f := Firing{ID: r.ID, Version: r.Version, Recurs: p.recurs(), Operator: p.Operator, Epoch: p.Epoch, Failed: FailedTask{
		Schedule: r.ID, Version: r.Version, Owner: p.Owner, Group: p.Group, User: p.User, AtMs: r.NextMs}}
	// By the clock that found it due, so that users never see a time before the one asked for.
	if p.Group != "" {
		a := chat.NewAppend(p.entry(), nowMs)
		a.Operator = p.Operator
		f.Append = &a
		if a.Thread == 0 {
			return f, nil
		}
		var err error
		a.Below, err = s.core.RootBelow(ctx, a.Group, a.Thread)
		return f, err
	}
	direct := chat.ItemOf(chat.ItemDirect, p.Owner, p.Content, nowMs)
	direct.Via = p.Via
	it := chat.NewDirect(p.User, direct)
	it.ToStrangers = p.Operator
	f.Item = &it
	return f, s.core.MayWrite(ctx, p.owner(), p.User)
}

// firing is newFiring for an occurrence: it adds the next occurrence, and the reason if nothing is sent.
func (s *Service) firing(ctx context.Context, r Record, nowMs int64) (Firing, error) {
	f, err := s.newFiring(ctx, r, nowMs)
	if errors.Is(err, chat.ErrForbidden) {
		f.Refused, err = chat.CodeForbidden, nil
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
		f.Refused = chat.CodeInvalid // it was valid when it was created: this node's tz database no longer has the zone
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

// missed counts the further occurrences between the late one and now.
func missed(plan cron.Plan, r Record, nowMs int64) (n int64) {
	for at := time.UnixMilli(r.NextMs); n < missedMax; n++ {
		next, ok := plan.Next(at)
		if !ok || next.UnixMilli() > nowMs || r.Plan.UntilMs != 0 && next.UnixMilli() > r.Plan.UntilMs {
			break
		}
		at = next
	}
	return n
}

// reasons describes the codes for people.
var reasons = map[chat.Code]string{
	chat.CodeNotFound:    "the group is not there for you any more",
	chat.CodeForbidden:   "you may not write there any more",
	chat.CodeBacklogFull: "members of the group were too far behind",
	chat.CodeMuted:       "you were muted in the group",
	chat.CodeBlocked:     "the recipient blocks you",
	chat.CodeRateLimited: "the group is in slow mode, and you had just sent something",
	chat.CodeInboxFull:   "the inbox of the recipient was full",
	chat.CodeKeyReused:   "a message with the same client_id and other content was sent before",
	chat.CodeOutOfRange:  "what it replies to is not there",
	chat.CodeInvalid:     "its plan cannot be read",
	CodeMissed:           "its time passed while nothing could be sent",
}

// reportFailed puts the reason why nothing was sent into the owner's inbox, once for each occurrence.
func (s *Service) reportFailed(ctx context.Context, t FailedTask) error {
	if !chat.ValidID(t.Schedule) || !chat.ValidUserID(t.Owner) {
		return chat.Invalid("a task names no valid schedule or owner")
	}
	reason, ok := reasons[t.Code]
	if !ok {
		reason = "it could not be sent"
	}
	body := "A scheduled message was not sent: " + reason + "."
	now := s.opt.Now()
	item := chat.Item{Kind: chat.ItemScheduleFailed, Group: t.Group, Body: &body, SentAt: chat.TimeMs(now), Data: failedData(t, "")}
	if err := s.core.PutItem(ctx, t.Owner, item, fmt.Sprintf("%s %s %d", chat.ItemScheduleFailed, t.Schedule, t.Version)); err != nil {
		return err
	}
	if s.Failed != nil {
		if err := s.Failed(ctx, t, reason); err != nil {
			return err
		}
	}
	return s.webhooks.Publish(ctx, t.Owner, webhook.Event{Type: webhook.EventScheduleFailed, Key: fmt.Sprintf("%s %d", t.Schedule, t.Version),
		At: chat.TimeMs(now), Data: failedData(t, t.Owner)})
}

// failedData is the failure as programs see it: which schedule, its owner (unless it goes to the owner), its target,
// when it should have been sent, and why it was not.
func failedData(t FailedTask, owner string) json.RawMessage {
	return chat.Encode(struct {
		Schedule string    `json:"schedule"`
		Owner    string    `json:"owner,omitempty"`
		Group    string    `json:"group,omitempty"`
		User     string    `json:"user,omitempty"`
		At       chat.Time `json:"at"`
		Code     chat.Code `json:"code"`
	}{t.Schedule, owner, t.Group, t.User, chat.TimeMs(t.AtMs), t.Code})
}

// forget removes a schedule that ended a day ago.
func (s *Service) forget(ctx context.Context, t FireTask) error {
	if !chat.ValidID(t.Schedule) {
		return chat.Invalid("a task names no valid schedule")
	}
	return s.store.ForgetSchedule(ctx, t.Schedule)
}
