package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

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

// scheduleLook is the answer of schedule.lua, and the owner.
type scheduleLook struct {
	state            schedule.State
	owner            string
	task, dead, ends bool
}

func (d *Doctor) scheduleLook(ctx context.Context, k key) (l scheduleLook, err error) {
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
func (d *Doctor) schedule(ctx context.Context, k key) error {
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
func (d *Doctor) reschedule(ctx context.Context, id string) error {
	r, _, err := d.store.Schedule(ctx, id)
	if err != nil || r.State != schedule.Pending {
		return err
	}
	_, err = d.store.ChangeSchedule(ctx, r, false)
	return err
}

func (d *Doctor) forgetLater(ctx context.Context, id string) error {
	payload, err := json.Marshal(map[string]string{"schedule": id})
	if err != nil {
		return err
	}
	_, err = d.core.EnqueueAll(ctx, []queue.Task{{ID: id + ".end", Kind: schedule.TaskForget, Payload: payload, Priority: queue.Low, Delay: scheduleKeptFor}})
	return err
}

// scheduleIndex checks that the owner of a pending schedule can find it. The index is written first and loses only
// ended schedules, so the state is read again after it.
func (d *Doctor) scheduleIndex(ctx context.Context, k key, owner string) error {
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
		Repair: "add the schedule", fix: func(ctx context.Context) error {
			_, err := d.run.do(ctx, fixScheduleScript.On(u).Arg("id", k.ID))
			return err
		}})
}
