package store_test

import (
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
)

// recurring is the plan of a text of alice's to bob, again and again.
func recurring() schedule.Plan {
	p := toUser()
	p.AtMs, p.Cron = 0, "* * * * *"
	return p
}

var strangerTests = map[string]func(*fixture){
	"a recurring schedule counts what is stored": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxSenderMax = 2 })
		r := w.schedule(recurring(), 1)
		counted := func() int64 {
			w.Helper()
			n, err := w.Client().HLen(w.ctx, w.userKey("alice", "strangers")).Result()
			w.ok(err)
			return n
		}
		next := func() schedule.Outcome {
			w.Helper()
			f := firingOf(w.scheduled(r.ID))
			f.NextMs = 1
			return w.fire(f)
		}
		w.equal(next(), schedule.OutcomeSent)
		w.equal(w.fire(firingOf(r)), schedule.OutcomeStale)
		w.equal(counted(), int64(1))

		// A step that was counted and did not happen comes again.
		key := fmt.Sprintf("%s:{%s}:s:%s", w.Prefix(), r.ID[:3], r.ID)
		w.poke("HSET", key, "version", "1")
		w.equal(next(), schedule.OutcomeSent)
		w.equal(counted(), int64(1))

		for range 5 {
			w.equal(next(), schedule.OutcomeRefused)
		}
		w.equal(w.scheduled(r.ID).LastError, string(chat.CodeInboxFull))
		w.equal(counted(), int64(1))
	},
	"a schedule beyond what may wait": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.StrangersBytesMax = 1500 })
		r := w.schedule(recurring(), 1)
		_, _, _, err := w.InboxAppend(w.ctx, item("nobody", "alice", "x"))
		w.ok(err)
		now := firingOf(r)
		now.Run = "now"
		_, err = w.Fire(w.ctx, now)
		w.fails(err, chat.ErrInboxFull)
		w.equal(w.scheduled(r.ID), r)
		w.equal(w.fire(firingOf(r)), schedule.OutcomeRefused)
		w.equal(w.scheduled(r.ID).LastError, string(chat.CodeInboxFull))
		w.equal(w.inbox("bob", chat.Position{}, 10).Last, int64(0))
	},
	"an item that is tried again": func(w *fixture) {
		i := item("bob", "alice", "x")
		i.Key, i.Content = "k", "c"
		w.put(i)
		w.poke("DEL", w.userKey("bob", "inbox:sent:alice")) // as if only the first of the two steps had been done
		w.put(i)
		n, err := w.Client().HLen(w.ctx, w.userKey("alice", "strangers")).Result()
		w.ok(err)
		w.equal(n, int64(1))
	},
}
