package web_test

import (
	"net/http"
	"testing"

	"github.com/chatd/chatd/internal/node"
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
