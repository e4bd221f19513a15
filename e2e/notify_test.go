package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// notifying is what a node needs so that it tells the receivers of a test, soon.
func notifying(delay string) map[string]string {
	return map[string]string{"CHATD_EGRESS_ALLOW": "127.0.0.0/8", "CHATD_NOTIFY_DELAY": delay}
}

// notifyRun is a group of alice's whose members have devices at one receiver.
type notifyRun struct {
	*testing.T
	ctx      context.Context
	node     *harness.Node
	receiver *harness.Receiver
	alice    *client.Client
}

func newNotifyRun(t *testing.T, node *harness.Node, members ...string) *notifyRun {
	t.Helper()
	r := &notifyRun{T: t, ctx: bounded(t, 2*time.Minute), node: node, receiver: harness.StartReceiver(t, 1), alice: node.Client("alice")}
	must(r.alice.CreateGroup(r.ctx, client.GroupDraft{ID: "g", Members: members}))(t)
	return r
}

// webhook gives a user a webhook device; what it gets is counted under `<user>-<id>`.
func (r *notifyRun) webhook(user, id string) {
	r.Helper()
	name := user + "-" + id
	device := must(r.node.Client(user).PutDevice(r.ctx, id, client.DeviceDraft{Kind: client.DeviceWebhook, URL: r.receiver.Webhook(name)}))(r)
	r.receiver.Trust(name, device.Secret)
}

// browser gives a user a browser; what it gets is counted under `<user>-<id>`.
func (r *notifyRun) browser(user, id string) {
	r.Helper()
	name := user + "-" + id
	browser := must(harness.NewBrowser())(r)
	r.receiver.Subscribe(name, browser, must(r.node.Client(user).PushKey(r.ctx))(r))
	must(r.node.Client(user).PutDevice(r.ctx, id, client.DeviceDraft{Kind: client.DeviceWebPush, Endpoint: r.receiver.Endpoint(name),
		Keys: &client.PushKeys{P256dh: browser.P256dh(), Auth: browser.Auth()}}))(r)
}

// online gives a user a session that lasts until the returned function has closed it.
func (r *notifyRun) online(user string) (leave func()) {
	r.Helper()
	stream := must(r.node.Client(user).Stream(r.ctx, quick(nil)))(r)
	until(r.ctx, r, stream.Next, func(client.Connected) bool { return true })
	return stream.Close
}

func (r *notifyRun) send(draft client.Draft) int64 {
	r.Helper()
	return must(r.alice.Send(r.ctx, "g", draft))(r).ID
}

// wants compares the newest notification under a name, the nth, with what it is to tell.
func (r *notifyRun) wants(name string, n int, want string) harness.Received {
	r.Helper()
	got := r.receiver.Wait(30*time.Second, name, n)
	d := got[n-1].Data
	text := fmt.Sprintf("%s in %q: %d, %d mentions, last %d, %s: %s", d.User, d.Group, d.Count, d.Mentions, d.LastID, d.From, d.Preview)
	if len(got) != n || got[n-1].Type != "notification" || time.Since(got[n-1].Timestamp).Abs() > harness.Slack*time.Minute || text != want {
		r.Errorf("%s: got %d: %q at %s; want %d: %q", name, len(got), text, got[n-1].Timestamp, n, want)
	}
	return got[n-1]
}

