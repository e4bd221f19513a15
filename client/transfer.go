package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// stallMax is how long a transfer may stand still. A server waits 15 s for another writer of the same upload.
	stallMax        = 45 * time.Second
	problemBytesMax = 64 << 10
)

var errStalled = errors.New("the transfer stalled")

// exchangeBytes makes one request whose body or answer is a file: it may take as long as bytes flow. The caller closes
// the body of the answer.
func (c *Client) exchangeBytes(ctx context.Context, call call, header http.Header, body io.Reader, size int64) (*http.Response, error) {
	token, err := c.tokens(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errToken, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	guard := &stallGuard{timer: time.AfterFunc(stallMax, func() { cancel(errStalled) }), end: func() { cancel(nil) }}
	var sent io.Reader = http.NoBody
	if body != nil && size > 0 {
		sent = struct{ io.Reader }{guardedReader{body, guard}}
	}
	req, err := http.NewRequestWithContext(ctx, call.method, c.url(call), sent)
	if err != nil {
		guard.stop()
		return nil, err
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.ContentLength = size
	c.authorize(req.Header, token)
	answer, err := c.http.Do(req)
	if err != nil {
		err = transferError(ctx, err)
		guard.stop()
		return nil, err
	}
	if answer.StatusCode < 300 {
		answer.Body = &guardedBody{ReadCloser: answer.Body, guard: guard, ctx: ctx}
		return answer, nil
	}
	defer guard.stop()
	defer func() { _ = answer.Body.Close() }()
	problem, _ := io.ReadAll(io.LimitReader(answer.Body, problemBytesMax)) // without it, the status says enough
	e := answerError(answer.StatusCode, answer.Header, problem, time.Now())
	if e.Code == "" && call.method == http.MethodHead { // its answer has no body
		e.Code = codeOfStatus[e.Status]
	}
	return nil, e
}

var codeOfStatus = map[int]string{
	http.StatusUnauthorized: CodeUnauthenticated, http.StatusForbidden: CodeForbidden, http.StatusNotFound: CodeNotFound,
	http.StatusTooManyRequests: CodeRateLimited, http.StatusServiceUnavailable: CodeUnavailable,
}

// transferError says why a transfer ended: the caller's own reason, or that it stalled, is not lost in err.
func transferError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// stallGuard ends a transfer in which no byte moves for stallMax.
type stallGuard struct {
	timer *time.Timer
	end   func()
}

func (g *stallGuard) moved() { g.timer.Reset(stallMax) }

func (g *stallGuard) stop() {
	g.timer.Stop()
	g.end()
}

type guardedReader struct {
	io.Reader
	guard *stallGuard
}

func (r guardedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.guard.moved()
	return n, err
}

// guardedBody guards each read of an answer, and not the time between two: the reader may be slow.
type guardedBody struct {
	io.ReadCloser
	guard *stallGuard
	ctx   context.Context //nolint:containedctx // of the one answer that it is the body of
}

func (b *guardedBody) Read(p []byte) (int, error) {
	b.guard.moved()
	n, err := b.ReadCloser.Read(p)
	b.guard.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = transferError(b.ctx, err)
	}
	return n, err
}

func (b *guardedBody) Close() error {
	b.guard.stop()
	return b.ReadCloser.Close()
}

// headerInt reads a header that is a number; -1 if it is none.
func headerInt(h http.Header, name string) int64 {
	n, err := strconv.ParseInt(h.Get(name), 10, 64)
	if err != nil {
		return -1
	}
	return n
}
