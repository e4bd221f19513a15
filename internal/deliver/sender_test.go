package deliver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/harness"
)

var here = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func call(url, id string) webhook.Call {
	return webhook.Call{URL: url, ID: id, Body: []byte(`{"type":"message.created"}`), Secrets: []string{secret}}
}

func newSender(t *testing.T) *Sender {
	s := New(Options{Allow: here})
	t.Cleanup(s.Close)
	return s
}

func TestVerdicts(t *testing.T) {
	for _, v := range []struct {
		status int
		header string
		want   webhook.Outcome
	}{
		{200, "", webhook.Outcome{Verdict: webhook.Delivered, Status: 200}},
		{204, "", webhook.Outcome{Verdict: webhook.Delivered, Status: 204}},
		{302, "", webhook.Outcome{Verdict: webhook.Failed, Status: 302, Cause: "answered 302"}},
		{400, "", webhook.Outcome{Verdict: webhook.Failed, Status: 400, Cause: "answered 400"}},
		{404, "", webhook.Outcome{Verdict: webhook.Gone, Status: 404, Cause: "answered 404"}},
		{410, "", webhook.Outcome{Verdict: webhook.Gone, Status: 410, Cause: "answered 410"}},
		{429, "7", webhook.Outcome{Verdict: webhook.Failed, Status: 429, After: 7 * time.Second, Cause: "answered 429"}},
		{429, "-1", webhook.Outcome{Verdict: webhook.Failed, Status: 429, Cause: "answered 429"}},
		{500, "soon", webhook.Outcome{Verdict: webhook.Failed, Status: 500, Cause: "answered 500"}},
		{502, "", webhook.Outcome{Verdict: webhook.Failed, Status: 502, Cause: "answered 502"}},
		{503, "99999999999", webhook.Outcome{Verdict: webhook.Failed, Status: 503, After: retryAfterMax, Cause: "answered 503"}},
	} {
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if err := verify(secret, r.Header, body); err != nil {
				t.Error(err)
			}
			w.Header().Set("Retry-After", v.header)
			w.Header().Set("Location", "/")
			w.WriteHeader(v.status)
			_, _ = fmt.Fprint(w, "CANARY")
		}))
		if got := newSender(t).Webhook(t.Context(), call(receiver.URL+"/CANARY?CANARY", "id")); got != v.want {
			t.Errorf("got %+v, want %+v", got, v.want)
		}
		receiver.Close()
	}
	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	if got := retryAfter(date); got < 59*time.Minute || got > time.Hour {
		t.Errorf("%s: got %s, want an hour", date, got)
	}
}

