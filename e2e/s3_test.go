package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/internal/s3test"
)

var gateway = flag.String("versitygw", "", "the binary of a real S3 server: the tests of files in a bucket run against it, and not against one of their own")

// s3Fault is what happens to requests on their way to S3.
type s3Fault func(w http.ResponseWriter, r *http.Request, pass http.Handler)

// startS3 starts an S3 server behind a proxy, and returns the address of a bucket through it.
func startS3(t *testing.T) (fault *atomic.Pointer[s3Fault], bucket string) {
	t.Helper()
	var s3 http.Handler = s3test.New()
	if *gateway != "" {
		s3 = startGateway(t)
	}
	fault = new(atomic.Pointer[s3Fault])
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := fault.Load(); f != nil {
			(*f)(w, r, s3)
			return
		}
		s3.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	// Another name than that of chatd's node: an HTTP client keeps its token to the host that it was meant for.
	host := strings.Replace(strings.TrimPrefix(proxy.URL, "http://"), "127.0.0.1", "localhost", 1)
	ready(t, proxy.URL)
	return fault, "s3://key:secret@bucket/files?region=us-east-1&tls=false&endpoint=" + host
}

// startGateway starts a real S3 server, and returns what passes requests on to it.
func startGateway(t *testing.T) http.Handler {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "bucket"), 0o755); err != nil {
		t.Fatal(err)
	}
	address := redistest.FreeAddr(t)
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
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { // the Host of a request is signed, so it passes as it is
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", address, r.In.Host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
}

// ready waits until a server answers.
func ready(t *testing.T, address string) {
	t.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for ctx := bounded(t, waitTimeout); ; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil && resp.Body.Close() == nil && resp.StatusCode != http.StatusBadGateway {
			return
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			t.Fatalf("nothing answers at %s", address)
		}
	}
}

// uploadBy uploads content by HEAD and PATCH until it is whole, and returns its path and how many requests failed.
func uploadBy(ctx context.Context, t *testing.T, node *harness.Node, content []byte) (path string, failed int) {
	t.Helper()
	draft := fmt.Appendf(nil, `{"name":"n.bin","size":%d,"sha256":"%x"}`, len(content), sha256.Sum256(content))
	resp, text, err := call(ctx, node, "alice", "POST", "/v1/groups/g/files", bytes.NewReader(draft), map[string]string{"Content-Type": "application/json"})
	if err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("POST: %v %s", err, text)
	}
	path = resp.Header.Get("Location")
	for ctx.Err() == nil {
		resp, _, err := call(ctx, node, "alice", "HEAD", path, nil, nil)
		if err != nil || resp.StatusCode == http.StatusNotFound {
			t.Fatalf("HEAD: %v %v", resp, err)
		}
		offset := 0
		if resp.StatusCode != http.StatusOK {
			failed++
			continue
		}
		if _, err := fmt.Sscan(resp.Header.Get("Upload-Offset"), &offset); err != nil {
			t.Fatal(err)
		}
		resp, text, err := call(ctx, node, "alice", "PATCH", path, bytes.NewReader(content[offset:]), map[string]string{
			"Content-Type": "application/offset+octet-stream", "Upload-Offset": fmt.Sprint(offset)})
		switch {
		case err == nil && resp.StatusCode == http.StatusNoContent:
			return path, failed
		case err == nil && resp.StatusCode != http.StatusServiceUnavailable && resp.StatusCode != http.StatusConflict:
			t.Fatalf("PATCH at %d: %d %s", offset, resp.StatusCode, text)
		}
		failed++
	}
	t.Fatal("the upload does not end")
	return "", 0
}

