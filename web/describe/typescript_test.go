package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/internal/npm"
)

// TestTypesOfClientsCompile has openapi-typescript make types of the description, and compiles what a client does with them.
func TestTypesOfClientsCompile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{"../openapi.yaml": "openapi.yaml"}
	for _, name := range []string{"package.json", "tsconfig.json", "client.ts"} {
		files["typescript/"+name] = filepath.Join("describe", "typescript", name)
	}
	for from, to := range files {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		to = filepath.Join(dir, to)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	modules, err := npm.Install(t.Context(), "typescript")
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "describe", "typescript")
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := npm.Run(t.Context(), dir, "npm", "run", "--silent", "check"); err != nil {
		t.Fatal(err)
	}
}
