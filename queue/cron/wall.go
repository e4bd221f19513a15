package cron

import (
	"fmt"
	"regexp"
	"sync"
	"time"
	_ "time/tzdata" // the zones, for systems without a tz database
)

// A wall time is a time.Time in UTC with the fields that a clock in the zone shows.

const (
	// more than any zone has ever been away from UTC (15 h 56 min)
	offsetMax    = 26 * time.Hour
	zoneBytesMax = 64
)

// zoneName excludes the other files in a system's zone directory: zone names never begin with a small letter.
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9/_+-]*$`)

// zones caches loaded zones; there are no more than the tz database has.
var zones sync.Map

// Zone returns a zone by its name in the tz database; "" is UTC. It refuses the system's other names (the node's own
// zone, clocks with leap seconds), because they would depend on the node.
func Zone(name string) (*time.Location, error) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	if name == "" {
		return time.UTC, nil
	}
	if name == "Local" || len(name) > zoneBytesMax || !zoneName.MatchString(name) {
		return nil, fmt.Errorf("%w: %.64q is not a name of the tz database", ErrZone, name)
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is not in the tz database", ErrZone, name)
	}
	zones.Store(name, location)
	return location, nil
}

// offset returns how far the clock of an instant's zone is ahead of UTC.
func offset(at time.Time) time.Duration {
	_, seconds := at.Zone()
	return time.Duration(seconds) * time.Second
}

func wallOf(at time.Time, zone *time.Location) time.Time {
	return at.UTC().Add(offset(at.In(zone)))
}

// firstShown returns the first instant at which the clock of a zone shows a wall time or a later one.
func firstShown(wall time.Time, zone *time.Location) time.Time {
	for at := wall.Add(-offsetMax).In(zone); ; {
		start, end := at.ZoneBounds()
		first := wall.Add(-offset(at))
		if !start.IsZero() && first.Before(start) {
			first = start.UTC()
		}
		if end.IsZero() || first.Before(end) {
			return first
		}
		at = end
	}
}

// highest returns the latest wall time that the clock of a zone has shown up to an instant: the current one or, in an
// hour that is repeated, the last one before the clock went back.
func highest(at time.Time, zone *time.Location) time.Time {
	shown := wallOf(at, zone)
	for before := at.In(zone); ; {
		start, _ := before.ZoneBounds()
		if start.IsZero() || at.Sub(start) > 2*offsetMax {
			return shown
		}
		before = start.Add(-time.Second)
		if last := wallOf(before, zone); last.After(shown) {
			shown = last
		}
	}
}

// leftOut reports whether a zone skipped the whole day of a wall time, as when it crossed the date line.
func leftOut(wall time.Time, zone *time.Location) bool {
	midnight := wall.Truncate(24 * time.Hour)
	return firstShown(midnight, zone).Equal(firstShown(midnight.AddDate(0, 0, 1), zone))
}
