package queue_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/embedded"
)

// One import of a user at a time: asked for again while it runs, it is not enqueued; once it has ended, the next one is.
func ExampleTask_uniqueUntilEnd() {
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

	ctx := context.Background()
	again := queue.Task{Kind: "import", Unique: "import ada", UniqueUntilEnd: true}
	tasks.Handle("import", func(ctx context.Context, _ queue.Task) error {
		_, enqueued, err := tasks.Enqueue(ctx, again)
		fmt.Println("while it runs:", enqueued)
		return err
	})
	if _, _, err := tasks.Enqueue(ctx, again); err != nil {
		panic(err)
	}
	if _, err := tasks.RunNext(ctx); err != nil {
		panic(err)
	}
	_, enqueued, err := tasks.Enqueue(ctx, again)
	fmt.Println("afterwards:", enqueued, err)
	// Output:
	// while it runs: false
	// afterwards: true <nil>
}

// A confirmation is sent once a day at most, however often it is asked for and although the first one is long done.
func ExampleTask_uniqueFor() {
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

	ctx := context.Background()
	confirm := queue.Task{Kind: "confirm", Unique: "confirm ada", UniqueFor: 24 * time.Hour}
	tasks.Handle("confirm", func(context.Context, queue.Task) error { return nil })
	first, _, err := tasks.Enqueue(ctx, confirm)
	if err != nil {
		panic(err)
	}
	if _, err := tasks.RunNext(ctx); err != nil {
		panic(err)
	}
	holder, enqueued, err := tasks.Enqueue(ctx, confirm)
	fmt.Println(enqueued, holder == first, err)
	// Output:
	// false true <nil>
}
