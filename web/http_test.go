package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/web/auth"
)

func TestHead(t *testing.T) {
	s := start(t, func(c *node.Config) { c.AdminAddr = "127.0.0.1:0" })
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	for _, path := range []string{"/", "/docs", "/openapi.yaml", "/livez", "/readyz", "/v1/groups", "/v1/groups/g", "/v1/groups/g/messages", "/v1/groups/absent"} {
		get := s.do(request{method: "GET", path: path, user: "alice"})
		head := s.do(request{method: "HEAD", path: path, user: "alice"})
		if head.status != get.status || head.body != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %q, GET %d", path, head.status, head.body, get.status)
		}
	}
	if a := s.do(request{method: "OPTIONS", path: "/v1/groups/g"}); a.status != http.StatusNoContent || !strings.Contains(a.header.Get("Allow"), "GET, HEAD") {
		t.Errorf("OPTIONS: %d, Allow names %s", a.status, a.header.Get("Allow"))
	}
	if a := s.do(request{method: "POST", path: "/docs"}); a.status != http.StatusMethodNotAllowed || !strings.Contains(a.header.Get("Allow"), "HEAD") {
		t.Errorf("POST of a page: %d, Allow names %s", a.status, a.header.Get("Allow"))
	}
	if a := s.do(request{method: "HEAD", path: "/v1/sync", user: "alice"}); a.status != http.StatusMethodNotAllowed {
		t.Errorf("HEAD /v1/sync: %d", a.status)
	}
	s.url = "http://" + s.node.AdminAddr().String()
	if a := s.do(request{method: "HEAD", path: "/readyz"}); a.status != http.StatusOK {
		t.Errorf("HEAD /readyz on the operators' address: %d", a.status)
	}
}

func TestSpellingsOfBearer(t *testing.T) {
	s := start(t, nil)
	signed := token(t, "alice", "")
	for value, want := range map[string]int{
		"Bearer " + signed: 200, "bearer " + signed: 200, "Bearer   " + signed: 200,
		"Bearer": 401, "Bearer  ": 401, "Bearer" + signed: 401, signed: 401, "Basic " + signed: 401, "Bearer " + signed + " x": 401,
	} {
		if a := s.do(request{method: "GET", path: "/v1/groups", header: map[string]string{"Authorization": value}}); a.status != want {
			t.Errorf("%.10s…: %d, want %d", value, a.status, want)
		}
	}
}

// TestRefusedTokensAreExplained: the holder of a token that is refused reads why, and under which code.
func TestRefusedTokensAreExplained(t *testing.T) {
	s := start(t, nil)
	signed := func(secret string, c auth.Claims) string {
		token, _, err := auth.SignToken([]byte(secret), c, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + token
	}
	for _, c := range []struct{ header, detail string }{
		{"", "no token: want the header Authorization: Bearer <token>"},
		{"Basic YTpi", "the Authorization header must be one, of the form Bearer <token>"},
		{"Bearer x", "token is malformed"},
		{signed("another secret of at least 32 bytes", auth.Claims{User: "alice", TTL: time.Hour}), "token signature is invalid"},
		{signed(secret, auth.Claims{User: "alice", TTL: -time.Hour}), "token expired at 2"},
		{signed(secret, auth.Claims{User: "a b", TTL: time.Hour}), "token sub is not a user id"},
	} {
		header := map[string]string{"Authorization": c.header}
		if c.header == "" {
			header = nil
		}
		a := s.do(request{method: "GET", path: "/v1/unread", header: header})
		checkProblem(t, c.detail, a, http.StatusUnauthorized, "unauthenticated")
		if detail, _ := a.field("detail").(string); !strings.HasPrefix(detail, c.detail) {
			t.Errorf("%.20q: got the detail %q, want %q", c.header, detail, c.detail)
		}
	}
}
