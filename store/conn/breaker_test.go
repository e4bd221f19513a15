package conn

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// serverTwin is a server in virtual time: while it is away, every caller waits for ever, also when it is back.
type serverTwin struct {
	*breaker
	*guard
	away  atomic.Bool
	asked atomic.Int64 // pings
}

// startTwin runs a breaker in front of such a server. It ends with the test, and every goroutine of it: the bubble waits.
func startTwin(t *testing.T) *serverTwin {
	s := &serverTwin{}
	s.breaker = newBreaker(func(ctx context.Context) error {
		s.asked.Add(1)
		if !s.away.Load() {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}, 0, slog.New(slog.DiscardHandler))
	s.guard = newGuard(turns, s.breaker, true)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.breaker.run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return s
}

// call is a call of the store, which the server answers at once where it is there.
func (s *serverTwin) call(t *testing.T) error {
	t.Helper()
	ctx, err := s.enter(t.Context())
	if err != nil {
		return err
	}
	err = nil
	if s.away.Load() {
		<-s.state().Done() // the breaker closes its connection
		err = errors.New("connection closed")
	}
	s.leave(ctx, err)
	return err
}

// TestBreakerInTime: the first call to a server that went silent is refused within a second, the next ones at once, and the
// first success comes within half a second of its return. However long it was away and however many call, it is asked ten times
// a second.
func TestBreakerInTime(t *testing.T) {
	for _, away := range []time.Duration{2 * time.Second, 10 * time.Second, 10*time.Minute + 37*time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := startTwin(t)
			if err := s.call(t); err != nil {
				t.Fatal(err)
			}
			s.away.Store(true)
			gone := time.Now()
			if err := s.call(t); err == nil {
				t.Error("a call to a server that is away succeeded")
			}
			if took := time.Since(gone); took > time.Second {
				t.Errorf("the first refusal took %v, want a second at most", took)
			}
			asked, open := s.asked.Load(), time.Now()
			for range 1000 {
				if err := s.call(t); !errors.Is(err, ErrAway) {
					t.Fatalf("got %v, want that the store is away", err)
				}
			}
			if took := time.Since(open); took > 0 {
				t.Errorf("refusals took %v, want no time", took)
			}
			<-time.After(away - time.Since(gone))
			if got, most := s.asked.Load()-asked, int64(time.Since(open)/pingAgain)+1; got > most || got < most/2 {
				t.Errorf("the server was asked %d times in %v, want one each %v", got, time.Since(open), pingAgain)
			}
			s.away.Store(false)
			back := time.Now()
			<-s.closed()
			if err := s.call(t); err != nil {
				t.Errorf("after its return: %v", err)
			}
			if took := time.Since(back); took > 500*time.Millisecond {
				t.Errorf("the first success came %v after the return, want half a second at most", took)
			}
		})
	}
}

// TestBreakerAsksSeldom: a server that nobody needs is asked seldom while it is away, and often again once someone does.
func TestBreakerAsksSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startTwin(t)
		s.away.Store(true)
		_ = s.call(t) // opens the breaker
		s.seldom.Store(true)
		asked := s.asked.Load()
		<-time.After(10 * pingSeldom)
		if got := s.asked.Load() - asked; got < 9 || got > 10 {
			t.Errorf("got %d pings in %v, want one each %v", got, 10*pingSeldom, pingSeldom)
		}
		s.away.Store(false)
		s.seldom.Store(false)
		needed := time.Now()
		<-s.closed()
		if took := time.Since(needed); took > 500*time.Millisecond {
			t.Errorf("calls succeed %v after the server was needed, want half a second at most", took)
		}
	})
}

// TestBreakerAtOnce: where a call fails and the server refuses the ping too, nobody waits.
func TestBreakerAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("connection refused")
		b := newBreaker(func(context.Context) error { return refused }, 0, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b.run(ctx)
		}()
		began := time.Now()
		b.began()
		b.ended(t.Context(), refused)
		<-b.state().Done()
		if took := time.Since(began); took > 0 {
			t.Errorf("the breaker opened after %v, want at once", took)
		}
		stop()
		<-ended
	})
}
