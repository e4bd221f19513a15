package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/admin"
)

// LimitsCommand shows limits. It is not one of Commands, since many applications use none.
type LimitsCommand struct{}

// Run prints page by page.
func (LimitsCommand) Run(s *Session) error {
	return s.act(func(tasks admin.Tasks) error {
		rows := &table{head: []string{"KEY", "QUEUE", " HELD", " WAITING", "SINCE", "HELD BY"}}
		for cursor := ""; ; {
			page, next, err := tasks.Limits(s.Context, cursor, 100)
			if err != nil {
				return err
			}
			now := time.Now()
			if err := printPage(s, rows, page, func(l admin.Limit) []string { return limitCells(l, now) }); err != nil {
				return err
			}
			if cursor = next; next == "" {
				return nil
			}
		}
	})
}

// limitCells names the first tasks that have slots; -json has more of them, and those that wait.
func limitCells(l admin.Limit, now time.Time) []string {
	since := ""
	if l.WaitingSince != nil {
		since = admin.Away(l.WaitingSince.Sub(now))
	}
	holders := l.Holders
	if len(holders) > 3 {
		holders = append(holders[:3:3], "…")
	}
	return []string{Plain(l.Key), l.Queue, fmt.Sprint(l.Held), fmt.Sprint(l.Waiting), since, Plain(strings.Join(holders, " "))}
}
