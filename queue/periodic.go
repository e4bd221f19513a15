package queue

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/cron"
	"github.com/chatd/chatd/queue/option"
)

// Misfire says what happens with the occurrences of a periodic task that nobody could fire in time: all servers were
// down, or Redis was. An occurrence is missed if it is later than twice Options.Lease, so the death of a server never
// makes one missed.
type Misfire string

// What happens with missed occurrences. Those that are due and not missed each get their task in any case.
const (
	MisfireOnce Misfire = "once" // the newest of them gets a task, unless one that is not missed is due as well
	MisfireSkip Misfire = "skip" // none gets a task
	MisfireAll  Misfire = "all"  // each gets a task, the newest 100
)

// Periodic is a task that runs again and again. Exactly one of Cron and Every says when.
type Periodic struct {
	// ID names it within its queue: 1 to 64 of A-Z a-z 0-9 . _ - +, not beginning with a dot.
	ID string
	// Cron is a crontab expression of five fields, or six with the seconds first, or @hourly, @daily, @weekly, @monthly
	// or @yearly. An hour that is named ("0 9 * * *") comes once a day also when daylight saving changes; an interval
	// ("*/15 * * * *") follows elapsed time.
	Cron string
	// Zone is the time zone of Cron, a name of the tz database; "" is UTC.
	Zone string
	// Every is the time between two occurrences, whole ms from 1 s to 366 days. They stand at times that ID alone
	// decides, so a restart does not move them and many periodic tasks do not fall due together. For round times use
	// Cron.
	Every time.Duration
	// Misfire is what happens with missed occurrences; "" is MisfireOnce.
	Misfire Misfire

	// Kind and Payload are those of the task that each occurrence enqueues. Its id is "<partition>-<ID>@<ms>", its Due
	// the time of the occurrence.
	Kind    string
	Payload []byte
	// With is the rest of that task: Priority, AttemptsMax, Timeout and so on. While a task with its Unique waits, an
	// occurrence enqueues none: use it where a run may take longer than the time between two occurrences. What says
	// which task it is and when it runs must be empty: ID, Kind, Payload, Due, Delay, Deadline and Subject.
	With Task
}

// PeriodicInfo is a periodic task as it is stored. Times are by the clock of Redis; the zero time means none.
type PeriodicInfo struct {
	Periodic
	Queue  string
	Paused bool
	Last   time.Time // its last occurrence that was fired
	Next   time.Time // when it is due
	Fired  int64     // occurrences that were fired so far
}

// KindPeriodic, followed by the kind of its occurrences, is the kind of the task that fires a periodic one. Every server runs it
// by itself.
const KindPeriodic = "@periodic:"

// Bounds of periodic tasks.
const (
	everyMin, everyMax = time.Second, 366 * 24 * time.Hour
	periodicIDMax      = 64
	occurrencesMax     = 100 // that one firing enqueues
)

// plan is when a periodic task is due, as the task that fires it carries it.
type plan struct {
	ID      string  `json:"id"`
	Cron    string  `json:"cron,omitempty"`
	Zone    string  `json:"zone,omitempty"`
	EveryMs int64   `json:"every_ms,omitempty"`
	Misfire Misfire `json:"misfire"`
}

func (p *Periodic) plan() plan {
	one := plan{ID: p.ID, Cron: p.Cron, Zone: p.Zone, EveryMs: p.Every.Milliseconds(), Misfire: p.Misfire}
	if one.Misfire == "" {
		one.Misfire = MisfireOnce
	}
	return one
}

// calendar finds occurrences: Next returns the first one after an instant, in whole ms; false if there is none.
type calendar interface {
	Next(after time.Time) (time.Time, bool)
}

// interval is a calendar of equal steps.
type interval struct{ everyMs, phaseMs int64 }

func (i interval) Next(after time.Time) (time.Time, bool) {
	since := after.UnixMilli() - i.phaseMs
	steps := since / i.everyMs
	if since%i.everyMs < 0 {
		steps--
	}
	return time.UnixMilli(i.phaseMs + (steps+1)*i.everyMs), true
}

func (p plan) calendar() (calendar, error) {
	if p.EveryMs > 0 {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(p.ID))
		return interval{p.EveryMs, int64(hash.Sum64() >> 1 % uint64(p.EveryMs))}, nil //nolint:gosec // 63 bits
	}
	return cron.Parse(p.Cron, p.Zone)
}

// check returns an error that says what is wrong with a periodic task.
func (p *Periodic) check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: periodic task %q: %w", ErrInvalid, p.ID, fmt.Errorf(format, args...))
	}
	if err := checkPeriodicID(p.ID); err != nil {
		return err
	}
	switch {
	case (p.Cron == "") == (p.Every == 0):
		return wrong("set one of Cron and Every")
	case p.Cron == "" && p.Zone != "":
		return wrong("Zone %q: only with Cron", p.Zone)
	case p.Every != 0 && (p.Every < everyMin || p.Every > everyMax || p.Every%time.Millisecond != 0):
		return wrong("Every is %v: want whole ms from %v to %v", p.Every, everyMin, everyMax)
	case p.Misfire != "" && p.Misfire != MisfireOnce && p.Misfire != MisfireSkip && p.Misfire != MisfireAll:
		return wrong("Misfire %q: want %q, %q or %q", p.Misfire, MisfireOnce, MisfireSkip, MisfireAll)
	}
	w := p.With
	if w.ID != "" || w.Kind != "" || w.Payload != nil || !w.Due.IsZero() || w.Delay != 0 || !w.Deadline.IsZero() || w.Subject != "" {
		return wrong("With must have no ID, Kind, Payload, Due, Delay, Deadline or Subject")
	}
	t := p.task()
	if err := t.check(1); err != nil {
		return wrong("%w", err)
	}
	times, err := p.plan().calendar()
	if err != nil {
		return wrong("%w", err)
	}
	if _, ok := times.Next(time.Now()); !ok {
		return wrong("Cron %q never comes", p.Cron)
	}
	return nil
}

