package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/queuetest"
)

// coming is what a row of the tables is tried on.
type coming struct {
	*testing.T
	redis   *queuetest.Redis
	options queue.Options
	server  *queue.Server
}

func (c *coming) enqueue(task queue.Task) (id string) {
	c.Helper()
	id, ok, err := c.server.Enqueue(c.Context(), task)
	if !ok || err != nil {
		c.Fatalf("Enqueue(%+v) = %v, %v", task, ok, err)
	}
	return id
}

// refused checks that a task is not enqueued although nothing is wrong.
func (c *coming) refused(task queue.Task) {
	c.Helper()
	if _, ok, err := c.server.Enqueue(c.Context(), task); ok || err != nil {
		c.Errorf("Enqueue(%+v) = %v, %v, want false", task, ok, err)
	}
}

// runs lets a duration pass and checks how many tasks run then.
func (c *coming) runs(after time.Duration, want int) {
	c.Helper()
	c.redis.Advance(after)
	if got := c.redis.RunAll(c.Context(), c.server); got != want {
		c.Fatalf("after %v: %d runs, want %d", after, got, want)
	}
}

// dueIn checks that one task waits, and runs after d and not before.
func (c *coming) dueIn(d time.Duration) {
	c.Helper()
	c.runs(d-time.Millisecond, 0)
	c.runs(time.Millisecond, 1)
}

// returns registers a handler of every kind that returns err.
func (c *coming) returns(err error) {
	c.server.Handle("*", func(context.Context, queue.Task) error { return err })
}

