package e2e

import (
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
)

var notifyFlag = flag.Int("notify", 2000, "members of TestManyAreNotifiedOnce besides the owner; `make soak` notifies 10,000")

const (
	manyBrowsers = 100 // members with a browser; the others have a webhook
	manyMessages = 100
)

// TestManyAreNotifiedOnce sends a hundred messages to a group of thousands who are all away and have a device, before the
// delay of notifications is over: each gets one, with the count. A send is one call to Redis, with devices as without. The
// queue is paused until all are sent, so that the delay may be short however slow the machine is.
func TestManyAreNotifiedOnce(t *testing.T) {
	manyMembers := *notifyFlag
	ctx := bounded(t, 4*time.Minute)
	redis := redistest.Start(t)
	receiver := harness.StartReceiver(t, 16)
	began := time.Now()
	direct := must(store.Open(ctx, store.Options{URL: redis.URL()}))(t)
	t.Cleanup(func() { _ = direct.Close() })
	gather(ctx, t, direct, manyMembers)
	for _, key := range queue.NewKeys(direct.Prefix(), 0, chat.QueueCore).Work() {
		redis.Do("UNLINK", key) // telling all of them that they were added is not what this is about
	}
	node := harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: notifying("300ms")})
	operator := must(client.New(node.URL(), client.StaticToken(harness.Token("operator", "admin", time.Hour))))(t)
	owner := node.Client("owner")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "quiet", Members: []string{"reader"}}))(t)
	t.Logf("%d members after %s", manyMembers, time.Since(began).Round(time.Millisecond))

	watch := redis.Watch(t)
	without, _ := sendMany(ctx, t, owner, "quiet", watch)
	equip(ctx, t, direct, node, receiver)
	must(owner.Send(ctx, "quiet", client.Text("this one finds out that there are devices")))(t)
	must(operator.PauseQueue(ctx, chat.QueueCore))(t)
	with, last := sendMany(ctx, t, owner, "big", watch)
	if without != manyMessages || with != manyMessages {
		t.Errorf("%d sends cost %d calls without devices and %d with them, want one each", manyMessages, without, with)
	}
	t.Logf("%d devices, all sent after %s", manyMembers, time.Since(began).Round(time.Millisecond))

	if n := receiver.Count(); n > 0 {
		t.Errorf("%d notifications arrived while the queue was paused", n)
	}
	must(operator.ResumeQueue(ctx, chat.QueueCore))(t)
	harness.Eventually(t, 2*time.Minute, "all are notified", func() error {
		if n := receiver.Count(); n < manyMembers {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
	awaitIdle(ctx, t, operator)
	t.Logf("all are notified after %s", time.Since(began).Round(time.Millisecond))
	if n := receiver.Count(); n != manyMembers {
		t.Errorf("%d notifications arrived, want %d", n, manyMembers)
	}
	for i := range manyMembers {
		user := manyUser(i)
		if got := receiver.Got(user); len(got) != 1 || got[0].Data.User != user || got[0].Data.Count != manyMessages || got[0].Data.LastID != last {
			t.Fatalf("%s got %+v, want one notification of %d messages up to %d", user, got, manyMessages, last)
		}
	}
}

func manyUser(i int) string { return fmt.Sprintf("u%05d", i) }

// parallel does n things, 32 at a time.
func parallel(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var wait sync.WaitGroup
	var next atomic.Int64
	for range 32 {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !t.Failed(); i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// gather makes the group. It goes by the store itself: over HTTP, ten thousand who join and register take half a minute.
func gather(ctx context.Context, t *testing.T, direct *store.Store, members int) {
	t.Helper()
	rest := []byte(`"group":"big","from":"owner","kind":"notice","notice":"joined","user":"x","sent_at":"2026-11-20T10:00:00.000Z"}`)
	g := chat.NewGroup{Group: chat.Group{ID: "big", Visibility: chat.Private, CreatedBy: "owner", CreatedAt: chat.TimeMs(1), Epoch: "e",
		BacklogMax: 100_000, Post: chat.PostMembers, History: true}, Notices: []chat.NoticeEntry{{Mark: "aaaaaa", Rest: rest}}}
	if err := direct.CreateGroup(ctx, g); err != nil {
		t.Fatal(err)
	}
	parallel(t, members, func(i int) error {
		_, _, err := direct.Join(ctx, chat.Membership{Group: "big", User: manyUser(i), By: chat.Caller{User: "owner"}, Role: chat.Ordinary,
			AtMs: 1, Notice: chat.NoticeEntry{Mark: "aaaaaa", Rest: rest}})
		return err
	})
}

// equip gives every member a device: the first of them a browser over HTTP, which makes the server look for devices, the
// others a webhook.
func equip(ctx context.Context, t *testing.T, direct *store.Store, node *harness.Node, receiver *harness.Receiver) {
	t.Helper()
	key := must(node.Client("owner").PushKey(ctx))(t)
	parallel(t, *notifyFlag, func(i int) error {
		user := manyUser(i)
		if i >= manyBrowsers {
			secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(user, 4)))
			receiver.Trust(user, secret)
			_, _, err := direct.PutDevice(ctx, user, notify.Device{ID: "d", Kind: notify.DeviceWebhook, Address: receiver.Webhook(user), Secret: secret})
			return err
		}
		browser, err := harness.NewBrowser()
		if err != nil {
			return err
		}
		receiver.Subscribe(user, browser, key)
		_, err = node.Client(user).PutDevice(ctx, "d", client.DeviceDraft{Kind: client.DeviceWebPush, Endpoint: receiver.Endpoint(user),
			Keys: &client.PushKeys{P256dh: browser.P256dh(), Auth: browser.Auth()}})
		return err
	})
}

// sendMany sends the messages, and counts the calls to Redis that changed the group meanwhile.
func sendMany(ctx context.Context, t *testing.T, from *client.Client, group string, watch *redistest.Monitor) (calls int, last int64) {
	t.Helper()
	watch.Take(t)
	for range manyMessages {
		last = must(from.Send(ctx, group, client.Text("message")))(t).ID
	}
	for _, command := range watch.Take(t) {
		if strings.HasPrefix(command, `"evalsha" `) && strings.Contains(command, ":g:"+group+":msgs") {
			calls++
		}
	}
	return calls, last
}

// awaitIdle waits until there is no task that could run.
func awaitIdle(ctx context.Context, t *testing.T, operator *client.Client) {
	t.Helper()
	harness.Eventually(t, 2*time.Minute, "all tasks are done", func() error {
		queues, err := operator.Queues(ctx)
		if err != nil {
			return err
		}
		for _, q := range queues {
			if q.Dead > 0 {
				t.Fatalf("queue %s has %d dead letters", q.Queue, q.Dead)
			}
			if n := q.ReadyAll() + q.Leased + q.Delayed; n > 0 {
				return fmt.Errorf("%d in queue %s", n, q.Queue)
			}
		}
		return nil
	})
}