func checkPeriodicID(id string) error {
	if id == "" || id[0] == '.' || len(id) > periodicIDMax || strings.ContainsFunc(id, notPeriodic) {
		return fmt.Errorf("%w: periodic task %q: its ID must be 1 to %d of A-Z a-z 0-9 . _ - +, no dot first", ErrInvalid, id, periodicIDMax)
	}
	return nil
}

func notPeriodic(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-+", r)
}

// task is what an occurrence enqueues.
func (p *Periodic) task() Task {
	t := p.With
	t.Kind, t.Payload = p.Kind, p.Payload
	return t
}

// declaration is what is stored of it, see lua/lib/periodic.lua.
func (p *Periodic) declaration() string {
	t := p.task()
	text, _ := json.Marshal(p.plan()) // strings and numbers
	return fmt.Sprintf("%v %d %s %s%s\n%s\n%s", t.Priority, min(t.AttemptsMax, math.MaxInt32), t.Kind, t.Unique, t.optionLines(), text, t.Payload)
}

// parseDeclaration is the inverse of declaration.
func parseDeclaration(text string) (p Periodic, err error) {
	head, rest, ok := strings.Cut(text, "\n")
	line, payload, more := strings.Cut(rest, "\n")
	fields := strings.SplitN(head, " ", 4)
	if !ok || !more || len(fields) != 4 {
		return p, fmt.Errorf("malformed declaration %.100q", head)
	}
	var when plan
	if err := json.Unmarshal([]byte(line), &when); err != nil {
		return p, err
	}
	p = Periodic{ID: when.ID, Cron: when.Cron, Zone: when.Zone, Every: option.Span(when.EveryMs), Misfire: when.Misfire, Kind: fields[2],
		Payload: []byte(payload)}
	if p.With.Priority, err = ParsePriority(fields[0]); err != nil {
		return p, err
	}
	if p.With.AttemptsMax, err = strconv.Atoi(fields[1]); err != nil {
		return p, err
	}
	unique, lines, some := strings.Cut(fields[3], "\r")
	p.With.Unique = unique
	if some {
		return p, p.With.parseOptions(lines)
	}
	return p, nil
}

// firing is the outcome of a run that fires a periodic task.
type firing struct {
	name        string
	occurrences []int64 // ms
	nextMs      int64   // 0 = none
}

func (f *firing) Error() string { return "queue: fires " + f.name }

// times are the occurrences for periodic_fire.lua.
func (f *firing) times() string {
	var text []byte
	for _, ms := range f.occurrences {
		text = append(strconv.AppendInt(text, ms, 10), ' ')
	}
	return string(text)
}

// fire decides what a periodic task that was planned for an instant enqueues at another.
func (p plan) fire(planned, now time.Time, late time.Duration) (*firing, error) {
	times, err := p.calendar()
	if err != nil {
		return nil, err
	}
	f := &firing{name: p.ID}
	// It may be early: because someone retried it, or because the clock of Redis was set back since it became ready.
	after := now
	if early := planned.Add(-time.Millisecond); early.After(now) {
		after = early
	}
	if next, ok := times.Next(after); ok {
		f.nextMs = next.UnixMilli()
	}
	due := dueBetween(times, planned, now)
	punctual := len(due)
	for punctual > 0 && now.Sub(due[len(due)-punctual]) > late {
		punctual--
	}
	missed := len(due) - punctual
	switch {
	case p.Misfire == MisfireSkip, p.Misfire == MisfireOnce && punctual > 0:
		due = due[missed:]
	case p.Misfire == MisfireOnce && missed > 0:
		due = due[missed-1:]
	}
	for _, at := range due {
		f.occurrences = append(f.occurrences, at.UnixMilli())
	}
	return f, nil
}

// dueBetween lists the newest occurrences from first to now, occurrencesMax at most. It looks back over longer and
// longer times, so that a long outage of a frequent task costs no walk through all that it missed.
func dueBetween(times calendar, first, now time.Time) (due []time.Time) {
	for back := occurrencesMax * time.Second; ; back *= 4 {
		from := now.Add(-back)
		whole := back > everyMax || from.Before(first)
		if whole {
			from = first
		}
		due = due[:0]
		for at, ok := times.Next(from.Add(-time.Millisecond)); ok && !at.After(now); at, ok = times.Next(at) {
			due = append(due, at)
			if len(due) == 2*occurrencesMax {
				due = append(due[:0], due[occurrencesMax:]...)
			}
		}
		if whole || len(due) >= occurrencesMax {
			return due[max(0, len(due)-occurrencesMax):]
		}
	}
}