func (c *coming) stats() queue.Stats {
	c.Helper()
	stats, err := c.server.Stats(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	return stats
}

func (c *coming) states(delayed, dead, done int64) {
	c.Helper()
	if got := c.stats(); got.Delayed != delayed || got.Dead != dead || got.Done != done {
		c.Errorf("%d delayed, %d dead, %d done, want %d, %d, %d", got.Delayed, got.Dead, got.Done, delayed, dead, done)
	}
}

// args is a payload as River calls it.
type args struct {
	Words []string `json:"words"`
}

var sortKind = queue.Kind[args]{Name: "sort"}

var errRow = errors.New("no luck")

// fromAsynq and fromRiver have a test for each row of docs/coming.md, named by its first column.
var fromAsynq = map[string]func(c *coming){
	"`client.Enqueue(asynq.NewTask(kind, payload))`":                          enqueues,
	"`asynq.ProcessIn(d)`":                                                    delays,
	"`asynq.ProcessAt(t)`":                                                    isDue,
	"`asynq.MaxRetry(n)`":                                                     func(c *coming) { attempts(c, 2+1) },
	"`asynq.Timeout(d)`":                                                      timesOut,
	"`asynq.Deadline(t)`":                                                     expires,
	"`asynq.TaskID(id)`, `ErrTaskIDConflict`":                                 hasID,
	"`asynq.Unique(ttl)`, `ErrDuplicateTask`":                                 isUnique,
	"`asynq.Queue(\"critical\")` with `Config.Queues` weights":                sharesByPriority,
	"`Config.StrictPriority`":                                                 servesStrictly,
	"`Config.Concurrency`":                                                    worksAtOnce,
	"`rate.NewSemaphore` of `asynq/x/rate`":                                   limits,
	"a limiter in the handler, with `RetryDelayFunc`":                         keepsARate,
	"`mux.Handle(\"mail:\", h)`":                                              matchesPrefix,
	"`mux.Use(middleware)`":                                                   usesMiddleware,
	"`asynq.Retention(d)`, `task.ResultWriter().Write(data)`":                 leavesAResult,
	"`asynq.GetTaskID(ctx)`, `GetRetryCount(ctx)`":                            knowsItself,
	"`asynq.Group(key)`, `GroupMaxSize`, `GroupGracePeriod`, `GroupMaxDelay`": batches,
	"`Config.GroupAggregator`":                                                batches,
	"`fmt.Errorf(\"...: %w\", asynq.SkipRetry)`":                              buries,
	"`asynq.RevokeTask`":                                                      func(c *coming) { c.returns(nil); c.enqueue(queue.Task{Kind: "k"}); c.runs(0, 1); c.states(0, 0, 1) },
	"`Config.RetryDelayFunc`":                                                 retriesAfter,
	"`Config.IsFailure` returns false":                                        snoozes,
	"`Config.ErrorHandler`":                                                   observes,
	"`scheduler.Register(spec, task)`":                                        comesRegularly,
	"`PeriodicTaskManager`, `scheduler.Unregister`":                           declaresWhileItRuns,
	"`inspector.SchedulerEntries`":                                            declaresWhileItRuns,
	"`inspector.ListArchivedTasks`, `RunTask`":                                listsAndRetries,
	"`inspector.DeleteTask`, `CancelProcessing`":                              cancels,
	"`inspector.PauseQueue`, `UnpauseQueue`":                                  pauses,
	"`inspector.RunAllScheduledTasks`, `RunAllArchivedTasks`, `DeleteAll...`": actsOnMany,
	"`inspector.History(queue, n)`":                                           countsByDay,
	"`inspector.GetQueueInfo`":                                                func(c *coming) { delays(c); c.states(0, 0, 1) },
}

var fromRiver = map[string]func(c *coming){
	"`JobArgs` and `Kind()`":                                typed,
	"`river.AddWorker(workers, w)`":                         typed,
	"`client.Insert(ctx, args, opts)`":                      typed,
	"`client.InsertMany`":                                   enqueuesMany,
	"`client.InsertTx`":                                     enqueuesWithAWrite,
	"`InsertOpts.ScheduledAt`":                              isDue,
	"`InsertOpts.MaxAttempts`":                              func(c *coming) { attempts(c, 3) },
	"`InsertOpts.Priority` 1 to 4":                          sharesByPriority,
	"`InsertOpts.Queue`, `Config.Queues`":                   servesQueues,
	"`UniqueOpts{ByArgs: true}`":                            isUnique,
	"`UniqueOpts{ByPeriod: d}`, `UniqueSkippedAsDuplicate`": isUniqueForATime,
	"`Config.PeriodicJobs`":                                 comesRegularly,
	"`client.PeriodicJobs().Add`, `Remove`":                 declaresWhileItRuns,
	"`river.JobSnooze(d)`":                                  snoozes,
	"`river.JobCancel(err)`":                                buries,
	"`Worker.NextRetry`":                                    retriesAfter,
	"`Worker.Timeout`":                                      timesOut,
	"`client.JobCancel`, `JobDelete`":                       cancels,
	"`client.JobList`, `JobRetry`":                          listsAndRetries,
	"`client.QueuePause`, `QueueResume`":                    pauses,
	"`Config.RescueStuckJobsAfter`":                         rescues,
	"`rivertest.RequireInserted`":                           enqueues,
	"`rivertest.Worker`":                                    delays,
}

func TestComingFromAnotherQueue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/coming.md")
	if err != nil {
		t.Fatal(err)
	}
	for heading, rows := range map[string]map[string]func(*coming){"Coming from asynq": fromAsynq, "Coming from River": fromRiver} {
		t.Run(heading, func(t *testing.T) {
			t.Parallel()
			_, section, _ := strings.Cut(string(text), "## "+heading+"\n")
			section, _, _ = strings.Cut(section, "\n## ")
			var found []string
			for line := range strings.Lines(section) {
				if cells := strings.Split(line, " | "); len(cells) == 2 {
					found = append(found, strings.TrimPrefix(cells[0], "| "))
				}
			}
			for _, row := range found[1:] { // the first is the head
				if rows[row] == nil {
					t.Errorf("no test for the row %s", row)
				}
			}
			for row, try := range rows {
				if !slices.Contains(found, row) {
					t.Errorf("no row %s", row)
				}
				t.Run(row, func(t *testing.T) { tryRow(t, try) })
			}
		})
	}
}

func tryRow(t *testing.T, try func(c *coming)) {
	t.Helper()
	r := queuetest.New(t)
	o := r.Options("mail")
	server, err := queue.New(o)
	if err != nil {
		t.Fatal(err)
	}
	try(&coming{t, r, o, server})
}

func enqueues(c *coming) {
	c.enqueue(queue.Task{Kind: "sort", Payload: []byte("b a")})
	queuetest.RequireEnqueued(c, c.server, queue.Task{Kind: "sort", Payload: []byte("b a")})
	c.returns(nil)
	c.runs(0, 1)
}

func delays(c *coming) {
	c.returns(nil)
	c.enqueue(queue.Task{Kind: "k", Delay: time.Hour})
	c.dueIn(time.Hour)
}

