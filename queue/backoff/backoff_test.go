package backoff

import (
	"math"
	"testing"
	"time"
)

func TestDoubled(t *testing.T) {
	for _, c := range []struct {
		least, most time.Duration
		n           int
		want        time.Duration
	}{
		{time.Second, time.Minute, 0, time.Second},
		{time.Second, time.Minute, 5, 32 * time.Second},
		{time.Second, time.Minute, 6, time.Minute},
		{time.Second, time.Minute, math.MaxInt, time.Minute},
		{time.Second, math.MaxInt64, 33, time.Second << 33},
		{time.Second, math.MaxInt64, 34, math.MaxInt64}, // it would overflow
		{time.Second, math.MaxInt64, 62, math.MaxInt64},
		{time.Minute, time.Second, 0, time.Second},
		{0, time.Second, 3, time.Second},
	} {
		if got := Doubled(c.least, c.most, c.n); got != c.want {
			t.Errorf("%v doubled %d times up to %v: got %v, want %v", c.least, c.n, c.most, got, c.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	b := Backoff{Min: 8, Max: 32}
	for round := range 1000 {
		for _, whole := range []time.Duration{8, 16, 32, 32} {
			if got := b.Next(); got < whole/2 || got > whole {
				t.Fatalf("got %d, want %d to %d", got, whole/2, whole)
			}
			if !b.Failing() {
				t.Fatal("it does not say that it is failing")
			}
		}
		if b.Reset(); b.Failing() {
			t.Fatalf("round %d: failing after a success", round)
		}
	}
}

// TestJitter: pauses reach the bounds, and never exceed them.
func TestJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 10_000 {
		seen[Full(3)] = true
		if d := Spread(100); d < 100 || d > 110 {
			t.Fatalf("got %d, want 100 to 110", d)
		}
	}
	if len(seen) != 4 || !seen[0] || !seen[3] {
		t.Errorf("got %v, want 0 to 3", seen)
	}
}
