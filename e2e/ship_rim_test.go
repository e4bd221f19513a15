package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestShipThroughAnNginxAsInstalled: parts are larger than what its defaults let through in one request.
func TestShipThroughAnNginxAsInstalled(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	blockGroup(ctx, t, node, client.GroupDraft{ID: "logs", Members: []string{"p1"}})
	addr := redistest.FreeAddr(t)
	harness.StartNginx(t, addr, "server {\nlisten "+addr+";\nlocation / { proxy_pass http://"+node.Addr+"; }\n}\n")
	s := &shipping{t: t, node: node, dir: t.TempDir()}
	content := make([]byte, 5<<20) // does not compress
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
	source := filepath.Join(s.dir, "app.log")
	if err := os.WriteFile(source, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	ship := s.ship(ctx, "-url", "http://"+addr, "-segment", "4MiB", source)
	ship.Stderr = &log
	if err := ship.Run(); err != nil {
		t.Fatalf("ship: %v\n%s", err, log.String())
	}
	process := s.command(ctx, "p1", "process", "-user", "p1", "-group", "logs", "-url", "http://"+addr, "--", "sh", "-c", saveParts)
	process.Stderr = &log
	if err := process.Run(); err != nil {
		t.Fatalf("process: %v\n%s", err, log.String())
	}
	s.check("p1", sha256.Sum256(content))
}

// TestProcessIsNotEndedByOthers: a member who is neither the shipper nor an admin forges an end mark. The processor says that it skips
// it, and has every part at the end.
func TestProcessIsNotEndedByOthers(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	s := &shipping{t: t, node: node, dir: t.TempDir()}
	content := logLines(t, 20<<10)
	source := filepath.Join(s.dir, "app.log")
	if err := os.WriteFile(source, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"", "shipper"} {
		blockGroup(ctx, t, node, client.GroupDraft{ID: "logs", Members: []string{"p1", "mallory"}})
		forged := client.Draft{Kind: client.KindData, Data: fmt.Appendf(nil, `{"end":{"ship":"X","parts":0,"bytes":0,"sha256":"%x"}}`, sha256.Sum256(nil))}
		must(node.Client("mallory").Send(ctx, "logs", forged))(t)
		if err := s.ship(ctx, "-segment", "4KiB", source).Run(); err != nil {
			t.Fatal(err)
		}
		args := []string{"process", "-user", "p1", "-group", "logs"}
		if from != "" {
			args = append(args, "-from", from)
		}
		var log bytes.Buffer
		process := s.command(ctx, "p1", append(args, "--", "sh", "-c", saveParts)...)
		process.Stderr = &log
		if err := process.Run(); err != nil {
			t.Errorf("process: %v", err)
		}
		s.check("p1", sha256.Sum256(content))
		if !strings.Contains(log.String(), "skipped the end mark in message") || !strings.Contains(log.String(), "mallory") {
			t.Errorf("from %q, it says:\n%s", from, log.String())
		}
		if err := node.Client("shipper").DeleteGroup(ctx, "logs"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"p1/*", "shipper/*"} {
			for _, path := range must(filepath.Glob(filepath.Join(s.dir, name)))(t) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
