package conformance

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/internal/jstest"
)

// TestNode runs the scenarios with the JavaScript client as it is published.
func TestNode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := os.ReadFile("node.mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "node.mjs"), text, 0o600)
	}
	if err == nil {
		err = os.Symlink(jstest.Modules(t), filepath.Join(dir, "node_modules")) // for ws
	}
	if err != nil {
		t.Fatal(err)
	}
	client := filepath.Join(jstest.Root(t), "sdk", "js", "dist", "chatd.js")
	for _, s := range Scenarios(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			Run(t, s, func(t *testing.T) *Driver { return Start(t, "node", filepath.Join(dir, "node.mjs"), client) })
		})
	}
}
