package store_test

import (
	"encoding/json"
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue"
)

var behindTests = map[string]func(*fixture){
	"share":       testShare,
	"catch up":    testCatchUp,
	"task":        testBehindTask,
	"removed":     testBehindRemoved,
	"trimmed":     testBehindTrimmed,
	"ended":       testBehindEnded,
	"generations": testBehindGenerations,
	"in no log":   testPublish,
}

// twoWebhooks registers w and v, and publishes the creation of g.
func (w *fixture) twoWebhooks(options ...func(*chat.NewGroup)) {
	w.Helper()
	w.addWebhook("w")
	w.addWebhook("v")
	w.group("g", nil, options...)
	w.equal(w.publishTwo(), []string(nil))
}

// publishTwo publishes everything to w and v, except for those that are behind, and returns which fall behind.
func (w *fixture) publishTwo() []string {
	w.Helper()
	page := w.unpublished("g")
	var deliveries []webhook.DeliveryTask
	for _, m := range page.Messages {
		for _, name := range []string{"w", "v"} {
			deliveries = append(deliveries, deliveryTo(name, m.ID))
		}
	}
	behind, err := w.PublishEvents(w.ctx, "g", page, page.Messages[len(page.Messages)-1].ID, deliveries, 2)
	w.ok(err)
	return behind
}

func deliveryTo(name string, entry int64) webhook.DeliveryTask {
	d := delivery(entry)
	d.Webhook, d.ID = name, fmt.Sprint("evt_", name, entry)
	return d
}

// fill makes it look as if so many more tasks, or bytes, waited for a webhook.
func (w *fixture) fill(what, name string, n int) {
	w.Helper()
	w.poke("HINCRBY", queue.NewKeys(w.Prefix(), queue.Partition("g", w.Partitions()), chat.QueueEgress).Of("counts"), what+"~"+name, n)
}

// behind puts w behind from a message on that says so, and returns its id.
func (w *fixture) behind() int64 {
	w.Helper()
	w.fill("tasks", "w", 40_000)
	id := w.say("g", "alice", "over the share of w")
	w.equal(w.publishTwo(), []string{"w"})
	w.fill("tasks", "w", -40_000)
	return id
}

func (w *fixture) unpublishedTo(name string) webhook.Unpublished {
	w.Helper()
	page, err := w.Unpublished(w.ctx, "g", name, 100)
	w.ok(err)
	return page
}

// catchUpTo publishes the entries of a page up to an id to w.
func (w *fixture) catchUpTo(page webhook.Unpublished, to, missed int64) (bool, error) {
	w.Helper()
	var deliveries []webhook.DeliveryTask
	for _, m := range page.Messages {
		if m.ID <= to {
			deliveries = append(deliveries, deliveryTo("w", m.ID))
		}
	}
	return w.CatchUp(w.ctx, "g", "w", page, to, missed, deliveries, 2)
}

func (w *fixture) health(name string) webhook.Health {
	w.Helper()
	all, err := w.WebhookHealth(w.ctx)
	w.ok(err)
	return all[name]
}

// testShare: each webhook has an equal share of what may wait. One that is over it falls behind, and the others get everything.
func testShare(w *fixture) {
	for name, most := range map[string]int{"tasks": 40_000, "bytes": 128 << 20 / w.Partitions()} {
		w.with(func(*chat.Limits) {})
		w.twoWebhooks()
		w.says("g", "alice", 1)
		room := map[string]int{"tasks": 2, "bytes": 120}[name] // for the one that waits, and less than two more
		w.fill(name, "w", most-room)
		w.equal(w.publishTwo(), []string(nil)) // the last one that begins below the share
		fell := w.say("g", "alice", "over the share of w")
		w.says("g", "alice", 2)
		w.equal(w.publishTwo(), []string{"w"})
		w.equal(w.unpublished("g").Behind, []string{"w"})
		w.equal(len(w.unpublished("g").Messages), 0)
		page := w.unpublishedTo("w")
		w.equal([]any{page.Published, page.Others, ids(page.Messages)}, []any{fell - 1, fell + 2, span(fell, fell+2)})
		w.equal([]int64{w.health("v").Waiting, w.health("w").Dropped}, []int64{fell + 2, 0})

		w.says("g", "alice", 1) // what is made for it all the same is left out
		w.equal(w.publishTwo(), []string(nil))
		w.equal(w.health("v").Waiting, fell+3)
		_, err := w.catchUpTo(w.unpublishedTo("w"), fell, 0)
		w.fails(err, webhook.ErrFull)
		w.equal(w.unpublishedTo("w").Published, fell-1)
	}
}

