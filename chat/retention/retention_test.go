package retention_test

import (
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
	"github.com/chatd/chatd/chat/retention"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

const day = 24 * time.Hour

// bench is a core whose messages were sent whenever the test says. Nothing runs its tasks but the test.
type bench struct {
	*chattest.Bench
	sentAt   *atomic.Int64 // ms
	serving  chat.Store
	archiver *archive.Archiver // nil without an archive
	db       archive.Store
}

// newBench makes a bench. With an archive, that is a file of SQLite.
func newBench(t *testing.T, archived bool) *bench {
	t.Helper()
	b := &bench{sentAt: new(atomic.Int64)}
	now := func(o *chat.Options) { o.Now = b.sentAt.Load }
	b.ago(0)
	b.Bench = chattest.New(t, now)
	b.serving = b.Store
	if archived {
		db, err := sqlarchive.Open(b.Ctx, "sqlite:"+filepath.Join(t.TempDir(), "archive.db"))
		b.Must(err)
		t.Cleanup(func() { _ = db.Close() })
		b.db = db
		b.archiver = archive.New(b.Store, db, archive.Options{})
		b.Must(b.archiver.Switch(b.Ctx))
		b.serving = archive.Serve(b.Store, db, b.archiver.CatchUp, chat.DefaultLimits())
		b.Service = chat.New(b.serving, b.Options())
	}
	return b
}

// ago makes what is sent from now on as old as that.
func (b *bench) ago(age time.Duration) { b.sentAt.Store(time.Now().Add(-age).UnixMilli()) }

// ranging is the store with the ranges of the archive.
type ranging struct {
	*store.Store
	serving chat.Store
}

func (r ranging) Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]chat.Message, chat.LogEnd, error) {
	return r.serving.Range(ctx, group, from, limit, bytesMax)
}

// retention makes the retention of a node.
func (b *bench) retention(days int64) *retention.Service {
	if b.archiver == nil {
		return retention.New(b.Store, nil, retention.Options{Days: days})
	}
	return retention.New(ranging{b.Store, b.serving}, b.archiver, retention.Options{Days: days})
}

// retains are the tasks of retention that wait, each with how long it does.
func (b *bench) retains() map[retention.Task]time.Duration {
	b.T.Helper()
	c, err := queue.NewClient(queue.Options{Client: b.Store.Client(), Prefix: b.Store.Prefix(), Partitions: b.Store.Partitions(), Queue: chat.QueueCore})
	b.Must(err)
	found := map[retention.Task]time.Duration{}
	for _, state := range []queue.State{queue.Delayed, queue.Ready} {
		infos, _, err := c.List(b.Ctx, queue.ListQuery{State: state, Limit: 100})
		b.Must(err)
		for _, i := range infos {
			var t retention.Task
			if i.Kind != retention.TaskRetain {
				continue
			}
			b.Must(json.Unmarshal(i.Payload, &t))
			if _, twice := found[t]; twice {
				b.T.Errorf("two tasks wait for %+v", t)
			}
			if found[t] = 0; state == queue.Delayed {
				found[t] = time.Until(i.Due)
			}
			_, err := c.Cancel(b.Ctx, i.ID)
			b.Must(err)
		}
	}
	return found
}

// task is the one that waits for a group, and is taken.
func (b *bench) task(group string) (t retention.Task, in time.Duration) {
	b.T.Helper()
	for t, in := range b.retains() {
		if t.Group == group {
			return t, in
		}
	}
	b.T.Fatalf("no task waits for %s", group)
	return t, 0
}

// run runs a task.
func (b *bench) run(s *retention.Service, t retention.Task) {
	b.T.Helper()
	raw, err := json.Marshal(t)
	b.Must(err)
	harness.Eventually(b.T, 20*time.Second, "the task is done", func() error { // a database under load may not answer at once
		return s.Handlers()[retention.TaskRetain].Run(b.Ctx, chat.TaskRun{Payload: raw})
	})
}

