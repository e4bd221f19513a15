package store_test

import (
	"fmt"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/quorum"
)

var quorumTests = map[string]func(*fixture){
	"counts, states and reminders": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		id := w.say("g", "alice", "read this")
		ask := quorum.Quorum{Group: "g", ID: id, Need: quorum.Need{Percent: 51}, Author: "alice", By: "alice", Until: chat.TimeMs(time.Now().Add(time.Hour).UnixMilli()),
			Remind: []quorum.Reminder{{AfterS: 3600, Via: "push"}}, Escalate: []string{"bob"}}
		_, err := w.PutQuorum(w.ctx, chat.Caller{User: "bob"}, ask)
		w.fails(err, chat.ErrDeletersOnly)
		for _, want := range []bool{true, false} {
			created, err := w.PutQuorum(w.ctx, chat.Caller{User: "alice"}, ask)
			w.ok(err)
			w.equal(created, want)
		}
		st, err := w.Standing(w.ctx, "g", "bob", id, "0", 1)
		w.ok(err)
		w.equal([]any{st.State, st.Of, st.Read, st.Pending, st.Remind, st.Escalate}, []any{quorum.Open, int64(2), int64(0), []string{"bob"}, ask.Remind, ask.Escalate})
		next, err := w.Standing(w.ctx, "g", "", id, st.Next, 10)
		w.ok(err)
		w.equal(next.Pending, []string{"carl"})
		tasks := len(w.takeTasks(quorum.TaskQuorum))
		w.equal(tasks > 0, true)
		t := quorum.Task{Group: "g", Epoch: st.Epoch, ID: id}
		q, due, err := w.QuorumStep(w.ctx, t)
		w.ok(err)
		w.equal([]any{q.State, due}, []any{quorum.Open, 0})
		w.equal(len(w.takeTasks(quorum.TaskQuorum)), 1)
		w.ok(w.QuorumDone(w.ctx, q, 1, false))
		_, err = w.Ack(w.ctx, "g", "bob", chat.Position{ID: id, Set: true}, true, "")
		w.ok(err)
		_, err = w.Ack(w.ctx, "g", "carl", chat.Position{ID: id, Set: true}, true, "")
		w.ok(err)
		q, _, err = w.QuorumStep(w.ctx, t)
		w.ok(err)
		w.equal([]any{q.State, q.Of, q.Read, q.Reminded}, []any{quorum.Met, int64(2), int64(2), 1})
		w.fails(w.DropQuorum(w.ctx, chat.Caller{User: "alice"}, "g", id), chat.ErrConflict)
		w.equal(len(w.takeTasks(quorum.TaskQuorum)), 1) // of the end
		n, err := w.Client().HExists(w.ctx, w.groupKey("g", "meta"), "quorums").Result()
		w.ok(err)
		w.equal(n, false)
	},
	"who has left, and what is cancelled": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		id := w.say("g", "alice", "read this")
		ask := quorum.Quorum{Group: "g", ID: id, Need: quorum.Need{Users: []string{"bob"}}, Author: "alice", By: "alice", Until: chat.TimeMs(time.Now().Add(time.Hour).UnixMilli())}
		_, err := w.PutQuorum(w.ctx, chat.Caller{User: "alice"}, ask)
		w.ok(err)
		w.ok(w.DropQuorum(w.ctx, chat.Caller{User: "alice"}, "g", id))
		w.ok(w.DropQuorum(w.ctx, chat.Caller{User: "alice"}, "g", id))
		created, err := w.PutQuorum(w.ctx, chat.Caller{User: "alice"}, ask)
		w.ok(err)
		w.equal(created, true)
		w.ok(w.QuorumsLeft(w.ctx, "g"))
		st, err := w.Standing(w.ctx, "g", "", id, "0", 10)
		w.ok(err)
		w.equal(st.State, quorum.Open)
		ask.Until = chat.TimeMs(1)
		_, err = w.PutQuorum(w.ctx, chat.Caller{User: "alice"}, ask)
		w.ok(err)
		st, err = w.Standing(w.ctx, "g", "", id, "0", 10)
		w.ok(err)
		w.equal(fmt.Sprint(st.State, st.Pending), "missed[bob]")
	},
}
