package store_test

import (
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/retention"
)

var retentionTests = map[string]func(*fixture){
	"RecordRetention":  testRecordRetention,
	"Aging":            testAging,
	"Expire":           testExpire,
	"ExpireRefuses":    testExpireRefuses,
	"ExpireInArchive":  testExpireInArchive,
	"PlanRetention":    testPlanRetention,
	"settings plan it": testSettingsPlanRetention,
}

func retain(days int64) func(*chat.NewGroup) {
	return func(g *chat.NewGroup) { g.RetainDays = days }
}

func (w *fixture) recordRetention(days int64) (followed bool) {
	w.Helper()
	followed, err := w.RecordRetention(w.ctx, days)
	w.ok(err)
	return followed
}

func (w *fixture) aging(group string) retention.Aging {
	w.Helper()
	a, err := w.Aging(w.ctx, group)
	w.ok(err)
	return a
}

// expire takes everything up to id away because of its age.
func (w *fixture) expire(group string, id int64) (first int64) {
	w.Helper()
	a := w.aging(group)
	first, err := w.Expire(w.ctx, group, a.Epoch, a.Days, id, w.entry(group, id).Mark)
	w.ok(err)
	return first
}

// retains are the groups and numbers of days of the tasks that wait.
func (w *fixture) retains() map[string]int64 {
	w.Helper()
	found := map[string]int64{}
	for _, t := range w.takeTasks(retention.TaskRetain) {
		found[string(t.Payload)]++
	}
	return found
}

func (w *fixture) retainTask(group string, days int64) string {
	return fmt.Sprintf(`{"group":"%s","epoch":"%s","days":%d}`, group, w.info(group, "alice").Epoch, days)
}

func testRecordRetention(w *fixture) {
	days := func() int64 {
		w.Helper()
		n, err := w.RetentionDays(w.ctx)
		w.ok(err)
		return n
	}
	w.equal(w.recordRetention(0), true) // a store that never had any
	w.equal(w.recordRetention(30), false)
	w.equal(days(), int64(30))
	w.equal(w.recordRetention(30), false) // a start that died before the walk was done
	w.ok(w.RetentionWalked(w.ctx, 7))     // of another number
	w.equal(w.recordRetention(30), false)
	w.ok(w.RetentionWalked(w.ctx, 30))
	w.equal(w.recordRetention(30), true)
	w.equal(w.recordRetention(0), false)
	w.equal(days(), int64(0))
	w.ok(w.RetentionWalked(w.ctx, 0))
	w.equal(w.recordRetention(0), true)
}

// testAging: the shorter of the two numbers of days holds, in every partition.
func testAging(w *fixture) {
	_, err := w.Aging(w.ctx, "none")
	w.fails(err, chat.ErrNotFound)
	for _, c := range []struct{ own, all, want int64 }{{0, 0, 0}, {0, 7, 7}, {7, 0, 7}, {3, 7, 3}, {9, 7, 7}, {36_500, 36_500, 36_500}} {
		w.recordRetention(c.all)
		for n := range 5 {
			g := fmt.Sprintf("g%d-%d-%d", c.own, c.all, n)
			w.group(g, nil, retain(c.own))
			w.equal(w.aging(g).Days, c.want)
			w.equal(w.info(g, "alice").RetainDays, c.own)
		}
	}
	w.group("g", nil)
	w.says("g", "alice", 4)
	a := w.aging("g")
	w.equal([]any{a.Epoch, a.First, a.Held, a.Last, a.Archived, a.OnHold}, []any{w.info("g", "alice").Epoch, int64(1), int64(1), int64(5), false, false})
	w.equal(a.Now.UnixMilli() >= 1_700_000_000_000, true)
	w.hold("g")
	w.equal(w.aging("g").OnHold, true)
}

// testExpire: what is too old goes although nobody has seen it, with its reactions, and followers of the group hear of it.
func testExpire(w *fixture) {
	w.group("g", []string{"bob"}, retain(1))
	last := w.says("g", "alice", 1200)
	w.send(reaction("bob", 5, "x", false))
	w.send(reaction("bob", last, "y", false))
	last += 2
	epoch := w.info("g", "bob").Epoch
	signals := w.listen()
	w.ok(w.Follow(w.ctx, []string{"g"}, nil))
	w.equal(w.expire("g", 3), int64(4))
	w.equal(w.next(signals), live.Signal{Kind: live.SignalExpired, Group: "g", Epoch: epoch, Seen: 3})
	w.equal(w.expire("g", 1000), int64(504)) // 500 in a step
	w.equal(w.expire("g", 1000), int64(1001))
	w.equal(w.kept("g"), span(1001, last))
	in := w.info("g", "bob")
	w.equal([]int64{in.First, in.Held, in.Unread, in.Seen}, []int64{1001, 1001, 1202 - 1000, 0})
	w.equal(w.sizes(w.groupKey("g", "reacted"), w.groupKey("g", "reactions")), []int64{2, 1})

	for to := in.First; to <= last; to = w.aging("g").First { // to the end
		w.expire("g", min(to+400, last))
	}
	a := w.aging("g")
	w.equal([]int64{a.First, a.Held, a.Last}, []int64{last + 1, last + 1, last})
	w.equal(w.sizes(w.groupKey("g", "msgs"), w.groupKey("g", "reacted"), w.groupKey("g", "reactions")), []int64{0, 0, 0})
	w.equal(w.say("g", "bob", "on"), last+1)
	w.equal(w.info("g", "alice").First, last+1)
}

