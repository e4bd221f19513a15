package health

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/chat"
)

// notes is a store in memory.
type notes struct {
	mu     sync.Mutex
	texts  map[string]Note
	away   bool
	puts   int
	texted int // puts with a text
}

func (n *notes) PutNote(_ context.Context, id, text string, lasts time.Duration, _ int) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away {
		return false, chat.ErrUnavailable
	}
	n.puts++
	if text == "" {
		text = n.texts[id].Text
	} else {
		n.texted++
	}
	if text == "" {
		return false, nil
	}
	n.texts[id] = Note{ID: id, Text: text, EndsMs: time.Now().Add(lasts).UnixMilli()}
	return true, nil
}

func (n *notes) counts() (puts, texted int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.puts, n.texted
}

func (n *notes) DropNote(_ context.Context, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.texts, id)
	return nil
}

func (n *notes) Notes(context.Context) (all []Note, nowMs int64, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away {
		return nil, 0, chat.ErrUnavailable
	}
	for _, note := range n.texts {
		if note.EndsMs > time.Now().UnixMilli() {
			all = append(all, note)
		}
	}
	return all, time.Now().UnixMilli(), nil
}

var root = chat.Caller{User: "root", Admin: true}

func newService(store Store, sample func() Totals, checks ...Check) *Service {
	return New(store, Options{Node: "n1", Version: "v1", Sample: sample, Checks: checks, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Holds: func(_ context.Context, p Problem) (bool, error) { return p.Subject != "over", nil }})
}

// codes are the codes and subjects of problems, in order.
func codes(t *testing.T, s *Service) string {
	t.Helper()
	found, err := s.Problems(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range found {
		if p.Since == nil || p.Detail == "" || p.Fix == "" {
			t.Errorf("got %+v, want when, what and what to do", p)
		}
		all = append(all, string(p.Code)+":"+p.Subject)
	}
	return strings.Join(all, " ")
}

func one(code, subject string, s Severity) Problem {
	return Problem{Code: Code(code), Subject: subject, Severity: s, Detail: "detail", Fix: "fix"}
}

// TestWorstFirst: critical problems come first, then the older ones; a check that hangs or fails holds nobody up, and is said: once,
// where the store is away.
func TestWorstFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := []Problem{one("old", "a", Warning)}
		s := newService(&notes{texts: map[string]Note{}}, nil,
			Check{"steady", func(context.Context, chat.Caller) ([]Problem, error) { return later, nil }},
			Check{"hangs", func(ctx context.Context, _ chat.Caller) ([]Problem, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}},
			Check{"away", func(context.Context, chat.Caller) ([]Problem, error) { return nil, chat.ErrUnavailable }},
			Check{"fails", func(context.Context, chat.Caller) ([]Problem, error) {
				return []Problem{one("half", "", Critical)}, errors.New("secret")
			}})
		if got, want := codes(t, s), "half: old:a unknown:away unknown:fails unknown:hangs"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		began := time.Now()
		<-time.After(time.Minute)
		later = []Problem{one("new", "b", Warning), one("old", "a", Warning), one("worse", "", Critical)}
		if got, want := codes(t, s), "half: worse: old:a unknown:away unknown:fails unknown:hangs new:b"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		found, err := s.Problems(t.Context(), root)
		if err != nil || found[2].Since.After(began) {
			t.Errorf("%+v, %v: want it to be as old as it is", found[2], err)
		}
		later = []Problem{one(string(StoreAway), "", Critical)} // which says it for "away", too
		if got, want := codes(t, s), "half: store_away: unknown:fails unknown:hangs"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, err := s.Problems(t.Context(), chat.Caller{User: "alice"}); chat.CodeOf(err) != chat.CodeForbidden {
			t.Errorf("a member: got %v", err)
		}
		if _, err := s.Stats(t.Context(), chat.Caller{User: "alice"}); chat.CodeOf(err) != chat.CodeForbidden {
			t.Errorf("a member: got %v", err)
		}
	})
}

