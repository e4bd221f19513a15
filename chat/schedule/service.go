package schedule

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// changeTries bounds how often a change starts over because the schedule fired or changed meanwhile.
const changeTries = 8

// Service schedules messages and sends them when they are due. It is safe for concurrent use.
type Service struct {
	core     *chat.Service
	store    Store
	webhooks *webhook.Service
	opt      chat.Options

	// Failed, if set, is told what was not sent. It may be called again for the same occurrence.
	Failed func(ctx context.Context, t FailedTask, reason string) error
	// Failures are the schedules that were told to Failed lately; some may have sent since.
	Failures func(ctx context.Context) ([]Failure, error)
	// Waiting pages through the schedules that wait for their time.
	Waiting func(ctx context.Context, cursor string, limit int) (ids []string, next string, err error)
}

// New makes a Service that sends with the rights and limits of core, and publishes failures to webhooks.
func New(core *chat.Service, store Store, webhooks *webhook.Service) *Service {
	return &Service{core: core, store: store, webhooks: webhooks, opt: core.Options()}
}

// Handlers returns the tasks of schedules, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{
		TaskFire:   chat.Patient(s.fire),
		TaskFailed: chat.Handle(s.reportFailed),
		TaskForget: chat.Handle(s.forget),
	}
}

var errNotFound = &chat.Error{Code: chat.CodeNotFound, Message: "no such schedule"}

// Create schedules a message to a group or a user, once or recurring. The caller must be allowed to send it now; that
// is checked again whenever it fires.
func (s *Service) Create(ctx context.Context, by chat.Caller, d Draft) (Schedule, error) {
	if (d.At == nil) == (d.Cron == "") {
		return Schedule{}, chat.Invalid("at, cron: one of the two")
	}
	if d.Cron == "" && d.Timezone != "" {
		return Schedule{}, chat.Invalid("timezone: only with cron")
	}
	misfire := cmp.Or(d.Misfire, MisfireSend)
	if err := checkFields(&misfire, d.Count); err != nil {
		return Schedule{}, err
	}
	p, err := s.newPlan(ctx, by, d.Group, d.User, d.Content)
	if err != nil {
		return Schedule{}, err
	}
	p.Cron, p.Timezone, p.Misfire = d.Cron, d.Timezone, misfire
	if err := p.setBounds(d.Until, d.Count); err != nil {
		return Schedule{}, err
	}
	key := ""
	if d.Key != "" {
		key = "request " + d.Key
	}
	v, _, err := s.plan(ctx, p, "at", d.At, key)
	return v, err
}

// SendLater schedules a send: the message is sent at the given time with the same client_id. A repeat with a known
// client_id returns the same schedule.
func (s *Service) SendLater(ctx context.Context, by chat.Caller, group string, c chat.Content, at time.Time) (v Schedule, duplicate bool, err error) {
	p, err := s.newPlan(ctx, by, group, "", c)
	if err != nil {
		return Schedule{}, false, err
	}
	return s.plan(ctx, p, "deliver_at", &at, p.sendKey())
}

// SendDirectLater schedules an item for a user's inbox, as SendLater does.
func (s *Service) SendDirectLater(ctx context.Context, by chat.Caller, to string, d chat.Direct, at time.Time) (v Schedule, duplicate bool, err error) {
	p, err := s.newPlan(ctx, by, "", to, d.Content())
	if err != nil {
		return Schedule{}, false, err
	}
	return s.plan(ctx, p, "deliver_at", &at, p.sendKey())
}

// sendKey names the schedule of a send by its client_id.
func (p Plan) sendKey() string {
	if p.ClientID == "" {
		return ""
	}
	return "send " + p.ClientID
}

// plan creates the schedule of a plan by the clock of the store. field is the request's name for at.
func (s *Service) plan(ctx context.Context, p Plan, field string, at *time.Time, key string) (v Schedule, duplicate bool, err error) {
	nowMs, err := s.store.Clock(ctx)
	if err != nil {
		return Schedule{}, false, chat.AsError(err)
	}
	var nextMs int64
	if at != nil {
		nextMs, err = p.once(field, *at, nowMs)
	} else {
		nextMs, err = p.again(nowMs)
	}
	if err != nil {
		return Schedule{}, false, err
	}
	n := NewSchedule{Plan: p, NextMs: nextMs, Key: key, Content: p.hash()}
	if s.core.Asks(p.Group) {
		if n, err = s.asked(ctx, n); err != nil {
			return Schedule{}, false, err
		}
	}
	r, duplicate, err := s.store.CreateSchedule(ctx, n)
	if err != nil {
		return Schedule{}, false, chat.AsError(err)
	}
	return r.view(), duplicate, nil
}

