package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue"
)

var webhookTests = map[string]func(*fixture){
	"SwapWebhook":       testSwapWebhook,
	"WebhookHealth":     testWebhookHealth,
	"SpreadWebhooks":    testSpreadWebhooks,
	"SpreadOlder":       testSpreadOlder,
	"Unpublished":       testUnpublished,
	"PublishEvents":     testPublishEvents,
	"PublishEventsFull": testPublishEventsFull,
	"PublishEventsHold": testPublishEventsHold,
	"Ended":             testEnded,

	"Deliveries, WalkDeliveries and RewriteDelivery": testRewriteDelivery,
}

func testRewriteDelivery(w *fixture) {
	w.addWebhook("w")
	w.group("g", nil)
	w.says("g", "alice", 2)
	w.ok(w.publishOf("g", w.unpublished("g")))
	asked := []webhook.DeliveryTask{delivery(2), delivery(3), delivery(9)}
	list, err := w.Deliveries(w.ctx, "g", asked)
	w.ok(err)
	w.equal(len(list), 2)
	w.ok(w.RewriteDelivery(w.ctx, list[0], json.RawMessage(`{"type":"other"}`)))
	w.ok(w.RewriteDelivery(w.ctx, list[0], json.RawMessage(`{"type":"third"}`))) // it does not read so any more
	bodies := map[string]string{"evt_1": `{"type":"message.created"}`, "evt_2": `{"type":"other"}`, "evt_3": `{"type":"message.created"}`}
	for _, group := range []string{"", "g"} {
		found := map[string]string{}
		for cursor := ""; ; {
			page, next, err := w.WalkDeliveries(w.ctx, group, cursor)
			w.ok(err)
			for _, d := range page {
				found[d.ID] = string(d.Body)
			}
			if cursor = next; next == "" {
				break
			}
		}
		w.equal(found, bodies)
	}
}

func newWebhook(id string) webhook.Webhook {
	return webhook.Webhook{ID: id, URL: "https://hooks.example/" + id, Events: []webhook.EventType{webhook.EventMessageCreated},
		Secrets: []webhook.Secret{{Secret: "whsec_" + id}}, CreatedAt: chat.TimeMs(1000)}
}

// addWebhook registers a webhook and updates the partitions.
func (w *fixture) addWebhook(id string) webhook.Webhook {
	w.Helper()
	w.ok(w.SwapWebhook(w.ctx, newWebhook(id), false, audit.Entry{}))
	w.ok(w.SpreadWebhooks(w.ctx))
	added, err := w.Webhook(w.ctx, id)
	w.ok(err)
	return added
}

// removeWebhook removes it.
func (w *fixture) removeWebhook(old webhook.Webhook) {
	w.Helper()
	w.ok(w.SwapWebhook(w.ctx, old, true, audit.Entry{}))
	w.ok(w.SpreadWebhooks(w.ctx))
}

// deliveryTasks are the ids and payloads of the deliveries that wait, by id.
func (w *fixture) deliveryTasks() []string {
	w.Helper()
	c, err := queue.NewClient(queue.Options{Client: w.Client(), Prefix: w.Prefix(), Partitions: w.Partitions(), Queue: chat.QueueEgress})
	w.ok(err)
	infos, _, err := c.List(w.ctx, queue.ListQuery{State: queue.Ready, Limit: 100})
	w.ok(err)
	var found []string
	for _, i := range infos {
		var t webhook.DeliveryTask
		w.ok(json.Unmarshal(i.Payload, &t))
		found = append(found, i.Kind+" "+t.Webhook+" "+t.ID)
	}
	sort.Strings(found)
	return found
}

func (w *fixture) unpublished(group string) webhook.Unpublished {
	w.Helper()
	page, err := w.Unpublished(w.ctx, group, "", 100)
	w.ok(err)
	return page
}

func delivery(n int64) webhook.DeliveryTask {
	return webhook.DeliveryTask{Webhook: "w", ID: fmt.Sprint("evt_", n), Body: json.RawMessage(`{"type":"message.created"}`), Entry: n}
}

// publishOf publishes what a page holds, a delivery for each entry.
func (w *fixture) publishOf(group string, page webhook.Unpublished) error {
	w.Helper()
	var deliveries []webhook.DeliveryTask
	for _, m := range page.Messages {
		deliveries = append(deliveries, delivery(m.ID))
	}
	_, err := w.PublishEvents(w.ctx, group, page, page.Messages[len(page.Messages)-1].ID, deliveries, 1)
	return err
}

