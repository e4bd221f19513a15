package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
)

var _ schedule.Store = (*Store)(nil)

var (
	scheduleCreateScript  = newScript("schedule/create")
	scheduleChangeScript  = newScript("schedule/change")
	scheduleCancelScript  = newScript("schedule/cancel")
	scheduleForgetScript  = newScript("schedule/forget")
	scheduleIndexScript   = newScript("schedule/index")
	scheduleUnindexScript = newScript("schedule/unindex")
	fireGroupScript       = newScript("schedule/fire_group")
	fireInboxScript       = newScript("schedule/fire_inbox")
)

// scheduleFields are what schedule_record of lib/schedule.lua reads, in its order.
var scheduleFields = []string{"plan", "state", "version", "created_ms", "next_ms", "fired", "sent", "missed", "last_id", "last_ms",
	"last_error"}

// Clock is the clock of the server, which decides what is due.
func (s *Store) Clock(ctx context.Context) (int64, error) {
	now, err := s.client.Time(ctx).Result()
	if broken(err) && ctx.Err() == nil {
		now, err = s.client.Time(ctx).Result()
	}
	if err != nil {
		return 0, fail("time", err)
	}
	return now.UnixMilli(), nil
}

// scheduleKeys are the keys of one schedule as its scripts take them: its own, and those of the queue's shard beside it.
func (s *Store) scheduleKeys(id string) ([]string, error) {
	key, p, ok := s.keys.schedule(id)
	if !ok {
		return nil, chat.ErrNotFound
	}
	return append([]string{key}, s.keys.queue(p).Work()...), nil
}

// scheduleID makes an id in the partition of the target: with a key always the same.
func (s *Store) scheduleID(p schedule.Plan, key string) string {
	partition := s.keys.partition(target(p))
	if key == "" {
		return fmt.Sprintf("p%02d-%s", partition, rand.Text())
	}
	return fmt.Sprintf("p%02d-%s", partition, hashed(p.Owner+"\n"+p.Group+"\n"+p.User+"\n"+key))
}

// target is the group or the user that a plan is for.
func target(p schedule.Plan) string { return p.Group + p.User }

// CreateSchedule makes a schedule. The index comes first: an entry without a schedule is dropped when it is listed.
func (s *Store) CreateSchedule(ctx context.Context, n schedule.NewSchedule) (schedule.Record, bool, error) {
	plan, err := json.Marshal(n.Plan)
	if err != nil {
		return schedule.Record{}, false, broke("schedule_create", err)
	}
	id := s.scheduleID(n.Plan, n.Key)
	keys, err := s.scheduleKeys(id)
	if err != nil {
		return schedule.Record{}, false, err
	}
	index := call{scheduleIndexScript, []string{s.keys.user(n.Plan.Owner).schedules()}, []any{id, s.limits.UserSchedulesMax}}
	r, err := s.runSafe(ctx, index)
	if errors.Is(err, chat.ErrOutOfRange) && s.dropEnded(ctx, n.Plan.Owner) {
		r, err = s.runSafe(ctx, index)
	}
	if err != nil {
		return schedule.Record{}, false, err
	}
	r, err = s.runSafe(ctx, call{scheduleCreateScript, keys, []any{id, plan, shortHash(n.Content), r.number(1), n.NextMs}})
	if err != nil {
		return schedule.Record{}, false, err
	}
	made, err := asSchedule(id, r[2:])
	// Without a key only a repeat of this very call can have made it before.
	return made, r.number(1) == 1 && n.Key != "", err
}

// Schedule reads one schedule and the clock.
func (s *Store) Schedule(ctx context.Context, id string) (schedule.Record, int64, error) {
	key, _, ok := s.keys.schedule(id)
	if !ok {
		return schedule.Record{}, 0, chat.ErrNotFound
	}
	var fields *redis.SliceCmd
	var now *redis.TimeCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		fields, now = pipe.HMGet(ctx, key, scheduleFields...), pipe.Time(ctx)
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
		// Trying again is of no use: the task of such a schedule is buried, and holds up no other.
		return schedule.Record{}, &chat.Error{Code: chat.CodeInvalid, Message: "the schedule cannot be read", Cause: err}
	}
	return r, nil
}

