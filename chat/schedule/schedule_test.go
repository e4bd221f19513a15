package schedule_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a service for schedules on a core.
type bench struct {
	*chattest.Bench
	*schedule.Service
}

func newBench(t *testing.T, change ...func(*chat.Options)) *bench {
	t.Helper()
	b := chattest.New(t, change...)
	return &bench{b, schedule.New(b.Service, b.Store, webhook.New(b.Service, b.Store, nil))}
}

// work runs all tasks until the test ends.
func (b *bench) work() {
	b.T.Helper()
	chattest.Work(b.T, b.Store, b.Bench.Service, b.Service)
}

// task runs a task of schedules to its end, twice.
func (b *bench) task(kind string, payload any) {
	b.T.Helper()
	chattest.Done(b.T, b.Handlers()[kind], payload)
}

func (b *bench) later(user, group string, d chat.Content, in time.Duration) schedule.Schedule {
	b.T.Helper()
	v, _, err := b.SendLater(b.Ctx, chattest.As(user), group, d, b.clock().Add(in))
	b.Must(err)
	return v
}

// clock returns the clock of the store. The service's own clock is weeks behind: it decides nothing.
func (b *bench) clock() time.Time {
	b.T.Helper()
	ms, err := b.Store.Clock(b.Ctx)
	b.Must(err)
	return time.UnixMilli(ms)
}

func (b *bench) schedule(user, id string) schedule.Schedule {
	b.T.Helper()
	v, err := b.Get(b.Ctx, chattest.As(user), id)
	b.Must(err)
	return v
}

// until waits until a schedule is in a state.
func (b *bench) until(user, id string, want schedule.State) schedule.Schedule {
	b.T.Helper()
	var v schedule.Schedule
	harness.Eventually(b.T, 20*time.Second, fmt.Sprintf("the schedule is %s", want), func() error {
		if v = b.schedule(user, id); v.State != want {
			return fmt.Errorf("it is %s", v.State)
		}
		return nil
	})
	return v
}

func TestScheduledMessage(t *testing.T) {
	b := newBench(t)
	b.work()
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	m := b.Say("alice", "g", "x")
	draft := chat.Content{Body: new("later"), ClientID: "c", ReplyTo: m.ID, Mentions: []string{"bob"}, Data: json.RawMessage(`{"a": 1}`)}
	at := b.clock().Add(300*time.Millisecond + 100) // not a whole millisecond: it is rounded up
	v, duplicate, err := b.SendLater(b.Ctx, chattest.As("alice"), "g", draft, at)
	b.Must(err)
	if duplicate || v.State != schedule.Pending || v.NextAt == nil || v.NextAt.Before(at) || v.LastID != nil || v.At == nil || v.Owner != "alice" {
		t.Errorf("got %+v, duplicate %v", v, duplicate)
	}
	again, duplicate, err := b.SendLater(b.Ctx, chattest.As("alice"), "g", draft, at)
	if b.Must(err); !duplicate || again.ID != v.ID {
		t.Errorf("again: got %+v, duplicate %v", again, duplicate)
	}
	other := draft
	other.Body = new("other")
	_, _, err = b.SendLater(b.Ctx, chattest.As("alice"), "g", other, at)
	b.Refused("other content", err, chat.CodeKeyReused)
	_, _, err = b.SendLater(b.Ctx, chattest.As("alice"), "g", draft, at.Add(time.Second))
	b.Refused("another time", err, chat.CodeKeyReused)

	v = b.until("alice", v.ID, schedule.Done)
	if v.Sent != 1 || *v.LastID != m.ID+1 || v.NextAt != nil || v.LastError != nil {
		t.Errorf("got %+v", v)
	}
	e := b.At("bob", "g", *v.LastID)
	if e.From != "alice" || *e.Body != "later" || e.ClientID != "c" || e.ReplyTo != m.ID || string(e.Data) != `{"a":1}` || e.SentAt.Before(at) {
		t.Errorf("got %+v, want what was planned, not before %v", e, at)
	}
	// The schedule uses the message's retry key: a send with the same key returns that message and stores nothing new.
	sent, err := b.Send(b.Ctx, chattest.As("alice"), "g", draft, "")
	if b.Must(err); !sent.Duplicate || sent.ID != e.ID {
		t.Errorf("a send with the same key: got %+v", sent)
	}
	direct, _, err := b.SendDirectLater(b.Ctx, chattest.As("alice"), "bob", chat.Direct{Body: new("psst")}, b.clock().Add(-time.Hour))
	b.Must(err)
	if direct = b.until("alice", direct.ID, schedule.Done); *direct.LastID == 0 {
		t.Errorf("got %+v", direct)
	}
	harness.Eventually(t, 10*time.Second, "bob has the mention and the direct message", func() error {
		if got := fmt.Sprint(b.ItemLines("bob")); !strings.Contains(got, "mention alice g") || !strings.Contains(got, "direct alice") {
			return errors.New(got)
		}
		return nil
	})
}

