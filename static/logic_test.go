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
	args := append([]string{
		"--alias:preact=./vendor/preact.js", "--alias:preact/hooks=./vendor/preact-hooks.js", "--alias:preact/jsx-runtime=./vendor/preact-jsx.js",
		"--bundle", "--platform=node", "--format=esm", "--out-extension:.js=.mjs", "--sourcemap=inline", "--outdir=" + dir,
	}, files...)
	if err := npm.Esbuild(t.Context(), ".", args...); err != nil {
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
