package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// server plays what a scenario says. It knows nothing of chatd but the list of groups and who is asking.
type server struct {
	t   *testing.T
	url string

	mu     sync.Mutex
	turn   *sync.Cond // something came
	mode   string     // of websockets: open, refused, silent
	groups []any
	canned Object          // bodies, by method and path, of calls that a client may make or not
	socket *websocket.Conn // of the last hello
	hellos []Object
	frames []Object // of the present session, not yet expected
	calls  []*call
	last   func(Object) error // answers what came last
	// holds: the list of groups waits, so that it comes after what is said with a welcome.
	holds bool
	pongs int
}

// call is a request that waits for the scenario to answer it.
type call struct {
	said   Object
	answer chan Object
}

func newServer(t *testing.T, of Scenario) *server {
	s := &server{t: t, mode: cmp.Or(of.Websocket, "open")}
	s.turn = sync.NewCond(&s.mu)
	for _, g := range of.Groups {
		s.groups = append(s.groups, group(g))
	}
	web := httptest.NewServer(http.HandlerFunc(s.serve))
	s.url = web.URL
	t.Cleanup(func() {
		s.mu.Lock()
		for _, c := range s.calls {
			close(c.answer)
		}
		s.calls, s.holds = nil, false
		s.turn.Broadcast()
		if s.socket != nil {
			_ = s.socket.Close()
		}
		s.mu.Unlock()
		web.CloseClientConnections()
		web.Close()
	})
	return s
}

// group fills in what a list says of a group.
func group(g Object) Object {
	full := Object{
		"name": g["id"], "visibility": "private", "created_by": "bob", "created_at": "2027-01-01T00:00:00Z", "members": 2.0, "post": "members",
		"epoch": "e1", "first": 1.0, "last": 0.0, "seen": 0.0, "read": 0.0, "unread": 0.0, "mentions_unread": 0.0, "role": "member",
	}
	for k, v := range g {
		full[k] = v
	}
	return full
}

func (s *server) list(groups []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = nil
	for _, g := range groups {
		s.groups = append(s.groups, group(g.(Object)))
	}
}

func (s *server) can(answers Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.canned = answers
}

func (s *server) set(mode string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	s.mu.Lock()
	for s.holds && path == "/v1/groups" {
		s.turn.Wait()
	}
	groups, canned := s.groups, s.canned[r.Method+" "+path]
	s.mu.Unlock()
	switch {
	case canned != nil:
		write(w, http.StatusOK, expand(canned))
	case path == "/v1/ws":
		s.websocket(w, r)
	case r.Method == http.MethodGet && path == "/v1/me":
		write(w, http.StatusOK, Object{"user": "ann"})
	case r.Method == http.MethodGet && path == "/v1/groups":
		write(w, http.StatusOK, Object{"groups": groups})
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/threads"):
		write(w, http.StatusOK, Object{"threads": []any{}, "next": nil}) // which ones the user follows: a client may ask
	default:
		s.wait(w, r)
	}
}

// wait has a request wait for the scenario.
func (s *server) wait(w http.ResponseWriter, r *http.Request) {
	said := Object{"method": r.Method, "path": r.URL.Path, "query": query(r.URL.Query()), "token": name(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))}
	var body any
	if text, err := io.ReadAll(r.Body); err == nil && json.Unmarshal(text, &body) == nil {
		said["body"] = body
	}
	c := &call{said, make(chan Object, 1)}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.turn.Broadcast()
	s.mu.Unlock()
	select {
	case answer, ok := <-c.answer:
		if !ok || answer["cut"] == true {
			panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler cuts its connection
		}
		for k, v := range asObject(answer["headers"]) {
			w.Header().Set(k, fmt.Sprint(v))
		}
		status := http.StatusOK
		if n, ok := answer["status"].(float64); ok {
			status = int(n)
		}
		write(w, status, expand(answer["body"]))
	case <-r.Context().Done(): // the client gave up
		s.mu.Lock()
		for i, one := range s.calls {
			if one == c {
				s.calls = append(s.calls[:i:i], s.calls[i+1:]...)
				break
			}
		}
		s.mu.Unlock()
	}
}

func query(q url.Values) Object {
	all := Object{}
	for k := range q {
		all[k] = q.Get(k)
	}
	return all
}

func write(w http.ResponseWriter, status int, body any) {
	kind := "application/json"
	if status >= http.StatusBadRequest {
		kind = "application/problem+json"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}

// name gives the name of a token that tokens has made.
func name(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return token
	}
	var named string
	if err := decode(parts[2], &named); err != nil {
		return token
	}
	return named
}

func (s *server) websocket(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	mode := s.mode
	s.mu.Unlock()
	switch mode {
	case "refused":
		http.Error(w, "no websockets here", http.StatusForbidden)
		return
	case "silent":
		<-r.Context().Done()
		return
	}
	upgrader := websocket.Upgrader{Subprotocols: []string{"chatd.v1"}, CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	conn.SetPongHandler(func(string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pongs++
		s.turn.Broadcast()
		return nil
	})
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			return
		}
		var frame Object
		if err := json.Unmarshal(text, &frame); err != nil {
			s.t.Errorf("the client said %q", text)
			return
		}
		s.take(conn, frame)
	}
}

func (s *server) take(conn *websocket.Conn, frame Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token, ok := frame["token"].(string); ok {
		frame["token"] = name(token)
	}
	switch {
	case frame["op"] == "hello":
		s.socket, s.frames = conn, nil
		s.hellos = append(s.hellos, frame)
	case conn == s.socket:
		s.frames = append(s.frames, frame)
	}
	s.turn.Broadcast()
}