func TestScheduleDraftsAreChecked(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Direct = chat.DirectShared })
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	b.MakeGroup(chat.GroupDraft{ID: "news", Visibility: chat.Public, Post: chat.PostAdmins}, "alice", "bob")
	now := b.clock()
	body, soon := new("x"), new(now.Add(time.Hour))
	tests := []struct {
		name, user string
		draft      schedule.Draft
		want       chat.Code
	}{
		{"once", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: soon}, ""},
		{"again and again", "bob", schedule.Draft{User: "alice", Content: chat.Content{Body: body}, Cron: "0 9 * * *", Timezone: "Europe/Berlin", Misfire: schedule.MisfireSkip, Count: new(int64(3))}, ""},
		{"data alone", "bob", schedule.Draft{Group: "g", Content: chat.Content{Data: json.RawMessage(`{}`)}, At: soon}, ""},
		{"nobody", "bob", schedule.Draft{Content: chat.Content{Body: body}, At: soon}, chat.CodeInvalid},
		{"both", "bob", schedule.Draft{Group: "g", User: "alice", Content: chat.Content{Body: body}, At: soon}, chat.CodeInvalid},
		{"never", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}}, chat.CodeInvalid},
		{"at and cron", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: soon, Cron: "@daily"}, chat.CodeInvalid},
		{"nothing", "bob", schedule.Draft{Group: "g", At: soon}, chat.CodeInvalid},
		{"data to a user", "bob", schedule.Draft{User: "alice", Content: chat.Content{Data: json.RawMessage(`{}`)}, At: soon}, chat.CodeInvalid},
		{"a long body", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: new(strings.Repeat("x", 16<<10+1))}, At: soon}, chat.CodeTooLarge},
		{"a bad group", "bob", schedule.Draft{Group: "a~b", Content: chat.Content{Body: body}, At: soon}, chat.CodeInvalid},
		{"a bad user", "bob", schedule.Draft{User: "{}", Content: chat.Content{Body: body}, At: soon}, chat.CodeInvalid},
		{"no such group", "bob", schedule.Draft{Group: "h", Content: chat.Content{Body: body}, At: soon}, chat.CodeNotFound},
		{"a private group of others", "cid", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: soon}, chat.CodeNotFound},
		{"a public group of others", "cid", schedule.Draft{Group: "news", Content: chat.Content{Body: body}, At: soon}, chat.CodeForbidden},
		{"only admins post", "bob", schedule.Draft{Group: "news", Content: chat.Content{Body: body}, At: soon}, chat.CodeForbidden},
		{"a stranger", "cid", schedule.Draft{User: "alice", Content: chat.Content{Body: body}, At: soon}, chat.CodeForbidden},
		{"366 days ahead", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: new(now.Add(366 * 24 * time.Hour))}, ""},
		{"more", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: new(now.Add(366*24*time.Hour + time.Minute))}, chat.CodeOutOfRange},
		{"the end of time", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: new(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))}, chat.CodeOutOfRange},
		{"the beginning", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: new(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))}, ""},
		{"no cron", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, Cron: "every day"}, chat.CodeInvalid},
		{"no such day", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, Cron: "0 0 30 2 *"}, chat.CodeInvalid},
		{"no such zone", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, Cron: "@daily", Timezone: "Mars"}, chat.CodeInvalid},
		{"a zone for once", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: soon, Timezone: "UTC"}, chat.CodeInvalid},
		{"a count for once", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: soon, Count: new(int64(1))}, chat.CodeInvalid},
		{"until for once", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: soon, Until: soon}, chat.CodeInvalid},
		{"a bad misfire", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, At: soon, Misfire: "maybe"}, chat.CodeInvalid},
		{"no count", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, Cron: "@daily", Count: new(int64(0))}, chat.CodeInvalid},
		{"until before the first", "bob", schedule.Draft{Group: "g", Content: chat.Content{Body: body}, Cron: "@yearly", Until: new(now.Add(time.Minute))}, chat.CodeOutOfRange},
	}
	for _, test := range tests {
		_, err := b.Create(b.Ctx, chattest.As(test.user), test.draft)
		b.Refused(test.name, err, test.want)
	}
	for _, kind := range []chat.Kind{chat.Edit, chat.Delete, chat.Reaction, chat.Notice} {
		_, _, err := b.SendLater(b.Ctx, chattest.As("bob"), "g", chat.Content{Kind: kind, Target: 1, Body: body, Emoji: "x"}, *soon)
		b.Refused(string(kind), err, chat.CodeInvalid)
	}
	_, _, err := b.SendLater(b.Ctx, chattest.As("bob"), "g", chat.Content{Body: body, ReplyTo: 99}, *soon)
	b.Refused("a reply to nothing", err, chat.CodeOutOfRange)
}

