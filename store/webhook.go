package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue"
)

var _ webhook.Store = (*Store)(nil)

var (
	webhookListScript   = newReader("webhook/list", partNames)
	webhookSwapScript   = newScript("webhook/swap", partNames)
	webhookSpreadScript = newScript("webhook/spread", partNames)
	attemptScript       = newScript("webhook/attempt", partNames)
	eventsReadScript    = newReader("webhook/events_read", groupNames)
	eventsScript        = newScript("webhook/events", groupNames)
	catchUpScript       = newScript("webhook/catch_up", groupNames)
	publishScript       = newScript("webhook/publish", partNames)
)

// Webhooks are the endpoints that receive events, and what waits for them.
type Webhooks struct {
	*base
}

// AllWebhooks reads all webhooks and the version of the list at one instant.
func (s *Webhooks) AllWebhooks(ctx context.Context) ([]webhook.Webhook, int64, error) {
	r, err := s.runSafe(ctx, webhookListScript.On(s.keys.part(0)))
	if err != nil {
		return nil, 0, err
	}
	var list []webhook.Webhook
	for pair := range slices.Chunk(r.texts(2), 2) {
		w, err := decodeWebhook(pair[0], pair[1])
		if err != nil {
			return nil, 0, err
		}
		list = append(list, w)
	}
	return list, r.number(1), nil
}

// Webhook reads one webhook.
func (s *Webhooks) Webhook(ctx context.Context, id string) (webhook.Webhook, error) {
	var value *redis.StringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { value = pipe.HGet(ctx, s.keys.part(0).webhooks(), id) })
	if err != nil {
		return webhook.Webhook{}, err
	}
	if value.Val() == "" {
		return webhook.Webhook{}, chat.ErrNotFound
	}
	return decodeWebhook(id, value.Val())
}

// decodeWebhook reads what webhook/swap.lua wrote. Its error contains nothing of the value, which is a secret.
func decodeWebhook(id, value string) (webhook.Webhook, error) {
	parts := strings.SplitN(value, " ", 3)
	w := webhook.Webhook{ID: id}
	if len(parts) < 3 || json.Unmarshal([]byte(parts[2]), &w) != nil || len(w.Secrets) == 0 {
		return webhook.Webhook{}, broke("webhook", fmt.Errorf("%s cannot be read", id))
	}
	w.Revision = number(parts[1])
	return w, nil
}

// SwapWebhook stores a webhook in the place of the revision that was read, or removes it.
func (s *Webhooks) SwapWebhook(ctx context.Context, w webhook.Webhook, remove bool, note audit.Entry) error {
	text := ""
	if !remove {
		b, err := json.Marshal(w)
		if err != nil {
			return broke("webhook_swap", err)
		}
		text = string(b)
	}
	k := s.keys.part(0)
	return s.do(ctx, s.noted(webhookSwapScript.On(k).Arg("id", w.ID).Arg("revision", w.Revision).Arg("in_use", w.DisabledAt == nil).
		Arg("text", text).Arg("webhooks_max", webhooksMax).Arg("task_id", k.taskID()), note))
}

// SpreadWebhooks records in every partition whether there are webhooks.
func (s *Webhooks) SpreadWebhooks(ctx context.Context) error {
	var state *redis.SliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		state = pipe.HMGet(ctx, s.keys.part(0).webhooksState(), "generation", "version")
	})
	if err != nil {
		return err
	}
	r := reply(state.Val())
	if r.number(1) == 0 {
		return nil // there never was one
	}
	calls := make([]call, s.partitions())
	for p := range calls {
		calls[p] = webhookSpreadScript.On(s.keys.part(p)).Arg("generation", r.number(0)).Arg("version", r.number(1))
	}
	_, errs, err := s.runAll(ctx, calls)
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return err
}

// RecordAttempt records the outcome of an attempt to call a webhook.
func (s *Webhooks) RecordAttempt(ctx context.Context, id, reason string) error {
	return s.doSafe(ctx, attemptScript.On(s.keys.part(0)).Arg("id", id).Arg("reason", reason))
}

