package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// TestUploadIsCompared: without a digest in the draft, the digest that the server has is compared with the bytes that were
// sent, also where a part of them was sent twice. No piece is larger than what nginx takes.
func TestUploadIsCompared(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 250_000)
	for _, test := range []struct {
		damage  byte
		want    string
		removed bool
	}{{0, "", false}, {1, "the server stored other bytes", true}} {
		var stored []byte
		var removed atomic.Bool
		cuts := 1
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Upload-Offset", strconv.Itoa(len(stored)))
			switch r.Method {
			case http.MethodPost:
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, `{"id":"f","offset":0}`)
			case http.MethodPatch:
				body, _ := io.ReadAll(r.Body)
				if len(body) > 1<<20 { // as nginx does
					w.WriteHeader(http.StatusRequestEntityTooLarge)
					return
				}
				if cuts > 0 { // what arrived last is lost
					cuts--
					stored = append(stored, body[:70_000]...)
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				stored = append(stored, body...)
				stored[len(stored)-1] += test.damage
				w.Header().Set("Upload-Offset", strconv.Itoa(len(stored)))
				w.WriteHeader(http.StatusNoContent)
			case http.MethodHead:
				w.Header().Set("ETag", fmt.Sprintf("%q", digestOf(stored)))
			case http.MethodDelete:
				removed.Store(true)
				w.WriteHeader(http.StatusNoContent)
			}
		}))
		c, err := New(server.URL, StaticToken("t"))
		if err != nil {
			t.Fatal(err)
		}
		id, err := c.UploadFile(t.Context(), "g", FileDraft{Name: "n", Size: int64(len(content))}, bytes.NewReader(content))
		server.Close()
		if test.want == "" && (err != nil || id != "f") || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("damage %d: got %q, %v", test.damage, id, err)
		}
		if removed.Load() != test.removed {
			t.Errorf("damage %d: removed is %v", test.damage, removed.Load())
		}
	}
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// TestDigestOfPiecesReadAgain: each byte counts once, whatever is read again, and what was not read is read at the end.
func TestDigestOfPiecesReadAgain(t *testing.T) {
	content := []byte("0123456789abcdef")
	d := &digestedAt{content: bytes.NewReader(content), digest: sha256.New()}
	for _, piece := range [][2]int{{0, 4}, {2, 8}, {0, 3}, {12, 14}, {7, 10}} {
		if _, err := d.ReadAt(make([]byte, piece[1]-piece[0]), int64(piece[0])); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := d.sum(int64(len(content))); err != nil || got != digestOf(content) || d.done != 10 {
		t.Errorf("got %s, %v after %d bytes; want %s after 10", got, err, d.done, digestOf(content))
	}
	if _, err := d.sum(int64(len(content)) + 1); err == nil {
		t.Error("a content that is too short has a digest")
	}
}

// TestUploadThroughAProxyThatLimitsBodies: pieces fit the limit of an nginx as installed, smaller ones are found where the limit is
// lower, once for all uploads, and a limit that nothing fits is an error that says what to do.
func TestUploadThroughAProxyThatLimitsBodies(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 250_000)
	for _, test := range []struct {
		limit   int64
		refused int // by the proxy, in two uploads
		want    string
	}{{1 << 20, 0, ""}, {100_000, 4, ""}, {1000, 8, "client_max_body_size"}} {
		var stored []byte
		refused := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPost:
				stored = nil
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, `{"id":"f","offset":0}`)
			case r.ContentLength > test.limit:
				refused++
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				_, _ = io.WriteString(w, "<html><h1>413 Request Entity Too Large</h1></html>")
			default:
				body, _ := io.ReadAll(r.Body)
				stored = append(stored, body...)
				w.Header().Set("Upload-Offset", strconv.Itoa(len(stored)))
				w.WriteHeader(http.StatusNoContent)
			}
		}))
		c, err := New(server.URL, StaticToken("t"))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			draft := FileDraft{Name: "n", Size: int64(len(content)), SHA256: digestOf(content)}
			_, err = c.UploadFile(t.Context(), "g", draft, bytes.NewReader(content))
			if test.want == "" && (err != nil || !bytes.Equal(stored, content)) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("limit %d: got %d bytes of %d, %v", test.limit, len(stored), len(content), err)
			}
		}
		server.Close()
		if refused != test.refused {
			t.Errorf("limit %d: %d pieces are refused, want %d", test.limit, refused, test.refused)
		}
	}
}
