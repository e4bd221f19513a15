package store_test

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/internal/harness"
)

// filed is a report of a message as it reads now. Those of later messages have lower ids, as those of later times do.
func (w *fixture) filed(group string, target int64, by string) reports.Filed {
	w.Helper()
	was := w.entry(group, target)
	return reports.Filed{Was: was, Report: reports.Report{ID: fmt.Sprintf("%05d%s", 99999-target, by), Group: group, Target: target,
		From: decode(w, was).From, By: by, Reason: "spam", At: chat.TimeMs(4000), Message: was.JSON}}
}

func (w *fixture) report(group string, target int64, by string) reports.Report {
	w.Helper()
	r, _, err := w.PutReport(w.ctx, w.filed(group, target, by))
	w.ok(err)
	return r
}

// openTo are the ids of the reports of a group as somebody sees them.
func (w *fixture) openTo(by chat.Caller, group string) (ids []string) {
	w.Helper()
	list, _, err := w.GroupReports(w.ctx, by, group, "", 100, 1<<20)
	w.ok(err)
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}

// everywhere are the ids of the reports of all groups.
func (w *fixture) everywhere() (ids []string) {
	w.Helper()
	refs, _, err := w.AllReports(w.ctx, "", 100)
	w.ok(err)
	for _, ref := range refs {
		ids = append(ids, ref.ID)
	}
	return ids
}

// closed is what the audit gets of a decision.
var closed = audit.Note(operator, audit.ReportClose, "g", "bob", nil)

