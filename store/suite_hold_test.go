package store_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat"
)

var holdTests = map[string]func(*fixture){
	"put and release": func(w *fixture) {
		w.fails(second(w.PutHold(w.ctx, operator, "g", chat.Hold{Reason: "case 1", By: "root", Since: chat.TimeMs(1000)})), chat.ErrNotFound)
		w.fails(second(w.HoldOf(w.ctx, "g")), chat.ErrNotFound)
		w.fails(second(w.ReleaseHold(w.ctx, operator, "g")), chat.ErrNotFound)
		w.group("g", nil)
		w.equal(w.holdOf("g"), (*chat.Hold)(nil))

		want := chat.Hold{Reason: "case 1", By: "root", Since: chat.TimeMs(1000)}
		h, err := w.PutHold(w.ctx, operator, "g", want)
		w.ok(err)
		w.equal(h, want)
		want.Reason, want.By = "case 2", "eve"
		h, err = w.PutHold(w.ctx, operator, "g", chat.Hold{Reason: "case 2", By: "eve", Since: chat.TimeMs(9000)})
		w.ok(err)
		w.equal(h, want) // it began with the first
		w.equal(w.holdOf("g"), &want)

		for _, want := range []bool{true, false} {
			released, err := w.ReleaseHold(w.ctx, operator, "g")
			w.ok(err)
			w.equal(released, want)
			w.equal(w.holdOf("g"), (*chat.Hold)(nil))
		}
	},
	"a held group is not deleted": func(w *fixture) {
		w.group("g", []string{"bob"})
		_, err := w.PutHold(w.ctx, operator, "g", chat.Hold{Reason: "case 7", By: "root", Since: chat.TimeMs(1)})
		w.ok(err)
		names := func(err error) {
			w.Helper()
			w.fails(err, chat.ErrConflict)
			if !chat.IsHeld(err) || !strings.Contains(err.Error(), "case 7") {
				w.Fatalf("got %v, want one that names the hold", err)
			}
		}
		names(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		names(w.DeleteGroup(w.ctx, chat.Caller{User: "root", Admin: true}, "g", nil))
		w.fails(w.DeleteGroup(w.ctx, chat.Caller{User: "bob"}, "g", nil), chat.ErrForbidden) // who may not learns nothing of it
		w.leave("g", "alice")
		_, err = w.Leave(w.ctx, membership("g", "bob", "bob", ""))
		names(err)
		w.equal(w.info("g", "bob").Role, chat.Owner)

		_, err = w.ReleaseHold(w.ctx, operator, "g")
		w.ok(err)
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "bob"}, "g", nil))
	},
	"a deletion takes the emoji of reactions": func(w *fixture) {
		w.group("g", []string{"bob"})
		id, other := w.say("g", "alice", "x"), w.say("g", "alice", "y")
		first := w.send(reaction("bob", id, "secret", false)).ID
		taken := w.send(reaction("bob", id, "secret", true)).ID
		again := w.send(reaction("bob", id, "secret", false)).ID
		kept := w.send(reaction("bob", other, "other", false)).ID
		w.ok(second(w.PutHold(w.ctx, operator, "g", chat.Hold{Reason: "case", By: "root", Since: chat.TimeMs(1)})))
		was := w.entry("g", again)
		w.deleteMessage(id)
		left := `,"group":"g","from":"bob","kind":"reaction","target":3,"sent_at":"1970-01-01T00:00:06.000Z","deleted_at":"1970-01-01T00:00:05.000Z"}`
		w.equal(string(w.entry("g", again).JSON), fmt.Sprintf(`{"id":%d`, again)+left)
		for id, emoji := range map[int64]string{first: "", taken: "secret", kept: "other"} { // what took it back keeps it
			w.equal(decode(w, w.entry("g", id)).Emoji, emoji)
		}
		list, err := w.Kept(w.ctx, "g", again, again, 0)
		w.ok(err)
		w.equal(list, []chat.Kept{{ID: again, Change: w.info("g", "bob").Last, JSON: was.JSON}})
		counts, err := w.Reactions(w.ctx, "g", "bob", 1, chat.IDMax)
		w.ok(err)
		w.equal(counts, map[int64]map[string]chat.ReactionCount{other: {"other": {Count: 1, Mine: true}}})
	},
	"a deletion by a key takes the emoji of reactions by keys": func(w *fixture) {
		w.group("g", []string{"bob"})
		id := w.say("g", "alice", "x")
		by := reaction("bob", id, "secret", false)
		by.Rest = rest(chat.Entry{Group: "g", From: "bob", Content: chat.Content{Kind: chat.Reaction, Target: id, Emoji: "secret"},
			SentAt: chat.TimeMs(6000), Via: "k2"})
		reacted := w.send(by).ID
		w.equal(decode(w, w.entry("g", reacted)).Via, "k2")
		a, changes := revision(w, chat.Delete, "alice", id)
		a.Rest = rest(chat.Entry{Group: "g", From: "alice", Content: chat.Content{Kind: chat.Delete, Target: id}, SentAt: chat.TimeMs(5000), Via: "k1"})
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		left := decode(w, w.entry("g", reacted))
		w.equal([]any{left.Emoji, left.DeletedAt.UnixMilli()}, []any{"", int64(5000)})
		w.equal(decode(w, w.entry("g", w.info("g", "bob").Last)).Via, "k1")
	},
	"a deletion takes the emoji of many reactions": func(w *fixture) {
		users := make([]string, 450)
		for i := range users {
			users[i] = fmt.Sprint("user", i)
		}
		w.group("g", append(users, "bob"))
		id := w.say("g", "alice", "x")
		var ids []int64
		for _, user := range users {
			ids = append(ids, w.send(reaction(user, id, "secret", false)).ID)
		}
		w.deleteMessage(id)
		bare := func() (n int) {
			for _, id := range ids {
				if decode(w, w.entry("g", id)).Emoji == "" {
					n++
				}
			}
			return n
		}
		w.equal(bare(), 200)
		tasks := w.takeTasks(chat.TaskUnreact)
		w.equal(len(tasks), 1)
		var t chat.UnreactTask
		w.ok(json.Unmarshal(tasks[0].Payload, &t))
		w.equal([]any{t.Target, t.From, t.Deletion, t.DeletedAt}, []any{id, ids[200], w.info("g", "bob").Last, "1970-01-01T00:00:05.000Z"})
		w.ok(second(w.PutHold(w.ctx, operator, "g", chat.Hold{Reason: "case", By: "root", Since: chat.TimeMs(1)})))
		next, err := w.Unreact(w.ctx, t)
		w.ok(err)
		w.equal([]int64{next, int64(bare())}, []int64{ids[400], 400})
		t.From = next
		w.ok(second(w.Unreact(w.ctx, t)))
		w.equal(bare(), 450)
		list, err := w.Kept(w.ctx, "g", ids[300], ids[300], 0)
		w.ok(err)
		w.equal([]int64{int64(len(list)), list[0].Change}, []int64{1, t.Deletion})
		t.Epoch = "another"
		w.fails(second(w.Unreact(w.ctx, t)), chat.ErrNotFound)
	},
	"a deletion of an archived message takes the emoji of reactions": func(w *fixture) {
		w.archiveOn()
		w.group("g", []string{"bob"}, func(g *chat.NewGroup) { g.Keep = 1 })
		id := w.say("g", "alice", "x")
		was := w.entry("g", id)
		w.say("g", "alice", "y")
		for _, user := range []string{"alice", "bob"} {
			w.ack("g", user, id+1)
		}
		w.archiveAll("g")
		a := reaction("bob", id, "secret", false)
		a.Below = &chat.Below{Epoch: w.info("g", "bob").Epoch}
		late := w.send(a).ID
		erased, err := chat.Applied(was, chat.Entry{Group: "g", From: "alice", Content: chat.Content{Kind: chat.Delete, Target: id}})
		w.ok(err)
		d := text("g", "alice", "")
		d.Kind, d.Target, d.Below = chat.Delete, id, &chat.Below{Epoch: a.Below.Epoch, Late: late}
		_, err = w.Revise(w.ctx, d, []chat.Change{{Old: was, New: erased}}, false)
		w.ok(err)
		w.equal(decode(w, w.entry("g", late)).Emoji, "")
	},
	"what is changed under a hold is kept": func(w *fixture) {
		w.group("g", []string{"bob"})
		free, id := w.say("g", "alice", "free"), w.say("g", "alice", "first")
		w.edit(free)
		first := w.entry("g", id)
		kept := func(from, to int64) []chat.Kept {
			w.Helper()
			list, err := w.Kept(w.ctx, "g", from, to, 0)
			w.ok(err)
			return list
		}
		_, err := w.PutHold(w.ctx, operator, "g", chat.Hold{Reason: "case", By: "root", Since: chat.TimeMs(1)})
		w.ok(err)
		w.equal(len(kept(1, chat.IDMax)), 0)
		w.edit(id)
		edit, edited := w.info("g", "bob").Last, w.entry("g", id)
		entry := w.entry("g", edit)
		deletion, changes := revision(w, chat.Delete, "alice", id)
		_, err = w.Revise(w.ctx, deletion, changes, false)
		w.ok(err)
		last := w.info("g", "bob").Last
		w.equal(kept(1, chat.IDMax), []chat.Kept{{ID: id, Change: edit, JSON: first.JSON}, {ID: id, Change: last, JSON: edited.JSON}, {ID: edit, Change: last, JSON: entry.JSON}})
		w.equal(kept(edit, edit), []chat.Kept{{ID: edit, Change: last, JSON: entry.JSON}})
		list, err := w.Kept(w.ctx, "g", 1, chat.IDMax, 2)
		w.ok(err)
		w.equal(len(list), 1)
		w.ok(second(w.ReleaseHold(w.ctx, operator, "g")))
		w.equal(len(kept(1, chat.IDMax)), 0)
	},
}

func (w *fixture) holdOf(group string) *chat.Hold {
	w.Helper()
	h, err := w.HoldOf(w.ctx, group)
	w.ok(err)
	return h
}

// second is the error of a call that returns another value too.
func second[T any](_ T, err error) error { return err }
