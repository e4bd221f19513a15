package admin

import (
	"strconv"
	"time"
)

// When says roughly which time matters in the state of a task: "in 5m0s", "3h12m0s ago", "running".
func When(t Task, now time.Time) string {
	switch {
	case t.DueAt != nil:
		return Away(t.DueAt.Sub(now))
	case t.LeaseUntil != nil:
		return "running"
	case t.DiedAt != nil:
		return Away(t.DiedAt.Sub(now))
	case t.ParkedAt != nil:
		return Away(t.ParkedAt.Sub(now))
	default:
		return Away(t.EnqueuedAt.Sub(now))
	}
}

// Away says roughly how far a time is from now: "in 5m0s", "3h12m0s ago".
func Away(d time.Duration) string {
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

// Instant writes a time in UTC, in ms.
func Instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
