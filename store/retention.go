package store

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/retention"
)

var (
	retentionReadScript   = newReader("retention/read", groupNames)
	retentionExpireScript = newFreeing("retention/expire", groupNames)
	retentionPlanScript   = newFreeing("retention/plan", groupNames)
	retentionRecordScript = newFreeing("retention/record", partNames)
	retentionWalkedScript = newFreeing("retention/walked", partNames)
)

// Retention finds and removes messages that are too old.
type Retention struct {
	*base
}

// Aging reads what decides how old the messages of a group get.
func (s *Retention) Aging(ctx context.Context, group string) (retention.Aging, error) {
	r, err := s.runSafe(ctx, retentionReadScript.On(s.keys.group(group)))
	if err != nil {
		return retention.Aging{}, err
	}
	return retention.Aging{Epoch: r.text(1), Days: r.number(2), OnHold: r.number(3) == 1, Last: r.number(4), Held: r.number(5),
		First: r.number(6), Archived: r.number(7) == 1, Now: chat.TimeMs(r.number(8)).Time,
		Pins: r.number(9) == 1}, nil
}

// Expire takes the entries of a group up to one away because of their age, at most 500 of those that are stored.
func (s *Retention) Expire(ctx context.Context, group, epoch string, days, to int64, mark string) (first int64, err error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, retentionExpireScript.On(k).Arg("group", group).Arg("epoch", epoch).Arg("days", days).
		Arg("id", to).Arg("mark", mark).Arg("channel", k.channel()).Arg("trim_id", k.taskID()))
	return r.number(1), err
}

// PlanRetention enqueues the task of each group whose messages go, one step for each. Groups that do not exist are skipped.
func (s *Retention) PlanRetention(ctx context.Context, groups []string) error {
	calls := make([]call, len(groups))
	for i, group := range groups {
		k := s.keys.group(group)
		calls[i] = retentionPlanScript.On(k).Arg("group", group).Arg("task_id", k.taskID())
	}
	_, errs, err := s.runAll(ctx, calls)
	for _, refused := range errs {
		if err == nil && !errors.Is(refused, chat.ErrNotFound) {
			err = refused
		}
	}
	return err
}

// RecordRetention records in each partition after how many days the messages of all groups go. p00 is the first and says
// whether every group follows: if a node dies in between, the next start goes on.
func (s *Retention) RecordRetention(ctx context.Context, days int64) (followed bool, err error) {
	for p := range s.partitions() {
		r, err := s.runSafe(ctx, retentionRecordScript.On(s.keys.part(p)).Arg("days", days))
		if err != nil {
			return false, err
		}
		if p == 0 && r.number(1) == 1 {
			return true, nil
		}
	}
	return false, nil
}

// RetentionDays reads what is recorded.
func (s *Retention) RetentionDays(ctx context.Context) (int64, error) {
	var days *redis.StringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		days = pipe.HGet(ctx, s.keys.part(0).retention(), "days")
	})
	if err != nil {
		return 0, err
	}
	return number(days.Val()), nil
}

// RetentionWalked records that every group follows a number of days, if that number is still the recorded one.
func (s *Retention) RetentionWalked(ctx context.Context, days int64) error {
	return s.doSafe(ctx, retentionWalkedScript.On(s.keys.part(0)).Arg("days", days))
}
