package queue

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// calls reads INFO commandstats: how often each command ran, those in scripts included.
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

// TestIdleServerIsQuiet counts what an idle node costs Redis with many tasks waiting: the
// commands it sends, not those inside its scripts.
func TestIdleServerIsQuiet(t *testing.T) {
	for partitions, most := range map[int]float64{1: 12, 64: 100} {
		t.Run(fmt.Sprintf("P%d", partitions), func(t *testing.T) {
			t.Parallel()
			rdb := connect(t, startRedis(t))
			o := options(rdb, partitions)
			s := newServer(t, o)
			s.Handle("k", func(context.Context, Task) error { return nil })
			tasks := make([]Task, 5000)
			for i := range tasks {
				tasks[i] = Task{Kind: "k", Delay: time.Hour}
			}
			if _, err := s.EnqueueAll(context.Background(), tasks); err != nil {
				t.Fatal(err)
			}
			sent := func() (n int) {
				for name, calls := range commandCalls(t, rdb) {
					switch name {
					case "evalsha", "evalsha_ro", "ping", "subscribe", "script|load", "hello", "publish":
						n += calls
					}
				}
				return n
			}
			start(t, s)
			enqueue(t, s.Client, Task{Kind: "k"})
			until(t, "the server to work", func() bool { return stats(t, s.Client).Done == 1 })
			// The measure is a rate, so this test has to take its time.
			before, began := sent(), time.Now()
			<-time.After(4 * time.Second)
			rate := float64(sent()-before) / time.Since(began).Seconds()
			t.Logf("%d partitions: %.1f commands a second", partitions, rate)
			if rate > most {
				t.Errorf("%.1f commands a second, want %v at most", rate, most)
			}
		})
	}
}
