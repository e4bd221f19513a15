package store_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/queue"
)

var archiveTests = map[string]func(*fixture){
	"SwitchArchive":                    testSwitchArchive,
	"Unarchived":                       testUnarchived,
	"AckArchive":                       testAckArchive,
	"AckArchiveOfAChangedLog":          testAckArchiveOfAChangedLog,
	"AckArchiveTrims":                  testAckArchiveTrims,
	"AlignArchive":                     testAlignArchive,
	"EndedLogs":                        testEndedLogs,
	"GroupIDs":                         testGroupIDs,
	"nothing unarchived is trimmed":    testNothingUnarchivedIsTrimmed,
	"entries make one task":            testEntriesMakeOneArchiveTask,
	"a deleted group makes a task":     testDeletedGroupMakesArchiveTask,
	"the archiver is no member":        testArchiverIsNoMember,
	"sleepers and the archiver":        testSleepersAndArchiver,
	"an archive that was switched off": testArchiveSwitchedOff,
}

// archiveOn switches the archive on, as a node does at its start.
func (w *fixture) archiveOn() {
	w.Helper()
	w.ok(w.SwitchArchive(w.ctx, "db", true))
	w.ok(w.WantArchive(w.ctx, "db", time.Second, true))
}

func (w *fixture) archiveOff() {
	w.Helper()
	w.ok(w.SwitchArchive(w.ctx, "", false))
	w.ok(w.WantArchive(w.ctx, "db", 0, false))
}

func (w *fixture) unarchived(group string, limit int) archive.Lag {
	w.Helper()
	lag, err := w.Unarchived(w.ctx, group, limit)
	w.ok(err)
	return lag
}

// archiveAll acks everything that a group has, as if a database held it.
func (w *fixture) archiveAll(group string) {
	w.Helper()
	for lag := w.unarchived(group, 500); lag.Archived < lag.Last; lag = w.unarchived(group, 500) {
		w.archivePage(lag)
	}
}

func (w *fixture) archivePage(lag archive.Lag) {
	w.Helper()
	first, last := lag.Messages[0], lag.Messages[len(lag.Messages)-1]
	archived, err := w.AckArchive(w.ctx, lag.Log, first.ID, last.ID, last.Mark)
	w.ok(err)
	w.equal(archived, last.ID)
}

// archivedFrom is the lowest id that is recorded as archived; empty: none is.
func (w *fixture) archivedFrom(group string) string {
	w.Helper()
	value, _ := w.Client().HGet(w.ctx, w.groupKey(group, "meta"), "archived_from").Result()
	return value
}

func testSwitchArchive(w *fixture) {
	state := func() archive.State {
		w.Helper()
		s, err := w.ArchiveState(w.ctx)
		w.ok(err)
		return s
	}
	w.equal(state(), archive.State{})
	w.ok(w.SwitchArchive(w.ctx, "", false))
	w.equal(state(), archive.State{})

	w.ok(w.SwitchArchive(w.ctx, "a", true))
	w.ok(w.SwitchArchive(w.ctx, "a", true))
	w.equal(state(), archive.State{ID: "a", On: true})
	w.fails(w.SwitchArchive(w.ctx, "b", true), chat.ErrConflict)
	w.ok(w.ArchiveWalked(w.ctx, false)) // of the time before
	w.equal(state(), archive.State{ID: "a", On: true})
	w.ok(w.ArchiveWalked(w.ctx, true))
	w.ok(w.SwitchArchive(w.ctx, "a", true))
	w.equal(state(), archive.State{ID: "a", On: true, Walked: true})

	w.ok(w.SwitchArchive(w.ctx, "", false))
	w.equal(state(), archive.State{ID: "a"})
	w.ok(w.SwitchArchive(w.ctx, "b", true))
	w.equal(state(), archive.State{ID: "b", On: true})
}

func testUnarchived(w *fixture) {
	_, err := w.Unarchived(w.ctx, "none", 1)
	w.fails(err, chat.ErrNotFound)
	w.group("g", []string{"bob"}, keep(0))
	last := w.says("g", "alice", 5)
	log := archive.Log{Group: "g", Epoch: w.info("g", "bob").Epoch}
	lag := w.unarchived("g", 3)
	w.equal(ids(lag.Messages), span(1, 3))
	lag.Messages = nil
	w.equal(lag, archive.Lag{Log: log, Archived: -1, Held: 1, Last: last})

	w.archiveOn()
	lag = w.unarchived("g", 3)
	w.equal([]any{lag.On, lag.Archived, lag.Entries()}, []any{true, int64(-1), last})
	w.archivePage(lag)
	lag = w.unarchived("g", 3)
	w.equal(ids(lag.Messages), span(4, 6))
	w.equal([]int64{lag.Archived, lag.Held, lag.Entries()}, []int64{3, 1, last - 3})
	w.equal(ids(w.unarchived("g", 0).Messages), span(1, 0))
	w.archiveAll("g")
	w.ack("g", "alice", last)
	w.ack("g", "bob", last)
	lag = w.unarchived("g", 3)
	w.equal([]int64{int64(len(lag.Messages)), lag.Archived, lag.Held, lag.Entries()}, []int64{0, last, last + 1, 0})

	// However much is asked for, an answer has little more than 1 MiB.
	w.group("long", nil)
	body := string(make([]byte, 60_000))
	for range 20 {
		w.say("long", "alice", body)
	}
	n := len(w.unarchived("long", 500).Messages)
	if n < 2 || n > 19 {
		w.Errorf("got %d of 20 long entries at once", n)
	}
}

