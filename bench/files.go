package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/ship"
)

const (
	fileBytes    = 64 << 20 // of one transfer
	filesEach    = 4
	partBytes    = 64 << 10
	partsShipped = 500
	uploadsHeld  = 16
)

// transfers moves files through a whole node and through Go's file server, both of which keep them in a folder.
func transfers(b *bench) {
	b.table.section("files: a whole node beside Go's file server")
	address := b.serve(false)
	owner := userOf(address, "owner")
	must(owner.CreateGroup(b.ctx, client.GroupDraft{ID: "files", Members: []string{"member"}}))
	content := bytes.Repeat([]byte("0123456789abcdef"), max(1, scaled(fileBytes)/16))
	b.upload(address, owner, content)
	b.parts(address, owner)
	heldUploads(b, address, owner)
}

// upload measures uploads, then downloads of what was uploaded.
func (b *bench) upload(address string, owner *client.Client, content []byte) {
	dir := b.tb.TempDir()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
		} else if err := storeFile(filepath.Join(dir, "file"), r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	defer plain.Close()
	ask := func(method, url, token string, body io.Reader) error {
		req, err := http.NewRequestWithContext(b.ctx, method, url, body)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		return answered(plain.Client(), req, http.StatusOK)
	}
	raw := megabytes(content, func() error { return ask(http.MethodPut, plain.URL+"/file", "", bytes.NewReader(content)) })
	b.table.rate("MB uploaded to a handler that writes and syncs a file", raw, raw, "")
	var id string
	rate := megabytes(content, func() (err error) {
		id, err = owner.UploadFile(b.ctx, "files", client.FileDraft{Name: "file", Size: int64(len(content))}, bytes.NewReader(content))
		return err
	})
	b.table.rate("MB uploaded to a node, with the digest at both ends", rate, raw, "the handler")
	raw = megabytes(content, func() error { return ask(http.MethodGet, plain.URL+"/file", "", nil) })
	b.table.rate("MB downloaded from Go's file server", raw, raw, "")
	token := tokenOf("owner")
	rate = megabytes(content, func() error { return ask(http.MethodGet, address+"/v1/groups/files/files/"+id, token, nil) })
	b.table.rate("MB downloaded from a node", rate, raw, "Go's file server")
}

// storeFile writes a file that outlives a power failure.
func storeFile(path string, content io.Reader) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Sync(), file.Close())
}

// megabytes is how many of them a transfer moves in a second.
func megabytes(content []byte, transfer func() error) float64 {
	begin := time.Now()
	for range filesEach {
		ok(transfer())
	}
	return float64(len(content)) * filesEach / 1e6 / time.Since(begin).Seconds()
}

// parts ships a file in small parts, and processes them.
func (b *bench) parts(address string, owner *client.Client) {
	path := filepath.Join(b.tb.TempDir(), "log")
	line := strings.Repeat("x", 127) + "\n"
	n := scaled(partsShipped)
	ok(os.WriteFile(path, []byte(strings.Repeat(line, n*partBytes/len(line))), 0o600))
	keep := int64(0)
	must(owner.CreateGroup(b.ctx, client.GroupDraft{ID: "parts", Members: []string{"member"}, Overflow: "block", Keep: &keep}))
	begin := time.Now()
	ok(ship.Files(b.ctx, owner, ship.Options{Group: "parts", Paths: []string{path}, Segment: partBytes}))
	b.table.rate("parts of 64 KiB shipped", float64(n)/time.Since(begin).Seconds(), 0, "")
	member := userOf(address, "member")
	begin = time.Now()
	ok(ship.Process(b.ctx, member, ship.ProcessOptions{Group: "parts"}, func(_ context.Context, part ship.Part) (string, error) {
		_, err := io.Copy(io.Discard, part.Lines)
		return "", err
	}))
	b.table.rate("parts of 64 KiB processed", float64(n)/time.Since(begin).Seconds(), 0, "")
}

// heldUploads holds uploads in their middle and looks at the memory of the process, in which the node runs.
func heldUploads(b *bench, address string, owner *client.Client) {
	token := tokenOf("owner")
	host := strings.TrimPrefix(address, "http://")
	heap, stacks, _ := memoryNow()
	for range uploadsHeld {
		upload := must(owner.CreateUpload(b.ctx, "files", client.FileDraft{Name: "held", Size: 1 << 20}))
		conn := must((&net.Dialer{}).DialContext(b.ctx, "tcp", host))
		defer conn.Close()
		must(fmt.Fprintf(conn, "PATCH /v1/groups/files/files/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/offset+octet-stream\r\n"+
			"Upload-Offset: 0\r\nContent-Length: 1048576\r\n\r\n%s", upload.ID, host, token, strings.Repeat("x", 256<<10)))
	}
	ok(pause(b.ctx, shorter(time.Second)))
	heapHeld, stacksHeld, _ := memoryNow()
	b.table.count("memory of an upload under way (goal: 64 KiB)", "%.0f KiB", float64(heapHeld+stacksHeld-heap-stacks)/uploadsHeld/1024)
}
