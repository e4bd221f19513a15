package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/queue"
)

// work runs the domain's tasks on a store, as a node does, until the test ends.
func work(t *testing.T, s *store.Store, service *chat.Service) {
	t.Helper()
	server, err := queue.New(queue.Options{Client: s.Client(), Partitions: s.Partitions(), Lease: time.Second, CrashesMax: 50,
		BackoffMin: time.Millisecond, BackoffMax: 10 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range service.Handlers() {
		server.HandlePolicy(name, queue.Policy{AttemptsMax: kind.AttemptsMax}, func(ctx context.Context, task queue.Task) error {
			err := kind.Run(ctx, chat.TaskRun{ID: task.ID, Attempt: task.Attempt, Payload: task.Payload})
			var later *chat.Postponed
			switch {
			case errors.As(err, &later) && later.Cause == nil:
				return queue.Snooze(later.After)
			case chat.CodeOf(err) == chat.CodeInvalid:
				return queue.Bury(err)
			}
			return err
		})
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = server.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
}

func (b *bench) later(user, group string, d chat.Draft, in time.Duration) chat.Schedule {
	b.t.Helper()
	v, _, err := b.SendLater(b.ctx, as(user), group, d, b.clock().Add(in))
	b.must(err)
	return v
}

// clock is the clock of the store. That of the service is weeks behind: it decides nothing.
func (b *bench) clock() time.Time {
	b.t.Helper()
	ms, err := b.stores.Clock(b.ctx)
	b.must(err)
	return time.UnixMilli(ms)
}

func (b *bench) schedule(user, id string) chat.Schedule {
	b.t.Helper()
	v, err := b.Schedule(b.ctx, as(user), id)
	b.must(err)
	return v
}

// until waits for a schedule to be in a state.
func (b *bench) until(user, id string, want chat.ScheduleState) chat.Schedule {
	b.t.Helper()
	var v chat.Schedule
	harness.Eventually(b.t, 20*time.Second, fmt.Sprintf("the schedule is %s", want), func() error {
		if v = b.schedule(user, id); v.State != want {
			return fmt.Errorf("it is %s", v.State)
		}
		return nil
	})
	return v
}

// overdue makes the next occurrence of a schedule one that should have been some time ago.
func (b *bench) overdue(id string, by time.Duration) chat.ScheduleRecord {
	b.t.Helper()
	r, nowMs, err := b.stores.Schedule(b.ctx, id)
	b.must(err)
	r.NextMs = nowMs - by.Milliseconds()
	r, err = b.stores.ChangeSchedule(b.ctx, r)
	b.must(err)
	return r
}

func (b *bench) fire(r chat.ScheduleRecord) {
	b.t.Helper()
	b.task(chat.TaskSchedule, chat.ScheduleTask{Schedule: r.ID, Version: r.Version})
}

func TestScheduledMessage(t *testing.T) {
	b := newBench(t)
	work(t, b.stores, b.Service)
	b.group(chat.GroupDraft{ID: "g"}, "alice", "bob")
	m := b.say("alice", "g", "x")
	draft := chat.Draft{Body: ptr("later"), ClientID: "c", ReplyTo: m.ID, Mentions: []string{"bob"}, Data: json.RawMessage(`{"a": 1}`)}
	at := b.clock().Add(300*time.Millisecond + 100) // not a whole millisecond: it is rounded up
	v, duplicate, err := b.SendLater(b.ctx, as("alice"), "g", draft, at)
	b.must(err)
	if duplicate || v.State != chat.SchedulePending || v.NextAt == nil || v.NextAt.Before(at) || v.LastID != nil || v.At == nil || v.Owner != "alice" {
		t.Errorf("got %+v, duplicate %v", v, duplicate)
	}
	again, duplicate, err := b.SendLater(b.ctx, as("alice"), "g", draft, at)
	if b.must(err); !duplicate || again.ID != v.ID {
		t.Errorf("again: got %+v, duplicate %v", again, duplicate)
	}
	other := draft
	other.Body = ptr("other")
	_, _, err = b.SendLater(b.ctx, as("alice"), "g", other, at)
	b.refused("other content", err, chat.CodeKeyReused)
	_, _, err = b.SendLater(b.ctx, as("alice"), "g", draft, at.Add(time.Second))
	b.refused("another time", err, chat.CodeKeyReused)

	v = b.until("alice", v.ID, chat.ScheduleDone)
	if v.Sent != 1 || *v.LastID != m.ID+1 || v.NextAt != nil || v.LastError != nil {
		t.Errorf("got %+v", v)
	}
	e := b.at("bob", "g", *v.LastID)
	if e.From != "alice" || *e.Body != "later" || e.ClientID != "c" || e.ReplyTo != m.ID || string(e.Data) != `{"a":1}` || e.SentAt.Before(at) {
		t.Errorf("got %+v, want what was planned, not before %v", e, at)
	}
	// The key is that of the message: a send with it gives the same message, and nothing new.
	sent, err := b.Send(b.ctx, as("alice"), "g", draft, "")
	if b.must(err); !sent.Duplicate || sent.ID != e.ID {
		t.Errorf("a send with the same key: got %+v", sent)
	}
	direct, _, err := b.SendDirectLater(b.ctx, as("alice"), "bob", chat.Direct{Body: ptr("psst")}, b.clock().Add(-time.Hour))
	b.must(err)
	if direct = b.until("alice", direct.ID, chat.ScheduleDone); *direct.LastID == 0 {
		t.Errorf("got %+v", direct)
	}
	harness.Eventually(t, 10*time.Second, "bob has the mention and the direct message", func() error {
		if got := fmt.Sprint(b.items("bob")); !strings.Contains(got, "mention alice g") || !strings.Contains(got, "direct alice") {
			return errors.New(got)
		}
		return nil
	})
}

func TestScheduleDraftsAreChecked(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Direct = chat.DirectShared })
	b.group(chat.GroupDraft{ID: "g"}, "alice", "bob")
	b.group(chat.GroupDraft{ID: "news", Visibility: chat.Public, Post: chat.PostAdmins}, "alice", "bob")
	now := b.clock()
	body, soon := ptr("x"), ptr(now.Add(time.Hour))
	tests := []struct {
		name, user string
		draft      chat.ScheduleDraft
		want       chat.Code
	}{
		{"once", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: soon}, ""},
		{"again and again", "bob", chat.ScheduleDraft{User: "alice", Body: body, Cron: "0 9 * * *", Timezone: "Europe/Berlin", Misfire: chat.MisfireSkip, Count: ptr[int64](3)}, ""},
		{"data alone", "bob", chat.ScheduleDraft{Group: "g", Data: json.RawMessage(`{}`), At: soon}, ""},
		{"nobody", "bob", chat.ScheduleDraft{Body: body, At: soon}, chat.CodeInvalid},
		{"both", "bob", chat.ScheduleDraft{Group: "g", User: "alice", Body: body, At: soon}, chat.CodeInvalid},
		{"never", "bob", chat.ScheduleDraft{Group: "g", Body: body}, chat.CodeInvalid},
		{"at and cron", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: soon, Cron: "@daily"}, chat.CodeInvalid},
		{"nothing", "bob", chat.ScheduleDraft{Group: "g", At: soon}, chat.CodeInvalid},
		{"data to a user", "bob", chat.ScheduleDraft{User: "alice", Data: json.RawMessage(`{}`), At: soon}, chat.CodeInvalid},
		{"a long body", "bob", chat.ScheduleDraft{Group: "g", Body: ptr(strings.Repeat("x", 16<<10+1)), At: soon}, chat.CodeTooLarge},
		{"a bad group", "bob", chat.ScheduleDraft{Group: "a:b", Body: body, At: soon}, chat.CodeInvalid},
		{"a bad user", "bob", chat.ScheduleDraft{User: "{}", Body: body, At: soon}, chat.CodeInvalid},
		{"no such group", "bob", chat.ScheduleDraft{Group: "h", Body: body, At: soon}, chat.CodeNotFound},
		{"a private group of others", "cid", chat.ScheduleDraft{Group: "g", Body: body, At: soon}, chat.CodeNotFound},
		{"a public group of others", "cid", chat.ScheduleDraft{Group: "news", Body: body, At: soon}, chat.CodeForbidden},
		{"only admins post", "bob", chat.ScheduleDraft{Group: "news", Body: body, At: soon}, chat.CodeForbidden},
		{"a stranger", "cid", chat.ScheduleDraft{User: "alice", Body: body, At: soon}, chat.CodeForbidden},
		{"366 days ahead", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: ptr(now.Add(366 * 24 * time.Hour))}, ""},
		{"more", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: ptr(now.Add(366*24*time.Hour + time.Minute))}, chat.CodeOutOfRange},
		{"the end of time", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: ptr(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))}, chat.CodeOutOfRange},
		{"the beginning", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: ptr(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))}, ""},
		{"no cron", "bob", chat.ScheduleDraft{Group: "g", Body: body, Cron: "every day"}, chat.CodeInvalid},
		{"no such day", "bob", chat.ScheduleDraft{Group: "g", Body: body, Cron: "0 0 30 2 *"}, chat.CodeInvalid},
		{"no such zone", "bob", chat.ScheduleDraft{Group: "g", Body: body, Cron: "@daily", Timezone: "Mars"}, chat.CodeInvalid},
		{"a zone for once", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: soon, Timezone: "UTC"}, chat.CodeInvalid},
		{"a count for once", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: soon, Count: ptr[int64](1)}, chat.CodeInvalid},
		{"until for once", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: soon, Until: soon}, chat.CodeInvalid},
		{"a bad misfire", "bob", chat.ScheduleDraft{Group: "g", Body: body, At: soon, Misfire: "maybe"}, chat.CodeInvalid},
		{"no count", "bob", chat.ScheduleDraft{Group: "g", Body: body, Cron: "@daily", Count: ptr[int64](0)}, chat.CodeOutOfRange},
		{"until before the first", "bob", chat.ScheduleDraft{Group: "g", Body: body, Cron: "@yearly", Until: ptr(now.Add(time.Minute))}, chat.CodeOutOfRange},
	}
	for _, test := range tests {
		_, err := b.CreateSchedule(b.ctx, as(test.user), test.draft)
		b.refused(test.name, err, test.want)
	}
	for _, kind := range []chat.Kind{chat.Edit, chat.Delete, chat.Reaction, chat.Notice} {
		_, _, err := b.SendLater(b.ctx, as("bob"), "g", chat.Draft{Kind: kind, Target: 1, Body: body, Emoji: "x"}, *soon)
		b.refused(string(kind), err, chat.CodeInvalid)
	}
	_, _, err := b.SendLater(b.ctx, as("bob"), "g", chat.Draft{Body: body, ReplyTo: 99}, *soon)
	b.refused("a reply to nothing", err, chat.CodeOutOfRange)
}

