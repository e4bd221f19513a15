package webhook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
)

// TestOneWebhookFallsBehind: one hangs until far more is due to it than may wait. The other gets everything meanwhile,
// and the first gets everything after its return, once each, from several groups.
func TestOneWebhookFallsBehind(t *testing.T) {
	const messages, groups = 40, 3
	b := newBench(t, func(o *chat.Options) { o.Limits.WebhooksBytesMax = 32 << 10 })
	release := make(chan struct{})
	away := newReceiver(t, func(heard) int { <-release; return 204 })
	fine := newReceiver(t, nil)
	first := b.register(away.URL, webhook.EventMessageCreated)
	b.register(fine.URL, webhook.EventMessageCreated)
	for g := range groups {
		b.MakeGroup(chat.GroupDraft{ID: fmt.Sprint("g", g)}, "alice")
	}
	body := strings.Repeat("x", 1000)
	for range messages {
		for g := range groups {
			b.Say("alice", fmt.Sprint("g", g), body)
		}
	}
	once := func(r *receiver) {
		t.Helper()
		seen := map[string]int{}
		for _, h := range r.waitFor(b.Ctx, messages*groups) {
			seen[fmt.Sprint(h.Data["group"], h.Data["id"])]++
		}
		if len(seen) != messages*groups {
			t.Errorf("got %d messages in %d requests, want %d", len(seen), messages*groups, messages*groups)
		}
	}
	once(fine)
	health, err := b.Get(b.Ctx, chattest.Operator("root"), first.ID)
	b.Must(err)
	if health.WaitingBytes < 16<<10 || health.WaitingBytes > 24<<10 || health.Dropped != 0 {
		t.Errorf("%d bytes wait for it, and %d are lost, want its share of %d, and none", health.WaitingBytes, health.Dropped, 16<<10)
	}
	close(release)
	once(away)
	b.eventually("it has caught up", func() bool {
		for g := range groups {
			page, err := b.Store.Unpublished(b.Ctx, fmt.Sprint("g", g), "", 1)
			b.Must(err)
			if len(page.Behind) > 0 {
				return false
			}
		}
		return true
	})
	b.Say("alice", "g0", "at once again")
	away.waitFor(b.Ctx, messages*groups+1)
}

// TestWebhookBehindIsRemoved: its position is removed with it, and so are the events that it had yet to get.
func TestWebhookBehindIsRemoved(t *testing.T) {
	b := chattest.New(t, func(o *chat.Options) { o.Limits.WebhooksBytesMax = 1 })
	webhooks := webhook.New(b.Service, b.Store, nil)
	made, err := webhooks.Create(b.Ctx, chattest.Operator("root"), webhook.Draft{URL: "https://hooks.example/"})
	b.Must(err)
	g := b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	b.Say("alice", "g", "more than may wait")
	run := func(t webhook.EventsTask) {
		payload, err := json.Marshal(t)
		b.Must(err)
		b.Must(webhooks.Handlers()[webhook.TaskEvents].Run(b.Ctx, chat.TaskRun{Payload: payload}))
	}
	behind := func() int {
		page, err := b.Store.Unpublished(b.Ctx, "g", "", 1)
		b.Must(err)
		return len(page.Behind)
	}
	run(webhook.EventsTask{Group: "g", Epoch: g.Epoch})
	if behind() != 1 {
		t.Fatal("it is not behind, although it has no share")
	}
	_, err = webhooks.Create(b.Ctx, chattest.Operator("root"), webhook.Draft{URL: "https://hooks.example/2"})
	b.Must(err)
	b.Must(webhooks.Drop(b.Ctx, chattest.Operator("root"), made.ID))
	run(webhook.EventsTask{Group: "g", Epoch: g.Epoch, Webhook: made.ID})
	if behind() != 0 {
		t.Error("it is behind although it was removed")
	}
}
