package webhook_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/deliver"
	"github.com/chatd/chatd/queue"
)

// withdrawal is a bench whose deliveries wait until the test makes them.
type withdrawal struct {
	*bench
	core, egress *queue.Client
}

func newWithdrawal(t *testing.T) *withdrawal {
	t.Helper()
	b := chattest.New(t)
	sender := deliver.New(deliver.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(sender.Close)
	w := &withdrawal{bench: &bench{b, webhook.New(b.Service, b.Store, sender)}}
	for name, client := range map[string]**queue.Client{chat.QueueCore: &w.core, chat.QueueEgress: &w.egress} {
		var err error
		*client, err = queue.NewClient(queue.Options{Client: b.Store.Client(), Queue: name})
		b.Must(err)
	}
	return w
}

// run runs all tasks of a kind that wait, and returns how many there were.
func (w *withdrawal) run(kind string) (n int) {
	w.T.Helper()
	client := w.core
	if kind == webhook.TaskDeliver {
		client = w.egress
	}
	for cursor := ""; ; {
		page, next, err := client.Walk(w.Ctx, -1, cursor)
		w.Must(err)
		for _, task := range page {
			if task.Kind != kind {
				continue
			}
			w.Must(w.Handlers()[kind].Run(w.Ctx, chat.TaskRun{Payload: task.Data}))
			_, err := client.Cancel(w.Ctx, task.ID)
			w.Must(err)
			n++
		}
		if cursor = next; next == "" {
			return n
		}
	}
}

// TestDeletedContentIsNotDelivered: what waits for an endpoint that is down reports entries that are deleted meanwhile, and has nothing
// of them any more. The events stay, each under its id.
func TestDeletedContentIsNotDelivered(t *testing.T) {
	const canary = "xyzzy"
	text := func(body string) chat.Content {
		return chat.Content{Kind: chat.Text, Body: new(body + canary), Data: json.RawMessage(`"` + canary + `"`), ClientID: body + canary, Mentions: []string{canary}}
	}
	for name, del := range map[string]func(w *withdrawal, id int64){
		"message": func(w *withdrawal, id int64) {
			_, err := w.Send(w.Ctx, chattest.As("bob"), "g", chat.Content{Kind: chat.Delete, Target: id}, "")
			w.Must(err)
			if n := w.run(webhook.TaskWithdraw); n != 1 {
				w.T.Errorf("%d tasks withdraw something", n)
			}
		},
		"group": func(w *withdrawal, _ int64) {
			w.send("alice", text("unpublished"))
			w.Must(w.DeleteGroup(w.Ctx, chattest.As("bob"), "g"))
			w.run(webhook.TaskEnded)
		},
		"person": func(w *withdrawal, _ int64) { w.Must(w.WithdrawAuthored(w.Ctx, "alice")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWithdrawal(t)
			r := newReceiver(t, nil)
			w.register(r.URL)
			w.MakeGroup(chat.GroupDraft{ID: "g"}, "bob", "alice", canary)
			w.MakeGroup(chat.GroupDraft{ID: "other"}, "bob", "alice")
			id := w.send("alice", text("one"))
			w.send("alice", chat.Content{Kind: chat.Edit, Target: id, Body: new("edited" + canary), ClientID: "edit" + canary})
			kept := w.Say("bob", "other", "kept")
			w.run(webhook.TaskEvents)
			del(w, id)
			w.run(webhook.TaskEvents)
			made := w.run(webhook.TaskDeliver)
			reported := map[string]int{}
			for _, h := range r.waitFor(w.Ctx, made) {
				reported[h.Type]++
				if h.Type != "member.joined" && strings.Contains(string(h.body), canary) {
					t.Errorf("delivered %s", h.body)
				}
				if h.Type == "message.created" && h.Data["group"] == "g" && (h.Data["deleted_at"] == nil || h.Data["id"] == nil) {
					t.Errorf("what is left is %s", h.body)
				}
				if h.Data["id"] == float64(kept.ID) && h.Data["group"] == "other" && h.Data["body"] != "kept" {
					t.Errorf("another message is delivered as %s", h.body)
				}
			}
			if reported["message.created"] < 2 || reported["message.edited"] != 1 {
				t.Errorf("got %v", reported)
			}
		})
	}
}

func (w *withdrawal) send(user string, c chat.Content) int64 {
	w.T.Helper()
	sent, err := w.Send(w.Ctx, chattest.As(user), "g", c, "")
	w.Must(err)
	return sent.ID
}

// TestDeletedMeanwhileIsReadAgain: no delivery is made of entries that were read before a deletion.
func TestDeletedMeanwhileIsReadAgain(t *testing.T) {
	w := newWithdrawal(t)
	w.register(newReceiver(t, nil).URL)
	w.MakeGroup(chat.GroupDraft{ID: "g"}, "bob", "alice")
	id := w.Say("alice", "g", "secret").ID
	page, err := w.Store.Unpublished(w.Ctx, "g", "", 100)
	w.Must(err)
	_, err = w.Send(w.Ctx, chattest.As("bob"), "g", chat.Content{Kind: chat.Delete, Target: id}, "")
	w.Must(err)
	_, err = w.Store.PublishEvents(w.Ctx, "g", page, id, nil, 1)
	w.Refused("a page that was read before a deletion", err, chat.CodeConflict)
	page, err = w.Store.Unpublished(w.Ctx, "g", "", 100)
	w.Must(err)
	_, err = w.Store.PublishEvents(w.Ctx, "g", page, id, nil, 1)
	w.Must(err)
}

// TestRemovedWebhookKeepsNothing: what waits for a webhook that is removed, or has failed for good, loses its content, and what waits for
// another one does not.
func TestRemovedWebhookKeepsNothing(t *testing.T) {
	w := newWithdrawal(t)
	r := newReceiver(t, nil)
	gone, stays := w.register(r.URL+"/gone"), w.register(r.URL+"/stays")
	w.MakeGroup(chat.GroupDraft{ID: "g"}, "bob", "alice")
	w.send("alice", chat.Content{Kind: chat.Text, Body: new("xyzzy")})
	w.run(webhook.TaskEvents)
	w.run(webhook.TaskSpread)
	w.Must(w.Drop(w.Ctx, chattest.Operator("root"), gone.ID))
	if n := w.run(webhook.TaskSpread); n != 1 {
		t.Errorf("%d tasks spread the webhooks", n)
	}
	list, _, err := w.Store.WalkDeliveries(w.Ctx, "", "")
	w.Must(err)
	has := map[string]bool{}
	for _, d := range list {
		has[d.Webhook] = has[d.Webhook] || strings.Contains(string(d.Body), "xyzzy")
	}
	if len(has) != 2 || has[gone.ID] || !has[stays.ID] {
		t.Errorf("content waits for %v, %s is removed", has, gone.ID)
	}
}
