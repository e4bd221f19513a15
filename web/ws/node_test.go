package ws_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/ws"
)

// wsPatience is how long a test waits for a frame before it counts it as lost. It is not a pause.
const wsPatience = time.Minute

// wsNode is a node with only sockets, over a real Redis. Its tokens are "user", or "user/500ms" for one that ends then.
type wsNode struct {
	*chat.Service
	sessions *ws.Sessions
	server   *httptest.Server
	redis    *redistest.Server
	dialer   websocket.Dialer
}

const canary = "redis://10.0.0.7:6379"

// failures are internal errors, by the token that triggers each.
var failures = map[string]error{
	"unexpected":            errors.New(canary),
	"internal, in words":    &chat.Error{Code: chat.CodeInternal, Message: canary},
	"internal, by a cause":  &chat.Error{Code: chat.CodeInternal, Message: "x", Cause: errors.New(canary)},
	"unavailable, in words": &chat.Error{Code: chat.CodeUnavailable, Message: canary},
	"too slow":              fmt.Errorf("%s: %w", canary, context.DeadlineExceeded),
}

func verifyTest(_ context.Context, c auth.Credentials) (auth.Identity, error) {
	token := c.Token
	if err := failures[token]; err != nil {
		return auth.Identity{}, err
	}
	user, ttl, ends := strings.Cut(token, "/")
	id := auth.Identity{User: user, Expires: time.Now().Add(time.Hour)}
	if ends {
		d, err := time.ParseDuration(ttl)
		if err != nil {
			return id, chat.Errorf(chat.CodeUnauthenticated, "not a token of this test")
		}
		id.Expires = time.Now().Add(d)
	}
	if !chat.ValidID(user) {
		return id, chat.Errorf(chat.CodeUnauthenticated, "not a token of this test")
	}
	return id, nil
}

func startWS(t testing.TB, opt ws.SessionOptions) *wsNode {
	t.Helper()
	return startWSWithin(t, opt, chat.DefaultLimits())
}

