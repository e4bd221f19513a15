package rules_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/pins"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/internal/chattest"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

var errDied = errors.New("the node died")

// dying are logs whose node dies at the n-th deletion: before it, or late, right after it.
type dying struct {
	chat.Store
	n    int
	late bool
}

func (d *dying) Revise(ctx context.Context, a chat.Append, changes []chat.Change, asAdmin bool) (chat.Appended, error) {
	d.n--
	if d.n >= 0 {
		return d.Store.Revise(ctx, a, changes, asAdmin)
	}
	if d.late && d.n == -1 {
		if _, err := d.Store.Revise(ctx, a, changes, asAdmin); err != nil {
			return chat.Appended{}, err
		}
	}
	return chat.Appended{}, errDied
}

// bench is a core whose messages were sent whenever the test says. Nothing runs its tasks but the test.
type bench struct {
	*chattest.Bench
	sentAt   atomic.Int64 // ms
	serving  chat.Store
	archiver *archive.Archiver // nil without an archive
	rules    *rules.Service
}

func newBench(t *testing.T, archived bool) *bench {
	t.Helper()
	b := &bench{}
	b.ago(0)
	b.Bench = chattest.New(t, func(o *chat.Options) { o.Now = b.sentAt.Load })
	b.serving = b.Store
	if archived {
		db, err := sqlarchive.Open(b.Ctx, "sqlite:"+filepath.Join(t.TempDir(), "archive.db"))
		b.Must(err)
		t.Cleanup(func() { _ = db.Close() })
		b.archiver = archive.New(b.Store, db, archive.Options{})
		b.Must(b.archiver.Switch(b.Ctx))
		b.serving = archive.Serve(b.Store, db, b.archiver.CatchUp, chat.DefaultLimits())
		b.Service = chat.New(b.serving, b.Options())
	}
	b.rules = rules.New(b.Service, b.Store, b.serving, nil)
	return b
}

// ago makes what is sent from now on as old as that.
func (b *bench) ago(age time.Duration) { b.sentAt.Store(time.Now().Add(-age).UnixMilli()) }

// ban bans a user as somebody who manages the group, and returns the task that this leaves.
func (b *bench) ban(by chat.Caller, group, user string, hours int64) rules.PurgeTask {
	b.T.Helper()
	info, err := b.Info(b.Ctx, user, group)
	b.Must(err)
	_, _, err = b.rules.Ban(b.Ctx, by, group, user, rules.BanDraft{DeleteHours: &hours})
	b.Must(err)
	return rules.PurgeTask{Group: group, Epoch: info.Epoch, User: user, By: by.User, ID: info.Last,
		SinceMs: time.Now().UnixMilli() - hours*time.Hour.Milliseconds()}
}

// left are the bodies of texts in a group as a member is served them, "-" for each that is deleted.
func (b *bench) left(user, group string) (bodies []string, deletions int) {
	b.T.Helper()
	info, err := b.Info(b.Ctx, user, group)
	b.Must(err)
	for id := info.First; id <= info.Last; id++ {
		switch e := b.At(user, group, id); {
		case e.Kind == chat.Delete:
			deletions++
			if e.From != "ann" {
				b.T.Errorf("%s deleted %d", e.From, e.Target)
			}
		case e.Kind == chat.Text && e.DeletedAt != nil:
			if e.From != "troll" {
				b.T.Errorf("the author of %d is %q", id, e.From)
			}
			bodies = append(bodies, "-")
		case e.Kind == chat.Text:
			bodies = append(bodies, *e.Body)
		}
	}
	return bodies, deletions
}

func over(t *testing.T, test func(*testing.T, *bench)) {
	t.Run("store alone", func(t *testing.T) { test(t, newBench(t, false)) })
	t.Run("archive", func(t *testing.T) { test(t, newBench(t, true)) })
}

// fill writes what a ban of the last day is to tell apart, more than one page of it.
func (b *bench) fill() (want []string) {
	b.T.Helper()
	b.ago(3 * 24 * time.Hour)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(10))}, "ann", "troll", "bob")
	for _, age := range []time.Duration{3 * 24 * time.Hour, 25 * time.Hour, 23 * time.Hour, time.Minute} {
		b.ago(age)
		for i := range 40 {
			b.Say("troll", "g", fmt.Sprint("spam", age, i))
			b.Say("bob", "g", fmt.Sprint("good", age, i))
			if age < 24*time.Hour {
				want = append(want, "-", fmt.Sprint("good", age, i))
			} else {
				want = append(want, fmt.Sprint("spam", age, i), fmt.Sprint("good", age, i))
			}
		}
	}
	b.ago(0)
	edited := b.Say("troll", "g", "first words")
	_, err := b.Send(b.Ctx, chattest.As("troll"), "g", chat.Content{Kind: chat.Edit, Target: edited.ID, Body: new("worse words")}, "")
	b.Must(err)
	if b.archiver != nil {
		info, err := b.Info(b.Ctx, "ann", "g")
		b.Must(err)
		b.Must(b.archiver.CatchUp(b.Ctx, "g", info.Last))
		for _, user := range []string{"ann", "bob", "troll"} { // so that most of it is in the archive alone
			_, err := b.Ack(b.Ctx, chattest.As(user), "g", chat.At(info.Last))
			b.Must(err)
		}
	}
	return append(want, "-")
}

