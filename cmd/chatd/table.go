package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/chatd/chatd/client"
)

// columns of the list of tasks. Their widths are fixed because each page is printed before the next one is known.
const columns = "%-36s  %-7s %-16s %-8s %-8s %8s  %-12s  %s"

var tableHead = row("ID", "QUEUE", "KIND", "STATE", "PRIORITY", "ATTEMPTS", "WHEN", "LAST ERROR")

func row(cells ...any) string { return strings.TrimRight(fmt.Sprintf(columns, cells...), " ") + "\n" }

// errorRunesMax is how much of an error a row shows; `chatd tasks show` shows all of it.
const errorRunesMax = 100

func tableRow(t client.Task, now time.Time) string {
	why := []rune(plain(text(t.LastError)))
	if len(why) > errorRunesMax {
		why = append(why[:errorRunesMax-1], '…')
	}
	return row(t.ID, t.Queue, plain(t.Kind), t.State, t.Priority, fmt.Sprintf("%d/%d", t.Attempts, t.AttemptsMax), when(t, now), string(why))
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
