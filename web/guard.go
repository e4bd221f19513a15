package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/web/wire"
)

// The middleware in front of every handler, from the outside in: trace (if asked for), observe, refuseEarly, boundStalls, compressAnswers (if
// switched on), recoverPanic, secureHeaders, cors, admit.

// trace records a request of the API in a span, with its errors answered: it is outside observe. A websocket is none: what
// matters of it are its commands.
func (s *Server) trace(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := s.routes.of(c)
		if r == nil || r.template == websocketPath {
			return next(c)
		}
		ctx, span := s.opt.Traces.Request(c.Request(), r.method, r.template)
		c.SetRequest(c.Request().WithContext(ctx))
		err := next(c)
		tracing.Answered(span, c.Response().Status)
		return err
	}
}

// mayWait reports whether a request may wait for something to happen, or lasts as long as its client: how long it took says nothing then.
func mayWait(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.RawQuery, "wait=") ||
		r.URL.Path == "/v1/sync" || r.URL.Path == websocketPath || strings.HasSuffix(r.URL.Path, "/export") || strings.Contains(r.URL.Path, "/files")
}

// observe counts and times requests by route template, and logs them at debug level. Neither contains any user data.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begin := time.Now()
		s.metrics.inFlight.Inc()
		defer s.metrics.inFlight.Dec()
		s.endConnection(c)
		// Write the answer to an error here already, so that its status is known below.
		if err := next(c); err != nil {
			c.Error(err)
		}
		took := time.Since(begin)
		name, method := "unmatched", "other"
		if r := s.routes.of(c); r != nil {
			name, method = r.template, r.method
		}
		s.metrics.observe(method, name, c.Response().Status, took)
		s.opt.Meter.Observe(c.Response().Status, took, mayWait(c.Request()))
		if s.log.Enabled(c.Request().Context(), slog.LevelDebug) {
			s.log.LogAttrs(c.Request().Context(), slog.LevelDebug, "request", slog.String("method", method), slog.String("route", name),
				slog.Int("status", c.Response().Status), slog.Duration("took", took), slog.String("ip", s.opt.Proxies.Address(c.Request()).String()))
		}
		return nil
	}
}

// recoverPanic turns a panic into the failure of one request.
func (s *Server) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v) //nolint:forbidigo // net/http's own way to end a connection without an answer
			}
			s.metrics.panics.Inc()
			s.log.Error("panic", "route", c.Path(), "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = &chat.Error{Code: chat.CodeInternal, Message: "panic"}
		}()
		return next(c)
	}
}

// apiPolicy does not let a browser do anything with an answer except read it.
const apiPolicy = "default-src 'none'; frame-ancestors 'none'"

func secureHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		secure(c.Response().Header())
		if methods, ok := c.Get(echo.ContextKeyHeaderAllow).(string); ok { // the answer will name them
			c.Response().Before(func() { c.Response().Header().Set(echo.HeaderAllow, withHead(methods)) })
		}
		return next(c)
	}
}

// withHead adds HEAD to the methods of a path, where the router knows GET alone: see answerHead.
func withHead(methods string) string {
	list := strings.Split(methods, ", ")
	if i := slices.Index(list, http.MethodGet); i >= 0 && !slices.Contains(list, http.MethodHead) {
		list = slices.Insert(list, i+1, http.MethodHead)
	}
	return strings.Join(list, ", ")
}

// The headers of every answer share their values: Set makes a slice for each.
var (
	noStore    = []string{"no-store"}
	noSniff    = []string{"nosniff"}
	noReferrer = []string{"no-referrer"}
	noMore     = []string{apiPolicy}
)

func secure(h http.Header) {
	h["Cache-Control"], h["X-Content-Type-Options"], h["Referrer-Policy"] = noStore, noSniff, noReferrer
	h["Content-Security-Policy"] = noMore
}

// cors answers requests of pages: those of the server's own origin and of the configured ones may call and read, all others may
// not. Tokens travel in a header that scripts set, never in cookies, so credentials need not be allowed.
func (s *Server) cors(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, h := c.Request(), c.Response().Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin == "" {
			return next(c)
		}
		allowed := s.opt.Origins.Allows(r)
		if allowed {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", "Retry-After, Idempotency-Replayed, RateLimit, RateLimit-Policy, "+fileHeadersExposed)
		}
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			return next(c)
		}
		if !allowed {
			return chat.Errorf(chat.CodeForbidden, "requests from this origin are not allowed")
		}
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, If-Match, "+fileHeadersAllowed)
		h.Set("Access-Control-Max-Age", "600")
		return c.NoContent(http.StatusNoContent)
	}
}

// checkPath refuses invalid ids before they reach the domain, let alone a key of the store.
func checkPath(c echo.Context, r *route) error {
	for _, name := range r.path {
		value := c.Param(name)
		if c.Request().URL.RawPath != "" {
			// Echo routes by the raw path if there is one, and does not decode its parts.
			decoded, err := url.PathUnescape(value)
			if err != nil {
				return chat.Errorf(chat.CodeInvalid, "%s: not a valid path", name)
			}
			value = decoded
		}
		switch name {
		case "id":
			if n, ok := wire.Decimal(value); !ok || n < 1 {
				return chat.Errorf(chat.CodeInvalid, "id: want an integer from 1")
			}
		case "task":
			if !validTaskID(value) {
				return chat.Errorf(chat.CodeInvalid, "task: want 1 to %d printable ASCII characters without spaces or slashes", taskIDBytesMax)
			}
		case "group":
			if err := chat.CheckGroupID(name, value); err != nil {
				return err
			}
		case "user":
			if err := chat.CheckUserID(name, value); err != nil {
				return err
			}
		default:
			if err := chat.CheckID(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkQuery(raw string, r *route) error {
	if raw == "" && len(r.query) == 0 {
		return nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return chat.Errorf(chat.CodeInvalid, "the query string is malformed")
	}
	for name, p := range r.query {
		if p.required && !values.Has(name) {
			return chat.Errorf(chat.CodeInvalid, "%s is required", name)
		}
	}
	for name, given := range values {
		p, ok := r.query[name]
		if !ok {
			return chat.Errorf(chat.CodeInvalid, "unknown query parameter %s", wire.QuoteName(name))
		}
		if len(given) > 1 {
			return chat.Errorf(chat.CodeInvalid, "query parameter %s appears twice", name)
		}
		if wrong := p.check(given[0]); wrong != "" {
			return chat.Errorf(chat.CodeInvalid, "%s: %s", name, wrong)
		}
	}
	return nil
}
