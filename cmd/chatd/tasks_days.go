package main

import (
	"errors"
	"fmt"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
)

type tasksDaysCommand struct {
	Days int `default:"7" help:"How many days, today (UTC) included: 1 to 90."`
}

func (d tasksDaysCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	if d.Days < 1 || d.Days > 90 {
		return errors.New("-days: want 1 to 90")
	}
	return t.operate(c, func(server *client.Client) error {
		days, err := server.Days(env.ctx, d.Days)
		if err != nil {
			return err
		}
		rows := &table{head: []string{"DAY", "QUEUE", "KIND", " DONE", " FAILED", " BURIED", " CRASHED"}}
		return printPage(env, t, rows, days, func(d client.DayTotals) []string {
			return []string{d.Day, d.Queue, plain(d.Kind), fmt.Sprint(d.Done), fmt.Sprint(d.Failed), fmt.Sprint(d.Buried), fmt.Sprint(d.Crashed)}
		})
	})
}