// ChangeSchedule replaces what was read, if it is still that.
func (s *Store) ChangeSchedule(ctx context.Context, was schedule.Record) (schedule.Record, error) {
	plan, err := json.Marshal(was.Plan)
	if err != nil {
		return schedule.Record{}, broke("schedule_change", err)
	}
	keys, err := s.scheduleKeys(was.ID)
	if err != nil {
		return schedule.Record{}, err
	}
	r, err := s.runSafe(ctx, call{scheduleChangeScript, keys, []any{was.ID, was.Version, plan, string(was.State), was.NextMs}})
	if err != nil {
		return schedule.Record{}, err
	}
	return asSchedule(was.ID, r[1:])
}

// CancelSchedule ends a schedule: nothing fires any longer.
func (s *Store) CancelSchedule(ctx context.Context, id string) error {
	keys, err := s.scheduleKeys(id)
	if err == nil {
		_, err = s.runSafe(ctx, call{scheduleCancelScript, keys, []any{id}})
	}
	return err
}

// Fire sends what is due, or what a request wants to be sent now, and writes what became of it.
func (s *Store) Fire(ctx context.Context, f schedule.Firing) (schedule.Fired, error) {
	keys, err := s.scheduleKeys(f.ID)
	if err != nil {
		return schedule.Fired{}, err
	}
	failed, err := json.Marshal(f.Failed)
	if err != nil {
		return schedule.Fired{}, broke("fire", err)
	}
	args := []any{f.ID, f.Version, f.Run, flag(f.Recurs), f.NextMs, f.Missed, string(f.Refused), failed[:len(failed)-1]}
	c := call{script: fireInboxScript}
	var moreKeys []string
	var moreArgs []any
	if f.Append != nil {
		c.script = fireGroupScript
		args = append(args, f.Epoch)
		moreKeys, moreArgs = s.appendArgs(*f.Append)
	} else {
		moreKeys, moreArgs = s.inboxArgs(*f.Item)
	}
	c.keys, c.args = append(keys, moreKeys...), append(args, moreArgs...)
	r, err := s.runSafe(ctx, c)
	if err != nil {
		return schedule.Fired{}, err
	}
	done := schedule.Fired{Outcome: schedule.Outcome(r.text(1))}
	switch {
	case done.Outcome == schedule.OutcomeEarly:
		done.Wait = time.Duration(r.number(2)) * time.Millisecond
	case done.Outcome == schedule.OutcomeSent && f.Append != nil:
		s.afterAppend(ctx, f.Append.Group, r[1:])
	case done.Outcome == schedule.OutcomeSent:
		s.forgetInboxSender(ctx, f.Item.To, r[1:].text(4))
	}
	return done, nil
}

// ForgetSchedule removes a schedule that has ended. The index goes first: a key that is used again between the two finds
// the schedule still there, and whatever is made after has an entry of its own.
func (s *Store) ForgetSchedule(ctx context.Context, id string) error {
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
	key, _, _ := s.keys.schedule(id)
	_, err = s.runSafe(ctx, call{scheduleForgetScript, []string{key}, nil})
	return err
}

// dropSchedules takes schedules out of their owner's index.
func (s *Store) dropSchedules(ctx context.Context, owner string, ids ...string) error {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	_, err := s.runSafe(ctx, call{scheduleUnindexScript, []string{s.keys.user(owner).schedules()}, args})
	return err
}

// scheduleCursor is a place in an index: when the last one of a page was made, and its id.
func scheduleCursor(ms int64, id string) string { return strconv.FormatInt(ms, 10) + "." + id }
