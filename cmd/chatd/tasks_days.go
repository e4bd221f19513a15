package main

import (
	"errors"
	"fmt"
	"strings"

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
		if len(days) > 0 && !t.JSON {
			if err := t.print(env, nil, dayRow("DAY", "QUEUE", "KIND", "DONE", "FAILED", "BURIED", "CRASHED")); err != nil {
				return err
			}
		}
		for _, one := range days {
			if err := t.print(env, one, dayRow(one.Day, one.Queue, plain(one.Kind), one.Done, one.Failed, one.Buried, one.Crashed)); err != nil {
				return err
			}
		}
		return nil
	})
}

func dayRow(cells ...any) string {
	return strings.TrimRight(fmt.Sprintf("%-10s  %-7s %-24s %10v %8v %8v %8v", cells...), " ") + "\n"
}