func testAckArchive(w *fixture) {
	w.group("g", []string{"bob"})
	last := w.says("g", "alice", 5)
	lag := w.unarchived("g", 100)
	ack := func(log archive.Log, from, to int64, mark string) error {
		_, err := w.AckArchive(w.ctx, log, from, to, mark)
		return err
	}
	end := lag.Messages[len(lag.Messages)-1].Mark
	w.fails(ack(lag.Log, 1, last, end), chat.ErrConflict) // there is no archive
	w.archiveOn()
	w.fails(ack(archive.Log{Group: "g", Epoch: "x"}, 1, last, end), chat.ErrNotFound)
	w.fails(ack(archive.Log{Group: "none", Epoch: "x"}, 1, last, end), chat.ErrNotFound)
	w.fails(ack(lag.Log, 1, last, "other"), chat.ErrConflict)
	w.fails(ack(lag.Log, 1, last+1, end), chat.ErrConflict)
	w.fails(ack(lag.Log, 2, last, end), chat.ErrConflict) // the first entry would be missing
	w.equal(w.archivedFrom("g"), "")

	w.ok(ack(lag.Log, 1, 3, lag.Messages[2].Mark))
	w.equal([]any{w.archivedFrom("g"), w.unarchived("g", 0).Archived}, []any{"1", int64(3)})
	w.fails(ack(lag.Log, 5, last, end), chat.ErrConflict) // the fourth would be
	w.ok(ack(lag.Log, 4, last, end))
	w.ok(ack(lag.Log, 1, 3, lag.Messages[2].Mark)) // late
	w.equal([]any{w.archivedFrom("g"), w.unarchived("g", 0).Archived}, []any{"1", last})
}

// testAckArchiveOfAChangedLog: a log that was rolled back, and one whose entries were trimmed while nobody archived them.
func testAckArchiveOfAChangedLog(w *fixture) {
	w.archiveOn()
	w.group("g", nil)
	last := w.says("g", "alice", 5)
	w.archiveAll("g")
	// A failover has lost the last two entries, but not how far they were archived.
	w.poke("ZREMRANGEBYSCORE", w.groupKey("g", "msgs"), last-1, last)
	w.poke("INCRBY", w.groupKey("g", "id"), -2)
	lag := w.unarchived("g", 10)
	w.equal([]int64{lag.Archived, lag.Last, int64(len(lag.Messages))}, []int64{last, last - 2, 0})
	archived, err := w.AckArchive(w.ctx, lag.Log, lag.Last+1, lag.Last, "")
	w.ok(err)
	w.equal([]int64{archived, w.unarchived("g", 0).Archived}, []int64{last - 2, last - 2})
	w.equal(w.archivedFrom("g"), "1")
	w.say("g", "alice", "again")
	w.equal(ids(w.unarchived("g", 10).Messages), []int64{last - 1})

	// Entries went that the archive never had: it begins behind them.
	w.says("g", "alice", 4)
	w.poke("ZREMRANGEBYSCORE", w.groupKey("g", "msgs"), 1, last+1)
	lag = w.unarchived("g", 10)
	w.equal([]int64{lag.Archived, lag.Messages[0].ID}, []int64{last - 2, last + 2})
	w.archiveAll("g")
	w.equal(w.archivedFrom("g"), fmt.Sprint(last+2))
}

func testAckArchiveTrims(w *fixture) {
	w.archiveOn()
	w.group("g", nil, keep(2))
	last := w.says("g", "alice", 1100)
	w.ack("g", "alice", last)
	w.equal(len(w.kept("g")), int(last))
	w.archivePage(w.unarchived("g", 300))
	w.equal(w.kept("g")[0], int64(301))
	lag := w.unarchived("g", 500)
	w.archivePage(lag)
	w.archivePage(w.unarchived("g", 500))
	for more := true; more; {
		var err error
		more, err = w.Trim(w.ctx, "g")
		w.ok(err)
	}
	w.equal(w.kept("g"), span(last-1, last))
	w.equal(w.archivedFrom("g"), "1")

	// An empty log is joined all the same.
	w.archiveOff()
	w.group("empty", nil, keep(0))
	w.ack("empty", "alice", 1)
	w.equal(len(w.kept("empty")), 0)
	w.archiveOn()
	lag = w.unarchived("empty", 1)
	_, err := w.AckArchive(w.ctx, lag.Log, lag.Last+1, lag.Last, "")
	w.ok(err)
	w.equal([]any{w.archivedFrom("empty"), w.unarchived("empty", 0).Archived}, []any{"2", int64(1)})
}