// TestOfflineMembersGetNotified has one member of each kind: who is away is told once of all that is unread, who is online, who
// has read and who does not want to know is not; and what is told next is only what came since.
func TestOfflineMembersGetNotified(t *testing.T) {
	t.Parallel()
	const delay = "1s"
	run := func(t *testing.T, node *harness.Node) {
		r := newNotifyRun(t, node, "away", "online", "reader", "muted", "named", "nameless", "left")
		for _, user := range []string{"away", "online", "reader", "muted", "named", "nameless", "left", "alice"} {
			r.webhook(user, "hook")
		}
		r.browser("away", "browser")
		r.browser("named", "browser")
		must(node.Client("muted").SetNotify(r.ctx, "g", client.NotifySetting{Level: client.NotifyNone}))(t)
		for _, user := range []string{"named", "nameless"} {
			must(node.Client(user).SetNotify(r.ctx, "g", client.NotifySetting{Level: client.NotifyMentions}))(t)
		}
		leave := r.online("online")

		// All of this happens before anybody is told, however slow the machine is.
		op := operator(t, node)
		must(op.PauseQueue(r.ctx, "core"))(t)
		r.send(client.Text("one"))
		r.send(client.Text("two"))
		named := r.send(client.Draft{Body: "three, @named", Mentions: []string{"named"}})
		last := r.send(client.Text(strings.Repeat("ä", 300)))
		must(node.Client("reader").Read(r.ctx, "g", last))(t)
		if err := node.Client("left").RemoveMember(r.ctx, "g", "left"); err != nil {
			t.Fatal(err)
		}
		must(op.ResumeQueue(r.ctx, "core"))(t)
		end := last + 1 // the notice of leaving
		want := fmt.Sprintf("away in %q: 4, 0 mentions, last %d, alice: %s", "g", end, strings.Repeat("ä", 200))
		webhook := r.wants("away-hook", 1, want)
		push := r.wants("away-browser", 1, want)
		r.wants("named-hook", 1, fmt.Sprintf("named in %q: 4, 1 mentions, last %d, alice: three, @named", "g", end))
		if got := r.wants("named-browser", 1, fmt.Sprintf("named in %q: 4, 1 mentions, last %d, alice: three, @named", "g", end)); got.Urgency != "high" || push.Urgency != "normal" {
			t.Errorf("got urgency %q for a mention and %q for a message, want high and normal", got.Urgency, push.Urgency)
		}
		if webhook.ID == "" || push.Topic == "" {
			t.Errorf("got webhook-id %q and topic %q", webhook.ID, push.Topic)
		}

		// One who was online is told of what comes after; one who has read some is told of the rest.
		leave()
		must(node.Client("away").Read(r.ctx, "g", named))(t)
		next := r.send(client.Text("five"))
		again := r.wants("away-hook", 2, fmt.Sprintf("away in %q: 2, 0 mentions, last %d, alice: five", "g", next))
		if again.ID == webhook.ID {
			t.Errorf("two notifications have the id %s", webhook.ID)
		}
		if p := r.wants("away-browser", 2, fmt.Sprintf("away in %q: 2, 0 mentions, last %d, alice: five", "g", next)); p.Topic != push.Topic {
			t.Errorf("got topic %q, then %q, want the same for a group", push.Topic, p.Topic)
		}
		r.wants("online-hook", 1, fmt.Sprintf("online in %q: 5, 0 mentions, last %d, alice: five", "g", next))
		r.wants("reader-hook", 1, fmt.Sprintf("reader in %q: 1, 0 mentions, last %d, alice: five", "g", next))

		// Directly: at once, in the name of who wrote.
		sent := must(r.alice.SendDirect(r.ctx, "away", client.Direct{Body: "psst"}))(t)
		want = fmt.Sprintf("away in %q: 1, 0 mentions, last %d, alice: psst", "", sent.Seq)
		r.wants("away-hook", 3, want)
		if p := r.wants("away-browser", 3, want); p.Urgency != "high" || p.Topic == push.Topic {
			t.Errorf("got urgency %q and topic %q for a direct message", p.Urgency, p.Topic)
		}
		for name, n := range map[string]int{"away-hook": 3, "away-browser": 3, "online-hook": 1, "reader-hook": 1, "named-hook": 1, "named-browser": 1,
			"muted-hook": 0, "nameless-hook": 0, "left-hook": 0, "alice-hook": 0} {
			if got := r.receiver.Got(name); len(got) != n {
				t.Errorf("%s was told %d times, want %d: %+v", name, len(got), n, got)
			}
		}
	}
	t.Run("embedded", func(t *testing.T) { run(t, harness.StartNode(t, harness.Config{Env: notifying(delay)})) })
	t.Run("redis", func(t *testing.T) {
		run(t, harness.StartNode(t, harness.Config{Redis: redistest.Start(t).URL(), Env: notifying(delay)}))
	})
}

// TestASessionCountsOnEveryNode has someone online at another node than the one that tells.
func TestASessionCountsOnEveryNode(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	r := newNotifyRun(t, harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: notifying("300ms")}), "away", "online")
	r.webhook("away", "d")
	r.webhook("online", "d")
	other := r.node
	r.node = harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: notifying("300ms")})
	here, leave := r.online("online"), r.online("online")
	r.node = other
	here()
	id := r.send(client.Text("one")) // of two sessions there, one is left
	r.wants("away-d", 1, fmt.Sprintf("away in %q: 1, 0 mentions, last %d, alice: one", "g", id))
	leave()
	id = r.send(client.Text("two"))
	r.wants("away-d", 2, fmt.Sprintf("away in %q: 2, 0 mentions, last %d, alice: two", "g", id))
	r.wants("online-d", 1, fmt.Sprintf("online in %q: 2, 0 mentions, last %d, alice: two", "g", id))
}

