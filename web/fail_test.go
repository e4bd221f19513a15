package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/auth"
)

// TestAdviceReachesTheClient fails a request with an error that says what the client may do: that part is shown, and no other.
func TestAdviceReachesTheClient(t *testing.T) {
	verify := func(context.Context, auth.Credentials) (auth.Identity, error) {
		return auth.Identity{}, &chat.Error{Code: chat.CodeUnavailable, Message: "slow disk", Advice: "narrow it by group", RetryAfter: time.Minute}
	}
	s := New(Services{}, verify, Options{Limits: chat.DefaultLimits()})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/unread", nil)
	r.Header.Set("Authorization", "Bearer x")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	body := w.Body.String()
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(body, `"detail":"narrow it by group"`) || strings.Contains(body, "disk") ||
		w.Header().Get("Retry-After") != "60" {
		t.Errorf("got %d %s, retry after %s", w.Code, body, w.Header().Get("Retry-After"))
	}
}

// TestErrorsOfTheInsideStayThere fails a request with errors that name what is inside. Their text reaches the log, under the
// id that the answer shows, and never the client.
func TestErrorsOfTheInsideStayThere(t *testing.T) {
	const canary = "redis://10.0.0.7:6379 NOSCRIPT"
	cases := map[string]struct {
		err    error
		status int
		code   chat.Code
	}{
		"internal, in words":       {&chat.Error{Code: chat.CodeInternal, Message: canary}, 500, chat.CodeInternal},
		"internal, by its cause":   {&chat.Error{Code: chat.CodeInternal, Message: "x", Cause: errors.New(canary)}, 500, chat.CodeInternal},
		"internal, wrapped":        {fmt.Errorf("verify: %w", &chat.Error{Code: chat.CodeInternal, Message: canary}), 500, chat.CodeInternal},
		"a code that nobody knows": {&chat.Error{Code: "made_up", Message: canary}, 500, chat.CodeInternal},
		"unexpected":               {errors.New(canary), 500, chat.CodeInternal},
		"unavailable":              {&chat.Error{Code: chat.CodeUnavailable, Message: canary}, 503, chat.CodeUnavailable},
		"a connection that broke":  {&chat.Error{Code: chat.CodeUnavailable, Message: canary, Cause: io.EOF}, 503, chat.CodeUnavailable},
		"too slow":                 {fmt.Errorf("%s: %w", canary, context.DeadlineExceeded), 503, chat.CodeUnavailable},
		"refused, with a cause":    {&chat.Error{Code: chat.CodeForbidden, Message: "no", Cause: errors.New(canary)}, 403, chat.CodeForbidden},
	}
	for name, c := range cases {
		var log bytes.Buffer
		verify := func(context.Context, auth.Credentials) (auth.Identity, error) { return auth.Identity{}, c.err }
		s := New(Services{}, verify, Options{Limits: chat.DefaultLimits(), Log: slog.New(slog.NewTextHandler(&log, nil))})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/unread", nil)
		r.Header.Set("Authorization", "Bearer x")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != c.status || !strings.Contains(body, `"code":"`+string(c.code)+`"`) || !strings.Contains(body, `"detail":"`) {
			t.Errorf("%s: got %d %s, want %d %s", name, w.Code, body, c.status, c.code)
		}
		if strings.Contains(body, "redis") || strings.Contains(body, "NOSCRIPT") {
			t.Errorf("%s: the answer tells of the inside: %s", name, body)
		}
		if c.status < http.StatusInternalServerError {
			continue
		}
		_, rest, _ := strings.Cut(body, `"request_id":"`)
		if id, _, _ := strings.Cut(rest, `"`); id == "" || !strings.Contains(log.String(), id) || !strings.Contains(log.String(), canary) {
			t.Errorf("%s: the log does not have %q under %q: %s", name, canary, id, log.String())
		}
	}
}
