package queue_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/store/embedded"
	"github.com/chatd/chatd/store/queue"
)

// The changes of an account are applied one after the other, in their order, however many workers there are.
func ExampleLimit() {
	server, err := embedded.Open(context.Background(), embedded.Options{}) // in memory; or a real Redis
	if err != nil {
		panic(err)
	}
	defer func() { _ = server.Close() }()
	rdb := redis.NewClient(&redis.Options{Dialer: server.Dialer(), MaxRetries: -1, DisableIdentity: true})
	defer func() { _ = rdb.Close() }()
	tasks, err := queue.New(queue.Options{Client: rdb, Prefix: "shop"})
	if err != nil {
		panic(err)
	}

	ctx, stop := context.WithCancel(context.Background())
	tasks.Handle("change", func(_ context.Context, t queue.Task) error {
		fmt.Println(string(t.Payload))
		if string(t.Payload) == "close" {
			stop()
		}
		return nil
	})
	for _, change := range []string{"open", "rename", "close"} {
		one := queue.Task{Kind: "change", Payload: []byte(change), Limit: &queue.Limit{Key: "account 7", Max: 1, Hold: true}}
		if _, _, err := tasks.Enqueue(ctx, one); err != nil {
			panic(err)
		}
	}
	if err := tasks.Run(ctx); err != nil {
		panic(err)
	}
	// Output:
	// open
	// rename
	// close
}
