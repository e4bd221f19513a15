package blob

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/internal/s3test"
)

var gateway = flag.String("versitygw", "", "the binary of a real S3 server: TestS3Conforms runs against it, and not against one in memory")

// startFakeS3 serves over TLS, so that bodies are sent as they are.
func startFakeS3(t *testing.T) (f *s3test.Server, url string, transport http.RoundTripper) {
	t.Helper()
	f = s3test.New()
	server := httptest.NewTLSServer(f)
	t.Cleanup(server.Close)
	return f, "s3://key:secret@bucket/pre/fix?region=us-east-1&endpoint=" + strings.TrimPrefix(server.URL, "https://"), server.Client().Transport
}

func opensBucket(url string, transport http.RoundTripper) func(t *testing.T) files.Blobs {
	return func(t *testing.T) files.Blobs {
		t.Helper()
		b, err := openS3(t.Context(), url, transport)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func TestS3Conforms(t *testing.T) {
	if *gateway != "" {
		conforms(t, opensBucket(startGateway(t), nil))
		return
	}
	fake, url, transport := startFakeS3(t)
	conforms(t, opensBucket(url, transport))
	leavesNothing(t, fake, opensBucket(url, transport)(t))
}

// leavesNothing removes all that is listed: then the bucket holds its marker alone.
func leavesNothing(t *testing.T, fake *s3test.Server, s files.Blobs) {
	t.Helper()
	for _, item := range all(t, s, 7) {
		if err := s.Remove(t.Context(), item.ID); err != nil {
			t.Fatal(err)
		}
	}
	if objects, uploads := fake.Left(); objects != 1 || uploads != 0 {
		t.Errorf("%d objects and %d multipart uploads are left", objects, uploads)
	}
}

// startGateway starts a real S3 server, and returns the address of a bucket in it.
func startGateway(t *testing.T) (url string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "bucket"), 0o755); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	cmd := exec.Command(*gateway, "--port", address, "--access", "key", "--secret", "secret", "--quiet", "posix", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	awaitListener(t, address)
	return "s3://key:secret@bucket/pre/fix?region=us-east-1&tls=false&endpoint=" + address
}

func awaitListener(t *testing.T, address string) {
	t.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for range 1000 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		<-ticks.C
	}
	t.Fatalf("nobody listens on %s", address)
}

func TestURLsOfBuckets(t *testing.T) {
	for _, url := range []string{
		"s3://", "s3://key:hunter2@b", "s3://key:hunter2@/b?endpoint=host", "s3://key:hunter2@b?endpoint=host&tls=maybe", "s3://key:hunter2@b?endpoint=host&part=5",
		"s3://key:hunter2@b?endpoint=host&presign=yes", "s3://key:hunter2%zz@b?endpoint=host", "dir:", "http://host/b", "",
	} {
		_, err := Open(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestLinks reads a blob as a client does that has nothing but the address.
func TestLinks(t *testing.T) {
	_, address, transport := startFakeS3(t)
	b, err := openS3(t.Context(), address+"&presign=1", transport)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := openS3(t.Context(), address, transport); err != nil || plain.links || !b.links {
		t.Errorf("without presign there are links: %v", err)
	}
	id, whole := newID(), random(1000)
	write(t, b, id, 0, whole)
	finish(t, b, id, len(whole))
	link, err := linked{b}.Link(t.Context(), id, "text/plain", `attachment; filename="a b"`)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"X-Amz-Expires": "60", "response-content-type": "text/plain", "response-content-disposition": `attachment; filename="a b"`} {
		if got := req.URL.Query().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if strings.Contains(link, "secret") || req.URL.Query().Get("X-Amz-Signature") == "" {
		t.Errorf("the address is %s", link)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != string(whole) {
		t.Errorf("got %s and %d bytes, %v", resp.Status, len(got), err)
	}
	if _, err := (linked{b}).Link(t.Context(), "../x", "", ""); err == nil {
		t.Error("a path has a link")
	}
}

// TestS3ThatFails: a request that S3 refuses or that is cut is repeated; where it goes on, the call fails and nothing is lost.
func TestS3ThatFails(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"503": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusServiceUnavailable)
		},
		"cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"cut midway": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.CopyN(io.Discard, r.Body, 1000)
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			fake, url, transport := startFakeS3(t)
			s := opensBucket(url, transport)(t)
			id, whole := newID(), random(14<<20)
			requests := 0
			fake.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
				if requests++; requests%2 == 0 {
					return false
				}
				answer(w, r)
				return true
			})
			write(t, s, id, 0, whole[:6<<20])
			write(t, s, id, 6<<20, whole[6<<20:])
			finish(t, s, id, len(whole))
			holds(t, s, id, whole)
			fake.SetFault(nil)
			leavesNothing(t, fake, s)
		})
	}
}

