package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
)

type tasksLimitsCommand struct{}

func (tasksLimitsCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return t.operate(c, func(server *client.Client) error {
		rows := &table{head: []string{"KEY", "QUEUE", " HELD", " WAITING", "SINCE", "HELD BY"}}
		for cursor := ""; ; {
			page, next, err := server.Limits(env.ctx, client.Page{Limit: 100, Cursor: cursor})
			if err != nil {
				return err
			}
			now := time.Now()
			if err := printPage(env, t, rows, page, func(l client.LimitUse) []string { return limitCells(l, now) }); err != nil {
				return err
			}
			if cursor = next; next == "" {
				return nil
			}
		}
	})
}

// limitCells names the first tasks that have slots; -json has more of them, and those that wait.
func limitCells(l client.LimitUse, now time.Time) []string {
	since := ""
	if l.WaitingSince != nil {
		since = away(l.WaitingSince.Sub(now))
	}
	holders := l.Holders
	if len(holders) > 3 {
		holders = append(holders[:3:3], "…")
	}
	return []string{plain(l.Key), l.Queue, fmt.Sprint(l.Held), fmt.Sprint(l.Waiting), since, plain(strings.Join(holders, " "))}
}
