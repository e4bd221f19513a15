package deliver

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// enter takes a slot or fails the test.
func enter(t *testing.T, g *gate, at string) *slot {
	t.Helper()
	p, after := g.enter(t.Context(), at, at, endpointCap)
	if p == nil {
		t.Fatalf("%s: sent away for %s", at, after)
	}
	return p
}

func sentAway(t *testing.T, g *gate, at string) time.Duration {
	t.Helper()
	p, after := g.enter(t.Context(), at, at, endpointCap)
	if p != nil {
		t.Fatalf("%s: got a slot", at)
	}
	if after <= 0 {
		t.Fatalf("%s: told to come back after %s", at, after)
	}
	return after
}

// prove lets an endpoint answer once.
func prove(t *testing.T, g *gate, at string) {
	t.Helper()
	g.leave(enter(t, g, at), healthy, 0)
}

func TestSlotsOfAnEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		prove(t, g, "a")
		slots := []*slot{enter(t, g, "a"), enter(t, g, "a"), enter(t, g, "a"), enter(t, g, "a")}
		enter(t, g, "b") // another one has room

		// An endpoint that answers soon is worth a moment of waiting.
		done := make(chan *slot)
		go func() {
			p, _ := g.enter(context.Background(), "a", "a", endpointCap)
			done <- p
		}()
		synctest.Wait()
		g.leave(slots[0], healthy, 0)
		if p := <-done; p == nil {
			t.Fatal("the one that waited got no slot")
		}

		// A slow one is not: after that moment all are turned away at once.
		began := time.Now()
		sentAway(t, g, "a")
		if waited := time.Since(began); waited != waitMax {
			t.Errorf("waited for %s, want %s", waited, waitMax)
		}
		<-time.After(4 * waitMax) // virtual
		began = time.Now()
		last := time.Duration(0)
		for range 100 {
			after := sentAway(t, g, "a")
			if after <= last {
				t.Fatalf("two come back together: %s after %s", after, last)
			}
			last = after
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("100 were sent away in %s, want at once", waited)
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		for range breakerFailures {
			g.leave(enter(t, g, "a"), failing, 0)
		}
		for _, least := range []time.Duration{5, 10, 20, 40, 80, 160, 300, 300} {
			after := sentAway(t, g, "a")
			if after < least*time.Second || after > least*time.Second*12/10 {
				t.Fatalf("shut for %s, want about %d s", after, least)
			}
			<-time.After(after) // virtual
			probe := enter(t, g, "a")
			sentAway(t, g, "a") // only one request tests it
			g.leave(probe, failing, 0)
		}
		<-time.After(breakerMax * 2)
		probe := enter(t, g, "a")
		g.leave(probe, unknown, 0) // ended from this side: the next one tests it
		g.leave(enter(t, g, "a"), healthy, 0)
		for range endpointCap {
			enter(t, g, "a")
		}
		g.leave(enter(t, g, "b"), failing, time.Minute)
		if after := sentAway(t, g, "b"); after < time.Minute {
			t.Errorf("come back after %s, want what the endpoint asked for", after)
		}
	})
}

// TestSuspectsShareAPart: endpoints that never answered, however many, leave room for those that do.
func TestSuspectsShareAPart(t *testing.T) {
	g := newGate()
	for i := range 8 {
		prove(t, g, fmt.Sprint("good", i))
	}
	held := 0
	for i := range 100 {
		for range endpointCap {
			if p, _ := g.enter(t.Context(), fmt.Sprint("bad", i), fmt.Sprint("owner", i), endpointCap); p != nil {
				held++
			}
		}
	}
	if held != suspectsMax {
		t.Errorf("suspects hold %d slots, want %d", held, suspectsMax)
	}
	for i := range 8 {
		enter(t, g, fmt.Sprint("good", i))
	}
}

// TestSuspectsOfOneOwner: 100 hanging endpoints of one owner take a small part of the suspects' share. A new endpoint
// of another owner gets through at once, so does one that answers, and callers that were turned away come back one
// after the other.
func TestSuspectsOfOneOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		prove(t, g, "good")
		var slots []*slot
		for i := range 100 {
			if p, _ := g.enter(t.Context(), fmt.Sprint("bad", i), "mallory", endpointCap); p != nil {
				slots = append(slots, p)
			}
		}
		if len(slots) != ownerMax {
			t.Errorf("the suspects of one owner hold %d slots, want %d", len(slots), ownerMax)
		}
		began := time.Now()
		for range endpointCap {
			enter(t, g, "good")
		}
		enter(t, g, "new")
		if waited := time.Since(began); waited != 0 {
			t.Errorf("others waited for %s", waited)
		}
		<-time.After(10 * time.Second) // virtual
		last := time.Duration(0)
		for i := ownerMax; i < 100; i++ { // those before hold a slot
			_, after := g.enter(t.Context(), fmt.Sprint("bad", i), "mallory", endpointCap)
			if after < last+10*time.Second/spaceOwnerPart {
				t.Fatalf("endpoint %d comes back after %s, the one before it after %s", i, after, last)
			}
			last = after
		}
		for _, p := range slots {
			g.leave(p, failing, 0)
		}
		<-time.After(time.Minute)
		g.leave(enter(t, g, "another"), failing, 0)
		g.leave(enter(t, g, "mallory"), failing, 0)
		if o := g.owners["mallory"]; o != nil {
			t.Errorf("an owner without a slot is remembered: %+v", o)
		}
	})
}

func TestEndpointsAreBounded(t *testing.T) {
	g := newGate()
	busy := enter(t, g, "busy")
	prove(t, g, "good")
	for i := range 3 * endpointsMax {
		g.leave(enter(t, g, fmt.Sprint("e", i)), failing, 0)
	}
	if n := len(g.endpoints); n > endpointsMax {
		t.Errorf("%d endpoints are remembered, want at most %d", n, endpointsMax)
	}
	if g.endpoints["busy"] == nil || g.endpoints["good"] == nil {
		t.Error("forgot one that is in use, or one that works before those that do not")
	}
	g.leave(busy, healthy, 0)
	if g.suspects != 0 {
		t.Errorf("%d slots of suspects are left over", g.suspects)
	}
}

// TestGateTogether has many workers on few endpoints; no slot may be left over and no endpoint may get a fifth request.
func TestGateTogether(t *testing.T) {
	g := newGate()
	var mu sync.Mutex
	under := map[string]int{}
	var workers sync.WaitGroup
	for w := range 32 {
		workers.Go(func() {
			for i := range 300 {
				at := fmt.Sprint("e", (w+i)%3)
				p, _ := g.enter(t.Context(), at, fmt.Sprint("owner", w%2), endpointCap)
				if p == nil {
					continue
				}
				mu.Lock()
				if under[at]++; under[at] > endpointCap {
					t.Errorf("%s: %d requests under way", at, under[at])
				}
				mu.Unlock()
				mu.Lock()
				under[at]--
				mu.Unlock()
				g.leave(p, []health{healthy, healthy, unknown}[i%3], 0)
			}
		})
	}
	workers.Wait()
	for at, e := range g.endpoints {
		if len(e.slots)+len(e.waiting) != 0 {
			t.Errorf("%s: %d slots and %d that wait are left over", at, len(e.slots), len(e.waiting))
		}
	}
	if g.suspects != 0 {
		t.Errorf("%d slots of suspects are left over", g.suspects)
	}
}
