package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/web/auth"
)

const secret = "a secret of more than thirty-two bytes"

// server is a whole node on the embedded store, reached over a real socket.
type server struct {
	t    *testing.T
	node *node.Node
	url  string
	stop context.CancelFunc
	done chan error
	log  *bytes.Buffer
}

func start(t *testing.T, change func(*node.Config)) *server {
	t.Helper()
	c, err := node.Default()
	if err != nil {
		t.Fatal(err)
	}
	c.Addr, c.Data, c.JWTSecret = "127.0.0.1:0", t.TempDir(), secret
	c.RateUser, c.RateSend, c.RateIP, c.MaxCallsNode = "off", "off", "off", "off" // for tests of everything else
	if change != nil {
		change(&c)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &server{t: t, stop: stop, done: make(chan error, 1), log: new(bytes.Buffer)}
	if s.node, err = node.Open(ctx, c, s.log); err != nil {
		stop()
		t.Fatal(err)
	}
	s.url = "http://" + s.node.Addr().String()
	go func() { s.done <- s.node.Run(ctx) }()
	t.Cleanup(s.close)
	return s
}

// close stops the node and returns when it has stopped.
func (s *server) close() {
	s.stop()
	if s.done == nil {
		return
	}
	if err := <-s.done; err != nil {
		s.t.Errorf("run: %v", err)
	}
	s.done = nil
	if err := s.node.Close(); err != nil {
		s.t.Errorf("close: %v", err)
	}
}

func token(t *testing.T, user, role string) string {
	t.Helper()
	signed, _, err := auth.SignToken([]byte(secret), auth.Claims{User: user, Role: role, TTL: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// answer is an HTTP answer read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// field returns a field of the answer's JSON object; nil where there is none.
func (a answer) field(name string) any {
	var m map[string]any
	if json.Unmarshal([]byte(a.body), &m) != nil {
		return nil
	}
	return m[name]
}

func (a answer) code() string { s, _ := a.field("code").(string); return s }

// request is one call; user "" sends no token, and a header wins over what the helper sets.
type request struct {
	method, path, body string
	user, role         string
	header             map[string]string
}

func (s *server) do(r request) answer {
	s.t.Helper()
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(context.Background(), r.method, s.url+r.path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if r.user != "" {
		req.Header.Set("Authorization", "Bearer "+token(s.t, r.user, r.role))
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := answer{resp.StatusCode, resp.Header, string(b)}
	checkConforms(s.t, r, a)
	return a
}

// must makes a call that has to succeed.
func (s *server) must(user, method, path, body string) answer {
	s.t.Helper()
	a := s.do(request{method: method, path: path, body: body, user: user})
	if a.status >= 300 {
		s.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

// checkProblem checks the shape of an error.
func checkProblem(t *testing.T, what string, a answer, status int, code string) {
	t.Helper()
	if a.status != status || a.code() != code {
		t.Errorf("%s: got %d %s, want %d %s", what, a.status, a.body, status, code)
		return
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("%s: content type %q", what, got)
	}
	for _, name := range []string{"type", "title", "detail"} {
		if s, _ := a.field(name).(string); s == "" {
			t.Errorf("%s: no %s in %s", what, name, a.body)
		}
	}
	if got, _ := a.field("status").(float64); int(got) != status {
		t.Errorf("%s: status %v in the body", what, a.field("status"))
	}
}