// TestFilesInS3 uploads and downloads while S3 refuses, cuts and is slow. The senders see 503 at most, and get on. make soak runs
// it against a real server.
func TestFilesInS3(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]s3Fault{
		"503": func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusServiceUnavailable)
		},
		"cut": func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
			_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
			panic(http.ErrAbortHandler)
		},
		"answers lost": func(_ http.ResponseWriter, r *http.Request, pass http.Handler) {
			pass.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		},
		"slow": func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			<-time.After(300 * time.Millisecond)
			pass.ServeHTTP(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t, 3*time.Minute)
			fault, node := nodeOverS3(ctx, t, "")
			content := randomBytes(t, 12<<20)
			var requests, reads atomic.Int64
			some := s3Fault(func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
				const inRow = 12 // more than the node repeats: at the beginning, and where it looks at what is whole
				read := r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/bucket/files/blobs/")
				if requests.Add(1) <= inRow || read && reads.Add(1) <= inRow {
					f(w, r, pass)
					return
				}
				pass.ServeHTTP(w, r)
			})
			fault.Store(&some)
			path, failed := uploadBy(ctx, t, node, content)
			fault.Store(nil)
			resp, got, err := call(ctx, node, "alice", "GET", path, nil, nil)
			if err != nil || resp.StatusCode != http.StatusOK || !bytes.Equal(got, content) {
				t.Errorf("after %d failed requests: %d bytes, %v %v", failed, len(got), resp, err)
			}
			t.Logf("%d requests to S3, %d failed requests of the sender", requests.Load(), failed)
		})
	}
}

// nodeOverS3 starts a node whose files are in a bucket, and the group g of alice and bob.
func nodeOverS3(ctx context.Context, t *testing.T, parameters string) (*atomic.Pointer[s3Fault], *harness.Node) {
	t.Helper()
	fault, bucket := startS3(t)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_FILES": bucket + parameters, "CHATD_ARCHIVE": "off"}})
	must(node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	return fault, node
}

func randomBytes(t *testing.T, n int) []byte {
	t.Helper()
	content, r := make([]byte, n), random(t)
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	return content
}

// TestLinksOfBucket reads files from the bucket itself: by an address that only those get who may read the file, for a minute. What
// a browser shows comes from the node.
func TestLinksOfBucket(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	_, node := nodeOverS3(ctx, t, "&presign=1")
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 800, 10))); err != nil {
		t.Fatal(err)
	}
	path, _ := uploadBy(ctx, t, node, picture.Bytes())
	// The client of call follows redirects.
	resp, got, err := call(ctx, node, "alice", "GET", path, nil, nil)
	if err != nil || !bytes.Equal(got, picture.Bytes()) || resp.Request.URL.Query().Get("X-Amz-Expires") != "60" ||
		resp.Header.Get("Content-Disposition") != `attachment; filename="n.bin"; filename*=UTF-8''n.bin` || resp.Header.Get("Content-Type") != "image/png" {
		t.Fatalf("GET: %d bytes, %v %v", len(got), resp, err)
	}
	link := resp.Request.URL
	if status := resp.Request.Response.StatusCode; status != http.StatusTemporaryRedirect || strings.Contains(link.String(), "secret") {
		t.Errorf("%d to %s", status, link)
	}
	if resp := getRange(ctx, t, link); resp.StatusCode != http.StatusPartialContent || resp.ContentLength != 10 {
		t.Errorf("a range: %v", resp)
	}
	if *gateway != "" {
		other := *link
		other.RawQuery = strings.Replace(link.RawQuery, "X-Amz-Expires=60", "X-Amz-Expires=6000", 1)
		if resp := getRange(ctx, t, &other); resp.StatusCode != http.StatusForbidden {
			t.Errorf("an address that was changed: %v", resp.Status)
		}
	}
	for _, query := range []string{"?inline=1", "?size=preview"} {
		resp, _, err := call(ctx, node, "alice", "GET", path+query, nil, nil)
		if err != nil || resp.StatusCode != http.StatusOK || resp.Request.URL.Host == link.Host || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v %v", query, resp, err)
		}
	}
	if resp, _, err := call(ctx, node, "bob", "GET", path, nil, nil); err != nil || resp.StatusCode != http.StatusNotFound || resp.Request.Response != nil {
		t.Errorf("bob gets what no message names: %v %v", resp, err)
	}
}

func getRange(ctx context.Context, t *testing.T, u *url.URL) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Range", "bytes=0-9")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}