func testSwapWebhook(w *fixture) {
	_, err := w.Webhook(w.ctx, "a")
	w.fails(err, chat.ErrNotFound)
	list, version, err := w.AllWebhooks(w.ctx)
	w.ok(err)
	w.equal(len(list), 0)
	w.equal(version, int64(0))
	w.ok(w.SpreadWebhooks(w.ctx))

	w.ok(w.SwapWebhook(w.ctx, newWebhook("a"), false, audit.Entry{}))
	w.fails(w.SwapWebhook(w.ctx, newWebhook("a"), false, audit.Entry{}), chat.ErrConflict)
	w.equal(len(w.takeTasks(webhook.TaskSpread)), 1)
	got, err := w.Webhook(w.ctx, "a")
	w.ok(err)
	want := newWebhook("a")
	want.Revision = 1
	w.equal(got, want)

	changed := got
	changed.DisabledAt, changed.Secrets = &got.CreatedAt, append([]webhook.Secret{{Secret: "whsec_new"}}, got.Secrets...)
	w.ok(w.SwapWebhook(w.ctx, changed, false, audit.Entry{}))
	w.fails(w.SwapWebhook(w.ctx, changed, false, audit.Entry{}), chat.ErrConflict)
	w.fails(w.SwapWebhook(w.ctx, got, true, audit.Entry{}), chat.ErrConflict)
	changed.Revision = 2
	w.ok(w.SwapWebhook(w.ctx, newWebhook("b"), false, audit.Entry{}))
	list, version, err = w.AllWebhooks(w.ctx)
	w.ok(err)
	slices.SortFunc(list, func(a, b webhook.Webhook) int { return int(a.ID[0]) - int(b.ID[0]) })
	want = newWebhook("b")
	want.Revision = 1
	w.equal(list, []webhook.Webhook{changed, want})
	w.equal(version, int64(3))

	w.ok(w.SwapWebhook(w.ctx, changed, true, audit.Entry{}))
	_, err = w.Webhook(w.ctx, "a")
	w.fails(err, chat.ErrNotFound)
	for i := range 99 {
		w.ok(w.SwapWebhook(w.ctx, newWebhook(fmt.Sprint("n", i)), false, audit.Entry{}))
	}
	w.fails(w.SwapWebhook(w.ctx, newWebhook("more"), false, audit.Entry{}), chat.ErrOutOfRange)
}

// testWebhookHealth: what attempts say of a webhook, and what waits for it.
func testWebhookHealth(w *fixture) {
	health := func() webhook.Health {
		w.Helper()
		all, err := w.WebhookHealth(w.ctx)
		w.ok(err)
		if len(all) > 1 {
			w.Errorf("got %+v, want one webhook at most", all)
		}
		return all["w"]
	}
	w.fails(w.RecordAttempt(w.ctx, "w", "answered 500"), chat.ErrNotFound)
	added := w.addWebhook("w")
	w.equal(health(), webhook.Health{})

	w.ok(w.RecordAttempt(w.ctx, "w", ""))
	h := health()
	w.equal([]any{h.FailingSince, h.LastError, h.LastErrorAt}, []any{(*chat.Time)(nil), (*string)(nil), (*chat.Time)(nil)})
	w.ok(w.RecordAttempt(w.ctx, "w", "no answer in time"))
	first := health()
	w.equal(first.LastSuccessAt, h.LastSuccessAt)
	w.equal([]any{*first.LastError, *first.FailingSince}, []any{"no answer in time", *first.LastErrorAt})
	w.ok(w.RecordAttempt(w.ctx, "w", "answered 500"))
	h = health()
	w.equal([]any{*h.LastError, *h.FailingSince}, []any{"answered 500", *first.FailingSince})
	w.ok(w.RecordAttempt(w.ctx, "w", ""))
	h = health()
	w.equal([]any{*h.LastError, h.FailingSince}, []any{"answered 500", (*chat.Time)(nil)})

	w.group("g", nil)
	w.says("g", "alice", 2)
	w.ok(w.publishOf("g", w.unpublished("g")))
	w.ok(w.Enqueue(w.ctx, chat.NewTask{Queue: chat.QueueEgress, Kind: webhook.TaskDeliver, Subject: "g", Key: "k", Account: "w", Payload: delivery(9)}))
	h = health()
	if h.Waiting != 4 || h.WaitingBytes < 4*50 || h.WaitingBytes > 4*300 {
		w.Errorf("%d deliveries of %d bytes wait, want 4 of about 150 each", h.Waiting, h.WaitingBytes)
	}
	w.removeWebhook(added)
	w.equal(health().LastError, (*string)(nil))
}

