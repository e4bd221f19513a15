package announce_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/internal/chattest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a service for announcements on a core.
type bench struct {
	*chattest.Bench
	*announce.Service
}

func newBench(t *testing.T, change ...func(*chat.Options)) *bench {
	t.Helper()
	b := chattest.New(t, change...)
	return &bench{b, announce.New(b.Service, b.Store)}
}

// run runs a task until it is done or has to wait.
func (b *bench) run(kind string, payload any) (waits time.Duration) {
	b.T.Helper()
	return chattest.Do(b.T, b.Handlers()[kind], payload)
}

// announced runs the tasks of a run.
func (b *bench) announced(id string, run int64) announce.Announcement {
	b.T.Helper()
	handlers := b.Handlers()
	chattest.Done(b.T, handlers[announce.TaskRun], announce.RunTask{Announcement: id, Run: run})
	chattest.Done(b.T, handlers[announce.TaskPart], announce.Part{Announcement: id, Run: run})
	return b.announcement(id)
}

func (b *bench) announcement(id string) announce.Announcement {
	b.T.Helper()
	a, err := b.Get(b.Ctx, chattest.Operator("op"), id)
	b.Must(err)
	return a
}

func (b *bench) announce(d announce.Draft) announce.Announcement {
	b.T.Helper()
	a, err := b.Create(b.Ctx, chattest.Operator("op"), d)
	b.Must(err)
	return a
}

// heardOf returns the announcements in an inbox.
func (b *bench) heardOf(user string) []string {
	b.T.Helper()
	var out []string
	for _, it := range b.Items(user) {
		if it.Kind == chat.ItemAnnouncement {
			out = append(out, it.From+": "+*it.Body)
		}
	}
	return out
}

func countsOf(a announce.Announcement) string {
	return fmt.Sprintf("%s %d %d %d", a.State, a.Total, a.Delivered, a.Failed)
}

func everyone(body string) announce.Draft {
	return announce.Draft{To: announce.Target{All: true}, Content: chat.Content{Body: &body}}
}

func named(body string, groups, users []string) announce.Draft {
	return announce.Draft{To: announce.Target{Groups: groups, Users: users}, Content: chat.Content{Body: &body}}
}

func TestAnnounceToEveryone(t *testing.T) {
	b := newBench(t)
	var users []string
	for i := range 450 {
		users = append(users, fmt.Sprintf("u%d", i))
	}
	b.MakeGroup(chat.GroupDraft{ID: "g"}, users[0], users[1:400]...)
	for _, user := range users[400:] {
		b.Know(user)
	}
	a := b.announce(everyone("hear"))
	if got := countsOf(a); got != "pending 0 0 0" || a.From != "op" || a.Priority != chat.PriorityLow || a.NextAt == nil || !a.To.All {
		t.Errorf("got %+v", a)
	}
	if got := countsOf(b.announced(a.ID, 1)); got != "done 450 450 0" {
		t.Errorf("got %s", got)
	}
	for _, user := range users {
		if got := b.heardOf(user); !slices.Equal(got, []string{"op: hear"}) {
			t.Fatalf("%s: got %q", user, got)
		}
	}
}

func TestAnnounceToGroupsAndUsers(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g", Post: chat.PostAdmins, Visibility: chat.Private}, "alice", "bob")
	d := named("hear", []string{"g", "none", "g"}, []string{"cid", "bob", "cid"})
	d.Content.Data = json.RawMessage(` {"a": 1}`)
	a := b.announce(d)
	if got := countsOf(a); got != "pending 4 0 0" {
		t.Errorf("got %s, want each target once", got)
	}
	if got := countsOf(b.announced(a.ID, 1)); got != "done 4 3 1" {
		t.Errorf("got %s", got)
	}
	for _, user := range []string{"bob", "cid"} {
		if got := b.heardOf(user); !slices.Equal(got, []string{"op: hear"}) {
			t.Errorf("%s: got %q", user, got)
		}
	}
	if e := b.At("bob", "g", 3); e.From != "op" || e.Kind != chat.Text || *e.Body != "hear" || string(e.Data) != `{"a":1}` {
		t.Errorf("got %+v", e)
	}
	if _, err := b.Send(b.Ctx, chattest.Operator("op"), "g", chat.Content{Body: new("x")}, ""); chat.CodeOf(err) != chat.CodeNotFound && chat.CodeOf(err) != chat.CodeForbidden {
		t.Errorf("the operator became a member: %v", err)
	}
	d = named("", []string{"g"}, nil)
	d.Content.Body, d.Content.Data = nil, json.RawMessage("7")
	b.announced(b.announce(d).ID, 1)
	if e := b.At("bob", "g", 4); e.Kind != chat.Data || string(e.Data) != "7" {
		t.Errorf("got %+v", e)
	}
}

