package harness

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
)

// Receiver is what devices are registered with: webhook addresses, and a push service with the browsers behind it. It
// checks who sent each request, and counts by name.
type Receiver struct {
	tb      testing.TB
	origins []string

	mu      sync.Mutex
	secrets map[string]string // of webhooks, by name
	pushes  map[string]push   // of browsers, by name
	refused map[string]refusal
	got     map[string][]Received
	count   int
}

type push struct {
	browser   *Browser
	serverKey string
}

type refusal struct {
	status, times int
	header        http.Header
}

// Received is a notification as it arrived.
type Received struct {
	ID      string // of a webhook
	Topic   string // of web push
	Urgency string // of web push
	At      time.Time
	client.Notification
}

// StartReceiver listens on the given number of loopback addresses, which a sender treats as different hosts.
func StartReceiver(tb testing.TB, hosts int) *Receiver {
	tb.Helper()
	r := &Receiver{tb: tb, secrets: map[string]string{}, pushes: map[string]push{}, refused: map[string]refusal{},
		got: map[string][]Received{}}
	for i := range hosts {
		listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", fmt.Sprintf("127.0.0.%d:0", i+1))
		if err != nil {
			tb.Fatal(err)
		}
		server := httptest.NewUnstartedServer(r)
		server.Listener = listener
		server.Start()
		tb.Cleanup(server.Close)
		r.origins = append(r.origins, server.URL)
	}
	return r
}

// Webhook returns the address of a webhook called name; Trust sets its secret.
func (r *Receiver) Webhook(name string) string { return r.origin(name) + "/hook/" + name }

// Endpoint returns the address of a browser called name; Subscribe sets its keys.
func (r *Receiver) Endpoint(name string) string { return r.origin(name) + "/push/" + name }

func (r *Receiver) origin(name string) string {
	sum := sha256.Sum256([]byte(name))
	return r.origins[int(sum[0])%len(r.origins)]
}

// Trust sets the secret of a webhook. Without one, its calls are refused with 401.
func (r *Receiver) Trust(name, secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets[name] = secret
}

// Subscribe sets the keys of a browser, and the server key that it expects.
func (r *Receiver) Subscribe(name string, browser *Browser, serverKey string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pushes[name] = push{browser, serverKey}
}

// Refuse answers the next calls of name with a status; they are not counted.
func (r *Receiver) Refuse(name string, status, times int, header http.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused[name] = refusal{status, times, header}
}

// Got returns what has arrived under a name, in order.
func (r *Receiver) Got(name string) []Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Received(nil), r.got[name]...)
}

// Count returns how many have arrived, under all names.
func (r *Receiver) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// Wait waits until n have arrived under a name, and returns them.
func (r *Receiver) Wait(within time.Duration, name string, n int) []Received {
	r.tb.Helper()
	Eventually(r.tb, within, fmt.Sprintf("%s gets %d notifications", name, n), func() error {
		if got := r.Got(name); len(got) < n {
			return fmt.Errorf("got %d", len(got))
		}
		return nil
	})
	return r.Got(name)
}

func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(q.URL.Path, "/"), "/")
	r.mu.Lock()
	no := r.refused[name]
	if no.times > 0 {
		no.times--
		r.refused[name] = no
		r.mu.Unlock()
		for field, values := range no.header {
			w.Header()[field] = values
		}
		w.WriteHeader(no.status)
		return
	}
	secret, to := r.secrets[name], r.pushes[name]
	r.mu.Unlock()
	one := Received{ID: q.Header.Get("webhook-id"), Topic: q.Header.Get("Topic"), Urgency: q.Header.Get("Urgency"), At: time.Now()}
	var body []byte
	var err error
	if kind == "hook" {
		body, err = checkWebhook(q, secret)
	} else {
		body, err = to.browser.Open(q, to.serverKey, "http://"+q.Host)
	}
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&one.Notification)
	}
	if err != nil {
		r.tb.Errorf("%s %s: %v", kind, name, err)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	r.got[name] = append(r.got[name], one)
	r.count++
	r.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
}

// checkWebhook checks a call as Standard Webhooks specifies and returns its body.
func checkWebhook(q *http.Request, secret string) ([]byte, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	at, err := strconv.ParseInt(q.Header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return nil, fmt.Errorf("webhook-timestamp %q", q.Header.Get("webhook-timestamp"))
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, fmt.Errorf("no secret is known")
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%d.%s", q.Header.Get("webhook-id"), at, body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if got := q.Header.Get("webhook-signature"); !hmac.Equal([]byte(got), []byte(want)) {
		return nil, fmt.Errorf("webhook-signature %q", got)
	}
	return body, nil
}