// testSpreadWebhooks: entries are told of while there is a webhook in use, and a generation ends with the last one.
func testSpreadWebhooks(w *fixture) {
	w.group("g", nil)
	w.says("g", "alice", 3)
	w.equal(len(w.takeTasks(webhook.TaskEvents)), 0)
	w.equal(w.unpublished("g").Generation, int64(0))

	a := w.addWebhook("a")
	w.equal(w.unpublished("g"), webhook.Unpublished{Epoch: w.info("g", "alice").Epoch, Generation: 1, Version: 1, Published: -1, Others: -1, Messages: []chat.Message{}})
	fifth := w.say("g", "alice", "told")
	page := w.unpublished("g")
	w.equal(ids(page.Messages), []int64{fifth})
	w.equal(len(w.takeTasks(webhook.TaskEvents)), 1)

	b := w.addWebhook("b")
	w.removeWebhook(a)
	w.equal(w.unpublished("g").Generation, int64(1)) // there was one all the time
	b.DisabledAt = &b.CreatedAt
	w.ok(w.SwapWebhook(w.ctx, b, false, audit.Entry{}))
	w.ok(w.SpreadWebhooks(w.ctx))
	w.equal(w.unpublished("g").Generation, int64(0))
	w.says("g", "alice", 2)
	w.equal(len(w.takeTasks(webhook.TaskEvents)), 0)

	w.addWebhook("c")
	page = w.unpublished("g")
	w.equal(page.Generation, page.Version)
	w.equal(page.Published, int64(-1)) // what was sent while there was none is nobody's
	last := w.say("g", "alice", "told again")
	w.equal(ids(w.unpublished("g").Messages), []int64{last})
}

// testSpreadOlder: two nodes tell the partitions, and what the slower one had read before is of no effect.
func testSpreadOlder(w *fixture) {
	w.group("g", nil)
	a := newWebhook("a")
	w.ok(w.SwapWebhook(w.ctx, a, false, audit.Entry{}))
	a.Revision = 1
	times := w.before(w.tag("g")+"wants", func() { w.removeWebhook(a) })
	w.ok(w.SpreadWebhooks(w.ctx))
	w.equal(times.Load(), int64(1))
	w.equal(w.unpublished("g").Generation, int64(0))
	w.say("g", "alice", "of no webhook")
	w.equal(len(w.takeTasks(webhook.TaskEvents)), 0)

	b := newWebhook("b")
	w.ok(w.SwapWebhook(w.ctx, b, false, audit.Entry{}))
	b.Revision = 1
	w.ok(w.SpreadWebhooks(w.ctx))
	w.ok(w.SwapWebhook(w.ctx, b, true, audit.Entry{}))
	w.before(w.tag("g")+"wants", func() { w.addWebhook("c") })
	w.ok(w.SpreadWebhooks(w.ctx)) // that there is none any more
	_, version, err := w.AllWebhooks(w.ctx)
	w.ok(err)
	w.say("g", "alice", "of a webhook")
	page := w.unpublished("g")
	w.equal([]int64{page.Generation, page.Version, int64(len(page.Messages))}, []int64{version, version, 1})
}

func testUnpublished(w *fixture) {
	_, err := w.Unpublished(w.ctx, "g", "", 10)
	w.fails(err, chat.ErrNotFound)
	w.addWebhook("a")
	w.group("g", []string{"bob"})
	page := w.unpublished("g")
	w.equal(page.Published, int64(0)) // the notices of the creation are told of, and all of them
	w.equal(ids(page.Messages), span(1, 2))
	w.says("g", "alice", 5)
	page, err = w.Unpublished(w.ctx, "g", "", 3)
	w.ok(err)
	w.equal(ids(page.Messages), span(1, 3))
	w.ok(w.publishOf("g", page))
	w.leave("g", "alice") // left, and the notice of the heir's role
	w.equal(ids(w.unpublished("g").Messages), span(4, 9))
}

func testPublishEvents(w *fixture) {
	added := w.addWebhook("w")
	w.group("g", nil)
	page := w.unpublished("g")
	w.ok(w.publishOf("g", page))
	w.equal(w.deliveryTasks(), []string{"hook w evt_1"})
	w.fails(w.publishOf("g", page), chat.ErrConflict) // another did it: no delivery is made twice
	w.equal(w.deliveryTasks(), []string{"hook w evt_1"})
	w.equal(len(w.unpublished("g").Messages), 0)

	w.says("g", "alice", 3)
	page = w.unpublished("g")
	_, err := w.PublishEvents(w.ctx, "g", page, 3, []webhook.DeliveryTask{delivery(2)}, 1)
	w.ok(err) // not all of a page, not of each entry
	w.equal(ids(w.unpublished("g").Messages), []int64{4})
	w.equal(w.deliveryTasks(), []string{"hook w evt_1", "hook w evt_2"})
	w.equal(len(w.takeTasks(webhook.TaskEvents)), 1) // one waits, however many entries

	page = w.unpublished("g")
	other := page
	other.Epoch = "another"
	w.fails(w.publishOf("g", other), chat.ErrNotFound)
	w.removeWebhook(added)
	w.fails(w.publishOf("g", page), chat.ErrConflict)
	w.addWebhook("v")
	w.say("g", "alice", "of the next generation")
	w.fails(w.publishOf("g", page), chat.ErrConflict)
}

