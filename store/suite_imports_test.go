package store_test

import (
	"fmt"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/importer"
	"github.com/chatd/chatd/chat/retention"
	"github.com/chatd/chatd/queue"
)

var importTests = map[string]func(*fixture){
	"BeginImport":           testBeginImport,
	"StageImport":           testStageImport,
	"FinishImport":          testFinishImport,
	"FinishImportRefuses":   testFinishImportRefuses,
	"FinishImport archived": testFinishImportArchived,
	"FinishImport expires":  testFinishImportExpires,
	"DiscardImport":         testDiscardImport,
}

// begun begins the import of a file with an epoch that is made of it.
func (w *fixture) begun(group, file string) importer.Begun {
	w.Helper()
	begun, err := w.BeginImport(w.ctx, group, file, "e-"+file)
	w.ok(err)
	return begun
}

// staged are the entries from..to of an import: a notice, a text with a reaction, and texts.
func staged(from, to int64) (entries []importer.Entry) {
	for id := from; id <= to; id++ {
		body := fmt.Sprint("past ", id)
		c, from := chat.Content{Kind: chat.Text, Body: &body}, "alice"
		e := importer.Entry{ID: id}
		switch id {
		case 1:
			c = chat.Content{Kind: chat.Notice}
		case 2:
			e.Reactions = []importer.Reactions{{Emoji: "+1", Users: []string{"bob"}}}
		case 3:
			c, from = chat.Content{Kind: chat.Reaction, Target: 2, Emoji: "+1"}, "bob"
			e.Target, e.Emoji = 2, "+1"
		}
		e.Mark, e.Kind, e.From = fmt.Sprintf("past%02d", id%100), c.Kind, from
		e.Rest = rest(chat.Entry{Group: "past", From: from, Content: c, SentAt: chat.TimeMs(1000 + id)})
		entries = append(entries, e)
	}
	return entries
}

func finished(last int64) importer.Finished {
	return importer.Finished{File: "f", Users: []string{"alice", "bob", "carl"}, Last: last, Mark: fmt.Sprintf("past%02d", last%100),
		Newest: last, ActiveMs: 1000 + last, Group: chat.Group{ID: "past", Name: "The past", CreatedBy: "alice", CreatedAt: chat.TimeMs(1001),
			Epoch: "e-f", Keep: 20, BacklogMax: 10000, Overflow: chat.OverflowDrop, BacklogBytes: 1 << 30}}
}

func testBeginImport(w *fixture) {
	none, err := w.BeginImport(w.ctx, "past", "", "")
	w.ok(err)
	w.equal(none, importer.Begun{})
	w.equal(w.begun("past", "f"), importer.Begun{File: "f", Epoch: "e-f"})
	w.ok(w.StageImport(w.ctx, "past", "e-f", 1, 7, nil))
	again, err := w.BeginImport(w.ctx, "past", "f", "another epoch")
	w.ok(err)
	w.equal(again, importer.Begun{File: "f", Epoch: "e-f", At: 7})
	w.equal(w.begun("past", "other"), importer.Begun{File: "f", Epoch: "e-f", At: 7})
	w.equal(w.info("past", "alice"), chat.Info{Group: chat.Group{ID: "past"}})

	w.group("made", nil)
	_, err = w.BeginImport(w.ctx, "made", "f", "e")
	w.fails(err, chat.ErrExists)
	w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "made", nil))
	_, err = w.BeginImport(w.ctx, "made", "f", "e")
	w.fails(err, chat.ErrGone)
}

func testStageImport(w *fixture) {
	w.fails(w.StageImport(w.ctx, "past", "e-f", 1, 2, nil), chat.ErrConflict)
	w.begun("past", "f")
	w.fails(w.StageImport(w.ctx, "past", "e", 1, 2, nil), chat.ErrConflict)
	w.fails(w.StageImport(w.ctx, "past", "e-f", 2, 3, nil), chat.ErrConflict)
	w.ok(w.StageImport(w.ctx, "past", "e-f", 1, 1201, staged(2, 1201)))
	w.ok(w.StageImport(w.ctx, "past", "e-f", 1, 3, staged(2, 3))) // a repeat
	w.equal(w.begun("past", "f").At, int64(1201))
	base := w.groupKey("past", "import")
	w.equal(w.sizes(base+":msgs", base+":skip", base+":reacted", base+":reactions"), []int64{1200, 1, 1, 1})
}