// TestWhatFailedIsRemembered until it no longer holds, and for a day.
func TestWhatFailedIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &notes{texts: map[string]Note{}}
		s := newService(store, nil)
		for _, subject := range []string{"s1", "over"} {
			if err := s.Remember(t.Context(), one("schedule_failed", subject, Warning), "3"); err != nil {
				t.Fatal(err)
			}
		}
		since := func() time.Time {
			found, err := s.Problems(t.Context(), root)
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			return found[0].Since.Time
		}
		first := since()
		for n, mark := range []string{"3", "4", "4"} { // it fails again, fails after it has worked once, and again
			<-time.After(time.Minute)
			if err := s.Remember(t.Context(), one("schedule_failed", "s1", Warning), mark); err != nil {
				t.Fatal(err)
			}
			if got, want := since().Sub(first), []time.Duration{0, 2 * time.Minute, 2 * time.Minute}[n]; got != want {
				t.Errorf("since %s after the first failure, want %s", got, want)
			}
		}
		if got := codes(t, s); got != "schedule_failed:s1" || len(store.texts) != 1 {
			t.Errorf("got %q, and %d notes", got, len(store.texts))
		}
		<-time.After(25 * time.Hour)
		if got := codes(t, s); got != "" {
			t.Errorf("got %q after a day", got)
		}
	})
}

// TestNodesReport: a node writes its series every 15 s and a heartbeat every 3 s, says when it stops, and counts as gone when it
// does neither.
func TestNodesReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &notes{texts: map[string]Note{}}
		meter := &Meter{}
		s := newService(store, func() Totals {
			totals := meter.Totals()
			totals.Sessions = 7
			return totals
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		for range 150 {
			meter.Observe(200, 3*time.Millisecond, false)
			meter.Observe(503, time.Minute, true)
			meter.Messages.Add(2)
		}
		<-time.After(16 * time.Second)
		synctest.Wait()
		stats, err := s.Stats(t.Context(), root)
		if err != nil || len(stats.Nodes) != 1 || stats.StepS != 15 {
			t.Fatalf("got %+v, %v", stats, err)
		}
		n := stats.Nodes[0]
		got, _ := json.Marshal(n.Series)
		want := `{"failures_per_s":[10],"messages_per_s":[20],"request_ms":[3.2],"requests_per_s":[20],"sessions":[7],"store_ms":[0]}`
		if string(got) != want || n.ID != "n1" || n.Version != "v1" || time.Since(n.SeenAt.Time) > 2*time.Second {
			t.Errorf("got %s of %+v, want %s", got, n, want)
		}
		if puts, texted := store.counts(); puts != 6 || texted != 2 {
			t.Errorf("%d reports, %d of them with a text, in 16 s", puts, texted)
		}
		<-time.After(time.Hour)
		synctest.Wait()
		stats, err = s.Stats(t.Context(), root)
		if all := stats.Nodes[0].Series["sessions"]; err != nil || len(all) != 60 {
			t.Errorf("%d values, %v", len(all), err)
		}
		_ = store.DropNote(ctx, nodeNote+"n1") // the store was flushed
		<-time.After(7 * time.Second)
		synctest.Wait()
		all, _, _ := store.Notes(ctx)
		if got := codes(t, s); got != "" || len(all) != 1 {
			t.Fatalf("got %q and notes %v", got, all)
		}
		_, _ = store.PutNote(ctx, nodeNote+"n2", all[0].Text, goneFor, notesMax)
		<-time.After(10 * time.Second)
		synctest.Wait()
		if got := codes(t, s); got != "node_gone:n2" {
			t.Errorf("got %q", got)
		}
		stop()
		err = <-ended
		if all, _, _ = store.Notes(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("a node that stops leaves %v, %v", all, err)
		}
		<-time.After(time.Hour)
		synctest.Wait()
		if got := codes(t, s); got != "" {
			t.Errorf("got %q an hour later", got)
		}
	})
}

// TestSlow: of the requests that did not wait, 95 of 100 took at most so long.
func TestSlow(t *testing.T) {
	m := &Meter{}
	before := m.Totals()
	if got := slow(m.Totals().Took, before.Took); got != 0 {
		t.Errorf("without requests: got %v", got)
	}
	for range 95 {
		m.Observe(200, 10*time.Millisecond, false)
	}
	for range 5 {
		m.Observe(200, time.Hour, false)
	}
	if got := slow(m.Totals().Took, before.Took); got < 10*time.Millisecond || got > 15*time.Millisecond {
		t.Errorf("got %v, want about 10 ms", got)
	}
	m.Observe(200, time.Hour, false)
	if got := slow(m.Totals().Took, before.Took); got < 10*time.Second {
		t.Errorf("got %v, want very long", got)
	}
}
