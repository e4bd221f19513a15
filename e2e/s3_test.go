package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
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
)

var gateway = flag.String("versitygw", "", "the binary of a real S3 server: the tests of files in a bucket run against it")

// s3Fault is what happens to requests on their way to S3.
type s3Fault func(w http.ResponseWriter, r *http.Request, pass http.Handler)

// startGateway starts an S3 server behind a proxy, and returns the address of a bucket through it.
func startGateway(t *testing.T) (fault *atomic.Pointer[s3Fault], bucket string) {
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
	// The Host of a request is signed, so it passes as it is.
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", address, r.In.Host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	fault = new(atomic.Pointer[s3Fault])
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := fault.Load(); f != nil {
			(*f)(w, r, pass)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	// Another name than that of chatd's node: an HTTP client keeps its token to the host that it was meant for.
	host := strings.Replace(strings.TrimPrefix(proxy.URL, "http://"), "127.0.0.1", "localhost", 1)
	ready(t, proxy.URL)
	return fault, "s3://key:secret@bucket/files?region=us-east-1&tls=false&endpoint=" + host
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

// TestFilesInS3 uploads and downloads while S3 refuses, cuts and is slow, and reads by addresses of the bucket.
func TestFilesInS3(t *testing.T) {
	if *gateway == "" {
		return
	}
	fault, bucket := startGateway(t)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_FILES": bucket + "&presign=1"}})
	ctx := bounded(t, 5*time.Minute)
	must(node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	content := make([]byte, 20<<20)
	r := random(t)
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	var requests atomic.Int64
	some := func(f s3Fault) *s3Fault { // twelve in a row of each thirty-six: more than the node repeats
		g := s3Fault(func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if requests.Add(1)%36 < 12 {
				f(w, r, pass)
				return
			}
			pass.ServeHTTP(w, r)
		})
		return &g
	}
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
			fault.Store(some(f))
			path, failed := uploadBy(ctx, t, node, content)
			fault.Store(nil)
			resp, got, err := call(ctx, node, "alice", "GET", path+"?inline=1", nil, nil)
			if err != nil || resp.StatusCode != http.StatusOK || !bytes.Equal(got, content) {
				t.Errorf("after %d failed requests: %d bytes, %v %v", failed, len(got), resp, err)
			}
			t.Logf("%d requests to S3, %d failed requests of the sender", requests.Swap(0), failed)
		})
	}
	t.Run("links", func(t *testing.T) { linksOfBucket(ctx, t, node, content) })
}

// linksOfBucket reads a file from the bucket itself.
func linksOfBucket(ctx context.Context, t *testing.T, node *harness.Node, content []byte) {
	path, _ := uploadBy(ctx, t, node, content)
	resp, got, err := call(ctx, node, "alice", "GET", path, nil, nil) // the client of call follows
	if err != nil || !bytes.Equal(got, content) || resp.Request.URL.Query().Get("X-Amz-Expires") != "60" ||
		resp.Header.Get("Content-Disposition") != `attachment; filename="n.bin"; filename*=UTF-8''n.bin` || resp.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("GET: %d bytes, %v %v", len(got), resp, err)
	}
	link := resp.Request.URL
	get := func(u *url.URL, header string) *http.Response {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Range", header)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	if resp := get(link, "bytes=0-9"); resp.StatusCode != http.StatusPartialContent || resp.ContentLength != 10 {
		t.Errorf("a range: %v", resp)
	}
	other := *link
	other.RawQuery = strings.Replace(link.RawQuery, "X-Amz-Expires=60", "X-Amz-Expires=6000", 1)
	if resp := get(&other, ""); resp.StatusCode != http.StatusForbidden {
		t.Errorf("an address that was changed: %v", resp.Status)
	}
	if resp, _, err := call(ctx, node, "bob", "GET", path, nil, nil); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("bob gets what no message names: %v %v", resp, err)
	}
}