// WebhookHealth reads the state of each webhook: what was recorded of attempts, and what waits for it.
func (s *Webhooks) WebhookHealth(ctx context.Context) (map[string]webhook.Health, error) {
	var recorded *redis.MapStringStringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { recorded = pipe.HGetAll(ctx, s.keys.part(0).webhooksHealth()) })
	if err != nil {
		return nil, err
	}
	all := make(map[string]webhook.Health)
	for id, value := range recorded.Val() {
		parts := strings.SplitN(value, " ", 4)
		if len(parts) < 4 {
			return nil, broke("webhook", fmt.Errorf("what is known of the attempts of %s cannot be read", id))
		}
		h := webhook.Health{FailingSince: timeOf(parts[0]), LastErrorAt: timeOf(parts[1]), LastSuccessAt: timeOf(parts[2])}
		if parts[3] != "" {
			h.LastError = &parts[3]
		}
		all[id] = h
	}
	waiting, err := s.queues[chat.QueueEgress].Accounts(ctx)
	if err != nil {
		return nil, fail("accounts", err)
	}
	for id, account := range waiting {
		h := all[id]
		h.Waiting, h.WaitingBytes, h.Dropped = account.Tasks, account.Bytes, account.Dropped
		all[id] = h
	}
	return all, nil
}

// timeOf reads a time in ms; nil for 0.
func timeOf(ms string) *chat.Time {
	n := number(ms)
	if n == 0 {
		return nil
	}
	t := chat.TimeMs(n)
	return &t
}

// Unpublished reads entries of a group that were not published yet, to all webhooks that keep up or to one that is behind.
func (s *Webhooks) Unpublished(ctx context.Context, group, behind string, limit int) (webhook.Unpublished, error) {
	replies, err := s.runReads(ctx, []call{eventsReadScript.On(s.keys.group(group)).Arg("webhook", behind).Arg("limit", limit).
		Arg("bytes_max", unpublishedBytesMax)})
	if err != nil {
		return webhook.Unpublished{}, err
	}
	r := replies[0]
	page := webhook.Unpublished{Epoch: r.text(1), Generation: r.number(2), Version: r.number(3), Published: r.number(4), Others: r.number(5)}
	for _, lagging := range strings.Fields(r.text(6)) {
		name, _, _ := strings.Cut(lagging, ":")
		page.Behind = append(page.Behind, name)
	}
	page.Deleted = r.text(7)
	members := make([]string, 0, max(len(r)-8, 0))
	for i := 8; i < len(r); i++ {
		members = append(members, r.text(i))
	}
	page.Messages, err = decodeMessages(group, members)
	if err == nil {
		page.Ended, err = s.ended(ctx, group, page.Messages)
	}
	return page, err
}

// withShare tells a call how much one of so many webhooks may have waiting in a partition.
func (s *Webhooks) withShare(c call, webhooks int) call {
	webhooks = max(webhooks, 1)
	return c.Arg("waiting_max", deliveriesWaitingMax).Arg("share_tasks", webhooksTasksMax/webhooks).
		Arg("share_bytes", s.limits.WebhooksBytesMax/webhooks/s.partitions())
}

// deliveryID names the task of a delivery.
func deliveryID(partition int, d webhook.DeliveryTask) string {
	return queue.WithAccount(keyedTaskID(partition, webhook.TaskDeliver, d.ID), d.Webhook)
}

// PublishEvents enqueues the deliveries of entries up to `to` and records that they are published.
func (s *Webhooks) PublishEvents(ctx context.Context, group string, page webhook.Unpublished, to int64, deliveries []webhook.DeliveryTask,
	webhooks int,
) (behind []string, err error) {
	k := s.keys.group(group)
	c := eventsScript.Sized(k, 4*(len(deliveries)+len(page.Behind))).Arg("group", group).Arg("epoch", page.Epoch).Arg("deleted", page.Deleted).
		Arg("generation", strconv.FormatInt(page.Generation, 10)).Arg("before", page.Published).Arg("after", to).
		Arg("behind_max", webhooksBehindMax).Arg("trim_id", k.taskID())
	c = s.withShare(c, webhooks)
	for _, name := range page.Behind {
		c = c.MoreArgs("deliveries", "entry", 0, "id", "", "webhook", name, "payload", "")
	}
	for _, d := range deliveries {
		payload, err := json.Marshal(d)
		if err != nil {
			return nil, broke("events", err)
		}
		c = c.MoreArgs("deliveries", "entry", d.Entry, "id", deliveryID(k.number, d), "webhook", d.Webhook, "payload", payload)
	}
	r, err := s.run(ctx, c)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(r); i++ {
		behind = append(behind, r.text(i))
	}
	return behind, nil
}

