package origin_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/web/origin"
)

func ask(host, peer string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/v1/ws", nil)
	r.Host, r.RemoteAddr = host, peer
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// TestSame compares by scheme, host and port, as the client asked, and believes only trusted proxies.
func TestSame(t *testing.T) {
	p := origin.New(nil, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}, nil)
	const proxy, stranger = "10.1.2.3:999", "192.0.2.1:999"
	for _, c := range []struct {
		origin, host, peer string
		header             []string
		want               bool
	}{
		{"http://x", "x", stranger, nil, true},
		{"http://x", "X", stranger, nil, true},
		{"http://x", "x:80", stranger, nil, true},
		{"http://x:80", "x", stranger, nil, true},
		{"http://x:8080", "x:8080", stranger, nil, true},
		{"http://[::1]:8080", "[::1]:8080", stranger, nil, true},
		{"http://[::1]", "[::1]:80", stranger, nil, true},
		{"http://x:8080", "x", stranger, nil, false},
		{"http://x", "x:443", stranger, nil, false},
		{"https://x", "x", stranger, nil, false},
		{"http://y", "x", stranger, nil, false},
		{"http://x.y", "x", stranger, nil, false},
		{"http://x/", "x", stranger, nil, false},
		{"http://x@y", "y", stranger, nil, false},
		{"http://y#x", "x", stranger, nil, false},
		{"http://", "", stranger, nil, false},
		{"ftp://x", "x", stranger, nil, false},
		{"null", "null", stranger, nil, false},
		{"", "", stranger, nil, false},

		{"https://x", "x", proxy, []string{"X-Forwarded-Proto", "https"}, true},
		{"https://x", "x", proxy, []string{"X-Forwarded-Proto", "wss"}, true}, // Traefik
		{"http://x", "x", proxy, []string{"X-Forwarded-Proto", "ws"}, true},
		{"https://x", "x", proxy, []string{"X-Forwarded-Proto", "HTTPS"}, true},
		{"https://x", "x", proxy, []string{"X-Forwarded-Proto", "https,http"}, true}, // two proxies
		{"https://x", "x", proxy, []string{"X-Forwarded-Proto", " https , http"}, true},
		{"https://x", "x", proxy, []string{"X-Forwarded-Proto", "https", "X-Forwarded-Proto", "http"}, true},
		{"https://x", "x:443", proxy, []string{"X-Forwarded-Proto", "https"}, true},
		{"https://x:8443", "x:8443", proxy, []string{"X-Forwarded-Proto", "https"}, true},
		{"https://x", "x", "[::1]:999", []string{"X-Forwarded-Proto", "https"}, true},
		{"https://x", "x", "[::ffff:10.1.2.3]:999", []string{"X-Forwarded-Proto", "https"}, true},
		{"http://x", "x", proxy, []string{"X-Forwarded-Proto", "https"}, false},
		{"http://x", "x", proxy, []string{"X-Forwarded-Proto", "https,http"}, false},
		{"https://x", "x", proxy, []string{"X-Forwarded-Proto", "gopher"}, false},
		{"https://x:8443", "x", proxy, []string{"X-Forwarded-Proto", "https"}, false}, // nginx's $host has no port
		{"https://x", "x", stranger, []string{"X-Forwarded-Proto", "https"}, false},

		{"https://x", "inside:8080", proxy, []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "x"}, true},
		{"https://x", "inside", proxy, []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "x:443, inside"}, true},
		{"http://x", "inside", stranger, []string{"X-Forwarded-Host", "x"}, false},
		{"https://y", "inside", proxy, []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "x"}, false},

		{"https://x", "x", proxy, []string{"Forwarded", "for=192.0.2.9;proto=https"}, true},
		{"https://x", "inside", proxy, []string{"Forwarded", "proto=https;host=x"}, true},
		{"https://x:8443", "inside", proxy, []string{"Forwarded", `For="[2001:db8::1]:4711"; Proto=https; Host="x:8443"`}, true},
		{"https://x", "inside", proxy, []string{"Forwarded", `for="a,b;c";host=x;proto=https, for=10.0.0.1;proto=http;host=inside`}, true},
		{"https://x", "inside", proxy, []string{"Forwarded", `for=192.0.2.9`, "Forwarded", `proto=https;host="\x"`}, true},
		{"https://x", "inside", proxy, []string{"Forwarded", `for=192.0.2.9;proto=https;host=x, for=10.0.0.1`}, true},
		{"https://x", "inside", proxy, []string{"Forwarded", `proto=https;host=x, for=192.0.2.9`}, false}, // what the client sent
		{"https://x", "inside", proxy, []string{"Forwarded", `for=10.0.0.9;proto=https;host=x, for=192.0.2.9;proto=http, for=10.0.0.1`}, false},
		{"https://inside", "inside", proxy, []string{"Forwarded", `host="x, for=192.0.2.9;proto=https`}, true}, // a quote that the client left open
		{"https://x", "inside", proxy, []string{"Forwarded", `for=192.0.2.9;host=x;proto=https;secret="a\"b,c;d"`}, true},
		{"http://inside", "inside", proxy, []string{"Forwarded", `proto=https;host=x`}, false},
		{"http://x", "inside", stranger, []string{"Forwarded", "host=x"}, false},
	} {
		r := ask(c.host, c.peer, append(c.header, "Origin", c.origin)...)
		if got := p.Same(r); got != c.want {
			t.Errorf("origin %s, host %s, from %s with %q: %v", c.origin, c.host, c.peer, c.header, got)
		}
	}
	encrypted := ask("x", stranger, "Origin", "https://x")
	encrypted.TLS = &tls.ConnectionState{}
	if !p.Same(encrypted) || !p.Same(ask("x", stranger)) || p.Same(ask("x", stranger, "Origin", "http://x", "Origin", "http://x")) {
		t.Error("TLS, a client that is no browser, or two origins")
	}
}

