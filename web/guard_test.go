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
	"github.com/chatd/chatd/web/origin"
)

// TestForwardedAddress sends X-Forwarded-For or Forwarded from all kinds of peers: it counts only where the configured proxies wrote
// it, however near the peer is. The address is what the log of requests shows.
func TestForwardedAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/28"), netip.MustParsePrefix("10.1.2.3/32"), netip.MustParsePrefix("2001:db8:1::/48")}
	const claimed = "198.51.100.9"
	for _, c := range []struct {
		name      string
		proxies   []netip.Prefix
		peer      string
		forwarded string // the header X-Forwarded-For, or with a = Forwarded
		want      string
	}{
		{"a proxy", proxies, "203.0.113.7:1", claimed, claimed},
		{"a proxy with one address", proxies, "10.1.2.3:1", claimed, claimed},
		{"a proxy over IPv6", proxies, "[2001:db8:1::7]:1", claimed, claimed},
		{"two proxies", proxies, "203.0.113.7:1", claimed + ", 10.1.2.3", claimed},
		{"a claim that the proxy only passed on", proxies, "203.0.113.7:1", claimed + ", 192.0.2.1", "192.0.2.1"},
		{"an unreadable claim", proxies, "203.0.113.7:1", "nonsense", "203.0.113.7"},
		{"an address with its port", proxies, "203.0.113.7:1", "[2001:db8::9]:80, " + claimed + ":4711", claimed},
		{"proxies alone", proxies, "203.0.113.7:1", "203.0.113.9, 10.1.2.3", "203.0.113.9"},
		{"Forwarded", proxies, "203.0.113.7:1", "for=" + claimed, claimed},
		{"Forwarded of two proxies", proxies, "203.0.113.7:1", "For=" + claimed + ";proto=https, for=10.1.2.3;by=_x", claimed},
		{"Forwarded over IPv6", proxies, "203.0.113.7:1", `for="[2001:db8::9]:4711"`, "2001:db8::9"},
		{"Forwarded with a port", proxies, "203.0.113.7:1", `for="` + claimed + `:4711"`, claimed},
		{"Forwarded that the proxy only passed on", proxies, "203.0.113.7:1", "for=" + claimed + ", for=192.0.2.1", "192.0.2.1"},
		{"Forwarded with an open quote", proxies, "203.0.113.7:1", `for="` + claimed + ", for=192.0.2.1", "192.0.2.1"},
		{"Forwarded of an unknown", proxies, "203.0.113.7:1", "for=" + claimed + ", for=unknown", "203.0.113.7"},
		{"Forwarded of anyone", proxies, "192.0.2.1:1", "for=" + claimed, "192.0.2.1"},
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
		s := New(Services{}, func(context.Context, auth.Credentials) (auth.Identity, error) {
			return auth.Identity{}, chat.Errorf(chat.CodeUnauthenticated, "no")
		}, Options{
			Limits: chat.DefaultLimits(), Proxies: c.proxies, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/unread", nil)
		r.RemoteAddr = c.peer
		header := "X-Forwarded-For"
		if strings.Contains(c.forwarded, "=") {
			header = "Forwarded"
		}
		r.Header.Set(header, c.forwarded)
		r.Header.Set("X-Real-Ip", claimed)
		s.Handler().ServeHTTP(httptest.NewRecorder(), r)
		if !strings.HasSuffix(log.String(), " ip="+c.want+"\n") {
			t.Errorf("%s: got %s, want ip=%s", c.name, log.String(), c.want)
		}
	}
}

// TestForwardedForBesidesForwarded: a proxy that writes X-Forwarded-For passes on what a client says in Forwarded.
func TestForwardedForBesidesForwarded(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr = "203.0.113.7:1"
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	r.Header.Set("Forwarded", "for=198.51.100.9")
	if got := origin.Proxies([]netip.Prefix{netip.MustParsePrefix("203.0.113.7/32")}).Address(r); got != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("got %s", got)
	}
}