func startWSWithin(t testing.TB, opt ws.SessionOptions, limits chat.Limits) *wsNode {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { // runs after all cleanups below
		http.DefaultClient.CloseIdleConnections()
		// Left over from a store that was down: go-redis checks only once a second whether its pool was closed.
		dialing := goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")
		goleak.VerifyNone(t, before, dialing)
	})
	redis := redistest.Start(t)
	st, err := store.Open(t.Context(), store.Options{URL: redis.URL(), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	service := chat.New(st, chat.Options{Limits: limits})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	readers := live.New(service, st)
	notifications := notify.New(service, st, notify.Options{})
	wg.Go(func() { _ = service.Run(ctx) })
	wg.Go(func() { _ = readers.Run(ctx) })
	wg.Go(func() { _ = notifications.Run(ctx) })
	services := ws.Services{Chat: service, Live: readers, Schedules: schedule.New(service, st, webhook.New(service, st, nil)), Notifications: notifications,
		Streams:  stream.New(service, st, st, 0),
		Profiles: profiles.New(st, nil, profiles.Options{Now: time.Now})}
	sessions := ws.NewSessions(services, verifyTest, opt)
	server := httptest.NewServer(sessions)
	t.Cleanup(func() {
		gone, stop := context.WithCancel(context.Background())
		stop()
		sessions.Drain(gone)
		server.Close()
		cancel()
		wg.Wait()
		_ = st.Close()
	})
	return &wsNode{Service: service, sessions: sessions, server: server, redis: redis,
		dialer: websocket.Dialer{Subprotocols: []string{ws.Subprotocol}, HandshakeTimeout: wsPatience}}
}

func (n *wsNode) group(t testing.TB, id, owner string, members ...string) {
	t.Helper()
	if _, err := n.CreateGroup(t.Context(), chat.Caller{User: owner}, chat.GroupDraft{ID: id, Members: members}); err != nil {
		t.Fatal(err)
	}
}

func (n *wsNode) say(t testing.TB, group, from, body string) int64 {
	t.Helper()
	sent, err := n.Send(t.Context(), chat.Caller{User: from}, group, chat.Content{Body: &body}, "")
	if err != nil {
		t.Fatal(err)
	}
	return sent.ID
}

// wsFrame is any frame of the server.
type wsFrame struct {
	Op           string                       `json:"op"`
	Ref          string                       `json:"ref"`
	Code         chat.Code                    `json:"code"`
	RetryAfterMS int64                        `json:"retry_after_ms"`
	User         string                       `json:"user"`
	Session      string                       `json:"session"`
	Groups       map[string]live.WelcomeGroup `json:"groups"`
	PingS        int                          `json:"ping_s"`
	Group        string                       `json:"group"`
	Epoch        string                       `json:"epoch"`
	From         int64                        `json:"from"`
	To           int64                        `json:"to"`
	Cursor       string                       `json:"cursor"`
	Complete     bool                         `json:"complete"`
	Messages     []chat.Entry                 `json:"messages"`
	Items        []chat.Item                  `json:"items"`
	Acked        int64                        `json:"acked"`
	ID           int64                        `json:"id"`
	SentAt       string                       `json:"sent_at"`
	Duplicate    *bool                        `json:"duplicate"`
	Schedule     *schedule.Schedule           `json:"schedule"`
	Errors       []live.GroupError            `json:"errors"`
	Seen         int64                        `json:"seen"`
	Read         int64                        `json:"read"`
}

type wsClient struct {
	t testing.TB
	*websocket.Conn
}

func (n *wsNode) dial(t testing.TB, header http.Header) (*wsClient, *http.Response, error) {
	conn, resp, err := n.dialer.Dial("ws"+strings.TrimPrefix(n.server.URL, "http")+"/v1/ws", header)
	if err != nil {
		return nil, resp, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &wsClient{t, conn}, resp, nil
}

func (n *wsNode) open(t testing.TB) *wsClient {
	t.Helper()
	c, _, err := n.dial(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hello opens a session of user.
func (n *wsNode) hello(t testing.TB, user string, after map[string]any) (*wsClient, wsFrame) {
	t.Helper()
	c := n.open(t)
	frame := map[string]any{"op": "hello", "token": user}
	if after != nil {
		frame["after"] = after
	}
	c.put(frame)
	w := c.get()
	if w.Op != "welcome" || w.User != strings.Split(user, "/")[0] {
		t.Fatalf("hello: got %+v, want welcome", w)
	}
	return c, w
}

func (c *wsClient) put(v any) {
	c.t.Helper()
	if err := c.WriteJSON(v); err != nil {
		c.t.Fatal(err)
	}
}

func (c *wsClient) raw(frame string) {
	c.t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *wsClient) get() wsFrame {
	c.t.Helper()
	f, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

func (c *wsClient) read() (f wsFrame, err error) {
	_ = c.SetReadDeadline(time.Now().Add(wsPatience))
	_, b, err := c.ReadMessage()
	if err == nil {
		checkDescribed(c.t, "ServerFrame", b)
		err = json.Unmarshal(b, &f)
	}
	return f, err
}

// op reads until a frame of that op.
func (c *wsClient) op(op string) wsFrame {
	c.t.Helper()
	for {
		if f := c.get(); f.Op == op {
			return f
		}
	}
}

// answer reads until the answer to ref.
func (c *wsClient) answer(ref string) wsFrame {
	c.t.Helper()
	for {
		if f := c.get(); f.Ref == ref {
			return f
		}
	}
}

// closed reads until the close frame.
func (c *wsClient) closed(want int) string {
	c.t.Helper()
	for {
		_, err := c.read()
		if err == nil {
			continue
		}
		var closed *websocket.CloseError
		if !errors.As(err, &closed) || closed.Code != want {
			c.t.Fatalf("got %v, want close code %d", err, want)
		}
		return closed.Text
	}
}
