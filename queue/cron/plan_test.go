package cron

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// zoneNames are the zones of the tz database as Go ships it.
//
//go:embed testdata/zones.txt
var zoneNames string

func mustParse(t testing.TB, expression, zone string) Plan {
	t.Helper()
	plan, err := Parse(expression, zone)
	if err != nil {
		t.Fatalf("%q in %q: %v", expression, zone, err)
	}
	return plan
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// occurrences returns those in (from, until], by the clock of the plan's zone.
func occurrences(plan Plan, from, until time.Time) []time.Time {
	var all []time.Time
	for {
		next, ok := plan.Next(from)
		if !ok || next.After(until) {
			return all
		}
		all, from = append(all, next), next
	}
}

func TestNextKnowsChangeDays(t *testing.T) {
	tests := []struct {
		name, expression, zone, from, until string
		want                                []string
	}{
		{"the skipped hour fires at the first instant after it", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z",
			[]string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"the repeated hour fires the first time", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z",
			[]string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"asked in the second pass, the first was it", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-26T12:00:00Z",
			[]string{"2026-10-26T01:30:00Z"}},
		{"midnight that is skipped", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-07T12:00:00Z",
			[]string{"2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"}},
		{"a change of half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z", "2026-10-04T20:00:00Z",
			[]string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
		{"several times in the skipped hour are one", "*/10 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T12:00:00Z",
			[]string{"2026-03-29T01:00:00Z"}},
		{"a day that a zone left out", "0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", "2012-01-01T00:00:00Z",
			[]string{"2011-12-29T19:00:00Z", "2011-12-30T19:00:00Z", "2011-12-31T19:00:00Z"}},
		{"a rhythm skips the skipped hour", "0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T02:00:00Z",
			[]string{"2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"}},
		{"a rhythm fires in both passes", "30 * * * *", "Europe/Berlin", "2026-10-24T23:00:00Z", "2026-10-25T02:00:00Z",
			[]string{"2026-10-24T23:30:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"}},
		{"a rhythm within hours", "0 1-3 * * *", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T04:00:00Z",
			[]string{"2026-10-24T23:00:00Z", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, next := range occurrences(mustParse(t, test.expression, test.zone), at(t, test.from), at(t, test.until)) {
				got = append(got, next.Format(time.RFC3339))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s in %s: got %v, want %v", test.expression, test.zone, got, test.want)
			}
		})
	}
}

func TestNextReadsExpressions(t *testing.T) {
	const from = "2026-11-20T15:31:58Z" // a Friday
	tests := []struct{ expression, want string }{
		{"* * * * *", "2026-11-20T15:32:00Z"},
		{"*/15 * * * * *", "2026-11-20T15:32:00Z"},
		{"59 31 15 20 11 *", "2026-11-20T15:31:59Z"},
		{"0 9 * * MON-FRI", "2026-11-23T09:00:00Z"},
		{"0 9 * JAN mon", "2027-01-04T09:00:00Z"},
		{"0 9 * * 7", "2026-11-22T09:00:00Z"},
		{"0 9 13 * 5", "2026-11-27T09:00:00Z"},  // either day will do
		{"0 9 */2 * 6", "2026-11-21T09:00:00Z"}, // */2 does not restrict by itself, yet it must match: the 21st
		{"0 9,17 * * *", "2026-11-20T17:00:00Z"},
		{"0 9 * * SAT-MON", "2026-11-21T09:00:00Z"}, // over the end of the week
		{"0 9 * * TUE-THU", "2026-11-24T09:00:00Z"},
		{"0 22-2 * * *", "2026-11-20T22:00:00Z"},
		{"50-10/20 * * * *", "2026-11-20T15:50:00Z"},
		{"0 0 1 DEC-FEB *", "2026-12-01T00:00:00Z"},
		{"0 0 29 2 *", "2028-02-29T00:00:00Z"},
		{"@hourly", "2026-11-20T16:00:00Z"},
		{"@daily", "2026-11-21T00:00:00Z"},
		{"@midnight", "2026-11-21T00:00:00Z"},
		{"@weekly", "2026-11-22T00:00:00Z"},
		{"@monthly", "2026-12-01T00:00:00Z"},
		{"@yearly", "2027-01-01T00:00:00Z"},
		{"@annually", "2027-01-01T00:00:00Z"},
		{" 0  9\t* * * ", "2026-11-21T09:00:00Z"},
	}
	for _, test := range tests {
		next, ok := mustParse(t, test.expression, "").Next(at(t, from))
		if got := next.Format(time.RFC3339); !ok || got != test.want {
			t.Errorf("%q: got %v %v, want %v", test.expression, got, ok, test.want)
		}
	}
	if next, ok := mustParse(t, "0 0 29 2 *", "").Next(at(t, "2096-03-01T00:00:00Z")); !ok || next.Year() != 2104 {
		t.Errorf("over the end of a century: got %v %v, want the leap year 2104", next, ok)
	}
	if next, _ := mustParse(t, "* * * * * *", "").Next(at(t, from).Add(1)); !next.Equal(at(t, "2026-11-20T15:31:59Z")) {
		t.Errorf("after a broken second: got %v, want the next whole one", next)
	}
}

func TestParseRefuses(t *testing.T) {
	expressions := []string{
		"", " ", "*", "* * * *", "* * * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * * 8",
		"TZ=Europe/Berlin 0 9 * * *", "CRON_TZ=UTC 0 9 * * *", "@every 1s", "@every 1h", "@manual", "@none", "@triggered", "@reboot", "@Daily", "@",
		", * * * *", "1,,2 * * * *", "* * , * *", "H * * * *", "0 0 30 2 *", "0 0 31 4,6,9,11 *",
		"1-2-3 * * * *", "1/2/3 * * * *", "*/0 * * * *", "*/61 * * * *", "-1 * * * *", "1- * * * *", "a * * * *", "0 9 * FOO *", "0 9 * * \x00",
		"0 9 * * *\u00a05 5", "99999999999999999999 * * * *", "0 9 * * " + strings.Repeat("1,", 200) + "1",
	}
	for _, expression := range expressions {
		if _, err := Parse(expression, ""); !errors.Is(err, ErrExpression) {
			t.Errorf("%q: got %v, want a refusal of the expression", expression, err)
		}
	}
	zones := []string{
		"Local", "localtime", "posixrules", "posix/UTC", "right/UTC", "Mars/Olympus", "europe/berlin", "Europe", "Europe/", "/etc/passwd", "../UTC",
		"Europe/../UTC", "Europe\\Berlin", "UTC ", "UTC\x00", strings.Repeat("A", 65), "+01:00",
	}
	for _, zone := range zones {
		if _, err := Parse("0 9 * * *", zone); !errors.Is(err, ErrZone) {
			t.Errorf("%q: got %v, want a refusal of the zone", zone, err)
		}
	}
}

// Days that are counted from an end of the month, compared with what a walk over the days of six years finds.
func TestNextCountsDaysOfMonths(t *testing.T) {
	lastDay := func(day time.Time) int { return day.AddDate(0, 1, -day.Day()).Day() }
	weekday := func(day time.Time) bool { return day.Weekday() != time.Saturday && day.Weekday() != time.Sunday }
	last := func(day time.Time) bool { return day.Day() == lastDay(day) }
	nearest := func(to int) func(time.Time) bool { // of the same month
		return func(day time.Time) bool {
			if to > lastDay(day) || !weekday(day) {
				return false
			}
			for distance := range 3 {
				for _, d := range []int{to - distance, to + distance} {
					if other := day.AddDate(0, 0, d-day.Day()); other.Month() == day.Month() && weekday(other) {
						return other.Equal(day)
					}
				}
			}
			return false
		}
	}
	tests := map[string]func(day time.Time) bool{
		"L * *":    last,
		"l * *":    last,
		"L-3 * *":  func(day time.Time) bool { return day.Day() == lastDay(day)-3 },
		"L-30 * *": func(day time.Time) bool { return day.Day() == 1 && lastDay(day) == 31 },
		"LW * *": func(day time.Time) bool {
			return weekday(day) && lastDay(day)-day.Day() < 3 && !weekdayAfter(day, weekday)
		},
		"15W * *":    nearest(15),
		"1W * *":     nearest(1),
		"31W * *":    nearest(31),
		"1,15,L * *": func(day time.Time) bool { return day.Day() == 1 || day.Day() == 15 || last(day) },
		"* * 5L":     func(day time.Time) bool { return day.Weekday() == time.Friday && lastDay(day)-day.Day() < 7 },
		"? * FRIL":   func(day time.Time) bool { return day.Weekday() == time.Friday && lastDay(day)-day.Day() < 7 },
		"* * 7L":     func(day time.Time) bool { return day.Weekday() == time.Sunday && lastDay(day)-day.Day() < 7 },
		"* * mon#1":  func(day time.Time) bool { return day.Weekday() == time.Monday && day.Day() <= 7 },
		"* * 7#5":    func(day time.Time) bool { return day.Weekday() == time.Sunday && day.Day() > 28 },
		"* * 1#2,3": func(day time.Time) bool {
			return day.Weekday() == time.Monday && (day.Day()-1)/7 == 1 || day.Weekday() == time.Wednesday
		},
		"L 2 *":       func(day time.Time) bool { return day.Month() == time.February && last(day) },
		"L * MON#1":   func(day time.Time) bool { return last(day) || day.Weekday() == time.Monday && day.Day() <= 7 }, // either, as ever
		"13 * FRI":    func(day time.Time) bool { return day.Day() == 13 || day.Weekday() == time.Friday },
		"*/2 * FRI#1": func(day time.Time) bool { return day.Day()%2 == 1 && day.Weekday() == time.Friday && day.Day() <= 7 },
	}
	from, until := at(t, "2024-01-01T00:00:00Z"), at(t, "2029-12-31T23:59:59Z")
	for expression, matches := range tests {
		var want []time.Time
		for day := from; day.Before(until); day = day.AddDate(0, 0, 1) {
			if matches(day) {
				want = append(want, day.Add(9*time.Hour))
			}
		}
		if got := occurrences(mustParse(t, "0 9 "+expression, ""), from, until); !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: got %v, want %v", expression, got, want)
		}
	}
}

// A day that is rare occurs all the same.
func TestNextFindsRareDays(t *testing.T) {
	for expression, want := range map[string]string{
		"0 9 * 2 MON#5": "2044-02-29T09:00:00Z",
		"0 9 * 2 SUN#5": "2032-02-29T09:00:00Z",
		"0 9 29 2 *":    "2028-02-29T09:00:00Z",
	} {
		if got, ok := mustParse(t, expression, "").Next(at(t, "2026-11-26T00:00:00Z")); !ok || !got.Equal(at(t, want)) {
			t.Errorf("%s: %v (%v), want %s", expression, got, ok, want)
		}
	}
	// The longest time between two of them.
	if got, ok := mustParse(t, "0 9 * 2 SUN#5", "").Next(at(t, "2088-03-01T00:00:00Z")); !ok || got.Year() != 2128 {
		t.Errorf("after 2088: %v (%v)", got, ok)
	}
}

// weekdayAfter reports whether the month has a weekday after a day.
func weekdayAfter(day time.Time, weekday func(time.Time) bool) bool {
	for next := day.AddDate(0, 0, 1); next.Month() == day.Month(); next = next.AddDate(0, 0, 1) {
		if weekday(next) {
			return true
		}
	}
	return false
}

// What is refused is refused in our own words, with what to write instead.
func TestParseSaysWhatToWrite(t *testing.T) {
	for expression, want := range map[string]string{
		"CRON_TZ=Asia/Tokyo 0 9 * * *": `cron: CRON_TZ stands in the field timezone instead: "Asia/Tokyo"`,
		"TZ=UTC 0 9 * * *":             `cron: TZ stands in the field timezone instead: "UTC"`,
		"@every 5m":                    "want @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly or fields, such as */5 * * * * for every five minutes",
		"0 0 9 ? * MON 2027":           "has 7 fields, not 5 or 6: leave out the year",
		"0 9 * *":                      "has 4 fields, not 5 (minute, hour, day of month, month, day of week)",
		"60 * * * *":                   `cron: minute "60": "60" is unknown: want 0 to 59`,
		"0 24 * * *":                   `cron: hour "24": "24" is unknown: want 0 to 23`,
		"99 0 9 * * *":                 `cron: second "99"`,
		"0 9 0 * *":                    `day of month "0": "0" is unknown: want 1 to 31`,
		"0 9 * APRIL *":                `month "APRIL": "APRIL" is unknown: want 1 to 12, or JAN to DEC`,
		"0 9 * * MONDAY":               `day of week "MONDAY": "MONDAY" is unknown: want 0 to 7 (0 and 7 are Sunday), or SUN to SAT`,
		"0 9 * * L":                    "L is unknown: write 5L or FRIL (the last Friday), 5#3 or FRI#3 (the third Friday), or SAT",
		"0 9 * * FRI#6":                "FRI#6 is unknown: write 5L",
		"0 9 * * 9L":                   "9L is unknown: write 5L",
		"0 9 32W * *":                  "32W is unknown: write L (the last day)",
		"0 9 L-31 * *":                 "L-31 is unknown: write L (the last day)",
		"0 9 5L * *":                   "5L is unknown: write L (the last day)",
		"0 9 WL * *":                   `"WL" is unknown: want 1 to 31`,
		"0 9 1-5W * *":                 "5W stands alone, or in a list: not in a range",
		"0 9 L/2 * *":                  "L stands alone, or in a list: not in a range, and without a step",
		"0 9 * * 1#1-2":                "1#1 stands alone, or in a list",
		"0 9 * * * 2027":               "ends in a year, 2027: leave it out",
		"L 9 * * *":                    `cron: minute "L": L stands only in a field of days`,
		"H 9 * * *":                    `cron: minute "H": an H is not supported: write a number, 0 to 59`,
		"*/61 * * * *":                 `minute "*/61": "61" is no step: want 1 to 59 after the slash`,
		"0 9-17/9 * * *":               `"9" is no step: want 1 to 8 after the slash`,
		"0 9,, * * *":                  `hour "9,,": a number is missing`,
		"0 9- * * *":                   `hour "9-": a number is missing`,
	} {
		_, err := Parse(expression, "")
		if err == nil || !errors.Is(err, ErrExpression) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", expression, err, want)
		}
	}
}