func testAlignArchive(w *fixture) {
	w.group("g", nil, keep(1))
	w.group("h", nil)
	w.archiveOn()
	w.ok(w.AlignArchive(w.ctx, []string{"g", "none", "h"}))
	w.ok(w.AlignArchive(w.ctx, []string{"g"})) // one task waits for a group
	tasks := w.takeTasks(archive.TaskArchive)
	w.equal(len(tasks), 2)
	w.archiveAll("g")
	w.ok(w.AlignArchive(w.ctx, []string{"g"}))
	w.equal(len(w.takeTasks(archive.TaskArchive)), 0)

	last := w.says("g", "alice", 5)
	w.ack("g", "alice", last)
	w.equal(len(w.kept("g")), 5)
	w.archiveOff()
	w.ok(w.AlignArchive(w.ctx, []string{"g", "h"}))
	w.equal([]any{w.archivedFrom("g"), w.unarchived("g", 0).Archived, w.kept("g")}, []any{"", int64(-1), span(last, last)})
}

// testEndedLogs asks about a group that lives, one that is gone, the earlier life of an id, and an import under way.
func testEndedLogs(w *fixture) {
	w.archiveOn()
	for _, g := range []string{"lives", "gone", "again"} {
		w.group(g, nil)
	}
	log := func(group string) archive.Log { return archive.Log{Group: group, Epoch: w.info(group, "alice").Epoch} }
	lives, gone, earlier, under := log("lives"), log("gone"), log("again"), archive.Log{Group: "past", Epoch: "e-f"}
	w.begun("past", "f")
	w.archiveOff()
	w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "gone", nil))
	w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "again", nil))
	_, err := w.Groups.Cleanup(w.ctx, "again", []string{"alice"})
	w.ok(err)
	w.group("again", nil)
	ended := func(want ...archive.Log) {
		w.Helper()
		got, err := w.EndedLogs(w.ctx, "db", []archive.Log{lives, gone, earlier, log("again"), under})
		w.ok(err)
		w.equal(got, want)
	}
	compare := func(pass string, end bool) { w.Helper(); w.ok(w.CompareArchive(w.ctx, "db", pass, end)) }
	ended() // it is off
	w.archiveOn()
	ended(gone, earlier)
	other, err := w.EndedLogs(w.ctx, "another", []archive.Log{gone})
	w.ok(err)
	w.equal(len(other), 0)
	compare("one", false)
	w.archiveOn() // another node starts
	compare("two", false)
	compare("one", true)
	ended(gone, earlier)
	w.archiveOff()
	w.archiveOn()
	compare("two", true)
	ended(gone, earlier)
	compare("three", false)
	compare("three", true)
	ended()
	w.archiveOff()
	w.ok(w.WantArchive(w.ctx, "another", time.Second, true))
	ended()
}

func testGroupIDs(w *fixture) {
	want := map[string]bool{}
	for i := range 700 {
		id := fmt.Sprintf("g%d", i)
		w.group(id, nil)
		want[id] = true
	}
	got, pages := map[string]bool{}, 0
	for cursor := uint64(0); ; pages++ {
		groups, next, err := w.GroupIDs(w.ctx, cursor)
		w.ok(err)
		for _, g := range groups {
			got[g] = true
		}
		if cursor = next; next == 0 {
			break
		}
	}
	w.equal(got, want)
}

// testNothingUnarchivedIsTrimmed tries every step that trims.
func testNothingUnarchivedIsTrimmed(w *fixture) {
	w.archiveOn()
	w.group("g", []string{"bob", "cid"}, keep(2), backlog(10))
	for _, archived := range []bool{false, true} {
		lacks := max(1, w.unarchived("g", 0).Archived+1)
		last := w.says("g", "alice", 130) // two of them trim
		w.ack("g", "alice", last)
		w.ack("g", "bob", last)
		_, err := w.Trim(w.ctx, "g")
		w.ok(err)
		few := int64(1)
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{Keep: &few}, nil, 1))
		if !archived {
			w.leave("g", "cid")
		}
		if kept := w.kept("g"); kept[0] > lacks {
			w.Errorf("%d is the lowest id that is kept, and %d is not archived", kept[0], lacks)
		}
		w.archiveAll("g")
		_, err = w.Trim(w.ctx, "g")
		w.ok(err)
		if kept := w.kept("g"); len(kept) > 1 {
			w.Errorf("%d entries are kept that are archived", len(kept))
		}
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{Keep: new(int64(2))}, nil, 1))
	}
}

