package ws_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/ws"
)

// wsPatience is how long a test waits for a frame before it calls it lost. It is no pause.
const wsPatience = 20 * time.Second

// wsNode is a node with sockets alone, over a real Redis. A token of it is "user", or "user/500ms" for one that ends then.
type wsNode struct {
	*chat.Service
	sessions *ws.Sessions
	server   *httptest.Server
	redis    *redistest.Server
	dialer   websocket.Dialer
}

const canary = "redis://10.0.0.7:6379"

// failures are errors of the inside, by the token that brings each about.
var failures = map[string]error{
	"unexpected":            errors.New(canary),
	"internal, in words":    &chat.Error{Code: chat.CodeInternal, Message: canary},
	"internal, by a cause":  &chat.Error{Code: chat.CodeInternal, Message: "x", Cause: errors.New(canary)},
	"unavailable, in words": &chat.Error{Code: chat.CodeUnavailable, Message: canary},
	"too slow":              fmt.Errorf("%s: %w", canary, context.DeadlineExceeded),
}

func verifyTest(_ context.Context, token string) (auth.Identity, error) {
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
	t.Cleanup(func() { // after all that is cleaned up below
		http.DefaultClient.CloseIdleConnections()
		// Of a store that was away: the client of Redis looks once a second whether its pool was closed meanwhile.
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
	services := ws.Services{Chat: service, Live: readers, Schedules: schedule.New(service, st, webhook.New(service, st, nil)), Notifications: notifications}
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
		err = json.Unmarshal(b, &f)
	}
	return f, err
}

// op reads on until a frame of that op.
func (c *wsClient) op(op string) wsFrame {
	c.t.Helper()
	for {
		if f := c.get(); f.Op == op {
			return f
		}
	}
}

// answer reads on until the answer to ref.
func (c *wsClient) answer(ref string) wsFrame {
	c.t.Helper()
	for {
		if f := c.get(); f.Ref == ref {
			return f
		}
	}
}

// closed reads on until the close frame.
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

func TestWSCommands(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "red", "ann", "bob")
	bob, w := n.hello(t, "bob", nil)
	if bob.Subprotocol() != ws.Subprotocol || w.Session == "" || w.PingS != 25 || w.Groups["red"].Last != 2 {
		t.Errorf("welcome: got %+v with the subprotocol %q", w, bob.Subprotocol())
	}
	ann, _ := n.hello(t, "ann", nil)

	ann.raw(`{"op":"send","ref":"s","group":"red","body":"hi","client_id":"c1"}`)
	first := ann.answer("s")
	if first.Op != "ok" || first.ID != 3 || first.SentAt == "" || first.Duplicate == nil || *first.Duplicate {
		t.Errorf("send: got %+v", first)
	}
	ann.raw(`{"op":"send","ref":"again","group":"red","body":"hi","client_id":"c1"}`)
	if f := ann.answer("again"); f.ID != 3 || f.Duplicate == nil || !*f.Duplicate {
		t.Errorf("send again: got %+v, want the first id as a duplicate", f)
	}
	ann.raw(`{"op":"send","ref":"other","group":"red","body":"ho","client_id":"c1"}`)
	if f := ann.answer("other"); f.Code != chat.CodeKeyReused {
		t.Errorf("the key with other content: got %+v, want %s", f, chat.CodeKeyReused)
	}
	got := int64(0)
	for got < 3 {
		f := bob.op("messages")
		if f.Group != "red" || f.From != got+1 || !f.Complete || f.Cursor == "" || f.Epoch == "" {
			t.Fatalf("messages: got %+v after %d", f, got)
		}
		got = f.To
	}
	bob.raw(`{"op":"typing","ref":"t","group":"red"}`)
	if f := bob.answer("t"); f.Op != "ok" {
		t.Errorf("typing: got %+v", f)
	}
	if f := ann.op("typing"); f.Group != "red" || f.User != "bob" {
		t.Errorf("typing: ann got %+v", f)
	}
	phone, _ := n.hello(t, "bob", nil)
	bob.raw(`{"op":"ack","ref":"a","group":"red","id":2}`)
	if f := bob.answer("a"); f.Op != "ok" || f.Seen != 2 {
		t.Errorf("ack: got %+v", f)
	}
	if f := phone.op("cursor"); f.Group != "red" || f.User != "bob" || f.Seen != 2 {
		t.Errorf("the other session of the user: got %+v", f)
	}
	if f := ann.op("cursor"); f.User != "bob" || f.Seen != 2 {
		t.Errorf("the other member: got %+v", f)
	}
	bob.raw(`{"op":"read","ref":"r","group":"red","id":3}`)
	if f := bob.answer("r"); f.Op != "ok" || f.Read != 3 {
		t.Errorf("read: got %+v", f)
	}
	if _, err := n.Unread(t.Context(), chat.Caller{User: "bob"}, "red", 3); err != nil {
		t.Fatal(err)
	}
	if f := bob.op("cursor"); f.Read != 2 || f.Seen != 3 {
		t.Errorf("the first cursor event of the session that acked: got %+v, want that of the move over HTTP", f)
	}
	body := "psst"
	if _, _, err := n.SendDirect(t.Context(), chat.Caller{User: "ann"}, "bob", chat.Direct{Body: &body}); err != nil {
		t.Fatal(err)
	}
	if f := bob.op("inbox"); len(f.Items) == 0 || f.From != f.To-int64(len(f.Items))+1 {
		t.Errorf("inbox: got %+v", f)
	} else {
		bob.put(map[string]any{"op": "inbox_ack", "ref": "i", "cursor": f.Cursor})
	}
	if f := bob.answer("i"); f.Op != "ok" || f.Acked == 0 {
		t.Errorf("inbox_ack: got %+v", f)
	}
	for name, frame := range map[string]string{
		"ack":       `{"op":"ack","ref":"x","group":"red","cursor":"other.1.abcdef"}`,
		"read":      `{"op":"read","ref":"x","group":"red","cursor":"other.1.abcdef"}`,
		"inbox_ack": `{"op":"inbox_ack","ref":"x","cursor":"other.1.abcdef"}`,
	} {
		bob.raw(frame)
		if f := bob.answer("x"); f.Op != "error" || f.Code != chat.CodeConflict {
			t.Errorf("%s by a cursor of another life: got %+v", name, f)
		}
	}
	bob.raw(`{"op":"auth","ref":"mine","token":"bob"}`)
	if f := bob.answer("mine"); f.Op != "ok" {
		t.Errorf("auth: got %+v", f)
	}
	bob.raw(`{"op":"auth","ref":"hers","token":"ann"}`)
	if f := bob.answer("hers"); f.Code != chat.CodeForbidden {
		t.Errorf("auth as someone else: got %+v", f)
	}
	if _, _, err := n.PutMember(t.Context(), chat.Caller{User: "ann"}, "red", "eve", ""); err != nil {
		t.Fatal(err)
	}
	if err := n.RemoveMember(t.Context(), chat.Caller{User: "ann"}, "red", "bob"); err != nil {
		t.Fatal(err)
	}
	if f := bob.op("left"); f.Group != "red" {
		t.Errorf("removed: got %+v", f)
	}
	bob.raw(`{"op":"send","ref":"out","group":"red","body":"hi"}`)
	if f := bob.answer("out"); f.Code != chat.CodeNotFound {
		t.Errorf("a send from outside: got %+v, want %s", f, chat.CodeNotFound)
	}
	n.group(t, "blue", "ann", "bob")
	if f := bob.op("joined"); f.Group != "blue" {
		t.Errorf("added: got %+v", f)
	}
}

