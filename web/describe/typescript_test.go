package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTypesOfClientsCompile has openapi-typescript make types of the description, and compiles what a client does with them.
func TestTypesOfClientsCompile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{"../openapi.yaml": "openapi.yaml"}
	for _, name := range []string{"package.json", "package-lock.json", "tsconfig.json", "client.ts"} {
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
	for _, args := range [][]string{{"ci", "--no-audit", "--no-fund", "--ignore-scripts"}, {"run", "--silent", "check"}} {
		cmd := exec.CommandContext(t.Context(), "npm", args...)
		cmd.Dir = filepath.Join(dir, "describe", "typescript")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm %v: %v\n%s", args, err, out)
		}
	}
}
