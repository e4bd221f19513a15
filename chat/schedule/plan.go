package schedule

import (
	"cmp"
	"context"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue/cron"
)

// Bounds of schedules.
const (
	AheadMax  = 366 * 24 * time.Hour // how far ahead a message may be scheduled: a year, also a leap year
	lateMax   = 10 * time.Second     // a later occurrence counts as missed, and misfire decides; longer than a dead node's lease and a poll for expired ones
	missedMax = 10_000               // missed occurrences that are counted at once: 10 ms of searching the calendar
	countMax  = 1_000_000_000        // the highest count that a schedule may set
)

var errUntil = &chat.Error{Code: chat.CodeOutOfRange, Message: "until: nothing would fire before it"}

// InstantMs returns an instant in ms, rounded up: nothing fires early.
func InstantMs(t time.Time) int64 {
	return t.Add(time.Millisecond - 1).UnixMilli()
}

// newPlan checks what a schedule would send, and whether its owner may send it now.
func (s *Service) newPlan(ctx context.Context, by chat.Caller, group, user string, c chat.Content) (Plan, error) {
	if (group == "") == (user == "") {
		return Plan{}, chat.Invalid("group, user: one of the two")
	}
	if user != "" {
		if err := cmp.Or(chat.CheckInbox(by), chat.CheckUserID("user", user)); err != nil {
			return Plan{}, err
		}
		c.Kind = chat.Text // an inbox item always has a body
	} else if err := chat.CheckGroup(by, group); err != nil {
		return Plan{}, err
	}
	if kind := c.ImpliedKind(); kind != chat.Text && kind != chat.Data {
		return Plan{}, chat.Invalid("kind: only %s and %s can be scheduled", chat.Text, chat.Data)
	}
	if err := by.MayAct(c); err != nil {
		return Plan{}, err
	}
	c, err := c.Checked(s.opt.Limits)
	if err != nil {
		return Plan{}, err
	}
	if err := c.NamesNoFiles(); err != nil {
		return Plan{}, err
	}
	p := Plan{Owner: by.User, Via: by.Via, Operator: by.Admin, Group: group, User: user, Content: c, Misfire: MisfireSend}
	if user != "" {
		return p, s.core.MayWrite(ctx, by, user)
	}
	info, err := s.core.MayPost(ctx, by, group)
	if err != nil {
		return Plan{}, err
	}
	if low := max(info.Hidden(), 1); c.ReplyTo != 0 && (c.ReplyTo < low || c.ReplyTo > info.Last) {
		return Plan{}, chat.OutOfRange("reply_to", low, info.Last)
	}
	p.Epoch = info.Epoch
	return p, nil
}

// once plans a single instant; one in the past is sent at once. field is the name of the request's field.
func (p *Plan) once(field string, at time.Time, nowMs int64) (nextMs int64, err error) {
	if at.After(time.UnixMilli(nowMs).Add(AheadMax)) {
		return 0, chat.Errorf(chat.CodeOutOfRange, "%s: at most %d days ahead", field, int(AheadMax.Hours()/24))
	}
	p.AtMs = InstantMs(at)
	return max(p.AtMs, nowMs), nil
}

// next returns the first occurrence of a recurring plan after an instant; false if there is none, by the calendar or by
// until.
func (p *Plan) next(afterMs int64) (nextMs int64, ok bool, err error) {
	nextMs, err = NextMs(p.Cron, p.Timezone, afterMs)
	return nextMs, nextMs != 0 && (p.UntilMs == 0 || nextMs <= p.UntilMs), err
}

// NextMs is when a cron fires next after an instant; 0: never again. CodeInvalid.
func NextMs(spec, timezone string, afterMs int64) (int64, error) {
	plan, err := cron.Parse(spec, timezone)
	if err != nil {
		return 0, &chat.Error{Code: chat.CodeInvalid, Message: err.Error(), Cause: err}
	}
	at, ok := plan.Next(time.UnixMilli(afterMs))
	if !ok {
		return 0, nil
	}
	return at.UnixMilli(), nil
}

// again plans the next occurrence of a recurring plan from now on.
func (p *Plan) again(nowMs int64) (nextMs int64, err error) {
	nextMs, ok, err := p.next(nowMs)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, errUntil
	}
	return nextMs, nil
}

// setBounds sets the limits of a recurring plan.
func (p *Plan) setBounds(until *time.Time, count *int64) error {
	if (until != nil || count != nil) && !p.recurs() {
		return chat.Invalid("until, count: only with cron")
	}
	if until != nil {
		p.UntilMs = until.UnixMilli()
		if p.UntilMs <= 0 {
			return errUntil
		}
	}
	if count != nil {
		p.Count = *count
	}
	return nil
}

// setCron changes when a recurring plan fires, and reports whether that made a difference.
func (p *Plan) setCron(cron, timezone *string) (other bool, err error) {
	if (cron != nil || timezone != nil) && !p.recurs() {
		return false, chat.Invalid("cron, timezone: the schedule fires once; change its at")
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

// checkFields checks what is right or wrong by itself.
func checkFields(misfire *Misfire, count *int64) error {
	return cmp.Or(chat.CheckWord("misfire", misfire, MisfireSend, MisfireSkip), chat.CheckRange("count", count, 1, countMax))
}

// hash identifies what the client asked for, so that a repeated key can be compared.
func (p Plan) hash() string {
	p.Epoch, p.Operator = "", false
	return chat.Hash(chat.Encode(p))
}

// entry returns the entry that the plan sends to its group.
func (p Plan) entry() chat.Entry {
	return chat.Entry{Group: p.Group, From: p.Owner, Via: p.Via, Content: p.Content}
}

// ReachedBy tells whether a caller may have to do with the plan: one who is bound to groups only with those for them.
func (p Plan) ReachedBy(by chat.Caller) bool {
	return by.Reach == nil || p.Group != "" && by.Reaches(p.Group)
}

func (p Plan) owner() chat.Caller { return chat.Caller{User: p.Owner, Admin: p.Operator, Via: p.Via} }
