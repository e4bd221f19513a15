package queue_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/embedded"
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

// Calls to a host are at least 20 ms apart, however many workers there are.
func ExampleRate() {
	server, err := embedded.Open(context.Background(), embedded.Options{}) // in memory; or a real Redis
	if err != nil {
		panic(err)
	}
	defer func() { _ = server.Close() }()
	rdb := redis.NewClient(&redis.Options{Dialer: server.Dialer(), MaxRetries: -1, DisableIdentity: true})
	defer func() { _ = rdb.Close() }()
	tasks, err := queue.New(queue.Options{Client: rdb, Prefix: "shop", Workers: 4})
	if err != nil {
		panic(err)
	}

	ctx, stop := context.WithCancel(context.Background())
	began := make(chan time.Time, 3)
	tasks.Handle("call", func(context.Context, queue.Task) error {
		began <- time.Now()
		if len(began) == 3 {
			stop()
		}
		return nil
	})
	for range 3 {
		one := queue.Task{Kind: "call", Rate: &queue.Rate{Key: "example.com", N: 50, Per: time.Second, Burst: 1}}
		if _, _, err := tasks.Enqueue(ctx, one); err != nil {
			panic(err)
		}
	}
	from := time.Now()
	if err := tasks.Run(ctx); err != nil {
		panic(err)
	}
	<-began
	<-began
	fmt.Println("the third one waited for two turns:", (<-began).Sub(from) >= 39*time.Millisecond)
	// Output:
	// the third one waited for two turns: true
}

// Only one process at a time rebuilds the index, whether it is a task or not.
func ExampleClient_Hold() {
	server, err := embedded.Open(context.Background(), embedded.Options{}) // in memory; or a real Redis
	if err != nil {
		panic(err)
	}
	defer func() { _ = server.Close() }()
	rdb := redis.NewClient(&redis.Options{Dialer: server.Dialer(), MaxRetries: -1, DisableIdentity: true})
	defer func() { _ = rdb.Close() }()
	client, err := queue.NewClient(queue.Options{Client: rdb, Prefix: "shop"})
	if err != nil {
		panic(err)
	}

	slot, err := client.Hold(context.Background(), "index", 1)
	if err != nil {
		panic(err)
	}
	_, err = client.TryHold(context.Background(), "index", 1)
	fmt.Println("another one:", err)
	fmt.Println("lost:", slot.Context().Err() != nil) // what works under the lock ends with this context
	if err := slot.Release(context.Background()); err != nil {
		panic(err)
	}
	again, err := client.TryHold(context.Background(), "index", 1)
	if err != nil {
		panic(err)
	}
	fmt.Println("the fence has grown:", again.Fence() > slot.Fence())
	if err := again.Release(context.Background()); err != nil {
		panic(err)
	}
	// Output:
	// another one: queue: every slot of the limit is taken
	// lost: false
	// the fence has grown: true
}

// The caller that enqueues a task can wait for what it has found out.
func ExampleClient_Wait() {
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
	tasks.Handle("count", func(ctx context.Context, t queue.Task) error {
		return queue.SetResult(ctx, fmt.Appendf(nil, "%d letters", len(t.Payload)))
	})
	ended := make(chan error, 1)
	go func() { ended <- tasks.Run(ctx) }()
	id, _, err := tasks.Enqueue(ctx, queue.Task{Kind: "count", Payload: []byte("pineapple"), Keep: time.Minute})
	if err != nil {
		panic(err)
	}
	result, err := tasks.Wait(ctx, id)
	fmt.Println(string(result.Data), err)
	stop()
	if err := <-ended; err != nil {
		panic(err)
	}
	// Output:
	// 9 letters <nil>
}

// An order is confirmed when it is paid: the second task exists if and only if the first one is complete.
func ExampleTask_then() {
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
	tasks.Handle("pay", func(context.Context, queue.Task) error { fmt.Println("paid"); return nil })
	tasks.Handle("confirm", func(context.Context, queue.Task) error { fmt.Println("confirmed"); stop(); return nil })
	order := queue.Task{Kind: "pay", Subject: "order 7", Then: []queue.Task{{Kind: "confirm"}}}
	if _, _, err := tasks.Enqueue(ctx, order); err != nil {
		panic(err)
	}
	if err := tasks.Run(ctx); err != nil {
		panic(err)
	}
	// Output:
	// paid
	// confirmed
}