var reportTests = map[string]func(*fixture){
	"of what is only pinned": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(0))
		id := w.say("g", "bob", "x")
		f := w.filed("g", id, "alice")
		w.pin("alice", "g", id)
		for _, user := range []string{"alice", "bob"} {
			w.ack("g", user, w.info("g", user).Last)
		}
		w.equal(len(w.entries("g")), 0)
		r, created, err := w.PutReport(w.ctx, f)
		w.ok(err)
		w.equal([]any{r, created}, []any{f.Report, true})
		w.ok(w.unpin(chat.Caller{User: "alice"}, "g", id))
		f.ID, f.By = "other", "carl"
		w.join("g", "carl", "alice")
		_, _, err = w.PutReport(w.ctx, f)
		w.fails(err, chat.ErrConflict)
	},
	"once a member and message": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		id := w.say("g", "bob", "x")
		f := w.filed("g", id, "carl")
		first, created, err := w.PutReport(w.ctx, f)
		w.ok(err)
		w.equal([]any{first, created}, []any{f.Report, true})
		f.ID, f.Reason = "other", "again"
		again, created, err := w.PutReport(w.ctx, f)
		w.ok(err)
		w.equal([]any{again, created}, []any{first, false})
		w.report("g", id, "alice")
		w.equal(len(w.openTo(operator, "g")), 2)
		w.equal(len(w.takeTasks(reports.TaskEnd)), 1)
		w.equal(len(w.takeTasks(reports.TaskReported)), 0) // nobody wants to hear of it
		for _, c := range []struct {
			group, by string
			want      error
		}{{"g", "eve", chat.ErrNotFound}, {"none", "carl", chat.ErrNotFound}} {
			f := w.filed("g", id, c.by)
			f.Group = c.group
			_, _, err := w.PutReport(w.ctx, f)
			w.fails(err, c.want)
		}
		mine, err := w.ReportsBy(w.ctx, "g", "carl")
		w.ok(err)
		w.equal(mine, []reports.Report{first})
	},
	"what has changed is read again": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		edited, deleted := w.say("g", "bob", "x"), w.say("g", "bob", "y")
		before := []reports.Filed{w.filed("g", edited, "carl"), w.filed("g", deleted, "carl")}
		a, changes := revision(w, chat.Edit, "bob", edited)
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		a, changes = revision(w, chat.Delete, "bob", deleted)
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		below := w.filed("g", edited, "carl")
		below.Below = &chat.Below{Epoch: w.info("g", "carl").Epoch} // it is not in the archive
		for _, f := range append(before, below) {
			_, _, err := w.PutReport(w.ctx, f)
			w.fails(err, chat.ErrConflict)
		}
		kept := w.report("g", edited, "carl")
		a, changes = revision(w, chat.Delete, "bob", edited)
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		list, _, err := w.GroupReports(w.ctx, operator, "g", "", 10, 1<<20)
		w.ok(err)
		w.equal(list, []reports.Report{kept}) // whatever becomes of the message
	},
	"bounds": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.GroupReportsMax, l.MemberReportsMax = 3, 2 })
		w.group("g", []string{"bob", "carl", "dora"})
		last := w.says("g", "bob", 3)
		w.report("g", last, "carl")
		w.report("g", last-1, "carl")
		full := &chat.Error{Code: chat.CodeQuotaFull}
		_, _, err := w.PutReport(w.ctx, w.filed("g", last-2, "carl"))
		w.fails(err, full)
		r := w.report("g", last, "dora")
		_, _, err = w.PutReport(w.ctx, w.filed("g", last, "alice"))
		w.fails(err, full)
		w.report("g", last, "dora") // the first
		w.closes(r)
		w.report("g", last, "alice")
	},
	"the lists, newest first": func(w *fixture) {
		w.group("g", []string{"ann", "bob", "carl"})
		_, _, err := w.SetRole(w.ctx, membership("g", "ann", "alice", chat.Admin))
		w.ok(err)
		w.group("h", []string{"carl"})
		one, two := w.report("g", w.say("g", "bob", "x"), "carl"), w.report("g", w.say("g", "bob", "y"), "carl")
		ofAdmin := w.report("g", w.say("g", "ann", "z"), "carl")
		w.says("h", "alice", 20)
		other := w.report("h", w.say("h", "alice", "x"), "carl")

		w.equal(w.openTo(chat.Caller{User: "alice"}, "g"), []string{ofAdmin.ID, two.ID, one.ID})
		w.equal(w.openTo(chat.Caller{User: "ann"}, "g"), []string{two.ID, one.ID}) // none about herself
		w.equal(w.openTo(chat.Caller{User: "alice"}, "h"), []string(nil))
		for by, want := range map[string]error{"carl": chat.ErrForbidden, "eve": chat.ErrNotFound} {
			_, _, err := w.GroupReports(w.ctx, chat.Caller{User: by}, "g", "", 10, 1<<20)
			w.fails(err, want)
		}
		_, _, err = w.GroupReports(w.ctx, operator, "none", "", 10, 1<<20)
		w.fails(err, chat.ErrNotFound)
		for _, bounds := range [][2]int{{1, 1 << 20}, {10, 1}} { // by number, and by bytes
			var ids []string
			for after := ""; ; {
				list, next, err := w.GroupReports(w.ctx, operator, "g", after, bounds[0], bounds[1])
				w.ok(err)
				w.equal(len(list), 1)
				ids = append(ids, list[0].ID)
				if after = next; next == "" {
					break
				}
			}
			w.equal(ids, []string{ofAdmin.ID, two.ID, one.ID})
		}

		w.equal(w.everywhere(), []string{other.ID, ofAdmin.ID, two.ID, one.ID})
		refs, more, err := w.AllReports(w.ctx, other.ID, 2)
		w.ok(err)
		w.equal([]any{refs, more}, []any{[]reports.Ref{{ID: ofAdmin.ID, Group: "g"}, {ID: two.ID, Group: "g"}}, true})
		list, err := w.ReadReports(w.ctx, append(refs, reports.Ref{ID: "closed", Group: "g"}))
		w.ok(err)
		w.equal(list, []reports.Report{ofAdmin, two})
		group, err := w.ReportGroup(w.ctx, other.ID)
		w.ok(err)
		w.equal(group, "h")
		_, err = w.ReportGroup(w.ctx, other.ID[:5])
		w.fails(err, chat.ErrNotFound)
	},
	"one takes it": func(w *fixture) {
		w.group("g", []string{"ann", "bob", "carl"})
		_, _, err := w.SetRole(w.ctx, membership("g", "ann", "alice", chat.Admin))
		w.ok(err)
		r := w.report("g", w.say("g", "ann", "x"), "carl")
		ref := reports.Ref{ID: r.ID, Group: "g"}
		for _, by := range []string{"ann", "bob", "eve"} { // she is reported, and the others manage nothing
			_, err := w.TakeReport(w.ctx, chat.Caller{User: by}, ref, "l", time.Minute)
			w.fails(err, chat.ErrNotFound)
		}
		for _, absent := range []reports.Ref{{ID: "none", Group: "g"}, {ID: r.ID, Group: "none"}} {
			_, err := w.TakeReport(w.ctx, operator, absent, "l", time.Minute)
			w.fails(err, chat.ErrNotFound)
		}
		var mu sync.Mutex
		taken := []string{}
		w.together(8, func(i int) error {
			lease := fmt.Sprint("l", i)
			got, err := w.TakeReport(w.ctx, operator, ref, lease, time.Minute)
			if chat.CodeOf(err) == chat.CodeConflict {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			taken = append(taken, lease)
			if err == nil && got.ID != r.ID {
				err = fmt.Errorf("took %+v", got)
			}
			return err
		})
		w.equal(len(taken), 1)
		w.ok(w.SettleReport(w.ctx, ref, "another", &closed)) // it is not theirs
		w.equal(w.openTo(operator, "g"), []string{r.ID})
		w.ok(w.SettleReport(w.ctx, ref, taken[0], nil)) // given back
		w.ok(second(w.TakeReport(w.ctx, operator, ref, "short", time.Millisecond)))
		harness.Eventually(w.T, 10*time.Second, "the lease ends", func() error {
			return second(w.TakeReport(w.ctx, operator, ref, "next", time.Minute))
		})
		w.ok(w.SettleReport(w.ctx, ref, "short", &closed)) // too late
		w.equal(w.openTo(operator, "g"), []string{r.ID})
		w.ok(w.SettleReport(w.ctx, ref, "next", &closed))
		w.equal([][]string{w.openTo(operator, "g"), w.everywhere()}, [][]string{nil, nil})
	},
	"they end": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		old, newer := w.report("g", w.say("g", "bob", "x"), "carl"), w.report("g", w.say("g", "bob", "y"), "carl")
		w.takeTasks(reports.TaskEnd)
		made := w.now() - reports.Keep.Milliseconds()
		w.poke("HSET", w.groupKey("g", "reporters"), old.ID, fmt.Sprintf("%d carl bob %d 0 -", old.Target, made))
		w.ok(w.ExpireReports(w.ctx, "g"))
		w.equal([][]string{w.openTo(operator, "g"), w.everywhere()}, [][]string{{newer.ID}, {newer.ID}})
		w.equal(len(w.takeTasks(reports.TaskEnd)), 1)
		w.closes(newer)
		w.ok(w.ExpireReports(w.ctx, "g"))
		w.equal(len(w.takeTasks(reports.TaskEnd)), 0)
	},
	"a group takes them with it": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		w.report("g", w.say("g", "bob", "x"), "carl")
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		w.equal(w.everywhere(), []string(nil))
		left, err := w.Client().Exists(w.ctx, w.groupKey("g", "reports"), w.groupKey("g", "reporters")).Result()
		w.ok(err)
		w.equal(left, int64(0))
	},
	"a person takes them with them": func(w *fixture) {
		w.group("g", []string{"bob", "carl", "dora"})
		ofBob, ofDora := w.say("g", "bob", "x"), w.say("g", "dora", "y")
		about, by, other := w.report("g", ofBob, "carl"), w.report("g", ofDora, "bob"), w.report("g", ofDora, "carl")
		epoch := w.info("g", "alice").Epoch
		w.ok(w.EraseReports(w.ctx, "g", "another", "bob", chat.IDMax))
		w.ok(w.EraseReports(w.ctx, "g", epoch, "bob", ofBob-1)) // what comes later is of another bob
		w.equal(w.openTo(operator, "g"), []string{by.ID, other.ID, about.ID})
		w.ok(w.EraseReports(w.ctx, "g", epoch, "bob", chat.IDMax))
		w.equal([][]string{w.openTo(operator, "g"), w.everywhere()}, [][]string{{other.ID}, {other.ID}})
		w.equal([]bool{w.found("carl", "g", 1).Traces, w.found("nobody", "g", 1).Traces}, []bool{true, false})

		// One that comes while an erasure runs goes with the message.
		ofAlice := w.say("g", "alice", "z")
		w.report("g", ofAlice, "carl")
		w.eraseEntry(w.deletes("g", ofAlice, w.entry("g", ofAlice)))
		w.equal([][]string{w.openTo(operator, "g"), w.everywhere()}, [][]string{{other.ID}, {other.ID}})
	},
}

// closes closes a report.
func (w *fixture) closes(r reports.Report) {
	w.Helper()
	ref := reports.Ref{ID: r.ID, Group: r.Group}
	w.ok(second(w.TakeReport(w.ctx, operator, ref, "l", time.Minute)))
	w.ok(w.SettleReport(w.ctx, ref, "l", &closed))
	if slices.Contains(w.everywhere(), r.ID) {
		w.Fatalf("%s is still open", r.ID)
	}
}
