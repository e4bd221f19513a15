package queue

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPeriodicNamesWhatIsWrong(t *testing.T) {
	good := Periodic{ID: "report", Every: time.Minute, Kind: "k"}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Periodic){
		"its ID must be":        func(p *Periodic) { p.ID = "a b" },
		`"": its ID must be`:    func(p *Periodic) { p.ID = "" },
		"one of Cron and Every": func(p *Periodic) { p.Cron = "* * * * *" },
		"set one of Cron":       func(p *Periodic) { p.Every = 0 },
		"only with Cron":        func(p *Periodic) { p.Zone = "Europe/Berlin" },
		"Every is 999ms":        func(p *Periodic) { p.Every = 999 * time.Millisecond },
		"Every is 1.0000005s":   func(p *Periodic) { p.Every = time.Second + 500 },
		"Every is -1s":          func(p *Periodic) { p.Every = -time.Second },
		"Every is 8808h0m0s":    func(p *Periodic) { p.Every = 367 * 24 * time.Hour },
		`Misfire "later"`:       func(p *Periodic) { p.Misfire = "later" },
		"With must have no":     func(p *Periodic) { p.With.Delay = 1 },
		`kind ""`:               func(p *Periodic) { p.Kind = "" },
		`kind "@periodic:k"`:    func(p *Periodic) { p.Kind = "@periodic:k" },
		"Timeout is -1ns":       func(p *Periodic) { p.With.Timeout = -1 },
		"payload of":            func(p *Periodic) { p.Payload = make([]byte, payloadBytesMax+1) },
		"cron: ":                func(p *Periodic) { p.Every, p.Cron = 0, "61 * * * *" },
		"timezone: ":            func(p *Periodic) { p.Every, p.Cron, p.Zone = 0, "@daily", "Mars" },
		"day that never occurs": func(p *Periodic) { p.Every, p.Cron = 0, "0 0 30 2 *" },
	} {
		p := good
		change(&p)
		if err := p.check(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want ErrInvalid that says %q", err, want)
		}
	}
}

func TestDeclarationsAreReadAsTheyWereWritten(t *testing.T) {
	for _, p := range []Periodic{
		{ID: "a", Every: time.Minute, Kind: "k", Misfire: MisfireOnce, Payload: []byte("one\ntwo \x00")},
		{ID: "b", Cron: "0 9 * * *", Zone: "Europe/Berlin", Misfire: MisfireAll, Kind: "k", Payload: []byte{},
			With: Task{Priority: Low, AttemptsMax: 3, Unique: "a key", Timeout: time.Second}},
	} {
		got, err := parseDeclaration(p.declaration())
		if err != nil || got.declaration() != p.declaration() || string(got.Payload) != string(p.Payload) ||
			got.With.Unique != p.With.Unique || got.With.Timeout != p.With.Timeout || got.Zone != p.Zone || got.Every != p.Every {
			t.Errorf("got %+v, %v, want %+v", got, err, p)
		}
	}
	if _, err := parseDeclaration("normal 0 k"); err == nil {
		t.Error("half a declaration was taken")
	}
}

// Occurrences at 10:00, 11:00 and so on; the lateness that counts as missed is a minute.
func TestMisfireDecidesAboutWhatIsMissed(t *testing.T) {
	at := func(text string) time.Time {
		one, err := time.Parse(time.DateTime, "2026-03-02 "+text)
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	for _, c := range []struct {
		now              string
		once, skip, all  string
		planned, nextOne string
	}{
		{"10:00:00", "10", "10", "10", "10:00:00", "11"},
		{"10:01:00", "10", "10", "10", "10:00:00", "11"},
		{"10:01:01", "10", "", "10", "10:00:00", "11"},
		{"13:30:00", "13", "", "10 11 12 13", "10:00:00", "14"},
		{"13:00:30", "13", "13", "10 11 12 13", "10:00:00", "14"},
		{"09:59:59", "", "", "", "10:00:00", "10"}, // someone ran the task that fires
	} {
		for misfire, want := range map[Misfire]string{MisfireOnce: c.once, MisfireSkip: c.skip, MisfireAll: c.all} {
			f, err := plan{ID: "x", Cron: "@hourly", Misfire: misfire}.fire(at(c.planned), at(c.now), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			var hours []string
			for _, ms := range f.occurrences {
				hours = append(hours, time.UnixMilli(ms).UTC().Format("15"))
			}
			if got, next := strings.Join(hours, " "), time.UnixMilli(f.nextMs).UTC().Format("15"); got != want || next != c.nextOne {
				t.Errorf("%s at %s: fires %q, next %s, want %q, next %s", misfire, c.now, got, next, want, c.nextOne)
			}
		}
	}
}

// After a year without servers a task of every second fires its newest 100 occurrences, and deciding that walks through
// hundreds, not millions.
func TestALongOutageFiresTheNewestOccurrences(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for _, p := range []plan{{ID: "x", EveryMs: 1000, Misfire: MisfireAll}, {ID: "x", Cron: "* * * * * *", Misfire: MisfireAll}} {
		f, err := p.fire(now.Add(-365*24*time.Hour), now, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		n := len(f.occurrences)
		if n != occurrencesMax || f.occurrences[n-1] <= now.UnixMilli()-1000 || f.occurrences[n-1]-f.occurrences[0] != 99_000 {
			t.Errorf("%+v fires %d: %v", p, n, f.occurrences)
		}
	}
}

func TestIntervalsStandWhereTheIDSays(t *testing.T) {
	a, _ := plan{ID: "a", EveryMs: 60_000}.calendar()
	b, _ := plan{ID: "b", EveryMs: 60_000}.calendar()
	var phases []int64
	for _, times := range []calendar{a, b} {
		first, _ := times.Next(time.UnixMilli(0))
		next, _ := times.Next(first)
		before, _ := times.Next(time.UnixMilli(-60_001))
		if next.Sub(first) != time.Minute || before.After(time.UnixMilli(0)) || before.UnixMilli() <= -60_001 {
			t.Errorf("got %v, %v, %v", before, first, next)
		}
		phases = append(phases, first.UnixMilli()%60_000)
	}
	if slices.Max(phases) == slices.Min(phases) {
		t.Error("two IDs have the same phase")
	}
}
