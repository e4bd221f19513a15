package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/web/auth"
)

// issued is a token of a user that was issued at a time; the zero time: it does not say when.
func issued(t *testing.T, user string, at time.Time) string {
	t.Helper()
	if at.IsZero() {
		return harness.Sign(map[string]any{"alg": "HS256"}, map[string]any{"sub": user, "exp": time.Now().Add(time.Hour).Unix()}, secret)
	}
	signed, _, err := auth.SignToken([]byte(secret), auth.Claims{User: user, TTL: 24 * time.Hour}, at)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// with makes a request with a credential.
func (s *server) with(credential, method, path, body string) answer {
	s.t.Helper()
	return s.do(request{method: method, path: path, body: body, header: map[string]string{"Authorization": "Bearer " + credential}})
}

// operator makes a request as an operator, and ends the test if it fails.
func (s *server) operator(method, path, body string) answer {
	s.t.Helper()
	a := s.do(request{method: method, path: path, body: body, user: "operator", role: "admin"})
	if a.status >= 300 {
		s.t.Fatalf("%s %s: got %d %s", method, path, a.status, a.body)
	}
	return a
}

// live opens a websocket and says hello.
func (s *server) live(credential, as string) *websocket.Conn {
	s.t.Helper()
	frame, err := json.Marshal(map[string]string{"op": "hello", "token": credential, "as": as})
	if as == "" {
		frame, err = json.Marshal(map[string]string{"op": "hello", "token": credential})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	conn := s.dial()
	_ = conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
	if got := hello(s.t, conn, string(frame)); !strings.Contains(got, `"op":"welcome"`) {
		s.t.Fatalf("got %s, want a welcome", got)
	}
	return conn
}

// closes checks that a socket is closed with a code.
func closes(t *testing.T, what string, conn *websocket.Conn, code int) {
	t.Helper()
	for {
		_, _, err := conn.ReadMessage()
		if err == nil {
			continue
		}
		if !websocket.IsCloseError(err, code) {
			t.Errorf("%s: got %v, want it closed with %d", what, err, code)
		}
		return
	}
}

// TestRevocation: which tokens a revocation makes void, and who may do it.
func TestRevocation(t *testing.T) {
	s := start(t, nil)
	now := time.Now()
	_, key := s.key(`{"name":"k","scopes":["read"],"as":["alice"]}`)
	old, none, next := issued(t, "alice", now.Add(-time.Minute)), issued(t, "alice", time.Time{}), issued(t, "alice", now.Add(time.Hour))
	status := func(credential string) int { return s.with(credential, "GET", "/v1/me", "").status }
	for _, token := range []string{old, none, next} { // they are in the cache then
		if got := status(token); got != 200 {
			t.Fatalf("before: got %d", got)
		}
	}
	sockets := map[string]*websocket.Conn{"old": s.live(old, ""), "none": s.live(none, ""), "next": s.live(next, ""), "key": s.live(key, "alice")}

	past := now.Add(-2 * time.Minute)
	body := fmt.Sprintf(`{"before":%q}`, past.UTC().Format(time.RFC3339Nano))
	s.operator("POST", "/v1/users/alice/revoke", body)
	checkProblem(t, "without iat", s.with(none, "GET", "/v1/me", ""), 401, "unauthenticated")
	closes(t, "without iat", sockets["none"], 4401)
	for what, at := range map[string]time.Time{"the same second": past.Truncate(time.Second), "earlier": past.Add(-time.Hour)} {
		if got := status(issued(t, "alice", at)); got != 401 {
			t.Errorf("%s: got %d, want 401", what, got)
		}
	}
	if later, of := status(issued(t, "alice", past.Add(time.Second))), status(old); later != 200 || of != 200 {
		t.Errorf("issued later: got %d and %d, want 200", later, of)
	}

	s.operator("POST", "/v1/users/alice/revoke", "")
	s.operator("POST", "/v1/users/alice/revoke", body) // what was revoked stays so
	checkProblem(t, "issued before", s.with(old, "GET", "/v1/me", ""), 401, "unauthenticated")
	closes(t, "issued before", sockets["old"], 4401)
	if got := hello(t, s.dial(), fmt.Sprintf(`{"op":"hello","token":%q}`, old)); !strings.Contains(got, "4401") {
		t.Errorf("a hello: got %s, want 4401", got)
	}
	if newer, other, acts := status(next), s.do(request{method: "GET", path: "/v1/me", user: "bob"}).status, s.by(key, "alice", request{method: "GET", path: "/v1/me"}).status; newer != 200 || other != 200 || acts != 200 {
		t.Errorf("a newer token, another user, a key: got %d %d %d, want 200", newer, other, acts)
	}
	ahead := fmt.Sprintf(`{"before":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	checkProblem(t, "in the future", s.with(next, "POST", "/v1/users/me/revoke", ahead), 400, "out_of_range")
	checkProblem(t, "no time", s.with(next, "POST", "/v1/users/me/revoke", `{"before":"soon"}`), 400, "invalid_request")
	checkProblem(t, "someone else's", s.with(next, "POST", "/v1/users/bob/revoke", ""), 403, "forbidden")

	_, users := s.key(`{"name":"k","scopes":["users"]}`)
	checkProblem(t, "a key that is nobody", s.by(users, "", request{method: "POST", path: "/v1/users/me/revoke"}), 400, "invalid_request")
	for _, path := range []string{"/v1/users/me/revoke", "/v1/users/carl/revoke"} {
		if a := s.do(request{method: "POST", path: path, user: "carl"}); path == "/v1/users/me/revoke" && a.status != 204 {
			t.Errorf("oneself: got %d %s", a.status, a.body)
		} else if path != "/v1/users/me/revoke" && a.status != 401 {
			t.Errorf("after it: got %d %s, want 401", a.status, a.body)
		}
	}
	if a := s.by(users, "", request{method: "POST", path: "/v1/users/bob/revoke"}); a.status != 204 {
		t.Errorf("a key: got %d %s", a.status, a.body)
	}
	checkProblem(t, "revoked by a key", s.do(request{method: "GET", path: "/v1/me", user: "bob"}), 401, "unauthenticated")
	for _, what := range []string{"next", "key"} { // which are open still
		frame := fmt.Sprintf(`{"op":"auth","token":%q,"ref":"r"}`, map[string]string{"next": next, "key": key}[what])
		if got := hello(t, sockets[what], frame); !strings.Contains(got, `"ref":"r"`) || !strings.Contains(got, `"op":"ok"`) {
			t.Errorf("the socket of %s: got %s, want ok", what, got)
		}
	}
}

// TestVoidTokensEndTheirCalls: a call that waits ends as soon as its token would not let it in any more.
func TestVoidTokensEndTheirCalls(t *testing.T) {
	s := start(t, nil)
	for _, c := range []struct {
		user, method, path, body string
		status                   int
	}{
		{"alice", "POST", "/v1/users/alice/revoke", "", http.StatusUnauthorized},
		{"bob", "PUT", "/v1/users", `{"users":[{"user":"bob","disabled":true}]}`, http.StatusForbidden},
	} {
		s.must(c.user, "POST", "/v1/groups", fmt.Sprintf(`{"id":"of-%s"}`, c.user))
		s.must(c.user, "POST", "/v1/sync", fmt.Sprintf(`{"ack":{"of-%s":1}}`, c.user))
		answers := make(chan answer, 1)
		go func() {
			answers <- s.do(request{method: "POST", path: "/v1/sync", body: `{"wait_s":50}`, user: c.user})
		}()
		untilWaiting(t, 1)
		s.operator(c.method, c.path, c.body)
		select {
		case a := <-answers:
			if a.status != c.status {
				t.Errorf("%s: got %d %s, want %d", c.path, a.status, a.body, c.status)
			}
		case <-time.After(40 * time.Second):
			t.Fatalf("%s: still waiting", c.path)
		}
	}
}

// TestDisabledUsers: a disabled user is kept out everywhere until that ends.
func TestDisabledUsers(t *testing.T) {
	s := start(t, nil)
	_, key := s.key(`{"name":"k","scopes":["read"],"as":["alice"]}`)
	token := issued(t, "alice", time.Now())
	own, acting := s.live(token, ""), s.live(key, "alice")
	a := s.operator("PUT", "/v1/users", `{"users":[{"user":"alice","disabled":true},{"user":"no id"},{"user":"bob"},{"user":"key:x","disabled":true}]}`)
	var got struct {
		Users  []struct{ User string }
		Errors []struct{ User, Code string }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || fmt.Sprint(got) != "{[{alice} {bob}] [{no id invalid_request} {key:x invalid_request}]}" {
		t.Errorf("got %s, %v", a.body, err)
	}
	closes(t, "the socket", own, 4403)
	closes(t, "the socket of a key", acting, 4403)
	checkProblem(t, "the token", s.with(token, "GET", "/v1/me", ""), 403, "forbidden")
	checkProblem(t, "a key", s.by(key, "alice", request{method: "GET", path: "/v1/me"}), 403, "forbidden")
	for _, frame := range []string{fmt.Sprintf(`{"op":"hello","token":%q}`, token), fmt.Sprintf(`{"op":"hello","token":%q,"as":"alice"}`, key)} {
		if got := hello(t, s.dial(), frame); !strings.Contains(got, "4403") {
			t.Errorf("a hello: got %s, want 4403", got)
		}
	}
	for _, again := range []string{"null", "false"} {
		s.operator("PUT", "/v1/users", `{"users":[{"user":"alice","disabled":true}]}`)
		s.operator("PUT", "/v1/users", `{"users":[{"user":"alice"}]}`) // an absent field stays
		checkProblem(t, "still", s.with(token, "GET", "/v1/me", ""), 403, "forbidden")
		s.operator("PUT", "/v1/users", `{"users":[{"user":"alice","disabled":`+again+`}]}`)
		if a := s.with(token, "GET", "/v1/me", ""); a.status != 200 {
			t.Errorf("enabled with %s: got %d %s", again, a.status, a.body)
		}
	}
	many := strings.TrimSuffix(strings.Repeat(`{"user":"u"},`, 1001), ",")
	for body, code := range map[string]string{
		`{"users":[` + many + `]}`: "out_of_range", `{"users":[{"user":"u","disabled":1}]}`: "invalid_request",
		`{"users":[{"user":"u","nope":1}]}`: "invalid_request", `{}`: "invalid_request", "": "invalid_request",
	} {
		checkProblem(t, body[:min(len(body), 60)], s.do(request{method: "PUT", path: "/v1/users", body: body, user: "operator", role: "admin"}), 400, code)
	}
	if a := s.operator("PUT", "/v1/users", `{"users":[]}`); !strings.Contains(a.body, `"users":[]`) {
		t.Errorf("got %s", a.body)
	}
}

// pair is two nodes over one Redis, whose signals can be swallowed.
type pair struct {
	nodes   [2]*server
	proxies [2]*redistest.Proxy
	redis   *redistest.Server
}

func startPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{redis: redistest.Start(t)}
	for i := range p.nodes {
		p.proxies[i] = redistest.StartProxy(t, p.redis.Addr, 0)
		p.nodes[i] = start(t, func(c *node.Config) { c.Redis = p.proxies[i].URL() })
	}
	return p
}

func (p *pair) mute(mute bool) {
	for _, proxy := range p.proxies {
		proxy.Mute(mute)
	}
}

// TestRevocationWithoutSignals revokes the tokens of 100 sockets on two nodes that hear nothing from each other: all are closed,
// and no call passes any more.
func TestRevocationWithoutSignals(t *testing.T) {
	p := startPair(t)
	const users, each = 10, 5
	var sockets []*websocket.Conn
	tokens := make([]string, users)
	for i := range tokens {
		tokens[i] = issued(t, fmt.Sprintf("user-%d", i), time.Now())
		for _, n := range p.nodes {
			for range each {
				sockets = append(sockets, n.live(tokens[i], ""))
			}
		}
	}
	p.mute(true)
	for i := range users {
		p.nodes[0].operator("POST", fmt.Sprintf("/v1/users/user-%d/revoke", i), "")
	}
	began := time.Now()
	waits := make([]time.Duration, len(sockets))
	var wg sync.WaitGroup
	for i, conn := range sockets {
		wg.Go(func() {
			closes(t, "a socket", conn, 4401)
			waits[i] = time.Since(began)
		})
	}
	wg.Wait()
	t.Logf("%d sockets on two nodes were closed within %v of the last revocation", len(sockets), slices.Max(waits).Round(time.Millisecond))
	const calls, at = 2000, 8
	var passed atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: at}}
	defer client.CloseIdleConnections()
	for w := range at {
		wg.Go(func() {
			for i := w; i < calls; i += at {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.nodes[i/at%2].url+"/v1/me", http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer "+tokens[i%users])
				got, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_ = got.Body.Close()
				if got.StatusCode != http.StatusUnauthorized {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if passed.Load() != 0 {
		t.Errorf("%d of %d calls passed", passed.Load(), calls)
	}
	if p.proxies[0].Swallowed()+p.proxies[1].Swallowed() == 0 {
		t.Error("no signal was lost: the run shows nothing")
	}
}

// sessions lists sessions at a node.
func (s *server) sessions(credential, user string) (list []map[string]any) {
	s.t.Helper()
	a := s.with(credential, "GET", "/v1/users/"+user+"/sessions", "")
	var page struct {
		Sessions []map[string]any `json:"sessions"`
		Next     *string          `json:"next"`
	}
	if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != 200 || page.Next != nil || !strings.Contains(a.body, `"next":null`) {
		s.t.Fatalf("got %d %s, %v", a.status, a.body, err)
	}
	return page.Sessions
}

// TestSessionsOfAllNodes lists the sessions of a user at two nodes and closes them, with signals and without.
func TestSessionsOfAllNodes(t *testing.T) {
	p := startPair(t)
	token := issued(t, "alice", time.Now())
	here := p.nodes[0]
	if got := here.sessions(token, "me"); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
	here.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	for _, mute := range []bool{false, true} {
		p.mute(false)
		conns := []*websocket.Conn{here.live(token, ""), p.nodes[1].live(token, "")}
		other := p.nodes[1].live(issued(t, "bob", time.Now()), "")
		p.mute(mute)
		var got []map[string]any
		harness.Eventually(t, time.Minute, "both sessions are listed", func() error {
			if got = here.sessions(token, "me"); len(got) != 2 {
				return fmt.Errorf("got %v", got)
			}
			return nil
		})
		if got[0]["node"] == got[1]["node"] || got[0]["since"].(string) < got[1]["since"].(string) {
			t.Errorf("got %v, want two nodes, the newest first", got)
		}
		for _, v := range got {
			if v["groups"] != 1.0 || v["address"] != "127.0.0.1" || v["agent"] != "Go-http-client/1.1" || len(v["id"].(string)) != 16 || len(v) != 6 {
				t.Errorf("got %v", v)
			}
		}
		if again := here.sessions(token, "alice"); len(again) != 2 {
			t.Errorf("by the id: got %v", again)
		}
		if a := here.do(request{method: "POST", path: "/v1/users/alice/disconnect", user: "alice"}); a.status != 204 {
			t.Errorf("got %d %s", a.status, a.body)
		}
		for _, conn := range conns {
			closes(t, "a socket", conn, 4408)
		}
		if got := hello(t, other, `{"op":"ack","group":"g","id":1,"ref":"r"}`); !strings.Contains(got, `"ref":"r"`) {
			t.Errorf("the socket of another user: got %s", got)
		}
		p.mute(false)
		p.nodes[1].live(token, "") // may connect again
		here.operator("POST", "/v1/users/alice/disconnect", "")
		harness.Eventually(t, time.Minute, "no session is left", func() error {
			if got := here.sessions(token, "me"); len(got) != 0 {
				return fmt.Errorf("got %v", got)
			}
			return nil
		})
	}
}

// TestSessionsOfADeadNode: a node that died a moment ago keeps nobody waiting for long, and its sessions are left out.
func TestSessionsOfADeadNode(t *testing.T) {
	p := startPair(t)
	token := issued(t, "alice", time.Now())
	p.nodes[0].live(token, "")
	harness.Eventually(t, time.Minute, "the session is reported", func() error {
		found, _ := p.redis.Do("KEYS", "chat:*:live").([]any)
		if len(found) != 1 {
			return fmt.Errorf("got %v", found)
		}
		live := fmt.Sprint(found[0])
		p.redis.Do("ZADD", live, "0", "dead alice")
		p.redis.Do("ZADD", strings.TrimSuffix(live, "live")+"nodes", fmt.Sprint(time.Now().Add(time.Hour).UnixMilli()), "dead")
		return nil
	})
	began := time.Now()
	if got := p.nodes[1].sessions(token, "me"); len(got) != 1 {
		t.Errorf("got %v, want the one that lives", got)
	}
	t.Logf("the list took %v", time.Since(began).Round(time.Millisecond))
}
