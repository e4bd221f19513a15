package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chatd/chatd/queue/admin"
)

// table lays out rows in columns that are as wide as their widest cell. A list is printed page by page: the columns of a
// later page are at least as wide as those before.
type table struct {
	head   []string // a name that begins with a space is of a column of numbers
	widths []int
}

// page returns the next rows, after the head if they are the first.
func (t *table) page(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	if t.widths == nil {
		t.widths = make([]int, len(t.head))
		names := make([]string, len(t.head))
		for i, name := range t.head {
			names[i] = strings.TrimSpace(name)
		}
		rows = append([][]string{names}, rows...)
	}
	for _, row := range rows {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			width := t.widths[i]
			if !strings.HasPrefix(t.head[i], " ") {
				width = -width
			}
			fmt.Fprintf(&line, "%*s  ", width, cell)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// printPage writes a page as rows of a table, or each of its entries as a line of JSON.
func printPage[T any](s *Session, to *table, page []T, cells func(T) []string) error {
	if !s.JSON {
		rows := make([][]string, len(page))
		for i, one := range page {
			rows[i] = cells(one)
		}
		return s.print(nil, to.page(rows))
	}
	for _, one := range page {
		if err := s.print(one, ""); err != nil {
			return err
		}
	}
	return nil
}

// printAll writes what a list has, page by page.
func printAll[T any](s *Session, head []string, list func(admin.Tasks, context.Context, string, int) ([]T, string, error), limit int,
	cells func(T, time.Time) []string) error {
	return s.act(func(tasks admin.Tasks) error {
		rows := &table{head: head}
		for cursor := ""; ; {
			page, next, err := list(tasks, s.Context, cursor, limit)
			if err != nil {
				return err
			}
			now := time.Now()
			if err := printPage(s, rows, page, func(one T) []string { return cells(one, now) }); err != nil {
				return err
			}
			if cursor = next; next == "" {
				return nil
			}
		}
	})
}

func newTaskTable() *table {
	return &table{head: []string{"ID", "QUEUE", "KIND", "STATE", "PRIORITY", " ATTEMPTS", "WHEN", "LAST ERROR"}}
}

// errorRunesMax is how much of an error a row shows; the command show all of it.
const errorRunesMax = 100

func taskCells(t admin.Task, now time.Time) []string {
	why := []rune(Plain(text(t.LastError)))
	if len(why) > errorRunesMax {
		why = append(why[:errorRunesMax-1], '…')
	}
	return []string{Plain(t.ID), t.Queue, Plain(t.Kind), string(t.State), t.Priority, attempts(t, "/"), admin.When(t, now), string(why)}
}

// attempts leaves out how many there may be where that is not known.
func attempts(t admin.Task, of string) string {
	if t.AttemptsMax == 0 {
		return strconv.FormatInt(t.Attempts, 10)
	}
	return fmt.Sprintf("%d%s%d", t.Attempts, of, t.AttemptsMax)
}

// taskSheet describes a task in full, one line per field.
func taskSheet(t admin.Task) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, value)
		}
	}
	at := func(name string, when *time.Time) {
		if when != nil {
			line(name, admin.Instant(*when))
		}
	}
	line("id", t.ID)
	line("queue", t.Queue)
	line("kind", Plain(t.Kind))
	line("state", string(t.State))
	line("priority", t.Priority)
	line("attempts", attempts(t, " of ")+" failed")
	line("crashes", strconv.FormatInt(t.Crashes, 10))
	line("enqueued", admin.Instant(t.EnqueuedAt))
	at("due", t.DueAt)
	at("lease until", t.LeaseUntil)
	at("died", t.DiedAt)
	at("parked", t.ParkedAt)
	if t.Limit != nil {
		line("limit", fmt.Sprintf("%d at once of %s", t.Limit.Max, Plain(t.Limit.Key)))
	}
	at("deadline", t.DeadlineAt)
	if t.Done != nil && t.Total != nil {
		line("progress", fmt.Sprintf("%d of %d", *t.Done, *t.Total))
	}
	line("last error", Plain(text(t.LastError)))
	return b.String()
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// statsTable has a column for each queue.
func statsTable(queues []admin.Queue) string {
	var b strings.Builder
	line := func(name string, of func(admin.Queue) string) {
		cells := fmt.Sprintf("%-12s", name)
		for _, q := range queues {
			cells += fmt.Sprintf("  %12s", of(q))
		}
		b.WriteString(cells + "\n")
	}
	count := func(name string, of func(admin.Queue) int64) {
		line(name, func(q admin.Queue) string { return strconv.FormatInt(of(q), 10) })
	}
	line("", func(q admin.Queue) string { return q.Queue })
	line("", func(q admin.Queue) string {
		if q.Paused {
			return "paused"
		}
		return "running"
	})
	count("ready", admin.Queue.ReadyAll)
	count("  critical", func(q admin.Queue) int64 { return q.Ready.Critical })
	count("  high", func(q admin.Queue) int64 { return q.Ready.High })
	count("  normal", func(q admin.Queue) int64 { return q.Ready.Normal })
	count("  low", func(q admin.Queue) int64 { return q.Ready.Low })
	line("  oldest", func(q admin.Queue) string { return (time.Duration(q.OldestMs) * time.Millisecond).String() })
	count("parked", func(q admin.Queue) int64 { return q.Parked })
	count("delayed", func(q admin.Queue) int64 { return q.Delayed })
	count("leased", func(q admin.Queue) int64 { return q.Leased })
	count("dead", func(q admin.Queue) int64 { return q.Dead })
	count("enqueued", func(q admin.Queue) int64 { return q.Enqueued })
	count("processed", func(q admin.Queue) int64 { return q.Processed })
	count("deleted", func(q admin.Queue) int64 { return q.Deleted })
	count("dropped", func(q admin.Queue) int64 { return q.Dropped })
	count("failed runs", func(q admin.Queue) int64 { return q.Failed })
	count("crashed runs", func(q admin.Queue) int64 { return q.Crashed })
	count("buried", func(q admin.Queue) int64 { return q.Buried })
	for _, q := range queues {
		if len(q.Unserved) > 0 {
			fmt.Fprintf(&b, "%s: no server runs the waiting tasks of kind %s\n", q.Queue, Plain(strings.Join(q.Unserved, ", ")))
		}
	}
	return b.String()
}

// Plain makes text safe for one line of a terminal. An error may contain what a remote server answered, and such text
// must neither move the cursor nor look like another line.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