// TestDevicesThatAreGoneGo has an endpoint answer that it is no more, and one that it is busy for a second.
func TestDevicesThatAreGoneGo(t *testing.T) {
	t.Parallel()
	r := newNotifyRun(t, harness.StartNode(t, harness.Config{Env: notifying("0s")}), "bob")
	r.webhook("bob", "gone")
	r.webhook("bob", "absent")
	r.webhook("bob", "busy")
	r.receiver.Refuse("bob-gone", http.StatusGone, 1, nil)
	r.receiver.Refuse("bob-absent", http.StatusNotFound, 1, nil)
	r.receiver.Refuse("bob-busy", http.StatusServiceUnavailable, 1, http.Header{"Retry-After": {"6"}})
	began := time.Now()
	id := r.send(client.Text("one"))
	got := r.wants("bob-busy", 1, fmt.Sprintf("bob in %q: 1, 0 mentions, last %d, alice: one", "g", id))
	if wait := got.At.Sub(began); wait < 6*time.Second {
		t.Errorf("tried again after %s, want at least the 6 s that were asked for", wait)
	}
	harness.Eventually(t, 30*time.Second, "the devices that are gone go", func() error {
		devices := must(r.node.Client("bob").Devices(r.ctx))(t)
		if len(devices) != 1 || devices[0].ID != "busy" {
			return fmt.Errorf("bob has %+v", devices)
		}
		return nil
	})
	id = r.send(client.Text("two"))
	r.wants("bob-busy", 2, fmt.Sprintf("bob in %q: 2, 0 mentions, last %d, alice: two", "g", id))
	if n := r.receiver.Count(); n != 2 {
		t.Errorf("%d notifications arrived, want 2", n)
	}
}

// TestAKillBetweenFanOutAndDelivery kills the only node when everyone was chosen and nobody was told yet: each is told once.
func TestAKillBetweenFanOutAndDelivery(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, node *harness.Node) {
		var members []string
		for i := range 30 {
			members = append(members, fmt.Sprintf("u%02d", i))
		}
		r := newNotifyRun(t, node, members...)
		for _, user := range members {
			r.webhook(user, "d")
		}
		operator := must(client.New(node.URL(), client.StaticToken(harness.Token("operator", "admin", time.Hour)), patient()))(t)
		must(operator.PauseQueue(r.ctx, "egress"))(t)
		id := r.send(client.Text("hello"))
		harness.Eventually(t, 30*time.Second, "all deliveries wait", func() error {
			for _, q := range must(operator.Queues(r.ctx))(t) {
				if q.Queue == "egress" && q.ReadyAll() != int64(len(members)) || q.Leased > 0 {
					return fmt.Errorf("%d ready and %d leased in %s", q.ReadyAll(), q.Leased, q.Queue)
				}
			}
			return nil
		})
		node.Kill()
		node.Start()
		must(operator.ResumeQueue(r.ctx, "egress"))(t)
		for _, user := range members {
			r.wants(user+"-d", 1, fmt.Sprintf("%s in %q: 1, 0 mentions, last %d, alice: hello", user, "g", id))
		}
		awaitIdle(r.ctx, t, operator)
		if n := r.receiver.Count(); n != len(members) {
			t.Errorf("%d notifications arrived, want %d", n, len(members))
		}
	}
	t.Run("embedded", func(t *testing.T) { run(t, harness.StartNode(t, harness.Config{Env: notifying("0s")})) })
	t.Run("redis", func(t *testing.T) {
		run(t, harness.StartNode(t, harness.Config{Redis: redistest.Start(t, "--appendfsync", "always").URL(), Env: notifying("0s")}))
	})
}

// TestNotificationsSurviveKills kills a node again and again between the message and the deliveries: everyone is told, and
// what is told twice has the same id.
func TestNotificationsSurviveKills(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, "--appendfsync", "always")
	const users, rounds = 60, 2
	var members []string
	for i := range users {
		members = append(members, fmt.Sprintf("u%02d", i))
	}
	env := notifying("300ms")
	r := newNotifyRun(t, harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: env}), members...)
	other := harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: env})
	for _, user := range members {
		r.webhook(user, "d")
	}
	random := random(t)
	for round := range rounds {
		id := must(other.Client("alice").Send(r.ctx, "g", client.Text(fmt.Sprintf("message %d", round))))(t).ID
		harness.Eventually(t, 30*time.Second, "deliveries begin", func() error {
			if n := r.receiver.Count(); n < round*users+random.IntN(users/2) {
				return fmt.Errorf("%d arrived", n)
			}
			return nil
		})
		r.node.Kill()
		r.node.Start()
		for _, user := range members {
			harness.Eventually(t, time.Minute, user+" is told", func() error {
				got := r.receiver.Got(user + "-d")
				if len(got) == 0 || got[len(got)-1].Data.LastID != id {
					return fmt.Errorf("got %d", len(got))
				}
				return nil
			})
		}
	}
	repeats := 0
	for _, user := range members {
		got := r.receiver.Got(user + "-d")
		ids := map[string]int64{}
		for _, one := range got {
			if last, again := ids[one.ID]; again {
				repeats++
				if last != one.Data.LastID {
					t.Errorf("%s: %s told of %d and of %d", user, one.ID, last, one.Data.LastID)
				}
			}
			ids[one.ID] = one.Data.LastID
		}
		if len(ids) != rounds {
			t.Errorf("%s was told %d times by %d ids, want %d", user, len(got), len(ids), rounds)
		}
		if !slices.IsSortedFunc(got, func(a, b harness.Received) int { return int(a.Data.Count - b.Data.Count) }) {
			t.Errorf("%s: the counts fell: %+v", user, got)
		}
	}
	t.Logf("%d notifications, %d repeated with their id", r.receiver.Count(), repeats)
}