// asked is n as it is to be made: what is new is decided about.
func (s *Service) asked(ctx context.Context, n NewSchedule) (NewSchedule, error) {
	p, key := n.Plan, ""
	if n.Key != "" {
		key = "schedule " + n.Key
		id, err := s.store.ReviewOf(ctx, p.Group, p.User, p.Owner, key, n.Content)
		if id != "" {
			err = &chat.InReview{ID: id}
		}
		known := false
		if err == nil {
			known, err = s.store.HasSchedule(ctx, n)
		}
		if err != nil || known {
			return n, chat.AsError(err)
		}
	}
	var err error
	n.Plan.Content, err = s.core.Ask(ctx, p.question(n.Key, n.NextMs))
	if r, ok := chat.IsInReview(err); ok {
		return n, s.core.Review(ctx, n.review(r.Reason, s.opt.Now()), key, n.Content)
	}
	return n, err
}

// review is n as it waits for a moderator.
func (n NewSchedule) review(reason string, nowMs int64) chat.Review {
	p := n.Plan
	message := p.Content
	n.Plan.Content = chat.Content{}
	return chat.Review{Group: p.Group, To: p.User, From: p.Owner, Via: p.Via, Operator: p.Operator, Reason: reason, At: chat.TimeMs(nowMs),
		Message: message, Schedule: chat.Encode(n)}
}

// Reviewed is the schedule of a message that waits for a moderator.
func Reviewed(r chat.Review) (n NewSchedule, err error) {
	if err := json.Unmarshal(r.Schedule, &n); err != nil {
		return n, fmt.Errorf("the schedule of review %s cannot be read: %w", r.ID, err)
	}
	n.Plan.Content = r.Message
	return n, nil
}

// Release makes the schedule of a message that was reviewed, with the rights that its owner has now. What was due meanwhile is sent at
// once, and passed if it recurs.
func (s *Service) Release(ctx context.Context, r chat.ReviewEnd) error {
	n, err := Reviewed(r.Review)
	if err != nil {
		return err
	}
	if r.Group != "" {
		_, err = s.core.MayPost(ctx, r.Caller(), r.Group)
	} else {
		err = s.core.MayWrite(ctx, r.Caller(), r.To)
	}
	if err != nil {
		return err
	}
	nowMs, err := s.store.Clock(ctx)
	if err == nil && n.NextMs < nowMs {
		if n.NextMs = nowMs; n.Plan.recurs() {
			n.NextMs, err = n.Plan.again(nowMs)
		}
	}
	if err != nil {
		return chat.AsError(err)
	}
	n.Release = &r
	_, _, err = s.store.CreateSchedule(ctx, n)
	return chat.AsError(err)
}

// question asks about what the plan sends, first at nextMs.
func (p Plan) question(key string, nextMs int64) chat.Question {
	at := chat.TimeMs(nextMs)
	return chat.Question{By: p.owner(), Group: p.Group, To: p.User, Key: key, DeliverAt: &at, Content: p.Content}
}

// List lists the caller's schedules, oldest first; ended ones stay for a day.
func (s *Service) List(ctx context.Context, by chat.Caller, limit int, cursor string) (chat.List[Schedule], error) {
	if err := chat.CheckCaller(by); err != nil {
		return chat.List[Schedule]{}, err
	}
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return chat.List[Schedule]{}, err
	}
	records, next, err := s.store.SchedulesOf(ctx, by, cursor, limit, s.opt.Limits.PageBytesMax)
	if err != nil {
		return chat.List[Schedule]{}, chat.AsError(err)
	}
	list := chat.List[Schedule]{Next: next}
	for _, r := range records {
		list.Items = append(list.Items, r.view())
	}
	return list, nil
}

// Get shows a schedule to its owner, and to operators.
func (s *Service) Get(ctx context.Context, by chat.Caller, id string) (Schedule, error) {
	r, _, err := s.record(ctx, by, id)
	return r.view(), err
}

// record reads the record of one of the caller's schedules.
func (s *Service) record(ctx context.Context, by chat.Caller, id string) (Record, int64, error) {
	if err := cmp.Or(chat.CheckCaller(by), chat.CheckID("schedule", id)); err != nil {
		return Record{}, 0, err
	}
	r, nowMs, err := s.store.Schedule(ctx, id)
	switch {
	case errors.Is(err, chat.ErrNotFound), err == nil && (r.Plan.Owner != by.User && !by.Admin || !r.Plan.ReachedBy(by)):
		return Record{}, 0, errNotFound
	case err != nil:
		return Record{}, 0, chat.AsError(err)
	}
	return r, nowMs, nil
}

