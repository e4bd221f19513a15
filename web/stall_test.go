package web

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// stalling serves answers of 16 MiB, each piece of which has so long, and returns how writing the answers ended.
func stalling(t *testing.T, within time.Duration) (addr string, wrote <-chan error) {
	t.Helper()
	ended := make(chan error, 1)
	server := httptest.NewUnstartedServer(nil)
	server.Config = NewHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := (&stallWriter{ResponseWriter: w, within: within, most: time.Hour}).Write(make([]byte, 16<<20))
		ended <- err
	}), slog.New(slog.DiscardHandler))
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), ended
}

// narrowConn is a connection whose kernel buffers little of what is not read.
func narrowConn(t *testing.T, addr string) net.Conn {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10)
		}), err)
	}}
	conn, err := dialer.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// An answer that nobody takes ends long before the deadline of the server.
func TestAnswerThatNobodyTakesEnds(t *testing.T) {
	addr, wrote := stalling(t, 300*time.Millisecond)
	narrowConn(t, addr)
	select {
	case err := <-wrote:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want that the time is over", err)
		}
	case <-time.After(writeTimeout / 2):
		t.Error("the answer is still being written")
	}
}

// A client that takes a little all the time gets everything, however long that takes.
func TestAnswerThatIsTakenSlowlyArrives(t *testing.T) {
	const within = 2 * time.Second
	addr, wrote := stalling(t, within)
	conn := narrowConn(t, addr)
	begun, got := time.Now(), 0
	slowly := rate.NewLimiter(5<<20, 128<<10) // bytes a second
	for buf := make([]byte, 128<<10); ; {
		n, err := conn.Read(buf)
		if got += n; err != nil {
			break
		}
		if err := slowly.WaitN(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-wrote; err != nil || got < 16<<20 || time.Since(begun) < within {
		t.Errorf("got %d bytes in %v, %v", got, time.Since(begun), err)
	}
}
