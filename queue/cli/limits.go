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
	return printAll(s, []string{"KEY", "QUEUE", " HELD", " WAITING", "SINCE", "HELD BY"}, admin.Tasks.Limits, 100, limitCells)
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
