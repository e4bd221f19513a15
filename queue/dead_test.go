package queue

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// anyDead returns the id of a dead letter.
func anyDead(t *testing.T, c *Client) string {
	t.Helper()
	dead, _, err := c.List(context.Background(), ListQuery{State: Dead, Limit: 1})
	if err != nil || len(dead) == 0 {
		t.Fatalf("no task is dead: %v", err)
	}
	return dead[0].ID
}

// deadBytes sums up the bytes of all dead letters.
func deadBytes(t fataler, c *Client) (sum int64) {
	ctx := context.Background()
	for _, k := range c.keys {
		ids, err := c.rdb.ZRange(ctx, k.Of("dead"), 0, -1).Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			spec, err := c.rdb.HGet(ctx, k.Of("tasks"), id).Result()
			if err != nil {
				t.Fatal(err)
			}
			sum += int64(len(spec))
			batch, err := c.rdb.HGet(ctx, k.Of("batches"), id).Result() // "<tasks> <bytes> <since>"
			if err != nil && !errors.Is(err, redis.Nil) {
				t.Fatal(err)
			}
			if fields := strings.Fields(batch); len(fields) == 3 {
				n, err := strconv.ParseInt(fields[1], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				sum += n
			}
		}
	}
	return sum
}

// fataler is a test, or a run of a random one.
type fataler interface{ Fatal(args ...any) }

func TestDeadLettersAreBounded(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for range 8 {
			enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
			set := newQueueSet(c)
			if _, err := set.settle(context.Background(), []*running{end(claimOne(t, c, 0, testTerms), bury, 0, "no")}, deadBounds{3, 1 << 20}); err != nil {
				t.Fatal(err)
			}
		}
		if s := stats(t, c); s.Dead != 3 || s.Dropped != 5 || s.Buried != 8 {
			t.Errorf("got %+v", s)
		}
		kept, err := c.rdb.HKeys(context.Background(), c.keys[0].Of("tasks")).Result()
		if err != nil || len(kept) != 3 {
			t.Errorf("kept %v, %v", kept, err)
		}
	})
}

func TestDeadLettersAreBoundedInBytes(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		set := newQueueSet(c)
		bounds := deadBounds{2000, 3500}
		die := func(sizes ...int) {
			t.Helper()
			var runs []*running
			for _, size := range sizes {
				enqueue(t, c, Task{Kind: "k", ID: NewID(0), Payload: make([]byte, size)})
				runs = append(runs, end(claimOne(t, c, 0, testTerms), bury, 0, "no"))
			}
			if _, err := set.settle(ctx, runs, bounds); err != nil {
				t.Fatal(err)
			}
		}
		holds := func(dead, dropped int64) {
			t.Helper()
			s := stats(t, c)
			if s.Dead != dead || s.Dropped != dropped || s.DeadBytes > bounds.bytes {
				t.Errorf("got %+v, want %d dead of at most %d bytes, %d dropped", s, dead, bounds.bytes, dropped)
			}
			if got := deadBytes(t, c); got != s.DeadBytes {
				t.Errorf("counts %d bytes of dead letters, there are %d", s.DeadBytes, got)
			}
		}
		die(1000, 1000, 1000)
		die(1000, 1000)
		holds(3, 2)
		if err := c.Retry(ctx, anyDead(t, c)); err != nil {
			t.Fatal(err)
		}
		holds(2, 2)
		if stale := settle(t, c, end(claimOne(t, c, 0, testTerms), complete, 0, "")); len(stale) > 0 {
			t.Fatal("the retried task lost its lease")
		}
		if _, err := c.Cancel(ctx, anyDead(t, c)); err != nil {
			t.Fatal(err)
		}
		holds(1, 2)
		die(slices.Repeat([]int{0}, 30)...)
		die(3460)
		holds(1, 33)
		bounds.bytes = 1000 // the newest is too large by itself
		die(10_000)
		holds(0, 35)
	})
}

