package chat

import (
	"context"
	"crypto/rand"
	"errors"
	"time"
)

// changeTries bounds how often a change is begun anew because the schedule fired or changed meanwhile.
const changeTries = 8

var errNoSchedule = &Error{Code: CodeNotFound, Message: "no such schedule"}

// CreateSchedule plans a message to a group or a user, once or again and again. The caller must be allowed to send it now;
// it is checked again whenever it fires.
func (s *Service) CreateSchedule(ctx context.Context, by Caller, d ScheduleDraft) (Schedule, error) {
	if (d.At == nil) == (d.Cron == "") {
		return Schedule{}, Invalid("at, cron: one of the two")
	}
	if d.Cron == "" && d.Timezone != "" {
		return Schedule{}, Invalid("timezone: only with cron")
	}
	p, err := s.newPlan(ctx, by, d.Group, d.User, Draft{Body: d.Body, Data: d.Data})
	if err != nil {
		return Schedule{}, err
	}
	p.Cron, p.Timezone = d.Cron, d.Timezone
	if d.Misfire != "" {
		if err := p.setMisfire(d.Misfire); err != nil {
			return Schedule{}, err
		}
	}
	if err := p.setBounds(d.Until, d.Count); err != nil {
		return Schedule{}, err
	}
	key := ""
	if d.Key != "" {
		key = "request " + d.Key
	}
	v, _, err := s.plan(ctx, p, d.At, key)
	return v, err
}

// SendLater plans a send: the message, with the same client_id, is sent at a time. A key that is known gives the schedule
// again.
func (s *Service) SendLater(ctx context.Context, by Caller, group string, d Draft, at time.Time) (v Schedule, duplicate bool, err error) {
	p, err := s.newPlan(ctx, by, group, "", d)
	if err != nil {
		return Schedule{}, false, err
	}
	return s.plan(ctx, p, &at, p.sendKey())
}

// SendDirectLater plans an item in someone's inbox, as SendLater does.
func (s *Service) SendDirectLater(ctx context.Context, by Caller, to string, d Direct, at time.Time) (v Schedule, duplicate bool, err error) {
	p, err := s.newPlan(ctx, by, "", to, Draft{Kind: Text, Body: d.Body, Data: d.Data, ClientID: d.ClientID})
	if err != nil {
		return Schedule{}, false, err
	}
	return s.plan(ctx, p, &at, p.sendKey())
}

// sendKey names the schedule of a send after the client_id.
func (p SchedulePlan) sendKey() string {
	if p.ClientID == "" {
		return ""
	}
	return "send " + p.ClientID
}

// plan lets the store make the schedule of a plan, by the clock of the store.
func (s *Service) plan(ctx context.Context, p SchedulePlan, at *time.Time, key string) (v Schedule, duplicate bool, err error) {
	nowMs, err := s.stores.Clock(ctx)
	if err != nil {
		return Schedule{}, false, AsError(err)
	}
	var nextMs int64
	if at != nil {
		nextMs, err = p.once(*at, nowMs)
	} else {
		nextMs, err = p.again(nowMs)
	}
	if err != nil {
		return Schedule{}, false, err
	}
	r, duplicate, err := s.stores.CreateSchedule(ctx, NewSchedule{Plan: p, NextMs: nextMs, Key: key, Content: p.content()})
	if err != nil {
		return Schedule{}, false, AsError(err)
	}
	return r.view(), duplicate, nil
}

// Schedules lists the caller's schedules, the oldest first; those that ended stay for a day.
func (s *Service) Schedules(ctx context.Context, by Caller, limit int, cursor string) (List[Schedule], error) {
	if err := CheckCaller(by); err != nil {
		return List[Schedule]{}, err
	}
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return List[Schedule]{}, err
	}
	records, next, err := s.stores.Schedules(ctx, by.User, cursor, limit, s.opt.Limits.PageBytesMax)
	if err != nil {
		return List[Schedule]{}, AsError(err)
	}
	list := List[Schedule]{Next: next}
	for _, r := range records {
		list.Items = append(list.Items, r.view())
	}
	return list, nil
}

// Schedule shows one to its owner, and to operators.
func (s *Service) Schedule(ctx context.Context, by Caller, id string) (Schedule, error) {
	r, _, err := s.schedule(ctx, by, id)
	return r.view(), err
}

// schedule reads the record of a schedule of the caller's.
func (s *Service) schedule(ctx context.Context, by Caller, id string) (ScheduleRecord, int64, error) {
	if err := CheckCaller(by); err != nil {
		return ScheduleRecord{}, 0, err
	}
	if !ValidID(id) {
		return ScheduleRecord{}, 0, Invalid("schedule: not a valid id")
	}
	r, nowMs, err := s.stores.Schedule(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && r.Plan.Owner != by.User && !by.Admin:
		return ScheduleRecord{}, 0, errNoSchedule
	case err != nil:
		return ScheduleRecord{}, 0, AsError(err)
	}
	return r, nowMs, nil
}

