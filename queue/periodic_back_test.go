package queue

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestClockGoesBackBetweenTwoOccurrences: when the clock of Redis is set back while an occurrence waits for a worker, it
// comes when its time is there again, and none comes twice.
func TestClockGoesBackBetweenTwoOccurrences(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		clock, s := newMovableClock(t, o.Client), newServer(t, o)
		p := Periodic{ID: "r", Kind: "k", Every: time.Hour, Misfire: MisfireAll}
		if err := s.PutPeriodic(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		at, id := s.periodicAt(p.ID)
		k := s.keys[at]
		step := func(claim int) {
			stepAll(t, s.set, stepDemand{partition: at, overdue: overdueMax, claims: []claimDemand{{claim, turns(0, claim)}}}, testTerms)
		}
		fire := func() {
			r := claimOf(t, s, at, id)
			var f *firing
			if err := s.firePeriodic(context.WithValue(t.Context(), runKey{}, r), r.Task); !errors.As(err, &f) {
				t.Fatal(err)
			}
			one := end(r, complete, 0, "")
			one.outcome.fires = f
			if got, err := s.set.settle(t.Context(), []*running{one}, testTerms.dead); err != nil || len(got.stale) > 0 {
				t.Fatalf("stale %v, %v", ids(got.stale), err)
			}
		}
		clock.move(t, k, 3*time.Hour)
		fire()
		first, err := s.GetPeriodic(t.Context(), p.ID)
		if err != nil || first.Fired != 3 {
			t.Fatalf("got %+v, %v; want 3 occurrences", first, err)
		}
		clock.move(t, k, time.Hour)
		step(0) // it is ready now
		clock.move(t, k, -3*time.Hour)
		fire()
		second, err := s.GetPeriodic(t.Context(), p.ID)
		if err != nil || second.Fired != 3 || !second.Last.Equal(first.Last) || !second.Next.Equal(first.Next) {
			t.Errorf("got %+v, %v; before it was %+v", second, err, first)
		}
		clock.move(t, k, 3*time.Hour)
		fire()
		third, err := s.GetPeriodic(t.Context(), p.ID)
		if err != nil || third.Fired != 4 || !third.Last.Equal(first.Next) {
			t.Errorf("got %+v, %v; before it was %+v", third, err, second)
		}
	})
}

// claimOf claims tasks until it has one.
func claimOf(t *testing.T, s *Server, partition int, id string) *running {
	t.Helper()
	for range 10 {
		got := stepAll(t, s.set, stepDemand{partition: partition, overdue: overdueMax, claims: []claimDemand{{1, turns(0, 1)}}}, testTerms)
		for _, r := range got.queues[0].runs {
			if r.ID == id {
				return r
			}
		}
	}
	t.Fatalf("%s cannot be claimed", id)
	return nil
}
