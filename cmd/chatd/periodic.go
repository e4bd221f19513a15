package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
)

type tasksPeriodicCommand struct {
	List   periodicListCommand   `cmd:"" name:"ls" default:"1" help:"List periodic tasks."`
	Pause  periodicPauseCommand  `cmd:"" help:"Enqueue nothing until they are resumed."`
	Resume periodicResumeCommand `cmd:"" help:"Resume paused ones at their next times."`
	Run    periodicRunCommand    `cmd:"" help:"Enqueue an occurrence now, beside the plan."`
	Delete periodicDeleteCommand `cmd:"" help:"End them; a server that declares one makes it anew when it starts."`
}

type periodicListCommand struct{}

func (periodicListCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return t.operate(c, func(server *client.Client) error {
		rows := &table{head: []string{"ID", "QUEUE", "KIND", "WHEN", "LAST", "NEXT", " FIRED"}}
		for cursor := ""; ; {
			page, next, err := server.PeriodicTasks(env.ctx, client.Page{Limit: pageMax, Cursor: cursor})
			if err != nil {
				return err
			}
			now := time.Now()
			if err := printPage(env, t, rows, page, func(p client.Periodic) []string { return periodicCells(p, now) }); err != nil {
				return err
			}
			if cursor = next; next == "" {
				return nil
			}
		}
	})
}

func periodicCells(p client.Periodic, now time.Time) []string {
	plan := strings.TrimSpace(p.Cron + " " + p.Timezone)
	if p.EveryMs > 0 {
		plan = "every " + (time.Duration(p.EveryMs) * time.Millisecond).String()
	}
	last, next := "never", "never"
	if p.LastAt != nil {
		last = away(p.LastAt.Sub(now))
	}
	if p.NextAt != nil {
		next = away(p.NextAt.Sub(now))
	}
	if p.Paused {
		next = "paused"
	}
	return []string{plain(p.ID), p.Queue, plain(p.Kind), plain(plan), last, next, fmt.Sprint(p.Fired)}
}

// periodicIDs are what the other commands work on.
type periodicIDs struct {
	IDs []string `arg:"" name:"id" help:"Ids of periodic tasks."`
}

func (i periodicIDs) steer(env *environment, c node.Config, t *tasksCommand, pause bool) error {
	return t.each(c, i.IDs, func(server *client.Client, id string) error {
		change := server.ResumePeriodic
		if pause {
			change = server.PausePeriodic
		}
		p, err := change(env.ctx, id)
		if err != nil {
			return err
		}
		state := "is paused"
		if p.NextAt != nil {
			state = "is due " + away(time.Until(*p.NextAt))
		}
		return t.print(env, p, id+" "+state+"\n")
	})
}

type periodicPauseCommand struct{ periodicIDs }

func (p periodicPauseCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return p.steer(env, c, t, true)
}

type periodicResumeCommand struct{ periodicIDs }

func (r periodicResumeCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return r.steer(env, c, t, false)
}

type periodicRunCommand struct{ periodicIDs }

func (r periodicRunCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return t.each(c, r.IDs, func(server *client.Client, id string) error {
		task, err := server.RunPeriodic(env.ctx, id)
		if err != nil {
			return err
		}
		return t.print(env, map[string]string{"id": id, "task": task}, task+" is enqueued\n")
	})
}

type periodicDeleteCommand struct{ periodicIDs }

func (d periodicDeleteCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return t.each(c, d.IDs, func(server *client.Client, id string) error {
		if err := server.DeletePeriodic(env.ctx, id); err != nil {
			return err
		}
		return t.print(env, map[string]string{"id": id, "state": "deleted"}, id+" is deleted\n")
	})
}
