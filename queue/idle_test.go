package queue

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/redistest"
)

// commandCalls reads INFO commandstats: how often each command ran, including those in scripts.
func commandCalls(t testing.TB, rdb *redis.Client) map[string]int {
	t.Helper()
	info, err := rdb.Info(context.Background(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	calls := make(map[string]int)
	for line := range strings.SplitSeq(info, "\r\n") {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if !ok {
			continue
		}
		count, _, _ := strings.Cut(rest, ",")
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		calls[name] = n
	}
	return calls
}

// clientCommands counts the commands that clients have sent, not those that scripts ran.
func clientCommands(t testing.TB, rdb *redis.Client) (n int) {
	t.Helper()
	for name, calls := range commandCalls(t, rdb) {
		switch name {
		case "evalsha", "evalsha_ro", "ping", "subscribe", "script|load", "hello":
			n += calls
		}
	}
	return n
}

// TestIdleServerIsQuiet counts what an idle node costs Redis with many tasks waiting, in one
// queue and in three.
func TestIdleServerIsQuiet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		partitions, queues int
		over               time.Duration
		most               float64 // commands per second
	}{{1, 1, 4 * time.Second, 12}, {1, 3, 4 * time.Second, 12}, {64, 1, 8 * time.Second, 20}, {64, 3, 8 * time.Second, 20}} {
		t.Run(fmt.Sprintf("P%d/%d queues", test.partitions, test.queues), func(t *testing.T) {
			t.Parallel()
			rdb := connect(t, startRedis(t))
			o := severalOf(options(rdb, test.partitions), test.queues)
			s := newServer(t, o)
			s.Handle("k", func(context.Context, Task) error { return nil })
			for _, c := range clientsOf(t, o) {
				tasks := make([]Task, 5000)
				for i := range tasks {
					tasks[i] = Task{Kind: "k", Delay: time.Hour}
				}
				if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
					t.Fatal(err)
				}
			}
			start(t, s)
			enqueue(t, s.Client, Task{Kind: "k"})
			until(t, "the server to work", func() bool { return stats(t, s.Client).Done == 1 })
			// This measures a rate, so the test has to wait a while. The first subscriptions are reasons to look, and on a
			// busy machine they are confirmed late: then another window shows what it costs to be idle.
			for range 3 {
				before, began := clientCommands(t, rdb), time.Now()
				<-time.After(test.over)
				rate := float64(clientCommands(t, rdb)-before) / time.Since(began).Seconds()
				t.Logf("%d partitions, %d queues: %.1f commands a second", test.partitions, test.queues, rate)
				if rate <= test.most {
					return
				}
			}
			t.Errorf("want %v commands a second at most", test.most)
		})
	}
}

// TestDelayedTasksCostAClaimNothing compares what a claim makes Redis run and send, with and without 100,000 delayed
// tasks.
func TestDelayedTasksCostAClaimNothing(t *testing.T) {
	server := redistest.Start(t, "--appendonly", "no")
	rdb := connect(t, server.Addr)
	c := newClient(t, options(rdb, 1))
	set := newQueueSet(c)
	answered := func() (bytes int) {
		info, err := rdb.Info(context.Background(), "stats").Result()
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(info, "total_net_output_bytes:")
		number, _, _ := strings.Cut(rest, "\r\n")
		if bytes, err = strconv.Atoi(number); err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	// cost claims 20 tasks and returns the commands that ran and the bytes of the answer.
	cost := func() (map[string]int, int) {
		tasks := make([]Task, 20)
		for i := range tasks {
			tasks[i] = Task{Kind: "k", Payload: []byte("payload")}
		}
		if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		calls, idle := commandCalls(t, rdb), answered()
		idle = answered() - idle // minus the bytes of INFO itself
		bytes := answered()
		got := step(t, c, 0, 20, overdueMax, testTerms)
		bytes = answered() - bytes - idle
		if len(got.runs) != 20 {
			t.Fatalf("%d claimed", len(got.runs))
		}
		for name, n := range commandCalls(t, rdb) {
			if calls[name] = n - calls[name]; calls[name] == 0 {
				delete(calls, name)
			}
		}
		delete(calls, "info")
		ended := make([]*running, len(got.runs))
		for i, r := range got.runs {
			ended[i] = end(r, complete, 0, "")
		}
		if got, err := set.settle(context.Background(), ended, testTerms.dead); len(got.stale) != 0 || err != nil {
			t.Fatal(got.stale, err)
		}
		return calls, bytes
	}
	cost() // loads the scripts
	calls, bytes := cost()
	tasks := make([]Task, 10_000)
	for range 10 {
		for i := range tasks {
			tasks[i] = Task{Kind: "k", Delay: time.Hour}
		}
		if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
	}
	manyCalls, manyBytes := cost()
	if !maps.Equal(calls, manyCalls) {
		t.Errorf("commands: %v without, %v with 100,000 delayed ones", calls, manyCalls)
	}
	// The answer says when the next is due: a number instead of -1.
	if diff := manyBytes - bytes; diff < -20 || diff > 20 {
		t.Errorf("answers of %d bytes without, %d with", bytes, manyBytes)
	}
	t.Logf("%v, %d bytes", manyCalls, manyBytes)
}

// TestOptionsCostFewCommands counts what 20 tasks make Redis run from their claim to their end, by what they ask for. One
// that asks for nothing pays for nothing.
func TestOptionsCostFewCommands(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendonly", "no")
	rdb := connect(t, server.Addr)
	c := newClient(t, options(rdb, 1))
	const n = 20
	cost := func(task func(key string) Task) (sum int) {
		tasks := make([]Task, n)
		for i := range tasks {
			tasks[i] = task(fmt.Sprint("key", i))
			tasks[i].Kind = "k"
			tasks[i].ID = NewID(0)
		}
		if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		before := commandCalls(t, rdb)
		got := step(t, c, 0, n, overdueMax, testTerms).runs
		ended := make([]*running, len(got))
		for i, r := range got {
			ended[i] = end(r, complete, 0, "")
		}
		if stale := settle(t, c, ended...); len(got) != n || len(stale) > 0 {
			t.Fatalf("%d claimed, %d stale", len(got), len(stale))
		}
		for name, calls := range commandCalls(t, rdb) {
			if name != "info" {
				sum += calls - before[name]
			}
		}
		return sum
	}
	plain := func(string) Task { return Task{} }
	cost(plain) // loads the scripts
	least := cost(plain)
	for _, test := range []struct {
		name string
		task func(key string) Task
		more int // than without options, for all 20
	}{
		{"none", plain, 0},
		{"limits", func(key string) Task { return Task{Limit: &Limit{Key: key, Max: 1}} }, 5}, // also TIME, when they end
		{"rates", func(key string) Task { return Task{Rate: &Rate{Key: key, N: 1000, Per: time.Second}} }, 4},
		{"unique keys", func(key string) Task { return Task{Unique: key} }, 2},
	} {
		if got := cost(test.task); got > least+test.more {
			t.Errorf("%s: %d commands, want %d at most", test.name, got, least+test.more)
		} else {
			t.Logf("%s: %d commands for %d tasks", test.name, got, n)
		}
	}
	if least > n+25 {
		t.Errorf("%d commands for %d tasks without options", least, n)
	}
}
