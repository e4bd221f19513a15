package schedule_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// overdue moves the next occurrence of a schedule into the past.
func (b *bench) overdue(id string, by time.Duration) schedule.Record {
	b.T.Helper()
	r, nowMs, err := b.Store.Schedule(b.Ctx, id)
	b.Must(err)
	r.NextMs = nowMs - by.Milliseconds()
	r, err = b.Store.ChangeSchedule(b.Ctx, r, false)
	b.Must(err)
	return r
}

func (b *bench) fire(r schedule.Record) {
	b.T.Helper()
	b.task(schedule.TaskFire, schedule.FireTask{Schedule: r.ID, Version: r.Version})
}

func TestScheduleRecurs(t *testing.T) {
	b := newBench(t)
	b.work()
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	v, err := b.Create(b.Ctx, chattest.As("alice"), schedule.Draft{Group: "g", Content: chat.Content{Body: new("tick")}, Cron: "* * * * * *", Count: new(int64(3))})
	b.Must(err)
	first := *v.NextAt
	v = b.until("alice", v.ID, schedule.Done)
	if v.Sent != 3 || v.Timezone != "UTC" || *v.LastID != 4 {
		t.Errorf("got %+v, want three messages", v)
	}
	for id := range int64(3) {
		due := first.Add(time.Duration(id) * time.Second)
		late := 30*time.Second + time.Duration(v.Missed)*time.Second // a busy machine may miss some
		if e := b.At("alice", "g", 2+id); e.SentAt.Before(due) || e.SentAt.After(due.Add(late)) {
			t.Errorf("message %d: got %v, want soon after %v", id, e.SentAt, due)
		}
	}
}

func TestScheduleMissed(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(1000))}, "alice")
	make := func(d schedule.Draft) string {
		t.Helper()
		d.Group, d.Content.Body = "g", new("x")
		if d.Cron == "" {
			d.At = new(b.clock().Add(time.Hour))
		}
		v, err := b.Create(b.Ctx, chattest.As("alice"), d)
		b.Must(err)
		return v.ID
	}
	tests := []struct {
		name   string
		draft  schedule.Draft
		late   time.Duration
		state  schedule.State
		sent   int64
		missed int64 // 10 more may be missed while the test runs
	}{
		{"a little late", schedule.Draft{Cron: "* * * * *", Misfire: schedule.MisfireSkip}, 2 * time.Second, schedule.Pending, 1, 0},
		{"sent late, once for all", schedule.Draft{Cron: "* * * * * *"}, 100 * time.Second, schedule.Pending, 1, 100},
		{"skipped", schedule.Draft{Cron: "* * * * * *", Misfire: schedule.MisfireSkip}, 100 * time.Second, schedule.Pending, 0, 101},
		{"once, sent late", schedule.Draft{}, time.Hour, schedule.Done, 1, 0},
		{"once, skipped", schedule.Draft{Misfire: schedule.MisfireSkip}, time.Hour, schedule.Failed, 0, 0},
		{"the last of a count", schedule.Draft{Cron: "* * * * * *", Count: new(int64(1))}, 100 * time.Second, schedule.Done, 1, 100},
		{"a count that was skipped is left", schedule.Draft{Cron: "* * * * * *", Count: new(int64(1)), Misfire: schedule.MisfireSkip}, 100 * time.Second, schedule.Pending, 0, 101},
		{"missed for days", schedule.Draft{Cron: "* * * * * *"}, 30 * 24 * time.Hour, schedule.Pending, 1, 10_000},
	}
	for _, test := range tests {
		last := b.PullFrom("alice", "g", "0", 1).Last
		r := b.overdue(make(test.draft), test.late)
		b.fire(r)
		v := b.schedule("alice", r.ID)
		if v.State != test.state || v.Sent != test.sent || v.Missed < test.missed || v.Missed > test.missed+10 {
			t.Errorf("%s: got %s, sent %d, missed %d, want %s, %d, %d", test.name, v.State, v.Sent, v.Missed, test.state, test.sent, test.missed)
		}
		if got := b.PullFrom("alice", "g", "0", 1).Last - last; got != test.sent {
			t.Errorf("%s: got %d messages, want %d", test.name, got, test.sent)
		}
		if skipped := test.sent == 0; skipped != (v.LastError != nil) || skipped && *v.LastError != "missed" {
			t.Errorf("%s: got last_error %v", test.name, v.LastError)
		}
		if test.state == schedule.Pending && !v.NextAt.After(b.clock().Add(-test.late)) {
			t.Errorf("%s: got next_at %v, want one to come", test.name, v.NextAt)
		}
	}
	// Occurrences before until are not sent either once it has passed.
	r := b.overdue(make(schedule.Draft{Cron: "* * * * * *", Until: new(b.clock().Add(time.Hour))}), 100*time.Second)
	r.Plan.UntilMs = b.clock().Add(-time.Second).UnixMilli()
	r, err := b.Store.ChangeSchedule(b.Ctx, r, false)
	b.Must(err)
	b.fire(r)
	if v := b.schedule("alice", r.ID); v.State != schedule.Done || v.Sent != 0 {
		t.Errorf("after until: got %+v", v)
	}
}

