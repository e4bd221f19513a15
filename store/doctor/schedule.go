package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/layout"
)

// scheduleKeptFor is how long an ended schedule is kept.
const scheduleKeptFor = 24 * time.Hour

type scheduleKeys struct{ partition, name string }

var scheduleNames = names(func(k scheduleKeys) string { return k.partition },
	layout.Names(layout.Schedule, func(k scheduleKeys) string { return k.name }))

var (
	scheduleScript    = newReader("schedule", scheduleNames)
	fixScheduleScript = newScript("fix_schedule", userNames)
)

// schedules examines schedules and their tasks.
type schedules struct{ *exam }

// scheduleLook is the answer of schedule.lua, and the owner.
type scheduleLook struct {
	state            schedule.State
	owner            string
	task, dead, ends bool
}

func (d *schedules) scheduleLook(ctx context.Context, k key) (l scheduleLook, err error) {
	keys := scheduleKeys{d.keys.part(k.Partition), k.name}
	r, err := d.run.do(ctx, scheduleScript.On(keys).Arg("id", k.ID))
	if err != nil {
		return l, err
	}
	var plan schedule.Plan
	if json.Unmarshal([]byte(r.Text(2)), &plan) == nil {
		l.owner = plan.Owner
	}
	l.state = schedule.State(r.Text(0))
	l.task, l.dead, l.ends = r.Number(3) == 1, r.Number(4) == 1, r.Number(5) == 1
	return l, nil
}

// schedule checks that a pending schedule has the task that sends it, and an ended one the task that removes it.
func (d *schedules) schedule(ctx context.Context, k key) error {
	l, err := d.scheduleLook(ctx, k)
	if err != nil || l.state == "" {
		return err
	}
	f := Finding{Kind: KindSchedule, Key: k.name}
	switch {
	case l.owner == "":
		f.Message = "has a plan that cannot be read"
	case l.state == schedule.Pending && l.dead:
		f.Message = "waits for a task that is dead: retry it with chatd tasks retry"
	case l.state == schedule.Pending && !l.task:
		f.Message, f.Repair = "is pending, but has no task that would send it", "enqueue the task"
		f.fix = func(ctx context.Context) error { return d.reschedule(ctx, k.ID) }
	case l.state.Ended() && !l.ends:
		f.Message, f.Repair = "has ended, but has no task that would remove it", "enqueue the task"
		f.fix = func(ctx context.Context) error { return d.forgetLater(ctx, k.ID) }
	case !l.state.Ended():
		return d.scheduleIndex(ctx, k, l.owner)
	default:
		return nil
	}
	return d.found(ctx, f)
}

// reschedule recreates the task by a change that changes nothing else.
func (d *schedules) reschedule(ctx context.Context, id string) error {
	r, _, err := d.store.Schedule(ctx, id)
	if err != nil || r.State != schedule.Pending {
		return err
	}
	_, err = d.store.ChangeSchedule(ctx, r, false)
	return err
}

func (d *schedules) forgetLater(ctx context.Context, id string) error {
	return d.enqueue(ctx, queue.Task{ID: id + ".end", Kind: schedule.TaskForget, Priority: queue.Low, Delay: scheduleKeptFor},
		map[string]string{"schedule": id})
}

// scheduleIndex checks that the owner of a pending schedule can find it. The index is written first and loses only
// ended schedules, so the state is read again after it.
func (d *schedules) scheduleIndex(ctx context.Context, k key, owner string) error {
	u := d.keys.user(owner)
	err := d.store.Client().ZScore(ctx, u.base+"schedules", k.ID).Err()
	if !errors.Is(err, redis.Nil) {
		return err
	}
	l, err := d.scheduleLook(ctx, k)
	if err != nil || l.state == "" || l.state.Ended() {
		return err
	}
	return d.found(ctx, Finding{Kind: KindIndex, Key: u.base + "schedules", Message: fmt.Sprintf("lacks the schedule %s", k.ID),
		Repair: "add the schedule", fix: d.runs(fixScheduleScript.On(u).Arg("id", k.ID))})
}

// scheduleTasks looks for delayed tasks of schedules that no longer exist: they would wait for nothing. One that has
// failed is left to the engine.
func (d *schedules) scheduleTasks(ctx context.Context) error {
	for cursor := ""; ; {
		infos, next, err := d.core.List(ctx, queue.ListQuery{State: queue.Delayed, Cursor: cursor, Limit: keysStep})
		if err != nil {
			return err
		}
		for _, info := range infos {
			if info.Kind != schedule.TaskFire && info.Kind != schedule.TaskForget || info.Attempts+info.Crashes > 0 {
				continue
			}
			if err := d.scheduleTask(ctx, info); err != nil {
				return err
			}
		}
		if cursor = next; next == "" {
			return nil
		}
	}
}

func (d *schedules) scheduleTask(ctx context.Context, info queue.Info) error {
	var p schedule.FireTask
	partition, ok := queue.PartitionOf(info.ID)
	if !ok || json.Unmarshal(info.Payload, &p) != nil {
		return nil // the engine turns it into a dead letter
	}
	keys := queue.NewKeys(d.keys.prefix, partition, chat.QueueCore)
	var waits *redis.FloatCmd
	var there *redis.IntCmd
	err := d.instant(ctx, func(pipe redis.Pipeliner) {
		waits, there = pipe.ZScore(ctx, keys.Of("delayed"), info.ID), pipe.Exists(ctx, d.keys.part(partition)+"s:"+p.Schedule)
	})
	if err != nil {
		return err
	}
	if waits.Err() != nil || there.Val() > 0 {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindSchedule, Key: keys.Of("tasks"), Message: fmt.Sprintf("holds task %s of schedule %s, which is gone", info.ID, p.Schedule),
		Repair: "cancel the task", fix: func(ctx context.Context) error {
			_, err := d.core.Cancel(ctx, info.ID)
			if errors.Is(err, queue.ErrNotFound) {
				return nil
			}
			return err
		}})
}
