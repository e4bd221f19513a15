package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/queuetest"
)

// hourly starts a server with a clock to advance; ran gets the hour of each occurrence and its payload.
func hourly(t *testing.T) (r *queuetest.Redis, server *queue.Server, ran *[]string) {
	t.Helper()
	r = queuetest.New(t)
	r.Advance(r.Now().Truncate(24 * time.Hour).Add(24*time.Hour + 30*time.Minute).Sub(r.Now())) // 00:30
	server, err := queue.New(r.Options("q"))
	if err != nil {
		t.Fatal(err)
	}
	ran = new([]string)
	server.Handle("report", func(_ context.Context, t queue.Task) error {
		*ran = append(*ran, t.Due.UTC().Format("15 ")+string(t.Payload))
		return nil
	})
	return r, server, ran
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func report() queue.Periodic {
	return queue.Periodic{ID: "report", Cron: "@hourly", Kind: "report", Payload: []byte("a")}
}

// expect runs what is due and compares what ran since the last time.
func expect(t *testing.T, r *queuetest.Redis, server *queue.Server, ran *[]string, want ...string) {
	t.Helper()
	r.RunAll(t.Context(), server)
	if !slices.Equal(*ran, want) {
		t.Errorf("at %s ran %q, want %q", r.Now().UTC().Format("15:04"), *ran, want)
	}
	*ran = nil
}

func TestPeriodicTasksRunAtEachOccurrence(t *testing.T) {
	t.Parallel()
	r, server, ran := hourly(t)
	ctx := t.Context()
	must(t, server.Periodic(report()))
	expect(t, r, server, ran)
	r.Advance(29 * time.Minute)
	expect(t, r, server, ran)
	r.Advance(time.Minute)
	expect(t, r, server, ran, "01 a")
	expect(t, r, server, ran)
	r.Advance(time.Hour)
	expect(t, r, server, ran, "02 a")

	info, err := server.GetPeriodic(ctx, "report")
	if err != nil || info.Fired != 2 || info.Last.UTC().Hour() != 2 || info.Next.Sub(info.Last) != time.Hour || info.Queue != "q" || info.Paused {
		t.Errorf("got %+v, %v", info, err)
	}
	s, err := server.Stats(ctx)
	must(t, err)
	// Of the task that fires there were three; two of them are done.
	if s.Enqueued != 5 || s.Done != 4 || s.Delayed != 1 {
		t.Errorf("got %+v", s)
	}
}

// A declaration that is there changes nothing. With the same times it keeps the planned occurrence, also one that is
// due by now, and with others it plans again.
func TestANewDeclarationTakesOver(t *testing.T) {
	t.Parallel()
	r, server, ran := hourly(t)
	ctx := t.Context()
	p := report()
	must(t, server.PutPeriodic(ctx, p))
	r.Advance(30 * time.Minute)
	must(t, server.PutPeriodic(ctx, p))
	p.Payload, p.With.Priority = []byte("b"), queue.High
	must(t, server.PutPeriodic(ctx, p))
	expect(t, r, server, ran, "01 b")

	p.Cron = "0 5 * * *"
	must(t, server.PutPeriodic(ctx, p))
	r.Advance(3 * time.Hour)
	expect(t, r, server, ran)
	r.Advance(time.Hour)
	expect(t, r, server, ran, "05 b")
	info, err := server.GetPeriodic(ctx, "report")
	if err != nil || info.Fired != 2 || info.With.Priority != queue.High || info.Cron != "0 5 * * *" {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestPausedPeriodicTasksDoNotFire(t *testing.T) {
	t.Parallel()
	r, server, ran := hourly(t)
	ctx := t.Context()
	must(t, server.PutPeriodic(ctx, report()))
	must(t, server.PausePeriodic(ctx, "report"))
	must(t, server.PutPeriodic(ctx, report())) // a server starts
	changed := report()
	changed.Payload = []byte("b")
	must(t, server.PutPeriodic(ctx, changed))
	r.Advance(3 * time.Hour)
	expect(t, r, server, ran)
	if info, err := server.GetPeriodic(ctx, "report"); err != nil || !info.Paused || !info.Next.IsZero() {
		t.Errorf("got %+v, %v", info, err)
	}
	if id, err := server.RunPeriodic(ctx, "report"); err != nil || id == "" {
		t.Errorf("got %q, %v", id, err)
	}
	expect(t, r, server, ran, time.Time{}.Format("15 ")+"b") // beside the plan: due at no time
	must(t, server.ResumePeriodic(ctx, "report"))
	must(t, server.ResumePeriodic(ctx, "report"))
	expect(t, r, server, ran)
	r.Advance(30 * time.Minute)
	expect(t, r, server, ran, "04 b")
}

func TestDeletedPeriodicTasksAreGone(t *testing.T) {
	t.Parallel()
	r, server, ran := hourly(t)
	ctx := t.Context()
	must(t, server.PutPeriodic(ctx, report()))
	must(t, server.DeletePeriodic(ctx, "report"))
	r.Advance(3 * time.Hour)
	expect(t, r, server, ran)
	for what, err := range map[string]error{
		"delete": server.DeletePeriodic(ctx, "report"), "pause": server.PausePeriodic(ctx, "report"),
		"resume": server.ResumePeriodic(ctx, "report"), "no id": server.DeletePeriodic(ctx, "a b"),
	} {
		if !errors.Is(err, queue.ErrNotFound) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if _, err := server.RunPeriodic(ctx, "report"); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("run: got %v", err)
	}
	if keys, err := r.Client.Exists(ctx, queue.NewKeys("chat", 0, "q").Of("periodic"), queue.NewKeys("chat", 0, "q").Of("tasks")).Result(); err != nil || keys != 0 {
		t.Errorf("%d keys are left, %v", keys, err)
	}
}

// move takes the task that fires out of delayed and adds a member elsewhere.
func move(t *testing.T, r *queuetest.Redis, to string, score int64, member string) {
	t.Helper()
	must(t, r.Client.Eval(t.Context(), `redis.call('ZREM', KEYS[1], 'p00-periodic-report')
return redis.call('ZADD', KEYS[2], ARGV[1], ARGV[2])`, []string{queue.NewKeys("chat", 0, "q").Of("delayed"), to}, score, member).Err())
}

// A dead letter of the task that fires would end a periodic task for good: the next start of a server plans it again.
func TestADeclarationRevivesADeadPlan(t *testing.T) {
	t.Parallel()
	r, server, ran := hourly(t)
	ctx := t.Context()
	must(t, server.PutPeriodic(ctx, report()))
	keys := queue.NewKeys("chat", 0, "q")
	move(t, r, keys.Of("dead"), 1, "p00-periodic-report")
	must(t, server.PutPeriodic(ctx, report()))
	r.Advance(time.Hour)
	expect(t, r, server, ran, "01 a")
}

func TestPeriodicTasksAreListedInPages(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	o := r.Options("q")
	o.Partitions = 4
	c, err := queue.NewClient(o)
	must(t, err)
	var want []string
	for i := range 25 {
		p := report()
		p.ID = fmt.Sprintf("report-%02d", i)
		want = append(want, p.ID)
		must(t, c.PutPeriodic(t.Context(), p))
	}
	var got []string
	for after, pages := "", 0; ; pages++ {
		infos, next, err := c.ListPeriodic(t.Context(), after, 4)
		must(t, err)
		if len(infos) > 4 || pages > 25 {
			t.Fatalf("page %d has %d", pages, len(infos))
		}
		for _, i := range infos {
			got = append(got, i.ID)
		}
		if after = next; next == "" {
			break
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if _, _, err := c.ListPeriodic(t.Context(), "a b", 4); !errors.Is(err, queue.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

// The kind of the occurrences waits for a server, long before the first is due.
func TestUnservedNamesTheKindsOfPeriodicTasks(t *testing.T) {
	t.Parallel()
	_, server, _ := hourly(t)
	must(t, server.PutPeriodic(t.Context(), report()))
	s, err := server.Stats(t.Context())
	if err != nil || !slices.Equal(s.Unserved, []string{"report"}) {
		t.Errorf("got %q, %v", s.Unserved, err)
	}
}

// A server that died while it fired leaves its lease; the next one fires that occurrence, and the one that comes back
// changes nothing.
func TestAnOccurrenceIsFiredOnceThoughAServerDies(t *testing.T) {
	t.Parallel()
	r, server, ran := hourly(t)
	ctx := t.Context()
	must(t, server.PutPeriodic(ctx, report()))
	r.Advance(30 * time.Minute)
	keys := queue.NewKeys("chat", 0, "q")
	move(t, r, keys.Of("leased"), r.Now().Add(time.Second).UnixMilli(), "p00-periodic-report dead")
	expect(t, r, server, ran)
	r.Advance(time.Second)
	expect(t, r, server, ran, "01 a")
	r.Advance(time.Hour)
	expect(t, r, server, ran, "02 a")
}
