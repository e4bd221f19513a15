package sdk

import (
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/internal/jstest"
)

// TestJavaScript runs each file of js/test with node: `go test ./sdk -run JavaScript/log` for js/test/log.test.js.
func TestJavaScript(t *testing.T) {
	t.Parallel()
	dir := jstest.Sources(t)
	files, err := filepath.Glob(filepath.Join(dir, "test", "*.test.js"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in js/test (%v)", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name[:len(name)-len(".test.js")], func(t *testing.T) {
			t.Parallel()
			jstest.Run(t, dir, nil, filepath.Join("test", name))
		})
	}
}
