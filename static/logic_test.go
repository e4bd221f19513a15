package static

import (
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/internal/jstest"
	"github.com/chatd/chatd/internal/npm"
)

// TestPageLogic runs each file of test/ with node: `go test ./static -run PageLogic/markdown` for test/markdown.test.js.
func TestPageLogic(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("test/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in test/ (%v)", err)
	}
	dir := t.TempDir()
	if err := npm.Esbuild(t.Context(), ".", append(files, "--bundle", "--platform=node", "--format=esm", "--out-extension:.js=.mjs", "--sourcemap=inline", "--outdir="+dir)...); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		name = name[:len(name)-len(".js")]
		t.Run(name[:len(name)-len(".test")], func(t *testing.T) {
			t.Parallel()
			jstest.Run(t, dir, nil, name+".mjs")
		})
	}
}
