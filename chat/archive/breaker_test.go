package archive

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/chat"
)

// TestBreakerOfADatabaseThatHangs: while a call is under way that may take seconds, the others look again ever more rarely, and
// soon after its answer.
func TestBreakerOfADatabaseThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Archiver{}
		b := &a.breaker
		between := func(what string, got, least, most time.Duration) {
			t.Helper()
			if got < least || got > most {
				t.Errorf("%s: a pause of %v, want %v to %v", what, got, least, most)
			}
		}
		enter := func() {
			t.Helper()
			if wait, ok := b.enter(); !ok {
				t.Fatalf("no call for %v", wait)
			}
		}
		between("before any call", a.whileBusy(), busyPause, busyPause*11/10)
		enter()
		between("at once", a.whileBusy(), busyPause, busyPause*11/10)
		<-time.After(time.Second)
		enter()
		between("a second later", a.whileBusy(), time.Second, 1100*time.Millisecond)
		b.leave(true)
		between("after an answer to one of two", a.whileBusy(), busyPause, busyPause*11/10)
		<-time.After(addTimeout)
		between("long after that", a.whileBusy(), awayPauseMax, awayPauseMax*11/10)
		b.leave(false)
		between("after the failure", a.whileBusy(), busyPause, busyPause*11/10)

		for n := range 10 {
			wait, ok := b.wait()
			if ok {
				t.Fatal("the failure is forgotten")
			}
			between("after a failure", wait, awayPauseMin, awayPauseMax*11/10)
			<-time.After(wait)
			enter()
			looks := 0
			for began := time.Now(); time.Since(began) < addTimeout; looks++ {
				wait, _ = b.wait()
				if other, ok := b.enter(); ok || other < awayPauseMin {
					t.Fatalf("two calls try at once, or the other looks again after %v", other)
				}
				<-time.After(wait)
			}
			if n > 3 && looks > 2 {
				t.Errorf("failure %d: %d looks in %v", n, looks, addTimeout)
			}
			b.leave(false)
		}
		<-time.After(awayPauseMax)
		enter()
		b.leave(true)
		if wait, ok := b.wait(); !ok {
			t.Errorf("after its return it is left alone for %v", wait)
		}
	})
}

// TestCallerWhoGivesUpDoesNotMakeTheDatabaseAway ends the context of a caller while the database works for it.
func TestCallerWhoGivesUpDoesNotMakeTheDatabaseAway(t *testing.T) {
	a := New(nil, nil, Options{})
	giveUp := func() {
		ctx, cancel := context.WithCancel(t.Context())
		_ = a.call(ctx, func(context.Context) error { cancel(); return chat.ErrUnavailable })
	}
	giveUp()
	if since := a.AwaySince(); !since.IsZero() || a.breaker.calls != 0 {
		t.Errorf("after a caller gave up: away since %v, %d calls under way", since, a.breaker.calls)
	}
	_ = a.call(t.Context(), func(context.Context) error { return chat.ErrUnavailable })
	a.breaker.until = time.Now() // the database may be tried again
	giveUp()
	if since := a.AwaySince(); since.IsZero() || a.breaker.calls != 0 || a.breaker.trying {
		t.Errorf("after a failure and a caller who gave up: away since %v, %d calls under way, trying %v", since, a.breaker.calls, a.breaker.trying)
	}
}
