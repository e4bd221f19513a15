package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/origin"
)

// slowServer serves GET /v1/doctor in 10 ms and works on 10 requests at once: 1,000 a second. A token is its user.
func slowServer() *Server {
	verify := func(_ context.Context, c auth.Credentials) (auth.Identity, error) {
		return auth.Identity{User: c.Token, Admin: true}, nil
	}
	return New(Services{Chat: chat.New(nil, chat.Options{})}, verify, Options{
		Limits: chat.DefaultLimits(), ServeMetrics: true, Origins: origin.New([]string{"https://example.org"}, nil, nil),
		Line:   admission.New(admission.Options{Max: 10, Min: 10, Probe: 10, LineMax: 1000}),
		Static: map[string][]byte{"index.html": []byte("<p>")},
		Doctor: slowDoctor{},
	})
}

type slowDoctor struct{ Doctor }

func (slowDoctor) Check(context.Context) (api.DoctorReport, error) {
	<-time.After(10 * time.Millisecond)
	return api.DoctorReport{}, nil
}

func (s *Server) ask(ctx context.Context, path, user string) *httptest.ResponseRecorder {
	return s.askFrom(ctx, "", path, user)
}

func (s *Server) askFrom(ctx context.Context, origin, path, user string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+user)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// TestWaitsFitProxies: a call waits for less than the 60 s after which proxies give up, however long it asks for.
func TestWaitsFitProxies(t *testing.T) {
	s := slowServer()
	for asked, want := range map[int64]time.Duration{0: 0, 25: 25 * time.Second, 50: 50 * time.Second, 51: 50 * time.Second, 60: 50 * time.Second, 1 << 62: 50 * time.Second} {
		if got := s.waitOf(&asked); got != want {
			t.Errorf("wait_s %d: %s", asked, got)
		}
	}
}

// TestOverload floods a server with five times what it can serve: as much as it can is served, the rest is refused at once,
// and another user, a client without a token, and probes notice nothing.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowServer()
		var mu sync.Mutex
		var asking sync.WaitGroup
		count := map[int]int{}
		settled := time.Now().Add(4 * time.Second) // before it is known that this is no burst, and until that was served
		flood := func(i int) {
			began := time.Now()
			origin := []string{"", "", "https://example.org"}[i%3]
			w := s.askFrom(t.Context(), origin, "/v1/doctor", fmt.Sprint("mallory-", i%4))
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			if began.Before(settled) {
				return
			}
			count[w.Code]++
			switch w.Code {
			case http.StatusOK:
				if took > 100*time.Millisecond {
					t.Errorf("a request was admitted and took %s", took)
				}
			case http.StatusServiceUnavailable:
				after, err := strconv.Atoi(w.Header().Get("Retry-After"))
				if err != nil || after < 1 || after > 4 || !strings.Contains(w.Body.String(), `"code":"unavailable"`) {
					t.Errorf("refused with Retry-After %q: %s", w.Header().Get("Retry-After"), w.Body)
				}
				if took > 0 {
					t.Errorf("refused after %s", took)
				}
				h := w.Header()
				if h.Get("Access-Control-Allow-Origin") != origin || h.Get("Vary") != "Origin" || h.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("from origin %q: refused with the header %v", origin, h)
				}
			}
		}
		innocent := func(path, user string) {
			began := time.Now()
			if w := s.ask(t.Context(), path, user); w.Code != http.StatusOK || time.Since(began) > 100*time.Millisecond {
				t.Errorf("%s for %q: %d after %s", path, user, w.Code, time.Since(began))
			}
		}
		for ms := range 10_000 {
			for i := range 5 {
				asking.Go(func() { flood(i + ms) })
			}
			if ms%50 == 0 {
				asking.Go(func() { innocent("/v1/doctor", "alice") })
				asking.Go(func() { innocent("/", "") })
				asking.Go(func() { innocent("/livez", "") })
				asking.Go(func() { innocent("/readyz", "") })
				asking.Go(func() { innocent("/metrics", "") })
			}
			<-time.After(time.Millisecond)
		}
		asking.Wait()
		if got, want := count[http.StatusOK], 6*1000*9/10; got < want {
			t.Errorf("%d were served, want %d", got, want)
		}
		if count[http.StatusServiceUnavailable] == 0 || len(count) != 2 {
			t.Errorf("answers by status: %v", count)
		}
		metrics := s.ask(t.Context(), "/metrics", "").Body.String()
		for _, name := range []string{`chatd_errors_total{code="unavailable"}`, `chatd_http_requests_total{method="GET",route="/v1/doctor",status="503"}`} {
			if !strings.Contains(metrics, name) {
				t.Errorf("%s is not in the metrics", name)
			}
		}
	})
}

// TestClientGoneFromLine: a client that goes away while it waits leaves the line, and nobody is answered.
func TestClientGoneFromLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowServer()
		for i := range 10 { // half of the slots each
			go s.ask(t.Context(), "/v1/doctor", fmt.Sprint("mallory-", i%2))
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if w := s.ask(ctx, "/v1/doctor", "alice"); w.Body.Len() > 0 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		<-time.After(time.Second)
	})
}