// CatchUp enqueues deliveries to a webhook that is behind in a group, and moves its position.
func (s *Webhooks) CatchUp(ctx context.Context, group, name string, page webhook.Unpublished, to, missed int64, deliveries []webhook.DeliveryTask,
	webhooks int,
) (behind bool, err error) {
	k := s.keys.group(group)
	c := catchUpScript.Sized(k, 2*len(deliveries)).Arg("group", group).Arg("epoch", page.Epoch).Arg("deleted", page.Deleted).
		Arg("generation", strconv.FormatInt(page.Generation, 10)).Arg("webhook", name).Arg("before", page.Published).Arg("after", to).
		Arg("missed", missed).Arg("trim_id", k.taskID())
	c = s.withShare(c, webhooks)
	for _, d := range deliveries {
		payload, err := json.Marshal(d)
		if err != nil {
			return false, broke("catch_up", err)
		}
		c = c.MoreArgs("deliveries", "id", deliveryID(k.number, d), "payload", payload)
	}
	r, err := s.run(ctx, c)
	return r.number(1) == 1, err
}

// Deliveries reads the deliveries of events in the partition of a group.
func (s *Webhooks) Deliveries(ctx context.Context, group string, events []webhook.DeliveryTask) ([]webhook.StoredDelivery, error) {
	ids := make([]string, len(events))
	for i, d := range events {
		ids[i] = deliveryID(s.keys.partition(group), d)
	}
	found, err := s.queues[chat.QueueEgress].Payloads(ctx, ids)
	return storedDeliveries(found), fail("deliveries", err)
}

// WalkDeliveries goes through the deliveries of the partition of a group, or of all.
func (s *Webhooks) WalkDeliveries(ctx context.Context, group, cursor string) ([]webhook.StoredDelivery, string, error) {
	partition := -1
	if group != "" {
		partition = s.keys.partition(group)
	}
	found, next, err := s.queues[chat.QueueEgress].Walk(ctx, partition, cursor)
	return storedDeliveries(found), next, fail("walk_deliveries", err)
}

// storedDeliveries are the deliveries to webhooks among tasks.
func storedDeliveries(tasks []queue.Payload) (list []webhook.StoredDelivery) {
	for _, t := range tasks {
		d := webhook.StoredDelivery{Task: t.ID, Payload: t.Data}
		if t.Kind == webhook.TaskDeliver && json.Unmarshal(t.Data, &d.DeliveryTask) == nil {
			list = append(list, d)
		}
	}
	return list
}

// RewriteDelivery replaces the body of a delivery.
func (s *Webhooks) RewriteDelivery(ctx context.Context, d webhook.StoredDelivery, body json.RawMessage) error {
	now := d.DeliveryTask
	now.Body = body
	payload, err := json.Marshal(now)
	if err != nil {
		return broke("rewrite_delivery", err)
	}
	_, err = s.queues[chat.QueueEgress].Rewrite(ctx, queue.Payload{ID: d.Task, Data: d.Payload}, payload)
	return fail("rewrite_delivery", err)
}

// Publish enqueues deliveries of events that are in no log, and counts those that there is no room for.
func (s *Webhooks) Publish(ctx context.Context, subject string, deliveries []webhook.DeliveryTask, missed map[string]int64, webhooks int,
) (lost map[string]int64, err error) {
	k := s.keys.home(subject)
	c := s.withShare(publishScript.Sized(k, 3*(len(deliveries)+len(missed))), webhooks)
	for name, n := range missed {
		c = c.MoreArgs("deliveries", "id", "", "webhook", name, "payload", n)
	}
	for _, d := range deliveries {
		payload, err := json.Marshal(d)
		if err != nil {
			return nil, broke("publish", err)
		}
		c = c.MoreArgs("deliveries", "id", deliveryID(k.number, d), "webhook", d.Webhook, "payload", payload)
	}
	r, err := s.run(ctx, c)
	if err != nil {
		return nil, err
	}
	lost = make(map[string]int64)
	for i := 1; i+1 < len(r); i += 2 {
		lost[r.text(i)] = r.number(i + 1)
	}
	return lost, nil
}