// testCatchUp: it goes on from where it fell behind, gets each entry once, and keeps up again at the end.
func testCatchUp(w *fixture) {
	w.twoWebhooks()
	fell := w.behind()
	w.says("g", "alice", 4)
	w.equal(w.publishTwo(), []string(nil))
	last := fell + 4
	page := w.unpublishedTo("w")
	w.equal(ids(page.Messages), span(fell, last))
	w.says("g", "alice", 1)
	w.equal(ids(w.unpublishedTo("w").Messages), span(fell, last)) // not what the others have not got

	behind, err := w.catchUpTo(page, fell+1, 0)
	w.ok(err)
	w.equal(behind, true)
	_, err = w.catchUpTo(page, fell+1, 0)
	w.fails(err, chat.ErrConflict) // no delivery is made twice
	page = w.unpublishedTo("w")
	w.equal(ids(page.Messages), span(fell+2, last))
	w.equal(w.publishTwo(), []string(nil)) // the others go on meanwhile
	behind, err = w.catchUpTo(page, last, 0)
	w.ok(err)
	w.equal(behind, true)

	stale := w.unpublished("g")
	behind, err = w.catchUpTo(w.unpublishedTo("w"), last+1, 0)
	w.ok(err)
	w.equal(behind, false)
	w.equal([]any{w.unpublishedTo("w").Published, w.unpublished("g").Behind}, []any{int64(-1), []string(nil)})
	next := w.say("g", "alice", "to both")
	stale.Messages = w.unpublished("g").Messages
	_, err = w.PublishEvents(w.ctx, "g", stale, next, []webhook.DeliveryTask{deliveryTo("v", next)}, 2)
	w.fails(err, chat.ErrConflict) // w was left out, and is not behind any longer
	w.equal(w.publishTwo(), []string(nil))
	var want []string
	for id := range last + 2 {
		want = append(want, fmt.Sprint("hook v evt_v", id+1), fmt.Sprint("hook w evt_w", id+1))
	}
	got := map[string]bool{}
	for _, d := range w.deliveryTasks() {
		got[d] = true
	}
	w.equal([]int{len(got), len(w.deliveryTasks())}, []int{len(want), len(want)})
	for _, d := range want {
		if !got[d] {
			w.Errorf("%s is missing", d)
		}
	}
}

// testBehindTask: one task waits for each webhook that is behind, and comes back with the next entry if it was taken away.
func testBehindTask(w *fixture) {
	w.twoWebhooks()
	w.takeTasks(webhook.TaskEvents)
	epoch := w.info("g", "alice").Epoch
	tasks := func() (found []string) {
		w.Helper()
		infos, _, err := w.core().List(w.ctx, queue.ListQuery{State: queue.Delayed})
		w.ok(err)
		for _, i := range infos {
			var t webhook.EventsTask
			w.ok(json.Unmarshal(i.Payload, &t))
			w.equal(t, webhook.EventsTask{Group: "g", Epoch: epoch, Webhook: "w"})
			found = append(found, i.ID)
		}
		return found
	}
	w.behind()
	first := tasks()
	w.equal(len(first), 1)
	w.says("g", "alice", 1)
	w.equal(w.publishTwo(), []string(nil))
	w.equal(tasks(), first)
	_, err := w.core().Cancel(w.ctx, first[0])
	w.ok(err)
	w.says("g", "alice", 1)
	w.equal(w.publishTwo(), []string(nil))
	w.equal(tasks(), first)

	page := w.unpublishedTo("w")
	_, err = w.catchUpTo(page, page.Others, 0)
	w.ok(err)
	w.behind() // again, while the task of the first time is still there
	w.equal(len(tasks()), 2)
}

