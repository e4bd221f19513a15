package queue

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	periodicCount = flag.Int("periodic", 300, "periodic tasks of TestEachOccurrenceOnceThoughNodesDie")
	periodicEvery = flag.Duration("periodic-every", time.Second, "the time between their occurrences")
	periodicFor   = flag.Duration("periodic-for", 4*time.Second, "how long its nodes are killed")
)

// TestEachOccurrenceOnceThoughNodesDie kills three nodes in turn, one about every second: each occurrence gets one task.
func TestEachOccurrenceOnceThoughNodesDie(t *testing.T) {
	t.Parallel()
	addr := startRedis(t)
	o := options(connect(t, addr), 4)
	o.Lease, o.Workers, o.StopTimeout, o.CrashesMax = 500*time.Millisecond, 64, time.Millisecond, 1000
	c := newClient(t, o)
	var mu sync.Mutex
	began := map[string]map[int64]time.Duration{} // payload, occurrence -> how late it first ran
	node := func(ctx context.Context) {
		rdb := connect(t, addr)
		mine := o
		mine.Client = rdb
		s := newServer(t, mine)
		s.Handle("k", func(ctx context.Context, task Task) error {
			late := time.Since(task.Due)
			if err := func() error { // so that some die in the middle of it
				timer := time.NewTimer(20 * time.Millisecond)
				defer timer.Stop()
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-timer.C:
					return nil
				}
			}(); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			name, ms := string(task.Payload), task.Due.UnixMilli()
			if began[name] == nil {
				began[name] = map[int64]time.Duration{}
			}
			if _, again := began[name][ms]; !again {
				began[name][ms] = late
			}
			return nil
		})
		stop := start(t, s)
		<-ctx.Done()
		_ = rdb.Close() // the kill: nothing that it does now reaches Redis
		_ = stop()
	}
	ending, end := context.WithTimeout(context.Background(), *periodicFor)
	defer end()
	var nodes sync.WaitGroup
	last, endLast := context.WithCancel(context.Background())
	defer endLast()
	for i := range 3 {
		nodes.Go(func() {
			for life := time.Duration(i+1) * time.Second; ending.Err() == nil; life = 3 * time.Second {
				ctx, kill := context.WithTimeout(context.Background(), life) // beyond ending, so that they never all die at once
				node(ctx)
				kill()
			}
			node(last)
		})
	}
	for i := range *periodicCount {
		name := fmt.Sprint("p", i)
		if err := c.PutPeriodic(context.Background(), Periodic{ID: name, Every: *periodicEvery, Kind: "k", Payload: []byte(name), Misfire: MisfireAll}); err != nil {
			t.Fatal(err)
		}
	}
	<-ending.Done()
	for i := range *periodicCount {
		if err := c.PausePeriodic(context.Background(), fmt.Sprint("p", i)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the rest to run", func() bool { s := stats(t, c); return s.ReadyAll()+s.Delayed+s.Leased == 0 })
	endLast()
	nodes.Wait()
	checkOccurrences(t, c, began)
}

// checkOccurrences compares what ran with what was fired: no occurrence is left out, and none had two tasks.
func checkOccurrences(t *testing.T, c *Client, began map[string]map[int64]time.Duration) {
	t.Helper()
	var fired int64
	pages(t, func(after string) string {
		infos, next, err := c.ListPeriodic(context.Background(), after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range infos {
			fired += i.Fired
			if n := int64(len(began[i.ID])); n != i.Fired {
				t.Errorf("%s: %d occurrences ran, %d were fired", i.ID, n, i.Fired)
			}
		}
		return next
	})
	var late []time.Duration
	for name, at := range began {
		var times []int64
		for ms, by := range at {
			times, late = append(times, ms), append(late, by)
		}
		slices.Sort(times)
		for i := 1; i < len(times); i++ {
			if gap := times[i] - times[i-1]; gap != periodicEvery.Milliseconds() {
				t.Errorf("%s: %d ms between two occurrences", name, gap)
			}
		}
	}
	s := stats(t, c)
	// Of each firing, the task that fires is done and that of each occurrence; it has several where nobody came in time. A
	// pause deletes the one that waits.
	if s.Done > 2*fired || s.Done <= fired || s.Deleted != int64(*periodicCount) || s.Enqueued != s.Done+s.Deleted || s.Dead != 0 || len(late) == 0 {
		t.Fatalf("%d were fired: %+v", fired, s)
	}
	slices.Sort(late)
	t.Logf("%d periodic tasks, %d occurrences; %d leases ended with their node; late: half %v, p99 %v, at most %v", *periodicCount, fired,
		s.Crashed, late[len(late)/2], late[len(late)*99/100], late[len(late)-1])
}
