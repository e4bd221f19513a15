package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/store/conn"
)

var _ schedule.Store = (*Store)(nil)

var (
	scheduleCreateScript  = newScript("schedule/create", scheduleNames)
	scheduleChangeScript  = newScript("schedule/change", scheduleNames)
	scheduleCancelScript  = newFreeing("schedule/cancel", scheduleNames)
	scheduleForgetScript  = newFreeing("schedule/forget", scheduleNames)
	scheduleIndexScript   = newScript("schedule/index", userNames)
	scheduleUnindexScript = newFreeing("schedule/unindex", userNames)
	scheduleFiringScript  = newFreeing("schedule/firing", userNames)
	fireGroupScript       = newScript("schedule/fire_group", groupNames)
	fireInboxScript       = newScript("schedule/fire_inbox", userNames)
)

// scheduleFields are what schedule_record of lib/schedule.lua reads, in its order.
var scheduleFields = []string{"plan", "state", "version", "created_ms", "next_ms", "fired", "sent", "missed", "last_id", "last_ms",
	"last_error"}

// Schedules are messages that are sent later, once or again and again.
type Schedules struct {
	*base
	logs    *Logs
	inboxes *Inboxes
}

// Clock is the clock of the server, which decides what is due.
func (s *Schedules) Clock(ctx context.Context) (int64, error) {
	server, err := s.conn.MasterOf(ctx, s.keys.part(0).layout())
	if err != nil {
		return 0, fail("time", err)
	}
	now, err := server.Client.Time(ctx).Result()
	if conn.Broken(err) && ctx.Err() == nil {
		now, err = server.Client.Time(ctx).Result()
	}
	if err != nil {
		return 0, fail("time", err)
	}
	return now.UnixMilli(), nil
}

// queueClock adds TIME to a pipeline. In a cluster it asks the master of key at once instead: in a pipeline, a command without a
// key would go to any node.
func (s *Schedules) queueClock(ctx context.Context, pipe redis.Pipeliner, key string) *redis.TimeCmd {
	if !s.conn.IsCluster() {
		return pipe.Time(ctx)
	}
	now := redis.NewTimeCmd(ctx, "time")
	server, err := s.conn.MasterOf(ctx, key)
	if err == nil {
		return server.Client.Time(ctx)
	}
	now.SetErr(err)
	return now
}

// scheduleKeys are the keys of a schedule. ErrNotFound where none can have this id.
func (s *Schedules) scheduleKeys(id string) (scheduleKeys, error) {
	k, ok := s.keys.schedule(id)
	if !ok {
		return k, chat.ErrNotFound
	}
	return k, nil
}

// scheduleID makes an id in the partition of the target: with a key always the same.
func (s *Schedules) scheduleID(p schedule.Plan, key string) string {
	partition := s.keys.partition(target(p))
	if key == "" {
		return fmt.Sprintf("p%02d-%s", partition, rand.Text())
	}
	return fmt.Sprintf("p%02d-%s", partition, hashed(p.Owner+"\n"+p.Group+"\n"+p.User+"\n"+key))
}

// target is the group or the user that a plan is for.
func target(p schedule.Plan) string { return p.Group + p.User }

// CreateSchedule makes a schedule. Its index entry comes first: one without a schedule is dropped when it is listed.
func (s *Schedules) CreateSchedule(ctx context.Context, n schedule.NewSchedule) (schedule.Record, bool, error) {
	plan, err := json.Marshal(n.Plan)
	if err != nil {
		return schedule.Record{}, false, broke("schedule_create", err)
	}
	id := s.scheduleID(n.Plan, n.Key)
	k, err := s.scheduleKeys(id)
	if err != nil {
		return schedule.Record{}, false, err
	}
	index := scheduleIndexScript.On(s.keys.user(n.Plan.Owner)).Arg("schedule_id", id).
		Arg("schedules_max", s.limits.UserSchedulesMax).Arg("next_ms", s.countedAt(n.Plan, n.NextMs)).
		Arg("firings_max", s.limits.UserFiringsMax)
	r, err := s.runSafe(ctx, index)
	if err != nil && r.text(0) == "SCHEDULES" && s.dropEnded(ctx, n.Plan.Owner) {
		r, err = s.runSafe(ctx, index)
	}
	if err != nil {
		return schedule.Record{}, false, err
	}
	r, err = s.runSafe(ctx, s.releasing(scheduleCreateScript.On(k).Key("reviews", s.reviewsOf(n.Plan.Group, n.Plan.User)).Arg("schedule_id", id).Arg("plan", plan).
		Arg("content", shortHash(n.Content)).Arg("created_ms", r.number(1)).Arg("next_ms", n.NextMs).Arg("owner", target(n.Plan)).
		Arg("epoch", cmp.Or(n.Plan.Epoch, "-")), n.Release, audit.Entry{}))
	if err != nil {
		return schedule.Record{}, false, err
	}
	made, err := asSchedule(id, r[2:])
	// Without a key, only a repeat of this call can have made it already.
	return made, r.number(1) == 1 && n.Key != "", err
}

