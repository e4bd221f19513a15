package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
)

// TestRateOfSends: what is refused says so in full, is not stored, and concerns nobody else.
func TestRateOfSends(t *testing.T) {
	s := start(t, func(c *node.Config) { c.RateUser, c.RateSend = "1/s:500", "1/h:3" })
	first := s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","root"]}`) // 1, and 1 for its members
	if got, want := first.header.Get("RateLimit"), `"user";r=496;t=4, "send";r=1;t=7200`; got != want {
		t.Errorf("RateLimit of a creation: got %s, want %s", got, want)
	}
	post := request{method: "POST", path: "/v1/groups/g/messages", body: `{"body":"hi"}`, user: "alice"}
	if a := s.do(post); a.status != http.StatusCreated {
		t.Fatalf("the last send that is allowed: %d %s", a.status, a.body)
	}
	for _, r := range []request{
		post,
		{method: "POST", path: "/v1/groups/g/messages", body: `{"kind":"reaction","target":4,"emoji":":+1:"}`, user: "alice"},
		{method: "POST", path: "/v1/users/bob/messages", body: `{"body":"hi"}`, user: "alice"},
		{method: "PUT", path: "/v1/groups/g/members/cid", user: "alice"},
		{method: "PATCH", path: "/v1/groups/g", body: `{"name":"x"}`, user: "alice"},
		{method: "POST", path: "/v1/groups", body: `{"id":"other"}`, user: "alice"},
	} {
		a := s.do(r)
		checkProblem(t, r.method+" "+r.path, a, http.StatusTooManyRequests, "rate_limited")
		if after, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || after < 3590 || after > 3600 {
			t.Errorf("%s: Retry-After %q, want an hour", r.path, a.header.Get("Retry-After"))
		}
		if got := a.header.Get("RateLimit"); !strings.Contains(got, `"send";r=0;t=`) || !strings.Contains(got, `"user";r=4`) {
			t.Errorf("%s: RateLimit %q", r.path, got)
		}
		if got, want := a.header.Get("RateLimit-Policy"), `"user";q=500;w=500, "send";q=3;w=10800`; got != want {
			t.Errorf("%s: RateLimit-Policy %q, want %q", r.path, got, want)
		}
	}
	post.user = "bob"
	if a := s.do(post); a.status != http.StatusCreated {
		t.Errorf("another user: %d %s", a.status, a.body)
	}
	if g := s.must("alice", "GET", "/v1/groups/g", ""); g.field("last") != 4. || g.field("members") != 3. || g.field("name") != "" {
		t.Errorf("something refused was done: %s", g.body)
	}
	post.user, post.role = "root", "admin"
	for range 5 {
		if a := s.do(post); a.status >= 400 || a.header.Get("RateLimit") != "" {
			t.Errorf("an operator: %d %s", a.status, a.body)
		}
	}
}

// TestTogglesPushOutNoMoreThanSends: all the toggles of a reaction that a burst allows leave the unread messages of a reader who is
// that much less than backlog_max behind, as as many sends do. The next entry, of any member, passes the reader by.
func TestTogglesPushOutNoMoreThanSends(t *testing.T) {
	const backlog, burst = 30, 8
	s := start(t, func(c *node.Config) { c.RateSend, c.Archive = "1/h:8", "off" })
	for member, entry := range map[string]func(n int) string{
		"sender": func(int) string { return `{"body":"x"}` },
		"toggler": func(n int) string {
			return fmt.Sprintf(`{"kind":"reaction","target":3,"emoji":":+1:","removed":%v}`, n%2 == 1)
		},
	} {
		group := "/v1/groups/" + member
		call := func(user, role, method, path, body string) int {
			return s.do(request{method: method, path: path, body: body, user: user, role: role}).status
		}
		call("op", "admin", "POST", "/v1/groups", fmt.Sprintf(`{"id":%q,"members":["reader",%q],"keep":0,"backlog_max":%d}`, member, member, backlog))
		s.must("op", "POST", group+"/ack", `{"id":2}`)
		s.must("reader", "POST", group+"/ack", `{"id":2}`)
		const unread = backlog - burst
		for range unread {
			call("op", "admin", "POST", group+"/messages", `{"body":"unread"}`)
		}
		s.must(member, "POST", group+"/ack", fmt.Sprintf(`{"id":%d}`, 2+unread))
		refused := 0
		for n := range 5 * burst {
			if call(member, "", "POST", group+"/messages", entry(n)) == http.StatusTooManyRequests {
				refused++
			}
		}
		trim := func() { s.must("op", "POST", group+"/ack", `{"id":2}`) }
		trim()
		held := s.messages("reader", group+"/messages?after=2&limit=1000")
		if len(held) != backlog || held[0]["id"] != 3. || refused != 4*burst {
			t.Errorf("%s: %d of %d are refused, and of %d unread messages and %d more the reader has %d", member, refused, 5*burst, unread, burst, len(held))
		}
		call("op", "admin", "POST", group+"/messages", `{"body":"one more"}`)
		trim()
		if first := s.must("reader", "GET", group, "").field("first"); first != 3.+unread {
			t.Errorf("%s: with one more the log begins with %v, want what others have not seen", member, first)
		}
	}
}

