package queue

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestLimitsAreListed: each key that is in use appears once in each of its partitions, with who has its slots and who
// waits, the longest first; and no more when nobody has one.
func TestLimitsAreListed(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		var want []string
		for p := range o.Partitions {
			// Keys of which one begins as another does, of more tasks than are named, and of one task each.
			for key, n := range map[string]int{"a": 3, "a b": 3, "ab": 33, "z": 3, "b": 1, "b a": 1} {
				for i := range n {
					enqueue(t, c, Task{ID: fmt.Sprintf("p%02d-%s%02d", p, base64.RawURLEncoding.EncodeToString([]byte(key)), i), Kind: "k", Limit: &Limit{Key: key, Max: 2}})
				}
				held := min(n, 2)
				want = append(want, fmt.Sprintf("%d %s %d %d", p, key, held, n-held))
			}
		}
		slices.Sort(want)
		before := time.Now().Add(-time.Minute)
		claimed := map[string]bool{}
		for p := range o.Partitions {
			for _, r := range step(t, c, p, 100, overdueMax, testTerms).runs {
				claimed[r.ID] = true
			}
		}
		for _, size := range []int{1, 3, 0} {
			var got []string
			for cursor, pages := "", 0; ; pages++ {
				infos, next, err := c.Limits(t.Context(), cursor, size)
				if err != nil || pages > 100 {
					t.Fatal(err, pages)
				}
				for _, l := range infos {
					if len(l.Holders) == 0 {
						t.Fatalf("%+v", l)
					}
					p, _ := PartitionOf(l.Holders[0])
					got = append(got, fmt.Sprintf("%d %s %d %d", p, l.Key, l.Held, l.Waiting))
					waits := l.Waiting > 0
					if len(l.Holders) != int(l.Held) || !claimed[l.Holders[0]] || !claimed[l.Holders[l.Held-1]] || waits == l.Since.Before(before) {
						t.Errorf("%+v", l)
					}
					if len(l.Waiters) != min(int(l.Waiting), limitIDsMax) || !slices.IsSorted(l.Waiters) || waits && claimed[l.Waiters[0]] {
						t.Errorf("%s: waiters %q", l.Key, l.Waiters)
					}
				}
				if cursor = next; next == "" {
					break
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("by %d: got %q, want %q", size, got, want)
			}
		}
		for _, cursor := range []string{"!", "x", makeLimitsCursor(o.Partitions, "0", ""), makeLimitsCursor(-1, "0", ""), makeLimitsCursor(0, "x", ""), makeLimitsCursor(0, "0", "a\nb"), makeCursor(Parked, 0, "1 x")} {
			if _, _, err := c.Limits(t.Context(), cursor, 0); !errors.Is(err, ErrInvalid) {
				t.Errorf("cursor %q: %v", cursor, err)
			}
		}
	})
}