func TestAnnounceKeys(t *testing.T) {
	b := newBench(t)
	d := named("hear", nil, []string{"bob"})
	d.Key = "k"
	first, again := b.announce(d), b.announce(d)
	if first.ID != again.ID {
		t.Errorf("one key made %s and %s", first.ID, again.ID)
	}
	b.announced(first.ID, 1)
	if again = b.announce(d); again.ID != first.ID || again.State != announce.Done {
		t.Errorf("got %+v", again)
	}
	other, err := b.Create(b.Ctx, chattest.Operator("op2"), d)
	b.Must(err)
	if other.ID == first.ID {
		t.Error("two operators share a key")
	}
	d.Key = ""
	if one, two := b.announce(d), b.announce(d); one.ID == two.ID {
		t.Error("without a key two requests made one announcement")
	}
}

func TestAnnounceLater(t *testing.T) {
	b := newBench(t)
	now, err := b.Store.Clock(b.Ctx)
	b.Must(err)
	d := named("hear", nil, []string{"bob"})
	at := time.UnixMilli(now).Add(time.Hour)
	d.At = &at
	a := b.announce(d)
	if a.NextAt == nil || !a.NextAt.Equal(at) || !a.At.Equal(at) {
		t.Errorf("got %+v, want it at %v", a, at)
	}
	if waits := b.run(announce.TaskRun, announce.RunTask{Announcement: a.ID, Run: 1}); waits < 59*time.Minute || waits > time.Hour {
		t.Errorf("an hour before its time it waits for %v", waits)
	}
	past := at.Add(-2 * time.Hour)
	d.At = &past
	if got := countsOf(b.announced(b.announce(d).ID, 1)); got != "done 1 1 0" {
		t.Errorf("got %s", got)
	}
	far := time.UnixMilli(now).Add(367 * 24 * time.Hour)
	d.At = &far
	_, err = b.Create(b.Ctx, chattest.Operator("op"), d)
	b.Refused("more than a year ahead", err, chat.CodeOutOfRange)
}

func TestAnnounceAgainAndAgain(t *testing.T) {
	b := newBench(t)
	now, err := b.Store.Clock(b.Ctx)
	b.Must(err)
	d := named("hear", nil, []string{"bob"})
	d.Cron, d.Timezone = "0 9 * * *", "Europe/Berlin"
	a := b.announce(d)
	ahead := a.NextAt.Sub(time.UnixMilli(now))
	if ahead <= 0 || ahead > 25*time.Hour || a.NextAt.Minute() != 0 {
		t.Errorf("the first run is at %v", a.NextAt)
	}
	if b.run(announce.TaskRun, announce.RunTask{Announcement: a.ID, Run: 1}) == 0 {
		t.Error("it does not wait for its time")
	}
	d.Cron, d.Timezone = "* * * * * *", ""
	a = b.announce(d)
	for run := int64(1); run <= 3; run++ {
		task := announce.RunTask{Announcement: a.ID, Run: run}
		for waits := b.run(announce.TaskRun, task); waits > 0; waits = b.run(announce.TaskRun, task) {
			<-time.After(waits)
		}
		got := b.announced(a.ID, run)
		if countsOf(got) != "pending 1 1 0" || !got.NextAt.After(a.NextAt.Time) {
			t.Errorf("after run %d: got %+v", run, got)
		}
		a = got
	}
	if got := b.heardOf("bob"); len(got) != 3 {
		t.Errorf("after three runs: got %q", got)
	}
	b.Must(b.Cancel(b.Ctx, chattest.Operator("op"), a.ID))
	b.run(announce.TaskRun, announce.RunTask{Announcement: a.ID, Run: 4})
	if got := b.announcement(a.ID); countsOf(got) != "cancelled 1 1 0" || got.NextAt != nil {
		t.Errorf("got %+v", got)
	}
}

