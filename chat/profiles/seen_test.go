package profiles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// noted is a store that takes when users were seen.
type noted struct {
	Store
	mu    sync.Mutex
	down  bool
	calls []map[string]int64
}

func (n *noted) SawUsers(_ context.Context, at map[string]int64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, at)
	if n.down {
		return errors.New("down")
	}
	return nil
}

func (n *noted) fail(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
}

// TestSeenIsWritten: once a minute, if anybody was seen, also where it failed before; and at the end.
func TestSeenIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &noted{}
		s := New(store, nil, Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		var connected atomic.Pointer[[]string]
		connected.Store(new([]string))
		ctx, stop := context.WithCancel(t.Context())
		begun := time.Now().UnixMilli()
		go func() { _ = s.Run(ctx, func() []string { return *connected.Load() }) }()
		wait := func(d time.Duration) {
			<-time.After(d)
			synctest.Wait()
		}
		check := func(what string, want ...map[string]int64) {
			t.Helper()
			store.mu.Lock()
			defer store.mu.Unlock()
			if len(store.calls) != len(want) || len(want) > 0 && !reflect.DeepEqual(store.calls, want) {
				t.Errorf("%s: got %v, want %v", what, store.calls, want)
			}
			store.calls = nil
		}
		wait(5 * time.Minute)
		check("nobody")
		store.fail(true)
		s.Saw("alice")
		wait(time.Second)
		s.Saw("alice")
		wait(time.Minute)
		alice := map[string]int64{"alice": begun + 301_000}
		check("it fails", alice)
		store.fail(false)
		connected.Store(&[]string{"bob"})
		wait(time.Minute)
		check("again, with who is connected", map[string]int64{"alice": begun + 301_000, "bob": begun + 420_000})
		connected.Store(new([]string))
		s.Saw("carl")
		stop()
		synctest.Wait()
		check("the end", map[string]int64{"carl": begun + 421_000})
	})
}

// TestSeenIsBounded: a node remembers no more users than it may.
func TestSeenIsBounded(t *testing.T) {
	s := newSeen()
	for i := range 2 * seenShards * seenShardMax {
		s.note(fmt.Sprint(i), seenAgainMs)
	}
	if n := len(s.take()); n > seenShards*seenShardMax {
		t.Errorf("got %d users", n)
	}
}

// TestSeenWhileTaken: calls go on while what is remembered is taken, also of a shard that is empty. Only the race detector sees
// this fail; in a server it would be a crash, once in a while.
func TestSeenWhileTaken(t *testing.T) {
	s, all := newSeen(), map[string]int64{}
	const users = 10_000
	var calls sync.WaitGroup
	calls.Go(func() {
		for i := range users {
			s.note(fmt.Sprint(i), seenAgainMs)
		}
	})
	noted := make(chan struct{})
	go func() { calls.Wait(); close(noted) }()
	for done := false; !done; {
		select {
		case <-noted:
			done = true
		default:
		}
		maps.Copy(all, s.take())
	}
	if len(all) != users {
		t.Errorf("%d users were taken, not %d", len(all), users)
	}
}