// TestRateOfCalls: calls weigh what they cost.
func TestRateOfCalls(t *testing.T) {
	s := start(t, func(c *node.Config) { c.RateUser = "1/h:24" })
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`) // 3
	a := s.must("alice", "GET", "/v1/groups/g/messages?limit=500", "")
	if got := a.header.Get("RateLimit"); !strings.HasPrefix(got, `"user";r=10;`) { // 1 + 500/50
		t.Errorf("RateLimit after a page of 500: %q", got)
	}
	body := `{"ack":{"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1}}`
	r := request{method: "POST", path: "/v1/sync", body: body, user: "alice"} // 2, and 2 for its page, and 7 acks
	checkProblem(t, "a sync of many groups", s.do(r), http.StatusTooManyRequests, "rate_limited")
	s.must("alice", "POST", "/v1/sync", `{"limit":10}`)
}

// TestRateOfGroups: a call costs the groups that it looks at, however little it asks for; `only` says which these are.
func TestRateOfGroups(t *testing.T) {
	s := start(t, func(c *node.Config) { c.RateUser = "1/m:1000" })
	const groups = 100
	for i := range groups {
		a := s.do(request{method: "POST", path: "/v1/groups", user: "op", role: "admin", body: fmt.Sprintf(`{"id":"g%d"}`, i)})
		if a.status != http.StatusCreated {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	left := 1000
	for _, c := range []struct {
		method, path, body string
		units              int
	}{
		{"POST", "/v1/sync", `{"limit":1}`, 2 + groups*(1+4)/50}, // all of them have something new
		{"POST", "/v1/sync", `{"limit":1}`, 2 + groups*(1+4)/50}, // now it is known before
		{"POST", "/v1/sync", `{"limit":1,"only":[]}`, 2},
		{"POST", "/v1/sync", `{"limit":1,"only":["g1"]}`, 2},
		{"GET", "/v1/unread", "", 3 + groups*(1+4)/50},
		{"GET", "/v1/groups?limit=1", "", 1 + groups/50},
		{"GET", "/v1/search?q=x&limit=1", "", 10 + groups*4/50},
		{"GET", "/v1/me", "", 1},
	} {
		a := s.must("op", c.method, c.path, c.body)
		left -= c.units
		if got, want := a.header.Get("RateLimit"), fmt.Sprintf(`"user";r=%d;`, left); !strings.HasPrefix(got, want) {
			t.Errorf("%s %s %s: RateLimit %s, want %s", c.method, c.path, c.body, got, want)
		}
	}
}

// TestRateOfAddresses: wrong tokens and pages count, valid tokens and probes do not; addresses come from trusted proxies.
func TestRateOfAddresses(t *testing.T) {
	s := start(t, func(c *node.Config) { c.RateIP, c.TrustedProxies = "1/h:3", []string{"127.0.0.1"} })
	from := func(addr, path, token string) answer {
		h := map[string]string{"X-Forwarded-For": addr}
		if token != "" {
			h["Authorization"] = "Bearer " + token
		}
		return s.do(request{method: "GET", path: path, header: h})
	}
	if a := from("192.0.2.1", "/v1/groups", "x.y.z"); a.status != http.StatusUnauthorized || a.header.Get("RateLimit") != `"ip";r=2;t=3600` {
		t.Errorf("a wrong token: %d, RateLimit %q", a.status, a.header.Get("RateLimit"))
	}
	from("192.0.2.1", "/", "")
	from("192.0.2.1", "/nothing", "")
	for _, path := range []string{"/v1/groups", "/", "/nothing", "/docs"} {
		checkProblem(t, path, from("192.0.2.1", path, ""), http.StatusTooManyRequests, "rate_limited")
	}
	if a := from("192.0.2.1", "/v1/groups", token(t, "alice", "")); a.status != http.StatusOK {
		t.Errorf("a valid token from an address that is refused: %d %s", a.status, a.body)
	}
	for addr, want := range map[string]int{"192.0.2.2": 200, "192.0.2.1": 429, "::ffff:192.0.2.1": 429, "127.0.0.1": 200} {
		if a := from(addr, "/", ""); a.status != want {
			t.Errorf("from %s: got %d, want %d", addr, a.status, want)
		}
	}
	if a := from("192.0.2.1", "/readyz", ""); a.status != http.StatusOK {
		t.Errorf("a probe: %d", a.status)
	}
	for i := range 4 { // one network of 64 bits
		if a := from(fmt.Sprintf("2001:db8::%d:1", i), "/", ""); (a.status == 429) != (i == 3) {
			t.Errorf("address %d of a /64: %d", i, a.status)
		}
	}
}

// TestPollsAtOnce: a user's polls are counted, and nobody else's.
func TestPollsAtOnce(t *testing.T) {
	s := start(t, func(c *node.Config) { c.MaxPolls, c.MaxCalls = "3", "1" })
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	s.must("alice", "POST", "/v1/groups/g/ack", `{"id":2}`)
	poll := request{method: "POST", path: "/v1/sync", body: `{"after":{"g":2},"wait_s":60}`, user: "alice"}
	type polled struct {
		answer
		took time.Duration
	}
	answers := make(chan polled)
	begin := time.Now()
	for range 5 {
		go func() { a := s.do(poll); answers <- polled{a, time.Since(begin)} }()
	}
	for range 2 { // the others wait by now: they were counted before
		checkProblem(t, "one poll too many", (<-answers).answer, http.StatusTooManyRequests, "rate_limited")
	}
	// A call that waits is not under way: with one at a time, alice still sends.
	s.must("bob", "POST", "/v1/sync", `{"wait_s":0}`)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"hi"}`)
	for range 3 {
		if a := <-answers; a.status != http.StatusOK || !strings.Contains(a.body, `"hi"`) || a.took > 30*time.Second {
			t.Errorf("a poll: %d after %s: %s", a.status, a.took, a.body)
		}
	}
	poll.body = `{"after":{"g":3}}`
	if a := s.do(poll); a.status != http.StatusOK {
		t.Errorf("after the polls: %d %s", a.status, a.body)
	}
}

// slowCall begins a call whose body does not come.
func (s *server) slowCall(user string) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.node.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST /v1/sync HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\nAuthorization: Bearer %s\r\n\r\n", token(s.t, user, "")); err != nil {
		s.t.Fatal(err)
	}
	// The server asks for the body when the handler reads it: the call is under way.
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		s.t.Fatalf("got %q, %v; want 100 Continue", line, err)
	}
	return conn
}

// TestCallsAtOnce: calls that hang hold up those of their user alone.
func TestCallsAtOnce(t *testing.T) {
	s := start(t, func(c *node.Config) { c.MaxCalls = "2" })
	s.slowCall("mallory")
	last := s.slowCall("mallory")
	get := request{method: "GET", path: "/v1/groups", user: "mallory"}
	a := s.do(get)
	checkProblem(t, "a third call", a, http.StatusTooManyRequests, "rate_limited")
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
	}
	for range 10 {
		s.must("alice", "GET", "/v1/groups", "")
	}
	if _, err := io.WriteString(last, "{}"); err != nil {
		t.Fatal(err)
	}
	if a := s.do(get); a.status != http.StatusOK { // it may wait for its turn
		t.Errorf("after one of them has ended: %d %s", a.status, a.body)
	}
}

// TestWaitingHoldsNoTurn: on a node that works on one call at once, polls that wait, calls whose body does not come and
// sockets without a command hold nobody up.
func TestWaitingHoldsNoTurn(t *testing.T) {
	s := start(t, func(c *node.Config) { c.MaxCallsNode = "1" })
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	m := s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"hi"}`)
	s.must("alice", "POST", "/v1/groups/g/ack", fmt.Sprintf(`{"id":%v}`, m.field("id")))
	answers := make(chan answer, 4)
	for range 2 {
		go func() {
			answers <- s.do(request{method: "POST", path: "/v1/sync", body: `{"wait_s":60}`, user: "alice"})
		}()
		go func() {
			answers <- s.do(request{method: "GET", path: fmt.Sprintf("/v1/groups/g/messages/%v/receipts?wait_s=60", m.field("id")), user: "alice"})
		}()
	}
	s.slowCall("mallory")
	for range 10 {
		s.must("alice", "GET", "/v1/groups", "")
	}
	select {
	case a := <-answers:
		t.Errorf("a poll did not wait: %d %s", a.status, a.body)
	default:
	}
	s.must("bob", "POST", "/v1/groups/g/ack", fmt.Sprintf(`{"id":%v}`, m.field("id"))) // what the receipts wait for
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"hi"}`)                    // what the polls wait for
	for range cap(answers) {
		if a := <-answers; a.status != http.StatusOK {
			t.Errorf("a poll: %d %s", a.status, a.body)
		}
	}
}

// TestConnectionsOfAnAddress: one too many is told so; each that ends makes room.
func TestConnectionsOfAnAddress(t *testing.T) {
	s := start(t, func(c *node.Config) { c.MaxConnsIP = "3" })
	dial := func() net.Conn {
		conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", s.node.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		return conn
	}
	ask := func(conn net.Conn) int {
		t.Helper()
		if _, err := io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	held := []net.Conn{dial(), dial(), dial()}
	for _, conn := range held {
		if got := ask(conn); got != http.StatusOK {
			t.Fatalf("a connection within the limit: %d", got)
		}
	}
	if got := ask(dial()); got != http.StatusTooManyRequests {
		t.Errorf("one too many: %d, want 429", got)
	}
	_ = held[0].Close()
	for begin := time.Now(); ; { // the server notices the end of a connection a moment later
		if ask(dial()) == http.StatusOK {
			break
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatal("a connection that ended makes no room")
		}
	}
}