// archive archives a group to its end, and has everyone ack it, so that it is trimmed.
func (b *bench) archive(group string, users ...string) {
	b.T.Helper()
	info, err := b.Info(b.Ctx, users[0], group)
	b.Must(err)
	if b.archiver != nil {
		b.Must(b.archiver.CatchUp(b.Ctx, group, info.Last))
	}
	for _, user := range users {
		_, err := b.Ack(b.Ctx, chattest.As(user), group, chat.At(info.Last))
		b.Must(err)
	}
}

// bodies are what a user is served of a group from first on, page by page, without the notices.
func (b *bench) bodies(user, group string) (bodies []string) {
	b.T.Helper()
	info, err := b.Info(b.Ctx, user, group)
	b.Must(err)
	for after := info.First - 1; after < info.Last; {
		batch := b.PullFrom(user, group, fmt.Sprint(after), 70)
		if !batch.Complete || batch.From != after+1 || len(batch.Messages) == 0 {
			b.T.Fatalf("after %d of %s: got %d messages from %d, complete %v", after, group, len(batch.Messages), batch.From, batch.Complete)
		}
		for _, m := range batch.Messages {
			var e chat.Entry
			b.Must(json.Unmarshal(m.JSON, &e))
			if e.Body != nil {
				bodies = append(bodies, *e.Body)
			}
		}
		after = batch.To
	}
	return bodies
}

// inDatabase is how many entries the database has of a group.
func (b *bench) inDatabase(t retention.Task) int {
	b.T.Helper()
	if b.db == nil {
		return 0
	}
	list, err := b.db.Read(b.Ctx, archive.Log{Group: t.Group, Epoch: t.Epoch}, archive.Span{From: 1, To: chat.IDMax, Limit: 1 << 20, BytesMax: 1 << 30})
	b.Must(err)
	return len(list)
}

// fillAged sends n messages of each age to a group of ann and bob.
func (b *bench) fillAged(group string, n int, ages ...time.Duration) {
	b.T.Helper()
	for _, age := range ages {
		b.ago(age)
		for i := range n {
			b.Say("ann", group, fmt.Sprintf("%s %d", age, i))
		}
	}
	b.ago(0)
}

func aged(n int, ages ...time.Duration) (bodies []string) {
	for _, age := range ages {
		for i := range n {
			bodies = append(bodies, fmt.Sprintf("%s %d", age, i))
		}
	}
	return bodies
}

func overBoth(t *testing.T, test func(*testing.T, *bench)) {
	t.Run("store alone", func(t *testing.T) { test(t, newBench(t, false)) })
	t.Run("archive", func(t *testing.T) { test(t, newBench(t, true)) })
}

// TestOldMessagesGo: what is older than the number of days goes, read or not, and nothing younger does; the task comes again
// when the next message is due.
func TestOldMessagesGo(t *testing.T) {
	overBoth(t, func(t *testing.T, b *bench) {
		keep, days := int64(10), int64(7)
		b.ago(20 * day)
		b.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep}, "ann", "bob")
		b.fillAged("g", 150, 20*day, 8*day, 7*day+time.Minute, 7*day-time.Hour, day)
		s := b.retention(0)
		if len(b.retains()) > 0 {
			t.Fatal("a task waits where messages stay for ever")
		}
		b.archive("g", "ann") // not bob
		want := aged(150, 20*day, 8*day, 7*day+time.Minute, 7*day-time.Hour, day)
		if got := b.bodies("bob", "g"); !slices.Equal(got, want) {
			t.Fatalf("got %d messages before", len(got))
		}
		_, err := b.UpdateGroup(b.Ctx, chattest.As("ann"), "g", chat.GroupChange{RetainDays: &days})
		b.Must(err)
		task, in := b.task("g")
		if in > 0 {
			t.Errorf("the task waits for %v", in)
		}
		b.archive("g", "ann")
		b.run(s, task)

		if got := b.bodies("bob", "g"); !slices.Equal(got, want[450:]) {
			t.Errorf("got %d messages, want %d", len(got), len(want)-450)
		}
		info, err := b.Info(b.Ctx, "bob", "g")
		b.Must(err)
		if info.First != 453 || info.Unread != 300 {
			t.Errorf("first is %d, %d are unread; want 453 and 300", info.First, info.Unread)
		}
		batch := b.PullFrom("bob", "g", "100", 5)
		if batch.Complete || batch.From != 453 {
			t.Errorf("a position below: complete %v from %d", batch.Complete, batch.From)
		}
		if got := int64(b.inDatabase(task)); b.db != nil && got != info.Last-452 {
			t.Errorf("the database has %d entries, want %d", got, info.Last-452)
		}
		next, in := b.task("g")
		if next != task || in < 59*time.Minute || in > 61*time.Minute {
			t.Errorf("then %+v waits for %v, want an hour", next, in)
		}
		b.run(s, task) // it came too early, or twice
		if got := b.bodies("ann", "g"); !slices.Equal(got, want[450:]) {
			t.Errorf("got %d messages after the second run", len(got))
		}
	})
}

