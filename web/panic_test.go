package web

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/auth"
)

// TestPanicIsOneRequest lets a handler run into a domain that is not there: that request fails, saying nothing of the
// inside, the next one is served, and the log knows it by the id that the answer shows.
func TestPanicIsOneRequest(t *testing.T) {
	const canary = "canary-token"
	var log bytes.Buffer
	verify := func(context.Context, auth.Credentials) (auth.Identity, error) {
		return auth.Identity{User: "alice"}, nil
	}
	s := New(Services{}, verify, Options{Limits: chat.DefaultLimits(), Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	get := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+canary)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w
	}
	w := get("/v1/unread")
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "nil") || strings.Contains(w.Body.String(), ".go") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	_, rest, _ := strings.Cut(w.Body.String(), `"request_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if id == "" || !strings.Contains(log.String(), id) {
		t.Errorf("request id %q is not in the log", id)
	}
	if strings.Contains(log.String(), canary) {
		t.Error("the log holds the token")
	}
	metrics := httptest.NewRecorder()
	s.metrics.handler().ServeHTTP(metrics, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if !strings.Contains(metrics.Body.String(), "chatd_panics_total 1\n") {
		t.Error("the panic is not counted")
	}
	if w := get("/livez"); w.Code != http.StatusOK {
		t.Errorf("after it: %d", w.Code)
	}
}