func testEntriesMakeOneArchiveTask(w *fixture) {
	w.group("g", []string{"bob"})
	w.say("g", "alice", "x")
	w.equal(len(w.takeTasks(archive.TaskArchive)), 0)
	w.archiveOn()
	a, changes := revision(w, chat.Edit, "alice", 3)
	for _, step := range []func() error{
		func() error { _, err := w.Append(w.ctx, text("g", "alice", "y")); return err },
		func() error { _, err := w.Append(w.ctx, reaction("bob", 3, "x", false)); return err },
		func() error { _, err := w.Revise(w.ctx, a, changes, false); return err },
		func() error { _, _, err := w.Join(w.ctx, membership("g", "cid", "alice", chat.Ordinary)); return err },
		func() error { _, err := w.Leave(w.ctx, membership("g", "cid", "cid", "")); return err },
	} {
		w.ok(step())
		w.say("g", "alice", "z") // makes no second task
		waiting, err := w.ArchiveWaiting(w.ctx)
		w.ok(err)
		w.equal(waiting, int64(1))
		tasks := w.takeTasks(archive.TaskArchive)
		w.equal(len(tasks), 1)
		if late := tasks[0].Due.Sub(tasks[0].Enqueued); tasks[0].State != queue.Delayed || late < 900*time.Millisecond || late > 1100*time.Millisecond {
			w.Errorf("the task comes %v after the entry, want a second", late)
		}
	}
	w.group("new", nil)
	w.equal(len(w.takeTasks(archive.TaskArchive)), 1)
}

func testDeletedGroupMakesArchiveTask(w *fixture) {
	w.archiveOn()
	w.group("g", nil)
	w.takeTasks(archive.TaskArchive)
	w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
	w.equal(len(w.takeTasks(archive.TaskArchive)), 1)
	w.group("h", nil)
	w.takeTasks(archive.TaskArchive)
	w.leave("h", "alice")
	w.equal(len(w.takeTasks(archive.TaskArchive)), 1)
}

// testArchiverIsNoMember: nobody sees the archiver, nor is it counted.
func testArchiverIsNoMember(w *fixture) {
	w.archiveOn()
	w.group("g", []string{"bob"})
	id := w.say("g", "alice", "x")
	w.archiveAll("g")
	info := w.info("g", "bob")
	w.equal([]int64{info.Group.Members, info.Unread, info.Seen}, []int64{2, 1, 0})
	list, _, err := w.Members(w.ctx, "g", "bob", "", 10)
	w.ok(err)
	if slices.ContainsFunc(list, func(m chat.Member) bool { return m.User == "$archive" }) || len(list) != 2 {
		w.Errorf("got members %+v", list)
	}
	r, err := w.Receipts(w.ctx, "g", "bob", id, "", 10)
	w.ok(err)
	w.equal([]int64{r.Members, r.Seen, r.Read, int64(len(r.SeenBy) + len(r.Pending))}, []int64{1, 0, 0, 1})
	if info := w.info("g", "$archive"); info.Role != "" {
		w.Errorf("got %+v", info)
	}
}

// testSleepersAndArchiver: where every member is too far behind to hold back trimming, the newest backlog_max messages stay,
// however far the archiver is.
func testSleepersAndArchiver(w *fixture) {
	w.archiveOn()
	w.group("g", []string{"bob"}, keep(2), backlog(10))
	last := w.says("g", "bob", 60)
	w.archiveAll("g")
	for more := true; more; {
		var err error
		more, err = w.Trim(w.ctx, "g")
		w.ok(err)
	}
	w.equal(w.kept("g"), span(last-9, last))
}

// testArchiveSwitchedOff: what an archiver has left behind holds nothing back, and a late step of it changes nothing.
func testArchiveSwitchedOff(w *fixture) {
	w.archiveOn()
	w.group("g", nil, keep(1))
	w.archiveAll("g")
	last := w.says("g", "alice", 10)
	lag := w.unarchived("g", 100)
	w.archiveOff()
	w.equal(w.unarchived("g", 0).On, false)
	w.ack("g", "alice", last)
	w.equal(w.kept("g"), span(2, last)) // until the archiver has left
	if err := w.AlignArchive(w.ctx, []string{"g"}); err != nil {
		w.Fatal(err)
	}
	w.equal(w.kept("g"), span(last, last))
	_, err := w.AckArchive(w.ctx, lag.Log, 2, last, lag.Messages[len(lag.Messages)-1].Mark)
	w.fails(err, chat.ErrConflict)
	w.say("g", "alice", "x")
	w.equal(len(w.takeTasks(archive.TaskArchive)), 1) // of the time before
}