func TestWSWrongCommands(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "red", "ann")
	c, _ := n.hello(t, "ann", nil)
	for name, frame := range map[string]string{
		"no op":              `{"ref":"x"}`,
		"unknown op":         `{"op":"shout","ref":"x"}`,
		"op of a wrong type": `{"op":7,"ref":"x"}`,
		"op in another case": `{"OP":"typing","ref":"x","group":"red"}`,
		"unknown field":      `{"op":"typing","ref":"x","group":"red","loud":true}`,
		"another op's field": `{"op":"typing","ref":"x","group":"red","id":1}`,
		"id as a string":     `{"op":"ack","ref":"x","group":"red","id":"1"}`,
		"id as a float":      `{"op":"ack","ref":"x","group":"red","id":1.5}`,
		"negative id":        `{"op":"ack","ref":"x","group":"red","id":-1}`,
		"no id":              `{"op":"ack","ref":"x","group":"red"}`,
		"no seq":             `{"op":"inbox_ack","ref":"x"}`,
		"a bad group":        `{"op":"typing","ref":"x","group":"a{b}"}`,
		"hello again":        `{"op":"hello","ref":"x","token":"ann"}`,
		"a sender":           `{"op":"send","ref":"x","group":"red","body":"hi","from":"bob"}`,
		"a notice":           `{"op":"send","ref":"x","group":"red","kind":"notice"}`,
		"nothing to send":    `{"op":"send","ref":"x","group":"red"}`,
		"no token":           `{"op":"auth","ref":"x"}`,
	} {
		c.raw(frame)
		if f := c.answer("x"); f.Op != "error" || f.Code != chat.CodeInvalid {
			t.Errorf("%s: got %+v, want %s", name, f, chat.CodeInvalid)
		}
	}
	for name, frame := range map[string]string{
		"a field twice": `{"op":"typing","group":"red","group":"red"}`,
		"too deep":      `{"op":"send","group":"red","data":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
		"a long ref":    `{"op":"typing","group":"red","ref":"` + strings.Repeat("x", 200) + `"}`,
	} {
		c.raw(frame)
		if f := c.op("error"); f.Code != chat.CodeInvalid {
			t.Errorf("%s: got %+v, want %s", name, f, chat.CodeInvalid)
		}
	}
	c.raw(`{"op":"ack","ref":"far","group":"red","id":99}`)
	if f := c.answer("far"); f.Code != chat.CodeOutOfRange {
		t.Errorf("an ack above last: got %+v, want %s", f, chat.CodeOutOfRange)
	}
}

// TestWSErrorsOfTheInsideStayThere lets commands fail with errors that name what is inside: the client gets the code and
// nothing else of them.
func TestWSErrorsOfTheInsideStayThere(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	c, _ := n.hello(t, "ann", nil)
	for name, fails := range failures {
		c.put(map[string]string{"op": "auth", "ref": "x", "token": name})
		_ = c.SetReadDeadline(time.Now().Add(wsPatience))
		_, frame, err := c.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		var f wsFrame
		if err := json.Unmarshal(frame, &f); err != nil {
			t.Fatal(err)
		}
		want := chat.CodeOf(fails)
		if errors.Is(fails, context.DeadlineExceeded) {
			want = chat.CodeUnavailable
		}
		if f.Op != "error" || f.Ref != "x" || f.Code != want {
			t.Errorf("%s: got %s, want %s", name, frame, want)
		}
		if strings.Contains(string(frame), "redis") {
			t.Errorf("%s: the frame tells of the inside: %s", name, frame)
		}
	}
}

func TestWSCloseCodes(t *testing.T) {
	n := startWS(t, ws.SessionOptions{SessionsUserMax: 2, FramesBurst: 300, FramesPerSecond: 1, HelloWithin: 300 * time.Millisecond})
	greeted := func(c *wsClient) { c.raw(`{"op":"hello","token":"ann"}`); c.op("welcome") }
	cases := []struct {
		name string
		code int
		do   func(c *wsClient)
	}{
		{"not JSON", 4400, func(c *wsClient) { greeted(c); c.raw("hi") }},
		{"no object", 4400, func(c *wsClient) { greeted(c); c.raw("[1]") }},
		{"two objects", 4400, func(c *wsClient) { greeted(c); c.raw("{}{}") }},
		{"no UTF-8", 4400, func(c *wsClient) { greeted(c); c.raw("{\"op\":\"\xff\"}") }},
		{"not JSON before hello", 4400, func(c *wsClient) { c.raw("") }},
		{"a binary frame", 4400, func(c *wsClient) { greeted(c); _ = c.WriteMessage(websocket.BinaryMessage, []byte("{}")) }},
		{"a large frame", websocket.CloseMessageTooBig, func(c *wsClient) { greeted(c); c.raw(strings.Repeat(" ", 64<<10+1)) }},
		{"a large message in parts", websocket.CloseMessageTooBig, func(c *wsClient) {
			greeted(c)
			w, _ := c.NextWriter(websocket.TextMessage)
			for range 70 { // the connection may be closed in the middle
				if _, err := w.Write([]byte(strings.Repeat(" ", 1024))); err != nil {
					break
				}
			}
			_ = w.Close()
		}},
		{"no hello", 4408, func(*wsClient) {}},
		{"a command before hello", 4401, func(c *wsClient) { c.raw(`{"op":"typing","group":"red"}`) }},
		{"hello without a token", 4401, func(c *wsClient) { c.raw(`{"op":"hello"}`) }},
		{"hello with a wrong token", 4401, func(c *wsClient) { c.raw(`{"op":"hello","token":"."}`) }},
		{"a token that ends", 4401, func(c *wsClient) { c.raw(`{"op":"hello","token":"ann/100ms"}`) }},
		{"too many frames", 4429, func(c *wsClient) {
			greeted(c)
			for range 310 {
				if c.WriteMessage(websocket.TextMessage, []byte(`{"op":"typing","group":"nowhere"}`)) != nil {
					return
				}
			}
		}},
		{"too many pings", 4429, func(c *wsClient) {
			greeted(c)
			for range 1000 {
				if c.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)) != nil {
					return
				}
			}
		}},
		{"the client's own close", websocket.CloseNormalClosure, func(c *wsClient) {
			greeted(c)
			_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, "bye"), time.Now().Add(time.Second))
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := n.open(t)
			tc.do(c)
			c.closed(tc.code)
		})
	}
	t.Run("too many sessions of a user", func(t *testing.T) {
		busy, _ := n.hello(t, "bob", nil)
		idle, _ := n.hello(t, "bob", nil)
		busy.raw(`{"op":"typing","group":"nowhere","ref":"x"}`)
		busy.answer("x")
		third, _ := n.hello(t, "bob", nil) // the idle one gives way, though it is newer than the busy one
		idle.closed(4409)
		third.raw(`{"op":"typing","group":"nowhere","ref":"x"}`)
		third.answer("x")
		fourth := n.open(t)
		fourth.raw(`{"op":"hello","token":"bob"}`) // nobody is idle
		fourth.closed(4409)
		busy.raw(`{"op":"typing","group":"nowhere","ref":"still"}`)
		busy.answer("still")
	})
	t.Run("the reason of a refused token", func(t *testing.T) {
		c := n.open(t)
		c.raw(`{"op":"hello","token":"."}`)
		if got, want := c.closed(4401), "not a token of this test"; got != want {
			t.Errorf("got the reason %q, want %q", got, want)
		}
	})
}

func TestWSHandshake(t *testing.T) {
	n := startWS(t, ws.SessionOptions{Origins: []string{"https://app.example.com"}, SilentMax: 2, SessionsNodeMax: 4})
	own := n.server.URL
	port := own[strings.LastIndex(own, ":"):]
	for origin, want := range map[string]int{
		own: http.StatusSwitchingProtocols, "https://app.example.com": http.StatusSwitchingProtocols, "null": http.StatusForbidden,
		"https://app.example.com.evil.com": http.StatusForbidden, "http://app.example.com": http.StatusForbidden,
		"https://app.example.com:444": http.StatusForbidden, strings.Replace(own, "http:", "https:", 1): http.StatusForbidden,
		strings.TrimSuffix(own, port): http.StatusForbidden, own + "/x": http.StatusForbidden, "": http.StatusForbidden,
	} {
		c, resp, err := n.dial(t, http.Header{"Origin": {origin}, "Authorization": {"Bearer ann"}})
		if resp == nil || resp.StatusCode != want {
			t.Errorf("origin %q: got %v, %v; want %d", origin, resp, err, want)
		}
		if c != nil {
			c.raw(`{"op":"hello"}`) // the token was in the header
			if f := c.get(); f.Op != "welcome" || f.User != "ann" {
				t.Errorf("got %+v, want a welcome", f)
			}
			_ = c.Close()
		}
	}
	// Behind a name of its own, a page of another site is another site however alike the names are.
	for origin, want := range map[string]int{
		"http://chat.example.com": http.StatusSwitchingProtocols, "http://CHAT.example.com": http.StatusSwitchingProtocols,
		"http://evil-chat.example.com": http.StatusForbidden, "http://chat.example.com.evil.com": http.StatusForbidden,
		"http://example.com": http.StatusForbidden, "http://a.chat.example.com": http.StatusForbidden, "http://chat.example.co": http.StatusForbidden,
		"http://evil.com#chat.example.com": http.StatusForbidden, "http://chat.example.com@evil.com": http.StatusForbidden,
		"http://chat.example.com:80": http.StatusForbidden, "https://chat.example.com": http.StatusForbidden,
	} {
		c, resp, err := n.dial(t, http.Header{"Host": {"chat.example.com"}, "Origin": {origin}, "Authorization": {"Bearer ann"}})
		if resp == nil || resp.StatusCode != want {
			t.Errorf("origin %q at chat.example.com: got %v, %v; want %d", origin, resp, err, want)
		}
		if c != nil {
			_ = c.Close()
		}
	}
	if _, resp, _ := n.dial(t, http.Header{"Authorization": {"Bearer ."}}); resp == nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong token in the header: got %v, want 401", resp)
	}
	resp, err := http.Get(n.server.URL + "/v1/ws?token=ann")
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a token in the URL: got %v, %v; want 400", resp, err)
	} else {
		_ = resp.Body.Close()
	}
}

// The session ends with the newest token, be it earlier or later than the one before.
func TestWSRenew(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	c, _ := n.hello(t, "ann/1h", nil)
	begin := time.Now()
	c.raw(`{"op":"auth","ref":"shorter","token":"ann/1s"}`)
	c.raw(`{"op":"auth","ref":"longer","token":"ann/2s"}`)
	for _, ref := range []string{"shorter", "longer"} {
		if f := c.answer(ref); f.Op != "ok" {
			t.Errorf("%s: got %+v, want ok", ref, f)
		}
	}
	c.closed(4401)
	if took := time.Since(begin); took < 2*time.Second-time.Millisecond { // the end of a token counts in whole ms
		t.Errorf("closed after %v, before the token ended", took)
	}
}

// A client that reads nothing is closed with 4413, and nobody else waits for it.
func TestWSStalled(t *testing.T) {
	n := startWS(t, ws.SessionOptions{StallAfter: 500 * time.Millisecond, CloseWithin: 10 * time.Second})
	n.group(t, "red", "ann", "bob", "slow")
	// A kernel may let the buffer of a connection that nobody reads grow to tens of MB: then nothing would ever stall. What is
	// set before the connection is made holds for the window that is agreed upon.
	n.dialer.NetDialContext = (&net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 64<<10)
		}), err)
	}}).DialContext
	slow, _ := n.hello(t, "slow", nil)
	n.dialer.NetDialContext = nil
	bob, _ := n.hello(t, "bob", nil)
	body := strings.Repeat("x", 16<<10)
	got := int64(0)
	// More than the buffers of a loopback connection hold, and for longer than the server waits once they are full.
	for i, begin := 0, time.Now(); i < 1200 || time.Since(begin) < 2*time.Second; i++ {
		last := n.say(t, "red", "ann", body)
		for got < last {
			f := bob.op("messages")
			if f.From != got+1 {
				t.Fatalf("bob: got from %d after %d", f.From, got)
			}
			got = f.To
		}
	}
	// The slow one wakes up: what it gets is dense as far as it goes, and then it is told.
	to := int64(0)
	for {
		f, err := slow.read()
		if websocket.IsCloseError(err, 4413) {
			break
		}
		if err != nil {
			t.Fatalf("after %d messages: %v", to, err)
		}
		if f.Op == "messages" {
			if f.From != to+1 {
				t.Fatalf("slow: got from %d after %d", f.From, to)
			}
			to = f.To
		}
	}
	if to >= got {
		t.Errorf("the slow client got all %d messages: it never stalled", got)
	}
}

// Messages across reconnects, resumed by cursor, come each once and in order.
func TestWSResume(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "red", "ann", "bob")
	const count = 1000
	var sender sync.WaitGroup
	sender.Go(func() {
		for i := range count {
			n.say(t, "red", "ann", fmt.Sprint(i))
		}
	})
	defer sender.Wait()
	after := map[string]any{"red": 2}
	next := 0
	for round := 0; next < count; round++ {
		c, _ := n.hello(t, "bob", after)
		for taken := 0; taken < 1+round%97 && next < count; {
			f := c.op("messages")
			for _, m := range f.Messages {
				if m.Body == nil || *m.Body != fmt.Sprint(next) || m.ID != int64(next+3) {
					t.Fatalf("message %d: got %+v", next, m)
				}
				next++
				taken++
			}
			if round%2 == 0 {
				after["red"] = f.Cursor
			} else {
				after["red"] = f.To
			}
		}
		_ = c.Close()
	}
}

func TestWSDrain(t *testing.T) {
	n := startWS(t, ws.SessionOptions{DrainSpread: 200 * time.Millisecond})
	n.group(t, "red", "ann")
	var clients []*wsClient
	for i := range 10 {
		c, _ := n.hello(t, fmt.Sprint("u", i), nil)
		clients = append(clients, c)
	}
	var drained sync.WaitGroup
	drained.Go(func() { n.sessions.Drain(context.Background()) })
	for _, c := range clients {
		if reason := c.closed(websocket.CloseServiceRestart); !strings.Contains(reason, "retry_after_ms=") {
			t.Errorf("reason: got %q, want retry_after_ms", reason)
		}
	}
	drained.Wait()
	if got := n.sessions.Count(); got != 0 {
		t.Errorf("after the drain: %d sessions", got)
	}
	if _, resp, _ := n.dial(t, nil); resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a handshake after the drain: got %v, want 503", resp)
	}
}

// A store that goes away is waited for; the session stays and goes on.
func TestWSStoreRestart(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.redis.Do("CONFIG", "SET", "appendfsync", "always") // what is written must survive the kill
	n.group(t, "red", "ann", "bob")
	bob, _ := n.hello(t, "bob", nil)
	last := n.say(t, "red", "ann", "before")
	for bob.op("messages").To < last {
	}
	n.redis.Kill()
	bob.raw(`{"op":"send","ref":"down","group":"red","body":"hi","client_id":"k"}`)
	if f := bob.answer("down"); f.Code != chat.CodeUnavailable {
		t.Errorf("with the store down: got %+v, want %s", f, chat.CodeUnavailable)
	}
	n.redis.Restart()
	patience, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for { // the store takes a moment to notice
		if _, err := n.UnreadCounts(patience, chat.Caller{User: "ann"}); err == nil || patience.Err() != nil {
			break
		}
	}
	// The message may come before the answer to its send.
	retry := `{"op":"send","ref":"up","group":"red","body":"hi","client_id":"k"}`
	bob.raw(retry)
	to, id := last, int64(0)
	for id == 0 || to < id {
		switch f := bob.get(); {
		case f.Op == "messages" && f.From != to+1:
			t.Fatalf("got from %d after %d", f.From, to)
		case f.Op == "messages":
			to = f.To
		case f.Code == chat.CodeUnavailable:
			bob.raw(retry)
		case f.Op == "ok":
			id = f.ID
		case f.Op == "error":
			t.Fatalf("with the store back: got %+v", f)
		}
	}
}
