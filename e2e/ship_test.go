package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/ship"
	"github.com/chatd/chatd/internal/harness"
)

// logLines makes about size bytes of lines that look like those of a log.
func logLines(t *testing.T, size int) []byte {
	t.Helper()
	r := random(t)
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "2026-11-22T10:00:%02d.%06dZ 10.%d.%d.%d GET /item/%016x %s\n", i/1000%60, i%1_000_000, r.IntN(256), r.IntN(256), r.IntN(256),
			r.Uint64(), strings.Repeat("x", r.IntN(40)))
	}
	return b.Bytes()
}

// blockGroup makes a group for shipping: nothing is kept that all have seen, and nobody is passed by.
func blockGroup(ctx context.Context, t *testing.T, node *harness.Node, draft client.GroupDraft) {
	t.Helper()
	keep := int64(0)
	draft.Keep, draft.Overflow = &keep, "block"
	must(node.Client("shipper").CreateGroup(ctx, draft))(t)
}

// TestShipAndProcess runs both loops of the Go client: each processor gets every line in order, and results come back.
func TestShipAndProcess(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	blockGroup(ctx, t, node, client.GroupDraft{ID: "logs", Members: []string{"p1", "p2"}})
	dir := t.TempDir()
	one, two := logLines(t, 200_000), append(logLines(t, 50_000), bytes.Repeat([]byte("long"), 20_000)...)
	for name, content := range map[string][]byte{"one.log": one, "two.log": two} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var processing sync.WaitGroup
	got := make([]bytes.Buffer, 2)
	for i := range got {
		processing.Go(func() {
			next := int64(1)
			var end ship.End
			err := ship.Process(ctx, node.Client(fmt.Sprint("p", i+1)), ship.ProcessOptions{
				Group: "logs", End: func(_ context.Context, e ship.End) error { end = e; return nil },
			}, func(_ context.Context, p ship.Part) (string, error) {
				if p.Number != next {
					t.Errorf("got part %d, want %d", p.Number, next)
				}
				next++
				n, err := io.Copy(&got[i], p.Lines)
				return fmt.Sprint(n), err
			})
			if err != nil {
				t.Errorf("p%d: %v", i+1, err)
			}
			if end.Parts != next-1 || end.SHA256 != fmt.Sprintf("%x", sha256.Sum256(got[i].Bytes())) {
				t.Errorf("p%d: got %d parts, the end mark says %+v", i+1, next-1, end)
			}
		})
	}
	var results, parts int64
	opts := ship.Options{
		Group: "logs", Paths: []string{filepath.Join(dir, "one.log"), filepath.Join(dir, "two.log")}, Segment: 32 << 10, Wait: true, Delete: true,
		State:    filepath.Join(dir, "state"),
		Result:   func(ship.Result) { results++ },
		Progress: func(p ship.Progress) { parts = p.Parts },
	}
	if err := ship.Files(ctx, node.Client("shipper"), opts); err != nil {
		t.Fatal(err)
	}
	processing.Wait()
	want := append(bytes.Clone(one), two...)
	for i := range got {
		if !bytes.Equal(got[i].Bytes(), want) {
			t.Errorf("p%d: got %d bytes, not the %d that were shipped", i+1, got[i].Len(), len(want))
		}
	}
	if results != 2*parts || parts < 10 {
		t.Errorf("got %d results of %d parts", results, parts)
	}
	if left := must(filepath.Glob(filepath.Join(dir, "*.log")))(t); len(left) > 0 {
		t.Errorf("still there: %v", left)
	}
	if err := ship.Files(ctx, node.Client("shipper"), opts); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestShipAndProcessAsJSON: the commands write what a program reads as JSON, and nothing else to the standard output.
func TestShipAndProcessAsJSON(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 2*time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	blockGroup(ctx, t, node, client.GroupDraft{ID: "logs", Members: []string{"p1"}})
	s := &shipping{t: t, dir: t.TempDir(), node: node}
	if err := os.WriteFile(filepath.Join(s.folder("shipper"), "a.log"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	answers := func(user string, args ...string) (all []map[string]map[string]any) {
		t.Helper()
		out, err := s.command(ctx, user, args...).Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		for line := range strings.Lines(string(out)) {
			var one map[string]map[string]any
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatalf("%v wrote %q: %v", args, line, err)
			}
			all = append(all, one)
		}
		return all
	}
	shipped := answers("shipper", "ship", "-user", "shipper", "-group", "logs", "-json", "a.log")
	processed := answers("p1", "process", "-user", "p1", "-group", "logs", "-json", "--", "sh", "-c", "wc -l")
	if len(shipped) != 1 || shipped[0]["shipped"]["bytes"] != 8.0 || len(processed) != 2 {
		t.Fatalf("got %v and %v, want a shipment of 8 bytes, its part and its end", shipped, processed)
	}
	part, end := processed[0]["processed"], processed[1]["end"]
	if part["result"] != "2" || part["part"] != 1.0 || part["ship"] != shipped[0]["shipped"]["ship"] || part["sha256"] == "" || end["parts"] != 1.0 {
		t.Errorf("got the part %v and the end %v", part, end)
	}
}

// TestProcessorsDoNotWaitForEachOther: both processors are so far behind that the group refuses the results of either because of
// the other. They get on all the same, and every result is posted once.
func TestProcessorsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	behind := int64(8)
	blockGroup(ctx, t, node, client.GroupDraft{ID: "logs", Members: []string{"p1", "p2"}, BacklogMax: &behind})
	dir := t.TempDir()
	path := filepath.Join(dir, "app.log")
	if err := os.WriteFile(path, logLines(t, 12<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	blocked, once := make(chan struct{}), sync.Once{}
	results := map[string]int{}
	var parts int64
	opts := ship.Options{
		Group: "logs", Paths: []string{path}, Segment: 1 << 10, Wait: true, State: filepath.Join(dir, "state"),
		Result: func(r ship.Result) { results[fmt.Sprint(r.From, r.Number, r.Text)]++ },
		Progress: func(p ship.Progress) {
			parts = max(parts, p.Parts)
			if len(p.Blockers) == 2 && p.Parts >= 3 {
				once.Do(func() { close(blocked) })
			}
		},
	}
	shipped := make(chan error, 1)
	go func() { shipped <- ship.Files(ctx, node.Client("shipper"), opts) }()
	select {
	case <-blocked:
	case err := <-shipped:
		t.Fatalf("the shipper did not have to wait: %v", err)
	}
	var processing sync.WaitGroup
	for _, user := range []string{"p1", "p2"} {
		processing.Go(func() {
			err := ship.Process(ctx, node.Client(user), ship.ProcessOptions{Group: "logs", State: filepath.Join(dir, user)}, func(context.Context, ship.Part) (string, error) {
				return "done", nil
			})
			if err != nil {
				t.Errorf("%s: %v", user, err)
			}
		})
	}
	processing.Wait()
	if err := <-shipped; err != nil {
		t.Fatal(err)
	}
	if err := ship.Files(ctx, node.Client("shipper"), opts); err != nil { // nothing new, but results may have come since
		t.Fatal(err)
	}
	for result, n := range results {
		if n != 1 {
			t.Errorf("%s: %d times", result, n)
		}
	}
	if int64(len(results)) != 2*parts || parts < 10 {
		t.Errorf("%d results of %d parts", len(results), parts)
	}
}