func TestScheduleChanges(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	change := func(id string, c schedule.Change) schedule.Schedule {
		t.Helper()
		v, err := b.Change(b.Ctx, chattest.As("alice"), id, c)
		b.Must(err)
		return v
	}
	once := b.later("alice", "g", chat.Content{Body: new("x"), Mentions: []string{"bob"}}, time.Hour).ID
	at := b.clock().Add(2 * time.Hour).Truncate(time.Millisecond)
	v := change(once, schedule.Change{At: &at, Content: chat.Content{Body: new("y")}})
	if *v.Body != "y" || !v.NextAt.Equal(at) || !v.At.Equal(at) || len(v.Mentions) != 1 {
		t.Errorf("moved: got %+v", v)
	}
	if v = change(once, schedule.Change{Paused: new(true)}); v.State != schedule.Paused || v.NextAt != nil {
		t.Errorf("paused: got %+v", v)
	}
	if v = change(once, schedule.Change{Paused: new(false)}); v.State != schedule.Pending || !v.NextAt.Equal(at) {
		t.Errorf("goes on: got %+v", v)
	}
	v, err := b.Create(b.Ctx, chattest.As("alice"), schedule.Draft{User: "bob", Content: chat.Content{Body: new("x")}, Cron: "0 0 9 * * *", Timezone: "Asia/Tokyo"})
	b.Must(err)
	if !v.NextAt.Equal(nextAt(b.clock(), 0)) {
		t.Errorf("nine in Tokyo: got %v", v.NextAt)
	}
	again := v.ID
	if v = change(again, schedule.Change{Timezone: new("UTC")}); !v.NextAt.Equal(nextAt(b.clock(), 9)) {
		t.Errorf("nine in UTC: got %v", v.NextAt)
	}
	if v = change(again, schedule.Change{Content: chat.Content{Data: json.RawMessage(`[1]`)}, Misfire: new(schedule.MisfireSkip)}); !v.NextAt.Equal(nextAt(b.clock(), 9)) || string(v.Data) != `[1]` {
		t.Errorf("with data: got %+v", v)
	}
	if v = change(again, schedule.Change{Content: chat.Content{Data: json.RawMessage(`null`)}}); v.Data != nil {
		t.Errorf("without data: got %+v", v)
	}
	for _, test := range []struct {
		name, id string
		change   schedule.Change
		want     chat.Code
	}{
		{"at of what recurs", again, schedule.Change{At: &at}, chat.CodeInvalid},
		{"cron of what fires once", once, schedule.Change{Cron: new("@daily")}, chat.CodeInvalid},
		{"zone of what fires once", once, schedule.Change{Timezone: new("UTC")}, chat.CodeInvalid},
		{"a year and more ahead", once, schedule.Change{At: new(at.AddDate(1, 0, 2))}, chat.CodeOutOfRange},
		{"no body", once, schedule.Change{Content: chat.Content{Body: new("")}}, chat.CodeInvalid},
		{"no zone", again, schedule.Change{Timezone: new("Mars")}, chat.CodeInvalid},
		{"until before the next", again, schedule.Change{Until: new(b.clock())}, chat.CodeOutOfRange},
		{"another's", once, schedule.Change{}, chat.CodeNotFound},
		{"none", "p00-none", schedule.Change{}, chat.CodeNotFound},
		{"no id", "a~b", schedule.Change{}, chat.CodeInvalid},
	} {
		by := chattest.As("alice")
		if test.name == "another's" {
			by = chattest.As("bob")
		}
		_, err := b.Change(b.Ctx, by, test.id, test.change)
		b.Refused(test.name, err, test.want)
	}
	for range 2 {
		v, err = b.SendNow(b.Ctx, chattest.As("alice"), again, "k") // the second time as after a lost answer
		b.Must(err)
	}
	if v.Sent != 1 || v.State != schedule.Pending || !v.NextAt.Equal(nextAt(b.clock(), 9)) {
		t.Errorf("sent now, the plan stays: got %+v", v)
	}
	for range 2 {
		v, err = b.SendNow(b.Ctx, chattest.As("alice"), once, "k")
		b.Must(err)
	}
	if v.Sent != 1 || v.State != schedule.Done || *b.At("bob", "g", *v.LastID).Body != "y" {
		t.Errorf("sent now: got %+v", v)
	}
	for _, key := range []string{"", "other"} {
		_, err = b.SendNow(b.Ctx, chattest.As("alice"), once, key)
		b.Refused("sent already", err, chat.CodeConflict)
	}
	_, err = b.Change(b.Ctx, chattest.As("alice"), once, schedule.Change{At: &at})
	b.Refused("moved too late", err, chat.CodeConflict)
	b.Refused("cancelled too late", b.Cancel(b.Ctx, chattest.As("alice"), once), chat.CodeConflict)
	b.Refused("cancelled by another", b.Cancel(b.Ctx, chattest.As("bob"), again), chat.CodeNotFound)
	b.Must(b.Cancel(b.Ctx, chattest.Operator("root"), again))
	b.Must(b.Cancel(b.Ctx, chattest.As("alice"), again))
	_, err = b.SendNow(b.Ctx, chattest.As("alice"), again, "")
	b.Refused("cancelled, then sent", err, chat.CodeConflict)
	list, err := b.List(b.Ctx, chattest.As("alice"), 0, "")
	if b.Must(err); len(list.Items) != 2 {
		t.Errorf("got %d schedules, want the two that ended", len(list.Items))
	}
}

