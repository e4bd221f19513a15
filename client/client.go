package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Bounds of the client. Each is far above what the server sends and low enough to do no harm.
const (
	answerBytesMax   = 16 << 20         // an answer or a websocket frame; the server keeps pages near 1 MiB
	retryAfterMax    = 30 * time.Second // if a server asks for more, the call fails instead of waiting
	attemptTimeout   = 20 * time.Second // one HTTP exchange, plus the time that a long poll asks for
	handshakeTimeout = 10 * time.Second
)

// Client talks to one server as one user, or as a program with a key.
type Client struct {
	base     *url.URL
	tokens   TokenSource
	as       string // for whom a key acts; empty: for nobody, or the tokens are a user's
	http     *http.Client
	dialer   *websocket.Dialer
	backoff  Backoff
	attempts int
	piece    atomic.Int64 // how many bytes of a file go into one request
}

// Option configures a Client.
type Option func(*Client)

// WithHTTPClient makes requests with hc instead of the Client's own. A timeout of hc cuts off long polls.
func WithHTTPClient(hc *http.Client) Option { return func(c *Client) { c.http = hc } }

// WithDialer opens websockets with a copy of d, for proxies or certificates.
func WithDialer(d *websocket.Dialer) Option {
	return func(c *Client) {
		own := *d
		c.dialer = &own
	}
}

// WithRetry sets how often a call is tried in all (at least once), and how the attempts are spaced.
func WithRetry(attempts int, b Backoff) Option {
	return func(c *Client) { c.attempts, c.backoff = max(1, attempts), b }
}

// New makes a client for the server at baseURL, such as https://chat.example.com.
func New(baseURL string, tokens TokenSource, opts ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(baseURL, "/"))
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("base URL %q: want http:// or https:// and a host", baseURL)
	}
	if tokens == nil {
		return nil, errors.New("no token source: pass one, such as StaticToken")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	c := &Client{
		base:     base,
		tokens:   tokens,
		http:     &http.Client{Transport: transport},
		dialer:   &websocket.Dialer{Proxy: http.ProxyFromEnvironment},
		backoff:  Backoff{Base: 200 * time.Millisecond, Max: 5 * time.Second},
		attempts: 5,
	}
	c.piece.Store(pieceMax)
	for _, opt := range opts {
		opt(c)
	}
	c.dialer.Subprotocols = []string{subprotocol}
	if c.dialer.HandshakeTimeout == 0 {
		c.dialer.HandshakeTimeout = handshakeTimeout
	}
	return c, nil
}

// As returns a client that acts for user, over the same connections: c's TokenSource returns a key that may.
func (c *Client) As(user string) *Client {
	return c.acting(user, c.attempts)
}

func (c *Client) acting(as string, attempts int) *Client {
	acting := &Client{base: c.base, tokens: c.tokens, as: as, http: c.http, dialer: c.dialer, backoff: c.backoff, attempts: attempts}
	acting.piece.Store(c.piece.Load())
	return acting
}

// authorize says in the header of a request who calls.
func (c *Client) authorize(header http.Header, token string) {
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if c.as != "" {
		header.Set("Chatd-As", c.as)
	}
}

// NewKey makes a random key for a send or a creation: 26 characters.
func NewKey() string { return rand.Text() }

// call is one request of the API.
type call struct {
	method string
	path   []string // segments after /v1, not yet escaped
	query  url.Values
	body   any
	key    string        // Idempotency-Key
	match  string        // If-Match
	tag    *string       // gets the ETag of the answer; nil: nobody asks
	again  bool          // safe to repeat even if the outcome of the previous attempt is unknown
	wait   time.Duration // how long the server may hold back the answer
}

// do makes the call and decodes the answer into out (nil: it is ignored). It repeats a call whose outcome is unknown
// only if c.again says that this is safe; a call that the server says it did not do is repeated in any case.
func (c *Client) do(ctx context.Context, call call, out any) error {
	var body []byte
	if call.body != nil {
		var err error
		if body, err = json.Marshal(call.body); err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
	}
	for attempt := 0; ; attempt++ {
		token, err := c.tokens(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", errToken, err)
		}
		err = c.exchange(ctx, call, token, body, out)
		if CodeOf(err) == CodeUnauthenticated && RefusedToken(ctx) == "" {
			renewing := withRefused(ctx, token)
			if other, failed := c.tokens(renewing); failed == nil && other != token {
				ctx = renewing
				continue
			}
		}
		wait, ok := retryable(err, call.again)
		if !ok || attempt+1 >= c.attempts || c.backoff.sleep(ctx, attempt, wait) != nil {
			return err
		}
	}
}

// answerTo makes a call whose answer is a T.
func answerTo[T any](ctx context.Context, c *Client, call call) (answer T, err error) {
	err = c.do(ctx, call, &answer)
	return answer, err
}

// retryable reports whether a call that failed with err may be repeated, and how long the server asked to wait.
func retryable(err error, again bool) (time.Duration, bool) {
	if err == nil || errors.Is(err, errToken) {
		return 0, false
	}
	var e *Error
	if !errors.As(err, &e) {
		return 0, again && !errors.Is(err, context.Canceled)
	}
	if e.RetryAfter > retryAfterMax {
		return 0, false
	}
	switch {
	case e.Code == CodeRateLimited, e.Code == CodeUnavailable, e.Status == http.StatusTooManyRequests && e.Code == "":
		return e.RetryAfter, true // refused before anything was done
	case e.Status >= 500 && e.Status < 600, e.Code == CodeInternal:
		return e.RetryAfter, again
	}
	return 0, false
}

// exchange makes one request and reads the answer.
func (c *Client) exchange(ctx context.Context, call call, token string, body []byte, out any) error {
	limited, cancel := context.WithTimeout(ctx, attemptTimeout+call.wait)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, call.method, c.url(call), bytes.NewReader(body))
	if err != nil {
		return err
	}
	c.authorize(req.Header, token)
	req.Header.Set("Accept", "application/json, application/problem+json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if call.key != "" {
		req.Header.Set("Idempotency-Key", call.key)
	}
	if call.match != "" {
		req.Header.Set("If-Match", call.match)
	}
	answer, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, answerBytesMax+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("read the response: %w", err)
	case len(data) > answerBytesMax:
		return fmt.Errorf("the response has more than %d bytes", answerBytesMax)
	case answer.StatusCode >= 300:
		return answerError(answer.StatusCode, answer.Header, data, time.Now())
	case call.tag != nil:
		*call.tag = answer.Header.Get("ETag")
	}
	if answer.StatusCode == http.StatusAccepted {
		if held := inReview(data); held != "" {
			return waits(answer.StatusCode, held)
		}
	}
	if out == nil || len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("decode the response: %w", err)
	}
	return nil
}

// url builds the URL of a call. Segments are escaped, so that no id can change the path.
func (c *Client) url(call call) string {
	var b strings.Builder
	b.WriteString(c.base.String())
	b.WriteString("/v1")
	for _, segment := range call.path {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(segment))
	}
	if len(call.query) > 0 {
		b.WriteByte('?')
		b.WriteString(call.query.Encode())
	}
	return b.String()
}
