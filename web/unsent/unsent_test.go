package unsent

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/chat"
)

const mib = 1 << 20

// stays is what a call does whose turn must not end.
func stays(t *testing.T) func() {
	return func() { t.Error("an answer that has room gave up its turn") }
}

// TestShares: a caller who takes all they can leaves room for others, and the more of them there are, the less each has.
func TestShares(t *testing.T) {
	for callers, most := range map[int]int64{1: 16, 3: 16, 7: 8, 31: 2} {
		b := New(64*mib, 16*mib)
		held := make([]int64, callers)
		for grown := true; grown; {
			grown = false
			for i := range callers {
				by := string(rune('a' + i))
				b.mu.Lock()
				fits := b.fitsLocked(b.callerLocked(by), mib)
				b.mu.Unlock()
				if fits {
					b.Answer(by).Hold(mib)
					held[i]++
					grown = true
				}
			}
		}
		if slices.Max(held) > most || slices.Min(held) < most-1 {
			t.Errorf("%d callers hold %v MiB, want about %d each", callers, held, most)
		}
		if err := b.Answer("new").Reserve(t.Context(), mib, stays(t)); err != nil {
			t.Errorf("%d callers leave nothing: %v", callers, err)
		}
	}
}

// TestWaits: over their share, a caller's answers wait without a turn and are read in order as soon as others were taken.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(64*mib, 2*mib)
		first, second := b.Answer("ann"), b.Answer("ann")
		for _, a := range []*Answer{first, second} {
			if err := a.Reserve(t.Context(), mib, stays(t)); err != nil {
				t.Fatal(err)
			}
		}
		var order []int
		var all sync.WaitGroup
		left := 0
		for i := range 3 {
			all.Go(func() {
				a := b.Answer("ann")
				if err := a.Reserve(t.Context(), mib, func() { left++ }); err != nil {
					t.Error(err)
				}
				order = append(order, i)
			})
			synctest.Wait()
		}
		if left != 3 || len(order) != 0 {
			t.Fatalf("%d gave up their turn, %v are read; want 3 and none", left, order)
		}
		if err := b.Answer("bob").Reserve(t.Context(), mib, stays(t)); err != nil {
			t.Error(err)
		}
		first.Hold(mib / 2) // smaller than it might have been, but with the next one it would be too much
		synctest.Wait()
		if len(order) != 0 {
			t.Errorf("%v are read", order)
		}
		for _, a := range []*Answer{first, second} {
			a.Free()
			a.Free()
			synctest.Wait()
		}
		if !slices.Equal(order, []int{0, 1}) {
			t.Errorf("read in the order %v, want the first two", order)
		}
		(&Answer{budget: b, by: "ann", used: mib, held: mib}).Free() // that of the first of them
		all.Wait()
	})
}

// TestRefuses: after the longest wait it is the caller's own fault, or the node is full. Nothing is left behind.
func TestRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			holder string
			bytes  int64
			want   chat.Code
		}{{"ann", 2 * mib, chat.CodeRateLimited}, {"bob", 4 * mib, chat.CodeUnavailable}} {
			b := New(4*mib, 2*mib)
			held := b.Answer(c.holder)
			held.Hold(c.bytes)
			begin := time.Now()
			err := b.Answer("ann").Reserve(t.Context(), mib, func() {})
			var refusal *chat.Error
			if e, ok := err.(*chat.Error); ok { //nolint:errorlint // the very one
				refusal = e
			}
			if refusal == nil || refusal.Code != c.want || refusal.RetryAfter < time.Second || time.Since(begin) != patience {
				t.Errorf("%s holds %d: got %v after %v, want %s after %v", c.holder, c.bytes, err, time.Since(begin), c.want, patience)
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if err := b.Answer("ann").Reserve(gone, mib, func() {}); err == nil || chat.CodeOf(err) == c.want {
				t.Errorf("a client that is gone got %v", err)
			}
			if s := b.state(); s != (state{held: c.bytes, refused: 1}) {
				t.Errorf("state %+v, want what is held, and one refusal", s)
			}
			held.Free()
			if len(b.callers) != 0 || len(b.turns) != 0 || b.held != 0 {
				t.Errorf("left: %d callers, %d turns, %d bytes", len(b.callers), len(b.turns), b.held)
			}
		}
	})
}

// TestTakesTurns: where the node is full, those who stream get room in turn, each as much as came free.
func TestTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(4*mib, 4*mib)
		full := b.Answer("full")
		full.Hold(4 * mib)
		var order []string
		var all sync.WaitGroup
		for _, by := range []string{"ann", "ann", "ann", "bob", "cid"} {
			all.Go(func() {
				a := b.Answer(by)
				if err := a.Take(t.Context(), mib); err != nil {
					t.Error(err)
				}
				order = append(order, by)
				a.Free()
			})
			synctest.Wait()
		}
		if s := b.state(); s.waiting != 5 || s.held != 4*mib {
			t.Errorf("got %+v", s)
		}
		full.Hold(3*mib + 1) // room for one
		all.Wait()
		if want := []string{"ann", "bob", "cid", "ann", "ann"}; !slices.Equal(order, want) {
			t.Errorf("got %v, want %v", order, want)
		}
	})
}

// TestWhoIsLargestGoesAlone: an answer that is larger than a share is read when its caller holds nothing else.
func TestWhoIsLargestGoesAlone(t *testing.T) {
	b := New(4*mib, mib)
	a := b.Answer("ann")
	if err := a.Reserve(t.Context(), 3*mib, stays(t)); err != nil {
		t.Fatal(err)
	}
	a.Hold(5 * mib)
	if s := b.state(); s.held != 5*mib {
		t.Errorf("holds %d", s.held)
	}
	a.Free()
	var none *Budget
	nothing := none.Answer("ann")
	nothing.Hold(mib)
	nothing.Free()
	if nothing.Take(t.Context(), mib) != nil || nothing.Reserve(t.Context(), mib, stays(t)) != nil {
		t.Error("no budget refuses")
	}
}
