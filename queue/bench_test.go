package queue

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkProcess measures no-op tasks through 50 workers, from full queues.
func BenchmarkProcess(b *testing.B) {
	for _, partitions := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("P%d", partitions), func(b *testing.B) { process(b, partitions) })
	}
}

func process(b *testing.B, partitions int) {
	b.Helper()
	o := options(connect(b, startRedis(b)), partitions)
	o.Workers = 50
	s := newServer(b, o)
	var done atomic.Int64
	ended := make(chan struct{})
	s.Handle("k", func(context.Context, Task) error {
		if done.Add(1) == int64(b.N) {
			close(ended)
		}
		return nil
	})
	for n := b.N; n > 0; n -= 10000 {
		tasks := make([]Task, min(n, 10000))
		for i := range tasks {
			tasks[i] = Task{Kind: "k", Payload: []byte("payload of some forty bytes, as is usual")}
		}
		if _, err := s.EnqueueAll(context.Background(), tasks); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	stop := start(b, s)
	<-ended
	for stats(b, s.Client).Done < int64(b.N) {
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
	b.StopTimer()
	if err := stop(); err != nil {
		b.Error(err)
	}
}

// BenchmarkWait measures how long a single task waits in an idle queue, from before it is
// enqueued until its handler begins.
func BenchmarkWait(b *testing.B) {
	o := options(connect(b, startRedis(b)), 1)
	s := newServer(b, o)
	began := make(chan time.Time, 1)
	s.Handle("k", func(context.Context, Task) error { began <- time.Now(); return nil })
	start(b, s)
	var waits []time.Duration
	for b.Loop() {
		before := time.Now()
		enqueue(b, s.Client, Task{Kind: "k"})
		waits = append(waits, (<-began).Sub(before))
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-us")
}

// BenchmarkEnqueue measures single enqueues from 16 goroutines.
func BenchmarkEnqueue(b *testing.B) {
	for _, partitions := range []int{1, 16} {
		b.Run(fmt.Sprintf("P%d", partitions), func(b *testing.B) {
			c := newClient(b, options(connect(b, startRedis(b)), partitions))
			b.SetParallelism(16 / runtime.GOMAXPROCS(0))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := c.Enqueue(context.Background(), Task{Kind: "k", Payload: []byte("payload")}); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}
