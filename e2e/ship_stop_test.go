package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

var stopFor = flag.Duration("ship-stop", 0, "for how long TestShipWaitsForAStoppedProcessor stops a processor once the shipper waits for it")

// output collects what a process writes while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// TestShipWaitsForAStoppedProcessor stops one of three processors: the shipper waits for it by name, and nobody is passed by.
// When it goes on, everything arrives; when it leaves instead, the others finish, and what it held back is freed.
func TestShipWaitsForAStoppedProcessor(t *testing.T) {
	t.Parallel()
	t.Run("goes on", func(t *testing.T) {
		t.Parallel()
		stopOne(t, func(ctx context.Context, s *shipping, p1 *exec.Cmd) []string {
			held := s.shipped()
			harness.Pause(ctx, *stopFor)
			if now := s.shipped(); now != held {
				s.t.Errorf("%d parts are shipped while p1 is stopped, %d when it was", now, held)
			}
			if err := p1.Process.Signal(syscall.SIGCONT); err != nil {
				s.t.Error(err)
			}
			return []string{"p1", "p2", "p3"}
		})
	})
	t.Run("leaves", func(t *testing.T) {
		t.Parallel()
		stopOne(t, func(ctx context.Context, s *shipping, p1 *exec.Cmd) []string {
			if err := s.node.Client("shipper").RemoveMember(ctx, "logs", "p1"); err != nil {
				s.t.Error(err)
			}
			if err := p1.Process.Kill(); err != nil {
				s.t.Error(err)
			}
			return []string{"p2", "p3"}
		})
	})
}

// stopOne stops p1 in the middle of a shipment. then says what happens once the shipper waits for it, and who finishes.
func stopOne(t *testing.T, then func(ctx context.Context, s *shipping, p1 *exec.Cmd) []string) {
	ctx := bounded(t, 2*time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	s := &shipping{t: t, node: node, dir: t.TempDir()}
	backlog := int64(200_000)
	blockGroup(ctx, t, node, client.GroupDraft{ID: "logs", Members: []string{"p1", "p2", "p3"}, BacklogBytes: &backlog})
	content := logLines(t, 2<<20)
	source := filepath.Join(s.dir, "app.log")
	if err := os.WriteFile(source, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var log, results output
	ship := s.ship(ctx, "-segment", "64KiB", "-wait", source)
	ship.Stderr, ship.Stdout = &log, &results
	processors := map[string]*exec.Cmd{"p1": s.process(ctx, "p1"), "p2": s.process(ctx, "p2"), "p3": s.process(ctx, "p3")}
	for _, cmd := range processors {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ship.Start(); err != nil {
		t.Fatal(err)
	}
	p1 := processors["p1"]
	harness.Eventually(t, time.Minute, "p1 has some parts", func() error {
		if n := len(s.order("p1")); n < 3 {
			return fmt.Errorf("%d", n)
		}
		return nil
	})
	if err := p1.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, time.Minute, "the shipper waits for p1 alone, and the others have all there is", func() error {
		text := log.String()
		if last := text[max(0, strings.LastIndex(text, "waiting")):]; !strings.HasPrefix(last, "waiting for p1, too far behind") {
			return fmt.Errorf("it says:\n%s", text)
		}
		for _, user := range []string{"p2", "p3"} {
			if got, want := len(s.order(user)), s.shipped(); got < want {
				return fmt.Errorf("%s has %d parts of %d", user, got, want)
			}
		}
		return nil
	})
	blockers := must(node.Client("shipper").Blockers(ctx, "logs"))(t)
	if len(blockers) == 0 || blockers[0].User != "p1" || blockers[0].Bytes < backlog/2 || blockers[0].Bytes > backlog {
		t.Errorf("got blockers %+v, want p1 first", blockers)
	}
	held := s.shipped()
	const segment = 64 << 10
	if bytes, _ := s.blobBytes(); bytes < backlog/2 || bytes > backlog+2*segment {
		t.Errorf("%d bytes of files are held back, want nearly backlog_bytes, and two parts more at most", bytes)
	}
	finish := then(ctx, s, p1)
	if err := ship.Wait(); err != nil {
		t.Fatalf("ship: %v\n%s", err, log.String())
	}
	for _, user := range finish {
		if err := processors[user].Wait(); err != nil {
			t.Errorf("%s: %v", user, err)
		}
		s.check(user, sha256.Sum256(content))
	}
	if parts := s.shipped(); parts <= held || strings.Count(results.String(), "stored") < len(finish)*parts {
		t.Errorf("%d parts, %d while it waited; results:\n%s", parts, held, results.String())
	}
	harness.Eventually(t, time.Minute, "all files are removed", func() error {
		if bytes, blobs := s.blobBytes(); blobs > 0 {
			return fmt.Errorf("%d blobs of %d bytes", blobs, bytes)
		}
		return nil
	})
}