func TestScheduleRecurs(t *testing.T) {
	b := newBench(t)
	work(t, b.stores, b.Service)
	b.group(chat.GroupDraft{ID: "g"}, "alice")
	v, err := b.CreateSchedule(b.ctx, as("alice"), chat.ScheduleDraft{Group: "g", Body: ptr("tick"), Cron: "* * * * * *", Count: ptr[int64](3)})
	b.must(err)
	first := *v.NextAt
	v = b.until("alice", v.ID, chat.ScheduleDone)
	if v.Sent != 3 || v.Missed != 0 || v.Timezone != "UTC" || *v.LastID != 4 {
		t.Errorf("got %+v, want three messages", v)
	}
	for id := range int64(3) {
		due := first.Add(time.Duration(id) * time.Second)
		if e := b.at("alice", "g", 2+id); e.SentAt.Before(due) || e.SentAt.After(due.Add(5*time.Second)) {
			t.Errorf("message %d: got %v, want soon after %v", id, e.SentAt, due)
		}
	}
}

func TestScheduleMissed(t *testing.T) {
	b := newBench(t)
	b.group(chat.GroupDraft{ID: "g", Keep: ptr[int64](1000)}, "alice")
	make := func(d chat.ScheduleDraft) string {
		t.Helper()
		d.Group, d.Body = "g", ptr("x")
		if d.Cron == "" {
			d.At = ptr(b.clock().Add(time.Hour))
		}
		v, err := b.CreateSchedule(b.ctx, as("alice"), d)
		b.must(err)
		return v.ID
	}
	tests := []struct {
		name   string
		draft  chat.ScheduleDraft
		late   time.Duration
		state  chat.ScheduleState
		sent   int64
		missed int64 // 10 more may be missed while the test runs
	}{
		{"a little late", chat.ScheduleDraft{Cron: "* * * * *", Misfire: chat.MisfireSkip}, 2 * time.Second, chat.SchedulePending, 1, 0},
		{"sent late, once for all", chat.ScheduleDraft{Cron: "* * * * * *"}, 100 * time.Second, chat.SchedulePending, 1, 100},
		{"skipped", chat.ScheduleDraft{Cron: "* * * * * *", Misfire: chat.MisfireSkip}, 100 * time.Second, chat.SchedulePending, 0, 101},
		{"once, sent late", chat.ScheduleDraft{}, time.Hour, chat.ScheduleDone, 1, 0},
		{"once, skipped", chat.ScheduleDraft{Misfire: chat.MisfireSkip}, time.Hour, chat.ScheduleFailed, 0, 0},
		{"the last of a count", chat.ScheduleDraft{Cron: "* * * * * *", Count: ptr[int64](1)}, 100 * time.Second, chat.ScheduleDone, 1, 100},
		{"a count that was skipped is left", chat.ScheduleDraft{Cron: "* * * * * *", Count: ptr[int64](1), Misfire: chat.MisfireSkip}, 100 * time.Second, chat.SchedulePending, 0, 101},
		{"missed for days", chat.ScheduleDraft{Cron: "* * * * * *"}, 30 * 24 * time.Hour, chat.SchedulePending, 1, 10_000},
	}
	for _, test := range tests {
		last := b.pull("alice", "g", "0", 1).Last
		r := b.overdue(make(test.draft), test.late)
		b.fire(r)
		v := b.schedule("alice", r.ID)
		if v.State != test.state || v.Sent != test.sent || v.Missed < test.missed || v.Missed > test.missed+10 {
			t.Errorf("%s: got %s, sent %d, missed %d, want %s, %d, %d", test.name, v.State, v.Sent, v.Missed, test.state, test.sent, test.missed)
		}
		if got := b.pull("alice", "g", "0", 1).Last - last; got != test.sent {
			t.Errorf("%s: got %d messages, want %d", test.name, got, test.sent)
		}
		if skipped := test.sent == 0; skipped != (v.LastError != nil) || skipped && *v.LastError != "missed" {
			t.Errorf("%s: got last_error %v", test.name, v.LastError)
		}
		if test.state == chat.SchedulePending && !v.NextAt.After(b.clock().Add(-test.late)) {
			t.Errorf("%s: got next_at %v, want one to come", test.name, v.NextAt)
		}
	}
	// What is over by until is not sent either.
	r := b.overdue(make(chat.ScheduleDraft{Cron: "* * * * * *", Until: ptr(b.clock().Add(time.Hour))}), 100*time.Second)
	r.Plan.UntilMs = b.clock().Add(-time.Second).UnixMilli()
	r, err := b.stores.ChangeSchedule(b.ctx, r)
	b.must(err)
	b.fire(r)
	if v := b.schedule("alice", r.ID); v.State != chat.ScheduleDone || v.Sent != 0 {
		t.Errorf("after until: got %+v", v)
	}
}