// deliveriesWaitingMax is how many tasks a shard of the egress queue takes before entries wait in their logs.
const deliveriesWaitingMax = 100_000

// testPublishEventsFull: entries that there is no room for stay unpublished until there is.
func testPublishEventsFull(w *fixture) {
	w.addWebhook("w")
	w.group("g", nil)
	tasks := queue.NewKeys(w.Prefix(), queue.Partition("g", w.Partitions()), chat.QueueEgress).Of("tasks")
	const fill = `local some = {}
	for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do some[#some + 1], some[#some + 2] = i, '' end
	return redis.call('HSET', KEYS[1], unpack(some))`
	for from := 1; from < deliveriesWaitingMax; from += 1000 { // in short steps, as any server is used
		w.ok(w.Client().Eval(w.ctx, fill, []string{tasks}, from, min(from+999, deliveriesWaitingMax-1)).Err())
	}
	w.ok(w.publishOf("g", w.unpublished("g"))) // there was room for one
	w.equal(w.deliveryTasks(), []string{"hook w evt_1"})

	w.says("g", "alice", 2)
	page := w.unpublished("g")
	w.fails(w.publishOf("g", page), webhook.ErrFull)
	w.equal(w.unpublished("g"), page)
	w.equal(w.deliveryTasks(), []string{"hook w evt_1"})

	w.poke("HDEL", tasks, 1)
	w.ok(w.publishOf("g", page))
	w.equal(w.deliveryTasks(), []string{"hook w evt_1", "hook w evt_2", "hook w evt_3"})
	w.equal(len(w.unpublished("g").Messages), 0)
}

// testPublishEventsHold: what was not told of is not trimmed, up to backlog_max.
func testPublishEventsHold(w *fixture) {
	w.addWebhook("w")
	w.group("g", nil, keep(0), backlog(100))
	w.says("g", "alice", 10)
	w.ack("g", "alice", 11)
	w.equal(len(w.entries("g")), 11)
	w.ok(w.publishOf("g", w.unpublished("g")))
	w.equal(len(w.entries("g")), 0)
	w.says("g", "alice", 300)
	w.ack("g", "alice", 311)
	w.equal(len(w.entries("g")), 100)
	w.equal(w.unpublished("g").Messages[0].ID, int64(212))
}

func testEnded(w *fixture) {
	w.group("before", nil)
	w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "before", nil))
	w.equal(len(w.takeTasks(webhook.TaskEnded)), 0)

	w.addWebhook("w")
	w.group("g", nil)
	w.ok(w.publishOf("g", w.unpublished("g")))
	for _, data := range []string{`"secret"`, `{"a":1,"sent_at":"secret"}`} {
		a := text("g", "alice", "secret")
		a.Rest = rest(chat.Entry{Group: "g", From: "alice", Content: chat.Content{Kind: chat.Text, Body: new("secret"), Data: json.RawMessage(data)}, SentAt: chat.TimeMs(3000)})
		w.send(a)
	}
	epoch := w.info("g", "alice").Epoch
	w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "root", Admin: true}, "g", nil))
	tasks := w.takeTasks(webhook.TaskEnded)
	w.equal(len(tasks), 1)
	var t webhook.EndedTask
	w.ok(json.Unmarshal(tasks[0].Payload, &t))
	w.equal([]string{t.Group, t.Epoch, t.By}, []string{"g", epoch, "root"})
	w.equal(len(t.Unpublished), 2)
	var e chat.Entry
	w.ok(errors.Join(json.Unmarshal(t.Unpublished[1], &e)))
	w.equal(e, chat.Entry{ID: 3, Group: "g", From: "alice", Content: chat.Content{Kind: chat.Text}, SentAt: chat.TimeMs(3000)})
	if strings.Contains(string(tasks[0].Payload), "secret") {
		w.Errorf("the task holds %s", tasks[0].Payload)
	}

	w.group("last", nil)
	w.leave("last", "alice") // the last one out
	w.equal(len(w.takeTasks(webhook.TaskEnded)), 1)
}
