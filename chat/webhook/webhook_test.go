package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/deliver"
	"github.com/chatd/chatd/internal/interval"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// bench is a service with its tasks and a sender that may call this host.
type bench struct {
	*chattest.Bench
	*webhook.Service
}

func newBench(t *testing.T, change ...func(*chat.Options)) *bench {
	t.Helper()
	change = append(change, func(o *chat.Options) { o.Now = func() int64 { return time.Now().UnixMilli() } })
	b := chattest.New(t, change...)
	sender := deliver.New(deliver.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(sender.Close)
	webhooks := webhook.New(b.Service, b.Store, sender)
	chattest.Work(t, b.Store, b.Service, webhooks)
	return &bench{b, webhooks}
}

func (b *bench) register(url string, events ...webhook.EventType) webhook.View {
	b.T.Helper()
	w, err := b.Create(b.Ctx, chattest.Operator("root"), webhook.Draft{URL: url, Events: events})
	b.Must(err)
	return w
}

// TestEachMemberIsAnEvent creates a group of several members, who share a notice: each is an event that names one user.
func TestEachMemberIsAnEvent(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, nil)
	b.register(r.URL, webhook.EventMemberJoined)
	_, err := b.CreateGroup(b.Ctx, chattest.As("alice"), chat.GroupDraft{ID: "g", Members: []string{"bob", "cid", "dora"}})
	b.Must(err)
	var users []string
	ids := map[string]bool{}
	for _, h := range r.waitFor(b.Ctx, 3) {
		user, _ := h.Data["user"].(string)
		users, ids[h.ID] = append(users, user), true
		if h.Data["users"] != nil || h.Data["id"] != 2.0 {
			t.Errorf("got %v", h.Data)
		}
	}
	slices.Sort(users)
	if want := []string{"bob", "cid", "dora"}; !slices.Equal(users, want) || len(ids) != 3 {
		t.Errorf("got events about %q with %d ids, want %q", users, len(ids), want)
	}
}

// TestDeliveriesCarryNames: the people of an entry are named beside it, as they are when it is delivered.
func TestDeliveriesCarryNames(t *testing.T) {
	b := newBench(t, func(*chat.Options) {})
	b.Profiles = func(_ context.Context, entry []byte) []byte {
		if strings.Contains(string(entry), "nobody") {
			return nil
		}
		return []byte(`{"alice":{"name":"Alice","version":1}}`)
	}
	r := newReceiver(t, nil)
	w := b.register(r.URL, webhook.EventMessageCreated)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	b.Say("alice", "g", "hello")
	b.Say("alice", "g", "nobody")
	for _, h := range r.waitFor(b.Ctx, 2) {
		named := strings.HasSuffix(string(h.body), `},"profiles":{"alice":{"name":"Alice","version":1}}}`)
		if h.verifies(w.Secret) != nil || named == (h.Data["body"] == "nobody") || !json.Valid(h.body) {
			t.Errorf("got %s, %v", h.body, h.verifies(w.Secret))
		}
	}
}

func TestWebhookEvents(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "before"}, "alice")
	all, some := newReceiver(t, nil), newReceiver(t, nil)
	created := b.register(all.URL+"/all?key=1", nil...)
	b.register(some.URL, webhook.EventMessageCreated, webhook.EventGroupDeleted)

	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	m := b.Say("alice", "g", `hello <b>"you"</b> & all`)
	_, err := b.Send(b.Ctx, chattest.As("alice"), "g", chat.Content{Kind: chat.Reaction, Target: m.ID, Emoji: ":x:"}, "")
	b.Must(err)
	_, err = b.Send(b.Ctx, chattest.As("alice"), "g", chat.Content{Kind: chat.Edit, Target: m.ID, Body: new("bye")}, "")
	b.Must(err)
	_, _, err = b.PutMember(b.Ctx, chattest.As("alice"), "g", "cid", "")
	b.Must(err)
	b.Must(b.RemoveMember(b.Ctx, chattest.As("cid"), "g", "cid"))
	b.Must(b.RemoveMember(b.Ctx, chattest.As("alice"), "g", "bob"))
	n := b.Say("alice", "g", "two")
	_, err = b.Send(b.Ctx, chattest.As("alice"), "g", chat.Content{Kind: chat.Delete, Target: n.ID}, "")
	b.Must(err)
	b.Must(b.DeleteGroup(b.Ctx, chattest.As("alice"), "g"))

	want := []string{"group.created", "group.deleted", "member.joined", "member.joined", "member.left", "member.left", "message.created",
		"message.created", "message.deleted", "message.edited"}
	got := all.waitFor(b.Ctx, len(want))
	if !slices.Equal(types(got), want) {
		t.Errorf("got %q, want %q", types(got), want)
	}
	ids := map[string]bool{}
	for _, h := range got {
		if err := h.verifies(created.Secret); err != nil {
			t.Errorf("%s: %v", h.Type, err)
		}
		if ids[h.ID] {
			t.Errorf("two events have the id %s", h.ID)
		}
		ids[h.ID] = true
		if h.Data["group"] != "g" || h.Data["from"] == nil || time.Since(h.At.Time) > time.Minute {
			t.Errorf("%s at %s: got %v", h.Type, h.At, h.Data)
		}
	}
	two := some.waitFor(b.Ctx, 3)
	if got := types(two); !slices.Equal(got, []string{"group.deleted", "message.created", "message.created"}) {
		t.Errorf("got %q", got)
	}
	for _, h := range two {
		if ids[h.ID] {
			t.Error("two webhooks got the same id")
		}
	}
}

