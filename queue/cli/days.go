package cli

import (
	"errors"
	"fmt"

	"github.com/chatd/chatd/queue/admin"
)

type daysCommand struct {
	Days int `default:"7" help:"How many days, today (UTC) included: 1 to 90."`
}

func (d daysCommand) Run(s *Session) error {
	if d.Days < 1 || d.Days > 90 {
		return UsageError{errors.New("-days: want 1 to 90")}
	}
	return s.act(func(tasks admin.Tasks) error {
		days, err := tasks.Days(s.Context, d.Days)
		if err != nil {
			return err
		}
		rows := &table{head: []string{"DAY", "QUEUE", "KIND", " DONE", " FAILED", " BURIED", " CRASHED"}}
		return printPage(s, rows, days, func(d admin.Day) []string {
			return []string{d.Day, d.Queue, Plain(d.Kind), fmt.Sprint(d.Done), fmt.Sprint(d.Failed), fmt.Sprint(d.Buried), fmt.Sprint(d.Crashed)}
		})
	})
}