// TestFixedTimesFireOnceADay checks, for every zone of the tz database and all its clock changes of twenty years, wall
// times in and around what the change skips or repeats: each local day has its occurrence, once, at the instant the
// rule says.
func TestFixedTimesFireOnceADay(t *testing.T) {
	changes, days := 0, 0
	seen := make(map[string]bool) // many names are links to one zone
	for _, name := range strings.Fields(zoneNames) {
		zone, err := Zone(name)
		if err != nil {
			t.Fatal(err)
		}
		found := changesOf(zone, time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC))
		if key := fmt.Sprint(found); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		for _, change := range found {
			changes++
			for _, wall := range change.wallTimes() {
				days += onceADay(t, name, zone, change, wall)
			}
			if t.Failed() {
				return
			}
		}
	}
	if changes < 1500 || days < 30_000 {
		t.Errorf("got %d changes and %d days: the test checks next to nothing", changes, days)
	}
	t.Logf("%d different zones, %d changes, %d days", len(seen), changes, days)
}

// change is an instant at which the clock of a zone jumps.
type change struct {
	at            time.Time
	before, after time.Duration
}

func changesOf(zone *time.Location, from, until time.Time) []change {
	var all []change
	for _, end := from.In(zone).ZoneBounds(); !end.IsZero() && end.Before(until); _, end = end.ZoneBounds() {
		if c := (change{end.UTC(), offset(end.Add(-1)), offset(end)}); c.before != c.after {
			all = append(all, c)
		}
	}
	return all
}