func TestScheduleChanges(t *testing.T) {
	b := newBench(t)
	b.group(chat.GroupDraft{ID: "g"}, "alice", "bob")
	change := func(id string, c chat.ScheduleChange) chat.Schedule {
		t.Helper()
		v, err := b.ChangeSchedule(b.ctx, as("alice"), id, c)
		b.must(err)
		return v
	}
	once := b.later("alice", "g", chat.Draft{Body: ptr("x"), Mentions: []string{"bob"}}, time.Hour).ID
	at := b.clock().Add(2 * time.Hour).Truncate(time.Millisecond)
	v := change(once, chat.ScheduleChange{At: &at, Body: ptr("y")})
	if *v.Body != "y" || !v.NextAt.Equal(at) || !v.At.Equal(at) || len(v.Mentions) != 1 {
		t.Errorf("moved: got %+v", v)
	}
	if v = change(once, chat.ScheduleChange{Paused: ptr(true)}); v.State != chat.SchedulePaused || v.NextAt != nil {
		t.Errorf("paused: got %+v", v)
	}
	if v = change(once, chat.ScheduleChange{Paused: ptr(false)}); v.State != chat.SchedulePending || !v.NextAt.Equal(at) {
		t.Errorf("goes on: got %+v", v)
	}
	v, err := b.CreateSchedule(b.ctx, as("alice"), chat.ScheduleDraft{User: "bob", Body: ptr("x"), Cron: "0 0 9 * * *", Timezone: "Asia/Tokyo"})
	b.must(err)
	if !v.NextAt.Equal(nextAt(b.clock(), 0)) {
		t.Errorf("nine in Tokyo: got %v", v.NextAt)
	}
	again := v.ID
	if v = change(again, chat.ScheduleChange{Timezone: ptr("UTC")}); !v.NextAt.Equal(nextAt(b.clock(), 9)) {
		t.Errorf("nine in UTC: got %v", v.NextAt)
	}
	if v = change(again, chat.ScheduleChange{Data: json.RawMessage(`[1]`), Misfire: ptr(chat.MisfireSkip)}); !v.NextAt.Equal(nextAt(b.clock(), 9)) || string(v.Data) != `[1]` {
		t.Errorf("with data: got %+v", v)
	}
	if v = change(again, chat.ScheduleChange{Data: json.RawMessage(`null`)}); v.Data != nil {
		t.Errorf("without data: got %+v", v)
	}
	for _, test := range []struct {
		name, id string
		change   chat.ScheduleChange
		want     chat.Code
	}{
		{"at of what recurs", again, chat.ScheduleChange{At: &at}, chat.CodeInvalid},
		{"cron of what fires once", once, chat.ScheduleChange{Cron: ptr("@daily")}, chat.CodeInvalid},
		{"zone of what fires once", once, chat.ScheduleChange{Timezone: ptr("UTC")}, chat.CodeInvalid},
		{"a year and more ahead", once, chat.ScheduleChange{At: ptr(at.AddDate(1, 0, 2))}, chat.CodeOutOfRange},
		{"no body", once, chat.ScheduleChange{Body: ptr("")}, chat.CodeInvalid},
		{"no zone", again, chat.ScheduleChange{Timezone: ptr("Mars")}, chat.CodeInvalid},
		{"until before the next", again, chat.ScheduleChange{Until: ptr(b.clock())}, chat.CodeOutOfRange},
		{"another's", once, chat.ScheduleChange{}, chat.CodeNotFound},
		{"none", "p00-none", chat.ScheduleChange{}, chat.CodeNotFound},
		{"no id", "a:b", chat.ScheduleChange{}, chat.CodeInvalid},
	} {
		by := as("alice")
		if test.name == "another's" {
			by = as("bob")
		}
		_, err := b.ChangeSchedule(b.ctx, by, test.id, test.change)
		b.refused(test.name, err, test.want)
	}
	for range 2 {
		v, err = b.RunSchedule(b.ctx, as("alice"), again, "k") // the second time as after an answer that was lost
		b.must(err)
	}
	if v.Sent != 1 || v.State != chat.SchedulePending || !v.NextAt.Equal(nextAt(b.clock(), 9)) {
		t.Errorf("sent now, the plan stays: got %+v", v)
	}
	for range 2 {
		v, err = b.RunSchedule(b.ctx, as("alice"), once, "k")
		b.must(err)
	}
	if v.Sent != 1 || v.State != chat.ScheduleDone || *b.at("bob", "g", *v.LastID).Body != "y" {
		t.Errorf("sent now: got %+v", v)
	}
	for _, key := range []string{"", "other"} {
		_, err = b.RunSchedule(b.ctx, as("alice"), once, key)
		b.refused("sent already", err, chat.CodeConflict)
	}
	_, err = b.ChangeSchedule(b.ctx, as("alice"), once, chat.ScheduleChange{At: &at})
	b.refused("moved too late", err, chat.CodeConflict)
	b.refused("cancelled too late", b.CancelSchedule(b.ctx, as("alice"), once), chat.CodeConflict)
	b.refused("cancelled by another", b.CancelSchedule(b.ctx, as("bob"), again), chat.CodeNotFound)
	b.must(b.CancelSchedule(b.ctx, operator("root"), again))
	b.must(b.CancelSchedule(b.ctx, as("alice"), again))
	_, err = b.RunSchedule(b.ctx, as("alice"), again, "")
	b.refused("cancelled, then sent", err, chat.CodeConflict)
	list, err := b.Schedules(b.ctx, as("alice"), 0, "")
	if b.must(err); len(list.Items) != 2 {
		t.Errorf("got %d schedules, want the two that ended", len(list.Items))
	}
}

