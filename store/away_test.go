package store_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// TestServerAway: with the server gone, however it went, the first call is refused within a second and the next at once;
// the first call after its return is served within half a second, and nothing is left of the outage.
func TestServerAway(t *testing.T) {
	for _, c := range []struct {
		name        string
		leave, back func(*redistest.Server, *redistest.Proxy)
	}{
		{"killed", func(s *redistest.Server, _ *redistest.Proxy) { s.Kill() }, func(s *redistest.Server, _ *redistest.Proxy) { s.Restart() }},
		{"stopped", func(s *redistest.Server, _ *redistest.Proxy) { s.Signal(syscall.SIGSTOP) },
			func(s *redistest.Server, _ *redistest.Proxy) { s.Signal(syscall.SIGCONT) }},
		{"unreachable", func(_ *redistest.Server, p *redistest.Proxy) { p.Blackhole(true) },
			func(_ *redistest.Server, p *redistest.Proxy) { p.Blackhole(false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := redistest.Start(t)
			proxy := redistest.StartProxy(t, server.Addr, 0)
			s := open(t, store.Options{URL: proxy.URL()})
			group(t, s, "g", 100, 1000)
			manyReads(t, s, 50)
			before := runtime.NumGoroutine()

			// The shortest times of several, and of more where those are long: a machine that does more than this delays some.
			first, next, success := time.Hour, time.Hour, time.Hour
			long := func() bool {
				return first > 1500*time.Millisecond || next > first/3 && next > 100*time.Millisecond || success > time.Second
			}
			for round := 0; round < 3 || round < 20 && long(); round++ {
				c.leave(server, proxy)
				first = min(first, refused(t, s))
				for range 5 {
					next = min(next, refused(t, s))
				}
				var crowd sync.WaitGroup
				for range 1000 {
					crowd.Go(func() { _, _ = s.Lasts(t.Context(), []string{"g"}) })
				}
				crowd.Wait()
				c.back(server, proxy)
				returned := time.Now()
				for _, err := s.Lasts(t.Context(), []string{"g"}); err != nil; _, err = s.Lasts(t.Context(), []string{"g"}) {
					if time.Since(returned) > time.Minute {
						t.Fatalf("no success after the return: %v", err)
					}
				}
				success = min(success, time.Since(returned))
				manyReads(t, s, 50)
			}
			t.Logf("the first was refused after %v, the next after %v; served %v after the return", first, next, success)
			if long() {
				t.Errorf("refused after %v, the next after %v, served %v after the return; want 1 s, at once, 0.5 s", first, next, success)
			}
			// The proxy has some for each of the 50 connections, which differ.
			for wait := time.Now(); runtime.NumGoroutine() > before+300; runtime.Gosched() {
				if time.Since(wait) > 10*time.Second {
					t.Fatalf("got %d goroutines after the outage, want about %d as before", runtime.NumGoroutine(), before)
				}
			}
		})
	}
}

// refused makes a call that has to be refused, and tells how long that took.
func refused(t *testing.T, s *store.Store) time.Duration {
	t.Helper()
	began := time.Now()
	if _, err := s.Lasts(t.Context(), []string{"g"}); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("got error %v, want unavailable", err)
	}
	return time.Since(began)
}

// manyReads makes n calls at once, which all have to succeed.
func manyReads(t *testing.T, s *store.Store, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if _, err := s.Lasts(t.Context(), []string{"g"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestSlowServer: a server that is busy for a while is not away, nor is it when callers give up.
func TestSlowServer(t *testing.T) {
	server := redistest.Start(t, "--enable-debug-command", "yes")
	s := open(t, store.Options{URL: server.URL()})
	group(t, s, "g", 100, 1000)
	busy := make(chan struct{})
	go func() {
		defer close(busy)
		for range 5 {
			server.Do("DEBUG", "SLEEP", "0.199")
		}
		server.Do("DEBUG", "SLEEP", "0.4")
	}()
	for done := false; !done; {
		select {
		case <-busy:
			done = true
		default:
		}
		manyReads(t, s, 20)
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, _ = s.Lasts(short, []string{"g"})
		cancel()
	}
}

// TestBurst: many calls that come at once wait for each other; none is refused.
func TestBurst(t *testing.T) {
	t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t)
		proxy := redistest.StartProxy(t, server.Addr, 20*time.Millisecond)
		s := open(t, store.Options{URL: proxy.URL()})
		group(t, s, "g", 100, 1000)
		manyReads(t, s, 2000)
	})
	t.Run("embedded", func(t *testing.T) {
		s := open(t, store.Options{Embedded: embeddedServer(t)})
		group(t, s, "g", 100, 1000)
		manyReads(t, s, 2000)
	})
}
