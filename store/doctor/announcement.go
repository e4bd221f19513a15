package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/layout"
)

// announcementKeys are the keys of an announcement's record, which is in p00.
type announcementKeys struct{ part, id string }

func (k announcementKeys) record() string { return k.part + "a:" + k.id }

var announcementNames = names(func(k announcementKeys) string { return k.part }, layout.Names(layout.Announcement, announcementKeys.record))

var (
	announcementScript    = newReader("announcement", announcementNames)
	fixAnnouncementScript = newScript("fix_announcement", announcementNames)
	fixTargetsScript      = newScript("fix_targets", announcementNames)
	fixPartScript         = newScript("fix_part", announcementNames)
)

// announcements examines announcements, their parts and their targets.
type announcements struct{ *exam }

func (d *announcements) announcementKey(ctx context.Context, k key) error {
	switch a := (announcementKeys{d.keys.part(0), k.ID}); k.Pattern {
	case "a:<id>":
		return d.announcement(ctx, a)
	case "a:<id>:part":
		return d.announcementPart(ctx, a, k)
	default:
		return d.announcementTargets(ctx, a, k)
	}
}

// announcement checks that an announcement can be read, is listed, and has the task of its next run, or those of the
// current one.
func (d *announcements) announcement(ctx context.Context, a announcementKeys) error {
	r, err := d.run.do(ctx, announcementScript.On(a).Arg("id", a.id))
	if err != nil || r.Text(0) == "" {
		return err
	}
	state, run, nextMs, total, done := announce.State(r.Text(0)), r.Number(1), r.Number(2), r.Number(4), r.Number(5)+r.Number(6)
	f := Finding{Kind: KindAnnouncement, Key: a.record()}
	var plan announce.Plan
	switch {
	case json.Unmarshal([]byte(r.Text(8)), &plan) != nil || plan.From == "":
		f.Message = "has a draft that cannot be read"
	case !slices.Contains([]announce.State{announce.Pending, announce.Running, announce.Done, announce.Cancelled}, state):
		f.Message = fmt.Sprintf("has the unknown state %q", state)
	case done > total:
		f.Message = fmt.Sprintf("counts %d targets, but %d of them as done", total, done)
	case r.Number(12) == 0:
		f.Message, f.Repair = "is missing from the list of announcements", "add it to the list"
		f.fix = d.runs(fixAnnouncementScript.On(a).Arg("id", a.id))
	case state == announce.Pending && r.Number(11) == 1:
		f.Message = "waits for a task that is dead: retry it with chatd tasks retry"
	case state == announce.Pending && r.Number(10) == 0:
		f.Message, f.Repair = "is pending, but has no task that would start its next run", "enqueue the task"
		f.fix = func(ctx context.Context) error { return d.runLater(ctx, a, r.Text(9), r.Text(7), run+1, nextMs) }
	case state == announce.Running:
		return d.running(ctx, a, run, r.Text(7))
	default:
		return nil
	}
	return d.found(ctx, f)
}

// runLater enqueues the task of a run. It does nothing if the run has started meanwhile.
func (d *announcements) runLater(ctx context.Context, a announcementKeys, id, priority string, run, dueMs int64) error {
	now, err := d.store.Clock(ctx)
	if err != nil {
		return err
	}
	return d.enqueue(ctx, queue.Task{ID: id, Kind: announce.TaskRun, Priority: priorityNamed(priority),
		Delay: max(0, time.Duration(dueMs-now)*time.Millisecond)}, announce.RunTask{Announcement: a.id, Run: run})
}

// announcementPart checks the progress of a run in a partition. When an announcement is removed, its parts go first, so
// a part without a record is left over.
func (d *announcements) announcementPart(ctx context.Context, a announcementKeys, k key) error {
	client := d.store.Client()
	run := client.HGet(ctx, a.record(), "run")
	if err := run.Err(); err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	fields, err := client.HMGet(ctx, k.name, "run", "total", "delivered", "failed").Result()
	part := script.Reply(fields)
	if err != nil || part.Text(0) == "" {
		return err
	}
	f := Finding{Kind: KindAnnouncement, Key: k.name}
	switch {
	case run.Err() != nil:
		f.Kind, f.Message, f.Repair = KindOrphan, "belongs to an announcement that is gone", "remove the key"
		f.fix = d.runs(fixPartScript.On(a).Key("own", k.name))
	case part.Number(2)+part.Number(3) > part.Number(1):
		f.Message = fmt.Sprintf("counts %d targets, but %d of them as done", part.Number(1), part.Number(2)+part.Number(3))
	default:
		return nil
	}
	return d.found(ctx, f)
}

// announcementTargets checks the targets of an announcement in one partition.
func (d *announcements) announcementTargets(ctx context.Context, a announcementKeys, k key) error {
	var there *redis.IntCmd
	var record *redis.SliceCmd
	err := d.instant(ctx, func(pipe redis.Pipeliner) {
		there, record = pipe.Exists(ctx, k.name), pipe.HMGet(ctx, a.record(), "state", "closed")
	})
	if err != nil || there.Val() == 0 {
		return err
	}
	r := script.Reply(record.Val())
	if state := announce.State(r.Text(0)); state == "" || r.Text(1) == "1" && (state == announce.Done || state == announce.Cancelled) {
		return d.found(ctx, Finding{Kind: KindOrphan, Key: k.name, Message: "belongs to an announcement that is gone or has ended", Repair: "remove the key",
			fix: d.runs(fixTargetsScript.On(a).Key("own", k.name))})
	}
	return ranges(func(from, to int64) ([]string, error) { return d.store.Client().LRange(ctx, k.name, from, to).Result() }, func(targets []string) error {
		for _, target := range targets {
			_, target = store.AnnouncementTarget(target)
			what, id, _ := strings.Cut(target, " ")
			home := fmt.Sprintf("%02d", queue.Partition(id, d.keys.partitions))
			user, group := what == "u" && chat.ValidUserID(id), what == "g" && chat.ValidGroupID(id)
			if !user && !group || home != k.About {
				return d.found(ctx, Finding{Kind: KindAnnouncement, Key: k.name, Message: "names " + strconv.Quote(target) + ", which is not a user or group of this partition"})
			}
		}
		return nil
	})
}

// announced checks the list of announcements.
func (d *announcements) announced(ctx context.Context, k key) error {
	client := d.store.Client()
	return ranges(func(from, to int64) ([]string, error) { return client.ZRange(ctx, k.name, from, to).Result() }, func(ids []string) error {
		for _, id := range ids {
			a := announcementKeys{d.keys.part(0), id}
			var there *redis.IntCmd
			var listed *redis.FloatCmd
			err := d.instant(ctx, func(pipe redis.Pipeliner) {
				there, listed = pipe.Exists(ctx, a.record()), pipe.ZScore(ctx, k.name, id)
			})
			if err != nil {
				return err
			}
			if there.Val() > 0 || listed.Err() != nil {
				continue
			}
			err = d.found(ctx, Finding{Kind: KindAnnouncement, Key: k.name, Message: "lists announcement " + id + ", which is gone",
				Repair: "take it off the list", fix: d.runs(fixAnnouncementScript.On(a).Arg("id", a.id))})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
