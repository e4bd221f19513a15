package sdk

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// TestSizes bounds what a page loads of a bundle, compressed.
func TestSizes(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{
		"js/dist/chatd.js":     27_800,
		"js/dist/indexeddb.js": 4 << 10,
		"js/dist/widget.js":    64_000, // with the client and its store
		"react/dist/index.js":  1 << 10,
	} {
		body, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(body)
		}
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if packed.Len() > most {
			t.Errorf("%s has %d bytes compressed, want at most %d", name, packed.Len(), most)
		}
	}
}
