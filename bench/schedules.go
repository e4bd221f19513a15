package main

import (
	"context"
	"encoding/binary"
	"errors"
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
	"github.com/chatd/chatd/web/auth"
)

// schedules measures how late scheduled messages are, from their due time until a live reader has them: on one node
// that is left alone, then on three of which one is killed every three seconds.
func schedules(b *bench) error {
	n, over := scaled(3000), shorter(30*time.Second)
	b.table.section(fmt.Sprintf("lateness of %d scheduled messages over %v, until a live reader has them", n, over))
	url, err := b.serve(false)
	if err != nil {
		return err
	}
	quiet := func(user string) (*client.Client, error) {
		token, _, err := auth.SignToken([]byte(secret), auth.Claims{User: user, TTL: time.Hour}, time.Now())
		if err != nil {
			return nil, err
		}
		return client.New(url, client.StaticToken(token))
	}
	late, err := scheduled(b, n, over, []dial{quiet}, func(context.Context) {})
	if err != nil {
		return err
	}
	b.table.spread("one node, in this process (target: p99 10 ms)", late)

	if err := b.build(); err != nil {
		return err
	}
	server := redistest.Start(b.tb)
	nodes, dials := make([]*harness.Node, 3), make([]dial, 3)
	for i := range nodes {
		nodes[i] = harness.StartNode(b.tb, harness.Config{Redis: server.URL()})
		dials[i] = func(user string) (*client.Client, error) {
			return client.New(nodes[i].URL(), client.StaticToken(harness.Token(user, "", time.Hour)),
				client.WithRetry(60, client.Backoff{Base: 20 * time.Millisecond, Max: time.Second}))
		}
	}
	kills := 0
	late, err = scheduled(b, n, over, dials, func(ctx context.Context) {
		for ; pause(ctx, 3*time.Second) == nil; kills++ {
			nodes[kills%3].Kill()
			nodes[kills%3].Launch()
		}
	})
	if err != nil {
		return err
	}
	b.table.spread(fmt.Sprintf("three nodes, %d kills (target: p99 1 s)", kills), late)
	return sparse(b, server)
}

// sparse measures how late tasks begin that are alone in their partition, for every delay up to ten seconds: nothing but
// their own signal has a worker look there in time.
func sparse(b *bench, server *redistest.Server) error {
	const step = 250 * time.Millisecond
	n := 1 + int(shorter(10*time.Second)/step)
	for _, partitions := range []int{1, 16, 64} {
		e, err := partitioned(b, server.Addr, fmt.Sprint("sparse", partitions), partitions)
		if err != nil {
			return err
		}
		late := newLateness(n)
		stop, err := e.run(taskWorkers, func(payload []byte) error {
			late.add(time.Since(time.Unix(0, int64(binary.BigEndian.Uint64(payload)))))
			return nil
		})
		if err != nil {
			return err
		}
		for i := range n {
			due := time.Now().Add(time.Duration(i) * step).Add(time.Millisecond).Truncate(time.Millisecond)
			task := queue.Task{Kind: "k", ID: queue.NewID(i % partitions), Due: due, Payload: binary.BigEndian.AppendUint64(nil, uint64(due.UnixNano()))}
			if err := e.(*ours).put(b.ctx, task); err != nil {
				return err
			}
		}
		err = late.wait(b.ctx)
		stop()
		if err = errors.Join(err, e.close()); err != nil {
			return err
		}
		b.table.spread(fmt.Sprintf("%d tasks, due every %v up to %v, in %d partitions (target: 100 ms at most)", n, step, time.Duration(n-1)*step, partitions), late.by)
	}
	return nil
}

// build makes the binary that the harness starts, as it is shipped.
func (b *bench) build() error {
	path := filepath.Join(b.tb.TempDir(), "chatd")
	build := exec.CommandContext(b.ctx, "go", "build", "-o", path, "./cmd/chatd")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	return os.Setenv("CHATD_E2E_BINARY", path)
}

// dial makes a client for a user at one node.
type dial func(user string) (*client.Client, error)

// scheduled schedules n messages over a time and returns how late each came first to a reader who listens at all nodes,
// while disturb is under way.
func scheduled(b *bench, n int, over time.Duration, dials []dial, disturb func(context.Context)) ([]time.Duration, error) {
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	owner, err := dials[0]("owner")
	if err != nil {
		return nil, err
	}
	if _, err := owner.CreateGroup(ctx, client.GroupDraft{ID: "planned", Members: []string{"reader"}}); err != nil {
		return nil, err
	}
	came := make(chan string, n)
	for _, dial := range dials {
		reader, err := dial("reader")
		if err != nil {
			return nil, err
		}
		stream, err := reader.Stream(ctx, client.StreamOptions{Backoff: client.Backoff{Base: 50 * time.Millisecond, Max: time.Second}})
		if err != nil {
			return nil, err
		}
		defer stream.Close()
		go follow(ctx, stream, came)
	}
	due := make(map[string]time.Time, n)
	var mu sync.Mutex
	start := time.Now().Add(time.Second + time.Duration(n)*2*time.Millisecond)
	_, err = parallel(n, 16, func(i int) error {
		body, at := fmt.Sprint(i), start.Add(rand.N(over)).Truncate(time.Millisecond)
		mu.Lock()
		due[body] = at
		mu.Unlock()
		_, err := owner.CreateSchedule(ctx, client.ScheduleDraft{Group: "planned", Body: body, At: &at})
		return err
	})
	if err != nil {
		return nil, err
	}
	if time.Now().After(start) {
		return nil, fmt.Errorf("%d schedules were not made in time", n)
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
			return nil, ctx.Err()
		}
	}
	stop()
	disturbing.Wait()
	return late, nil
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
