package cache

import (
	"sync"
	"testing"
)

func TestBoundHolds(t *testing.T) {
	const bound = 10
	c := New[int, int](bound)
	for i := range 100 * bound {
		c.Put(i, -i)
		c.Get(i / 2)
		if got := c.Len(); got > 2*bound {
			t.Fatalf("after %d entries: %d are held, want at most %d", i+1, got, 2*bound)
		}
	}
}

// Entries in use stay; an unused one stays until at most max others have been used, and is gone after twice as many.
func TestForgetsWhatNobodyAsksFor(t *testing.T) {
	const bound = 10
	c := New[int, string](bound)
	c.Put(-1, "asked for")
	c.Put(-2, "not asked for")
	for i := range 2 * bound {
		c.Put(i, "other")
		if got, ok := c.Get(-1); !ok || got != "asked for" {
			t.Fatalf("after %d others: got %q, %v", i+1, got, ok)
		}
		if i+2 != bound {
			continue
		}
		c.mu.RLock()
		_, young := c.young[-2]
		_, old := c.old[-2]
		c.mu.RUnlock()
		if !young && !old {
			t.Errorf("forgotten after %d others, want at least %d", i+1, bound)
		}
	}
	if got, ok := c.Get(-2); ok {
		t.Errorf("after %d others: got %q, want nothing", 2*bound, got)
	}
}

func TestPutReplaces(t *testing.T) {
	c := New[string, int](1)
	for i := range 3 {
		c.Put("k", i)
		c.Put("other", i) // moves k to the old generation
		c.Put("k", i+10)
		if got, ok := c.Get("k"); !ok || got != i+10 {
			t.Errorf("got %d, %v, want %d", got, ok, i+10)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	c := New[int, int](16)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				k := (i * (g + 1)) % 64
				if v, ok := c.Get(k); ok && v != k {
					t.Errorf("got %d for %d", v, k)
				}
				c.Put(k, k)
			}
		})
	}
	wg.Wait()
	if got := c.Len(); got > 32 {
		t.Errorf("%d entries are held, want at most 32", got)
	}
}
