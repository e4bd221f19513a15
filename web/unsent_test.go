package web_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// slowReader asks on a connection of its own, as if from far away: its kernel takes little, and it reads so many bytes a second.
func (s *server) slowReader(user, request string, perSecond int) *http.Response {
	s.t.Helper()
	return s.slowCaller(token(s.t, user, ""), request, perSecond)
}

func (s *server) slowCaller(bearer, request string, perSecond int) *http.Response {
	s.t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) {
			err = errors.Join(syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10),
				syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 1400)) // the server's buffer grows with it
		}), err)
	}}
	conn, err := dialer.DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	line, body, _ := strings.Cut(request, "\n")
	if _, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
		line, bearer, len(body), body); err != nil {
		s.t.Fatal(err)
	}
	slowly := limited{conn, rate.NewLimiter(rate.Limit(perSecond), 16<<10), s.t}
	resp, err := http.ReadResponse(bufio.NewReaderSize(slowly, 4<<10), nil)
	if err != nil {
		s.t.Error(err)
		return nil
	}
	return resp
}

type limited struct {
	io.Reader
	rate *rate.Limiter
	t    *testing.T
}

func (l limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p[:min(len(p), 4<<10)])
	if wait := l.rate.WaitN(l.t.Context(), n); wait != nil {
		return n, wait
	}
	return n, err
}

// metric reads one that has no labels.
func (s *server) metric(name string) (value float64) {
	s.t.Helper()
	for line := range strings.Lines(s.do(request{method: "GET", path: "/metrics"}).body) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				s.t.Fatal(err)
			}
			return value
		}
	}
	s.t.Fatalf("no metric %s", name)
	return 0
}

const longTexts = 120

// longGroup makes a group whose log takes almost 2 MB.
func (s *server) longGroup(admins ...string) {
	s.t.Helper()
	s.must("alice", "POST", "/v1/groups", `{"id":"g","keep":1000,"members":["`+strings.Join(admins, `","`)+`"]}`)
	for _, user := range admins {
		s.must("alice", "PUT", "/v1/groups/g/members/"+user, `{"role":"admin"}`)
	}
	body := fmt.Sprintf(`{"body":"%s"}`, strings.Repeat("x", 16000))
	for range longTexts {
		s.must("alice", "POST", "/v1/groups/g/messages", body)
	}
}

// attack has slow readers ask the same at once. It returns what the node held in the worst moment: by its own count, and of its
// heap. Meanwhile another user is served.
func (s *server) attack(readers int, read func()) (unsent, heap int64) {
	s.t.Helper()
	before, _ := inUse()
	var all sync.WaitGroup
	var done atomic.Bool
	for range readers {
		all.Go(read)
	}
	go func() { all.Wait(); done.Store(true) }()
	for tick := time.NewTicker(200 * time.Millisecond); !done.Load(); <-tick.C {
		unsent = max(unsent, int64(s.metric("chatd_unsent_bytes")))
		now, _ := inUse()
		heap = max(heap, now-before)
		s.must("other", "GET", "/v1/groups", "")
	}
	all.Wait()
	if left := s.metric("chatd_unsent_bytes"); left != 0 {
		s.t.Errorf("%v bytes are held for nobody", left)
	}
	return unsent, heap
}

// TestSlowExportsHoldLittle: 64 slow readers of a group's export have a short page each in memory, and get everything.
func TestSlowExportsHoldLittle(t *testing.T) {
	const readers, page = 64, 160 << 10
	s := start(t, nil)
	s.longGroup("bob")
	unsent, heap := s.attack(readers, func() {
		resp := s.slowReader("alice", "GET /v1/groups/g/export", 1<<20)
		if resp == nil {
			return
		}
		n := 0
		for lines := bufio.NewReader(resp.Body); ; n++ {
			if _, err := lines.ReadBytes('\n'); err != nil {
				break
			}
		}
		if resp.StatusCode != http.StatusOK || n < longTexts || resp.Trailer.Get("Chatd-Export-End") == "" {
			t.Errorf("%s, %d lines, trailer %v", resp.Status, n, resp.Trailer)
		}
	})
	t.Logf("held %d bytes unsent, %d of the heap", unsent, heap)
	if unsent == 0 || unsent > readers*page || heap > 8*readers*page {
		t.Errorf("held %d bytes unsent, %d of the heap; want at most %d and %d", unsent, heap, readers*page, 8*readers*page)
	}
}

// TestSlowAnswersHoldLittle: 40 slow readers of a full answer each have no more in memory than the share of one user. Those who wait
// too long are told so, and everybody else gets a whole answer.
func TestSlowAnswersHoldLittle(t *testing.T) {
	for what, ask := range map[string]string{
		"sync":     "POST /v1/sync\n" + `{"after":{"g":0},"limit":1000}`,
		"messages": "GET /v1/groups/g/messages?after=0&limit=1000",
	} {
		t.Run(what, func(t *testing.T) {
			const readers, share, answer = 40, 16 << 20, 1<<20 + 64<<10
			s := start(t, nil)
			s.longGroup("bob")
			var served, refused atomic.Int32
			unsent, heap := s.attack(readers, func() {
				resp := s.slowReader("alice", ask, 100<<10)
				if resp == nil {
					return
				}
				n, err := io.Copy(io.Discard, resp.Body) // as long as Content-Length says, or there is an error
				switch {
				case err != nil:
					t.Errorf("%s with %d bytes, %v", resp.Status, n, err)
				case resp.StatusCode == http.StatusOK && n > 900<<10:
					served.Add(1)
				case resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != "":
					refused.Add(1)
				default:
					t.Errorf("%s %v with %d bytes", resp.Status, resp.Header, n)
				}
			})
			t.Logf("%d served, %d refused; held %d bytes unsent, %d of the heap", served.Load(), refused.Load(), unsent, heap)
			if unsent == 0 || unsent > share+answer || heap > 6*share || served.Load() < 16 {
				t.Errorf("%d served, %d refused; held %d bytes unsent, %d of the heap", served.Load(), refused.Load(), unsent, heap)
			}
		})
	}
}