func isDue(c *coming) {
	c.returns(nil)
	c.enqueue(queue.Task{Kind: "k", Due: c.redis.Now().Add(time.Hour)})
	c.dueIn(time.Hour)
}

func attempts(c *coming, n int) {
	c.returns(errRow)
	c.enqueue(queue.Task{Kind: "k", AttemptsMax: n})
	for range n {
		c.states(c.stats().Delayed, 0, 0)
		c.runs(time.Hour, 1)
	}
	c.states(0, 1, 0)
}

func timesOut(c *coming) {
	handler := func(ctx context.Context, _ queue.Task) error { <-ctx.Done(); return ctx.Err() }
	c.server.Handle("own", handler)
	c.server.HandlePolicy("policy", queue.Policy{Timeout: time.Millisecond}, handler)
	for _, task := range []queue.Task{{Kind: "own", Timeout: time.Millisecond}, {Kind: "policy"}} {
		id := c.enqueue(task)
		c.runs(0, 1)
		if info, err := c.server.Get(c.Context(), id); err != nil || info.LastError != context.DeadlineExceeded.Error() {
			c.Errorf("%+v, %v", info, err)
		}
	}
}

func expires(c *coming) {
	c.server.Handle("k", func(context.Context, queue.Task) error { c.Error("it ran"); return nil })
	c.enqueue(queue.Task{Kind: "k", Deadline: c.redis.Now().Add(time.Hour)})
	c.runs(time.Hour, 1) // ends it
	c.states(0, 1, 0)
}

func hasID(c *coming) {
	task := queue.Task{Kind: "k", ID: "p00-order-7"}
	if id := c.enqueue(task); id != task.ID {
		c.Errorf("id %q", id)
	}
	c.refused(task)
}

func isUnique(c *coming) {
	c.returns(nil)
	task := queue.Task{Kind: "k", Unique: "sort a b", Delay: time.Hour}
	c.enqueue(task)
	c.refused(task)
	c.dueIn(time.Hour)
	c.enqueue(task)
}

func sharesByPriority(c *coming) {
	var order strings.Builder
	c.server.Handle("k", func(_ context.Context, t queue.Task) error { order.Write(t.Payload); return nil })
	for letter, priority := range map[string]queue.Priority{"C": queue.Critical, "h": queue.High, "n": queue.Normal, "l": queue.Low} {
		for range 15 {
			c.enqueue(queue.Task{Kind: "k", Payload: []byte(letter), Priority: priority})
		}
	}
	c.runs(0, 60)
	first := order.String()[:15]
	for letter, want := range map[string]int{"C": 8, "h": 4, "n": 2, "l": 1} {
		if got := strings.Count(first, letter); got != want {
			c.Errorf("%d of the first 15 are %s, want %d: %s", got, letter, want, first)
		}
	}
}