// TestScheduleChangeKeepsWhatIsDue: an occurrence that is due but has not been fired yet survives every change except
// one of its times.
func TestScheduleChangeKeepsWhatIsDue(t *testing.T) {
	b := newBench(t)
	// Whatever the time of day, nothing else is due before an until in an hour.
	inHalfAYear := fmt.Sprintf("0 9 1 %d *", (b.clock().Month()+5)%12+1)
	v, err := b.Create(b.Ctx, chattest.As("alice"), schedule.Draft{User: "bob", Content: chat.Content{Body: new("x")}, Cron: inHalfAYear, Timezone: "Asia/Tokyo"})
	b.Must(err)
	due := b.overdue(v.ID, 2*time.Second).NextMs
	for _, c := range []schedule.Change{
		{Until: new(b.clock().Add(time.Hour))},
		{Cron: &inHalfAYear, Timezone: new("Asia/Tokyo"), Misfire: new(schedule.MisfireSkip), Count: new(int64(2)), Content: chat.Content{Body: new("y")}},
	} {
		v, err = b.Change(b.Ctx, chattest.As("alice"), v.ID, c)
		if b.Must(err); v.NextAt.UnixMilli() != due {
			t.Errorf("got %v for the next, want the one at %v", v.NextAt, chat.TimeMs(due))
		}
	}
	_, err = b.Change(b.Ctx, chattest.As("alice"), v.ID, schedule.Change{Until: new(time.UnixMilli(due - 1))})
	b.Refused("until before what is due", err, chat.CodeOutOfRange)
	r, _, err := b.Store.Schedule(b.Ctx, v.ID)
	b.Must(err)
	b.fire(r)
	if v = b.schedule("alice", v.ID); v.Sent != 1 || v.State != schedule.Done {
		t.Errorf("got %+v, want it sent, and nothing more before until", v)
	}
	v, err = b.Create(b.Ctx, chattest.As("alice"), schedule.Draft{User: "bob", Content: chat.Content{Body: new("x")}, Cron: "@yearly"})
	b.Must(err)
	_, err = b.Change(b.Ctx, chattest.As("alice"), v.ID, schedule.Change{Paused: new(true)})
	b.Must(err)
	_, err = b.Change(b.Ctx, chattest.As("alice"), v.ID, schedule.Change{Until: new(b.clock().Add(time.Minute))})
	b.Refused("until before the next of a paused one", err, chat.CodeOutOfRange)
	b.Must(b.Cancel(b.Ctx, chattest.As("alice"), v.ID))
}

// nextAt returns the next time that a clock in UTC shows an hour.
func nextAt(after time.Time, hour int) time.Time {
	day := after.UTC().Truncate(24 * time.Hour)
	for at := day.Add(time.Duration(hour) * time.Hour); ; at = at.AddDate(0, 0, 1) {
		if at.After(after) {
			return at
		}
	}
}

func TestScheduleIsForgotten(t *testing.T) {
	b := newBench(t)
	v, _, err := b.SendDirectLater(b.Ctx, chattest.As("alice"), "bob", chat.Direct{Body: new("x")}, b.clock().Add(time.Hour))
	b.Must(err)
	b.task(schedule.TaskForget, schedule.FireTask{Schedule: v.ID})
	b.schedule("alice", v.ID)
	b.Must(b.Cancel(b.Ctx, chattest.As("alice"), v.ID))
	b.task(schedule.TaskForget, schedule.FireTask{Schedule: v.ID})
	_, err = b.Get(b.Ctx, chattest.As("alice"), v.ID)
	b.Refused("forgotten", err, chat.CodeNotFound)
}

func TestTasksRefuseGarbage(t *testing.T) {
	chattest.RefuseGarbage(t, newBench(t).Handlers())
}
