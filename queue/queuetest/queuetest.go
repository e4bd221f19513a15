// Package queuetest tests the handlers of package queue: a Redis inside the test's process, so that nothing has to be
// installed, whose clock stands still until the test moves it. A task that is due in an hour, a retry after a pause and
// a deadline need no waiting.
//
//	func TestReminder(t *testing.T) {
//		r := queuetest.New(t)
//		server, err := queue.New(r.Options("mail"))
//		...
//		server.Handle("remind", remind)
//		signUp(ctx, server, "ada") // enqueues it
//		queuetest.RequireEnqueued(t, server, queue.Task{Kind: "remind", Delay: time.Hour})
//		r.Advance(time.Hour)
//		r.RunAll(ctx, server) // runs remind in this goroutine
//	}
//
// RunAll runs the handlers one after the other in the goroutine of the test, so they may call t.Fatal, and their order is
// that of the claims. To see them run at once, call Server.Run in a goroutine instead, and wait for what they do.
//
// The clock is that of Redis alone: Delay, backoff, Snooze and RetryAfter follow it exactly. Where the tested code computes
// a Due or a Deadline from the time of day, give it Redis.Now in place of time.Now, or advance a second more: time.Now goes
// on while the clock stands still, except in a bubble of testing/synctest, which works too. The context of a handler ends by the machine's clock, as many seconds before its
// deadline as were left on the clock of Redis.
package queuetest

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/embedded"
)

const (
	// runsMax is how many runs in one RunAll mean that it would not end.
	runsMax = 100_000
	// leaseLong is longer than any test advances the clock.
	leaseLong = 10 * 365 * 24 * time.Hour
)

// Redis is an empty Redis inside the process, for one test. It is safe for concurrent use.
type Redis struct {
	// Client is connected to it, and fit for queue.Options. It ends with the test.
	Client *redis.Client

	t   testing.TB
	log slog.Handler
	mu  sync.Mutex
	now time.Time
}

// output is the output of a test until it ends; servers that go on longer write nothing.
type output struct {
	mu sync.Mutex
	to io.Writer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(p)
}

func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to = io.Discard
}

// New starts a Redis that ends with the test. Its clock begins at the time of day, in whole ms.
func New(t testing.TB) *Redis {
	t.Helper()
	out := &output{to: t.Output()}
	r := &Redis{t: t, log: slog.NewTextHandler(out, nil), now: time.Now().Truncate(time.Millisecond)}
	server, err := embedded.Open(t.Context(), embedded.Options{Now: r.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("queuetest: %v", err)
	}
	r.Client = redis.NewClient(&redis.Options{
		Addr: "127.0.0.1:0", Dialer: server.Dialer(), Protocol: 2, MaxRetries: -1, DisableIdentity: true,
		ReadTimeout: -1, WriteTimeout: -1, // a slow machine is no dead server
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}, // would look up the address
	})
	t.Cleanup(func() {
		out.end()
		_ = r.Client.Close()
		_ = server.Close()
	})
	return r
}

// Options returns options of a server or client of this Redis. What the server says appears in the log of the test.
// Leases last for years, so that Advance ends none; set Lease to test what happens when a worker dies.
func (r *Redis) Options(name string) queue.Options {
	return queue.Options{Client: r.Client, Queue: name, Lease: leaseLong, Logger: slog.New(r.log)}
}

// Now is the time by the clock of this Redis.
func (r *Redis) Now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Advance moves the clock and wakes the servers that are in Run, so that they look at once for what is due now. What
// they do then takes its time: wait for it. A lease that ends by the new time counts as the death of its worker, also
// if a handler is still at work; leases of Options do not end.
func (r *Redis) Advance(d time.Duration) {
	r.t.Helper()
	if d < 0 {
		r.t.Fatalf("queuetest: Advance(%v): the clock does not go back", d)
	}
	r.mu.Lock()
	r.now = r.now.Add(d)
	r.mu.Unlock()
	r.wake()
}

// wake sends the signal of something that is due now on every channel that servers listen to.
func (r *Redis) wake() {
	r.t.Helper()
	ctx := context.Background() // also in a Cleanup
	channels, err := r.Client.PubSubChannels(ctx, "*:q:*:tasks").Result()
	if err != nil {
		r.t.Fatalf("queuetest: %v", err)
	}
	for _, channel := range channels {
		if strings.Contains(channel, "}:q:") {
			if err := r.Client.Publish(ctx, channel, "delayed 0").Err(); err != nil {
				r.t.Fatalf("queuetest: %v", err)
			}
		}
	}
}

// RunAll runs the tasks of servers, which are not in Run, until none of them is ready, and returns how many there were,
// those that handlers enqueued meanwhile and those of the engine that fire periodic tasks included. Delayed tasks that are not yet due stay: Advance first. The handlers
// run one after the other in this goroutine, see queue.Server.RunNext. The test fails if a server cannot run, or after
// 100,000 runs: a handler that snoozes for 0, or that enqueues the next task each time, would go on forever.
func (r *Redis) RunAll(ctx context.Context, servers ...*queue.Server) (runs int) {
	r.t.Helper()
	for idle := 0; idle < len(servers); {
		for _, server := range servers {
			ran, err := server.RunNext(ctx)
			if err != nil {
				r.t.Fatalf("queuetest: after %d runs: %v", runs, err)
			}
			if !ran {
				idle++
				continue
			}
			idle = 0
			if runs++; runs == runsMax {
				r.t.Fatalf("queuetest: tasks are ready after %d runs: does a handler snooze for 0, or enqueue itself?", runs)
			}
		}
	}
	return runs
}