// TestScheduleChangeKeepsWhatIsDue: an occurrence whose time has come, and that no worker got to yet, is lost by no change but one
// of its times.
func TestScheduleChangeKeepsWhatIsDue(t *testing.T) {
	b := newBench(t)
	// Whatever the time of day, nothing else is due before the until of an hour.
	inHalfAYear := fmt.Sprintf("0 9 1 %d *", (b.clock().Month()+5)%12+1)
	v, err := b.CreateSchedule(b.ctx, as("alice"), chat.ScheduleDraft{User: "bob", Body: ptr("x"), Cron: inHalfAYear, Timezone: "Asia/Tokyo"})
	b.must(err)
	due := b.overdue(v.ID, 2*time.Second).NextMs
	for _, c := range []chat.ScheduleChange{
		{Until: ptr(b.clock().Add(time.Hour))},
		{Cron: &inHalfAYear, Timezone: ptr("Asia/Tokyo"), Misfire: ptr(chat.MisfireSkip), Count: ptr[int64](2), Body: ptr("y")},
	} {
		v, err = b.ChangeSchedule(b.ctx, as("alice"), v.ID, c)
		if b.must(err); v.NextAt.UnixMilli() != due {
			t.Errorf("got %v for the next, want the one at %v", v.NextAt, chat.TimeMs(due))
		}
	}
	_, err = b.ChangeSchedule(b.ctx, as("alice"), v.ID, chat.ScheduleChange{Until: ptr(time.UnixMilli(due - 1))})
	b.refused("until before what is due", err, chat.CodeOutOfRange)
	r, _, err := b.stores.Schedule(b.ctx, v.ID)
	b.must(err)
	b.fire(r)
	if v = b.schedule("alice", v.ID); v.Sent != 1 || v.State != chat.ScheduleDone {
		t.Errorf("got %+v, want it sent, and nothing more before until", v)
	}
	v, err = b.CreateSchedule(b.ctx, as("alice"), chat.ScheduleDraft{User: "bob", Body: ptr("x"), Cron: "@yearly"})
	b.must(err)
	_, err = b.ChangeSchedule(b.ctx, as("alice"), v.ID, chat.ScheduleChange{Paused: ptr(true)})
	b.must(err)
	_, err = b.ChangeSchedule(b.ctx, as("alice"), v.ID, chat.ScheduleChange{Until: ptr(b.clock().Add(time.Minute))})
	b.refused("until before the next of a paused one", err, chat.CodeOutOfRange)
	b.must(b.CancelSchedule(b.ctx, as("alice"), v.ID))
}

