package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestFallbackOnAServerWithoutTyping: one that does not know the field of a sync refuses it, and is asked without it.
func TestFallbackOnAServerWithoutTyping(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var asked map[string]any
		_ = json.NewDecoder(r.Body).Decode(&asked)
		_, knows := asked["typing"]
		switch {
		case r.URL.Path != "/v1/sync":
			w.WriteHeader(http.StatusNotFound)
		case knows:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"code":"invalid_request","detail":"unknown field typing"}`))
		default:
			_, _ = w.Write([]byte(`{"groups":[],"inbox":{"epoch":"i","from":1,"to":1,"complete":true,"items":[{"seq":1,"kind":"text","body":"hello"}]},"left":[],"next_poll_s":5}`))
		}
	}))
	defer server.Close()
	c, err := New(server.URL, StaticToken("t"), WithRetry(1, Backoff{}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := c.Stream(ctx, StreamOptions{Fallback: true, Backoff: Backoff{Base: time.Millisecond, Max: 5 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		event, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if items, is := event.(Items); is && len(items.Items) == 1 {
			return
		}
	}
}