// TestEmptiedGroup: a group of which nothing is left works on, and its task comes again in time for what may come.
func TestEmptiedGroup(t *testing.T) {
	overBoth(t, func(t *testing.T, b *bench) {
		days := int64(2)
		b.ago(3 * day)
		b.MakeGroup(chat.GroupDraft{ID: "g", RetainDays: &days}, "ann", "bob")
		task, in := b.task("g")
		if in < 47*time.Hour || in > 49*time.Hour {
			t.Errorf("the task of a new group waits for %v", in)
		}
		b.fillAged("g", 5, 3*day)
		b.archive("g", "ann", "bob")
		s := b.retention(0)
		b.run(s, task)
		info, err := b.Info(b.Ctx, "ann", "g")
		b.Must(err)
		if info.First != info.Last+1 || info.Unread != 0 {
			t.Errorf("%d to %d are left, %d unread", info.First, info.Last, info.Unread)
		}
		if _, in := b.task("g"); in < 47*time.Hour || in > 49*time.Hour {
			t.Errorf("the task of an empty group waits for %v", in)
		}
		if got := b.inDatabase(task); got != 0 {
			t.Errorf("the database has %d entries", got)
		}
		list, err := b.Groups(b.Ctx, chattest.As("ann"), 10, "")
		b.Must(err)
		if string(list.Items[0].LastMessage) != "null" {
			t.Errorf("the newest message is %s", list.Items[0].LastMessage)
		}
		b.Say("bob", "g", "on")
		if got := b.bodies("ann", "g"); !slices.Equal(got, []string{"on"}) {
			t.Errorf("got %v", got)
		}
	})
}

// TestPinsGetTooOld: a pinned message that the log has trimmed goes when it is too old, though everything that the log has is younger; so
// does one that the log has.
func TestPinsGetTooOld(t *testing.T) {
	b := newBench(t, false)
	b.MakeGroup(chat.GroupDraft{ID: "g", RetainDays: new(int64(7)), Keep: new(int64(0))}, "alice", "bob")
	held := pins.New(b.Service, b.Store, b.Store)
	alice := chattest.As("alice")
	pinned := func() (ids []int64) {
		t.Helper()
		list, err := held.List(b.Ctx, alice, "g", 0, "")
		b.Must(err)
		for _, p := range list.Items {
			ids = append(ids, p.Message.ID)
		}
		return ids
	}
	b.ago(7*day - time.Hour)
	trimmed := b.Say("alice", "g", "trimmed").ID
	b.Must(held.Pin(b.Ctx, alice, "g", trimmed))
	b.ago(0)
	last := b.Say("alice", "g", "last").ID
	for _, user := range []string{"alice", "bob"} {
		_, err := b.Ack(b.Ctx, chattest.As(user), "g", chat.At(last))
		b.Must(err)
	}
	b.ago(day)
	young := b.Say("alice", "g", "young").ID
	b.Must(held.Pin(b.Ctx, alice, "g", young))

	task, _ := b.task("g")
	r := b.retention(0)
	b.run(r, task)
	if got := pinned(); !slices.Equal(got, []int64{young, trimmed}) {
		t.Errorf("got the pins %v", got)
	}
	if _, in := b.task("g"); in > time.Hour+time.Minute {
		t.Errorf("the task comes again in %s, want when the trimmed message is too old", in)
	}
	_, err := b.UpdateGroup(b.Ctx, alice, "g", chat.GroupChange{RetainDays: new(int64(6))})
	b.Must(err)
	task, _ = b.task("g")
	b.run(r, task)
	if got := pinned(); !slices.Equal(got, []int64{young}) {
		t.Errorf("got the pins %v, want none that is too old", got)
	}
}