func worksAtOnce(c *coming) {
	o := c.options
	o.Queues = []queue.QueueOptions{{Name: "mail", Workers: 3}}
	server, err := queue.New(o)
	if err != nil {
		c.Fatal(err)
	}
	began, release := make(chan struct{}), make(chan struct{})
	server.Handle("k", func(context.Context, queue.Task) error { began <- struct{}{}; <-release; return nil })
	for range 4 {
		c.enqueue(queue.Task{Kind: "k"})
	}
	ctx, stop := context.WithCancel(c.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	for range 3 {
		harness.Receive(c, 20*time.Second, "a handler begins", began)
	}
	if got := c.stats(); got.Leased != 3 || got.ReadyAll() != 1 {
		c.Errorf("%d run, %d wait, want 3 and 1", got.Leased, got.ReadyAll())
	}
	close(release)
	harness.Receive(c, 20*time.Second, "the last handler begins", began)
	stop()
	if err := harness.Receive(c, 20*time.Second, "Run ends", ended); err != nil {
		c.Error(err)
	}
}

func matchesPrefix(c *coming) {
	var ran []string
	note := func(who string) queue.Handler {
		return func(_ context.Context, t queue.Task) error { ran = append(ran, who+" "+t.Kind); return nil }
	}
	c.server.Handle("mail:*", note("all"))
	c.server.Handle("mail:welcome", note("one"))
	c.enqueue(queue.Task{Kind: "mail:remind"})
	c.enqueue(queue.Task{Kind: "mail:welcome"})
	c.runs(0, 2)
	if want := []string{"all mail:remind", "one mail:welcome"}; !slices.Equal(ran, want) {
		c.Errorf("ran %q, want %q", ran, want)
	}
}

func usesMiddleware(c *coming) {
	var order []string
	note := func(name string) queue.Middleware {
		return func(next queue.Handler) queue.Handler {
			return func(ctx context.Context, t queue.Task) error { order = append(order, name); return next(ctx, t) }
		}
	}
	c.server.Use(note("server"))
	var mux queue.Mux
	mux.Use(note("mux"))
	mux.Handle("send", func(context.Context, queue.Task) error { order = append(order, "handler"); return nil })
	c.server.Mount("mail.", &mux)
	c.enqueue(queue.Task{Kind: "mail.send"})
	c.runs(0, 1)
	if want := []string{"server", "mux", "handler"}; !slices.Equal(order, want) {
		c.Errorf("order %q, want %q", order, want)
	}
}

func knowsItself(c *coming) {
	var ran []string
	c.server.Handle("k", func(_ context.Context, t queue.Task) error {
		ran = append(ran, fmt.Sprint(t.ID, t.Attempts))
		return errRow
	})
	id := c.enqueue(queue.Task{Kind: "k"})
	c.runs(0, 1)
	c.runs(time.Second, 1)
	if want := []string{id + "0", id + "1"}; !slices.Equal(ran, want) {
		c.Errorf("ran %q, want %q", ran, want)
	}
}

func buries(c *coming) {
	c.returns(queue.Bury(errRow))
	id := c.enqueue(queue.Task{Kind: "k"})
	c.runs(0, 1)
	if info, err := c.server.Get(c.Context(), id); err != nil || info.State != queue.Dead || info.LastError != errRow.Error() {
		c.Errorf("%+v, %v", info, err)
	}
}

func retriesAfter(c *coming) {
	c.server.Handle("asks", func(context.Context, queue.Task) error { return queue.RetryAfter(time.Hour, errRow) })
	c.server.HandlePolicy("policy", queue.Policy{BackoffMin: time.Millisecond, BackoffMax: time.Millisecond},
		func(context.Context, queue.Task) error { return errRow })
	c.enqueue(queue.Task{Kind: "asks", AttemptsMax: 2})
	c.runs(0, 1)
	c.dueIn(time.Hour)
	c.states(0, 1, 0)
	c.enqueue(queue.Task{Kind: "policy"})
	c.runs(0, 1)
	for range 5 {
		c.runs(time.Millisecond, 1)
	}
}

func snoozes(c *coming) {
	c.returns(queue.Snooze(time.Hour))
	c.enqueue(queue.Task{Kind: "k", AttemptsMax: 1})
	c.runs(0, 1)
	c.dueIn(time.Hour)
	c.states(1, 0, 0)
	if got := c.stats(); got.Failed != 0 {
		c.Errorf("%d failures", got.Failed)
	}
}

func observes(c *coming) {
	var seen []queue.Run
	var logged strings.Builder
	o := c.options
	logRun := queue.LogRuns(slog.New(slog.NewTextHandler(&logged, nil)))
	o.Observe = func(r queue.Run) { seen = append(seen, r); logRun(r) }
	o.BackoffMin = time.Second
	server, err := queue.New(o)
	if err != nil {
		c.Fatal(err)
	}
	c.server = server
	c.server.Handle("k", func(_ context.Context, t queue.Task) error {
		switch t.Attempt {
		case 1:
			return errRow
		case 2:
			panic("worse")
		}
		return nil
	})
	id := c.enqueue(queue.Task{Kind: "k"})
	c.runs(0, 1)
	c.runs(time.Second, 1)
	c.runs(2*time.Second, 1)
	for i, want := range []queue.Run{
		{Verdict: "retry", Attempt: 1, Reason: "no luck"}, {Verdict: "retry", Attempt: 2, Reason: "panic: worse"},
		{Verdict: "complete", Attempt: 3},
	} {
		want.Queue, want.Kind, want.ID = "mail", "k", id
		want.Late, want.Took = seen[i].Late, seen[i].Took
		if seen[i] != want {
			c.Errorf("run %d: %+v, want %+v", i, seen[i], want)
		}
	}
	if got := logged.String(); strings.Count(got, "level=WARN") != 2 || strings.Count(got, "\n") != 2 ||
		!strings.Contains(got, "kind=k task="+id+" attempt=2 verdict=retry") || !strings.Contains(got, `error="no luck"`) {
		c.Errorf("logged %s", got)
	}
}

func listsAndRetries(c *coming) {
	fails := true
	c.server.Handle("k", func(context.Context, queue.Task) error {
		if fails {
			return queue.Bury(errRow)
		}
		return nil
	})
	id := c.enqueue(queue.Task{Kind: "k"})
	c.runs(0, 1)
	infos, next, err := c.server.List(c.Context(), queue.ListQuery{State: queue.Dead})
	if err != nil || next != "" || len(infos) != 1 || infos[0].ID != id || infos[0].LastError != errRow.Error() {
		c.Fatalf("List = %+v, %q, %v", infos, next, err)
	}
	fails = false
	if err := c.server.Retry(c.Context(), id); err != nil {
		c.Fatal(err)
	}
	c.runs(0, 1)
	c.states(0, 0, 1)
}

func cancels(c *coming) {
	c.server.Handle("k", func(_ context.Context, t queue.Task) error {
		_, err := c.server.Cancel(c.Context(), t.ID) // while it runs
		return err
	})
	waits := c.enqueue(queue.Task{Kind: "k", Delay: time.Hour})
	if state, err := c.server.Cancel(c.Context(), waits); state != queue.Delayed || err != nil {
		c.Errorf("Cancel = %q, %v", state, err)
	}
	c.enqueue(queue.Task{Kind: "k"})
	c.runs(time.Hour, 1)
	c.states(0, 0, 0)
	if got := c.stats(); got.Deleted != 2 {
		c.Errorf("%d deleted", got.Deleted)
	}
}

func pauses(c *coming) {
	c.returns(nil)
	c.enqueue(queue.Task{Kind: "k"})
	if err := c.server.Pause(c.Context()); err != nil {
		c.Fatal(err)
	}
	c.runs(0, 0)
	if err := c.server.Resume(c.Context()); err != nil {
		c.Fatal(err)
	}
	c.runs(0, 1)
}

func typed(c *coming) {
	var got args
	sortKind.Handle(c.server, func(_ context.Context, _ *queue.Task, a args) error { got = a; return nil })
	if _, ok, err := sortKind.Enqueue(c.Context(), c.server, args{Words: []string{"b", "a"}}, queue.Task{Delay: time.Hour}); !ok || err != nil {
		c.Fatal(ok, err)
	}
	c.dueIn(time.Hour)
	if !slices.Equal(got.Words, []string{"b", "a"}) {
		c.Errorf("got %+v", got)
	}
}

func enqueuesMany(c *coming) {
	c.returns(nil)
	enqueued, err := c.server.EnqueueAll(c.Context(), []queue.Task{{Kind: "a"}, {Kind: "b", Unique: "b"}, {Kind: "b", Unique: "b"}})
	if err != nil || !slices.Equal(enqueued, []bool{true, true, false}) {
		c.Fatal(enqueued, err)
	}
	c.runs(0, 2)
}

func enqueuesWithAWrite(c *coming) {
	var got []byte
	c.server.Handle("ship", func(_ context.Context, t queue.Task) error { got = t.Payload; return nil })
	script := redis.NewScript(queue.EnqueueLua + `
		redis.call('SET', KEYS[1], 'paid')
		local t = redis.call('TIME')
		return task_enqueue(2, ARGV[1], 'ship', ARGV[2], 'normal', 0, t[1] * 1000, '')`)
	keys := append([]string{"shop:{p00}:order:7"}, queue.NewKeys("chat", 0, "mail").Enqueue()...)
	if err := script.Run(c.Context(), c.redis.Client, keys, queue.NewID(0), "7").Err(); err != nil {
		c.Fatal(err)
	}
	c.runs(0, 1)
	if string(got) != "7" {
		c.Errorf("ran %q", got)
	}
}

func servesQueues(c *coming) {
	o := c.options
	o.Queues = []queue.QueueOptions{{Name: "mail", Workers: 2}, {Name: "reports", Workers: 1}}
	server, err := queue.New(o)
	if err != nil {
		c.Fatal(err)
	}
	o.Queue = "reports"
	reports, err := queue.NewClient(o)
	if err != nil {
		c.Fatal(err)
	}
	var ran []string
	server.Handle("*", func(_ context.Context, t queue.Task) error { ran = append(ran, t.Queue); return nil })
	if _, ok, err := reports.Enqueue(c.Context(), queue.Task{Kind: "k"}); !ok || err != nil {
		c.Fatal(ok, err)
	}
	c.enqueue(queue.Task{Kind: "k"})
	c.server = server
	c.runs(0, 2)
	if slices.Sort(ran); !slices.Equal(ran, []string{"mail", "reports"}) {
		c.Errorf("ran %q", ran)
	}
}

// rescues lets a worker that stays silent lose its task to another.
func rescues(c *coming) {
	o := c.options
	o.Lease = time.Minute
	silent, err := queue.New(o)
	if err != nil {
		c.Fatal(err)
	}
	c.returns(nil)
	silent.Handle("k", func(context.Context, queue.Task) error {
		c.runs(time.Minute-time.Millisecond, 0)
		c.runs(time.Millisecond, 1)
		return errRow
	})
	c.enqueue(queue.Task{Kind: "k"})
	if ran, err := silent.RunNext(c.Context()); !ran || err != nil {
		c.Fatal(ran, err)
	}
	c.states(0, 0, 1)
	if got := c.stats(); got.Crashed != 1 || got.Failed != 0 {
		c.Errorf("%+v", got)
	}
}

// comesRegularly declares on two servers what comes once each time. Firing is a run as well.
func comesRegularly(c *coming) {
	other, err := queue.New(c.options)
	if err != nil {
		c.Fatal(err)
	}
	var due []time.Time
	for _, server := range []*queue.Server{c.server, other} {
		server.Handle("digest", func(_ context.Context, t queue.Task) error { due = append(due, t.Due); return nil })
		for _, p := range []queue.Periodic{
			{ID: "hourly", Every: time.Hour, Kind: "digest"},
			{ID: "daily", Cron: "0 8 * * *", Zone: "Asia/Kolkata", Kind: "digest"},
		} {
			if err := server.Periodic(p); err != nil {
				c.Fatal(err)
			}
		}
	}
	if got := c.redis.RunAll(c.Context(), c.server, other); got != 0 {
		c.Errorf("%d runs at the start", got)
	}
	for range 48 {
		c.redis.Advance(30 * time.Minute)
		c.redis.RunAll(c.Context(), c.server, other)
	}
	if len(due) != 24+1 {
		c.Errorf("%d occurrences in a day, want 25: %v", len(due), due)
	}
	zone, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		c.Fatal(err)
	}
	if !slices.ContainsFunc(due, func(at time.Time) bool { return at.In(zone).Format(time.TimeOnly) == "08:00:00" }) {
		c.Errorf("none at 8 in the zone: %v", due)
	}
}

