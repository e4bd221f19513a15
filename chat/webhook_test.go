package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/deliver"
	"github.com/chatd/chatd/store/queue"
)

// hookBench is a service with its tasks and a sender that may reach this host.
type hookBench struct {
	*bench
}

func newHookBench(t *testing.T) *hookBench {
	sender := deliver.New(deliver.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(sender.Close)
	b := &hookBench{newBench(t, func(o *chat.Options) {
		o.Sender = sender
		o.Now = func() int64 { return time.Now().UnixMilli() }
	})}
	b.work()
	return b
}

// work runs the domain's tasks until the test ends.
func (b *hookBench) work() {
	tasks, err := queue.New(queue.Options{Client: b.stores.Client(), Prefix: b.stores.Prefix(), Partitions: b.stores.Partitions(),
		Queues: []queue.Served{{Name: chat.QueueCore, Workers: 4}, {Name: chat.QueueEgress, Workers: 8}}})
	b.must(err)
	for name, kind := range b.Handlers() {
		tasks.HandlePolicy(name, queue.Policy{AttemptsMax: kind.AttemptsMax, Timeout: kind.Timeout}, func(ctx context.Context, t queue.Task) error {
			err := kind.Run(ctx, chat.TaskRun{ID: t.ID, Attempt: t.Attempt, Failed: t.Attempts, Payload: t.Payload, Enqueued: t.Enqueued})
			var later *chat.Postponed
			switch {
			case errors.As(err, &later) && later.Cause == nil:
				return queue.Snooze(later.After)
			case errors.As(err, &later):
				return queue.RetryAfter(later.After, later.Cause)
			case chat.CodeOf(err) == chat.CodeInvalid:
				return queue.Bury(err)
			}
			return err
		})
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tasks.Run(ctx)
	}()
	b.t.Cleanup(func() { stop(); <-done })
}

// heard is what a receiver got.
type heard struct {
	ID, Type  string
	Timestamp string // of the attempt
	At        chat.Time
	Data      map[string]any
	header    http.Header
	body      []byte
}

// receiver is an endpoint that checks what it gets.
type receiver struct {
	*httptest.Server
	t      *testing.T
	answer func(heard) int // nil: 204
	mu     sync.Mutex
	got    []heard
	more   chan struct{}
}

func newReceiver(t *testing.T, answer func(heard) int) *receiver {
	r := &receiver{t: t, answer: answer, more: make(chan struct{}, 1)}
	r.Server = httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	h := heard{ID: req.Header.Get("webhook-id"), Timestamp: req.Header.Get("webhook-timestamp"), header: req.Header, body: body}
	var event struct {
		Type      string
		Timestamp chat.Time
		Data      map[string]any
	}
	if err := json.Unmarshal(body, &event); err != nil || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" {
		r.t.Errorf("got %s %s %q: %v", req.Method, req.Header.Get("Content-Type"), body, err)
	}
	h.Type, h.At, h.Data = event.Type, event.Timestamp, event.Data
	status := http.StatusNoContent
	if r.answer != nil {
		status = r.answer(h)
	}
	r.mu.Lock()
	r.got = append(r.got, h)
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
	w.WriteHeader(status)
}

// wait returns what was received once enough is true of it.
func (r *receiver) wait(ctx context.Context, enough func([]heard) bool) []heard {
	r.t.Helper()
	for {
		r.mu.Lock()
		got := slices.Clone(r.got)
		r.mu.Unlock()
		if enough(got) {
			return got
		}
		select {
		case <-r.more:
		case <-ctx.Done():
			r.t.Fatalf("got %d events, not enough: %v", len(got), types(got))
		}
	}
}

func (r *receiver) waitFor(ctx context.Context, n int) []heard {
	r.t.Helper()
	return r.wait(ctx, func(got []heard) bool { return len(got) >= n })
}

func (h heard) verifies(secret string) error {
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return w.Verify(h.body, h.header)
}

func types(got []heard) []string {
	var all []string
	for _, h := range got {
		all = append(all, h.Type)
	}
	slices.Sort(all)
	return all
}

func (b *hookBench) hook(url string, events ...chat.EventType) chat.WebhookView {
	b.t.Helper()
	w, err := b.CreateWebhook(b.ctx, operator("root"), chat.WebhookDraft{URL: url, Events: events})
	b.must(err)
	return w
}

