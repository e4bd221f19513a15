package api

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGeneratedCodeIsFresh generates again and compares: a change of openapi.yaml comes with what follows from it.
func TestGeneratedCodeIsFresh(t *testing.T) {
	config, err := os.ReadFile("config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	fresh, elsewhere := filepath.Join(dir, "api.gen.go"), filepath.Join(dir, "config.yaml")
	config = bytes.Replace(config, []byte("output: api.gen.go"), []byte("output: "+fresh), 1)
	if err := os.WriteFile(elsewhere, config, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "-modfile=../../tools.mod", "oapi-codegen", "-config", elsewhere, "../openapi.yaml").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("api.gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("api.gen.go is not what openapi.yaml gives: run `go generate ./web/...`")
	}
}
