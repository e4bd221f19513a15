package chat_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/deliver"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/store/queue"
)

// told is a service whose deliveries arrive at a receiver. bob has a webhook called bob there.
type told struct {
	*node
	*testing.T
	receiver *harness.Receiver
	epoch    string
}

func newTold(t *testing.T) *told {
	t.Helper()
	l := startLive(t, nil)
	sender := deliver.New(deliver.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(sender.Close)
	l.Service = chat.New(l.store, chat.Options{Pusher: sender, NotifyDelay: time.Hour})
	r := &told{node: l, T: t, receiver: harness.StartReceiver(t, 1)}
	l.group(t, "g", "alice", "bob")
	g, err := l.Group(t.Context(), chat.Caller{User: "alice"}, "g")
	if err != nil {
		t.Fatal(err)
	}
	r.epoch = g.Epoch
	r.register()
	return r
}

func (r *told) register() {
	r.Helper()
	d, created, err := r.PutDevice(r.Context(), chat.Caller{User: "bob"}, "hook", chat.DeviceDraft{Kind: chat.DeviceWebhook, URL: r.receiver.Hook("bob")})
	if err != nil {
		r.Fatal(err)
	}
	if created {
		r.receiver.Trust("bob", d.Secret)
	}
}

// push runs a delivery to bob's device that tells of message id.
func (r *told) push(id int64, change func(*chat.PushTask, *chat.TaskRun)) error {
	r.Helper()
	task := chat.PushTask{User: "bob", Device: "hook", Group: "g", Epoch: r.epoch, Last: id, AtMs: 1, Count: 1, Show: id, Priority: chat.PriorityNormal}
	run := chat.TaskRun{ID: "p00-x", Attempt: 1, Enqueued: time.Now()}
	if change != nil {
		change(&task, &run)
	}
	payload, err := json.Marshal(task)
	if err != nil {
		r.Fatal(err)
	}
	run.Payload = payload
	return r.Handlers()[chat.TaskPush].Run(r.Context(), run)
}

// waiting takes the payloads of the tasks of a kind that are ready.
func (r *told) waiting(kind string) [][]byte { return r.take(queue.Ready, kind) }

// take takes the payloads of the tasks of a kind that are in a state.
func (r *told) take(state queue.State, kind string) (payloads [][]byte) {
	r.Helper()
	client, err := queue.NewClient(queue.Options{Client: r.store.Client(), Queue: chat.QueueCore})
	if err != nil {
		r.Fatal(err)
	}
	infos, _, err := client.List(r.Context(), queue.ListQuery{State: state})
	if err != nil {
		r.Fatal(err)
	}
	for _, info := range infos {
		if info.Kind != kind {
			continue
		}
		if _, err := client.Cancel(r.Context(), info.ID); err != nil {
			r.Fatal(err)
		}
		payloads = append(payloads, info.Payload)
	}
	return payloads
}

// arrives checks how many notifications bob got so far.
func (r *told) arrives(want int, err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
	if got := len(r.receiver.Got("bob")); got != want {
		r.Fatalf("bob got %d notifications, want %d", got, want)
	}
}

// TestADeliveryLooksAgain has a delivery wait while the world changes: what is over by then is not told.
func TestADeliveryLooksAgain(t *testing.T) {
	r := newTold(t)
	bob, alice := chat.Caller{User: "bob"}, chat.Caller{User: "alice"}
	ctx := t.Context()
	id := r.say(t, "g", "alice", "hello")
	r.arrives(1, r.push(id, nil))
	if d := r.receiver.Got("bob")[0].Data; d.From != "alice" || d.Preview != "hello" || d.Count != 1 {
		t.Errorf("bob was told %+v", d)
	}
	r.arrives(1, r.push(id, func(p *chat.PushTask, _ *chat.TaskRun) { p.Epoch = "another" }))
	r.arrives(1, r.push(id, func(p *chat.PushTask, _ *chat.TaskRun) { p.Device = "absent" }))
	r.arrives(1, r.push(id, func(p *chat.PushTask, _ *chat.TaskRun) { p.User = "nobody" }))
	r.arrives(1, r.push(id, func(_ *chat.PushTask, run *chat.TaskRun) { run.Enqueued = time.Now().Add(-25 * time.Hour) }))

	// A session anywhere.
	if err := r.store.Arrive(ctx, "node", []string{"bob"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	r.arrives(1, r.push(id, nil))
	if err := r.store.Depart(ctx, "node", []string{"bob"}); err != nil {
		t.Fatal(err)
	}

	// What is wanted may change while a delivery waits.
	mentioned := func(p *chat.PushTask, _ *chat.TaskRun) { p.Mentions = 1 }
	for _, c := range []struct {
		level                chat.NotifyLevel
		plainly, asMentioned int // how many arrive
	}{{chat.NotifyNone, 0, 0}, {chat.NotifyMentions, 0, 1}, {chat.NotifyAll, 1, 1}} { // the last one holds for what follows
		if _, err := r.SetNotify(ctx, bob, "g", chat.NotifySetting{Level: c.level}); err != nil {
			t.Fatal(err)
		}
		before := len(r.receiver.Got("bob"))
		r.arrives(before+c.plainly, r.push(id, nil))
		r.arrives(before+c.plainly+c.asMentioned, r.push(id, mentioned))
	}

	// What is shown is the message as it is now.
	before := len(r.receiver.Got("bob"))
	body := "changed " + strings.Repeat("x", 300)
	if _, err := r.Send(ctx, alice, "g", chat.Draft{Kind: chat.Edit, Target: id, Body: &body}, ""); err != nil {
		t.Fatal(err)
	}
	r.arrives(before+1, r.push(id, nil))
	if got := r.receiver.Got("bob")[before].Data.Preview; got != body[:200] {
		t.Errorf("the preview is %q, want the first 200 characters of the edit", got)
	}
	if _, err := r.Send(ctx, alice, "g", chat.Draft{Kind: chat.Delete, Target: id}, ""); err != nil {
		t.Fatal(err)
	}
	later := r.say(t, "g", "alice", "later")
	r.arrives(before+2, r.push(id, nil))
	if got := r.receiver.Got("bob")[before+1].Data.Preview; got != "" {
		t.Errorf("the preview of a deleted message is %q", got)
	}

	// What was read, and what is of a group that was left.
	if _, err := r.Read(ctx, bob, "g", id); err != nil {
		t.Fatal(err)
	}
	r.arrives(before+2, r.push(id, nil))
	r.arrives(before+3, r.push(later, nil))
	if err := r.RemoveMember(ctx, bob, "g", "bob"); err != nil {
		t.Fatal(err)
	}
	r.arrives(before+3, r.push(later, nil))
}

func TestWhatBecomesOfADelivery(t *testing.T) {
	r := newTold(t)
	id := r.say(t, "g", "alice", "hello")
	var later *chat.Postponed
	r.receiver.Refuse("bob", http.StatusInternalServerError, 1, nil)
	if err := r.push(id, nil); !errors.As(err, &later) || later.Cause == nil || later.After < 5*time.Second || later.After > 6*time.Second {
		t.Errorf("after a failure: %v (%+v), want that it comes again after 5 s", err, later)
	}
	r.receiver.Refuse("bob", http.StatusTooManyRequests, 1, http.Header{"Retry-After": {"3600"}})
	if err := r.push(id, nil); !errors.As(err, &later) || later.After < time.Hour {
		t.Errorf("after a 429: %v (%+v), want that it comes again after an hour", err, later)
	}
	if kind := r.Handlers()[chat.TaskPush]; kind.Queue != chat.QueueEgress || kind.AttemptsMax != 6 || kind.Timeout == 0 {
		t.Errorf("a delivery is %+v", kind)
	}
	if err := r.Handlers()[chat.TaskPush].Run(t.Context(), chat.TaskRun{Payload: []byte(`{"user":"{"}`)}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("a payload that cannot be: %v", err)
	}
}

// TestADeviceThatMovedStays has an endpoint say that it is gone while its device moves elsewhere.
func TestADeviceThatMovedStays(t *testing.T) {
	r := newTold(t)
	bob := chat.Caller{User: "bob"}
	id := r.say(t, "g", "alice", "hello")
	r.receiver.Refuse("bob", http.StatusGone, 1, nil)
	if err := r.push(id, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Device(t.Context(), bob, "hook"); !errors.Is(err, chat.ErrNotFound) {
		t.Fatalf("the device that is gone: %v, want not found", err)
	}
	r.register()
	was, _, err := r.store.Reach(t.Context(), "bob", "hook")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.PutDevice(t.Context(), bob, "hook", chat.DeviceDraft{Kind: chat.DeviceWebhook, URL: r.receiver.Hook("elsewhere")}); err != nil {
		t.Fatal(err)
	}
	if err := r.store.DropDevice(t.Context(), "bob", "hook", &was); err != nil { // as the late answer of the old address does
		t.Fatal(err)
	}
	if d, err := r.Device(t.Context(), bob, "hook"); err != nil || d.URL != r.receiver.Hook("elsewhere") {
		t.Errorf("the device is %+v, %v", d, err)
	}
}

// TestANodeThatDiesHidesNobody has a node vouch for bob that is dead already: what nobody told bob then is told when the node's
// word holds no longer. Whoever is still there the second time is told of nothing, and not looked for again.
func TestANodeThatDiesHidesNobody(t *testing.T) {
	r := newTold(t)
	if err := r.store.Arrive(t.Context(), "node", []string{"bob"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	r.take(queue.Delayed, chat.TaskNotify)
	r.say(t, "g", "alice", "hello")
	if _, _, err := r.SendDirect(t.Context(), chat.Caller{User: "alice"}, "bob", chat.Direct{Body: new("hello")}); err != nil {
		t.Fatal(err)
	}
	looks := map[string][]byte{}
	for _, kind := range []string{chat.TaskNotify, chat.TaskNotifyInbox} {
		for _, what := range []string{"the fan-out", "its second run"} {
			tasks := r.take(queue.Delayed, kind)
			if len(tasks) != 1 {
				t.Fatalf("%s of %s: %d tasks wait, want 1", what, kind, len(tasks))
			}
			looks[kind] = tasks[0]
			if err := r.Handlers()[kind].Run(t.Context(), chat.TaskRun{Payload: tasks[0]}); err != nil {
				t.Fatal(err)
			}
			if told := r.waiting(chat.TaskTell); len(told) > 0 {
				t.Fatalf("%s of %s told someone who is there: %s", what, kind, told)
			}
		}
		if tasks := r.take(queue.Delayed, kind); len(tasks) > 0 {
			t.Fatalf("%s: looks for ever: %s", kind, tasks)
		}
	}
	if err := r.store.Depart(t.Context(), "node", []string{"bob"}); err != nil { // as when nobody vouches any longer
		t.Fatal(err)
	}
	for kind, payload := range looks {
		if err := r.Handlers()[kind].Run(t.Context(), chat.TaskRun{Payload: payload}); err != nil {
			t.Fatal(err)
		}
		if told := r.waiting(chat.TaskTell); len(told) != 1 {
			t.Errorf("%s: %d tasks tell bob, want 1", kind, len(told))
		}
	}
}

// TestEveryFanOutIsFollowed has somebody there all the time, so that a second look always waits: a later fan-out, which may
// meet somebody else, has one of its own, but not each.
func TestEveryFanOutIsFollowed(t *testing.T) {
	r := newTold(t)
	var now atomic.Int64
	now.Store(1_790_000_000_000)
	r.Service = chat.New(r.store, chat.Options{NotifyDelay: time.Hour, Now: now.Load})
	if err := r.store.Arrive(t.Context(), "node", []string{"bob"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	r.say(t, "g", "alice", "hello")
	r.take(queue.Delayed, chat.TaskNotify)
	for range 4 { // at 0 s, 2 s, 4 s and 6 s
		r.runTask(t, chat.TaskNotify, chat.NotifyTask{GroupTask: chat.GroupTask{Group: "g", Epoch: r.epoch}})
		now.Add(2_000)
	}
	looks := r.take(queue.Delayed, chat.TaskNotify)
	if len(looks) != 2 {
		t.Errorf("%d second looks wait, want one for the first 5 s and one for what came then", len(looks))
	}
}

// TestTheInboxIsToldOnce counts what others have put in: direct messages and announcements, not what groups say already.
func TestTheInboxIsToldOnce(t *testing.T) {
	r := newTold(t)
	ctx := t.Context()
	tell := func(want ...chat.TellTask) {
		t.Helper()
		r.runTask(t, chat.TaskNotifyInbox, chat.InboxTask{User: "bob"})
		got := r.waiting(chat.TaskTell)
		if len(got) != len(want) {
			t.Fatalf("got %d tasks, want %d", len(got), len(want))
		}
		for i, raw := range got {
			var task chat.TellTask
			if err := json.Unmarshal(raw, &task); err != nil {
				t.Fatal(err)
			}
			if task.Last != want[i].Last || task.Priority != want[i].Priority || !slices.Equal(task.Users, want[i].Users) {
				t.Errorf("got %+v, want %+v", task, want[i])
			}
		}
	}
	put := func(kind string) int64 {
		t.Helper()
		rest := []byte(`"kind":"` + kind + `","sent_at":"2026-11-20T10:00:00.000Z"}`)
		seq, _, _, err := r.store.InboxAppend(ctx, chat.NewItem{To: "bob", From: "$chat", Rest: rest, SentAtMs: 1, System: true})
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	put(chat.ItemMention)
	tell()
	one := put(chat.ItemAnnouncement)
	tell(chat.TellTask{Last: one, Priority: chat.PriorityLow, Users: []chat.Told{{User: "bob", Count: 1, Show: one}}})
	tell()
	put(chat.ItemAdded)
	two := put(chat.ItemDirect)
	three := put(chat.ItemAnnouncement)
	tell(chat.TellTask{Last: three, Priority: chat.PriorityHigh, Users: []chat.Told{{User: "bob", Count: 3, Show: three}}})
	four := put(chat.ItemAnnouncement)
	if err := r.AckInbox(ctx, chat.Caller{User: "bob"}, two); err != nil {
		t.Fatal(err)
	}
	tell(chat.TellTask{Last: four, Priority: chat.PriorityLow, Users: []chat.Told{{User: "bob", Count: 2, Show: four}}})
	for range 300 {
		four = put(chat.ItemAnnouncement)
	}
	tell(chat.TellTask{Last: four, Priority: chat.PriorityLow, Users: []chat.Told{{User: "bob", Count: 200, Show: four}}})
	five := put(chat.ItemDirect)
	if err := r.store.Arrive(ctx, "node", []string{"bob"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	tell()
	if err := r.store.Depart(ctx, "node", []string{"bob"}); err != nil {
		t.Fatal(err)
	}
	// A delivery shows the item, unless it was acked.
	inbox, err := r.Inbox(ctx, chat.Caller{User: "bob"}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	item := func(p *chat.PushTask, _ *chat.TaskRun) { p.Group, p.Epoch = "", inbox.Epoch }
	r.arrives(1, r.push(five, item))
	if err := r.AckInbox(ctx, chat.Caller{User: "bob"}, five); err != nil {
		t.Fatal(err)
	}
	r.arrives(1, r.push(five, item))
}