// Change changes a schedule that is pending or paused. ErrConflict: it has ended.
func (s *Service) Change(ctx context.Context, by chat.Caller, id string, c Change) (Schedule, error) {
	if err := checkFields(c.Misfire, c.Count); err != nil {
		return Schedule{}, err
	}
	for range changeTries {
		r, nowMs, err := s.record(ctx, by, id)
		if err != nil {
			return Schedule{}, err
		}
		if r.State.Ended() {
			return Schedule{}, chat.Errorf(chat.CodeConflict, "the schedule is %s", r.State)
		}
		was := r
		if err := s.change(ctx, &r, c, nowMs); err != nil {
			return Schedule{}, err
		}
		moves := r.NextMs != was.NextMs || r.State != was.State
		r, err = s.store.ChangeSchedule(ctx, r, moves && !by.Admin)
		if err == nil {
			return r.view(), nil
		}
		if !errors.Is(err, chat.ErrConflict) {
			return Schedule{}, s.notThere(err)
		}
	}
	return Schedule{}, chat.ErrConflict
}

// notThere adds to ErrNotFound what was not found.
func (s *Service) notThere(err error) error {
	if errors.Is(err, chat.ErrNotFound) {
		return errNotFound
	}
	return chat.AsError(err)
}

// change applies a change to a record that has not ended.
func (s *Service) change(ctx context.Context, r *Record, c Change, nowMs int64) error {
	p := &r.Plan
	if c.Content.Given() {
		content, err := p.Revised(c.Content).Checked(s.opt.Limits)
		if err == nil {
			err = c.Content.NamesNoFiles()
		}
		if err != nil {
			return err
		}
		p.Content = content
	}
	if c.Misfire != nil {
		p.Misfire = *c.Misfire
	}
	if c.At != nil && p.recurs() {
		return chat.Invalid("at: the schedule recurs; change its cron")
	}
	moved, err := p.setCron(c.Cron, c.Timezone)
	if err != nil {
		return err
	}
	if err := p.setBounds(c.Until, c.Count); err != nil {
		return err
	}
	if p.Count > 0 && r.Fired >= p.Count {
		return chat.Errorf(chat.CodeOutOfRange, "count: must be above %d, the times it has fired", r.Fired)
	}
	was := r.State
	if c.Paused != nil {
		if r.State = Pending; *c.Paused {
			r.State = Paused
		}
	}
	resumes := was == Paused && r.State == Pending
	switch {
	case c.At != nil:
		r.NextMs, err = p.once("at", *c.At, nowMs)
	case moved, p.recurs() && resumes, c.Until != nil && r.State == Paused:
		r.NextMs, err = p.again(nowMs)
	case c.Until != nil && r.NextMs > p.UntilMs:
		err = errUntil // otherwise the next occurrence stays: it may be due already
	}
	if err == nil && c.Content.Given() {
		p.Content, err = s.core.Ask(ctx, p.question("", r.NextMs))
		if _, ok := chat.IsInReview(err); ok {
			err = chat.Refusal("a change that a moderator would have to see is not made: make a new schedule")
		}
	}
	return err
}

// Cancel ends a schedule: after it returns, nothing fires. Repeating it is harmless; ErrConflict: it ended in another
// way.
func (s *Service) Cancel(ctx context.Context, by chat.Caller, id string) error {
	r, _, err := s.record(ctx, by, id)
	if err != nil {
		return err
	}
	err = s.store.CancelSchedule(ctx, r.ID)
	if errors.Is(err, chat.ErrConflict) {
		return chat.Errorf(chat.CodeConflict, "the schedule has already ended")
	}
	return s.notThere(err)
}

// SendNow sends a pending or paused schedule now, with the rights of its owner. That ends one that fires once; a
// recurring one keeps its plan. A refusal is returned and changes nothing. A repeat with the same non-empty key sends
// nothing more: the schedule remembers the newest key.
func (s *Service) SendNow(ctx context.Context, by chat.Caller, id, key string) (Schedule, error) {
	request := rand.Text()
	if key != "" {
		request = chat.Hash([]byte(by.User), []byte(key))
	}
	for range changeTries {
		r, nowMs, err := s.record(ctx, by, id)
		if err != nil {
			return Schedule{}, err
		}
		if r.State.Ended() && key == "" {
			return Schedule{}, chat.Errorf(chat.CodeConflict, "the schedule is %s", r.State)
		}
		f, err := s.newFiring(ctx, r, nowMs)
		if err != nil {
			return Schedule{}, err
		}
		f.Run = request
		_, err = s.store.Fire(ctx, f)
		switch {
		case err == nil:
			return s.Get(ctx, by, id)
		case !errors.Is(err, chat.ErrConflict):
			return Schedule{}, chat.AsError(err)
		case r.State.Ended():
			return Schedule{}, chat.Errorf(chat.CodeConflict, "the schedule is %s", r.State)
		}
	}
	return Schedule{}, chat.ErrConflict
}