// wallTimes returns times of day in and around what the change skips or repeats.
func (c change) wallTimes() []time.Duration {
	low, high := c.at.Add(min(c.before, c.after)), c.at.Add(max(c.before, c.after))
	var all []time.Duration
	for _, wall := range []time.Time{low.Add(-time.Second), low, low.Add(high.Sub(low) / 2), high.Add(-time.Second), high} {
		all = append(all, wall.Sub(wall.Truncate(24*time.Hour)))
	}
	return append(all, 0, 24*time.Hour-time.Second)
}

// onceADay compares the occurrences of a wall time around a change with byHand, and returns for how many days it did.
func onceADay(t *testing.T, name string, zone *time.Location, c change, wall time.Duration) int {
	t.Helper()
	expression := fmt.Sprintf("%d %d %d * * *", int(wall.Seconds())%60, int(wall.Minutes())%60, int(wall.Hours()))
	plan := mustParse(t, expression, name)
	first := c.at.Add(c.before).Truncate(24*time.Hour).AddDate(0, 0, -2)
	var want []time.Time
	for day := range 5 {
		midnight := first.AddDate(0, 0, day)
		if instant, ok := byHand(zone, c, midnight.Add(wall)); ok {
			want = append(want, instant)
		}
	}
	got := occurrences(plan, want[0].Add(-time.Second), want[len(want)-1])
	if !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("%s, %q around %v: got %v, want %v", name, expression, c.at, got, want)
	}
	// Next from in between gives the same: what a restarted node computes is what was planned.
	for i, instant := range got[1:] {
		if again, _ := plan.Next(instant.Add(-time.Second)); !again.Equal(instant) {
			t.Errorf("%s, %q: got %v, want %v, which came after %v", name, expression, again, instant, got[i])
		}
	}
	return len(want)
}

