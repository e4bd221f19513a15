package ws_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chatd/chatd/web/origin"
	"github.com/chatd/chatd/web/ws"
)

func TestWSHandshake(t *testing.T) {
	n := startWS(t, ws.SessionOptions{Origins: origin.New([]string{"https://app.example.com"}, nil, nil), SilentMax: 2, SessionsNodeMax: 4})
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
	// Another host under the server's own domain is still another site, however alike the names are.
	for origin, want := range map[string]int{
		"http://chat.example.com": http.StatusSwitchingProtocols, "http://CHAT.example.com": http.StatusSwitchingProtocols,
		"http://evil-chat.example.com": http.StatusForbidden, "http://chat.example.com.evil.com": http.StatusForbidden,
		"http://example.com": http.StatusForbidden, "http://a.chat.example.com": http.StatusForbidden, "http://chat.example.co": http.StatusForbidden,
		"http://evil.com#chat.example.com": http.StatusForbidden, "http://chat.example.com@evil.com": http.StatusForbidden,
		"http://chat.example.com:80": http.StatusSwitchingProtocols, "http://chat.example.com:81": http.StatusForbidden, "https://chat.example.com": http.StatusForbidden,
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
