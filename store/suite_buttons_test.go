package store_test

import (
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/buttons"
)

// presses presses a button some milliseconds after the beginning.
func (w *fixture) presses(epoch, group, user string, id int64, action string) error {
	w.Helper()
	return w.Press(w.ctx, epoch, buttons.Press{ID: fmt.Sprint(user, id, action), Group: group, Message: id, From: "bot", User: user, Action: action, At: chat.TimeMs(4000)})
}

// pressed is what stands for the presses of a moment ago.
func (w *fixture) pressed(group string) []string {
	w.Helper()
	all, err := w.Client().ZRange(w.ctx, w.groupKey(group, "pressed"), 0, -1).Result()
	w.ok(err)
	return all
}

var buttonTests = map[string]func(*fixture){
	"once a member, message and action": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		epoch := w.info("g", "bob").Epoch
		w.ok(w.presses(epoch, "g", "bob", 3, "a"))
		w.equal(len(w.takeTasks(buttons.TaskPressed)), 0) // nobody wants to hear of it
		w.addWebhook("w")
		w.ok(w.presses(epoch, "g", "bob", 3, "a"))
		w.equal(len(w.takeTasks(buttons.TaskPressed)), 0) // the same
		for _, other := range []struct {
			user   string
			id     int64
			action string
		}{{"carl", 3, "a"}, {"bob", 4, "a"}, {"bob", 3, "b"}} {
			w.ok(w.presses(epoch, "g", other.user, other.id, other.action))
			w.equal(len(w.takeTasks(buttons.TaskPressed)), 1)
		}
		// Long ago: each was ten seconds ago.
		for _, press := range w.pressed("g") {
			w.poke("ZADD", w.groupKey("g", "pressed"), w.now()-buttons.Again.Milliseconds(), press)
		}
		w.ok(w.presses(epoch, "g", "bob", 3, "a"))
		w.equal(len(w.takeTasks(buttons.TaskPressed)), 1)
		w.equal(len(w.pressed("g")), 1) // what is over is gone
	},
	"who may press": func(w *fixture) {
		w.group("g", []string{"bob"})
		epoch := w.info("g", "bob").Epoch
		w.fails(w.presses(epoch, "g", "eve", 3, "a"), chat.ErrNotFound)
		w.fails(w.presses(epoch, "none", "bob", 3, "a"), chat.ErrNotFound)
		w.fails(w.presses("another", "g", "bob", 3, "a"), chat.ErrConflict)
	},
}
