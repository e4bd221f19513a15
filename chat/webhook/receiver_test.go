package webhook_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/chatd/chatd/chat"
)

// heard is a request that a receiver got.
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

// wait returns the received requests once enough accepts them.
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

// first answers the first call with one status, and all later ones with another.
func first(status, then int) func(heard) int {
	var calls atomic.Int64
	return func(heard) int {
		if calls.Add(1) == 1 {
			return status
		}
		return then
	}
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
