package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/embedded"
)

// memory returns a client of a Redis in memory, and what ends both.
func memory() (rdb *redis.Client, end func()) {
	server, err := embedded.Open(context.Background(), embedded.Options{})
	if err != nil {
		panic(err)
	}
	rdb = redis.NewClient(&redis.Options{Dialer: server.Dialer(), MaxRetries: -1, DisableIdentity: true})
	return rdb, func() {
		_ = rdb.Close()
		_ = server.Close()
	}
}

// mail returns a server of the queue "mail" in memory.
func mail(observe func(queue.Run)) (server *queue.Server, end func()) {
	rdb, end := memory()
	server, err := queue.New(queue.Options{Client: rdb, Queue: "mail", Observe: observe})
	if err != nil {
		panic(err)
	}
	return server, end
}

// enqueueAll enqueues tasks of which nothing can be wrong.
func enqueueAll(server *queue.Server, tasks ...queue.Task) {
	if _, err := server.EnqueueAll(context.Background(), tasks); err != nil {
		panic(err)
	}
}

// workOff runs what is ready.
func workOff(server *queue.Server) {
	for more := true; more; {
		var err error
		if more, err = server.RunNext(context.Background()); err != nil {
			panic(err)
		}
	}
}

// A program that works off a queue and exits.
func ExampleServer_RunNext() {
	server, end := mail(nil)
	defer end()
	server.Handle("welcome", func(_ context.Context, t queue.Task) error { fmt.Printf("welcome, %s\n", t.Payload); return nil })
	enqueueAll(server, queue.Task{Kind: "welcome", Payload: []byte("Ada")}, queue.Task{Kind: "welcome", Payload: []byte("Grace")},
		queue.Task{Kind: "welcome", Payload: []byte("Edsger"), Delay: time.Hour})
	for {
		if more, err := server.RunNext(context.Background()); err != nil || !more {
			break
		}
	}
	// Output:
	// welcome, Ada
	// welcome, Grace
}

// The handlers of related kinds, with middleware around them.
func ExampleMux() {
	server, end := mail(nil)
	defer end()
	var mail queue.Mux
	mail.Use(func(next queue.Handler) queue.Handler {
		return func(ctx context.Context, t queue.Task) error {
			fmt.Print("mail: ")
			return next(ctx, t)
		}
	})
	mail.Handle("welcome", func(context.Context, queue.Task) error { fmt.Println("welcome!"); return nil })
	mail.Handle("*", func(_ context.Context, t queue.Task) error { fmt.Println("something like", t.Kind); return nil })
	server.Mount("mail.", &mail)
	enqueueAll(server, queue.Task{Kind: "mail.welcome"}, queue.Task{Kind: "mail.invoice"})
	workOff(server)
	// Output:
	// mail: welcome!
	// mail: something like mail.invoice
}

// A handler that cannot work yet, and has not failed either.
func ExampleSnooze() {
	server, end := mail(func(r queue.Run) { fmt.Println(r.Verdict) })
	defer end()
	asked := 0
	server.Handle("send", func(context.Context, queue.Task) error {
		if asked++; asked < 3 { // the limit of the provider is reached
			return queue.Snooze(0) // behind what waits now; usually a second or so
		}
		return nil
	})
	enqueueAll(server, queue.Task{Kind: "send", AttemptsMax: 1})
	workOff(server)
	// Output:
	// snooze
	// snooze
	// complete
}

// A handler that knows when the next attempt may succeed.
func ExampleRetryAfter() {
	server, end := mail(nil)
	defer end()
	server.Handle("send", func(context.Context, queue.Task) error {
		return queue.RetryAfter(time.Hour, errors.New("503, Retry-After: 3600"))
	})
	enqueueAll(server, queue.Task{Kind: "send"})
	workOff(server)
	delayed, _, err := server.List(context.Background(), queue.ListQuery{State: queue.Delayed})
	if err != nil {
		panic(err)
	}
	fmt.Println(delayed[0].Attempts, delayed[0].LastError, delayed[0].Due.Sub(delayed[0].Enqueued).Round(time.Hour))
	// Output: 1 503, Retry-After: 3600 1h0m0s
}