func TestWebhookEvents(t *testing.T) {
	b := newHookBench(t)
	b.group(chat.GroupDraft{ID: "before"}, "alice")
	all, some := newReceiver(t, nil), newReceiver(t, nil)
	hook := b.hook(all.URL+"/all?key=1", nil...)
	b.hook(some.URL, chat.EventMessageCreated, chat.EventGroupDeleted)

	b.group(chat.GroupDraft{ID: "g"}, "alice", "bob")
	m := b.say("alice", "g", `hello <b>"you"</b> & all`)
	_, err := b.Send(b.ctx, as("alice"), "g", chat.Content{Kind: chat.Reaction, Target: m.ID, Emoji: "x"}, "")
	b.must(err)
	_, err = b.Send(b.ctx, as("alice"), "g", chat.Content{Kind: chat.Edit, Target: m.ID, Body: ptr("bye")}, "")
	b.must(err)
	_, _, err = b.PutMember(b.ctx, as("alice"), "g", "cid", "")
	b.must(err)
	b.must(b.RemoveMember(b.ctx, as("cid"), "g", "cid"))
	b.must(b.RemoveMember(b.ctx, as("alice"), "g", "bob"))
	n := b.say("alice", "g", "two")
	_, err = b.Send(b.ctx, as("alice"), "g", chat.Content{Kind: chat.Delete, Target: n.ID}, "")
	b.must(err)
	b.must(b.DeleteGroup(b.ctx, as("alice"), "g"))

	want := []string{"group.created", "group.deleted", "member.joined", "member.joined", "member.left", "member.left", "message.created",
		"message.created", "message.deleted", "message.edited"}
	got := all.waitFor(b.ctx, len(want))
	if !slices.Equal(types(got), want) {
		t.Errorf("got %q, want %q", types(got), want)
	}
	ids := map[string]bool{}
	for _, h := range got {
		if err := h.verifies(hook.Secret); err != nil {
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
	two := some.waitFor(b.ctx, 3)
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
	b := newHookBench(t)
	ctx, root := b.ctx, operator("root")
	for name, draft := range map[string]chat.WebhookDraft{
		"no url": {}, "private": {URL: "https://10.0.0.1/"}, "scheme": {URL: "ftp://hooks.example/"}, "user": {URL: "https://a:b@hooks.example/"},
		"long": {URL: "https://hooks.example/" + strings.Repeat("a", 2048)}, "event": {URL: "https://hooks.example/", Events: []chat.EventType{"nope"}},
		"key": {URL: "https://hooks.example/", Key: "a\nb"},
	} {
		_, err := b.CreateWebhook(ctx, root, draft)
		b.refused(name, err, chat.CodeInvalid)
	}
	draft := chat.WebhookDraft{URL: "https://hooks.example/", Key: "k", Events: []chat.EventType{"schedule.failed", "schedule.failed"}}
	made, err := b.CreateWebhook(ctx, root, draft)
	b.must(err)
	again, err := b.CreateWebhook(ctx, root, draft)
	b.must(err)
	if made.ID != again.ID || made.Secret != again.Secret || len(made.Events) != 1 || !strings.HasPrefix(made.Secret, "whsec_") {
		t.Errorf("got %+v, again %+v", made, again)
	}
	for range 4 {
		_, err := b.CreateWebhook(ctx, root, chat.WebhookDraft{URL: "https://hooks.example/"})
		b.must(err)
	}
	var seen []string
	for after := ""; ; {
		page, err := b.Webhooks(ctx, root, 2, after)
		b.must(err)
		for _, w := range page.Items {
			seen = append(seen, w.ID)
			one, err := b.Webhook(ctx, root, w.ID)
			b.must(err)
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
	_, err = b.Webhooks(ctx, root, 2, "nonsense")
	b.refused("cursor", err, chat.CodeInvalid)

	b.must(b.DropWebhook(ctx, root, made.ID))
	b.refused("again", b.DropWebhook(ctx, root, made.ID), chat.CodeNotFound)
	for _, by := range []chat.Caller{as("alice")} {
		_, err := b.CreateWebhook(ctx, by, draft)
		b.refused("create", err, chat.CodeForbidden)
		_, err = b.Webhooks(ctx, by, 0, "")
		b.refused("list", err, chat.CodeForbidden)
		_, err = b.Webhook(ctx, by, seen[1])
		b.refused("get", err, chat.CodeForbidden)
		_, err = b.RotateWebhook(ctx, by, seen[1])
		b.refused("rotate", err, chat.CodeForbidden)
		b.refused("drop", b.DropWebhook(ctx, by, seen[1]), chat.CodeForbidden)
	}
}

func TestWebhookRotation(t *testing.T) {
	b := newHookBench(t)
	r := newReceiver(t, nil)
	hook := b.hook(r.URL)
	b.group(chat.GroupDraft{ID: "g"}, "alice")
	secrets := []string{hook.Secret}
	for range 2 {
		w, err := b.RotateWebhook(b.ctx, operator("root"), hook.ID)
		b.must(err)
		secrets = append(secrets, w.Secret)
	}
	r.waitFor(b.ctx, 1)
	b.say("alice", "g", "hi")
	last := r.waitFor(b.ctx, 2)[1]
	for i, secret := range secrets {
		if err := last.verifies(secret); err != nil {
			t.Errorf("secret %d: %v", i, err)
		}
	}
	if n := len(strings.Fields(last.header.Get("webhook-signature"))); n != 3 {
		t.Errorf("got %d signatures, want 3", n)
	}
}

// TestWebhookGone: 410 disables a webhook, and what waits for it is not delivered any longer; 404 does not.
func TestWebhookGone(t *testing.T) {
	b := newHookBench(t)
	var calls atomic.Int64
	gone := newReceiver(t, func(heard) int {
		if calls.Add(1) == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusGone
	})
	hook := b.hook(gone.URL)
	b.group(chat.GroupDraft{ID: "g"}, "alice")
	waiting := b.delayedDelivery()
	lost := newReceiver(t, func(heard) int { return http.StatusNotFound })
	other := b.hook(lost.URL)
	b.say("alice", "g", "hi")
	lost.waitFor(b.ctx, 1)
	b.eventually("the webhook is disabled", func() bool {
		w, err := b.Webhook(b.ctx, operator("root"), hook.ID)
		b.must(err)
		return w.DisabledAt != nil
	})
	b.say("alice", "g", "after the end")
	lost.waitFor(b.ctx, 2)
	tasks := b.deliveries()
	b.must(tasks.Retry(b.ctx, waiting.ID))
	b.eventually("what waited is done with", func() bool {
		_, err := tasks.Get(b.ctx, waiting.ID)
		return errors.Is(err, queue.ErrNotFound)
	})
	if got, want := types(gone.waitFor(b.ctx, 2)), []string{"group.created", "message.created"}; !slices.Equal(got, want) {
		t.Errorf("the disabled webhook got %q, want %q alone: one attempt that failed, and the one that it ended", got, want)
	}
	w, err := b.Webhook(b.ctx, operator("root"), other.ID)
	b.must(err)
	if w.DisabledAt != nil {
		t.Error("404 disabled a webhook")
	}
}

// deliveries is the queue that deliveries wait in.
func (b *hookBench) deliveries() *queue.Client {
	b.t.Helper()
	tasks, err := queue.NewClient(queue.Options{Client: b.stores.Client(), Queue: chat.QueueEgress})
	b.must(err)
	return tasks
}

// delayedDelivery waits until exactly one delivery waits for its next attempt.
func (b *hookBench) delayedDelivery() (waiting queue.Info) {
	b.t.Helper()
	tasks := b.deliveries()
	b.eventually("the delivery waits", func() bool {
		infos, _, err := tasks.List(b.ctx, queue.ListQuery{State: queue.Delayed})
		b.must(err)
		if len(infos) == 1 {
			waiting = infos[0]
		}
		return len(infos) == 1
	})
	return waiting
}

// eventually looks until a thing is so.
func (b *hookBench) eventually(what string, so func() bool) {
	b.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			b.t.Fatalf("waited for: %s", what)
		}
	}
}

// TestWebhookRetry: an attempt that failed comes again with the same id and body, and the time of the attempt.
func TestWebhookRetry(t *testing.T) {
	b := newHookBench(t)
	var calls atomic.Int64
	r := newReceiver(t, func(heard) int {
		if calls.Add(1) == 1 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	hook := b.hook(r.URL)
	b.group(chat.GroupDraft{ID: "g"}, "alice")
	first := r.waitFor(b.ctx, 1)[0]
	tasks, waiting := b.deliveries(), b.delayedDelivery()
	if pause := time.Until(waiting.Due); pause < 3*time.Second || pause > 6*time.Second || waiting.Attempts != 1 {
		t.Errorf("comes again in %s after %d attempts, want about 5 s after 1", pause, waiting.Attempts)
	}
	b.eventually("another second", func() bool { return fmt.Sprint(time.Now().Unix()) != first.Timestamp })
	b.must(tasks.Retry(b.ctx, waiting.ID))
	second := r.waitFor(b.ctx, 2)[1]
	if second.ID != first.ID || string(second.body) != string(first.body) || second.Timestamp == first.Timestamp {
		t.Errorf("got %s at %s, then %s at %s", first.ID, first.Timestamp, second.ID, second.Timestamp)
	}
	if err := second.verifies(hook.Secret); err != nil {
		t.Error(err)
	}
}

// TestOneWebhookThatHangs: the others get everything while it hangs.
func TestOneWebhookThatHangs(t *testing.T) {
	b := newHookBench(t)
	release := make(chan struct{})
	var under, most atomic.Int64
	hangs := newReceiver(t, func(heard) int {
		most.Store(max(most.Load(), under.Add(1)))
		<-release
		under.Add(-1)
		return 200
	})
	b.hook(hangs.URL)
	others := []*receiver{newReceiver(t, nil), newReceiver(t, nil), newReceiver(t, nil)}
	for _, r := range others {
		b.hook(r.URL)
	}
	b.group(chat.GroupDraft{ID: "g"}, "alice")
	const messages = 100
	began := time.Now()
	for i := range messages {
		b.say("alice", "g", fmt.Sprint(i))
	}
	for _, r := range others {
		ids, names := map[string]bool{}, map[any]bool{}
		for _, h := range r.waitFor(b.ctx, messages+1) {
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

// TestEventsComeInBoundedSteps has messages as long as may be and many webhooks, so that the deliveries of one message are
// as much as the store takes in a few ms: each is a step of its own, however few deliveries that is.
func TestEventsComeInBoundedSteps(t *testing.T) {
	const hooks, messages = 40, 10
	l := startLive(t, nil)
	for i := range hooks {
		if _, err := l.CreateWebhook(t.Context(), operator("root"), chat.WebhookDraft{URL: fmt.Sprint("https://hooks.example/", i)}); err != nil {
			t.Fatal(err)
		}
	}
	l.group(t, "g", "alice")
	g, err := l.Group(t.Context(), as("alice"), "g")
	if err != nil {
		t.Fatal(err)
	}
	long := chat.Content{Body: ptr(strings.Repeat("x", 16<<10)), Data: []byte(`"` + strings.Repeat("x", 16<<10-2) + `"`)}
	for range messages {
		if _, err := l.Send(t.Context(), as("alice"), "g", long, ""); err != nil {
			t.Fatal(err)
		}
	}
	egress, err := queue.NewClient(queue.Options{Client: l.store.Client(), Queue: chat.QueueEgress})
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
	calls := l.redis.Calls()["evalsha"]
	steps := func() int64 {
		before := calls
		calls = l.redis.Calls()["evalsha"]
		return calls - before
	}
	l.runTask(t, chat.TaskEvents, chat.GroupTask{Group: "g", Epoch: g.Epoch})
	if n := waiting(); n != (messages+1)*hooks {
		t.Errorf("%d deliveries wait, want one of each of %d entries for each of %d webhooks", n, messages+1, hooks)
	}
	if n := steps(); n < messages {
		t.Errorf("they were made in %d steps, want %d at least", n, messages)
	}
	// What was not told of when the group ends is told of then, in as small steps.
	for range messages {
		if _, err := l.Send(t.Context(), as("alice"), "g", long, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.DeleteGroup(t.Context(), as("alice"), "g"); err != nil {
		t.Fatal(err)
	}
	core, err := queue.NewClient(queue.Options{Client: l.store.Client(), Queue: chat.QueueCore})
	if err != nil {
		t.Fatal(err)
	}
	ended, err := core.Get(t.Context(), "p00-ended:g:"+g.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	steps()
	if err := l.Handlers()[chat.TaskEnded].Run(t.Context(), chat.TaskRun{Payload: ended.Payload}); err != nil {
		t.Fatal(err)
	}
	if n := waiting(); n != (2*messages+2)*hooks {
		t.Errorf("%d deliveries wait, want %d", n, (2*messages+2)*hooks)
	}
	if n := steps(); n < messages {
		t.Errorf("they were made in %d steps, want %d at least", n, messages)
	}
}
