package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/deliver"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a service whose deliveries arrive at a receiver. bob has a webhook called bob there.
type bench struct {
	*chattest.Bench
	*notify.Service
	receiver *harness.Receiver
	epoch    string
	disabled string // this user is
	names    map[string]string
	blocked  map[string]bool // by bob
}

func newBench(t *testing.T, change ...func(*chat.Options)) *bench {
	t.Helper()
	b := chattest.New(t, change...)
	sender := deliver.New(deliver.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(sender.Close)
	n := &bench{Bench: b, receiver: harness.StartReceiver(t, 1)}
	n.Service = notify.New(b.Service, b.Store, notify.Options{
		Pusher: sender, Delay: time.Hour, Disabled: func(user string) bool { return user == n.disabled },
		Name:    func(_ context.Context, user string) string { return n.names[user] },
		Blocked: func(context.Context, string, []string) (map[string]bool, error) { return n.blocked, nil },
	})
	n.epoch = b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob").Epoch
	n.register()
	return n
}

// run runs a task as a worker would.
func (r *bench) run(kind string, payload any) {
	r.T.Helper()
	raw, err := json.Marshal(payload)
	r.Must(err)
	r.Must(r.Handlers()[kind].Run(r.Ctx, chat.TaskRun{Payload: raw}))
}

func (r *bench) register() {
	r.T.Helper()
	d, created, err := r.PutDevice(r.Ctx, chattest.As("bob"), "hook", notify.DeviceDraft{Kind: notify.DeviceWebhook, URL: r.receiver.Webhook("bob")})
	if err != nil {
		r.T.Fatal(err)
	}
	if created {
		r.receiver.Trust("bob", d.Secret)
	}
}

// push runs a delivery of message id to bob's device.
func (r *bench) push(id int64, change func(*notify.PushTask, *chat.TaskRun)) error {
	r.T.Helper()
	task := notify.PushTask{User: "bob", Device: "hook", Group: "g", Epoch: r.epoch, Last: id, AtMs: 1, Count: 1, Show: id, Priority: chat.PriorityNormal}
	run := chat.TaskRun{ID: "p00-x", Attempt: 1, Enqueued: time.Now()}
	if change != nil {
		change(&task, &run)
	}
	payload, err := json.Marshal(task)
	if err != nil {
		r.T.Fatal(err)
	}
	run.Payload = payload
	return r.Handlers()[notify.TaskPush].Run(r.Ctx, run)
}

// waiting takes the payloads of the ready tasks of a kind.
func (r *bench) waiting(kind string) [][]byte { return r.take(queue.Ready, kind) }

// take takes the payloads of the tasks of a kind in a state.
func (r *bench) take(state queue.State, kind string) (payloads [][]byte) {
	r.T.Helper()
	client, err := queue.NewClient(queue.Options{Client: r.Store.Client(), Queue: chat.QueueCore})
	if err != nil {
		r.T.Fatal(err)
	}
	infos, _, err := client.List(r.Ctx, queue.ListQuery{State: state})
	if err != nil {
		r.T.Fatal(err)
	}
	for _, info := range infos {
		if info.Kind != kind {
			continue
		}
		if _, err := client.Cancel(r.Ctx, info.ID); err != nil {
			r.T.Fatal(err)
		}
		payloads = append(payloads, info.Payload)
	}
	return payloads
}

// arrives checks how many notifications bob has received so far.
func (r *bench) arrives(want int, err error) {
	r.T.Helper()
	if err != nil {
		r.T.Fatal(err)
	}
	if got := len(r.receiver.Got("bob")); got != want {
		r.T.Fatalf("bob got %d notifications, want %d", got, want)
	}
}

// TestAReplyReachesWhoFollows: from the reply to the device, and not once it was read in the thread.
func TestAReplyReachesWhoFollows(t *testing.T) {
	r := newBench(t)
	root := r.Say("bob", "g", "root").ID
	r.take(queue.Delayed, notify.TaskFanOut)
	reply := func(body string) int64 {
		t.Helper()
		sent, err := r.Send(r.Ctx, chattest.As("alice"), "g", chat.Content{Thread: root, Body: &body}, "")
		r.Must(err)
		return sent.ID
	}
	fanOut := func() [][]byte {
		t.Helper()
		tasks := r.take(queue.Delayed, notify.TaskFanOut)
		if len(tasks) != 1 {
			t.Fatalf("got %d fan-outs of a reply, want 1", len(tasks))
		}
		r.run(notify.TaskFanOut, json.RawMessage(tasks[0]))
		return r.waiting(notify.TaskDispatch)
	}
	one := reply("first")
	tasks := fanOut()
	if len(tasks) != 1 {
		t.Fatalf("got %d dispatches, want 1", len(tasks))
	}
	ofThread := func(p *notify.PushTask, _ *chat.TaskRun) { p.Thread = root }
	r.arrives(1, r.push(one, ofThread))
	if d := r.receiver.Got("bob")[0].Data; d.From != "alice" || d.Preview != "first" || d.Thread != root {
		t.Errorf("bob got %+v", d)
	}
	r.arrives(1, r.push(one, nil)) // in the group there is nothing for bob

	// Of what bob blocks nothing is shown; the newest reply of others is.
	r.blocked = map[string]bool{"alice": true}
	r.arrives(1, r.push(one, ofThread))
	r.blocked = nil

	two := reply("second")
	at := r.Ctx
	if _, err := r.Store.ReadThread(at, chattest.As("bob"), "g", root, two); err != nil {
		t.Fatal(err)
	}
	if tasks := fanOut(); len(tasks) != 0 {
		t.Errorf("got %d dispatches of what was read, want none", len(tasks))
	}
	r.arrives(1, r.push(two, ofThread))
}

// TestADeliveryLooksAgain lets a delivery wait while things change: nobody gets notified of what is over by then.
func TestADeliveryLooksAgain(t *testing.T) {
	r := newBench(t)
	bob, alice := chattest.As("bob"), chattest.As("alice")
	ctx := r.Ctx
	id := r.Say("alice", "g", "hello").ID
	r.arrives(1, r.push(id, nil))
	if d := r.receiver.Got("bob")[0].Data; d.From != "alice" || d.Preview != "hello" || d.Count != 1 {
		t.Errorf("bob was told %+v", d)
	}
	r.arrives(1, r.push(id, func(p *notify.PushTask, _ *chat.TaskRun) { p.Epoch = "another" }))
	r.arrives(1, r.push(id, func(p *notify.PushTask, _ *chat.TaskRun) { p.Device = "absent" }))
	r.arrives(1, r.push(id, func(p *notify.PushTask, _ *chat.TaskRun) { p.User = "nobody" }))
	r.arrives(1, r.push(id, func(_ *notify.PushTask, run *chat.TaskRun) { run.Enqueued = time.Now().Add(-25 * time.Hour) }))

	// A session anywhere.
	if err := r.Store.Arrive(ctx, "node", []string{"bob"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	r.arrives(1, r.push(id, nil))
	if err := r.Store.Depart(ctx, "node", []string{"bob"}); err != nil {
		t.Fatal(err)
	}

	r.disabled = "bob"
	r.arrives(1, r.push(id, nil))
	r.disabled = ""

	// The level may change while a delivery waits.
	mentioned := func(p *notify.PushTask, _ *chat.TaskRun) { p.Mentions = 1 }
	for _, c := range []struct {
		level                notify.Level
		plainly, asMentioned int // how many arrive
	}{{notify.None, 0, 0}, {notify.Mentions, 0, 1}, {notify.All, 1, 1}} { // the last one stays for what follows
		if _, err := r.SetLevel(ctx, bob, "g", notify.Setting{Level: c.level}); err != nil {
			t.Fatal(err)
		}
		before := len(r.receiver.Got("bob"))
		r.arrives(before+c.plainly, r.push(id, nil))
		r.arrives(before+c.plainly+c.asMentioned, r.push(id, mentioned))
	}

	// The notification shows the message as it is now.
	before := len(r.receiver.Got("bob"))
	body := "changed " + strings.Repeat("x", 300)
	if _, err := r.Send(ctx, alice, "g", chat.Content{Kind: chat.Edit, Target: id, Body: &body}, ""); err != nil {
		t.Fatal(err)
	}
	r.arrives(before+1, r.push(id, nil))
	if got := r.receiver.Got("bob")[before].Data.Preview; got != body[:200] {
		t.Errorf("the preview is %q, want the first 200 characters of the edit", got)
	}
	if _, err := r.Send(ctx, alice, "g", chat.Content{Kind: chat.Delete, Target: id}, ""); err != nil {
		t.Fatal(err)
	}
	later := r.Say("alice", "g", "later").ID
	r.arrives(before+2, r.push(id, nil))
	if got := r.receiver.Got("bob")[before+1].Data.Preview; got != "" {
		t.Errorf("the preview of a deleted message is %q", got)
	}

	// Messages that were read, and those of a group that was left.
	if _, err := r.Read(ctx, bob, "g", chat.At(id)); err != nil {
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
	r := newBench(t)
	id := r.Say("alice", "g", "hello").ID
	var later *chat.Postponed
	r.receiver.Refuse("bob", http.StatusInternalServerError, 1, nil)
	if err := r.push(id, nil); !errors.As(err, &later) || later.Cause == nil || later.After < 5*time.Second || later.After > 6*time.Second {
		t.Errorf("after a failure: %v (%+v), want that it comes again after 5 s", err, later)
	}
	r.receiver.Refuse("bob", http.StatusTooManyRequests, 1, http.Header{"Retry-After": {"3600"}})
	if err := r.push(id, nil); !errors.As(err, &later) || later.After < time.Hour {
		t.Errorf("after a 429: %v (%+v), want that it comes again after an hour", err, later)
	}
	if kind := r.Handlers()[notify.TaskPush]; kind.Queue != chat.QueueEgress || kind.AttemptsMax != 6 || kind.Timeout == 0 {
		t.Errorf("a delivery is %+v", kind)
	}
	if err := r.Handlers()[notify.TaskPush].Run(r.Ctx, chat.TaskRun{Payload: []byte(`{"user":"{"}`)}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("a payload that cannot be: %v", err)
	}
}

// TestADeviceThatMovedStays: an endpoint answers that it is gone while its device moves to another address.
func TestADeviceThatMovedStays(t *testing.T) {
	r := newBench(t)
	bob := chattest.As("bob")
	id := r.Say("alice", "g", "hello").ID
	r.receiver.Refuse("bob", http.StatusGone, 1, nil)
	if err := r.push(id, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Device(r.Ctx, bob, "hook"); !errors.Is(err, chat.ErrNotFound) {
		t.Fatalf("the device that is gone: %v, want not found", err)
	}
	r.register()
	was, _, err := r.Store.Reach(r.Ctx, "bob", "hook")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.PutDevice(r.Ctx, bob, "hook", notify.DeviceDraft{Kind: notify.DeviceWebhook, URL: r.receiver.Webhook("elsewhere")}); err != nil {
		t.Fatal(err)
	}
	if err := r.Store.DropDevice(r.Ctx, "bob", "hook", &was); err != nil { // what the late answer of the old address leads to
		t.Fatal(err)
	}
	if d, err := r.Device(r.Ctx, bob, "hook"); err != nil || d.URL != r.receiver.Webhook("elsewhere") {
		t.Errorf("the device is %+v, %v", d, err)
	}
}

// TestANodeThatDiesHidesNobody: a dead node's presence still shows bob as online, so he is not notified; he is once
// that has expired. A user who is online the second time too is not notified, and not checked a third time.
func TestANodeThatDiesHidesNobody(t *testing.T) {
	r := newBench(t)
	if err := r.Store.Arrive(r.Ctx, "node", []string{"bob"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	r.take(queue.Delayed, notify.TaskFanOut)
	r.Say("alice", "g", "hello")
	if _, _, err := r.SendDirect(r.Ctx, chattest.As("alice"), "bob", chat.Direct{Body: new("hello")}); err != nil {
		t.Fatal(err)
	}
	looks := map[string][]byte{}
	for _, kind := range []string{notify.TaskFanOut, notify.TaskInbox} {
		for _, what := range []string{"the fan-out", "its second run"} {
			tasks := r.take(queue.Delayed, kind)
			if len(tasks) != 1 {
				t.Fatalf("%s of %s: %d tasks wait, want 1", what, kind, len(tasks))
			}
			looks[kind] = tasks[0]
			if err := r.Handlers()[kind].Run(r.Ctx, chat.TaskRun{Payload: tasks[0]}); err != nil {
				t.Fatal(err)
			}
			if dispatched := r.waiting(notify.TaskDispatch); len(dispatched) > 0 {
				t.Fatalf("%s of %s told someone who is there: %s", what, kind, dispatched)
			}
		}
		if tasks := r.take(queue.Delayed, kind); len(tasks) > 0 {
			t.Fatalf("%s: looks for ever: %s", kind, tasks)
		}
	}
	if err := r.Store.Depart(r.Ctx, "node", []string{"bob"}); err != nil { // as if the heartbeat had expired
		t.Fatal(err)
	}
	for kind, payload := range looks {
		if err := r.Handlers()[kind].Run(r.Ctx, chat.TaskRun{Payload: payload}); err != nil {
			t.Fatal(err)
		}
		if dispatched := r.waiting(notify.TaskDispatch); len(dispatched) != 1 {
			t.Errorf("%s: %d tasks tell bob, want 1", kind, len(dispatched))
		}
	}
}

// TestEveryFanOutIsFollowed keeps a user online, so that a second check always waits: a later fan-out, which may find
// others online, gets its own, but not every fan-out does.
func TestEveryFanOutIsFollowed(t *testing.T) {
	var now atomic.Int64
	now.Store(1_790_000_000_000)
	r := newBench(t, func(o *chat.Options) { o.Now = now.Load })
	if err := r.Store.Arrive(r.Ctx, "node", []string{"bob"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	r.Say("alice", "g", "hello")
	r.take(queue.Delayed, notify.TaskFanOut)
	for range 4 { // at 0 s, 2 s, 4 s and 6 s
		r.run(notify.TaskFanOut, notify.FanOutTask{GroupTask: chat.GroupTask{Group: "g", Epoch: r.epoch}})
		now.Add(2_000)
	}
	looks := r.take(queue.Delayed, notify.TaskFanOut)
	if len(looks) != 2 {
		t.Errorf("%d second looks wait, want one for the first 5 s and one for what came then", len(looks))
	}
}

// TestTheInboxIsNotifiedOnce counts what others have put in: direct messages and announcements, not what groups already
// notify of.
func TestTheInboxIsNotifiedOnce(t *testing.T) {
	r := newBench(t)
	ctx := r.Ctx
	wants := func(want ...notify.DispatchTask) {
		t.Helper()
		r.run(notify.TaskInbox, notify.InboxTask{User: "bob"})
		got := r.waiting(notify.TaskDispatch)
		if len(got) != len(want) {
			t.Fatalf("got %d tasks, want %d", len(got), len(want))
		}
		for i, raw := range got {
			var task notify.DispatchTask
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
		seq, _, _, err := r.Store.InboxAppend(ctx, chat.NewItem{To: "bob", From: "$chat", Rest: rest, SentAtMs: 1, System: true})
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	put(chat.ItemMention)
	wants()
	one := put(chat.ItemAnnouncement)
	wants(notify.DispatchTask{Last: one, Priority: chat.PriorityLow, Users: []notify.Recipient{{User: "bob", Count: 1, Show: one}}})
	wants()
	put(chat.ItemAdded)
	two := put(chat.ItemDirect)
	three := put(chat.ItemAnnouncement)
	wants(notify.DispatchTask{Last: three, Priority: chat.PriorityHigh, Users: []notify.Recipient{{User: "bob", Count: 3, Show: three}}})
	four := put(chat.ItemAnnouncement)
	if _, err := r.AckInbox(ctx, chattest.As("bob"), chat.At(two)); err != nil {
		t.Fatal(err)
	}
	wants(notify.DispatchTask{Last: four, Priority: chat.PriorityLow, Users: []notify.Recipient{{User: "bob", Count: 2, Show: four}}})
	for range 300 {
		four = put(chat.ItemAnnouncement)
	}
	wants(notify.DispatchTask{Last: four, Priority: chat.PriorityLow, Users: []notify.Recipient{{User: "bob", Count: 200, Show: four}}})
	five := put(chat.ItemDirect)
	if err := r.Store.Arrive(ctx, "node", []string{"bob"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	wants()
	if err := r.Store.Depart(ctx, "node", []string{"bob"}); err != nil {
		t.Fatal(err)
	}
	// A delivery shows the item, unless it was acked.
	inbox, err := r.Inbox(ctx, chattest.As("bob"), chat.Position{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	item := func(p *notify.PushTask, _ *chat.TaskRun) { p.Group, p.Epoch = "", inbox.Epoch }
	r.arrives(1, r.push(five, item))
	if _, err := r.AckInbox(ctx, chattest.As("bob"), chat.At(five)); err != nil {
		t.Fatal(err)
	}
	r.arrives(1, r.push(five, item))
}

func TestTasksRefuseGarbage(t *testing.T) {
	chattest.RefuseGarbage(t, newBench(t).Handlers())
}

// TestNotificationsCarryNames: the name of the sender goes along, if there is one.
func TestNotificationsCarryNames(t *testing.T) {
	r := newBench(t)
	id := r.Say("alice", "g", "hello").ID
	r.arrives(1, r.push(id, nil))
	r.names = map[string]string{"alice": "Alice A."}
	r.arrives(2, r.push(id, nil))
	if without, with := r.receiver.Got("bob")[0].Data.FromName, r.receiver.Got("bob")[1].Data.FromName; without != "" || with != "Alice A." {
		t.Errorf("got the names %q and %q", without, with)
	}
}