// TestShorterHolds: the server's number of days reaches every group, idle ones too, and the shorter one holds.
func TestShorterHolds(t *testing.T) {
	b := newBench(t, false)
	five, forty := int64(5), int64(40)
	for id, days := range map[string]*int64{"none": nil, "five": &five, "forty": &forty} {
		b.ago(60 * day)
		b.MakeGroup(chat.GroupDraft{ID: id, RetainDays: days}, "ann", "bob")
		b.fillAged(id, 3, 60*day, 35*day, 10*day, day)
	}
	b.retains()
	left := func(want map[string]int) {
		t.Helper()
		for group, n := range want {
			if got := len(b.bodies("ann", group)); got != n {
				t.Errorf("%s: %d messages are left, want %d", group, got, n)
			}
		}
	}
	follow := func(days int64) {
		t.Helper()
		s := b.retention(days)
		b.Must(s.Switch(b.Ctx))
		chattest.Done(t, s.Handlers()[retention.TaskWalk], retention.WalkTask{Days: &days})
		for task := range b.retains() {
			b.run(s, task)
		}
	}
	follow(30)
	left(map[string]int{"none": 6, "five": 3, "forty": 6})
	waiting := b.retains()
	for task, in := range waiting {
		if want := map[string]int64{"none": 30, "five": 5, "forty": 30}[task.Group]; task.Days != want || in < 3*day {
			t.Errorf("%+v waits for %v", task, in)
		}
	}
	if len(waiting) != 3 {
		t.Errorf("%d tasks wait", len(waiting))
	}
	follow(0)
	left(map[string]int{"none": 6, "five": 3, "forty": 6})
	if got := b.retains(); len(got) != 2 {
		t.Errorf("%v wait where one group keeps its messages for ever", got)
	}
	for task := range waiting { // of the time before: others hold by now
		b.run(b.retention(0), task)
	}
	if got := b.retains(); len(got) != 1 { // that of five, whose days are the same
		t.Errorf("%v wait after tasks of another time", got)
	}
	follow(2)
	left(map[string]int{"none": 3, "five": 3, "forty": 3})
	walks := b.walks()
	if s := b.retention(2); s.Switch(b.Ctx) != nil || b.walks() > walks {
		t.Error("a start without a change walks again")
	}
}

// walks is how many walks were enqueued.
func (b *bench) walks() int {
	b.T.Helper()
	c, err := queue.NewClient(queue.Options{Client: b.Store.Client(), Prefix: b.Store.Prefix(), Partitions: b.Store.Partitions(), Queue: chat.QueueCore})
	b.Must(err)
	infos, _, err := c.List(b.Ctx, queue.ListQuery{State: queue.Ready, Limit: 100})
	b.Must(err)
	return len(slices.DeleteFunc(infos, func(i queue.Info) bool { return i.Kind != retention.TaskWalk }))
}

// TestHeldGroupsKeepEverything: while a group is under legal hold nothing of it goes; what is due follows when the hold ends.
func TestHeldGroupsKeepEverything(t *testing.T) {
	overBoth(t, func(t *testing.T, b *bench) {
		days := int64(3)
		b.ago(9 * day)
		b.MakeGroup(chat.GroupDraft{ID: "g", RetainDays: &days}, "ann", "bob")
		b.fillAged("g", 20, 9*day, day)
		b.archive("g", "ann")
		task, _ := b.task("g")
		_, err := b.PutHold(b.Ctx, chattest.Operator("root"), "g", "case")
		b.Must(err)
		b.run(b.retention(1), task)
		if got := len(b.bodies("bob", "g")); got != 40 {
			t.Fatalf("%d messages are left, want 40", got)
		}
		if got := b.retains(); len(got) > 0 {
			t.Errorf("%v wait during the hold", got)
		}
		b.Must(b.ReleaseHold(b.Ctx, chattest.Operator("root"), "g"))
		task, in := b.task("g")
		if in > 0 {
			t.Errorf("what is due waits for %v after the hold", in)
		}
		b.run(b.retention(1), task)
		if got := b.bodies("bob", "g"); !slices.Equal(got, aged(20, day)) {
			t.Errorf("%d messages are left, want 20", len(got))
		}
	})
}