// testBehindRemoved: what gets nothing any longer is taken off.
func testBehindRemoved(w *fixture) {
	w.twoWebhooks()
	w.behind()
	behind, err := w.CatchUp(w.ctx, "g", "w", w.unpublishedTo("w"), chat.IDMax, 0, nil, 1)
	w.ok(err)
	w.equal(behind, false)
	w.equal(w.unpublished("g").Behind, []string(nil))
	n, err := w.Client().HExists(w.ctx, w.groupKey("g", "meta"), "behind").Result()
	w.ok(err)
	w.equal(n, false)
}

// testBehindTrimmed: the log waits for a webhook that is behind as for a member, up to backlog_max. What is trimmed then is
// counted.
func testBehindTrimmed(w *fixture) {
	w.twoWebhooks(keep(0), backlog(100))
	fell := w.behind()
	w.says("g", "alice", 10)
	w.equal(w.publishTwo(), []string(nil))
	w.ack("g", "alice", fell+10)
	w.equal(w.kept("g"), span(fell, fell+10))
	for range 3 {
		w.says("g", "alice", 90)
		w.equal(w.publishTwo(), []string(nil))
	}
	last := fell + 280
	w.ack("g", "alice", last)
	w.equal(w.kept("g"), span(last-99, last))

	page := w.unpublishedTo("w")
	w.equal([]any{page.Published, page.Messages[0].ID}, []any{fell - 1, last - 99})
	behind, err := w.catchUpTo(page, last, last-99-fell)
	w.ok(err)
	w.equal([]any{behind, w.health("w").Dropped, w.health("v").Dropped}, []any{false, last - 99 - fell, int64(0)})
	w.equal(w.kept("g"), []int64{})
}

// testBehindEnded: the group goes, and with it what a webhook had yet to get.
func testBehindEnded(w *fixture) {
	w.twoWebhooks()
	w.behind()
	w.says("g", "alice", 4)
	w.equal(w.publishTwo(), []string(nil))
	w.says("g", "alice", 2)
	w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "root", Admin: true}, "g", nil))
	tasks := w.takeTasks(webhook.TaskEnded)
	w.equal(len(tasks), 1)
	var t webhook.EndedTask
	w.ok(json.Unmarshal(tasks[0].Payload, &t))
	w.equal([]any{len(t.Unpublished), t.Behind}, []any{2, map[string]int64{"w": 5}})
}

// testBehindGenerations: a position of a time before all webhooks were removed says nothing.
func testBehindGenerations(w *fixture) {
	w.twoWebhooks()
	w.behind()
	for _, name := range []string{"w", "v"} {
		old, err := w.Webhook(w.ctx, name)
		w.ok(err)
		w.removeWebhook(old)
	}
	w.equal(w.unpublishedTo("w").Generation, int64(0))
	w.addWebhook("w")
	w.addWebhook("v")
	w.says("g", "alice", 1)
	w.equal([]any{w.unpublishedTo("w").Published, w.unpublished("g").Behind}, []any{int64(-1), []string(nil)})
	w.equal(w.publishTwo(), []string(nil))
}

// testPublish: events that are in no log are bounded by the share as well, and what is over it is lost and counted.
func testPublish(w *fixture) {
	publish := func(missed map[string]int64, entries ...int64) map[string]int64 {
		w.Helper()
		var deliveries []webhook.DeliveryTask
		for _, id := range entries {
			deliveries = append(deliveries, deliveryTo("w", id), deliveryTo("v", id))
		}
		lost, err := w.Publish(w.ctx, "g", deliveries, missed, 2)
		w.ok(err)
		return lost
	}
	w.equal(publish(nil, 1), map[string]int64{})
	w.equal(publish(nil, 1), map[string]int64{}) // it is there already
	w.equal(len(w.deliveryTasks()), 2)
	w.fill("tasks", "w", 40_000)
	w.equal(publish(nil, 1, 2), map[string]int64{"w": 1})
	w.equal(publish(map[string]int64{"w": 7}, 3), map[string]int64{"w": 8})
	w.equal([]int64{w.health("w").Dropped, w.health("v").Dropped, w.health("v").Waiting}, []int64{9, 0, 3})
	w.fill("tasks", "w", -40_000)
	w.fill("bytes", "v", 128<<20/w.Partitions())
	w.equal(publish(nil, 4), map[string]int64{"v": 1})
}