// TestScheduleOfWhoIsOut: rights are checked at the firing, and the owner is notified of a refusal, once.
func TestScheduleOfWhoIsOut(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	id := b.later("bob", "g", chat.Content{Body: new("still here")}, time.Hour).ID
	b.Must(b.RemoveMember(b.Ctx, chattest.As("alice"), "g", "bob"))
	last := b.PullFrom("alice", "g", "0", 1).Last
	_, err := b.SendNow(b.Ctx, chattest.As("bob"), id, "")
	b.Refused("sent now", err, chat.CodeNotFound)
	r := b.overdue(id, 0)
	b.fire(r)
	if v := b.schedule("bob", id); v.State != schedule.Failed || *v.LastError != "not_found" {
		t.Errorf("got %+v", v)
	}
	if got := b.PullFrom("alice", "g", "0", 1).Last; got != last {
		t.Errorf("got %d entries, want %d: who is out has written", got, last)
	}
	b.work()
	harness.Eventually(t, 10*time.Second, "bob is told", func() error {
		if len(b.ItemLines("bob")) == 0 {
			return errors.New("nothing")
		}
		return nil
	})
	b.task(schedule.TaskFailed, schedule.FailedTask{Schedule: id, Version: r.Version, Owner: "bob", Group: "g", AtMs: r.NextMs, Code: chat.CodeNotFound})
	batch, err := b.Inbox(b.Ctx, chattest.As("bob"), chat.Position{}, 0)
	b.Must(err)
	var items []chat.Item
	for _, raw := range batch.Items {
		var it chat.Item
		if b.Must(json.Unmarshal(raw.JSON, &it)); it.Kind == chat.ItemScheduleFailed {
			items = append(items, it)
		}
	}
	if len(items) != 1 || items[0].From != "" || items[0].Group != "g" || items[0].Body == nil {
		t.Fatalf("got %+v, want one item", items)
	}
	want := fmt.Sprintf(`{"schedule":%q,"group":"g","at":%q,"code":"not_found"}`, id, chat.TimeMs(r.NextMs).UTC().Format(chat.TimeLayout))
	if got := string(items[0].Data); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestOneScheduleHoldsUpNoOther: a schedule that cannot be read becomes a dead letter; the others fire.
func TestOneScheduleHoldsUpNoOther(t *testing.T) {
	b := newBench(t)
	var ids []string
	for range 20 {
		v, _, err := b.SendDirectLater(b.Ctx, chattest.As("alice"), "bob", chat.Direct{Body: new("x")}, b.clock().Add(500*time.Millisecond))
		b.Must(err)
		ids = append(ids, v.ID)
	}
	for _, id := range ids[:10] {
		b.Must(b.Store.Client().Eval(b.Ctx, `return redis.call('HSET', KEYS[1], 'plan', '{"owner":')`, []string{"chat:{p00}:s:" + id}).Err())
	}
	b.work()
	for _, id := range ids[10:] {
		b.until("alice", id, schedule.Done)
	}
	client, err := queue.NewClient(queue.Options{Client: b.Store.Client()})
	b.Must(err)
	harness.Eventually(t, 10*time.Second, "ten are dead", func() error {
		stats, err := client.Stats(b.Ctx)
		b.Must(err)
		if stats.Dead != 10 {
			return fmt.Errorf("%d are", stats.Dead)
		}
		return nil
	})
	if got := len(b.ItemLines("bob")); got != 10 {
		t.Errorf("got %d items, want 10", got)
	}
}

// TestSchedulesRace lets two nodes fire schedules that are cancelled and moved at the same time, while answers of the
// store are lost. Each ends as its caller was answered: cancelled and never sent, or sent once, not before the time it
// was moved to.
func TestSchedulesRace(t *testing.T) {
	const schedules = 150
	redis := redistest.Start(t)
	proxy := redistest.StartProxy(t, redis.Addr, 0)
	node := func(url string, ahead time.Duration) *bench {
		b := chattest.Open(t, url, func(o *chat.Options) {
			o.Now = func() int64 { return time.Now().Add(ahead).UnixMilli() }
			o.Limits.UserFiringsMax = 0
		})
		return &bench{b, schedule.New(b.Service, b.Store, webhook.New(b.Service, b.Store, nil))}
	}
	b := node(redis.URL(), 0) // the checks bypass the proxy
	var nodes []*schedule.Service
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} { // the nodes' clocks decide nothing
		other := node(proxy.URL(), ahead)
		other.work()
		nodes = append(nodes, other.Service)
	}
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(10_000))}, "alice")
	proxy.Lose("evalsha", 7)

	var mu sync.Mutex
	notBefore, cancelled := map[string]time.Time{}, map[string]bool{}
	var running sync.WaitGroup
	for w := range 6 {
		service := nodes[w%2]
		running.Go(func() {
			for i := range schedules / 6 {
				key := fmt.Sprintf("%d-%d", w, i)
				// About when it is cancelled or moved, for some on a fast machine and for others on a slow one.
				at := b.clock().Add(time.Duration(i%5*(i%5)*(i%5)*4) * time.Millisecond)
				var v schedule.Schedule
				if err := retried(func() (err error) {
					v, _, err = service.SendLater(b.Ctx, chattest.As("alice"), "g", chat.Content{Body: &key, ClientID: key}, at)
					return err
				}); err != nil {
					t.Errorf("%s: %v", key, err)
					continue
				}
				gone := false
				switch i % 3 {
				case 1:
					err := retried(func() error { return service.Cancel(b.Ctx, chattest.As("alice"), v.ID) })
					if gone = err == nil; !gone && !errors.Is(err, chat.ErrConflict) {
						t.Errorf("cancel: %v", err)
					}
				case 2:
					to := b.clock().Add(100 * time.Millisecond)
					err := retried(func() error {
						_, err := service.Change(b.Ctx, chattest.As("alice"), v.ID, schedule.Change{At: &to})
						return err
					})
					if err == nil {
						at = to
					} else if !errors.Is(err, chat.ErrConflict) {
						t.Errorf("move: %v", err)
					}
				}
				mu.Lock()
				notBefore[key], cancelled[key] = at, gone
				mu.Unlock()
			}
		})
	}
	running.Wait()
	want, gone := 0, 0
	for key := range notBefore {
		if cancelled[key] {
			gone++
		} else {
			want++
		}
	}
	harness.Eventually(t, 20*time.Second, "all have fired", func() error {
		if last := b.PullFrom("alice", "g", "0", 1).Last - 1; int(last) < want {
			return fmt.Errorf("%d of %d", last, want)
		}
		return nil
	})
	batch := b.PullFrom("alice", "g", "1", 1000)
	if len(batch.Messages) != want {
		t.Errorf("got %d messages, want %d", len(batch.Messages), want)
	}
	for _, m := range batch.Messages {
		var e chat.Entry
		b.Must(json.Unmarshal(m.JSON, &e))
		if cancelled[e.ClientID] {
			t.Errorf("%s was cancelled, and sent", e.ClientID)
		}
		if at := notBefore[e.ClientID]; e.SentAt.Before(at.Truncate(time.Millisecond)) {
			t.Errorf("%s: sent at %v, want not before %v", e.ClientID, e.SentAt, at)
		}
		delete(notBefore, e.ClientID)
	}
	if len(notBefore) != gone {
		t.Errorf("%d were not sent, %d cancelled", len(notBefore), gone)
	}
	t.Logf("%d sent, %d cancelled, %d answers lost", want, gone, proxy.Lost())
	if proxy.Lost() < 20 || gone == 0 || want == schedules {
		t.Error("too little happened to show anything")
	}
}

// retried repeats a call whose outcome is unknown, as a client would.
func retried(call func() error) error {
	for {
		if err := call(); chat.CodeOf(err) != chat.CodeUnavailable {
			return err
		}
	}
}

// TestFiringWaitsForTheStore: while the store cannot be reached, no run counts as failed, so that an outage turns no
// schedule into a dead letter.
func TestFiringWaitsForTheStore(t *testing.T) {
	b := newBench(t)
	b.Must(b.Store.Close())
	err := b.Handlers()[schedule.TaskFire].Run(b.Ctx, chat.TaskRun{Payload: []byte(`{"schedule":"p00-x","version":1}`)})
	var later *chat.Postponed
	if !errors.As(err, &later) || later.Cause != nil || later.After <= 0 {
		t.Errorf("got %v, want it postponed without an attempt", err)
	}
}
