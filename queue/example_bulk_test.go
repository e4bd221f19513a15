package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/chatd/chatd/queue"
)

// The mail server was away, and its tasks are dead: all of them run again.
func ExampleClient_Bulk() {
	ctx := context.Background()
	rdb, end := memory()
	defer end()
	server, err := queue.New(queue.Options{Client: rdb, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	away := true
	server.Handle("mail", func(context.Context, queue.Task) error {
		if away {
			return queue.Bury(errors.New("the mail server is away"))
		}
		return nil
	})
	enqueueAll(server, queue.Task{Kind: "mail"}, queue.Task{Kind: "mail"}, queue.Task{Kind: "mail"})
	workOff(server)

	away = false
	query, retried := queue.BulkQuery{Act: queue.BulkRetry, State: queue.Dead, Kind: "mail"}, 0
	for {
		step, err := server.Bulk(ctx, query)
		if err != nil {
			panic(err)
		}
		retried += step.Changed
		if query.Cursor = step.Next; query.Cursor == "" {
			break
		}
	}
	workOff(server)
	stats, err := server.Stats(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(retried, "retried,", stats.Done, "done,", stats.Dead, "dead")
	// Output: 3 retried, 3 done, 0 dead
}

// Who has the slot of an account, and who waits for it.
func ExampleClient_Limits() {
	ctx := context.Background()
	server, end := mail(nil)
	defer end()
	slot, err := server.Hold(ctx, "account 7", 1)
	if err != nil {
		panic(err)
	}
	server.Handle("change", func(context.Context, queue.Task) error { return nil })
	enqueueAll(server, queue.Task{Kind: "change", Limit: &queue.Limit{Key: "account 7", Max: 1}})
	workOff(server) // which parks the task
	limits, _, err := server.Limits(ctx, "", 0)
	if err != nil {
		panic(err)
	}
	for _, l := range limits {
		fmt.Printf("%s: %d slot held, %d waiting\n", l.Key, l.Held, l.Waiting)
	}
	if err := slot.Release(ctx); err != nil {
		panic(err)
	}
	// Output: account 7: 1 slot held, 1 waiting
}

// What ran today, and how it ended.
func ExampleClient_Days() {
	server, end := mail(nil)
	defer end()
	server.Handle("welcome", func(context.Context, queue.Task) error { return nil })
	enqueueAll(server, queue.Task{Kind: "welcome"}, queue.Task{Kind: "welcome"})
	workOff(server)
	days, err := server.Days(context.Background(), 1)
	if err != nil {
		panic(err)
	}
	for _, d := range days {
		fmt.Printf("%s: %d done, %d failed\n", d.Kind, d.Done, d.Failed)
	}
	// Output: welcome: 2 done, 0 failed
}
