package queue_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/embedded"
)

func Example() {
	server, err := embedded.Open(context.Background(), embedded.Options{}) // in memory; or a real Redis
	if err != nil {
		panic(err)
	}
	defer func() { _ = server.Close() }()
	rdb := redis.NewClient(&redis.Options{Dialer: server.Dialer(), MaxRetries: -1, DisableIdentity: true})
	defer func() { _ = rdb.Close() }()

	tasks, err := queue.New(queue.Options{Client: rdb, Prefix: "shop", Queue: "mail"})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	tasks.Handle("welcome", func(_ context.Context, t queue.Task) error {
		fmt.Printf("%s, attempt %d, %s\n", t.Payload, t.Attempt, t.Priority)
		stop()
		return nil
	})
	if _, _, err := tasks.Enqueue(ctx, queue.Task{
		Kind: "welcome", Payload: []byte("ada"), Priority: queue.High, Unique: "welcome ada",
	}); err != nil {
		panic(err)
	}
	if err := tasks.Run(ctx); err != nil {
		panic(err)
	}
	// Output: ada, attempt 1, high
}

// User is the payload of the tasks of a kind.
type User struct {
	Name string `json:"name"`
}

// Welcome is declared once, for those who enqueue and those who handle.
var Welcome = queue.Kind[User]{Name: "mail.welcome", Policy: queue.Policy{AttemptsMax: 3}}

func ExampleKind() {
	server, err := embedded.Open(context.Background(), embedded.Options{}) // in memory; or a real Redis
	if err != nil {
		panic(err)
	}
	defer func() { _ = server.Close() }()
	rdb := redis.NewClient(&redis.Options{Dialer: server.Dialer(), MaxRetries: -1, DisableIdentity: true})
	defer func() { _ = rdb.Close() }()

	tasks, err := queue.New(queue.Options{Client: rdb, Prefix: "shop", Queue: "mail"})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	tasks.Use(func(next queue.Handler) queue.Handler { // around every handler
		return func(ctx context.Context, t queue.Task) error {
			err := next(ctx, t)
			fmt.Println(t.Kind, err)
			return err
		}
	})
	Welcome.Handle(tasks, func(_ context.Context, t *queue.Task, u User) error {
		fmt.Println("welcome,", u.Name, "-", t.Priority)
		stop()
		return nil
	})
	if _, _, err := Welcome.Enqueue(ctx, tasks, User{Name: "Ada"}, queue.Task{Priority: queue.High}); err != nil {
		panic(err)
	}
	if err := tasks.Run(ctx); err != nil {
		panic(err)
	}
	// Output:
	// welcome, Ada - high
	// mail.welcome <nil>
}

func ExampleServer_Periodic() {
	embeddedStore, err := embedded.Open(context.Background(), embedded.Options{}) // in memory; or a real Redis
	if err != nil {
		panic(err)
	}
	defer func() { _ = embeddedStore.Close() }()
	rdb := redis.NewClient(&redis.Options{Dialer: embeddedStore.Dialer(), MaxRetries: -1, DisableIdentity: true})
	defer func() { _ = rdb.Close() }()
	tasks, err := queue.New(queue.Options{Client: rdb, Prefix: "shop", Queue: "mail"})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	tasks.Handle("digest", func(_ context.Context, t queue.Task) error {
		fmt.Printf("%s for %s\n", t.Kind, t.Payload)
		stop()
		return nil
	})
	// Each second, so that this example ends soon; in earnest Cron: "0 8 * * MON", Zone: "Europe/Berlin".
	err = tasks.Periodic(queue.Periodic{ID: "digest", Every: time.Second, Kind: "digest", Payload: []byte("everybody")})
	if err != nil {
		panic(err)
	}
	if err := tasks.Run(ctx); err != nil {
		panic(err)
	}
	// Output: digest for everybody
}
