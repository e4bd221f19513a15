package queue

import (
	"context"
	"testing"
	"time"
)

// A run whose lease was reaped, or whose periodic task was changed, paused or deleted meanwhile, fires nothing.
func TestOnlyTheNewestClaimFires(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		set := newQueueSet(c)
		p := Periodic{ID: "x", Every: time.Hour, Kind: "k"}
		at, id := c.periodicAt(p.ID)
		next := time.Now().Add(time.Hour).UnixMilli()
		claim := func(with terms) *running {
			t.Helper()
			if err := c.Retry(ctx, id); err != nil {
				t.Fatal(err)
			}
			got := stepAll(t, set, stepDemand{partition: at, overdue: overdueMax, claims: []claimDemand{{1, turns(0, 1)}}}, with)
			r := got.queues[0].runs[0]
			r.outcome = outcome{verdict: fire, fires: &firing{name: p.ID, occurrences: []int64{1000}, nextMs: next}}
			return r
		}
		settle := func(r *running, stale int, fired int64) {
			t.Helper()
			got, err := set.settle(ctx, []*running{r}, testTerms.dead)
			if err != nil || len(got.answered) != 1 || len(got.stale) != stale {
				t.Errorf("stale %v, want %d, %v", ids(got.stale), stale, err)
			}
			if info, err := c.GetPeriodic(ctx, p.ID); err != nil || info.Fired != fired {
				t.Errorf("fired %d, want %d, %v", info.Fired, fired, err)
			}
		}
		put := func() {
			t.Helper()
			if err := c.PutPeriodic(ctx, p); err != nil {
				t.Fatal(err)
			}
		}
		put()
		brief := testTerms
		brief.lease = time.Millisecond
		dying := claim(brief)
		until(t, "the lease to be taken back", func() bool {
			return stepAll(t, set, stepDemand{partition: at, overdue: overdueMax, claims: []claimDemand{{}}}, testTerms).queues[0].reaped == 1
		})
		settle(dying, 1, 0)
		got := stepAll(t, set, stepDemand{partition: at, claims: []claimDemand{{1, turns(0, 1)}}}, testTerms).queues[0].runs
		got[0].outcome = dying.outcome
		settle(got[0], 0, 1)
		settle(got[0], 1, 1) // sent twice, because the answer was lost

		r := claim(testTerms)
		p.Every = 2 * time.Hour
		put()
		settle(r, 1, 1)
		r = claim(testTerms)
		if err := c.PausePeriodic(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		settle(r, 1, 1)
		if s := stats(t, c); s.ReadyAll() != 1 || s.Delayed+s.Leased != 0 {
			t.Errorf("want the one occurrence alone: %+v", s)
		}
	})
}
