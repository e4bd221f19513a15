package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/dump"
	"github.com/chatd/chatd/store/embedded"
)

// TestExportsGoOn interrupts the export of an embedded store: what is there is no export, and the next one goes on, unless anyone has
// opened the store since.
func TestExportsGoOn(t *testing.T) {
	c, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	c.Data, c.Archive = t.TempDir(), "off"
	use := func(do func(*store.Store) error) {
		t.Helper()
		dir := filepath.Join(c.Data, "store")
		server, err := embedded.Open(t.Context(), embedded.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), store.Options{Embedded: server})
		if err == nil {
			err = errors.Join(do(s), s.Close())
		}
		if err := errors.Join(err, server.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(c.Data, "store"), 0o700); err != nil {
		t.Fatal(err)
	}
	use(func(s *store.Store) error {
		for n := range 500 {
			if err := s.AddUserGroups(t.Context(), []string{fmt.Sprint("user", n)}, chat.UserGroup{Group: "g"}); err != nil {
				return err
			}
		}
		return nil
	})
	for _, opened := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "all.zst")
		ctx, cancel := context.WithCancel(t.Context())
		_, err := c.Export(ctx, path, dump.Options{SaveBytes: 1, Progress: func(done, _ int64) {
			if done >= 200 {
				cancel()
			}
		}}, new(bytes.Buffer))
		cancel()
		if err == nil || !strings.Contains(err.Error(), "goes on where it was") {
			t.Fatalf("an export that was interrupted: got %v", err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it has left the file: %v", err)
		}
		empty := c
		empty.Data = t.TempDir()
		if _, err := empty.Import(t.Context(), path+".part", dump.Options{}, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("an import of a part: got %v", err)
		}
		if opened {
			use(func(*store.Store) error { return nil })
		}
		var output bytes.Buffer
		begun := int64(0)
		counts, err := c.Export(t.Context(), path, dump.Options{Progress: func(done, _ int64) {
			if begun == 0 {
				begun = done
			}
		}}, &output)
		if err != nil {
			t.Fatal(err)
		}
		if (begun > 100) == opened || strings.Contains(output.String(), "begins again") != opened {
			t.Errorf("opened since: %v; it begins at %d and says %q", opened, begun, output.String())
		}
		imported, err := empty.Import(t.Context(), path, dump.Options{}, new(bytes.Buffer))
		if err != nil || imported != counts || counts.Keys < 500 {
			t.Errorf("the import: got %+v, %v, want %+v", imported, err, counts)
		}
		if left, err := filepath.Glob(path + ".part*"); err != nil || len(left) > 0 {
			t.Errorf("it has left %v, %v", left, err)
		}
	}
}