// A handler for which a retry is pointless, and an operator who knows better.
func ExampleBury() {
	server, end := mail(nil)
	defer end()
	known := false
	server.Handle("send", func(_ context.Context, t queue.Task) error {
		if !known {
			return queue.Bury(fmt.Errorf("no such user: %s", t.Payload))
		}
		fmt.Printf("sent to %s\n", t.Payload)
		return nil
	})
	enqueueAll(server, queue.Task{Kind: "send", Payload: []byte("ada")})
	workOff(server)
	dead, _, err := server.List(context.Background(), queue.ListQuery{State: queue.Dead})
	if err != nil {
		panic(err)
	}
	fmt.Println(dead[0].LastError)
	known = true
	if err := server.Retry(context.Background(), dead[0].ID); err != nil {
		panic(err)
	}
	workOff(server)
	// Output:
	// no such user: ada
	// sent to ada
}

// A long task shows how far it is, also to a later attempt.
func ExampleSetProgress() {
	server, end := mail(nil)
	defer end()
	server.Handle("import", func(ctx context.Context, t queue.Task) error {
		if err := queue.SetProgress(ctx, 40, 100); err != nil {
			return err // another worker has the task by now
		}
		info, err := server.Get(ctx, t.ID)
		fmt.Println(info.Progress.Done, "of", info.Progress.Total)
		return err
	})
	enqueueAll(server, queue.Task{Kind: "import"})
	workOff(server)
	// Output: 40 of 100
}

func ExampleClient_Cancel() {
	server, end := mail(nil)
	defer end()
	id, _, err := server.Enqueue(context.Background(), queue.Task{Kind: "remind", Delay: time.Hour})
	if err != nil {
		panic(err)
	}
	state, err := server.Cancel(context.Background(), id)
	fmt.Println(state, err)
	_, err = server.Get(context.Background(), id)
	fmt.Println(errors.Is(err, queue.ErrNotFound))
	// Output:
	// delayed <nil>
	// true
}

// Runs in the log, as the program's slog handler writes them, and counted by kind and verdict.
func ExampleLogRuns() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case "time", "task", "late", "took": // differ from run to run
				return slog.Attr{}
			}
			return a
		},
	}))
	logged, count := queue.LogRuns(logger), map[string]int{}
	server, end := mail(func(r queue.Run) {
		logged(r)
		count[r.Kind+" "+r.Verdict]++ // or a prometheus.CounterVec; runs that overlap need a lock
	})
	defer end()
	server.Handle("send", func(context.Context, queue.Task) error { return queue.Bury(errors.New("no such user")) })
	server.Handle("index", func(context.Context, queue.Task) error { return nil })
	enqueueAll(server, queue.Task{Kind: "send"}, queue.Task{Kind: "index"}, queue.Task{Kind: "index"})
	workOff(server)
	fmt.Println(count["index complete"], count["send bury"])
	// Output:
	// level=ERROR msg="task ran" queue=mail kind=send attempt=1 verdict=bury error="no such user"
	// 2 1
}

// One mail about several events.
func ExampleServer_HandleBatch() {
	server, end := mail(nil)
	defer end()
	server.HandleBatch("digest", queue.Policy{}, func(_ context.Context, tasks []queue.Task) error {
		names := make([]string, len(tasks))
		for i, t := range tasks {
			names[i] = string(t.Payload)
		}
		fmt.Println("new photos by", strings.Join(names, " and "))
		return nil
	})
	// Here the second photo makes the batch full; five quiet minutes would do, too, or an hour in all.
	batch := &queue.Batch{Key: "to kay", Max: 2, Quiet: 5 * time.Minute, MaxWait: time.Hour}
	enqueueAll(server, queue.Task{Kind: "digest", Payload: []byte("Ada"), Batch: batch},
		queue.Task{Kind: "digest", Payload: []byte("Grace"), Batch: batch})
	workOff(server)
	// Output: new photos by Ada and Grace
}
