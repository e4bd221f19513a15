package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// here allows the networks that these tests' receivers listen on.
var here = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestAllowedNetworks(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "hello") })
	answer, err := Client(here, AnswerBytesMax).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); string(body) != "hello" || err != nil {
		t.Errorf("got %q, %v", body, err)
	}
	if err := get(Client(nil, AnswerBytesMax), s.URL); !errors.Is(err, ErrPlain) {
		t.Errorf("got %v, want %v", err, ErrPlain)
	}
	for url, taken := range map[string]bool{s.URL: true, "https://127.0.0.1:5000/": true, "http://receiver.example:9/": true,
		"http://10.0.0.1/": false, "http://1.1.1.1/": false, "https://10.0.0.1/": false, "https://[::ffff:127.0.0.1]:9/": true} {
		if _, err := CheckURL(url, here); (err == nil) != taken {
			t.Errorf("%s: got %v, want taken: %v", url, err, taken)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var followed atomic.Int64
	target := serve(t, func(http.ResponseWriter, *http.Request) { followed.Add(1) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, status) })
		answer, err := Client(here, AnswerBytesMax).Post(s.URL, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != status {
			t.Errorf("got %d, want %d", answer.StatusCode, status)
		}
	}
	if n := followed.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestNoProxy(t *testing.T) {
	var asked atomic.Int64
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	client := newClient(resolver(t, func(string) []netip.Addr { return nil }), newGuard(here).control, AnswerBytesMax, time.Second)
	for _, url := range []string{"http://hooks.example/", "https://hooks.example/"} {
		if err := get(client, url); err == nil {
			t.Errorf("%s: got an answer", url)
		}
	}
	if by := client.Transport.(schemes); by.plain.Proxy != nil || by.secure.Proxy != nil {
		t.Error("a proxy is set")
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

func TestAnswersAreCapped(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscan(r.URL.Query().Get("n"), &n)
		if r.URL.Path == "/header" {
			w.Header().Set("X-Long", strings.Repeat("x", n))
			return
		}
		io.CopyN(w, endless{}, int64(n)) //nolint:errcheck // the client hangs up
	})
	secure := httptest.NewUnstartedServer(s.Config.Handler)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	client := Client(here, AnswerBytesMax)
	client.Transport.(schemes).secure.TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	for _, base := range []string{s.URL, secure.URL} {
		for n, want := range map[int]error{0: nil, AnswerBytesMax: nil, AnswerBytesMax + 1: ErrAnswerTooLarge, 1 << 30: ErrAnswerTooLarge} {
			answer, err := client.Get(fmt.Sprintf("%s/?n=%d", base, n))
			if err != nil {
				t.Fatal(err)
			}
			read, err := io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if !errors.Is(err, want) || read != int64(min(n, AnswerBytesMax)) {
				t.Errorf("%s, %d bytes: got %d and %v, want %v", answer.Proto, n, read, err, want)
			}
		}
		if err := get(client, base+"/header?n=4096"); err == nil || !strings.Contains(err.Error(), "answered 200") {
			t.Errorf("got %v for a short header", err)
		}
		if err := get(client, base+"/header?n=32768"); err == nil || strings.Contains(err.Error(), "answered") {
			t.Errorf("got %v for a long header, want a refusal", err)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// TestTimeIsBounded has receivers that accept the connection and send nothing, that never end their header, and that
// never end their body.
func TestTimeIsBounded(t *testing.T) {
	if c := Client(nil, AnswerBytesMax); c.Timeout != 15*time.Second {
		t.Errorf("got %s in total, want 15 s", c.Timeout)
	}
	for name, say := range map[string]string{"silent": "", "header": "HTTP/1.1 200 OK\r\nX-A: ", "body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			defer func() { _ = listener.Close() }()
			go func() {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					fmt.Fprint(c, say) //nolint:errcheck // the client hangs up
				}
				<-ctx.Done()
			}()
			client := newClient(net.DefaultResolver, newGuard(here).control, AnswerBytesMax, 100*time.Millisecond)
			began := time.Now()
			answer, err := client.Get("http://" + listener.Addr().String())
			if err == nil {
				_, err = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(began) > 5*time.Second {
				t.Errorf("got %v after %s, want a timeout after 100 ms", err, time.Since(began))
			}
		})
	}
}

// TestNoOtherProtocol has a receiver that switches to another protocol and then sends nothing: reads from such a
// connection would outlive the request's timeout.
func TestNoOtherProtocol(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n") //nolint:errcheck // the client hangs up
		<-release
	})
	defer close(release)
	client := newClient(net.DefaultResolver, newGuard(here).control, AnswerBytesMax, 5*time.Second)
	ended := make(chan error, 1)
	go func() {
		answer, err := client.Get(s.URL)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, errSwitch) {
			t.Errorf("got %v, want %v", err, errSwitch)
		}
	case <-time.After(20 * time.Second):
		t.Error("the request has not ended")
	}
}