func declaresWhileItRuns(c *coming) {
	c.returns(nil)
	p := queue.Periodic{ID: "hourly", Every: time.Hour, Kind: "k"}
	if err := c.server.PutPeriodic(c.Context(), p); err != nil {
		c.Fatal(err)
	}
	c.runs(time.Hour, 2) // the one that fires, and the occurrence
	infos, next, err := c.server.ListPeriodic(c.Context(), "", 0)
	if err != nil || next != "" || len(infos) != 1 || infos[0].ID != "hourly" || infos[0].Fired != 1 || !infos[0].Next.After(c.redis.Now()) {
		c.Errorf("ListPeriodic = %+v, %q, %v", infos, next, err)
	}
	if err := c.server.DeletePeriodic(c.Context(), "hourly"); err != nil {
		c.Fatal(err)
	}
	c.runs(time.Hour, 0)
}

func batches(c *coming) {
	var sizes []int
	c.server.HandleBatch("k", queue.Policy{}, func(_ context.Context, tasks []queue.Task) error {
		sizes = append(sizes, len(tasks))
		return nil
	})
	batch := &queue.Batch{Key: "ada", Max: 2, Quiet: time.Minute, MaxWait: time.Hour}
	for range 3 {
		c.enqueue(queue.Task{Kind: "k", Batch: batch})
	}
	c.runs(0, 1)
	c.runs(time.Minute, 1)
	if !slices.Equal(sizes, []int{2, 1}) {
		c.Errorf("ran together: %v", sizes)
	}
}