func testFinishImport(w *fixture) {
	w.begun("past", "f")
	w.ok(w.StageImport(w.ctx, "past", "e-f", 1, 10, staged(1, 10)))
	w.ok(w.FinishImport(w.ctx, finished(10)))

	for i, user := range []string{"alice", "bob", "carl"} {
		in := w.info("past", user)
		role := chat.Ordinary
		if i == 0 {
			role = chat.Owner
		}
		w.equal([]any{in.Role, in.Joined, in.Seen, in.Read, in.Unread, in.MentionsUnread, in.Acted}, []any{role, int64(i + 1), int64(10), int64(10), int64(0), int64(0), true})
		w.equal([]int64{in.Last, in.First, in.Held, in.NewestID, in.ActiveMs, in.CreatedAt.UnixMilli(), in.Group.Members, in.Keep}, []int64{10, 1, 1, 10, 1010, 1001, 3, 20})
		w.equal([]string{in.Epoch, in.Name, in.LastMark, in.CreatedBy, string(in.Visibility)}, []string{"e-f", "The past", "past10", "alice", "private"})
	}
	w.equal(ids(w.entries("past")), span(1, 10))
	w.equal(decode(w, w.entry("past", 4)), chat.Entry{ID: 4, Group: "past", From: "alice", Content: textContent("past 4"), SentAt: chat.TimeMs(1004)})
	counts, err := w.Reactions(w.ctx, "past", "bob", 1, 10)
	w.ok(err)
	w.equal(counts, map[int64]map[string]chat.ReactionCount{2: {"+1": {Count: 1, Mine: true}}})
	w.equal(w.sizes(w.groupKey("past", "import:msgs")), []int64{0})

	// Nobody gets an item or a notification; a task puts the group into their lists.
	tasks := w.takeTasks(chat.TaskMember)
	w.equal(len(tasks), 1)
	w.equal(string(tasks[0].Payload), `{"group":"past","epoch":"e-f","id":1,"by":"alice","what":"imported","users":["alice","bob","carl"],"at_ms":1010}`)
	w.equal(len(w.retains()), 0)

	// What is sent from now on counts, and what was imported does not.
	w.equal(w.say("past", "alice", "now"), int64(11))
	w.equal(w.info("past", "bob").Unread, int64(1))
	c, err := w.Unread(w.ctx, "past", "bob", 5)
	w.ok(err)
	w.equal(c, chat.Cursors{Seen: 10, Read: 4, Unread: 1})

	done, err := w.BeginImport(w.ctx, "past", "f", "e")
	w.ok(err)
	w.equal(done, importer.Begun{File: "f"})
	_, err = w.BeginImport(w.ctx, "past", "other", "e")
	w.fails(err, chat.ErrExists)
}

func textContent(body string) chat.Content { return chat.Content{Kind: chat.Text, Body: &body} }

func testFinishImportRefuses(w *fixture) {
	w.fails(w.FinishImport(w.ctx, finished(10)), chat.ErrConflict)
	w.begun("past", "f")
	w.ok(w.StageImport(w.ctx, "past", "e-f", 1, 9, staged(1, 9)))
	w.fails(w.FinishImport(w.ctx, finished(10)), chat.ErrConflict)
	w.ok(w.StageImport(w.ctx, "past", "e-f", 10, 10, staged(10, 10)))
	archived := finished(10)
	archived.Archived = true
	w.fails(w.FinishImport(w.ctx, archived), chat.ErrConflict)
	w.ok(w.WantArchive(w.ctx, "db", time.Second, true))
	w.fails(w.FinishImport(w.ctx, finished(10)), chat.ErrConflict)
	w.equal(w.info("past", "alice").Epoch, "")
	w.group("past", nil)
	w.fails(w.FinishImport(w.ctx, archived), chat.ErrExists)
	w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "past", nil))
	w.fails(w.FinishImport(w.ctx, archived), chat.ErrGone)
}

func testFinishImportArchived(w *fixture) {
	w.ok(w.WantArchive(w.ctx, "db", time.Second, true))
	w.begun("past", "f")
	w.ok(w.StageImport(w.ctx, "past", "e-f", 1, 7, nil))
	w.ok(w.StageImport(w.ctx, "past", "e-f", 8, 10, staged(8, 10)))
	f := finished(10)
	f.Archived, f.Keep, f.Trimmed = true, 3, chat.Trimmed{ID: 7, Mark: "past07"}
	w.ok(w.FinishImport(w.ctx, f))
	in := w.info("past", "bob")
	w.equal([]int64{in.First, in.Held, in.Archived, in.Last, in.Unread}, []int64{1, 8, 10, 10, 0})
	w.equal(in.Trimmed, f.Trimmed)
	w.equal(ids(w.entries("past")), span(8, 10))
	lag, err := w.Unarchived(w.ctx, "past", 10)
	w.ok(err)
	w.equal([]int64{lag.Archived, int64(len(lag.Messages))}, []int64{10, 0})
}

func testFinishImportExpires(w *fixture) {
	w.recordRetention(30)
	w.begun("past", "f")
	w.ok(w.StageImport(w.ctx, "past", "e-f", 1, 10, staged(1, 10)))
	w.ok(w.FinishImport(w.ctx, finished(10)))
	due := w.takeTasks(retention.TaskRetain)
	w.equal(len(due), 1)
	w.equal(string(due[0].Payload), w.retainTask("past", 30))
	w.equal(due[0].State, queue.Ready)
}

func testDiscardImport(w *fixture) {
	w.fails(w.DiscardImport(w.ctx, "past", "e-f"), chat.ErrConflict)
	w.begun("past", "f")
	w.ok(w.StageImport(w.ctx, "past", "e-f", 1, 10, staged(1, 10)))
	w.fails(w.DiscardImport(w.ctx, "past", "e"), chat.ErrConflict)
	w.ok(w.DiscardImport(w.ctx, "past", "e-f"))
	base := w.groupKey("past", "import")
	n, err := w.Client().Exists(w.ctx, base, base+":msgs", base+":skip", base+":reacted", base+":reactions").Result()
	w.ok(err)
	w.equal(n, int64(0))
	w.equal(w.begun("past", "other"), importer.Begun{File: "other", Epoch: "e-other"})
}