// HasSchedule tells whether there is a schedule of the key of n.
func (s *Schedules) HasSchedule(ctx context.Context, n schedule.NewSchedule) (bool, error) {
	_, _, err := s.scheduleOf(ctx, s.scheduleID(n.Plan, n.Key))
	if errors.Is(err, chat.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Schedule reads one schedule and the clock. Its ID is another one where that has changed; see moved.
func (s *Schedules) Schedule(ctx context.Context, id string) (schedule.Record, int64, error) {
	r, now, err := s.scheduleOf(ctx, id)
	if !errors.Is(err, chat.ErrNotFound) {
		return r, now, err
	}
	id, err = s.moved(ctx, id, func(p *partKeys, id string) string { return scheduleKeys{p, id}.schedule() })
	if err != nil {
		return r, now, err
	}
	return s.scheduleOf(ctx, id)
}

func (s *Schedules) scheduleOf(ctx context.Context, id string) (schedule.Record, int64, error) {
	k, err := s.scheduleKeys(id)
	if err != nil {
		return schedule.Record{}, 0, err
	}
	var fields *redis.SliceCmd
	var now *redis.TimeCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		fields, now = pipe.HMGet(ctx, k.schedule(), scheduleFields...), s.queueClock(ctx, pipe, k.schedule())
	})
	if err != nil {
		return schedule.Record{}, 0, err
	}
	r, err := asSchedule(id, fields.Val())
	return r, now.Val().UnixMilli(), err
}

// asSchedule reads the fields of a schedule. ErrNotFound where there are none.
func asSchedule(id string, fields reply) (schedule.Record, error) {
	if fields.text(1) == "" {
		return schedule.Record{}, chat.ErrNotFound
	}
	r := schedule.Record{
		ID: id, State: schedule.State(fields.text(1)), Version: fields.number(2), CreatedMs: fields.number(3),
		NextMs: fields.number(4), Fired: fields.number(5), Sent: fields.number(6), Missed: fields.number(7),
		LastID: fields.number(8), LastMs: fields.number(9), LastError: fields.text(10),
	}
	if err := json.Unmarshal([]byte(fields.text(0)), &r.Plan); err != nil {
		// Trying again cannot help: the task of this schedule is buried, and holds up no other.
		return schedule.Record{}, &chat.Error{Code: chat.CodeInvalid, Message: "the schedule cannot be read", Cause: err}
	}
	return r, nil
}

// countedAt is when an occurrence counts among those of its owner; 0: it does not.
func (s *Schedules) countedAt(p schedule.Plan, nextMs int64) int64 {
	if p.Operator || s.limits.UserFiringsMax == 0 {
		return 0
	}
	return nextMs
}

// firesAt records when a schedule fires next; nextMs 0: not at all. bounded: only if there is room.
func (s *Schedules) firesAt(ctx context.Context, owner, id string, nextMs int64, bounded bool) error {
	most := 0
	if bounded {
		most = s.limits.UserFiringsMax
	}
	return s.doSafe(ctx, scheduleFiringScript.On(s.keys.user(owner)).Arg("schedule_id", id).Arg("next_ms", nextMs).
		Arg("firings_max", most))
}

// ChangeSchedule replaces what was read, if it is unchanged. The owner's partition is asked first whether the minute has room;
// if the change then does not happen, that entry is forgotten with the minute.
func (s *Schedules) ChangeSchedule(ctx context.Context, was schedule.Record, bounded bool) (schedule.Record, error) {
	plan, err := json.Marshal(was.Plan)
	if err != nil {
		return schedule.Record{}, broke("schedule_change", err)
	}
	k, err := s.scheduleKeys(was.ID)
	if err != nil {
		return schedule.Record{}, err
	}
	counted := s.countedAt(was.Plan, was.NextMs)
	if counted > 0 && was.State == schedule.Pending {
		if err := s.firesAt(ctx, was.Plan.Owner, was.ID, counted, bounded); err != nil {
			return schedule.Record{}, err
		}
	}
	r, err := s.runSafe(ctx, scheduleChangeScript.On(k).Arg("schedule_id", was.ID).Arg("version", was.Version).
		Arg("plan", plan).Arg("state", string(was.State)).Arg("next_ms", was.NextMs))
	if err != nil {
		return schedule.Record{}, err
	}
	if counted > 0 && was.State == schedule.Paused {
		s.firesNext(ctx, was.Plan.Owner, was.ID, 0)
	}
	return asSchedule(was.ID, r[1:])
}

// CancelSchedule ends a schedule: nothing fires any longer.
func (s *Schedules) CancelSchedule(ctx context.Context, id string) error {
	k, err := s.scheduleKeys(id)
	if err != nil {
		return err
	}
	r, err := s.runSafe(ctx, scheduleCancelScript.On(k).Arg("schedule_id", id))
	if err != nil {
		return err
	}
	var p schedule.Plan
	if err := json.Unmarshal([]byte(r.text(1)), &p); err == nil && s.countedAt(p, 1) > 0 {
		s.firesNext(ctx, p.Owner, id, 0)
	}
	return nil
}

