// Package cron says when a recurring schedule fires: a crontab expression read in a time zone.
//
// An expression has five fields (minute, hour, day of month, month, day of week) or six with the seconds first, names (JAN,
// MON) and steps as in crontab(5), or is one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually. When both the
// day of month and the day of week are restricted, a day that fits either will do, as in crontab(5).
//
// Daylight saving. Hours that are named one by one (`9`, `9,17`) are fixed wall times: each fires at the first instant at which
// the local clock shows it or a later time. So a wall time that a change skips fires once, at the first instant after the gap; one
// that a change repeats fires the first time only; and a day that a zone left out altogether (Samoa, 30 December 2011) has no
// occurrence. An hour field with a `*` or a range (`*`, `*/2`, `0-6`) is a rhythm and follows elapsed time: it fires at every
// instant whose local clock fits, in the repeated hour twice, in the skipped one not at all.
//
// The library's own Next is only ever asked about a clock without changes of its own (UTC): no library tried gets them right.
// Everything here is safe for concurrent use.
package cron

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// ErrExpression and ErrZone tell what of a request cannot be read.
var (
	ErrExpression = errors.New("cron")
	ErrZone       = errors.New("timezone")
)

const (
	expressionBytesMax = 256
	// searchYears finds the 29th of February over the end of a century that has none (2096 to 2104).
	searchYears = 9
	starBit     = 1 << 63 // of the library's fields: given as `*`
)

var parser = cron.MustNewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.DowOrDom).
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

// Plan is an expression in its zone.
type Plan struct {
	clock  cron.Schedule  // when it fires by a clock that never changes
	zone   *time.Location // whose clock it means
	rhythm bool           // follows elapsed time, instead of a fixed wall time
}

// Parse reads an expression in a zone of the tz database, "" being UTC. Its errors are made for the person who wrote them, and
// are ErrExpression or ErrZone.
func Parse(expression, zone string) (Plan, error) {
	location, err := Zone(zone)
	if err != nil {
		return Plan{}, err
	}
	fields, err := split(expression)
	if err != nil {
		return Plan{}, err
	}
	parsed, err := parser.Parse(strings.Join(fields, " "))
	if err != nil {
		return Plan{}, fmt.Errorf("%w: %w", ErrExpression, err)
	}
	clock, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Plan{}, fmt.Errorf("%w: has no fields", ErrExpression)
	}
	clock.Location = time.UTC
	hour, dom, dow := fields[len(fields)-4], fields[len(fields)-3], fields[len(fields)-1]
	// `*/2` is no restriction of the day as crontab(5) has it; the library sees one.
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

// split checks what the library is too generous with: its prefixes of a zone, its own short forms, empty list elements (which it
// reads as never, and then searches for).
func split(expression string) ([]string, error) {
	if len(expression) > expressionBytesMax {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrExpression, expressionBytesMax)
	}
	if strings.HasPrefix(expression, "@") {
		full, ok := named[expression]
		if !ok {
			return nil, fmt.Errorf("%w: %q is not a known short form such as @daily", ErrExpression, expression)
		}
		expression = full
	}
	fields := strings.Fields(expression)
	if len(fields) != 5 && len(fields) != 6 {
		return nil, fmt.Errorf("%w: has %d fields, not 5 or 6", ErrExpression, len(fields))
	}
	for _, field := range fields {
		for element := range strings.SplitSeq(field, ",") {
			if element == "" || strings.Trim(element, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ*?-/") != "" {
				return nil, fmt.Errorf("%w: the field %q cannot be read", ErrExpression, field)
			}
		}
	}
	return fields, nil
}

// Next is the first occurrence after an instant; false when there is none within nine years.
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

// nextFit is the first instant after one whose local clock fits: by the clock of one stretch without a change after the other.
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
