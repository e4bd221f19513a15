package queue_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/queue"
)

// TestRandomStepsFireEachHourOnce moves the clock, changes the declaration, lets firing servers die and runs what is
// due, in any order: each full hour has run once in the end.
func TestRandomStepsFireEachHourOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r, server, ran := hourly(t)
		p := report()
		p.Misfire = queue.MisfireAll
		must(t, server.PutPeriodic(t.Context(), p))
		first := r.Now().Truncate(time.Hour)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"advance", "run", "put", "die"}).Draw(rt, "what") {
			case "advance":
				r.Advance(time.Duration(rapid.IntRange(1, 200).Draw(rt, "minutes")) * time.Minute)
			case "run":
				r.RunAll(t.Context(), server)
			case "put":
				p.Payload = append(p.Payload, 'a')
				must(t, server.PutPeriodic(t.Context(), p))
			case "die":
				s, err := server.Stats(t.Context())
				must(t, err)
				if s.Delayed == 1 {
					move(t, r, queue.NewKeys("chat", 0, "q").Of("leased"), r.Now().Add(time.Second).UnixMilli(), "p00-periodic-report dead")
				}
			}
		}
		r.Advance(time.Minute)
		r.RunAll(t.Context(), server)
		r.RunAll(t.Context(), server)
		want := int(r.Now().Sub(first) / time.Hour)
		if len(*ran) != want {
			rt.Errorf("%d hours have passed, %d ran: %q", want, len(*ran), *ran)
		}
		for i, one := range *ran {
			if got := first.Add(time.Duration(i+1) * time.Hour).UTC().Format("15"); one[:2] != got {
				rt.Errorf("ran %q as number %d, want %s", one, i, got)
			}
		}
	})
}
