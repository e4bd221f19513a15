package node

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestFilesAreNotReplaced: with and without hard links.
func TestFilesAreNotReplaced(t *testing.T) {
	noLinks := func(from, to string) error {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: errors.ErrUnsupported}
	}
	for what, link := range map[string]func(from, to string) error{"hard links": os.Link, "no hard links": noLinks} {
		dir := t.TempDir()
		part, path := filepath.Join(dir, "f.part"), filepath.Join(dir, "f")
		write := func(text string) {
			_ = os.Remove(part)
			if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("first")
		if err := publish(part, path, link); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		write("second")
		if err := publish(part, path, link); !errors.Is(err, os.ErrExist) {
			t.Errorf("%s: a second file: got %v", what, err)
		}
		text, err := os.ReadFile(path)
		if err != nil || string(text) != "first" {
			t.Errorf("%s: got %q, %v", what, text, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 2 {
			t.Errorf("%s: got %v, %v", what, left, err)
		}
	}
}