func TestCausesNameNoAddress(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := w.(http.Hijacker).Hijack()
		_, _ = fmt.Fprint(c, "HTTP/1.1 CANARY CANARY\r\n\r\n")
		c.Close()
	}))
	defer plain.Close()
	self := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer self.Close()
	self.Config.ErrorLog = nil
	gone := httptest.NewServer(nil)
	gone.Close()
	for url, want := range map[string]string{
		plain.URL: "the request failed",
		strings.Replace(plain.URL, "http:", "https:", 1): "the request failed",
		self.URL:                  "the certificate is not valid",
		gone.URL:                  "connection refused",
		"https://10.0.0.1":        "the address is not public",
		"http://10.0.0.1":         "the address is not public",
		"https://no.invalid.":     "the name cannot be resolved",
		"ftp://CANARY.example":    "the request failed",
		"https://[CANARY.example": "not a URL",
	} {
		got := newSender(t).Webhook(t.Context(), call(url+"/CANARY?token=CANARY", "id"))
		if got.Verdict != webhook.Failed || got.Cause != want && !strings.HasPrefix(url, "https://no.") || strings.Contains(got.Cause, "CANARY") {
			t.Errorf("%s: got %+v, want %s", url, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := newSender(t).Webhook(ctx, call(plain.URL, "id")); got.Verdict != webhook.Failed || got.Cause != "ended before an answer came" {
		t.Errorf("got %+v", got)
	}
}

// TestOneThatHangsDoesNotSlowTheOthers has as many workers as a node and a queue in which a hanging endpoint has the
// most deliveries, in front: all others are delivered while it hangs, and it never gets a fifth request.
func TestOneThatHangsDoesNotSlowTheOthers(t *testing.T) {
	const workers, hanging, others, each = 32, 500, 8, 50
	release := make(chan struct{})
	var under, most, hung atomic.Int64
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		hung.Add(1)
		if n := under.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-release
		under.Add(-1)
	}))
	defer hangs.Close()
	var delivered sync.Map
	var count atomic.Int64
	var targets []string
	for range others {
		r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, twice := delivered.LoadOrStore(r.Header.Get(headerID), true); twice {
				t.Errorf("%s came twice", r.Header.Get(headerID))
			}
			count.Add(1)
		}))
		defer r.Close()
		targets = append(targets, r.URL)
	}

	type task struct{ url, id string }
	tasks := make(chan task, hanging+others*each)
	var open sync.WaitGroup // unfinished deliveries to the others
	for i := range hanging {
		tasks <- task{hangs.URL, fmt.Sprint("h", i)}
	}
	for i := range each {
		for o, url := range targets {
			open.Add(1)
			tasks <- task{url, fmt.Sprint(o, " ", i)}
		}
	}
	s := newSender(t)
	ctx, cancel := context.WithCancel(t.Context())
	var working, later sync.WaitGroup
	for range workers {
		working.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case j := <-tasks:
					switch got := s.Webhook(ctx, call(j.url, j.id)); {
					case got.Verdict == webhook.Busy:
						later.Go(func() { // like the task engine with a task that snoozes
							select {
							case <-time.After(got.After):
								tasks <- j
							case <-ctx.Done():
							}
						})
					case j.url == hangs.URL && ctx.Err() == nil:
						t.Errorf("the one that hangs: got %+v", got)
					case j.url != hangs.URL && got.Verdict == webhook.Delivered:
						open.Done()
					case j.url != hangs.URL:
						t.Errorf("got %+v", got)
					}
				}
			}
		})
	}
	began := time.Now()
	open.Wait()
	t.Logf("%d deliveries to %d endpoints in %s beside one that hangs with %d", others*each, others, time.Since(began), hanging)
	if n := count.Load(); n != others*each || hung.Load() != under.Load() || under.Load() == 0 {
		t.Errorf("got %d deliveries while %d hang, want %d", n, under.Load(), others*each)
	}
	if n := most.Load(); n > endpointCap {
		t.Errorf("the one that hangs saw %d requests at a time, want at most %d", n, endpointCap)
	}
	cancel()
	close(release)
	working.Wait()
	later.Wait()
}

// TestUnprovenEndpointsOfOneOwner: webhook devices and browsers of one user that hang, each at an endpoint of its own, take a small
// part of the workers together, and the requests of others are made at once.
func TestUnprovenEndpointsOfOneOwner(t *testing.T) {
	const endpoints = 30
	browser, err := harness.NewBrowser()
	if err != nil {
		t.Fatal(err)
	}
	s, key := newSender(t), pushKey(t)
	release, came, turnedAway := make(chan struct{}), make(chan struct{}, endpoints), make(chan webhook.Outcome, endpoints)
	var working sync.WaitGroup
	for i := range endpoints {
		hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			came <- struct{}{}
			<-release
		}))
		defer hangs.Close()
		working.Go(func() {
			var got webhook.Outcome
			if i%2 == 0 {
				c := call(hangs.URL, fmt.Sprint(i))
				c.Owner = "user mallory"
				got = s.Webhook(t.Context(), c)
			} else {
				got = s.WebPush(t.Context(), notify.WebPush{Owner: "user mallory", Key: key, Urgency: chat.PriorityHigh, TTL: time.Hour,
					Device: notify.Device{Kind: notify.DeviceWebPush, Address: hangs.URL, P256dh: browser.P256dh(), Auth: browser.Auth()}})
			}
			if got.Verdict != webhook.Delivered {
				turnedAway <- got
			}
		})
	}
	hanging := 0
	for range endpoints {
		select {
		case <-came:
			hanging++
		case got := <-turnedAway:
			if got.Verdict != webhook.Busy || got.After <= 0 {
				t.Errorf("got %+v", got)
			}
		}
	}
	if hanging != ownerMax {
		t.Errorf("%d of %d endpoints of one owner keep a worker, want %d", hanging, endpoints, ownerMax)
	}
	answers := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer answers.Close()
	c := call(answers.URL, "bob")
	c.Owner = "user bob"
	if got := s.Webhook(t.Context(), c); got.Verdict != webhook.Delivered {
		t.Errorf("another owner got %+v", got)
	}
	close(release)
	working.Wait()
}
