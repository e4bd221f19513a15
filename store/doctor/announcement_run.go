package doctor

import (
	"context"
	"fmt"

	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
)

// pageKeys are the key of a part of an announcement and those of its partition.
type pageKeys struct{ partition, part string }

var pageNames = names(func(k pageKeys) string { return k.partition }, map[string]func(pageKeys) string{
	"part": func(k pageKeys) string { return k.part },
})

var pageScript = newReader("page", pageNames)

// running checks that a run of an announcement continues: until it has begun in every partition, the task that begins it
// is there, and then, in each partition where it is not over, the task of its pages.
func (d *announcements) running(ctx context.Context, a announcementKeys, run int64, priority string) error {
	f := Finding{Kind: KindAnnouncement, Key: a.record()}
	for range suspectTries {
		var missing []queue.Task
		var err error
		if f.Message, missing, err = d.stalled(ctx, a, run); err != nil || f.Message == "" {
			return err
		}
		// It may have ended, or been cancelled, since it was read.
		fields, err := d.store.Client().HMGet(ctx, a.record(), "state", "run").Result()
		if r := script.Reply(fields); err != nil || r.Text(0) != string(announce.Running) || r.Number(1) != run {
			return err
		}
		if missing != nil {
			f.Repair = "enqueue the tasks that are missing"
			f.fix = func(ctx context.Context) error { return d.resume(ctx, a, run, missing, priority) }
		}
	}
	return d.found(ctx, f)
}

// stalled says why a run does not continue; empty: it does. missing are the tasks of pages that are not there; nil if a
// dead letter has to be retried instead.
func (d *announcements) stalled(ctx context.Context, a announcementKeys, run int64) (message string, missing []queue.Task, err error) {
	begin, pages := d.store.AnnouncementTasks(a.id, run)
	look := func(p int, task string) (script.Reply, error) {
		keys := pageKeys{d.keys.part(p), d.keys.part(p) + "a:" + a.id + ":part"}
		return d.run.do(ctx, pageScript.On(keys).Arg("task", task))
	}
	r, err := look(0, begin)
	if err != nil || r.Number(2) == 1 && r.Number(3) == 0 {
		return "", nil, err
	}
	if r.Number(3) == 1 {
		return fmt.Sprintf("is running, and the task %s that begins its run is dead: retry it with chatd tasks retry", begin), nil, nil
	}
	missing = []queue.Task{}
	continues := false
	for p, task := range pages {
		if r, err = look(p, task.ID); err != nil {
			return "", nil, err
		}
		over, there, dead := r.Number(1) == 1, r.Number(2) == 1, r.Number(3) == 1
		switch {
		case r.Number(0) > run:
			return "", nil, nil
		case dead && !over:
			return fmt.Sprintf("is running, and the task %s of its pages is dead: retry it with chatd tasks retry", task.ID), nil, nil
		case there && !dead:
			continues = true // also the task of the last page, which closes the run
		case r.Number(0) < run:
			message = fmt.Sprintf("is running, and has not begun in partition %d", p)
		case !over:
			message = fmt.Sprintf("is running, and has no task for its pages in partition %d", p)
			missing = append(missing, task)
		}
	}
	if message == "" && !continues {
		message = "has delivered everything, and is still running"
	}
	return message, missing, nil
}

// resume does what a run does that was interrupted; what has been done stays done.
func (d *announcements) resume(ctx context.Context, a announcementKeys, run int64, missing []queue.Task, priority string) error {
	if err := d.store.StartAnnouncement(ctx, a.id, run); err != nil {
		return err
	}
	for i := range missing {
		missing[i].Priority = priorityNamed(priority)
	}
	if _, err := d.core.EnqueueAll(ctx, missing); err != nil {
		return err
	}
	return d.store.CloseAnnouncement(ctx, a.id, run)
}

func priorityNamed(name string) queue.Priority {
	for _, p := range []queue.Priority{queue.Critical, queue.High, queue.Low} {
		if p.String() == name {
			return p
		}
	}
	return queue.Normal
}
