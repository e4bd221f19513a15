package web

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/auth"
)

// TestForwardedAddress sends X-Forwarded-For from all kinds of peers: it counts only where the configured proxies wrote
// it, however near the peer is. The address is what the log of requests shows.
func TestForwardedAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/28"), netip.MustParsePrefix("10.1.2.3/32"), netip.MustParsePrefix("2001:db8:1::/48")}
	const claimed = "198.51.100.9"
	for _, c := range []struct {
		name      string
		proxies   []netip.Prefix
		peer      string
		forwarded string
		want      string
	}{
		{"a proxy", proxies, "203.0.113.7:1", claimed, claimed},
		{"a proxy with one address", proxies, "10.1.2.3:1", claimed, claimed},
		{"a proxy over IPv6", proxies, "[2001:db8:1::7]:1", claimed, claimed},
		{"two proxies", proxies, "203.0.113.7:1", claimed + ", 10.1.2.3", claimed},
		{"a claim that the proxy only passed on", proxies, "203.0.113.7:1", claimed + ", 192.0.2.1", "192.0.2.1"},
		{"an unreadable claim", proxies, "203.0.113.7:1", "nonsense", "203.0.113.7"},
		{"anyone", proxies, "192.0.2.1:1", claimed, "192.0.2.1"},
		{"the neighbour of a proxy", proxies, "203.0.113.16:1", claimed, "203.0.113.16"},
		{"a private network", proxies, "10.1.2.4:1", claimed, "10.1.2.4"},
		{"this host", proxies, "127.0.0.1:1", claimed, "127.0.0.1"},
		{"this host over IPv6", proxies, "[::1]:1", claimed, "::1"},
		{"the same link", proxies, "169.254.1.1:1", claimed, "169.254.1.1"},
		{"the same link over IPv6", proxies, "[fe80::1]:1", claimed, "fe80::1"},
		{"no proxies", nil, "203.0.113.7:1", claimed, "203.0.113.7"},
		{"no proxies, this host", nil, "127.0.0.1:1", claimed, "127.0.0.1"},
	} {
		var log bytes.Buffer
		s := New(Services{}, func(context.Context, string) (auth.Identity, error) {
			return auth.Identity{}, chat.Errorf(chat.CodeUnauthenticated, "no")
		}, Options{
			Limits: chat.DefaultLimits(), Proxies: c.proxies, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/unread", nil)
		r.RemoteAddr = c.peer
		r.Header.Set("X-Forwarded-For", c.forwarded)
		r.Header.Set("X-Real-Ip", claimed)
		s.Handler().ServeHTTP(httptest.NewRecorder(), r)
		if !strings.HasSuffix(log.String(), " ip="+c.want+"\n") {
			t.Errorf("%s: got %s, want ip=%s", c.name, log.String(), c.want)
		}
	}
}
