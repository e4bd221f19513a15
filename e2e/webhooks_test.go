package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// webhookReceiver counts what comes to it: which ids each message came under, and how often.
type webhookReceiver struct {
	url  string
	gate chan struct{} // requests wait until it is closed; nil: they do not

	mu     sync.Mutex
	secret string                    // verifies every request, once it is known
	ids    map[int64]map[string]bool // by message
	times  int
	bad    error
}

func newWebhookReceiver(t *testing.T) *webhookReceiver {
	r := &webhookReceiver{ids: map[int64]map[string]bool{}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.gate != nil {
			<-r.gate
		}
		body, err := io.ReadAll(req.Body)
		if err == nil {
			err = r.receive(req.Header, body)
		}
		if err != nil {
			r.mu.Lock()
			r.bad = errors.Join(r.bad, err)
			r.mu.Unlock()
		}
	}))
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

func (r *webhookReceiver) receive(header http.Header, body []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	verifier, err := standardwebhooks.NewWebhook(r.secret)
	if err != nil {
		return err
	}
	if err := verifier.Verify(body, header); err != nil {
		return err
	}
	var event struct {
		Type string
		Data struct{ ID int64 }
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return err
	}
	if event.Type != client.EventMessageCreated || event.Data.ID == 0 {
		return fmt.Errorf("got %s", body)
	}
	if r.ids[event.Data.ID] == nil {
		r.ids[event.Data.ID] = map[string]bool{}
	}
	r.ids[event.Data.ID][header.Get("webhook-id")] = true
	r.times++
	return nil
}

// TestWebhooksThroughKills sends while nodes are killed: every message that was acknowledged comes to every webhook, each
// under one id, and nothing else does. No secret is ever written to a log.
func TestWebhooksThroughKills(t *testing.T) {
	t.Parallel()
	const messages, kills = 200, 4
	ctx := bounded(t, 90*time.Second)
	r := redistest.Start(t)
	config := harness.Config{Redis: r.URL(), Env: map[string]string{"CHATD_EGRESS_ALLOW": "127.0.0.0/8"}}
	nodes := []*harness.Node{harness.StartNode(t, config), harness.StartNode(t, config)}

	root := must(client.New(nodes[0].URL(), client.StaticToken(harness.Token("root", "admin", time.Hour)), patient()))(t)
	receivers := []*webhookReceiver{newWebhookReceiver(t), newWebhookReceiver(t)}
	for _, receiver := range receivers {
		receiver.mu.Lock()
		webhook := must(root.CreateWebhook(ctx, client.WebhookDraft{URL: receiver.url, Events: []string{client.EventMessageCreated}}))(t)
		receiver.secret = webhook.Secret
		receiver.mu.Unlock()
	}
	keep := int64(0)
	alice := nodes[0].Client("alice", patient())
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Keep: &keep}))(t)

	sent := map[int64]bool{}
	killed := make(chan struct{})
	more := make(chan struct{}, messages)
	go func() {
		defer close(killed)
		for i := range kills {
			for range messages / (kills + 1) {
				<-more
			}
			nodes[i%2].Kill()
			nodes[i%2].Start()
		}
	}()
	for i := range messages {
		message := must(nodes[i%2].Client("alice", patient()).Send(ctx, "g", client.Draft{Body: fmt.Sprint("message ", i)}))(t)
		sent[message.ID] = true
		more <- struct{}{}
	}
	<-killed
	began := time.Now()
	for i, receiver := range receivers {
		harness.Eventually(t, time.Minute, "every message comes", func() error {
			receiver.mu.Lock()
			defer receiver.mu.Unlock()
			if receiver.bad != nil {
				t.Fatal(receiver.bad)
			}
			if len(receiver.ids) < len(sent) {
				return fmt.Errorf("%d of %d are there", len(receiver.ids), len(sent))
			}
			return nil
		})
		receiver.mu.Lock()
		for id, under := range receiver.ids {
			if !sent[id] || len(under) != 1 {
				t.Errorf("webhook %d: message %d came under %d ids; acknowledged: %v", i, id, len(under), sent[id])
			}
		}
		t.Logf("webhook %d: %d messages in %d requests over %d kills, the last %s after the end", i, len(receiver.ids), receiver.times, kills, time.Since(began))
		receiver.mu.Unlock()
	}
	for _, node := range nodes {
		for _, receiver := range receivers {
			if log := node.Log(); bytes.Contains(log, []byte(receiver.secret)) || bytes.Contains(log, []byte(receiver.url)) {
				t.Error("a secret or an address of a webhook is in the log")
			}
		}
	}
}

