package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// startRude is an endpoint that gives back what it gets, secret or not, where an answer has room for it. It says when it has
// done so.
func startRude(t *testing.T, answer func(c io.Writer, request, line string)) (url string, done <-chan struct{}) {
	t.Helper()
	said := make(chan struct{}, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := httputil.DumpRequest(r, true)
		if err != nil {
			t.Error(err)
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		answer(c, string(request), strings.NewReplacer("\r", " ", "\n", " ").Replace(string(request)))
		said <- struct{}{}
	}))
	t.Cleanup(s.Close)
	return s.URL, said
}

// rude are ways to answer. What could not be written is of no interest: the other side may hang up at any time.
var rude = map[string]func(c io.Writer, request, line string){
	"unasked": func(c io.Writer, request, _ string) { // once more, while the connection waits for the next request
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		harness.Pause(context.Background(), 200*time.Millisecond)
		_, _ = io.WriteString(c, request)
		harness.Pause(context.Background(), 200*time.Millisecond)
	},
	"everywhere": func(c io.Writer, request, line string) {
		_, _ = fmt.Fprintf(c, "HTTP/1.1 500 %s\r\nX-Request: %s\r\nConnection: close\r\n\r\n%s", line, line, request)
	},
	"redirect": func(c io.Writer, _, line string) {
		_, _ = fmt.Fprintf(c, "HTTP/1.1 301 Moved\r\nLocation: https://hooks.example/?%s\r\nConnection: close\r\n\r\n", line)
	},
	"garbage": func(c io.Writer, request, _ string) { _, _ = io.WriteString(c, request) },
}

// TestNothingSecretIsShown has endpoints that give back what they get. Neither a log, however much it is to say, nor a
// figure, nor what operators and users see of webhooks, devices and tasks holds a secret, a token or what someone wrote.
func TestNothingSecretIsShown(t *testing.T) {
	ctx := bounded(t, time.Minute)
	env := notifying("0s")
	env["CHATD_LOG"] = "debug"
	node := harness.StartNode(t, harness.Config{Env: env})
	rootToken := harness.Token("root", "admin", time.Hour)
	root := must(client.New(node.URL(), client.StaticToken(rootToken)))(t)
	secrets := []string{"canary-body", "canary-hook", "canary-device", rootToken}
	var all []<-chan struct{}
	for name, answer := range rude {
		url, done := startRude(t, answer)
		webhook := must(root.CreateWebhook(ctx, client.WebhookDraft{URL: url + "/canary-hook?key=canary-hook", Events: []string{client.EventMessageCreated}}))(t)
		all = append(all, done)
		url, done = startRude(t, answer)
		device := must(node.Client("bob").PutDevice(ctx, name, client.DeviceDraft{Kind: client.DeviceWebhook, URL: url + "/canary-device?key=canary-device"}))(t)
		all = append(all, done)
		secrets = append(secrets, webhook.Secret, device.Secret)
	}
	must(node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	must(node.Client("alice").Send(ctx, "g", client.Text("canary-body")))(t)
	for _, done := range all {
		select {
		case <-done:
		case <-ctx.Done():
			t.Fatal("not everyone was told")
		}
	}
	shown := map[string][]byte{}
	harness.Eventually(t, 20*time.Second, "the failed deliveries wait", func() error {
		waiting, _, err := root.Tasks(ctx, client.TaskDelayed, "egress", client.Page{})
		if err != nil {
			return err
		}
		failed := 0
		for _, task := range waiting {
			if task.LastError != nil {
				failed++
			}
		}
		if failed < 2*(len(rude)-1) {
			return fmt.Errorf("%d of %d", failed, len(waiting))
		}
		shown["tasks"], err = json.Marshal(waiting)
		return err
	})
	webhooks, _, err := root.Webhooks(ctx, client.Page{})
	if err != nil {
		t.Fatal(err)
	}
	webhook := must(root.Webhook(ctx, webhooks[0].ID))(t)
	for i := range webhooks {
		webhooks[i].URL = "" // operators see where it leads
	}
	webhook.URL = ""
	devices := must(node.Client("bob").Devices(ctx))(t)
	for i := range devices {
		devices[i].URL = ""
	}
	for what, v := range map[string]any{"webhooks": webhooks, "webhook": webhook, "devices": devices} {
		shown[what] = must(json.Marshal(v))(t)
	}
	shown["metrics"] = must(getBody(ctx, node.URL()+"/metrics"))(t)
	shown["log"] = node.Log()
	for what, text := range shown {
		if len(text) == 0 {
			t.Errorf("%s: nothing to look at", what)
		}
		for _, secret := range secrets {
			if bytes.Contains(text, []byte(strings.TrimPrefix(secret, "whsec_"))) {
				t.Errorf("%s: holds %q: %.2000s", what, secret, text)
			}
		}
	}
}

func getBody(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	return body, errors.Join(err, answer.Body.Close())
}
