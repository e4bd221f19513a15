package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/redistest"
)

// TestPartitionsAreRecorded: the first client records the number of partitions; one with a different number gets
// ErrPartitions from its first call, before anything is read or written.
func TestPartitionsAreRecorded(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		first := newClient(t, o)
		enqueue(t, first, Task{Kind: "k"})
		has := o.Partitions
		other := o
		other.Partitions = has + 2
		want := fmt.Sprintf("Options.Partitions is %d, but the keys under %q have %d partitions: set it to %d", has+2, o.Prefix, has, has)
		c := newClient(t, other)
		_, _, err := c.Enqueue(t.Context(), Task{Kind: "k"})
		refused(t, "Enqueue", err, want)
		_, err = c.EnqueueAll(t.Context(), make([]Task, 3))
		if errors.Is(err, ErrPartitions) {
			t.Error("tasks without a kind were not refused first")
		}
		_, err = c.EnqueueAll(t.Context(), []Task{{Kind: "k"}, {Kind: "k"}})
		refused(t, "EnqueueAll", err, want)
		_, err = c.Stats(t.Context())
		refused(t, "Stats", err, want)
		refused(t, "Pause", c.Pause(t.Context()), want)
		_, err = c.Get(t.Context(), NewID(0))
		refused(t, "Get", err, want)
		patience, stop := context.WithTimeout(t.Context(), 10*time.Second) // without the check Run works until it is stopped
		s := newServer(t, other)
		s.Handle("k", func(context.Context, Task) error { return nil })
		refused(t, "Run", s.Run(patience), want)
		stop()

		if s := stats(t, first); s.Enqueued != 1 || s.Paused {
			t.Errorf("got %+v, want the first task alone", s)
		}
		enqueue(t, newClient(t, o), Task{Kind: "k"})
		other.Prefix += "2"
		enqueue(t, newClient(t, other), Task{Kind: "k"})
		if got, err := CheckPartitions(t.Context(), o.Client, other.Prefix, 0); err != nil || got != has+2 {
			t.Errorf("under another prefix: got %d partitions, %v, want %d", got, err, has+2)
		}
	})
}

func refused(t *testing.T, what string, err error, want string) {
	t.Helper()
	if !errors.Is(err, ErrPartitions) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got error %v, want %q", what, err, want)
	}
}

// TestRunWaitsForTheCheck: a server that starts while Redis is down checks once it is up, and then works.
func TestRunWaitsForTheCheck(t *testing.T) {
	t.Parallel()
	addr := redistest.FreeAddr(t)
	o := options(connectWith(t, clientOptions(addr)), 4)
	failed, done := make(chan struct{}), make(chan struct{})
	fail := sync.OnceFunc(func() { close(failed) })
	o.Logger = slog.New(slog.NewTextHandler(writer(func(line []byte) {
		if bytes.Contains(line, []byte("number of partitions")) {
			fail()
		}
	}), nil))
	s := newServer(t, o)
	s.Handle("k", func(context.Context, Task) error {
		close(done)
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	select {
	case <-failed:
	case err := <-ended:
		t.Fatalf("Run ended while Redis was away: %v", err)
	case <-time.After(inVain):
		t.Fatal("waited in vain: a failure")
	}
	t.Cleanup(startRedisAt(t, addr))
	enqueue(t, s.Client, Task{Kind: "k"})
	receive(t, "the task runs", done)
	cancel()
	if err := receive(t, "Run ends", ended); err != nil {
		t.Error(err)
	}
}
