package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestDistIsFresh makes dist/ again from a copy of the sources and compares.
func TestDistIsFresh(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"js", "react"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("..", name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		dist := filepath.Join(p.name, "dist")
		got, want := files(t, filepath.Join("..", dist)), files(t, filepath.Join(dir, dist))
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("sdk/%s/%s is not what the sources give: run `go generate ./sdk`", dist, name)
			}
			delete(got, name)
		}
		for name := range got {
			t.Errorf("nothing makes sdk/%s/%s: run `go generate ./sdk`", dist, name)
		}
	}
}

// files returns the content of the files in a folder by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := fs.ReadFile(os.DirFS(dir), entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		found[entry.Name()] = string(text)
	}
	if len(found) == 0 {
		t.Fatalf("%s is empty", dir)
	}
	return found
}
