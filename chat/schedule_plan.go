package chat

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/chatd/chatd/chat/schedule/cron"
)

// Bounds of schedules.
const (
	AheadMax      = 366 * 24 * time.Hour // how far ahead a message may be put: a year, whichever
	lateMax       = 10 * time.Second     // above it an occurrence was missed: misfire says what becomes of it. A lease of a dead node and a sweep are less
	missedMax     = 10_000               // missed occurrences that are counted at a time: 10 ms of looking at the calendar
	scheduleCount = 1_000_000_000        // occurrences of one schedule, where it bounds them
)

var errUntil = &Error{Code: CodeOutOfRange, Message: "until: nothing would fire before it"}

// InstantMs is an instant in ms, rounded up: nothing fires early.
func InstantMs(t time.Time) int64 {
	return t.Add(time.Millisecond - 1).UnixMilli()
}

// newPlan checks what a schedule is to send, and whether its owner may send it now.
func (s *Service) newPlan(ctx context.Context, by Caller, group, user string, d Draft) (SchedulePlan, error) {
	if (group == "") == (user == "") {
		return SchedulePlan{}, Invalid("group, user: one of the two")
	}
	p := SchedulePlan{Owner: by.User, Operator: by.Admin, Group: group, User: user, Kind: d.kind(), ClientID: d.ClientID,
		ReplyTo: d.ReplyTo, Misfire: MisfireSend}
	if p.Kind != Text && p.Kind != Data {
		return SchedulePlan{}, Invalid("kind: only %s and %s can be sent later", Text, Data)
	}
	if user != "" {
		if err := cmp.Or(CheckCaller(by), CheckUser("user", user), CheckBody(d.Body, s.opt.Limits.BodyBytesMax)); err != nil {
			return SchedulePlan{}, err
		}
	} else if err := CheckGroup(by, group); err != nil {
		return SchedulePlan{}, err
	}
	e, err := s.draftEntry(by, group, d)
	if err != nil {
		return SchedulePlan{}, err
	}
	p.Body, p.Data, p.Mentions = e.Body, e.Data, e.Mentions
	if user != "" {
		return p, s.MayWrite(ctx, by, user)
	}
	info, err := s.MayPost(ctx, by, group)
	if err != nil {
		return SchedulePlan{}, err
	}
	if d.ReplyTo > info.Last {
		return SchedulePlan{}, ErrOutOfRange
	}
	p.Epoch = info.Epoch
	return p, nil
}

// once plans for an instant. One that is over is sent at once.
func (p *SchedulePlan) once(at time.Time, nowMs int64) (nextMs int64, err error) {
	if at.After(time.UnixMilli(nowMs).Add(AheadMax)) {
		return 0, Errorf(CodeOutOfRange, "at most %d days ahead", int(AheadMax.Hours()/24))
	}
	p.AtMs = InstantMs(at)
	return max(p.AtMs, nowMs), nil
}

// next is the first occurrence of a recurring plan after an instant; false where there is none, by the calendar or by
// until.
func (p *SchedulePlan) next(afterMs int64) (nextMs int64, ok bool, err error) {
	plan, err := cron.Parse(p.Cron, p.Timezone)
	if err != nil {
		return 0, false, &Error{Code: CodeInvalid, Message: err.Error(), Cause: err}
	}
	at, ok := plan.Next(time.UnixMilli(afterMs))
	if !ok || p.UntilMs != 0 && at.UnixMilli() > p.UntilMs {
		return 0, false, nil
	}
	return at.UnixMilli(), true, nil
}

// again plans what recurs from now on.
func (p *SchedulePlan) again(nowMs int64) (nextMs int64, err error) {
	nextMs, ok, err := p.next(nowMs)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, errUntil
	}
	return nextMs, nil
}

// setBounds takes what bounds a recurring plan.
func (p *SchedulePlan) setBounds(until *time.Time, count *int64) error {
	if (until != nil || count != nil) && !p.recurs() {
		return Invalid("until, count: only with cron")
	}
	if until != nil {
		p.UntilMs = until.UnixMilli()
		if p.UntilMs <= 0 {
			return errUntil
		}
	}
	if count != nil {
		if err := CheckRange("count", count, 1, scheduleCount); err != nil {
			return err
		}
		p.Count = *count
	}
	return nil
}

// setCron replaces when a recurring plan fires, and tells whether it is another time now.
func (p *SchedulePlan) setCron(cron, timezone *string) (other bool, err error) {
	if (cron != nil || timezone != nil) && !p.recurs() {
		return false, Invalid("cron, timezone: the schedule fires once; change its at")
	}
	was := *p
	if cron != nil {
		p.Cron = *cron
	}
	if timezone != nil {
		p.Timezone = *timezone
	}
	return p.Cron != was.Cron || p.Timezone != was.Timezone, nil
}

func (p *SchedulePlan) setMisfire(m Misfire) error {
	if m != MisfireSend && m != MisfireSkip {
		return Invalid("misfire: %s or %s", MisfireSend, MisfireSkip)
	}
	p.Misfire = m
	return nil
}

// content tells whether a repeated key asks for the same: by what the client chose.
func (p SchedulePlan) content() string {
	p.Epoch, p.Operator = "", false
	return Hash(Encode(p))
}

// draft is what the plan sends, as it was asked for.
func (p SchedulePlan) draft() Draft {
	return Draft{Kind: p.Kind, Body: p.Body, Data: p.Data, ClientID: p.ClientID, ReplyTo: p.ReplyTo, Mentions: p.Mentions}
}

// entry is what the plan sends to its group.
func (p SchedulePlan) entry() Entry {
	return Entry{Group: p.Group, From: p.Owner, Kind: p.Kind, Body: p.Body, Data: p.Data, ClientID: p.ClientID,
		ReplyTo: p.ReplyTo, Mentions: slices.Clone(p.Mentions)}
}

func (p SchedulePlan) owner() Caller { return Caller{User: p.Owner, Admin: p.Operator} }