// TestClocksOfNodesDiffer: what was sent after something younger by a node whose clock is behind waits for that; nothing young
// goes.
func TestClocksOfNodesDiffer(t *testing.T) {
	b := newBench(t, false)
	days := int64(3)
	b.ago(9 * day)
	b.MakeGroup(chat.GroupDraft{ID: "g", RetainDays: &days}, "ann", "bob")
	b.fillAged("g", 2, 4*day, 2*day, 4*day, day)
	task, _ := b.task("g")
	b.run(b.retention(0), task)
	if got := b.bodies("bob", "g"); !slices.Equal(got, aged(2, 2*day, 4*day, day)) {
		t.Errorf("got %v", got)
	}
}

func TestGarbage(t *testing.T) {
	chattest.RefuseGarbage(t, newBench(t, false).retention(0).Handlers())
}

// TestArchiveAway: while the archive is away nothing goes and no attempt is counted; it goes once the archive is back.
func TestArchiveAway(t *testing.T) {
	b := newBench(t, true)
	days := int64(3)
	b.ago(9 * day)
	b.MakeGroup(chat.GroupDraft{ID: "g", RetainDays: &days}, "ann", "bob")
	b.fillAged("g", 20, 9*day, day)
	b.archive("g", "ann", "bob")
	task, _ := b.task("g")
	elsewhere := retention.New(b.Store, nil, retention.Options{}) // a node that has no archive, while others have
	if pause := chattest.Do(t, elsewhere.Handlers()[retention.TaskRetain], task); pause == 0 {
		t.Error("a node without the archive did the task")
	}
	if got := len(b.bodies("bob", "g")); got != 40 {
		t.Fatalf("%d messages are left, want 40", got)
	}
	b.run(b.retention(0), task)
	if got := len(b.bodies("bob", "g")); got != 20 {
		t.Errorf("%d messages are left, want 20", got)
	}
}

// damaged is a store in which nothing can be removed, for a reason that nobody expected.
type damaged struct{ ranging }

func (damaged) Expire(context.Context, string, string, int64, int64, string) (int64, error) {
	return 0, errors.New("an answer that nobody expected")
}

// TestUnexpectedErrors: whatever fails, the group's task waits again, not too soon: attempts of a queue would end.
func TestUnexpectedErrors(t *testing.T) {
	b := newBench(t, false)
	days := int64(3)
	b.ago(9 * day)
	b.MakeGroup(chat.GroupDraft{ID: "g", RetainDays: &days}, "ann", "bob")
	b.fillAged("g", 20, 9*day, day)
	task, _ := b.task("g")
	chattest.Done(t, retention.New(damaged{ranging{b.Store, b.Store}}, nil, retention.Options{}).Handlers()[retention.TaskRetain], task)
	next, in := b.task("g")
	if next != task || in < 9*time.Minute || in > 11*time.Minute {
		t.Errorf("%+v waits for %v, want %+v in ten minutes", next, in, task)
	}
	b.run(b.retention(0), next)
	if got := len(b.bodies("bob", "g")); got != 20 {
		t.Errorf("%d messages are left, want 20", got)
	}
}

var errKilled = errors.New("killed")

// mortal is a store that dies: of its calls, the one that is number at ends without an answer, done or not, and none after it is
// done. Its archive dies with it.
type mortal struct {
	ranging
	archive retention.Archive
	at      int
	done    bool // the call that kills it is still done
	calls   int
}

func (m *mortal) call(do func() error) error {
	m.calls++
	if m.calls > m.at || m.calls == m.at && !m.done {
		return errKilled
	}
	err := do()
	if m.calls == m.at {
		return errKilled
	}
	return err
}

func (m *mortal) Aging(ctx context.Context, group string) (a retention.Aging, err error) {
	err = m.call(func() (err error) { a, err = m.ranging.Aging(ctx, group); return err })
	return a, err
}