// next waits until find has found something.
func (s *server) next(what any, find func() bool) error { return s.within(stepTime, what, find) }

func (s *server) within(limit time.Duration, what any, find func() bool) error {
	late := false
	timer := time.AfterFunc(limit, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.turn.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !find() {
		if late {
			return fmt.Errorf("nothing came like %v", what)
		}
		s.turn.Wait()
	}
	return nil
}

// came waits a moment for a hello, heard for a frame, and wasCalled for a call.
func (s *server) came() bool {
	return s.soon(func() bool { return len(s.hellos) > 0 })
}

func (s *server) heard(want Object) bool {
	return s.soon(func() bool { return s.frameLike(want) >= 0 })
}

func (s *server) wasCalled(want Object) bool {
	return s.soon(func() bool { return s.callLike(want) >= 0 })
}

func (s *server) soon(find func() bool) bool { return s.within(stepTime/300, nil, find) == nil }

func (s *server) frameLike(want Object) int {
	return slices.IndexFunc(s.frames, func(f Object) bool { return f["op"] == want["op"] })
}

func (s *server) callLike(want Object) int {
	return slices.IndexFunc(s.calls, func(c *call) bool {
		return c.said["method"] == want["method"] && c.said["path"] == want["path"] && (want["query"] == nil || match(c.said["query"], want["query"], "") == nil)
	})
}

// hello waits for the next one, which begins the present session.
func (s *server) hello(want any) error {
	var got Object
	if err := s.next(want, func() bool {
		if len(s.hellos) == 0 {
			return false
		}
		got, s.hellos = s.hellos[0], s.hellos[1:]
		return true
	}); err != nil {
		return err
	}
	return match(got, want, "hello")
}

// hears waits for the next frame with the same op.
func (s *server) hears(want Object) (got Object, err error) {
	if err := s.next(want, func() bool {
		i := s.frameLike(want)
		if i >= 0 {
			got = s.frames[i]
			s.frames = slices.Delete(s.frames, i, i+1)
		}
		return i >= 0
	}); err != nil {
		return nil, err
	}
	conn := s.socket
	s.last = func(reply Object) error {
		if _, ok := reply["op"]; !ok {
			reply["op"] = "ok"
		}
		reply["ref"] = got["ref"]
		return conn.WriteJSON(reply)
	}
	return got, match(got, want, "frame")
}

// called waits for the next call of the same method and path, and with what is wanted in its query.
func (s *server) called(want Object) (got Object, err error) {
	var found *call
	if err := s.next(want, func() bool {
		i := s.callLike(want)
		if i >= 0 {
			found = s.calls[i]
			s.calls = slices.Delete(s.calls, i, i+1)
		}
		return i >= 0
	}); err != nil {
		return nil, err
	}
	s.last = func(answer Object) error { found.answer <- answer; return nil }
	got = found.said
	if body, ok := got["body"].(Object); ok { // what is kept is of the body
		for k, v := range body {
			if _, ok := got[k]; !ok {
				got[k] = v
			}
		}
	}
	return got, match(got, want, "call")
}

func (s *server) answer(with Object) error {
	if s.last == nil {
		return fmt.Errorf("nothing waits for an answer")
	}
	last := s.last
	s.last = nil
	return last(with)
}

// listed answers with the list of groups what waits for it, once the client has read what was said.
func (s *server) listed() {
	s.mu.Lock()
	conn, holds, pongs := s.socket, s.holds, s.pongs
	s.mu.Unlock()
	if !holds {
		return
	}
	if conn != nil && conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(stepTime)) == nil {
		_ = s.within(stepTime/30, nil, func() bool { return s.pongs > pongs }) // a client that does not answer is no worse for it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds = false
	s.turn.Broadcast()
}

// say sends a frame. A welcome has all groups.
func (s *server) say(frame Object) error {
	s.mu.Lock()
	conn, groups := s.socket, s.groups
	s.mu.Unlock()
	if conn == nil {
		return fmt.Errorf("there is no session")
	}
	if frame["op"] == "welcome" {
		s.mu.Lock()
		s.holds = true
		s.mu.Unlock()
		stands := Object{}
		for _, g := range groups {
			g := g.(Object)
			stands[g["id"].(string)] = Object{"epoch": g["epoch"], "first": g["first"], "last": g["last"], "seen": g["seen"], "read": g["read"]}
		}
		full := Object{"user": "ann", "session": "s", "ping_s": 25.0, "groups": stands}
		for k, v := range frame {
			full[k] = v
		}
		frame = full
	}
	return conn.WriteJSON(expand(frame))
}

func (s *server) close(code int, reason any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _ := reason.(string)
	err := s.socket.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(stepTime))
	s.socket = nil // what it says from now on comes too late
	return err
}

func (s *server) cut() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.socket.NetConn().Close()
	s.socket = nil
	return err
}

// quiet fails if something of this kind came that was not expected: an op, "hello", or the path of a call.
func (s *server) quiet(kinds []any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range kinds {
		for _, f := range append(s.hellos[:len(s.hellos):len(s.hellos)], s.frames...) {
			if f["op"] == kind {
				return fmt.Errorf("the client said %v", f)
			}
		}
		for _, c := range s.calls {
			if c.said["path"] == kind {
				return fmt.Errorf("the client called %v", c.said)
			}
		}
	}
	return nil
}

// left is what came and was not expected yet.
func (s *server) left() (all []Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all = append(append(all, s.hellos...), s.frames...)
	for _, c := range s.calls {
		all = append(all, c.said)
	}
	return all
}