// TestWebhookAway has an endpoint that hangs while far more comes up than may wait for it. The other gets everything meanwhile,
// and the first gets everything after its return, each under one id.
func TestWebhookAway(t *testing.T) {
	const messages = 100
	config := harness.Config{Env: map[string]string{"CHATD_EGRESS_ALLOW": "127.0.0.0/8", "CHATD_MAX_WEBHOOK_BYTES": "65536"}}
	storesWith(t, config, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, 90*time.Second)
		root := must(client.New(node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour))))(t)
		fine, away := newWebhookReceiver(t), newWebhookReceiver(t)
		release := away.hang(t)
		made := map[*webhookReceiver]client.Webhook{}
		for _, receiver := range []*webhookReceiver{fine, away} {
			receiver.mu.Lock()
			made[receiver] = must(root.CreateWebhook(ctx, client.WebhookDraft{URL: receiver.url, Events: []string{client.EventMessageCreated}}))(t)
			receiver.secret = made[receiver].Secret
			receiver.mu.Unlock()
		}
		alice := node.Client("alice", patient())
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
		for range messages {
			must(alice.Send(ctx, "g", client.Draft{Body: strings.Repeat("x", 2000)}))(t)
		}
		fine.waitFor(t, messages)
		if w := must(root.Webhook(ctx, made[away].ID))(t); w.WaitingBytes > 48<<10 || w.Waiting >= messages || w.Dropped != 0 {
			t.Errorf("%d deliveries of %d bytes wait, %d are lost, want about 32 kB, and none", w.Waiting, w.WaitingBytes, w.Dropped)
		}
		release()
		away.waitFor(t, messages)
		if w := must(root.Webhook(ctx, made[away].ID))(t); w.Dropped != 0 {
			t.Errorf("%d events are lost", w.Dropped)
		}
		if !bytes.Contains(node.Log(), []byte("webhook falls behind")) {
			t.Error("the log does not say that it fell behind")
		}
	})
}

// hang lets every request wait until release is called, or the test ends.
func (r *webhookReceiver) hang(t *testing.T) (release func()) {
	gate := make(chan struct{})
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	r.gate = gate
	return release
}

// waitFor waits until so many messages came, and checks that each did under one id.
func (r *webhookReceiver) waitFor(t *testing.T, messages int) {
	t.Helper()
	harness.Eventually(t, time.Minute, "every message comes", func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.ids) < messages {
			return fmt.Errorf("%d of %d are there", len(r.ids), messages)
		}
		return r.bad
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, under := range r.ids {
		if len(under) != 1 {
			t.Errorf("message %d came under %d ids", id, len(under))
		}
	}
}

func TestWebhookRegistry(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, 20*time.Second)
		root := must(client.New(node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour))))(t)
		var made []client.Webhook
		for i := range 3 {
			made = append(made, must(root.CreateWebhook(ctx, client.WebhookDraft{URL: fmt.Sprintf("https://hooks.example/%d", i), Events: []string{client.EventScheduleFailed}}))(t))
		}
		page, next, err := root.Webhooks(ctx, client.Page{Limit: 2})
		if err != nil || len(page) != 2 || next == "" || page[0].Secret != "" {
			t.Fatalf("got %v, %q, %v, want two without secrets", page, next, err)
		}
		rest, next, err := root.Webhooks(ctx, client.Page{Limit: 2, Cursor: next})
		if err != nil || len(rest) != 1 || next != "" {
			t.Fatalf("got %v, %q, %v, want the third", rest, next, err)
		}
		if w := must(root.RotateWebhook(ctx, made[1].ID))(t); w.Secret == "" || w.Secret == made[1].Secret {
			t.Error("the secret did not change")
		}
		if err := root.DropWebhook(ctx, made[1].ID); err != nil {
			t.Error(err)
		}
		if _, err := root.Webhook(ctx, made[1].ID); err == nil {
			t.Error("a dropped webhook is still there")
		}
		if w := must(root.Webhook(ctx, made[0].ID))(t); w.URL != made[0].URL || w.Secret != "" || w.DisabledAt != nil {
			t.Errorf("got %+v", w)
		}
	})
}