func (m *mortal) Expire(ctx context.Context, group, epoch string, days, to int64, mark string) (first int64, err error) {
	err = m.call(func() (err error) { first, err = m.ranging.Expire(ctx, group, epoch, days, to, mark); return err })
	return first, err
}

func (m *mortal) Enqueue(ctx context.Context, tasks ...chat.NewTask) error {
	return m.call(func() error { return m.ranging.Enqueue(ctx, tasks...) })
}

func (m *mortal) Forget(ctx context.Context, group, epoch string, below int64) error {
	return m.call(func() error { return m.archive.Forget(ctx, group, epoch, below) })
}

// TestDiesInBetween lets the node die at each of its calls, before and after it is done, and runs the task again elsewhere:
// whenever that happens the log that members are served has no hole, and in the end everything old is gone, and the next task
// waits.
func TestDiesInBetween(t *testing.T) {
	overBoth(t, func(t *testing.T, b *bench) {
		keep, days := int64(30), int64(4)
		for at := 1; ; at++ {
			died := false
			for _, done := range []bool{false, true} {
				group := fmt.Sprintf("g%d-%v", at, done)
				b.ago(9 * day)
				b.MakeGroup(chat.GroupDraft{ID: group, Keep: &keep, RetainDays: &days}, "ann", "bob")
				b.fillAged(group, 35, 9*day, 5*day)
				b.fillAged(group, 40, day)
				b.archive(group, "ann")
				if b.db != nil {
					b.archive(group, "bob") // most of it is in the database alone
				}
				want := aged(40, day)
				task, _ := b.task(group)
				m := &mortal{ranging: ranging{b.Store, b.serving}, at: at, done: done}
				var db retention.Archive
				if b.archiver != nil {
					m.archive, db = b.archiver, m
				}
				raw, err := json.Marshal(task)
				b.Must(err)
				err = retention.New(m, db, retention.Options{}).Handlers()[retention.TaskRetain].Run(b.Ctx, chat.TaskRun{Payload: raw})
				if errors.Is(err, errKilled) != (m.calls >= at) {
					t.Fatalf("call %d of %d: %v", at, m.calls, err)
				}
				died = died || err != nil
				if got := b.bodies("bob", group); !slices.Equal(got[len(got)-len(want):], want) {
					t.Fatalf("died at call %d: %d messages", at, len(got))
				}
				b.run(b.retention(0), task)
				if got := b.bodies("bob", group); !slices.Equal(got, want) {
					t.Errorf("died at call %d: %d messages are left, want %d", at, len(got), len(want))
				}
				if n := b.inDatabase(task); b.db != nil && n != len(want) {
					t.Errorf("died at call %d: the database has %d entries, want %d", at, n, len(want))
				}
				if next, in := b.task(group); next != task || in < 2*day {
					t.Errorf("died at call %d: %+v waits for %v", at, next, in)
				}
			}
			if !died {
				if at < 4 {
					t.Errorf("a run has %d calls", at)
				}
				return
			}
		}
	})
}

// TestWhileMembersSend: messages that are sent meanwhile, and trimmed and archived meanwhile, stay.
func TestWhileMembersSend(t *testing.T) {
	b := newBench(t, true)
	keep, days := int64(5), int64(4)
	b.ago(9 * day)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep, RetainDays: &days}, "ann", "bob")
	b.fillAged("g", 600, 9*day)
	task, _ := b.task("g")
	chattest.Work(t, b.Store, b.Service, b.archiver, b.retention(0))
	b.archive("g", "ann", "bob")
	running := make(chan struct{})
	go func() {
		defer close(running)
		b.run(b.retention(0), task)
	}()
	for i := range 200 {
		sent := b.Say("ann", "g", fmt.Sprintf("%s %d", day, i))
		for _, user := range []string{"ann", "bob"} {
			_, err := b.Ack(b.Ctx, chattest.As(user), "g", chat.At(sent.ID))
			b.Must(err)
		}
	}
	<-running
	harness.Eventually(t, 20*time.Second, "only what was sent now is left", func() error {
		if got := b.bodies("bob", "g"); !slices.Equal(got, aged(200, day)) {
			return fmt.Errorf("%d messages", len(got))
		}
		return nil
	})
}