func TestCancelAnnouncement(t *testing.T) {
	b := newBench(t)
	for i := range 300 {
		b.Know(fmt.Sprintf("u%d", i))
	}
	a := b.announce(everyone("hear"))
	b.run(announce.TaskRun, announce.RunTask{Announcement: a.ID, Run: 1})
	page := chat.TaskRun{Payload: []byte(`{"announcement":"` + a.ID + `","run":1,"partition":0}`)}
	var later *chat.Postponed
	if err := b.Handlers()[announce.TaskPart].Run(b.Ctx, page); !errors.As(err, &later) {
		t.Fatalf("after the first page of two: got %v", err)
	}
	if got := countsOf(b.announcement(a.ID)); got != "running 300 200 0" {
		t.Errorf("got %s", got)
	}
	for range 2 {
		b.Must(b.Cancel(b.Ctx, chattest.Operator("op"), a.ID))
	}
	b.run(announce.TaskPart, announce.Part{Announcement: a.ID, Run: 1})
	if got := countsOf(b.announcement(a.ID)); got != "cancelled 300 200 0" {
		t.Errorf("got %s", got)
	}
	done := b.announce(named("hear", nil, []string{"bob"}))
	b.announced(done.ID, 1)
	b.Refused("all is done", b.Cancel(b.Ctx, chattest.Operator("op"), done.ID), chat.CodeConflict)
	b.Refused("none", b.Cancel(b.Ctx, chattest.Operator("op"), "a-none"), chat.CodeNotFound)
}

// TestAnnouncementWaitsForTheStore: while the store cannot be reached, no run counts as failed, so that an outage turns
// no part into a dead letter.
func TestAnnouncementWaitsForTheStore(t *testing.T) {
	b := newBench(t)
	a := b.announce(named("hear", nil, []string{"bob"}))
	b.Must(b.Store.Close())
	for kind, payload := range map[string]string{
		announce.TaskRun:  `{"announcement":"` + a.ID + `","run":1}`,
		announce.TaskPart: `{"announcement":"` + a.ID + `","run":1,"partition":0}`,
	} {
		err := b.Handlers()[kind].Run(b.Ctx, chat.TaskRun{Payload: []byte(payload)})
		var later *chat.Postponed
		if !errors.As(err, &later) || later.Cause != nil || later.After <= 0 {
			t.Errorf("%s: got %v, want it postponed without an attempt", kind, err)
		}
	}
}

func TestListAnnouncements(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Limits.AnnouncementsMax, o.Limits.PageBytesMax = 30, 4000 })
	var want []string
	for i := range 30 {
		want = append([]string{b.announce(named(fmt.Sprint(i), nil, []string{"bob"})).ID}, want...)
	}
	list := func(limit int) (got []string, pages int) {
		for cursor := ""; ; {
			page, err := b.List(b.Ctx, chattest.Operator("op"), limit, cursor)
			b.Must(err)
			for _, a := range page.Items {
				got = append(got, a.ID)
			}
			if pages++; page.Next == "" {
				return got, pages
			}
			cursor = page.Next
		}
	}
	for limit, most := range map[int]int{1: 30, 7: 5, 30: 1, 29: 2, 1000: 1} {
		if got, pages := list(limit); !slices.Equal(got, want) || pages != most {
			t.Errorf("%d at a time: got %d in %d pages, want all 30 in %d", limit, len(got), pages, most)
		}
	}
	b.announced(want[29], 1)
	// There is no room left but that of the one that has ended.
	large := b.announce(named(strings.Repeat("x", 3900), nil, []string{"bob"}))
	if _, err := b.Get(b.Ctx, chattest.Operator("op"), want[29]); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("the oldest that ended: got %v", err)
	}
	_, err := b.Create(b.Ctx, chattest.Operator("op"), everyone("x"))
	b.Refused("one too many", err, chat.CodeOutOfRange)
	if got, pages := list(1000); len(got) != 30 || pages < 2 || got[0] != large.ID {
		t.Errorf("got %d in %d pages, want pages of bounded size", len(got), pages)
	}
	for _, cursor := range []string{"x", "-1", "0", "1.5"} {
		_, err := b.List(b.Ctx, chattest.Operator("op"), 0, cursor)
		b.Refused("cursor "+cursor, err, chat.CodeInvalid)
	}
}