// TestBanDeletes: what a banned user sent in the last hours goes, with its edits, and nothing of others or older; also where who
// banned them is no member, and cannot be asked again.
func TestBanDeletes(t *testing.T) {
	over(t, func(t *testing.T, b *bench) {
		want := b.fill()
		task := b.ban(chattest.Operator("ann"), "g", "troll", 24)
		b.Must(b.Store.Know(b.Ctx, "ann"))
		_, _, err := b.PutMember(b.Ctx, chattest.As("ann"), "g", "bob", chat.Owner)
		b.Must(err)
		b.Must(b.RemoveMember(b.Ctx, chattest.As("ann"), "g", "ann"))
		chattest.Done(t, b.rules.Handlers()[rules.TaskPurge], task)
		got, deletions := b.left("bob", "g")
		if !slices.Equal(got, want) || deletions != 81 {
			t.Errorf("%d deletions leave %v, want 81 that leave %v", deletions, got, want)
		}
	})
}

// TestBanDeletesAfterACrash: a node dies at one deletion after the other, and the run after it goes on.
func TestBanDeletesAfterACrash(t *testing.T) {
	over(t, func(t *testing.T, b *bench) {
		want := b.fill()
		task := b.ban(chattest.As("ann"), "g", "troll", 24)
		for n := 0; ; n += 9 {
			logs := &dying{Store: b.serving, n: n, late: n%2 == 0}
			err := rules.New(b.Service, b.Store, logs, nil).Handlers()[rules.TaskPurge].Run(b.Ctx, chat.TaskRun{Payload: chat.Encode(task)})
			if err == nil {
				break
			}
			if !errors.Is(err, errDied) {
				t.Fatal(err)
			}
		}
		if got, deletions := b.left("bob", "g"); !slices.Equal(got, want) || deletions != 81 {
			t.Errorf("%d deletions leave %v, want 81 that leave %v", deletions, got, want)
		}
	})
}

// TestBanDeletesNothingElse: a group that was made anew under the same id, and a garbled task.
func TestBanDeletesNothingElse(t *testing.T) {
	b := newBench(t, false)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann", "troll")
	b.Say("troll", "g", "x")
	task := b.ban(chattest.As("ann"), "g", "troll", 1)
	b.Must(b.DeleteGroup(b.Ctx, chattest.As("ann"), "g", nil))
	chattest.Done(t, b.rules.Handlers()[rules.TaskPurge], task)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann", "troll")
	b.Say("troll", "g", "another life")
	chattest.Done(t, b.rules.Handlers()[rules.TaskPurge], task)
	if got, deletions := b.left("ann", "g"); !slices.Equal(got, []string{"another life"}) || deletions > 0 {
		t.Errorf("got %v, %d deletions", got, deletions)
	}
	chattest.RefuseGarbage(t, b.rules.Handlers())
}

// TestWhatIsOnlyPinnedIsDeleted: a message that the log has trimmed and that is pinned goes with the ban of its author, and where
// somebody who manages the group deletes it; an older one stays.
func TestWhatIsOnlyPinnedIsDeleted(t *testing.T) {
	b := newBench(t, false)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(0))}, "ann", "troll")
	pinned := pins.New(b.Service, b.Store, b.serving)
	for i, age := range []time.Duration{48 * time.Hour, time.Hour, time.Minute} {
		b.ago(age)
		m := b.Say("troll", "g", fmt.Sprint("spam", i))
		b.Must(pinned.Pin(b.Ctx, chattest.As("ann"), "g", m.ID))
	}
	b.ago(0)
	info, err := b.Info(b.Ctx, "ann", "g")
	b.Must(err)
	for _, user := range []string{"ann", "troll"} {
		_, err := b.Ack(b.Ctx, chattest.As(user), "g", chat.At(info.Last))
		b.Must(err)
	}
	left := func() (bodies []string) {
		t.Helper()
		list, err := pinned.List(b.Ctx, chattest.As("ann"), "g", 0, "")
		b.Must(err)
		for _, p := range list.Items {
			var e chat.Entry
			b.Must(json.Unmarshal(p.Message.JSON, &e))
			bodies = append(bodies, *cmp.Or(e.Body, new("-")))
		}
		return bodies
	}
	list, err := pinned.List(b.Ctx, chattest.As("ann"), "g", 0, "")
	b.Must(err)
	b.Must(b.rules.Delete(b.Ctx, chattest.Operator("root"), "g", list.Items[0].Message.ID))
	if got := left(); !slices.Equal(got, []string{"-", "spam1", "spam0"}) {
		t.Errorf("after a deletion: got %q", got)
	}
	chattest.Done(t, b.rules.Handlers()[rules.TaskPurge], b.ban(chattest.As("ann"), "g", "troll", 24))
	if got := left(); !slices.Equal(got, []string{"-", "-", "spam0"}) {
		t.Errorf("after the ban: got %q", got)
	}
}
