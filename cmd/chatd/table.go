package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chatd/chatd/client"
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
func printPage[T any](env *environment, t *tasksCommand, to *table, page []T, cells func(T) []string) error {
	if !t.JSON {
		rows := make([][]string, len(page))
		for i, one := range page {
			rows[i] = cells(one)
		}
		return t.print(env, nil, to.page(rows))
	}
	for _, one := range page {
		if err := t.print(env, one, ""); err != nil {
			return err
		}
	}
	return nil
}

func newTaskTable() *table {
	return &table{head: []string{"ID", "QUEUE", "KIND", "STATE", "PRIORITY", " ATTEMPTS", "WHEN", "LAST ERROR"}}
}

// errorRunesMax is how much of an error a row shows; `chatd tasks show` shows all of it.
const errorRunesMax = 100

func taskCells(t client.Task, now time.Time) []string {
	why := []rune(plain(text(t.LastError)))
	if len(why) > errorRunesMax {
		why = append(why[:errorRunesMax-1], '…')
	}
	return []string{plain(t.ID), t.Queue, plain(t.Kind), t.State, t.Priority, fmt.Sprintf("%d/%d", t.Attempts, t.AttemptsMax), when(t, now), string(why)}
}

// when returns the time that matters in the state of a task.
func when(t client.Task, now time.Time) string {
	switch {
	case t.DueAt != nil:
		return away(t.DueAt.Sub(now))
	case t.LeaseUntil != nil:
		return "running"
	case t.DiedAt != nil:
		return away(t.DiedAt.Sub(now))
	case t.ParkedAt != nil:
		return away(t.ParkedAt.Sub(now))
	default:
		return away(t.EnqueuedAt.Sub(now))
	}
}

// away says roughly how far a time is from now: "in 5m0s", "3h12m0s ago".
func away(d time.Duration) string {
	unit := time.Second
	switch size := d.Abs(); {
	case size >= 48*time.Hour:
		days := strconv.Itoa(int(size.Hours()/24)) + "d"
		if d < 0 {
			return days + " ago"
		}
		return "in " + days
	case size >= time.Hour:
		unit = time.Minute
	case size < time.Second:
		return "now"
	}
	if d < 0 {
		return (-d).Round(unit).String() + " ago"
	}
	return "in " + d.Round(unit).String()
}

// taskSheet describes a task in full, one line per field.
func taskSheet(t client.Task) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, value)
		}
	}
	line("id", t.ID)
	line("queue", t.Queue)
	line("kind", plain(t.Kind))
	line("state", t.State)
	line("priority", t.Priority)
	line("attempts", fmt.Sprintf("%d of %d failed", t.Attempts, t.AttemptsMax))
	line("crashes", strconv.FormatInt(t.Crashes, 10))
	line("enqueued", instant(&t.EnqueuedAt))
	line("due", instant(t.DueAt))
	line("lease until", instant(t.LeaseUntil))
	line("died", instant(t.DiedAt))
	line("parked", instant(t.ParkedAt))
	if t.Limit != nil {
		line("limit", fmt.Sprintf("%d at once of %s", t.Limit.Max, plain(t.Limit.Key)))
	}
	line("deadline", instant(t.DeadlineAt))
	if t.Done != nil && t.Total != nil {
		line("progress", fmt.Sprintf("%d of %d", *t.Done, *t.Total))
	}
	line("last error", plain(text(t.LastError)))
	return b.String()
}

func instant(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// statsTable has a column for each queue.
func statsTable(queues []client.Queue) string {
	var b strings.Builder
	line := func(name string, of func(client.Queue) string) {
		cells := fmt.Sprintf("%-12s", name)
		for _, q := range queues {
			cells += fmt.Sprintf("  %12s", of(q))
		}
		b.WriteString(cells + "\n")
	}
	count := func(name string, of func(client.Queue) int64) {
		line(name, func(q client.Queue) string { return strconv.FormatInt(of(q), 10) })
	}
	line("", func(q client.Queue) string { return q.Queue })
	line("", func(q client.Queue) string {
		if q.Paused {
			return "paused"
		}
		return "running"
	})
	count("ready", client.Queue.ReadyAll)
	count("  critical", func(q client.Queue) int64 { return q.Ready.Critical })
	count("  high", func(q client.Queue) int64 { return q.Ready.High })
	count("  normal", func(q client.Queue) int64 { return q.Ready.Normal })
	count("  low", func(q client.Queue) int64 { return q.Ready.Low })
	line("  oldest", func(q client.Queue) string { return (time.Duration(q.OldestMs) * time.Millisecond).String() })
	count("parked", func(q client.Queue) int64 { return q.Parked })
	count("delayed", func(q client.Queue) int64 { return q.Delayed })
	count("leased", func(q client.Queue) int64 { return q.Leased })
	count("dead", func(q client.Queue) int64 { return q.Dead })
	count("enqueued", func(q client.Queue) int64 { return q.Enqueued })
	count("processed", func(q client.Queue) int64 { return q.Processed })
	count("deleted", func(q client.Queue) int64 { return q.Deleted })
	count("dropped", func(q client.Queue) int64 { return q.Dropped })
	count("failed runs", func(q client.Queue) int64 { return q.Failed })
	count("crashed runs", func(q client.Queue) int64 { return q.Crashed })
	count("buried", func(q client.Queue) int64 { return q.Buried })
	for _, q := range queues {
		if len(q.Unserved) > 0 {
			fmt.Fprintf(&b, "%s: no server runs the waiting tasks of kind %s\n", q.Queue, plain(strings.Join(q.Unserved, ", ")))
		}
	}
	return b.String()
}

// plain makes text safe for one line of a terminal. An error may contain what a remote server answered, and such text
// must neither move the cursor nor look like another line.
func plain(s string) string {
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