func TestAnnouncementsAreForOperators(t *testing.T) {
	b := newBench(t)
	a := b.announce(everyone("hear"))
	for _, by := range []chat.Caller{chattest.As("alice"), {User: "no user", Admin: true}} {
		want := chat.CodeForbidden
		if by.Admin {
			want = chat.CodeInvalid
		}
		_, err := b.Create(b.Ctx, by, everyone("x"))
		b.Refused("announce", err, want)
		_, err = b.List(b.Ctx, by, 0, "")
		b.Refused("list", err, want)
		_, err = b.Get(b.Ctx, by, a.ID)
		b.Refused("get", err, want)
		b.Refused("cancel", b.Cancel(b.Ctx, by, a.ID), want)
	}
	_, err := b.Get(b.Ctx, chattest.Operator("op"), "a b")
	b.Refused("no id", err, chat.CodeInvalid)
	b.Refused("no id", b.Cancel(b.Ctx, chattest.Operator("op"), ""), chat.CodeInvalid)
}

func TestAnnounceRefuses(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Limits.AnnouncementUsersMax, o.Limits.AnnouncementGroupsMax = 3, 2 })
	now := time.Now()
	many := []string{"a", "b", "c", "d"}
	for what, c := range map[string]struct {
		change func(*announce.Draft)
		want   chat.Code
	}{
		"nobody":           {func(d *announce.Draft) { d.To = announce.Target{} }, chat.CodeInvalid},
		"everyone and one": {func(d *announce.Draft) { d.To.Users = []string{"a"} }, chat.CodeInvalid},
		"no id":            {func(d *announce.Draft) { d.To = announce.Target{Users: []string{"a b"}} }, chat.CodeInvalid},
		"no id of a group": {func(d *announce.Draft) { d.To = announce.Target{Groups: []string{"g~h"}} }, chat.CodeInvalid},
		"many users":       {func(d *announce.Draft) { d.To = announce.Target{Users: many} }, chat.CodeOutOfRange},
		"many groups":      {func(d *announce.Draft) { d.To = announce.Target{Groups: many[1:]} }, chat.CodeOutOfRange},
		"no content":       {func(d *announce.Draft) { d.Content.Body = nil }, chat.CodeInvalid},
		"an empty body":    {func(d *announce.Draft) { d.Content.Body, d.Content.Data = new(""), json.RawMessage("1") }, chat.CodeInvalid},
		"a large body":     {func(d *announce.Draft) { d.Content.Body = new(strings.Repeat("x", 16<<10+1)) }, chat.CodeTooLarge},
		"no data":          {func(d *announce.Draft) { d.Content.Data = json.RawMessage("{") }, chat.CodeInvalid},
		"a priority":       {func(d *announce.Draft) { d.Priority = "critical" }, chat.CodeInvalid},
		"at and cron":      {func(d *announce.Draft) { d.At, d.Cron = &now, "@daily" }, chat.CodeInvalid},
		"a zone alone":     {func(d *announce.Draft) { d.Timezone = "UTC" }, chat.CodeInvalid},
		"no zone":          {func(d *announce.Draft) { d.Cron, d.Timezone = "@daily", "Mars/Base" }, chat.CodeInvalid},
		"no cron":          {func(d *announce.Draft) { d.Cron = "61 * * * *" }, chat.CodeInvalid},
		"a key":            {func(d *announce.Draft) { d.Key = "ä" }, chat.CodeInvalid},
	} {
		d := everyone("hear")
		c.change(&d)
		_, err := b.Create(b.Ctx, chattest.Operator("op"), d)
		b.Refused(what, err, c.want)
	}
	if list, err := b.List(b.Ctx, chattest.Operator("op"), 0, ""); err != nil || len(list.Items) > 0 {
		t.Errorf("something was announced: %+v, %v", list, err)
	}
}

func TestTasksRefuseGarbage(t *testing.T) {
	chattest.RefuseGarbage(t, newBench(t).Handlers())
}
