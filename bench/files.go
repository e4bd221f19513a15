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
	"runtime"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/ship"
	"github.com/chatd/chatd/web/auth"
)

const (
	fileBytes    = 64 << 20 // of one transfer
	filesEach    = 4
	partBytes    = 64 << 10
	partsShipped = 500
	uploadsHeld  = 16
)

// transfers moves files through a whole node and through Go's file server, both of which keep them in a folder.
func transfers(b *bench) error {
	b.table.section("files: a whole node beside Go's file server")
	address, err := b.serve(false)
	if err != nil {
		return err
	}
	owner, err := userOf(address, "owner")
	if err != nil {
		return err
	}
	if _, err := owner.CreateGroup(b.ctx, client.GroupDraft{ID: "files", Members: []string{"member"}}); err != nil {
		return err
	}
	content := bytes.Repeat([]byte("0123456789abcdef"), max(1, scaled(fileBytes)/16))
	if err := b.upload(address, owner, content); err != nil {
		return err
	}
	if err := b.parts(address, owner); err != nil {
		return err
	}
	return heldUploads(b, address, owner)
}

// userOf is a client of the node.
func userOf(address, user string) (*client.Client, error) {
	token, err := tokenOf(user)
	if err != nil {
		return nil, err
	}
	return client.New(address, client.StaticToken(token))
}

func tokenOf(user string) (string, error) {
	token, _, err := auth.SignToken([]byte(secret), auth.Claims{User: user, TTL: time.Hour}, time.Now())
	return token, err
}

// upload measures uploads, then downloads of what was uploaded.
func (b *bench) upload(address string, owner *client.Client, content []byte) error {
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
		resp, err := plain.Client().Do(req)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", method, resp.Status)
		}
		return errors.Join(err, resp.Body.Close())
	}
	raw, err := megabytes(content, func() error { return ask(http.MethodPut, plain.URL+"/file", "", bytes.NewReader(content)) })
	if err != nil {
		return err
	}
	b.table.rate("MB uploaded to a handler that writes and syncs a file", raw, raw, "")
	var id string
	rate, err := megabytes(content, func() (err error) {
		id, err = owner.UploadFile(b.ctx, "files", client.FileDraft{Name: "file", Size: int64(len(content))}, bytes.NewReader(content))
		return err
	})
	if err != nil {
		return err
	}
	b.table.rate("MB uploaded to a node, with the digest at both ends", rate, raw, "the handler")
	if raw, err = megabytes(content, func() error { return ask(http.MethodGet, plain.URL+"/file", "", nil) }); err != nil {
		return err
	}
	b.table.rate("MB downloaded from Go's file server", raw, raw, "")
	token, err := tokenOf("owner")
	if err != nil {
		return err
	}
	rate, err = megabytes(content, func() error { return ask(http.MethodGet, address+"/v1/groups/files/files/"+id, token, nil) })
	if err != nil {
		return err
	}
	b.table.rate("MB downloaded from a node", rate, raw, "Go's file server")
	return nil
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
func megabytes(content []byte, transfer func() error) (float64, error) {
	begin := time.Now()
	for range filesEach {
		if err := transfer(); err != nil {
			return 0, err
		}
	}
	return float64(len(content)) * filesEach / 1e6 / time.Since(begin).Seconds(), nil
}

// parts ships a file in small parts, and processes them.
func (b *bench) parts(address string, owner *client.Client) error {
	path := filepath.Join(b.tb.TempDir(), "log")
	line := strings.Repeat("x", 127) + "\n"
	n := scaled(partsShipped)
	if err := os.WriteFile(path, []byte(strings.Repeat(line, n*partBytes/len(line))), 0o600); err != nil {
		return err
	}
	keep := int64(0)
	if _, err := owner.CreateGroup(b.ctx, client.GroupDraft{ID: "parts", Members: []string{"member"}, Overflow: "block", Keep: &keep}); err != nil {
		return err
	}
	begin := time.Now()
	if err := ship.Files(b.ctx, owner, ship.Options{Group: "parts", Paths: []string{path}, Segment: partBytes}); err != nil {
		return err
	}
	b.table.rate("parts of 64 KiB shipped", float64(n)/time.Since(begin).Seconds(), 0, "")
	member, err := userOf(address, "member")
	if err != nil {
		return err
	}
	begin = time.Now()
	err = ship.Process(b.ctx, member, ship.ProcessOptions{Group: "parts"}, func(_ context.Context, part ship.Part) (string, error) {
		_, err := io.Copy(io.Discard, part.Lines)
		return "", err
	})
	b.table.rate("parts of 64 KiB processed", float64(n)/time.Since(begin).Seconds(), 0, "")
	return err
}

// heldUploads holds uploads in their middle and looks at the memory of the process, in which the node runs.
func heldUploads(b *bench, address string, owner *client.Client) error {
	token, err := tokenOf("owner")
	if err != nil {
		return err
	}
	host := strings.TrimPrefix(address, "http://")
	before := memoryUsed()
	for range uploadsHeld {
		upload, err := owner.CreateUpload(b.ctx, "files", client.FileDraft{Name: "held", Size: 1 << 20})
		if err != nil {
			return err
		}
		conn, err := (&net.Dialer{}).DialContext(b.ctx, "tcp", host)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "PATCH /v1/groups/files/files/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/offset+octet-stream\r\n"+
			"Upload-Offset: 0\r\nContent-Length: 1048576\r\n\r\n%s", upload.ID, host, token, strings.Repeat("x", 256<<10))
		if err != nil {
			return err
		}
	}
	if err := pause(b.ctx, shorter(time.Second)); err != nil {
		return err
	}
	b.table.count("memory of an upload under way (goal: 64 KiB)", "%.0f KiB", float64(memoryUsed()-before)/uploadsHeld/1024)
	return nil
}

// memoryUsed is what the process needs for objects and stacks.
func memoryUsed() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc + stats.StackInuse)
}
