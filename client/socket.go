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

	"github.com/chatd/chatd/client/internal/clock"
)

const (
	writeTimeout   = 10 * time.Second
	welcomeTimeout = 10 * time.Second
	answerTimeout  = 15 * time.Second // the server itself gives a command up after 10 s
	pingDefault    = 25 * time.Second
	silence        = 10 * time.Second // beyond a ping: the connection is dead
	askedMax       = 5 * time.Minute  // the longest that a server may ask a session to stay away
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

	mu        sync.Mutex
	now       func() time.Time
	heard     time.Time // when something last came
	listens   bool      // false: nothing is read, because the caller is slow
	stopWatch func()
	lastRef   int64
	calls     map[string]chan reply
	lost      chan struct{} // closed when the session has ended
	err       error         // the reason; set before lost is closed
}

// session dials, says hello, and reads until the connection ends. welcomed is when the server accepted the user; zero: it
// did not.
func (s *Stream) session(ctx context.Context) (welcomed time.Time, err error) {
	token, err := s.client.tokens(withRefused(ctx, s.refused))
	if err != nil {
		return welcomed, fmt.Errorf("%w: %w", errToken, err)
	}
	conn, err := s.client.dial(ctx)
	if err != nil {
		return welcomed, s.refusal(err, token)
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
	w, err := s.welcome(ctx, sock, token)
	if err != nil {
		return welcomed, s.refusal(err, token)
	}
	s.refused = ""
	s.fallback.rest()
	c := clock.From(ctx)
	welcomed = c.Now()
	if s.track.forgetUnreadable(w.Errors) {
		return welcomed, fmt.Errorf("%w: the server cannot read some of the positions", errAgain) // the session leaves those groups out
	}
	s.count.sessions.Add(1)
	s.push(pinned{Connected{User: w.User, Session: w.Session, Groups: w.Groups}, s.track.pin(w.Groups)})
	s.push(s.track.foreign(w.Errors)...)
	if s.opts.Ack {
		s.acks.welcomed(w.Groups)
	}
	defer sock.watch(c, w.PingS)()

	during, end := context.WithCancel(ctx)
	due := s.renewal(during, token)
	s.turn(func() { s.live, s.status = sock, status{shown: s.status.shown} })
	s.focusAgain(sock)
	var tasks sync.WaitGroup
	tasks.Go(func() { s.renew(during, sock, token, due) })
	tasks.Go(func() { s.sendAcks(during, sock) })
	err = s.refusal(s.receive(ctx, sock), token)
	sock.end(err)
	s.turn(func() { s.live = nil })
	end()
	tasks.Wait()
	return welcomed, err
}

// welcome says hello and waits for the answer. From the hello on only this session asks for what comes next, unless it takes
// too long.
func (s *Stream) welcome(ctx context.Context, sock *socket, token string) (w welcome, err error) {
	limit := welcomeTimeout
	if s.fallback.runs() {
		limit = patience
	}
	defer clock.From(ctx).AfterFunc(limit, func() { _ = sock.conn.Close() })()
	s.fallback.pause()
	if err := s.anew(ctx); err != nil {
		return w, err
	}
	if err := sock.send(hello{
		Op: "hello", Token: token, As: s.client.as, After: s.track.after(), InboxAfter: s.track.inbox.at, Start: s.opts.Start, Only: s.opts.Only,
	}); err != nil {
		return w, sock.cause(err)
	}
	first, err := sock.read()
	if err != nil {
		return w, err
	}
	w, ok := first.(welcome)
	if !ok {
		if r, isReply := first.(reply); isReply && r.Op == "error" {
			return w, r.err()
		}
		return w, fmt.Errorf("want a welcome frame first, got %T", first)
	}
	return w, nil
}

// refusal notes the token of a session that ended because the server does not take it.
func (s *Stream) refusal(err error, token string) error {
	if again, _ := verdict(err); again == asks {
		s.refused = token
	}
	return err
}

// errAgain ends a session that another one, begun with what is known now, can replace at once.
var errAgain = errors.New("another session is needed")

// dial opens the websocket.
func (c *Client) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer clock.From(ctx).AfterFunc(handshakeTimeout, cancel)()
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
		sock.listen(false)
		if err := s.waitRoom(ctx, sock); err != nil {
			return err
		}
		sock.listen(true)
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
				return fmt.Errorf("%w: %w", errAgain, err)
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

// watch ends the connection when nothing was heard for as long as a ping of the server and a margin. The pings come
// whatever else is sent.
func (k *socket) watch(c clock.Clock, pingS float64) (stop func()) {
	ping := time.Duration(pingS * float64(time.Second))
	if ping <= 0 || ping > time.Hour {
		ping = pingDefault
	}
	pong := k.conn.PingHandler()
	k.conn.SetPingHandler(func(data string) error {
		k.listen(true)
		return pong(data)
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now, k.heard, k.listens = c.Now, c.Now(), true
	var look func(after time.Duration)
	look = func(after time.Duration) {
		k.stopWatch = c.AfterFunc(after, func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			quiet := c.Now().Sub(k.heard)
			switch {
			case !k.listens:
				look(ping + silence)
			case quiet < ping+silence:
				look(ping + silence - quiet)
			default:
				_ = k.conn.Close()
			}
		})
	}
	look(ping + silence)
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.stopWatch()
	}
}

// listen notes that something was heard, and whether anything more can be.
func (k *socket) listen(listens bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard, k.listens = k.now(), listens
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

// sendFocus says which group the person has open; empty: none.
func (k *socket) sendFocus(group string) error {
	f := focus{Op: "focus"}
	if group != "" {
		f.Group = &group
	}
	return k.send(f)
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
	switch {
	case errors.Is(err, ErrSignedOut):
		return never, 0
	case !errors.As(err, &e):
		return surely, 0
	}
	wait := min(e.RetryAfter, askedMax)
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

// renewal is due when the token of a session has to be replaced; nil: it does not say when it ends.
func (s *Stream) renewal(ctx context.Context, token string) <-chan struct{} {
	end, ok := tokenEnd(token)
	if !ok {
		return nil // the server closes the socket, and the next hello brings a fresh one
	}
	left := end.Sub(clock.From(ctx).Now())
	due, stop := clock.Timer(ctx, max(time.Second, left-min(time.Minute, left/10)))
	context.AfterFunc(ctx, stop)
	return due
}

// renew gives the server a fresh token before the current one expires, for as long as the session lasts.
func (s *Stream) renew(ctx context.Context, sock *socket, token string, due <-chan struct{}) {
	for due != nil && clock.Wait(ctx, due) == nil {
		fresh, err := s.client.tokens(ctx)
		if err == nil && fresh != token {
			if _, err := sock.call(ctx, request{Op: "auth", Token: fresh}, s.room); err != nil {
				return
			}
			token = fresh
		}
		due = s.renewal(ctx, token) // in a second if there was none, until the server ends the session
	}
}
