package admission

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestHalfForOneCaller: a caller who asks for all there is gets half of it, by weight, and others find room at once. That
// the caller waits for their own requests is no overload.
func TestHalfForOneCaller(t *testing.T) {
	for units, want := range map[int]int{1: 8, weightUnits: 4, 8 * weightUnits: 1} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Max: 16, Min: 16, Start: 16})
			var all sync.WaitGroup
			end := time.Now().Add(4 * time.Second)
			for range 64 {
				all.Go(func() {
					for time.Now().Before(end) {
						p, ok := l.Enter(t.Context(), Key{User: "greedy"}, units)
						if !ok {
							t.Errorf("refused while the line is short")
						}
						pass(10 * time.Millisecond)
						p.Leave()
					}
				})
			}
			for time.Now().Before(end) {
				pass(9 * time.Millisecond)
				synctest.Wait()
				if got := l.state().working; got > want {
					t.Fatalf("%d requests of %d units at work, want %d", got, units, want)
				}
				begin := time.Now()
				p, ok := l.Enter(t.Context(), Key{User: "other"}, 1)
				if !ok || time.Since(begin) > 0 || l.Overloaded() {
					t.Fatalf("another caller: admitted %v after %s, overload %v", ok, time.Since(begin), l.Overloaded())
				}
				p.Leave()
			}
			all.Wait()
			if len(l.callers) > 0 {
				t.Errorf("%d callers are remembered", len(l.callers))
			}
		})
	}
}

// TestSharesCountUnits: sixteen callers ask for far more than two processors can do, each time for what takes 200 times as long
// as what a fourth one asks for, who is served all the time. By requests, the fourth would use up a share in a moment.
func TestSharesCountUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const unit, heavy = 100 * time.Microsecond, 200
		l := New(Options{Min: 4, Probe: 2, Start: 32})
		processors := make(chan struct{}, 2)
		ask := func(user string, units int) bool {
			key := Key{User: user}
			if l.Full(key, units) {
				return false
			}
			p, ok := l.Enter(t.Context(), key, units)
			defer p.Leave()
			if ok {
				processors <- struct{}{}
				pass(time.Duration(units) * unit)
				<-processors
			}
			return ok
		}
		var all sync.WaitGroup
		end := time.Now().Add(20 * time.Second)
		for i := range 16 * 6 {
			all.Go(func() {
				for time.Now().Before(end) {
					if !ask(fmt.Sprint("heavy", i%16), heavy) {
						pass(time.Second)
					}
				}
			})
		}
		pass(3 * time.Second) // then it is known that this is no burst
		overload, asked, refused := 0, 0, 0
		for time.Now().Before(end) {
			pass(50 * time.Millisecond)
			if asked++; !ask("light", 1) {
				refused++
			}
			if l.Overloaded() {
				overload++
			}
		}
		all.Wait()
		if overload == 0 {
			t.Fatal("no overload: nothing would be shown")
		}
		if refused > 0 {
			t.Errorf("%d of %d requests were refused that asked for little", refused, asked)
		}
	})
}