// byHand returns the instant of a wall time near one change, if its day exists: the first instant that shows it, else
// the change.
func byHand(zone *time.Location, c change, wall time.Time) (time.Time, bool) {
	for _, ahead := range []time.Duration{max(c.before, c.after), min(c.before, c.after)} {
		if instant := wall.Add(-ahead); offset(instant.In(zone)) == ahead {
			return instant, true
		}
	}
	skippedFrom, skippedTo := c.at.Add(c.before), c.at.Add(c.after)
	midnight := wall.Truncate(24 * time.Hour)
	return c.at, midnight.Before(skippedFrom) || midnight.AddDate(0, 0, 1).After(skippedTo)
}

func BenchmarkNext(b *testing.B) {
	plan := mustParse(b, "30 2 * * 1-5", "Europe/Berlin")
	from := at(b, "2026-03-27T12:00:00Z")
	for b.Loop() {
		plan.Next(from)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("*/5 * * * *", "Europe/Berlin")
	f.Add("0 30 2 29 2 MON-FRI", "")
	f.Add("@weekly", "Pacific/Apia")
	f.Add("1-5/2,7 0-23 ? JAN 7", "America/Sao_Paulo")
	f.Add("0 9 L-3,15W 2 FRIL,7#2", "")
	f.Fuzz(func(t *testing.T, expression, zone string) {
		plan, err := Parse(expression, zone)
		if err != nil {
			if !errors.Is(err, ErrExpression) && !errors.Is(err, ErrZone) {
				t.Fatalf("%q %q: %v is neither of the two errors", expression, zone, err)
			}
			if strings.HasSuffix(err.Error(), "cannot be read") {
				t.Fatalf("%q: only the library knows why it is refused", expression)
			}
			return
		}
		from := at(t, "2026-03-28T23:59:59Z")
		next, ok := plan.Next(from)
		if !ok {
			t.Fatalf("%q never fires, yet was accepted", expression)
		}
		if !next.After(from) || next.Nanosecond() != 0 {
			t.Fatalf("%q after %v: got %v", expression, from, next)
		}
		if again, _ := plan.Next(next.Add(-time.Second)); !again.Equal(next) {
			t.Fatalf("%q: got %v, then %v", expression, next, again)
		}
	})
}
