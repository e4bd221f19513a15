package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// call makes one request as a user and reads the answer to its end.
func call(ctx context.Context, node *harness.Node, user, method, path string, body io.Reader, header map[string]string) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, node.URL()+path, body)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+harness.Token(user, "", time.Hour))
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, text, err
}

// slowly yields bytes in pieces, and calls at once in the middle.
type slowly struct {
	io.Reader
	left int
	at   func()
}

func (s *slowly) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p[:min(len(p), 64<<10)])
	if s.left -= n; s.left <= 0 && s.at != nil {
		s.at()
		s.at = nil
	}
	return n, err
}

// TestUploadSurvivesKills kills a node in the middle of each request of an upload, and goes on at the same one or at another.
func TestUploadSurvivesKills(t *testing.T) {
	t.Parallel()
	t.Run("one node", func(t *testing.T) {
		t.Parallel()
		node := harness.StartNode(t, harness.Config{Env: withoutArchive})
		uploadKilled(t, []*harness.Node{node})
	})
	t.Run("two nodes over one folder", func(t *testing.T) {
		t.Parallel()
		redis, folder := redistest.Start(t), filepath.Join(t.TempDir(), "files")
		var nodes []*harness.Node
		for range 2 {
			nodes = append(nodes, harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_FILES": "dir:" + folder}}))
		}
		uploadKilled(t, nodes)
	})
}

func uploadKilled(t *testing.T, nodes []*harness.Node) {
	ctx := bounded(t, 3*time.Minute)
	content := make([]byte, 24<<20)
	r := random(t)
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	sum := sha256.Sum256(content)
	if _, err := nodes[0].Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "g"}); err != nil {
		t.Fatal(err)
	}
	resp, text, err := call(ctx, nodes[0], "alice", "POST", "/v1/groups/g/files",
		bytes.NewReader(fmt.Appendf(nil, `{"name":"n","size":%d,"sha256":%q}`, len(content), hex.EncodeToString(sum[:]))), map[string]string{"Content-Type": "application/json"})
	if err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("POST: %v %s", err, text)
	}
	path, kills := resp.Header.Get("Location"), 0
	for offset, turn := 0, 0; offset < len(content); turn++ {
		node := nodes[turn%len(nodes)]
		resp, _, err := call(ctx, node, "alice", "HEAD", path, nil, nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("HEAD: %v %v", resp, err)
		}
		if offset, err = strconv.Atoi(resp.Header.Get("Upload-Offset")); err != nil {
			t.Fatal(err)
		}
		body := &slowly{Reader: bytes.NewReader(content[offset:]), left: 9 << 20}
		if left := len(content) - offset; left > 9<<20 { // more than one piece, of which the node keeps the first
			body.at = func() {
				for before := strconv.Itoa(offset); ctx.Err() == nil; {
					resp, _, err := call(ctx, node, "alice", "HEAD", path, nil, nil)
					if err == nil && resp.Header.Get("Upload-Offset") != before {
						break
					}
				}
				kills++
				node.Kill()
			}
		}
		resp, text, err := call(ctx, node, "alice", "PATCH", path, body, map[string]string{
			"Content-Type": "application/offset+octet-stream", "Upload-Offset": strconv.Itoa(offset)})
		if body.at != nil && err == nil && resp.StatusCode != http.StatusNoContent {
			t.Fatalf("PATCH at %d: %d %s", offset, resp.StatusCode, text)
		}
		if err != nil {
			node.Start()
			continue
		}
		offset = len(content)
	}
	if kills == 0 {
		t.Fatal("nothing was killed")
	}
	for _, node := range nodes {
		resp, got, err := call(ctx, node, "alice", "GET", path, nil, nil)
		if err != nil || resp.StatusCode != http.StatusOK || sha256.Sum256(got) != sum {
			t.Errorf("after %d kills: got %d bytes, %v %v", kills, len(got), resp.Status, err)
		}
	}
}

//go:embed testdata/tus-4.3.1.min.js
var tusClient string

// TestPageUploadsByTus uploads with the reference client of the protocol, whose server is killed in the middle.
func TestPageUploadsByTus(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	if _, err := node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "g"}); err != nil {
		t.Fatal(err)
	}
	alice := newPerson(t, startBrowser(t), node, "alice")
	ask[bool](alice, tusClient+"; true")
	const size = 6 << 20
	ask[bool](alice, fmt.Sprintf(`(() => {
		const bytes = new Uint8Array(%d);
		for (let i = 0; i < bytes.length; i++) bytes[i] = i * 7 + (i >> 8) * 13;
		window.sent = 0;
		window.upload = new tus.Upload(new Blob([bytes], {type: "video/mp4"}), {
			endpoint: "/v1/groups/g/files", chunkSize: 1 << 20, retryDelays: Array(60).fill(500), headers: {Authorization: "Bearer %s"},
			metadata: {filename: "löwe.mp4", filetype: "video/mp4"},
			onProgress: (sent) => { window.sent = sent; },
			onSuccess: () => { window.uploaded = window.upload.url; },
			onError: (e) => { window.failed = String(e); },
		});
		window.upload.start();
		return true;
	})()`, size, harness.Token("alice", "", time.Hour)))
	alice.see(`window.sent > 2 << 20`)
	alice.refused(true)
	node.Kill()
	node.Start()
	alice.live()
	alice.refused(false)
	alice.see(`window.uploaded || window.failed`)
	if failed := ask[string](alice, `window.failed || ""`); failed != "" {
		t.Fatal(failed)
	}
	path := ask[string](alice, `new URL(window.uploaded, location).pathname`)
	resp, got, err := call(ctx, node, "alice", "GET", path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range got {
		if b != byte(i*7+(i>>8)*13) {
			t.Fatalf("byte %d of %d is another", i, len(got))
		}
	}
	if len(got) != size || resp.Header.Get("Content-Type") != "video/mp4" || resp.Header.Get("Content-Disposition") != `attachment; filename="l_we.mp4"; filename*=UTF-8''l%C3%B6we.mp4` {
		t.Errorf("got %d bytes, %v", len(got), resp.Header)
	}
}

// TestFilesAreCompared: bytes without a record are found, by the only node when it starts, and by one of several as a
// periodic task.
func TestFilesAreCompared(t *testing.T) {
	t.Parallel()
	orphan := func(t *testing.T, folder string) {
		t.Helper()
		path := filepath.Join(folder, "blobs", "AA", "AAAA-0")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-3 * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	found := func(t *testing.T, node *harness.Node) {
		t.Helper()
		harness.Eventually(t, time.Minute, "the bytes are found", func() error {
			if !strings.Contains(string(node.Log()), "files have no record and will be removed") {
				return errors.New("the log says nothing")
			}
			return nil
		})
	}
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		folder := filepath.Join(t.TempDir(), "files")
		node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_FILES": "dir:" + folder}})
		node.Terminate()
		orphan(t, folder)
		node.Start()
		found(t, node)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		ctx, redis, folder := bounded(t, time.Minute), redistest.Start(t), filepath.Join(t.TempDir(), "files")
		node := harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_FILES": "dir:" + folder}})
		op := operator(t, node)
		harness.Eventually(t, time.Minute, "the task is declared", func() error {
			all, _, err := op.PeriodicTasks(ctx, client.Page{})
			if err != nil || len(all) != 1 || all[0].ID != files.TaskCompare || all[0].EveryMs != time.Hour.Milliseconds() {
				return fmt.Errorf("got %+v, %w", all, err)
			}
			return nil
		})
		orphan(t, folder)
		must(op.RunPeriodic(ctx, files.TaskCompare))(t)
		found(t, node)
	})
}
