package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/admin"
)

type periodicCommand struct {
	List   periodicListCommand   `cmd:"" name:"ls" default:"1" help:"List periodic tasks."`
	Pause  periodicPauseCommand  `cmd:"" help:"Enqueue nothing until they are resumed."`
	Resume periodicResumeCommand `cmd:"" help:"Resume paused ones at their next times."`
	Run    periodicRunCommand    `cmd:"" help:"Enqueue an occurrence now, beside the plan."`
	Delete periodicDeleteCommand `cmd:"" help:"End them; a server that declares one creates it again when it starts."`
}

type periodicListCommand struct{}

func (periodicListCommand) Run(s *Session) error {
	return printAll(s, []string{"ID", "QUEUE", "KIND", "WHEN", "LAST", "NEXT", " FIRED"}, admin.Tasks.Periodic, pageMax, periodicCells)
}

func periodicCells(p admin.Periodic, now time.Time) []string {
	plan := strings.TrimSpace(p.Cron + " " + p.Timezone)
	if p.EveryMs > 0 {
		plan = "every " + (time.Duration(p.EveryMs) * time.Millisecond).String()
	}
	last, next := "never", "never"
	if p.LastAt != nil {
		last = admin.Away(p.LastAt.Sub(now))
	}
	if p.NextAt != nil {
		next = admin.Away(p.NextAt.Sub(now))
	}
	if p.Paused {
		next = "paused"
	}
	return []string{Plain(p.ID), p.Queue, Plain(p.Kind), Plain(plan), last, next, fmt.Sprint(p.Fired)}
}

// periodicIDs are what the other commands work on.
type periodicIDs struct {
	IDs []string `arg:"" name:"id" help:"Ids of periodic tasks."`
}

func (i periodicIDs) steer(s *Session, pause bool) error {
	return s.each(i.IDs, func(tasks admin.Tasks, id string) error {
		p, err := tasks.PausePeriodic(s.Context, id, pause)
		if err != nil {
			return err
		}
		state := "is paused"
		if p.NextAt != nil {
			state = "is due " + admin.Away(time.Until(*p.NextAt))
		}
		return s.print(p, id+" "+state+"\n")
	})
}

type periodicPauseCommand struct{ periodicIDs }

func (p periodicPauseCommand) Run(s *Session) error {
	return p.steer(s, true)
}

type periodicResumeCommand struct{ periodicIDs }

func (r periodicResumeCommand) Run(s *Session) error {
	return r.steer(s, false)
}

type periodicRunCommand struct{ periodicIDs }

func (r periodicRunCommand) Run(s *Session) error {
	return s.each(r.IDs, func(tasks admin.Tasks, id string) error {
		task, err := tasks.RunPeriodic(s.Context, id)
		if err != nil {
			return err
		}
		return s.print(map[string]string{"id": id, "task": task}, task+" is enqueued\n")
	})
}

type periodicDeleteCommand struct{ periodicIDs }

func (d periodicDeleteCommand) Run(s *Session) error {
	return s.each(d.IDs, func(tasks admin.Tasks, id string) error {
		if err := tasks.DeletePeriodic(s.Context, id); err != nil {
			return err
		}
		return s.print(map[string]string{"id": id, "state": "deleted"}, id+" is deleted\n")
	})
}