// TestS3ThatMostlyFails: calls succeed where four of five requests are refused.
func TestS3ThatMostlyFails(t *testing.T) {
	t.Parallel()
	fake, url, transport := startFakeS3(t)
	s := opensBucket(url, transport)(t)
	id, whole := newID(), random(1000)
	requests := 0
	fake.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if requests++; requests%5 == 0 {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	if err := s.Put(t.Context(), id, strings.NewReader(string(whole))); err != nil {
		t.Fatal(err)
	}
	fake.SetFault(nil)
	holds(t, s, id, whole)
}

// TestS3CrashAtEachRequest ends a client before each of its requests, in turn: another one brings the same upload to its end, and
// nothing is left over.
func TestS3CrashAtEachRequest(t *testing.T) {
	whole := random(6<<20 + 100)
	for at, done := 1, false; !done; at++ {
		fake, url, transport := startFakeS3(t)
		s, id, offset := opensBucket(url, transport)(t), newID(), int64(0)
		ctx, kill := context.WithCancel(t.Context())
		requests := 0
		fake.SetFault(func(http.ResponseWriter, *http.Request) bool {
			if requests++; requests >= at {
				kill()
				panic(http.ErrAbortHandler)
			}
			return false
		})
		upload := func(ctx context.Context) error {
			for offset < int64(len(whole)) {
				n, err := s.Write(ctx, id, offset, strings.NewReader(string(whole[offset:min(offset+6<<20, int64(len(whole)))])))
				if offset += n; err != nil {
					return err
				}
			}
			return s.Finish(ctx, id, int64(len(whole)))
		}
		done = upload(ctx) == nil
		fake.SetFault(nil)
		kill()
		if err := upload(t.Context()); err != nil {
			t.Fatalf("killed at request %d: %v", at, err)
		}
		holds(t, s, id, whole)
		leavesNothing(t, fake, s)
		if at > 100 {
			t.Fatal("it never ends")
		}
	}
}

// TestS3LeavesANeighbour: the end of an upload is none of one whose id begins with its own.
func TestS3LeavesANeighbour(t *testing.T) {
	fake, url, transport := startFakeS3(t)
	s, id, whole := opensBucket(url, transport)(t), newID(), random(partBytesMin+100)
	for _, id := range []string{id, id + "0"} {
		write(t, s, id, 0, whole)
	}
	finish(t, s, id, len(whole))
	if _, uploads := fake.Left(); uploads != 1 {
		t.Errorf("%d multipart uploads are left, want the neighbour's", uploads)
	}
	finish(t, s, id+"0", len(whole))
	holds(t, s, id+"0", whole)
}

// TestS3ThatLosesAPart: an upload of which S3 completes less than it was given is not finished.
func TestS3ThatLosesAPart(t *testing.T) {
	fake, url, transport := startFakeS3(t)
	s, id, whole := opensBucket(url, transport)(t), newID(), random(partBytes+100)
	write(t, s, id, 0, whole)
	fake.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") {
			body, _ := io.ReadAll(r.Body)
			list := string(body[:bytes.LastIndex(body, []byte("<Part>"))]) + "</CompleteMultipartUpload>"
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(list)), int64(len(list))
		}
		return false
	})
	wantError(t, s.Finish(t.Context(), id, int64(len(whole))), files.ErrShort)
}

// TestS3ReadGoesOn: a download whose connection breaks goes on where it was.
func TestS3ReadGoesOn(t *testing.T) {
	fake, url, transport := startFakeS3(t)
	s, id, whole := opensBucket(url, transport)(t), newID(), random(1<<20)
	write(t, s, id, 0, whole)
	finish(t, s, id, len(whole))
	cuts := 0
	fake.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		var from, to int
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
			return false
		}
		cuts++
		w.Header().Set("Content-Length", fmt.Sprint(to+1-from))
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Header().Set("ETag", `"x"`)
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(whole[from:min(from+200_000, to+1)])
		if from+200_000 <= to {
			panic(http.ErrAbortHandler)
		}
		return true
	})
	holds(t, s, id, whole)
	if cuts < 5 {
		t.Errorf("%d connections", cuts)
	}
}
