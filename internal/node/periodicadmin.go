package node

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/web"
)

// Periodic lists the periodic tasks queue by queue. A cursor is "<queue>.<position of the engine>".
func (a *taskAdmin) Periodic(ctx context.Context, cursor string, limit int) (page []web.PeriodicInfo, next string, err error) {
	queues, after := a.queues, ""
	if cursor != "" {
		name, inner, ok := strings.Cut(cursor, ".")
		i := slices.IndexFunc(queues, func(q adminQueue) bool { return q.name == name })
		if !ok || i < 0 {
			return nil, "", errTaskCursor
		}
		queues, after = queues[i:], inner
	}
	if limit <= 0 {
		limit = taskPage
	}
	limit = min(limit, taskPageMax)
	for _, q := range queues {
		if len(page) == limit {
			return page, q.name + ".", nil
		}
		infos, more, err := q.client.ListPeriodic(ctx, after, limit-len(page))
		if err != nil {
			return nil, "", taskError(err)
		}
		for _, info := range infos {
			page = append(page, describePeriodic(info))
		}
		if more != "" {
			return page, q.name + "." + more, nil
		}
		after = ""
	}
	return page, "", nil
}

// PausePeriodic pauses or resumes a periodic task.
func (a *taskAdmin) PausePeriodic(ctx context.Context, id string, paused bool) (info web.PeriodicInfo, err error) {
	err = a.withPeriodic(func(c *queue.Client) error {
		change := c.ResumePeriodic
		if paused {
			change = c.PausePeriodic
		}
		if err := change(ctx, id); err != nil {
			return err
		}
		now, err := c.GetPeriodic(ctx, id)
		info = describePeriodic(now)
		return err
	})
	return info, err
}

// RunPeriodic enqueues an occurrence now.
func (a *taskAdmin) RunPeriodic(ctx context.Context, id string) (task string, err error) {
	err = a.withPeriodic(func(c *queue.Client) (err error) {
		task, err = c.RunPeriodic(ctx, id)
		return err
	})
	return task, err
}

// DeletePeriodic ends a periodic task.
func (a *taskAdmin) DeletePeriodic(ctx context.Context, id string) error {
	return a.withPeriodic(func(c *queue.Client) error { return c.DeletePeriodic(ctx, id) })
}

// withPeriodic calls do for each queue until one has the periodic task: an id does not name its queue.
func (a *taskAdmin) withPeriodic(do func(c *queue.Client) error) error {
	for _, q := range a.queues {
		switch err := do(q.client); {
		case errors.Is(err, queue.ErrNotFound):
		case errors.Is(err, queue.ErrConflict):
			return chat.Errorf(chat.CodeConflict, "an earlier occurrence is still waiting")
		default:
			return taskError(err)
		}
	}
	return chat.Errorf(chat.CodeNotFound, "no such periodic task")
}

// describePeriodic leaves out the payload.
func describePeriodic(i queue.PeriodicInfo) web.PeriodicInfo {
	return web.PeriodicInfo{
		Id: i.ID, Queue: i.Queue, Kind: i.Kind, Cron: i.Cron, Timezone: i.Zone, EveryMs: i.Every.Milliseconds(), Misfire: string(i.Misfire),
		Paused: i.Paused, LastAt: timeOrNull(i.Last), NextAt: timeOrNull(i.Next), Fired: i.Fired,
	}
}