func testExpireRefuses(w *fixture) {
	w.group("g", nil, retain(2))
	last := w.says("g", "alice", 9)
	epoch, mark := w.info("g", "alice").Epoch, w.entry("g", 5).Mark
	try := func(epoch string, days, id int64, mark string, want error) {
		w.Helper()
		_, err := w.Expire(w.ctx, "g", epoch, days, id, mark)
		w.fails(err, want)
		w.equal(w.kept("g"), span(1, last))
	}
	try("e-other", 2, 5, mark, chat.ErrNotFound)
	try(epoch, 1, 5, mark, chat.ErrConflict)
	try(epoch, 2, 5, "mOTHER", chat.ErrConflict)
	try(epoch, 2, last+1, mark, chat.ErrConflict)
	w.hold("g")
	_, err := w.Expire(w.ctx, "g", epoch, 2, 5, mark)
	w.equal(chat.IsHeld(err), true)
	w.equal(w.kept("g"), span(1, last))
}

// testExpireInArchive: the record of where the archive begins moves; what it does not have yet stays.
func testExpireInArchive(w *fixture) {
	w.group("g", nil, retain(1), keep(3))
	w.archiveOn()
	last := w.says("g", "alice", 9)
	w.equal(w.expire("g", 5), int64(1)) // the archiver has not joined
	lag := w.unarchived("g", 7)
	w.archivePage(lag)
	w.equal(w.expire("g", 8), int64(8)) // 8 is not archived
	w.equal(w.archivedFrom("g"), "8")
	w.equal(w.kept("g"), span(8, last))
	w.archiveAll("g")
	w.ack("g", "alice", last)
	w.equal(w.kept("g"), span(last-2, last))
	w.send(reaction("alice", last, "x", false))
	last++
	w.archiveAll("g")
	mark := w.entry("g", last).Mark
	w.poke("HSET", w.groupKey("g", "meta"), "archived_from", 2)
	first, err := w.Expire(w.ctx, "g", w.aging("g").Epoch, 1, 4, "mARCHIVED") // only the archive has it
	w.ok(err)
	w.equal(first, int64(5))
	a := w.aging("g")
	w.equal([]any{a.First, a.Held, a.Archived}, []any{int64(5), last - 2, true})
	first, err = w.Expire(w.ctx, "g", a.Epoch, 1, 4, "mARCHIVED")
	w.ok(err)
	w.equal(first, int64(5)) // never backward
	first, err = w.Expire(w.ctx, "g", a.Epoch, 1, last, mark)
	w.ok(err)
	w.equal(first, last+1)
	w.equal(w.info("g", "alice").First, last+1)
}

func testPlanRetention(w *fixture) {
	w.group("none", nil)
	w.group("own", nil)
	w.poke("HSET", w.groupKey("own", "meta"), "retain_days", 5)
	w.ok(w.PlanRetention(w.ctx, []string{"absent", "none", "own", "own"}))
	w.equal(w.retains(), map[string]int64{w.retainTask("own", 5): 1})
	w.recordRetention(3)
	w.ok(w.PlanRetention(w.ctx, []string{"none", "own"}))
	w.ok(w.PlanRetention(w.ctx, []string{"none", "own"}))
	w.equal(w.retains(), map[string]int64{w.retainTask("none", 3): 1, w.retainTask("own", 3): 1})
}

// testSettingsPlanRetention: whatever makes messages of a group go, or go earlier, makes the task too, in the same step.
func testSettingsPlanRetention(w *fixture) {
	change := func(group string, days int64) {
		w.Helper()
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, group, nil, chat.GroupChange{RetainDays: &days}, nil, 1))
	}
	w.group("g", nil)
	w.equal(w.retains(), map[string]int64{})
	change("g", 9)
	w.equal(w.retains(), map[string]int64{w.retainTask("g", 9): 1})
	change("g", 9)
	change("g", 0)
	w.equal(w.retains(), map[string]int64{})
	w.recordRetention(4)
	w.group("h", nil)
	w.group("i", nil, retain(2))
	change("g", 5)
	w.equal(w.retains(), map[string]int64{w.retainTask("h", 4): 1, w.retainTask("i", 2): 1, w.retainTask("g", 4): 1})

	w.hold("h")
	_, err := w.ReleaseHold(w.ctx, operator, "h")
	w.ok(err)
	_, err = w.ReleaseHold(w.ctx, operator, "h")
	w.ok(err)
	w.equal(w.retains(), map[string]int64{w.retainTask("h", 4): 1})
}