func TestWebhookRegistry(t *testing.T) {
	b := newBench(t)
	ctx, root := b.Ctx, chattest.Operator("root")
	for name, draft := range map[string]webhook.Draft{
		"no url": {}, "private": {URL: "https://10.0.0.1/"}, "scheme": {URL: "ftp://hooks.example/"}, "user": {URL: "https://a:b@hooks.example/"},
		"long": {URL: "https://hooks.example/" + strings.Repeat("a", 2048)}, "event": {URL: "https://hooks.example/", Events: []webhook.EventType{"nope"}},
		"key": {URL: "https://hooks.example/", Key: "a\nb"},
	} {
		_, err := b.Create(ctx, root, draft)
		b.Refused(name, err, chat.CodeInvalid)
	}
	draft := webhook.Draft{URL: "https://hooks.example/", Key: "k", Events: []webhook.EventType{"schedule.failed", "schedule.failed"}}
	made, err := b.Create(ctx, root, draft)
	b.Must(err)
	again, err := b.Create(ctx, root, draft)
	b.Must(err)
	if made.ID != again.ID || made.Secret != again.Secret || len(made.Events) != 1 || !strings.HasPrefix(made.Secret, "whsec_") {
		t.Errorf("got %+v, again %+v", made, again)
	}
	for range 4 {
		_, err := b.Create(ctx, root, webhook.Draft{URL: "https://hooks.example/"})
		b.Must(err)
	}
	var seen []string
	for after := ""; ; {
		page, err := b.List(ctx, root, 2, after)
		b.Must(err)
		for _, w := range page.Items {
			seen = append(seen, w.ID)
			one, err := b.Get(ctx, root, w.ID)
			b.Must(err)
			if w.Secret != "" || one.Secret != "" {
				t.Error("a secret is shown")
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(seen) != 5 || len(slices.Compact(slices.Sorted(slices.Values(seen)))) != 5 {
		t.Errorf("listed %q", seen)
	}
	_, err = b.List(ctx, root, 2, "nonsense")
	b.Refused("cursor", err, chat.CodeInvalid)

	b.Must(b.Drop(ctx, root, made.ID))
	b.Refused("again", b.Drop(ctx, root, made.ID), chat.CodeNotFound)
	for _, by := range []chat.Caller{chattest.As("alice")} {
		_, err := b.Create(ctx, by, draft)
		b.Refused("create", err, chat.CodeForbidden)
		_, err = b.List(ctx, by, 0, "")
		b.Refused("list", err, chat.CodeForbidden)
		_, err = b.Get(ctx, by, seen[1])
		b.Refused("get", err, chat.CodeForbidden)
		_, err = b.Rotate(ctx, by, seen[1])
		b.Refused("rotate", err, chat.CodeForbidden)
		b.Refused("drop", b.Drop(ctx, by, seen[1]), chat.CodeForbidden)
	}
}

func TestWebhookRotation(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, nil)
	created := b.register(r.URL)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	secrets := []string{created.Secret}
	for range 2 {
		w, err := b.Rotate(b.Ctx, chattest.Operator("root"), created.ID)
		b.Must(err)
		secrets = append(secrets, w.Secret)
	}
	r.waitFor(b.Ctx, 1)
	b.Say("alice", "g", "hi")
	last := r.waitFor(b.Ctx, 2)[1]
	for i, secret := range secrets {
		if err := last.verifies(secret); err != nil {
			t.Errorf("secret %d: %v", i, err)
		}
	}
	if n := len(strings.Fields(last.header.Get("webhook-signature"))); n != 3 {
		t.Errorf("got %d signatures, want 3", n)
	}
}

// TestWebhookGone: 410 disables a webhook, and its waiting deliveries are no longer sent; 404 does not.
func TestWebhookGone(t *testing.T) {
	b := newBench(t)
	gone := newReceiver(t, first(http.StatusServiceUnavailable, http.StatusGone))
	created := b.register(gone.URL)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	waiting := b.delayedDelivery()
	lost := newReceiver(t, func(heard) int { return http.StatusNotFound })
	other := b.register(lost.URL)
	b.Say("alice", "g", "hi")
	lost.waitFor(b.Ctx, 1)
	b.eventually("the webhook is disabled", func() bool {
		w, err := b.Get(b.Ctx, chattest.Operator("root"), created.ID)
		b.Must(err)
		return w.DisabledAt != nil
	})
	b.Say("alice", "g", "after the end")
	lost.waitFor(b.Ctx, 2)
	tasks := b.deliveries()
	b.Must(tasks.Retry(b.Ctx, waiting.ID))
	b.eventually("what waited is done with", func() bool {
		_, err := tasks.Get(b.Ctx, waiting.ID)
		return errors.Is(err, queue.ErrNotFound)
	})
	if got, want := types(gone.waitFor(b.Ctx, 2)), []string{"group.created", "message.created"}; !slices.Equal(got, want) {
		t.Errorf("the disabled webhook got %q, want %q alone: one attempt that failed, and the one that it ended", got, want)
	}
	w, err := b.Get(b.Ctx, chattest.Operator("root"), other.ID)
	b.Must(err)
	if w.DisabledAt != nil {
		t.Error("404 disabled a webhook")
	}
}

// deliveries is the queue of deliveries.
func (b *bench) deliveries() *queue.Client {
	b.T.Helper()
	tasks, err := queue.NewClient(queue.Options{Client: b.Store.Client(), Queue: chat.QueueEgress})
	b.Must(err)
	return tasks
}

// delayedDelivery waits until exactly one delivery waits for its next attempt.
func (b *bench) delayedDelivery() (waiting queue.Info) {
	b.T.Helper()
	tasks := b.deliveries()
	b.eventually("the delivery waits", func() bool {
		infos, _, err := tasks.List(b.Ctx, queue.ListQuery{State: queue.Delayed})
		b.Must(err)
		if len(infos) == 1 {
			waiting = infos[0]
		}
		return len(infos) == 1
	})
	return waiting
}

// eventually polls until so returns true.
func (b *bench) eventually(what string, so func() bool) {
	b.T.Helper()
	var every interval.Growing
	for !so() {
		select {
		case <-every.Next():
		case <-b.Ctx.Done():
			b.T.Fatalf("waited for: %s", what)
		}
	}
}

// TestWebhookRetry: a failed attempt is repeated with the same id and body, and the time of the attempt.
func TestWebhookRetry(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, first(http.StatusInternalServerError, http.StatusOK))
	created := b.register(r.URL)
	began := time.Now()
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	attempt := r.waitFor(b.Ctx, 1)[0]
	tasks, waiting := b.deliveries(), b.delayedDelivery()
	if least, most := waiting.Due.Sub(began), time.Until(waiting.Due); least < 5*time.Second || most > 6*time.Second || waiting.Attempts != 1 {
		t.Errorf("comes again %s to %s after the attempt, of which there were %d; want about 5 s after 1", most, least, waiting.Attempts)
	}
	b.eventually("another second", func() bool { return fmt.Sprint(time.Now().Unix()) != attempt.Timestamp })
	b.Must(tasks.Retry(b.Ctx, waiting.ID))
	second := r.waitFor(b.Ctx, 2)[1]
	if second.ID != attempt.ID || string(second.body) != string(attempt.body) || second.Timestamp == attempt.Timestamp {
		t.Errorf("got %s at %s, then %s at %s", attempt.ID, attempt.Timestamp, second.ID, second.Timestamp)
	}
	if err := second.verifies(created.Secret); err != nil {
		t.Error(err)
	}
}

// TestOneWebhookThatHangs: the others get everything while it hangs.
func TestOneWebhookThatHangs(t *testing.T) {
	b := newBench(t)
	release := make(chan struct{})
	var under, most atomic.Int64
	hangs := newReceiver(t, func(heard) int {
		most.Store(max(most.Load(), under.Add(1)))
		<-release
		under.Add(-1)
		return 200
	})
	b.register(hangs.URL)
	others := []*receiver{newReceiver(t, nil), newReceiver(t, nil), newReceiver(t, nil)}
	for _, r := range others {
		b.register(r.URL)
	}
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	const messages = 100
	began := time.Now()
	for i := range messages {
		b.Say("alice", "g", fmt.Sprint(i))
	}
	for _, r := range others {
		ids, names := map[string]bool{}, map[any]bool{}
		for _, h := range r.waitFor(b.Ctx, messages+1) {
			if h.Type == "message.created" {
				ids[h.ID], names[h.Data["id"]] = true, true
			}
		}
		if len(ids) != messages || len(names) != messages {
			t.Errorf("got %d messages under %d ids, want %d", len(names), len(ids), messages)
		}
	}
	t.Logf("%d events to %d webhooks in %s while one hangs with %d requests", messages+1, len(others), time.Since(began), under.Load())
	if under.Load() == 0 || most.Load() > 4 {
		t.Errorf("%d requests hang, %d at most, want 1 to 4", under.Load(), most.Load())
	}
	close(release)
}

// TestEventsComeInBoundedSteps has messages of maximum length and many webhooks, so that the deliveries of one message
// are as much as the store handles in a few ms: each is a separate step, however few deliveries that is.
func TestEventsComeInBoundedSteps(t *testing.T) {
	const webhooksMade, messages = 40, 10
	redis := redistest.Start(t)
	b := chattest.Open(t, redis.URL())
	webhooks := webhook.New(b.Service, b.Store, nil)
	for i := range webhooksMade {
		if _, err := webhooks.Create(t.Context(), chattest.Operator("root"), webhook.Draft{URL: fmt.Sprint("https://hooks.example/", i)}); err != nil {
			t.Fatal(err)
		}
	}
	g := b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice")
	long := chat.Content{Body: new(strings.Repeat("x", 16<<10)), Data: []byte(`"` + strings.Repeat("x", 16<<10-2) + `"`)}
	for range messages {
		if _, err := b.Send(t.Context(), chattest.As("alice"), "g", long, ""); err != nil {
			t.Fatal(err)
		}
	}
	egress, err := queue.NewClient(queue.Options{Client: b.Store.Client(), Queue: chat.QueueEgress})
	if err != nil {
		t.Fatal(err)
	}
	waiting := func() int64 {
		t.Helper()
		stats, err := egress.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return stats.Ready[queue.Normal]
	}
	calls := redis.Calls()["evalsha"]
	steps := func() int64 {
		before := calls
		calls = redis.Calls()["evalsha"]
		return calls - before
	}
	runTask := func(kind string, payload any) {
		t.Helper()
		raw, err := json.Marshal(payload)
		b.Must(err)
		b.Must(webhooks.Handlers()[kind].Run(t.Context(), chat.TaskRun{Payload: raw}))
	}
	runTask(webhook.TaskEvents, chat.GroupTask{Group: "g", Epoch: g.Epoch})
	if n := waiting(); n != (messages+1)*webhooksMade {
		t.Errorf("%d deliveries wait, want one of each of %d entries for each of %d webhooks", n, messages+1, webhooksMade)
	}
	if n := steps(); n < messages {
		t.Errorf("they were made in %d steps, want %d at least", n, messages)
	}
	// Events that were unpublished when the group ends are published then, in equally small steps.
	for range messages {
		if _, err := b.Send(t.Context(), chattest.As("alice"), "g", long, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.DeleteGroup(t.Context(), chattest.As("alice"), "g"); err != nil {
		t.Fatal(err)
	}
	core, err := queue.NewClient(queue.Options{Client: b.Store.Client(), Queue: chat.QueueCore})
	if err != nil {
		t.Fatal(err)
	}
	ended, err := core.Get(t.Context(), "p00-ended:g:"+g.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	steps()
	if err := webhooks.Handlers()[webhook.TaskEnded].Run(t.Context(), chat.TaskRun{Payload: ended.Payload}); err != nil {
		t.Fatal(err)
	}
	if n := waiting(); n != (2*messages+2)*webhooksMade {
		t.Errorf("%d deliveries wait, want %d", n, (2*messages+2)*webhooksMade)
	}
	if n := steps(); n < messages {
		t.Errorf("they were made in %d steps, want %d at least", n, messages)
	}
}

func TestTasksRefuseGarbage(t *testing.T) {
	chattest.RefuseGarbage(t, newBench(t).Handlers())
}
