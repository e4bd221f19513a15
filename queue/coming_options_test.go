package queue_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/queue"
)

func servesStrictly(c *coming) {
	o := c.options
	o.Queues = []queue.QueueOptions{{Name: "mail", Strict: true}}
	server, err := queue.New(o)
	if err != nil {
		c.Fatal(err)
	}
	c.server = server
	var order strings.Builder
	server.Handle("k", func(_ context.Context, t queue.Task) error { order.Write(t.Payload); return nil })
	for _, p := range []queue.Priority{queue.Low, queue.Normal, queue.High, queue.Critical} {
		for range 5 {
			c.enqueue(queue.Task{Kind: "k", Payload: []byte(p.String()[:1]), Priority: p})
		}
	}
	c.runs(0, 20)
	if got, want := order.String(), "ccccchhhhhnnnnnlllll"; got != want {
		c.Errorf("ran %s, want %s", got, want)
	}
}

func limits(c *coming) {
	var order strings.Builder
	c.server.Handle("k", func(_ context.Context, t queue.Task) error {
		order.Write(t.Payload)
		if t.Attempt == 1 && string(t.Payload) == "a" {
			return queue.RetryAfter(time.Hour, errors.New("no luck"))
		}
		return nil
	})
	for _, name := range []string{"a", "b", "c"} {
		c.enqueue(queue.Task{Kind: "k", Payload: []byte(name), Limit: &queue.Limit{Key: "one", Max: 1, Hold: true}})
	}
	c.runs(0, 1)
	c.runs(time.Hour, 3)
	if got := order.String(); got != "aabc" {
		c.Errorf("ran %s", got)
	}
}

func keepsARate(c *coming) {
	c.server.Handle("k", func(context.Context, queue.Task) error { return nil })
	for range 5 {
		c.enqueue(queue.Task{Kind: "k", Rate: &queue.Rate{Key: "host", N: 2, Per: time.Hour}})
	}
	c.runs(0, 2)
	c.runs(30*time.Minute, 1)
	c.runs(29*time.Minute, 0)
	c.runs(time.Minute, 1)
	c.runs(30*time.Minute, 1)
	c.states(0, 0, 5)
}

func isUniqueForATime(c *coming) {
	c.server.Handle("k", func(context.Context, queue.Task) error { return nil })
	one := queue.Task{Kind: "k", Unique: "u", UniqueFor: time.Hour}
	first, _, err := c.server.Enqueue(context.Background(), one)
	if err != nil {
		c.Fatal(err)
	}
	c.runs(59*time.Minute, 1)
	if holder, ok, err := c.server.Enqueue(context.Background(), one); holder != first || ok || err != nil {
		c.Errorf("got %s, %v, %v, want %s", holder, ok, err, first)
	}
	c.runs(time.Minute, 0)
	c.enqueue(one)
	c.runs(0, 1)
}

func leavesAResult(c *coming) {
	c.server.Handle("k", func(ctx context.Context, _ queue.Task) error { return queue.SetResult(ctx, []byte("42")) })
	id := c.enqueue(queue.Task{Kind: "k", Keep: time.Hour})
	c.runs(0, 1)
	ctx, stop := context.WithTimeout(c.Context(), harness.Slack*20*time.Second)
	defer stop()
	if got, err := c.server.Wait(ctx, id); err != nil || string(got.Data) != "42" {
		c.Errorf("got %q, %v", got.Data, err)
	}
	c.runs(time.Hour, 0)
	if _, err := c.server.Result(context.Background(), id); !errors.Is(err, queue.ErrNotFound) {
		c.Errorf("after an hour: %v", err)
	}
}

// actsOnMany works off what waits for next week, and removes the dead letters of one kind.
func actsOnMany(c *coming) {
	broken := true
	c.server.Handle("*", func(context.Context, queue.Task) error {
		if broken {
			return queue.Bury(errRow)
		}
		return nil
	})
	for _, kind := range []string{"a", "b", "b"} {
		c.enqueue(queue.Task{Kind: kind})
	}
	c.runs(0, 3)
	broken = false
	for range 2 {
		c.enqueue(queue.Task{Kind: "later", Delay: 7 * 24 * time.Hour})
	}
	for _, q := range []queue.BulkQuery{
		{Act: queue.BulkRun, State: queue.Delayed}, {Act: queue.BulkDelete, State: queue.Dead, Kind: "b"}, {Act: queue.BulkRetry, State: queue.Dead},
	} {
		if step, err := c.server.Bulk(c.Context(), q); err != nil || step.Next != "" {
			c.Fatal(step, err)
		}
	}
	c.runs(0, 3)
	c.states(0, 0, 3)
}

// countsByDay runs two tasks today, and one that fails tomorrow.
func countsByDay(c *coming) {
	c.server.Handle("k", func(context.Context, queue.Task) error { return nil })
	c.server.Handle("broken", func(context.Context, queue.Task) error { return queue.Bury(errRow) })
	for range 2 {
		c.enqueue(queue.Task{Kind: "k"})
	}
	c.enqueue(queue.Task{Kind: "broken", Delay: 24 * time.Hour})
	c.runs(0, 2)
	c.runs(24*time.Hour, 1)
	days, err := c.server.Days(c.Context(), 2)
	if err != nil || len(days) != 2 {
		c.Fatal(days, err)
	}
	if now, before := days[0], days[1]; now.Kind != "broken" || now.Failed != 1 || now.Buried != 1 || before.Kind != "k" || before.Done != 2 || now.Day.Sub(before.Day) != 24*time.Hour {
		c.Errorf("got %+v", days)
	}
}
