package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	writeTimeout   = 10 * time.Second
	welcomeTimeout = 15 * time.Second
	pingDefault    = 25 * time.Second
)

// Close codes of the server.
const (
	closeBadFrame        = 4400
	closeUnauthenticated = 4401
	closeForbidden       = 4403
)

// socket is one session: one goroutine reads, any may write.
type socket struct {
	conn  *websocket.Conn
	write sync.Mutex
	idle  time.Duration // with nothing from the server for this long, the connection counts as dead

	mu      sync.Mutex
	lastRef int64
	calls   map[string]chan reply
	lost    chan struct{} // closed when the session has ended
	err     error         // the reason; set before lost is closed
}

// session dials, says hello, and reads until the connection ends. welcomed reports whether the server accepted the
// user.
func (s *Stream) session(ctx context.Context) (welcomed bool, err error) {
	token, err := s.client.tokens(ctx)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errToken, err)
	}
	conn, err := s.client.dial(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() {
		message := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		_ = conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(time.Second))
		_ = conn.Close()
	})
	defer stop()

	sock := &socket{conn: conn, calls: map[string]chan reply{}, lost: make(chan struct{})}
	conn.SetReadLimit(answerBytesMax)
	if err := sock.send(hello{
		Op: "hello", Token: token, As: s.client.as, After: s.track.after(), InboxAfter: s.track.inbox.at, Start: s.opts.Start, Only: s.opts.Only,
	}); err != nil {
		return false, sock.cause(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(welcomeTimeout))
	first, err := sock.read()
	if err != nil {
		return false, err
	}
	w, ok := first.(welcome)
	if !ok {
		if r, isReply := first.(reply); isReply && r.Op == "error" {
			return false, r.err()
		}
		return false, fmt.Errorf("want a welcome frame first, got %T", first)
	}
	if s.track.forgetUnreadable(w.Errors) {
		return true, errUnreadable // the session leaves those groups out: the next one has them
	}
	s.count.sessions.Add(1)
	s.push(pinned{Connected{User: w.User, Session: w.Session, Groups: w.Groups}, s.track.pin(w.Groups)})
	s.push(s.track.foreign(w.Errors)...)
	sock.watch(w.PingS)
	s.setLive(sock)
	renewing, stopRenewing := context.WithCancel(ctx)
	var renewal sync.WaitGroup
	renewal.Go(func() { s.renew(renewing, sock, token) })

	err = s.receive(ctx, sock)
	sock.end(err)
	s.setLive(nil)
	stopRenewing()
	renewal.Wait()
	return true, err
}

// errUnreadable ends a session that began with saved positions that are no cursors of this server.
var errUnreadable = errors.New("the server cannot read some of the positions")

// dial opens the websocket.
func (c *Client) dial(ctx context.Context) (*websocket.Conn, error) {
	at := *c.base
	at.Scheme = httpToWS(at.Scheme)
	at.Path += "/v1/ws"
	conn, answer, err := c.dialer.DialContext(ctx, at.String(), nil)
	if err == nil {
		return conn, nil
	}
	if errors.Is(err, websocket.ErrBadHandshake) && answer != nil {
		defer answer.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // gorilla keeps the start of it
		return nil, answerError(answer.StatusCode, answer.Header, body, time.Now())
	}
	return nil, err
}

// receive passes on what the server sends, until the connection breaks or the server violates the protocol.
func (s *Stream) receive(ctx context.Context, sock *socket) error {
	for {
		if err := s.waitRoom(ctx, sock); err != nil {
			return err
		}
		_ = sock.conn.SetReadDeadline(time.Now().Add(sock.idle))
		frame, err := sock.read()
		if err != nil {
			return err
		}
		switch f := frame.(type) {
		case reply:
			sock.answer(f)
		case batch:
			events, err := s.track.batch(f)
			if err != nil {
				return err
			}
			s.push(events...)
		case Inbox:
			if items, fresh := s.track.items(f); fresh {
				s.push(items)
			}
		case Left:
			s.track.forget(f.Group)
			s.push(f)
		case Event: // CursorMoved, Typing, Joined
			s.push(f)
		}
	}
}

// watch sets how long the server may be silent before the connection counts as dead: two of its pings and a margin.
func (k *socket) watch(pingS float64) {
	ping := time.Duration(pingS * float64(time.Second))
	if ping <= 0 || ping > time.Hour {
		ping = pingDefault
	}
	k.idle = 2*ping + 10*time.Second
	pong := k.conn.PingHandler()
	k.conn.SetPingHandler(func(data string) error {
		_ = k.conn.SetReadDeadline(time.Now().Add(k.idle))
		return pong(data)
	})
}

func (k *socket) read() (any, error) {
	kind, data, err := k.conn.ReadMessage()
	if err != nil {
		return nil, k.cause(err)
	}
	if kind != websocket.TextMessage {
		return nil, errors.New("the server sent a frame that is not text")
	}
	return decodeFrame(data)
}

func (k *socket) send(frame any) error {
	data, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	k.write.Lock()
	defer k.write.Unlock()
	_ = k.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	return k.conn.WriteMessage(websocket.TextMessage, data)
}

// cause turns the server's close code and reason into an Error.
func (k *socket) cause(err error) error {
	var closed *websocket.CloseError
	if !errors.As(err, &closed) {
		return err
	}
	e := &Error{Status: closed.Code, Detail: closed.Text, RetryAfter: closeDelay(closed.Text)}
	switch closed.Code {
	case closeBadFrame:
		e.Code = CodeInvalid
	case closeUnauthenticated:
		e.Code = CodeUnauthenticated
	case closeForbidden:
		e.Code = CodeForbidden
	case websocket.CloseServiceRestart, websocket.CloseGoingAway, websocket.CloseTryAgainLater:
		e.Code = CodeUnavailable
	case websocket.CloseMessageTooBig:
		e.Code = CodeTooLarge
	case websocket.CloseAbnormalClosure, websocket.CloseNoStatusReceived:
		return err
	default:
		e.Code = CodeRateLimited // 4408, 4409, 4413, 4429: try again later
	}
	return e
}

var retryAfterMS = regexp.MustCompile(`retry_after_ms\D{0,4}(\d{1,9})`)

// closeDelay returns how long the reason of a close asks to wait.
func closeDelay(reason string) time.Duration {
	found := retryAfterMS.FindStringSubmatch(reason)
	if found == nil {
		return 0
	}
	ms, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// again says whether to try another session.
type again int

const (
	surely again = iota // yes: the connection was lost, or the server is restarting or busy
	asks                // the token was refused: once, with a fresh one
	never
)

// verdict decides whether to try another session after one ended with err, and returns how long the server asked to
// wait.
func verdict(err error) (again, time.Duration) {
	var e *Error
	if !errors.As(err, &e) {
		return surely, 0
	}
	wait := min(e.RetryAfter, retryAfterMax)
	switch {
	case e.Code == CodeUnauthenticated, e.Status == http.StatusUnauthorized:
		return asks, wait
	case e.Code == CodeRateLimited, e.Code == CodeUnavailable, e.Code == CodeInternal, e.Code == CodeTooLarge:
		return surely, wait
	case e.Status >= 500 && e.Status < 600, e.Status == http.StatusTooManyRequests:
		return surely, wait
	}
	return never, 0
}