// firesNext records when a changed schedule fires next; nextMs 0: not at all. If that fails, the schedule counts at its former
// time until that has passed.
func (s *Schedules) firesNext(ctx context.Context, owner, id string, nextMs int64) {
	if err := s.firesAt(ctx, owner, id, nextMs, false); err != nil {
		s.log.Debug("cannot note when a schedule fires", "schedule", id, "error", err)
	}
}

// Fire sends what is due, or what a request wants sent now, and records the outcome.
func (s *Schedules) Fire(ctx context.Context, f schedule.Firing) (schedule.Fired, error) {
	c, err := s.fireCall(f)
	if err != nil {
		return schedule.Fired{}, err
	}
	r, err := s.runSafe(ctx, c)
	if errors.Is(err, errStranger) {
		return s.fireToStranger(ctx, f)
	}
	if err != nil {
		return schedule.Fired{}, err
	}
	done := schedule.Fired{Outcome: schedule.Outcome(r.text(1))}
	switch {
	case done.Outcome == schedule.OutcomeEarly:
		done.Wait = time.Duration(r.number(2)) * time.Millisecond
	case done.Outcome == schedule.OutcomeSent && f.Append != nil:
		s.logs.afterAppend(ctx, f.Append.Group, r.text(4), r.number(5) == 1)
	case done.Outcome == schedule.OutcomeSent:
		s.inboxes.forgetInboxSender(ctx, f.Item.To, r[1:].text(4))
	}
	goesOn := f.Run == "" && f.NextMs > 0 && (done.Outcome == schedule.OutcomeSent || f.Refused == schedule.CodeMissed)
	if goesOn && !f.Operator && s.limits.UserFiringsMax > 0 {
		s.firesNext(ctx, f.Failed.Owner, f.ID, f.NextMs)
	}
	return done, nil
}

// fireToStranger fires what is for a user who has never used the server, and counts it against the owner: once for each item,
// however often it is tried.
func (s *Schedules) fireToStranger(ctx context.Context, f schedule.Firing) (schedule.Fired, error) {
	item := *f.Item
	item.ToStrangers, f.Item = true, &item
	err := s.inboxes.claimStranger(ctx, item, fmt.Sprintf("schedule %s %d %s", f.ID, f.Version, f.Run))
	if errors.Is(err, chat.ErrInboxFull) && f.Run == "" {
		f.Refused, err = chat.CodeInboxFull, nil
	}
	if err != nil {
		return schedule.Fired{}, err
	}
	return s.Fire(ctx, f)
}

// fireCall is the call that fires into a group or an inbox: both give lib/fire.lua what it needs.
func (s *Schedules) fireCall(f schedule.Firing) (call, error) {
	k, err := s.scheduleKeys(f.ID)
	if err != nil {
		return call{}, err
	}
	failed, err := json.Marshal(f.Failed)
	if err != nil {
		return call{}, broke("fire", err)
	}
	begin := func(c call) call {
		return c.Key("schedule", k.schedule()).Arg("schedule_id", f.ID).Arg("version", f.Version).Arg("run", f.Run).
			Arg("recurs", f.Recurs).Arg("next_ms", f.NextMs).Arg("missed", f.Missed).Arg("refused", string(f.Refused)).
			Arg("failed", failed[:len(failed)-1])
	}
	if f.Append != nil {
		k := s.keys.group(f.Append.Group)
		return s.logs.appendCall(begin(fireGroupScript.On(k)).Arg("group_epoch", f.Epoch), k, f.Append), nil
	}
	u := s.keys.user(f.Item.To)
	return s.inboxes.inboxCall(begin(fireInboxScript.On(u)), u, *f.Item), nil
}

// ForgetSchedule removes a schedule that has ended. The index goes first: a key that is reused between the two finds
// the schedule still there, and a later one gets a new entry.
func (s *Schedules) ForgetSchedule(ctx context.Context, id string) error {
	r, _, err := s.Schedule(ctx, id)
	if errors.Is(err, chat.ErrNotFound) {
		return nil
	}
	if err != nil || !r.State.Ended() {
		return err
	}
	if err := s.dropSchedules(ctx, r.Plan.Owner, id); err != nil {
		return err
	}
	k, err := s.scheduleKeys(id)
	if err == nil {
		_, err = s.runSafe(ctx, scheduleForgetScript.On(k))
	}
	return err
}

// dropSchedules takes schedules out of their owner's index.
func (s *Schedules) dropSchedules(ctx context.Context, owner string, ids ...string) error {
	return s.doSafe(ctx, scheduleUnindexScript.On(s.keys.user(owner)).List("ids", ids))
}

// scheduleCursor is a position in an index: when the last schedule of a page was made, and its id.
func scheduleCursor(ms int64, id string) string { return strconv.FormatInt(ms, 10) + "." + id }
