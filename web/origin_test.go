package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/internal/node"
)

// TestOriginsBehindProxies: the socket, CORS and the development sign-in decide alike what the server's own origin is, and a
// refusal is in the log with the setting.
func TestOriginsBehindProxies(t *testing.T) {
	open := func(s *server, header map[string]string) int {
		t.Helper()
		h := http.Header{}
		for name, value := range header {
			h.Set(name, value)
		}
		dialer := websocket.Dialer{Subprotocols: []string{"chatd.v1"}}
		conn, answer, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+"/v1/ws", h)
		if answer == nil {
			t.Fatal(err)
		}
		if conn != nil {
			_ = conn.Close()
		}
		return answer.StatusCode
	}
	preflight := func(s *server, header map[string]string) int {
		t.Helper()
		asks := map[string]string{"Access-Control-Request-Method": "POST"}
		for name, value := range header {
			asks[name] = value
		}
		return s.do(request{method: "OPTIONS", path: "/v1/groups", header: asks}).status
	}
	trusting := start(t, func(c *node.Config) { c.TrustedProxies = []string{"10.0.0.0/8", " 127.0.0.1"} })
	wary := start(t, nil)
	for name, header := range map[string]map[string]string{
		"Traefik":       {"Host": "chat.example.com", "X-Forwarded-Proto": "wss"},
		"two proxies":   {"Host": "chat.example.com", "X-Forwarded-Proto": "https,http"},
		"default port":  {"Host": "chat.example.com:443", "X-Forwarded-Proto": "https"},
		"Forwarded":     {"Host": "inside:8080", "Forwarded": "proto=https;host=chat.example.com"},
		"another Host":  {"Host": "inside:8080", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "chat.example.com"},
		"scheme of TLS": {"Host": "chat.example.com", "X-Forwarded-Proto": "HTTPS"},
	} {
		header["Origin"] = "https://chat.example.com"
		if socket, cors := open(trusting, header), preflight(trusting, header); socket != http.StatusSwitchingProtocols || cors != http.StatusNoContent {
			t.Errorf("%s: a socket %d, a preflight %d", name, socket, cors)
		}
		if socket, cors := open(wary, header), preflight(wary, header); socket != http.StatusForbidden || cors != http.StatusForbidden {
			t.Errorf("%s, of nobody who is trusted: a socket %d, a preflight %d", name, socket, cors)
		}
	}
	if trusting.close(); strings.Contains(trusting.log.String(), "CHATD_ORIGINS") {
		t.Errorf("the log of a server that refused nothing: %s", trusting.log)
	}
	// $host of nginx has no port, so it cannot match.
	if status := open(wary, map[string]string{"Host": "127.0.0.1", "Origin": wary.url}); status != http.StatusForbidden {
		t.Errorf("a host without its port: %d", status)
	}
	wary.close()
	for _, from := range []string{"https://chat.example.com", wary.url} {
		warned := 0
		for line := range strings.Lines(wary.log.String()) {
			if strings.Contains(line, "level=WARN") && strings.Contains(line, "CHATD_TRUSTED_PROXIES") && strings.Contains(line, "origin="+from+" ") {
				warned++
			}
		}
		if warned != 1 {
			t.Errorf("%d warnings of %s: %s", warned, from, wary.log)
		}
	}

	dev := start(t, func(c *node.Config) { c.JWTSecret, c.Dev, c.TrustedProxies = "", "on", []string{"127.0.0.1"} })
	_, code, _ := strings.Cut(dev.node.SignInLink(), "#code=")
	for scheme, want := range map[string]int{"https": 200, "wss": 200, "http": 403} {
		a := dev.do(request{method: "POST", path: "/v1/dev/token", body: `{"user":"alice","code":"` + code + `"}`, header: map[string]string{
			"Host": "localhost:443", "Origin": "https://localhost", "X-Forwarded-Proto": scheme,
		}})
		if a.status != want {
			t.Errorf("development sign-in by %s: %d %s", scheme, a.status, a.body)
		}
	}
}