// TestNewestDeadLetterIsDroppedLast: a letter of the same millisecond, or of a clock that was set back, does not push
// itself out.
func TestNewestDeadLetterIsDroppedLast(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		ctx := context.Background()
		c := newClient(t, o)
		set := newQueueSet(c)
		bury := func(bounds deadBounds) string {
			t.Helper()
			enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
			run := end(claimOne(t, c, 0, testTerms), bury, 0, "no")
			if _, err := set.settle(ctx, []*running{run}, bounds); err != nil {
				t.Fatal(err)
			}
			return run.ID
		}
		old := bury(deadBounds{3, 1 << 20})
		// It died when the clock was ahead.
		move := `return redis.call('ZADD', KEYS[1], 'XX', 'CH', 9e14, ARGV[1])`
		if n, err := c.rdb.Eval(ctx, move, []string{c.keys[0].Of("dead")}, old).Int(); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		newest := bury(deadBounds{1, 1 << 20})
		if got := anyDead(t, c); got != newest {
			t.Errorf("keeps %s, want the newest, %s", got, newest)
		}
		if s := stats(t, c); s.Dead != 1 || s.Dropped != 1 || s.DeadBytes != deadBytes(t, c) {
			t.Errorf("got %+v", s)
		}
	})
}

// TestStepDropsFewDeadLetters: where the bounds were lowered, no script drops everything that is too much.
func TestStepDropsFewDeadLetters(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		set := newQueueSet(c)
		tasks := make([]Task, 700)
		for i := range tasks {
			tasks[i] = Task{Kind: "k", ID: NewID(0)}
		}
		if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
			t.Fatal(err)
		}
		var runs []*running
		for len(runs) < len(tasks) {
			claimed := step(t, c, 0, 100, 0, testTerms).runs
			if len(claimed) == 0 {
				t.Fatalf("only %d were claimed", len(runs))
			}
			for _, r := range claimed {
				runs = append(runs, end(r, bury, 0, "no"))
			}
		}
		settle := func(runs []*running, bounds deadBounds) Stats {
			t.Helper()
			if _, err := set.settle(context.Background(), runs, bounds); err != nil {
				t.Fatal(err)
			}
			return stats(t, c)
		}
		settle(runs[:698], testTerms.dead)
		for i, want := range []int64{500, 699} {
			if s := settle(runs[698+i:699+i], deadBounds{1, 1 << 20}); s.Dropped != want {
				t.Errorf("dropped %d after %d scripts, want %d", s.Dropped, i+1, want)
			}
		}
	})
}

// TestStepDropsFewDeadLettersOfAllQueues: the bound of a step holds for all of its queues together.
func TestStepDropsFewDeadLettersOfAllQueues(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		var queues []*Client
		last := testTerms
		last.lease, last.crashesMax = time.Millisecond, 1
		for _, name := range []string{"one", "two"} {
			o.Queue = name
			c := newClient(t, o)
			queues = append(queues, c)
			tasks := make([]Task, 521)
			for i := range tasks {
				tasks[i] = Task{Kind: "k", ID: NewID(0)}
			}
			if _, err := c.EnqueueAll(context.Background(), tasks); err != nil {
				t.Fatal(err)
			}
			for buried := 0; buried < len(tasks)-1; {
				runs := step(t, c, 0, min(100, len(tasks)-1-buried), 0, testTerms).runs
				for i, r := range runs {
					runs[i] = end(r, bury, 0, "no")
				}
				settle(t, c, runs...)
				buried += len(runs)
			}
			if runs := step(t, c, 0, 1, 0, last).runs; len(runs) != 1 {
				t.Fatalf("%d tasks run, want the last", len(runs))
			}
		}
		clock := func() time.Time {
			now, err := o.Client.Time(t.Context()).Result()
			if err != nil {
				t.Fatal(err)
			}
			return now
		}
		claimed := clock()
		until(t, "both leases have ended", func() bool { return clock().Sub(claimed) > 10*last.lease })
		set := newQueueSet(queues...)
		last.dead = deadBounds{1, 1 << 20}
		var reaped, dropped int64
		until(t, "both tasks are reaped", func() bool {
			for _, q := range stepAll(t, set, stepDemand{overdue: overdueMax, claims: []claimDemand{{}, {}}}, last).queues {
				reaped += q.reaped
			}
			before := dropped
			dropped = stats(t, queues[0]).Dropped + stats(t, queues[1]).Dropped
			if dropped-before > 500 {
				t.Errorf("one step drops %d dead letters", dropped-before)
			}
			return reaped == 2
		})
		if dropped < 500 {
			t.Errorf("the steps drop %d dead letters, so the bound was not tried", dropped)
		}
	})
}
