package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// schedules measures how late scheduled messages are, from their due time until a live reader has them: on one node
// that is left alone, then on three of which one is killed every three seconds.
func schedules(b *bench) {
	n, over := scaled(3000), shorter(30*time.Second)
	b.table.section(fmt.Sprintf("lateness of %d scheduled messages over %v, until a live reader has them", n, over))
	url := b.serve(false)
	late := scheduled(b, n, over, []dial{func(user string) *client.Client { return userOf(url, user) }}, func(context.Context) {})
	b.table.spread("one node, in this process (target: p99 10 ms)", late)

	b.build()
	server := redistest.Start(b.tb)
	nodes, dials := make([]*harness.Node, 3), make([]dial, 3)
	for i := range nodes {
		nodes[i] = harness.StartNode(b.tb, harness.Config{Redis: server.URL()})
		dials[i] = func(user string) *client.Client {
			return must(client.New(nodes[i].URL(), client.StaticToken(tokenOf(user)),
				client.WithRetry(60, client.Backoff{Base: 20 * time.Millisecond, Max: time.Second})))
		}
	}
	kills := 0
	late = scheduled(b, n, over, dials, func(ctx context.Context) {
		for ; pause(ctx, 3*time.Second) == nil; kills++ {
			nodes[kills%3].Kill()
			nodes[kills%3].Launch()
		}
	})
	b.table.spread(fmt.Sprintf("three nodes, %d kills (target: p99 1 s)", kills), late)
	sparse(b, server)
}

// sparse measures how late tasks begin that are alone in their partition, for every delay up to ten seconds: nothing but
// their own signal has a worker look there in time.
func sparse(b *bench, server *redistest.Server) {
	const step = 250 * time.Millisecond
	n := 1 + int(shorter(10*time.Second)/step)
	for _, partitions := range []int{1, 16, 64} {
		e := partitioned(b, server.Addr, fmt.Sprint("sparse", partitions), partitions)
		late := newLateness(n)
		stop := e.run(taskWorkers, late.stamped)
		for i := range n {
			due := time.Now().Add(time.Duration(i) * step).Add(time.Millisecond).Truncate(time.Millisecond)
			ok(e.put(b.ctx, queue.Task{Kind: "k", ID: queue.NewID(i % partitions), Due: due, Payload: stamp(due)}))
		}
		late.wait(b.ctx)
		stop()
		e.close()
		b.table.spread(fmt.Sprintf("%d tasks, due every %v up to %v, in %d partitions (target: 100 ms at most)", n, step, time.Duration(n-1)*step, partitions), late.by)
	}
}

// build makes the binary that the harness starts, as it is shipped, unless there is one: `make test` has one with the race detector.
func (b *bench) build() {
	if os.Getenv("CHATD_E2E_BINARY") != "" {
		return
	}
	path := filepath.Join(b.tb.TempDir(), "chatd")
	build := exec.CommandContext(b.ctx, "go", "build", "-o", path, "./cmd/chatd")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		ok(fmt.Errorf("go build: %w: %s", err, out))
	}
	ok(os.Setenv("CHATD_E2E_BINARY", path))
}

// dial makes a client for a user at one node.
type dial func(user string) *client.Client

// scheduled schedules n messages over a time and returns how late each came first to a reader who listens at all nodes,
// while disturb is under way.
func scheduled(b *bench, n int, over time.Duration, dials []dial, disturb func(context.Context)) []time.Duration {
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	owner := dials[0]("owner")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "planned", Members: []string{"reader"}}))
	came := make(chan string, n)
	for _, dial := range dials {
		stream := must(dial("reader").Stream(ctx, client.StreamOptions{Backoff: client.Backoff{Base: 50 * time.Millisecond, Max: time.Second}}))
		defer stream.Close()
		go follow(ctx, stream, came)
	}
	due := make(map[string]time.Time, n)
	var mu sync.Mutex
	start := time.Now().Add(time.Second + time.Duration(n)*2*time.Millisecond)
	parallel(n, 16, func(i int) error {
		body, at := fmt.Sprint(i), start.Add(rand.N(over)).Truncate(time.Millisecond)
		mu.Lock()
		due[body] = at
		mu.Unlock()
		_, err := owner.CreateSchedule(ctx, client.ScheduleDraft{Group: "planned", Body: body, At: &at})
		return err
	})
	if time.Now().After(start) {
		ok(fmt.Errorf("%d schedules were not made in time", n))
	}
	var disturbing sync.WaitGroup
	disturbing.Go(func() { disturb(ctx) })
	late := make([]time.Duration, 0, n)
	for len(due) > 0 {
		select {
		case body := <-came:
			if at, first := due[body]; first {
				late = append(late, time.Since(at))
				delete(due, body)
			}
		case <-ctx.Done():
			ok(ctx.Err())
		}
	}
	stop()
	disturbing.Wait()
	return late
}

// follow hands on the bodies of the messages that a stream brings, until it ends.
func follow(ctx context.Context, stream *client.Stream, to chan<- string) {
	for {
		event, err := stream.Next(ctx)
		if err != nil {
			return
		}
		if e, ok := event.(client.Messages); ok {
			for _, m := range e.Messages {
				if m.Kind != client.KindText {
					continue
				}
				select {
				case to <- m.Body:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}