// ChangeSchedule changes what is pending or paused. ErrConflict for what has ended.
func (s *Service) ChangeSchedule(ctx context.Context, by Caller, id string, c ScheduleChange) (Schedule, error) {
	for range changeTries {
		r, nowMs, err := s.schedule(ctx, by, id)
		if err != nil {
			return Schedule{}, err
		}
		if r.State.Ended() {
			return Schedule{}, Errorf(CodeConflict, "the schedule is %s", r.State)
		}
		if err := s.change(&r, c, nowMs); err != nil {
			return Schedule{}, err
		}
		r, err = s.stores.ChangeSchedule(ctx, r)
		if err == nil {
			return r.view(), nil
		}
		if !errors.Is(err, ErrConflict) {
			return Schedule{}, s.notThere(err)
		}
	}
	return Schedule{}, ErrConflict
}

// notThere names what was not found.
func (s *Service) notThere(err error) error {
	if errors.Is(err, ErrNotFound) {
		return errNoSchedule
	}
	return AsError(err)
}

// change applies a change to a record that has not ended.
func (s *Service) change(r *ScheduleRecord, c ScheduleChange, nowMs int64) error {
	p := &r.Plan
	if c.Body != nil || c.Data != nil {
		if err := s.changeContent(p, c); err != nil {
			return err
		}
	}
	if c.Misfire != nil {
		if err := p.setMisfire(*c.Misfire); err != nil {
			return err
		}
	}
	if c.At != nil && p.recurs() {
		return Invalid("at: the schedule recurs; change its cron")
	}
	moved, err := p.setCron(c.Cron, c.Timezone)
	if err != nil {
		return err
	}
	if err := p.setBounds(c.Until, c.Count); err != nil {
		return err
	}
	if p.Count > 0 && r.Fired >= p.Count {
		return Errorf(CodeOutOfRange, "count: it has fired %d times", r.Fired)
	}
	was := r.State
	if c.Paused != nil {
		if r.State = SchedulePending; *c.Paused {
			r.State = SchedulePaused
		}
	}
	resumes := was == SchedulePaused && r.State == SchedulePending
	switch {
	case c.At != nil:
		r.NextMs, err = p.once(*c.At, nowMs)
	case moved, p.recurs() && resumes, c.Until != nil && r.State == SchedulePaused:
		r.NextMs, err = p.again(nowMs)
	case c.Until != nil && r.NextMs > p.UntilMs:
		err = errUntil // else the next occurrence stays: it may be due already
	}
	return err
}

// changeContent checks a new body or new data as that of a send.
func (s *Service) changeContent(p *SchedulePlan, c ScheduleChange) error {
	if c.Body != nil {
		p.Body = c.Body
	}
	if c.Data != nil {
		p.Data = c.Data
	}
	e, err := s.draftEntry(p.owner(), p.Group, p.draft())
	if err != nil {
		return err
	}
	p.Body, p.Data = e.Body, e.Data
	return nil
}

// CancelSchedule ends a schedule: once it has returned, nothing fires. Repeating it is harmless; ErrConflict for one that
// ended otherwise.
func (s *Service) CancelSchedule(ctx context.Context, by Caller, id string) error {
	if _, _, err := s.schedule(ctx, by, id); err != nil {
		return err
	}
	err := s.stores.CancelSchedule(ctx, id)
	if errors.Is(err, ErrConflict) {
		return Errorf(CodeConflict, "the schedule has fired to its end")
	}
	return s.notThere(err)
}

// RunSchedule sends now what is pending or paused, with the rights of its owner. One that fires once has ended then; one
// that recurs keeps its plan. A refusal is returned and changes nothing. A repeat with the same key, unless it is empty, sends
// nothing further: the schedule remembers the newest of them.
func (s *Service) RunSchedule(ctx context.Context, by Caller, id, key string) (Schedule, error) {
	request := rand.Text()
	if key != "" {
		request = Hash([]byte(by.User), []byte(key))
	}
	for range changeTries {
		r, nowMs, err := s.schedule(ctx, by, id)
		if err != nil {
			return Schedule{}, err
		}
		if r.State.Ended() && key == "" {
			return Schedule{}, Errorf(CodeConflict, "the schedule is %s", r.State)
		}
		f, err := s.newFiring(ctx, r, nowMs)
		if err != nil {
			return Schedule{}, err
		}
		f.Run = request
		_, err = s.stores.Fire(ctx, f)
		switch {
		case err == nil:
			return s.Schedule(ctx, by, id)
		case !errors.Is(err, ErrConflict):
			return Schedule{}, AsError(err)
		case r.State.Ended():
			return Schedule{}, Errorf(CodeConflict, "the schedule is %s", r.State)
		}
	}
	return Schedule{}, ErrConflict
}