// nextAt is the next time that a clock in UTC shows an hour.
func nextAt(after time.Time, hour int) time.Time {
	day := after.UTC().Truncate(24 * time.Hour)
	for at := day.Add(time.Duration(hour) * time.Hour); ; at = at.AddDate(0, 0, 1) {
		if at.After(after) {
			return at
		}
	}
}

// TestScheduleOfWhoIsOut: rights are those of the moment of the firing, and the owner is told of a refusal, once.
func TestScheduleOfWhoIsOut(t *testing.T) {
	b := newBench(t)
	b.group(chat.GroupDraft{ID: "g"}, "alice", "bob")
	id := b.later("bob", "g", chat.Draft{Body: ptr("still here")}, time.Hour).ID
	b.must(b.RemoveMember(b.ctx, as("alice"), "g", "bob"))
	last := b.pull("alice", "g", "0", 1).Last
	_, err := b.RunSchedule(b.ctx, as("bob"), id, "")
	b.refused("sent now", err, chat.CodeNotFound)
	r := b.overdue(id, 0)
	b.fire(r)
	if v := b.schedule("bob", id); v.State != chat.ScheduleFailed || *v.LastError != "not_found" {
		t.Errorf("got %+v", v)
	}
	if got := b.pull("alice", "g", "0", 1).Last; got != last {
		t.Errorf("got %d entries, want %d: who is out has written", got, last)
	}
	work(t, b.stores, b.Service)
	harness.Eventually(t, 10*time.Second, "bob is told", func() error {
		if len(b.items("bob")) == 0 {
			return errors.New("nothing")
		}
		return nil
	})
	b.task(chat.TaskScheduleFailed, chat.ScheduleFailedTask{Schedule: id, Version: r.Version, Owner: "bob", Group: "g", AtMs: r.NextMs, Code: chat.CodeNotFound})
	batch, err := b.Inbox(b.ctx, as("bob"), nil, 0)
	b.must(err)
	var told []chat.Item
	for _, raw := range batch.Items {
		var it chat.Item
		if b.must(json.Unmarshal(raw, &it)); it.Kind == chat.ItemScheduleFailed {
			told = append(told, it)
		}
	}
	if len(told) != 1 || told[0].From != "" || told[0].Group != "g" || told[0].Body == nil {
		t.Fatalf("got %+v, want one item", told)
	}
	want := fmt.Sprintf(`{"schedule":%q,"group":"g","at":%q,"code":"not_found"}`, id, chat.TimeMs(r.NextMs).UTC().Format(chat.TimeLayout))
	if got := string(told[0].Data); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestOneScheduleHoldsUpNoOther: what cannot be read is a dead letter; the others fire.
func TestOneScheduleHoldsUpNoOther(t *testing.T) {
	b := newBench(t)
	var ids []string
	for range 20 {
		v, _, err := b.SendDirectLater(b.ctx, as("alice"), "bob", chat.Direct{Body: ptr("x")}, b.clock().Add(500*time.Millisecond))
		b.must(err)
		ids = append(ids, v.ID)
	}
	for _, id := range ids[:10] {
		b.must(b.stores.Client().Eval(b.ctx, `return redis.call('HSET', KEYS[1], 'plan', '{"owner":')`, []string{"chat:{p00}:s:" + id}).Err())
	}
	work(t, b.stores, b.Service)
	for _, id := range ids[10:] {
		b.until("alice", id, chat.ScheduleDone)
	}
	client, err := queue.NewClient(queue.Options{Client: b.stores.Client()})
	b.must(err)
	harness.Eventually(t, 10*time.Second, "ten are dead", func() error {
		stats, err := client.Stats(b.ctx)
		b.must(err)
		if stats.Dead != 10 {
			return fmt.Errorf("%d are", stats.Dead)
		}
		return nil
	})
	if got := len(b.items("bob")); got != 10 {
		t.Errorf("got %d items, want 10", got)
	}
}

// TestSchedulesRace lets two nodes fire what is cancelled and moved at the same time, while answers of the store are lost. Each
// ends as its caller was told: cancelled and never sent, or sent once, not before the time it was moved to.
func TestSchedulesRace(t *testing.T) {
	const schedules = 150
	redis := redistest.Start(t)
	proxy := redistest.StartProxy(t, redis.Addr, 0)
	node := func(url string, ahead time.Duration) (*store.Store, *chat.Service) {
		s, err := store.Open(t.Context(), store.Options{URL: url, Limits: chat.DefaultLimits()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s, chat.New(s, chat.Options{Now: func() int64 { return time.Now().Add(ahead).UnixMilli() }})
	}
	b := &bench{t: t, ctx: t.Context()} // what is looked at is looked at without the proxy
	b.stores, b.Service = node(redis.URL(), 0)
	var nodes []*chat.Service
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} { // clocks of nodes decide nothing
		s, service := node(proxy.URL(), ahead)
		work(t, s, service)
		nodes = append(nodes, service)
	}
	b.group(chat.GroupDraft{ID: "g", Keep: ptr[int64](10_000)}, "alice")
	proxy.Lose("evalsha", 7)

	var mu sync.Mutex
	notBefore, cancelled := map[string]time.Time{}, map[string]bool{}
	var running sync.WaitGroup
	for w := range 6 {
		service := nodes[w%2]
		running.Go(func() {
			for i := range schedules / 6 {
				key := fmt.Sprintf("%d-%d", w, i)
				at := b.clock().Add(time.Duration(i%5*4) * time.Millisecond) // about when it is cancelled or moved
				var v chat.Schedule
				if err := retried(func() (err error) {
					v, _, err = service.SendLater(b.ctx, as("alice"), "g", chat.Draft{Body: &key, ClientID: key}, at)
					return err
				}); err != nil {
					t.Errorf("%s: %v", key, err)
					continue
				}
				gone := false
				switch i % 3 {
				case 1:
					err := retried(func() error { return service.CancelSchedule(b.ctx, as("alice"), v.ID) })
					if gone = err == nil; !gone && !errors.Is(err, chat.ErrConflict) {
						t.Errorf("cancel: %v", err)
					}
				case 2:
					to := b.clock().Add(100 * time.Millisecond)
					err := retried(func() error {
						_, err := service.ChangeSchedule(b.ctx, as("alice"), v.ID, chat.ScheduleChange{At: &to})
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
		if last := b.pull("alice", "g", "0", 1).Last - 1; int(last) < want {
			return fmt.Errorf("%d of %d", last, want)
		}
		return nil
	})
	batch := b.pull("alice", "g", "1", 1000)
	if len(batch.Messages) != want {
		t.Errorf("got %d messages, want %d", len(batch.Messages), want)
	}
	for _, m := range batch.Messages {
		e := entry(t, m.JSON)
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

// retried repeats a call whose outcome is unknown, as a client does.
func retried(call func() error) error {
	for {
		if err := call(); chat.CodeOf(err) != chat.CodeUnavailable {
			return err
		}
	}
}

func TestScheduleIsForgotten(t *testing.T) {
	b := newBench(t)
	v, _, err := b.SendDirectLater(b.ctx, as("alice"), "bob", chat.Direct{Body: ptr("x")}, b.clock().Add(time.Hour))
	b.must(err)
	b.task(chat.TaskScheduleEnd, chat.ScheduleTask{Schedule: v.ID})
	b.schedule("alice", v.ID)
	b.must(b.CancelSchedule(b.ctx, as("alice"), v.ID))
	b.task(chat.TaskScheduleEnd, chat.ScheduleTask{Schedule: v.ID})
	_, err = b.Schedule(b.ctx, as("alice"), v.ID)
	b.refused("forgotten", err, chat.CodeNotFound)
}

// TestFiringWaitsForTheStore: as long as the store cannot be reached no run counts as failed, so that an outage makes no
// schedule a dead letter.
func TestFiringWaitsForTheStore(t *testing.T) {
	b := newBench(t)
	b.must(b.stores.Close())
	err := b.Handlers()[chat.TaskSchedule].Run(b.ctx, chat.TaskRun{Payload: []byte(`{"schedule":"p00-x","version":1}`)})
	var later *chat.Postponed
	if !errors.As(err, &later) || later.Cause != nil || later.After <= 0 {
		t.Errorf("got %v, want it postponed without an attempt", err)
	}
}
