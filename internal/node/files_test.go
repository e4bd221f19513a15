package node

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/redistest"
)

// TestNodesHaveTheSameFiles: a node does not start where it would not find the files of the others.
func TestNodesHaveTheSameFiles(t *testing.T) {
	url := redistest.Start(t).URL()
	folder, other := t.TempDir(), t.TempDir()
	open := func(files string) error {
		t.Helper()
		c, err := Default()
		if err != nil {
			t.Fatal(err)
		}
		c.Addr, c.Data, c.JWTSecret, c.Redis, c.Files = "127.0.0.1:0", t.TempDir(), strings.Repeat("s", 32), url, files
		n, err := Open(t.Context(), c, io.Discard)
		if err != nil {
			return err
		}
		return n.Close()
	}
	refuses := func(files, want string) {
		t.Helper()
		if err := open(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CHATD_FILES=%s: got %v, want an error with %q", files, err, want)
		}
	}
	takes := func(files string) {
		t.Helper()
		if err := open(files); err != nil {
			t.Errorf("CHATD_FILES=%s: %v", files, err)
		}
	}
	strange := filepath.Join(t.TempDir(), "blobs", "AB")
	if err := os.MkdirAll(strange, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(strange, "ABCD-0"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	takes("")
	refuses("dir:"+filepath.Dir(filepath.Dir(strange)), "the store knows none") // it would remove them
	takes("dir:" + folder)
	takes("dir:" + folder)
	refuses("dir:"+other, "another folder or bucket")
	refuses("", "the store has files")
	takes("off")
	if err := os.Remove(filepath.Join(folder, "chatd-blobs")); err != nil {
		t.Fatal(err)
	}
	refuses("dir:"+folder, "another folder or bucket") // a disk that is not mounted
}
