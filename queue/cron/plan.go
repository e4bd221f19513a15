// Package cron computes when a recurring schedule fires: a crontab expression in a time zone.
//
// An expression has five fields (minute, hour, day of month, month, day of week) or six with the seconds first, names
// (JAN, MON) and steps as in crontab(5), or is one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly,
// @annually. As in Quartz, the day of month may be L (the last), L-3 (three days before it), LW (the last weekday) or 15W
// (the weekday nearest the 15th, of the same month), and the day of week 5L (the last Friday) or 5#3 (the third). A range may go over the end of its field (FRI-MON, 22-2), which crontab(5) refuses. If both the day of month
// and the day of week are restricted, a day that matches either will do, as in crontab(5).
//
// Daylight saving. Hours that are listed one by one (`9`, `9,17`) are fixed wall times: each fires at the first instant
// at which the local clock shows it or a later time. So a wall time that a change skips fires once, at the first
// instant after the gap; one that a change repeats fires the first time only; and a day that a zone skipped altogether
// (Samoa, 30 December 2011) has no occurrence. An hour field with a `*` or a range (`*`, `*/2`, `0-6`) is an interval
// and follows elapsed time: it fires at every instant whose local time matches, twice in the repeated hour and not at
// all in the skipped one.
//
// The library's own Next is only ever called for a clock without changes (UTC): no library that was tried handles
// changes correctly. Everything here is safe for concurrent use.
package cron

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// ErrExpression and ErrZone say which part of a request is invalid.
var (
	ErrExpression = errors.New("cron")
	ErrZone       = errors.New("timezone")
)

const (
	expressionBytesMax = 256
	// long enough to find the 29th of February on a certain day of the week, also across a century without one (2088 to 2128)
	searchYears = 41
	starBit     = 1 << 63 // in the library's fields: given as `*`
)

var parser = cron.MustNewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.DowOrDom | cron.Extended).
	WithMaxSearchYears(searchYears)

// named are the short forms; all but @hourly are fixed wall times.
var named = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

// Plan is an expression in a zone.
type Plan struct {
	clock  cron.Schedule  // when it fires by a clock that never changes
	zone   *time.Location // the zone of its times
	rhythm bool           // follows elapsed time, instead of a fixed wall time
}

// Parse parses an expression in a zone of the tz database, "" being UTC. Its errors are written for the user, and wrap
// ErrExpression or ErrZone.
func Parse(expression, zone string) (Plan, error) {
	location, err := Zone(zone)
	if err != nil {
		return Plan{}, err
	}
	texts, err := split(expression)
	if err != nil {
		return Plan{}, err
	}
	parsed, err := parser.Parse(strings.Join(texts, " "))
	if err != nil {
		return Plan{}, fmt.Errorf("%w: %q cannot be read", ErrExpression, expression)
	}
	clock, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Plan{}, fmt.Errorf("%w: has no fields", ErrExpression)
	}
	clock.Location = time.UTC
	hour, dom, dow := texts[len(texts)-4], texts[len(texts)-3], texts[len(texts)-1]
	// In crontab(5), `*/2` does not restrict the day; the library thinks it does.
	if strings.HasPrefix(dom, "*") {
		clock.Dom |= starBit
	}
	if strings.HasPrefix(dow, "*") {
		clock.Dow |= starBit
	}
	plan := Plan{clock: clock, zone: location, rhythm: strings.ContainsAny(hour, "*?-")}
	if clock.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Plan{}, fmt.Errorf("%w: names a day that never occurs", ErrExpression)
	}
	return plan, nil
}

// split returns the fields as the library reads them, and refuses what it accepts but should not: its zone prefixes, its own
// short forms, empty list elements (which it reads as never, and then searches for).
func split(expression string) ([]string, error) {
	if len(expression) > expressionBytesMax {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrExpression, expressionBytesMax)
	}
	if strings.HasPrefix(expression, "@") {
		full, ok := named[expression]
		if !ok {
			return nil, fmt.Errorf("%w: %q is unknown: want %s or fields, such as */5 * * * * for every five minutes",
				ErrExpression, expression, strings.Join(slices.Sorted(maps.Keys(named)), ", "))
		}
		expression = full
	}
	texts := strings.Fields(expression)
	if len(texts) > 0 {
		if name, zone, ok := strings.Cut(texts[0], "="); ok && (name == "CRON_TZ" || name == "TZ") {
			return nil, fmt.Errorf("%w: %s stands in the field timezone instead: %q", ErrExpression, name, zone)
		}
	}
	switch len(texts) {
	case 5, 6:
	case 7:
		return nil, fmt.Errorf("%w: has 7 fields, not 5 or 6: leave out the year, and end it by until or count", ErrExpression)
	default:
		return nil, fmt.Errorf("%w: has %d fields, not 5 (minute, hour, day of month, month, day of week) or 6 (second first)", ErrExpression, len(texts))
	}
	if last := texts[len(texts)-1]; len(texts) == 6 && len(last) == 4 && digits(last) {
		return nil, fmt.Errorf("%w: ends in a year, %s: leave it out, and end it by until or count", ErrExpression, last)
	}
	for i, text := range texts {
		var err error
		if texts[i], err = fields[i+len(fields)-len(texts)].normal(text); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// Next returns the first occurrence after an instant; false if there is none within 41 years.
func (p Plan) Next(after time.Time) (time.Time, bool) {
	if p.rhythm {
		return p.nextFit(after)
	}
	for shown := highest(after, p.zone); ; {
		wall := p.clock.Next(shown)
		if wall.IsZero() {
			return time.Time{}, false
		}
		if at := firstShown(wall, p.zone); !leftOut(wall, p.zone) {
			return at, true
		}
		shown = wall
	}
}

// nextFit returns the first instant after the given one whose local time matches. It searches one stretch without clock
// changes after the other.
func (p Plan) nextFit(after time.Time) (time.Time, bool) {
	for shown, at := wallOf(after, p.zone), after.In(p.zone); ; {
		wall := p.clock.Next(shown)
		if wall.IsZero() {
			return time.Time{}, false
		}
		fits := wall.Add(-offset(at))
		_, end := at.ZoneBounds()
		if end.IsZero() || fits.Before(end) {
			return fits.UTC(), true
		}
		at = end
		shown = wallOf(end, p.zone).Add(-time.Second)
	}
}
