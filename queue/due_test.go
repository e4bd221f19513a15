package queue

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// listening starts what a server hears signals with, and nothing else. heard takes the signals of a partition.
func listening(t *testing.T, s *Server) (heard func(partition int) (ready bool, dueAt time.Time)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.listen(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		receive(t, "listening ends", ended)
	})
	heard = func(partition int) (bool, time.Time) {
		ready := make([]bool, len(s.pools))
		dueAt := s.wakes.take(partition, ready)
		return ready[0], dueAt
	}
	for p := range s.o.Partitions { // a subscription counts as a signal
		until(t, "the subscription", func() bool {
			ready, _ := heard(p)
			return ready
		})
	}
	return heard
}

// Workers look at a partition only every few seconds if there are many, so whatever becomes the first delayed task of its
// partition is signalled with its time, however long the delay.
func TestFirstDelayedTaskIsSignalled(t *testing.T) {
	t.Parallel()
	for _, b := range backends {
		for _, partitions := range []int{1, 16, 64} {
			t.Run(fmt.Sprintf("%s/P%d", b.name, partitions), func(t *testing.T) {
				t.Parallel()
				s := newServer(t, options(connectWith(t, b.start(t)), partitions))
				heard := listening(t, s)
				signalled := func(partition int, delay time.Duration, put func()) {
					t.Helper()
					began := time.Now()
					put()
					var dueAt time.Time
					until(t, fmt.Sprintf("the signal of a task due in %v", delay), func() bool {
						var ready bool
						ready, dueAt = heard(partition)
						return ready || !dueAt.IsZero()
					})
					if dueAt.IsZero() {
						dueAt = began // ready now
					}
					if dueAt.Before(began.Add(delay)) || dueAt.After(time.Now().Add(delay+time.Millisecond)) {
						t.Errorf("a task due in %v: workers come %v after it was put in", delay, dueAt.Sub(began))
					}
				}
				const step = 250 * time.Millisecond
				for i := range 41 {
					p, delay := i%partitions, 10*time.Second-time.Duration(i)*step
					id := NewID(p)
					signalled(p, delay, func() { enqueue(t, s.Client, Task{Kind: "k", ID: id, Delay: delay}) })
					if _, err := s.Client.Cancel(t.Context(), id); err != nil { // so that the next one is the first, however late it comes
						t.Fatal(err)
					}
				}
				// A task that is to run again later is signalled too.
				p := partitions - 1
				enqueue(t, s.Client, Task{Kind: "k", ID: NewID(p)})
				until(t, "the signal of a ready task", func() bool {
					ready, _ := heard(p)
					return ready
				})
				r := claimOne(t, s.Client, p, testTerms)
				signalled(p, 2*time.Second, func() { settle(t, s.Client, end(r, snooze, 2*time.Second, "")) })
			})
		}
	}
}

func TestTaskBehindAnotherIsNotSignalled(t *testing.T) {
	t.Parallel()
	rdb := connect(t, startRedis(t))
	c := newClient(t, options(rdb, 1))
	published := func() int { return commandCalls(t, rdb)["publish"] }
	before := published()
	enqueue(t, c, Task{Kind: "k", Delay: time.Minute})
	if got := published() - before; got != 1 {
		t.Errorf("the first delayed task: %d signals, want 1", got)
	}
	for i := range 10 {
		enqueue(t, c, Task{Kind: "k", Delay: time.Minute + time.Duration(i+1)*time.Second})
	}
	if got := published() - before; got != 1 {
		t.Errorf("with 10 behind it: %d signals, want 1", got)
	}
}

// Delays may be longer than a time.Duration of milliseconds can say.
func TestSignalsTakeAnyDelay(t *testing.T) {
	for payload, want := range map[string]time.Duration{
		"delayed 0": 0, "delayed 1500": 1500 * time.Millisecond, "delayed 9007199254740991": dueInMax, "delayed x": 0, "delayed -1": 0,
	} {
		if got := dueIn(payload); got != want {
			t.Errorf("%q: %v, want %v", payload, got, want)
		}
	}
}
