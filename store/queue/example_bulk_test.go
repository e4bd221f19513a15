package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/chatd/chatd/store/queue"
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