func TestAllows(t *testing.T) {
	p := origin.New([]string{"https://app.example.com", "https://port.example.com:443", "http://dev.example.com:3000"}, nil, nil)
	for from, want := range map[string]bool{
		"https://app.example.com": true, "https://port.example.com": true, "http://dev.example.com:3000": true, "http://x": true,
		"http://app.example.com": false, "https://app.example.com.evil.com": false, "https://dev.example.com:3000": false, "http://dev.example.com": false, "null": false,
	} {
		if got := p.Allows(ask("x", "192.0.2.1:9", "Origin", from)); got != want {
			t.Errorf("%s: %v", from, got)
		}
	}
}

// TestWarning: the log names an origin that is refused once an hour, with what to set, and a client that makes them up can
// fill neither the log nor the memory.
func TestWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := origin.New([]string{"http://fine"}, nil, slog.New(slog.NewTextHandler(&out, nil)))
		lines := func(about string) int { return strings.Count(out.String(), about) }
		refuse := func(from string) {
			if p.Allows(ask("x", "192.0.2.1:9", "Origin", from)) {
				t.Errorf("%s may call", from)
			}
		}
		for range 3 {
			refuse("https://x:8443")
			p.Allows(ask("x", "192.0.2.1:9", "Origin", "http://fine"))
			p.Allows(ask("x", "192.0.2.1:9"))
		}
		refuse("https://y")
		for _, want := range []string{"level=WARN", "CHATD_ORIGINS", "CHATD_TRUSTED_PROXIES", "https://x:8443", "http://x", "192.0.2.1:9"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the warning does not contain %s: %s", want, out.String())
			}
		}
		if lines("origin=") != 2 {
			t.Errorf("got %s", out.String())
		}
		<-time.After(time.Hour)
		refuse("https://x:8443")
		refuse("https://x:8443")
		if lines("origin=https://x:8443") != 2 {
			t.Errorf("an hour later: %s", out.String())
		}
		out.Reset()
		for i := range 1000 {
			refuse(fmt.Sprint("https://made-up-", i, strings.Repeat("x", 10_000)))
		}
		if n := lines("\n"); n < 50 || n > 101 || out.Len() > 100*1024 {
			t.Errorf("%d lines of %d bytes for 1,000 origins", n, out.Len())
		}
		out.Reset()
		<-time.After(time.Minute)
		refuse("https://among-many")
		refuse("https://one-more")
		if lines("\n") != 1 || lines("origin=https://among-many") != 1 || lines("others=900") != 1 {
			t.Errorf("of an origin after 1,000 others, the log says %q", out.String())
		}
		<-time.After(time.Hour)
		refuse("https://later")
		if lines("https://later") != 1 {
			t.Error("an hour later, the log names no origin any more")
		}
	})
}
