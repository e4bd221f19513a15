package conn

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/chatd/chatd/internal/redistest"
)

// TestFollowersShareACommand: channels that are asked for at the same time are followed by one command, and each caller waits for its own.
func TestFollowersShareACommand(t *testing.T) {
	server := redistest.Start(t)
	d, err := Open(Options{URL: server.URL(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	heard, done := make(chan Event, 100), make(chan struct{})
	go func() {
		defer close(done)
		_ = d.Listen(ctx, func(e Event) { heard <- e })
	}()
	defer func() {
		stop()
		<-done
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := d.Follow(ctx, []string{"first"}); err != nil { // it listens
		t.Fatal(err)
	}
	server.Do("CONFIG", "RESETSTAT")
	calls := [][]string{{"all", "first"}, nil}
	for i := range 50 {
		calls = append(calls, []string{"all", fmt.Sprint("one-", i)})
	}
	wait, err := followTogether(ctx, d.follows, calls)
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		if err := confirmed(ctx, wait[i]); err != nil || len(wait[i]) != len(calls[i]) {
			t.Fatalf("call %d waits for %d of %d channels: %v", i, len(wait[i]), len(calls[i]), err)
		}
	}
	if got := server.Calls()["subscribe"]; got != 1 {
		t.Errorf("%d calls took %d commands", len(calls), got)
	}
	for _, channel := range []string{"all", "one-49"} {
		server.Do("PUBLISH", channel, "x")
		for e := range heard {
			if e.Channel == channel {
				break
			}
		}
	}
}
