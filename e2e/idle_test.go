package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// put enqueues a task under an id of its own, again until Redis has taken it: its own connection is cut as well.
func put(ctx context.Context, t *testing.T, c *queue.Client, task queue.Task) string {
	t.Helper()
	task.ID = queue.NewID(0)
	harness.Eventually(t, 20*time.Second, "the task is put in", func() error {
		_, _, err := c.Enqueue(ctx, task)
		return err
	})
	return task.ID
}

// TestWorkerGoesOnAfterACut cuts the connections of a worker that waits for work, then takes Redis away for some time:
// in both cases it does the next task by itself.
func TestWorkerGoesOnAfterACut(t *testing.T) {
	ctx := bounded(t, time.Minute)
	server := redistest.Start(t)
	o := must(taskOptions(server.URL(), 1))(t)
	t.Cleanup(func() { _ = o.Client.Close() })
	c, r := must(queue.NewClient(o))(t), newReceiver(t)
	w := startWorker(t, workerSpec{
		Name: "w", Redis: server.URL(), Receiver: r.url, Partitions: 1, Workers: 2, Lease: tasksLease,
	})
	task := queue.Task{Kind: effectKind, Payload: must(json.Marshal(effect{}))(t)}
	if err := r.had(ctx, put(ctx, t, c, task)); err != nil {
		t.Fatal(err)
	}
	var cut int64
	shortest := time.Hour
	for range 5 {
		harness.Pause(ctx, 200*time.Millisecond) // it is asleep by then, and it may be at work all the same
		cut += server.Int("CLIENT", "KILL", "TYPE", "normal") + server.Int("CLIENT", "KILL", "TYPE", "pubsub")
		began := time.Now()
		if err := r.had(ctx, put(ctx, t, c, task)); err != nil {
			t.Fatal(err)
		}
		shortest = min(shortest, time.Since(began))
	}
	t.Logf("%d connections cut; the task after a cut was done within %v once", cut, shortest.Round(time.Millisecond))
	if cut < 10 {
		t.Errorf("%d connections were cut: the run shows nothing", cut)
	}
	if limit := 3 * time.Second; shortest > limit {
		t.Errorf("every task took %v or more after a cut, want %v at most: a lost wake-up costs a second", shortest, limit)
	}

	server.Kill()
	harness.Pause(ctx, 2*time.Second)
	server.Restart()
	began := time.Now()
	if err := r.had(ctx, put(ctx, t, c, task)); err != nil {
		t.Fatal(err)
	}
	t.Logf("the first task after Redis was away was done within %v", time.Since(began).Round(time.Millisecond))
	harness.Eventually(t, 10*time.Second, "nothing is left", func() error {
		s, err := c.Stats(ctx)
		if err == nil && s.Done != s.Enqueued {
			err = fmt.Errorf("%+v", s)
		}
		return err
	})
	w.terminate()
}

// TestNodeGoesOnAfterACut does the same to a whole node: what its tasks bring about arrives.
func TestNodeGoesOnAfterACut(t *testing.T) {
	ctx := bounded(t, time.Minute)
	server := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: server.URL()})
	alice, bob := node.Client("alice", patient()), node.Client("bob", patient())
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	for i := range 3 {
		server.Int("CLIENT", "KILL", "TYPE", "normal")
		server.Int("CLIENT", "KILL", "TYPE", "pubsub")
		sent := must(alice.Send(ctx, "g", client.Draft{Body: "@bob", Mentions: []string{"bob"}, ClientID: fmt.Sprint(i)}))(t)
		harness.Eventually(t, 5*time.Second, "bob is told of the mention", func() error {
			page, err := bob.Inbox(ctx, nil, 100)
			if err != nil {
				return err
			}
			for _, item := range page.Items {
				if item.Kind == client.ItemMention && item.ID == sent.ID {
					return nil
				}
			}
			return fmt.Errorf("the inbox holds %d items", len(page.Items))
		})
	}
}

// TestIdleNodeIsQuiet counts what a node costs Redis that has nothing to do, all its loops together: with an empty store,
// and with 100,000 tasks that are not due.
func TestIdleNodeIsQuiet(t *testing.T) {
	ctx := bounded(t, 2*time.Minute)
	server := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: server.URL()})
	alice := node.Client("alice")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	o := must(taskOptions(server.URL(), 1))(t)
	c := must(queue.NewClient(o))(t)
	const delayed = 100_000
	for _, waiting := range []int64{0, delayed} {
		if waiting > 0 {
			tasks := make([]queue.Task, waiting)
			for i := range tasks {
				tasks[i] = queue.Task{Kind: "mentions", Payload: []byte("{}"), Delay: time.Hour}
			}
			must(c.EnqueueAll(ctx, tasks))(t)
			_ = o.Client.Close()
		}
		if got := server.Int("ZCARD", queue.NewKeys("chat", 0, "core").Of("delayed")); got < waiting {
			t.Fatalf("%d tasks are delayed, want %d", got, waiting)
		}
		// What is measured is a rate, so this takes its time.
		const window = 3 * time.Second
		watch := server.Watch(t)
		harness.Pause(ctx, 500*time.Millisecond) // what the requests before left to do is done
		watch.Take(t)
		harness.Pause(ctx, window)
		commands := watch.Take(t)
		watch.Close()
		rate := float64(len(commands)) / window.Seconds()
		t.Logf("%d delayed tasks: %.1f commands a second", waiting, rate)
		if rate > 12 || len(commands) == 0 {
			t.Errorf("got %.1f commands a second with %d delayed tasks, want some, and 12 at most: %.200q", rate, waiting, commands)
		}
	}
}
