package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestGeneratedFilesAreFresh generates again and compares: a change of openapi.yaml must come with the generated files.
func TestGeneratedFilesAreFresh(t *testing.T) {
	files, err := describe("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what openapi.yaml gives: run `go generate ./web/...`", name)
		}
	}
}
