package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/ship"
	"github.com/chatd/chatd/internal/harness"
)

// writer appends lines to a log and remembers all of them.
type writer struct {
	t    *testing.T
	path string
	all  bytes.Buffer
	n    int
}

func (w *writer) lines(n int) {
	w.t.Helper()
	file := must(os.OpenFile(w.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))(w.t)
	for range n {
		w.n++
		if _, err := fmt.Fprintf(io.MultiWriter(file, &w.all), "line %d\n", w.n); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// TestShipFollowsALog writes to a log that is rotated by renaming and by truncating, while a shipper follows it, and while none
// does. The processor gets every line once and in order.
func TestShipFollowsALog(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	blockGroup(ctx, t, node, client.GroupDraft{ID: "logs", Members: []string{"p1"}})
	dir := t.TempDir()
	w := &writer{t: t, path: filepath.Join(dir, "app.log")}

	var mu sync.Mutex
	var got bytes.Buffer
	processed := make(chan error, 1)
	go func() {
		processed <- ship.Process(ctx, node.Client("p1"), ship.ProcessOptions{Group: "logs"}, func(_ context.Context, p ship.Part) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			_, err := io.Copy(&got, p.Lines)
			return "", err
		})
	}()
	arrived := func(what string) {
		t.Helper()
		harness.Eventually(t, time.Minute, what, func() error {
			mu.Lock()
			defer mu.Unlock()
			if got.Len() < w.all.Len() {
				return fmt.Errorf("%d bytes of %d", got.Len(), w.all.Len())
			}
			return nil
		})
	}
	rotate := func(to string) {
		t.Helper()
		if err := os.Rename(w.path, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	opts := ship.Options{Group: "logs", Paths: []string{w.path}, State: filepath.Join(dir, "state"), Follow: true, Delete: true, Linger: 50 * time.Millisecond}
	follow := func() (stop func()) {
		following, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- ship.Files(following, node.Client("shipper"), opts) }()
		return func() {
			t.Helper()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
		}
	}

	stop := follow() // there is no file yet
	w.lines(100)
	arrived("the first lines")
	w.lines(10)
	rotate("app.log.1")
	w.lines(200)
	arrived("lines before and after a rotation")
	harness.Eventually(t, time.Minute, "the rotated file is deleted", func() error {
		_, err := os.Stat(filepath.Join(dir, "app.log.1"))
		if !os.IsNotExist(err) {
			return fmt.Errorf("it is there: %w", err)
		}
		return nil
	})
	if err := os.Truncate(w.path, 0); err != nil {
		t.Fatal(err)
	}
	w.lines(5)
	arrived("lines after a truncation")
	stop()

	w.lines(50)
	rotate("app.log.2")
	w.lines(50)
	stop = follow()
	arrived("lines before and after a rotation that nobody saw")
	stop()

	w.lines(3)
	opts.Follow, opts.Wait = false, true
	if err := ship.Files(ctx, node.Client("shipper"), opts); err != nil {
		t.Fatal(err)
	}
	if err := <-processed; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), w.all.Bytes()) {
		t.Errorf("got %d bytes, want %d, or others", got.Len(), w.all.Len())
	}
	if left := must(filepath.Glob(filepath.Join(dir, "app.log*")))(t); len(left) > 0 {
		t.Errorf("still there: %v", left)
	}
}

// killing is a file whose reader kills the server when it comes to certain bytes.
type killing struct {
	*bytes.Reader
	node *harness.Node
	at   []int64
}

func (k *killing) ReadAt(p []byte, at int64) (int, error) {
	if len(k.at) > 0 && at >= k.at[0] {
		k.at = k.at[1:]
		k.node.Kill()
		k.node.Start()
	}
	return k.Reader.ReadAt(p, at)
}

// TestClientTransfersSurviveKills kills the server in the middle of an upload and of a download.
func TestClientTransfersSurviveKills(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	alice := node.Client("alice", patient())
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
	content := logLines(t, 20<<20)
	draft := client.FileDraft{Name: "n", Size: int64(len(content))}
	sum := sha256.Sum256(content)
	draft.SHA256 = hex.EncodeToString(sum[1:]) + "00"
	if _, err := alice.UploadFile(ctx, "g", draft, bytes.NewReader(content)); client.CodeOf(err) != client.CodeInvalid {
		t.Fatalf("other bytes: got %v", err)
	}
	draft.SHA256 = "" // computed on the way
	uploading := &killing{Reader: bytes.NewReader(content), node: node, at: []int64{9 << 20, 15 << 20}}
	id, err := alice.UploadFile(ctx, "g", draft, uploading)
	if err != nil || len(uploading.at) > 0 {
		t.Fatalf("got %v, %d kills to come", err, len(uploading.at))
	}
	body := must(alice.OpenFile(ctx, "g", client.File{ID: id}))(t)
	var got bytes.Buffer
	for _, until := range []int{5 << 20, 12 << 20} {
		if _, err := io.CopyN(&got, body, int64(until-got.Len())); err != nil {
			t.Fatal(err)
		}
		node.Kill()
		node.Start()
	}
	if _, err := io.Copy(&got, body); err != nil {
		t.Fatal(err)
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(got.Bytes(), content) {
		t.Errorf("got %d bytes, want %d, or others", got.Len(), len(content))
	}
	if err := alice.RemoveFile(ctx, "g", id); err != nil {
		t.Error(err)
	}
	if _, err := alice.OpenFile(ctx, "g", client.File{ID: id}); client.CodeOf(err) != client.CodeNotFound {
		t.Errorf("a removed file: got %v", err)
	}
}
