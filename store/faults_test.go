package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// TestLostSubscription: a follower hears after every reconnect that something may have been missed, and hears
// everything from then on.
func TestLostSubscription(t *testing.T) {
	server := redistest.Start(t, "--appendfsync", "always")
	s := open(t, store.Options{URL: server.URL()})
	group(t, s, "g", 100, 1000)
	signals := make(chan live.Signal, 100)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Listen(ctx, func(sig live.Signal) { signals <- sig }) })
	defer running.Wait()
	defer stop()
	if err := s.Follow(t.Context(), []string{"g"}, []string{"bob"}); err != nil {
		t.Fatal(err)
	}
	next := func() live.Signal {
		t.Helper()
		select {
		case sig := <-signals:
			return sig
		case <-time.After(time.Minute):
			t.Fatal("no signal came")
			return live.Signal{}
		}
	}
	expect := func(want live.SignalKind) {
		t.Helper()
		if sig := next(); sig.Kind != want {
			t.Fatalf("got signal %+v, want kind %d", sig, want)
		}
	}
	// Each try to connect may be cut again.
	expectLost := func() {
		t.Helper()
		expect(live.SignalCut)
		sig := next()
		for sig.Kind == live.SignalCut {
			sig = next()
		}
		if sig.Kind != live.SignalLost {
			t.Fatalf("got signal %+v after the subscription broke, want SignalLost", sig)
		}
	}
	for range 3 {
		server.Do("CLIENT", "KILL", "TYPE", "pubsub")
		expectLost()
		send(t, s, greeting("g", "alice"))
		expect(live.SignalMessage)
	}
	server.Restart()
	expectLost()
	send(t, s, greeting("g", "alice"))
	expect(live.SignalMessage)
	// What is followed while there is no connection is subscribed to with the next one.
	server.Kill()
	followed := make(chan error, 1)
	running.Go(func() { followed <- s.Follow(t.Context(), []string{"h"}, nil) })
	server.Restart()
	if err := <-followed; err != nil {
		t.Fatal(err)
	}
	expectLost()
}

// TestLostAnswers: a send whose answer was lost is repeated with a key only. Without one it may have been done, so it is
// there once, or not at all, but never twice.
func TestLostAnswers(t *testing.T) {
	server := redistest.Start(t)
	startReplica(t, server)
	proxy := redistest.StartProxy(t, server.Addr, 0)
	s := open(t, store.Options{URL: proxy.URL()})
	group(t, s, "g", 100, 1000)
	stored := func() (n int) {
		t.Helper()
		entries, _, err := s.Range(t.Context(), "g", 3, 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	for _, durability := range []chat.Durability{"", chat.DurabilityReplica} {
		before, lost := stored(), proxy.Lost()
		plain := greeting("g", "alice")
		plain.Durability = durability
		proxy.Lose("evalsha", 1)
		_, err := s.Append(t.Context(), plain)
		proxy.Lose("", 0)
		if !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("durability %q: got error %v, want unavailable", durability, err)
		}
		if n, lost := stored()-before, proxy.Lost()-lost; n != 1 || lost != 1 {
			t.Errorf("durability %q: got %d messages after %d lost answers, want 1 after 1", durability, n, lost)
		}

		keyed := plain
		keyed.Key, keyed.Content = "k"+string(durability), "c"
		proxy.Lose("evalsha", 2)
		send(t, s, plain)
		before, lost = stored(), proxy.Lost()
		done := send(t, s, keyed) // whose first answer is lost
		proxy.Lose("", 0)
		if n, lost := stored()-before, proxy.Lost()-lost; n != 1 || lost != 1 || !done.Duplicate {
			t.Errorf("durability %q with a key: got %d messages after %d lost answers, and %+v", durability, n, lost, done)
		}
	}
}

// TestIdleSendersAreForgotten: what is kept of a sender who was idle for a day goes, but own messages stay own while
// they are counted.
func TestIdleSendersAreForgotten(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL(), Prefix: "p"})
	group(t, s, "g", 1000, 40)
	const senders, sent, by = "p:{p00}:g:g:senders", "p:{p00}:g:g:sent:bob", "p:{p00}:g:g:by:bob"
	keyed := greeting("g", "bob")
	keyed.Key, keyed.Content = "k", "c"
	send(t, s, keyed)
	idleFor := func(last int64) {
		t.Helper()
		server.Do("ZADD", senders, "1", "bob")
		for send(t, s, greeting("g", "alice")).ID < last {
		}
	}
	idleFor(64)
	if n := server.Int("EXISTS", sent); n != 1 {
		t.Error("retry keys go at the first look, although they may have been added a moment ago")
	}
	for send(t, s, greeting("g", "alice")).ID < 128-30 {
	}
	send(t, s, greeting("g", "bob"))
	idleFor(128)
	if n := server.Int("EXISTS", sent); n != 0 {
		t.Error("the retry keys of an idle sender are kept")
	}
	if n := server.Int("ZCARD", by); n != 1 {
		t.Errorf("got %d own ids, want the one that is still counted", n)
	}
	if got := server.Do("ZSCORE", senders, "bob"); got == nil || got == "1" {
		t.Errorf("got %v, want the sender to be looked at again in a day", got)
	}
	idleFor(192)
	if n := server.Int("EXISTS", sent, by); n != 0 {
		t.Error("own ids that nobody counts are kept")
	}
	if got := server.Do("ZSCORE", senders, "bob"); got != nil {
		t.Errorf("got %v, want the sender forgotten", got)
	}
}
