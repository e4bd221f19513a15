package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
)

const limitColumns = "%-32s  %-7s %6s %8s %-12s  %s"

type tasksLimitsCommand struct{}

func (tasksLimitsCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return t.operate(c, func(server *client.Client) error {
		for cursor, head := "", true; ; {
			page, next, err := server.Limits(env.ctx, client.Page{Limit: 100, Cursor: cursor})
			if err != nil {
				return err
			}
			if head && len(page) > 0 && !t.JSON {
				head = false
				if err := t.print(env, nil, limitRow("KEY", "QUEUE", "HELD", "WAITING", "SINCE", "HELD BY")); err != nil {
					return err
				}
			}
			for _, l := range page {
				if err := t.print(env, l, limitText(l, time.Now())); err != nil {
					return err
				}
			}
			if cursor = next; next == "" {
				return nil
			}
		}
	})
}

func limitRow(cells ...any) string {
	return strings.TrimRight(fmt.Sprintf(limitColumns, cells...), " ") + "\n"
}

// limitText names the first tasks that have slots; -json has more of them, and those that wait.
func limitText(l client.LimitUse, now time.Time) string {
	since := ""
	if l.WaitingSince != nil {
		since = away(l.WaitingSince.Sub(now))
	}
	holders := l.Holders
	if len(holders) > 3 {
		holders = append(holders[:3:3], "…")
	}
	return limitRow(plain(l.Key), l.Queue, fmt.Sprint(l.Held), fmt.Sprint(l.Waiting), since, plain(strings.Join(holders, " ")))
}
