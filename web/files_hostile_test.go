package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestHostileMetadata: names are as strict in the headers of tus as in JSON, and an id is never a path.
func TestHostileMetadata(t *testing.T) {
	s := withG(t, nil)
	for _, name := range []string{"../a", `..\a`, "a\x00", "a\r\nSet-Cookie: x=y", "\xff", strings.Repeat("a", 256)} {
		a := s.do(request{method: "POST", path: filesOfG, user: "alice", header: map[string]string{
			"Tus-Resumable": "1.0.0", "Upload-Length": "1", "Upload-Metadata": "filename " + base64.StdEncoding.EncodeToString([]byte(name))}})
		checkProblem(t, strconv.Quote(name), a, 400, "invalid_request")
	}
	a := s.do(request{method: "POST", path: filesOfG, user: "alice", header: map[string]string{
		"Tus-Resumable": "1.0.0", "Upload-Length": "1", "Upload-Metadata": "filename " + strings.Repeat("QUFB", 1100)}})
	checkProblem(t, "4,400 bytes of metadata", a, 400, "invalid_request")
	for _, id := range []string{"..%2F..%2Fchatd-blobs", "%2e%2e", "..%5C..%5Cx", "a%00b", "%2Fetc%2Fpasswd", strings.Repeat("a", 4096)} {
		for _, method := range []string{"GET", "PATCH", "DELETE"} {
			a := s.do(request{method: method, path: filesOfG + "/" + id, user: "alice", header: map[string]string{"Upload-Offset": "0"}})
			if a.status != http.StatusNotFound && a.status != http.StatusBadRequest {
				t.Errorf("%s %.40s: %d %s", method, id, a.status, a.body)
			}
		}
	}
}

// TestRangeAbuse: whatever is asked for, an answer has at most the bytes of the file.
func TestRangeAbuse(t *testing.T) {
	s := withG(t, nil)
	content := randomText(10_000)
	path := s.upload("a", "", content)
	for _, c := range []struct {
		ranges string
		status int
		body   string
	}{
		{"bytes=0-99999999999999", 206, content},
		{"bytes=-99999999999999", 206, content},
		{"bytes=9999-9223372036854775807", 206, content[9999:]},
		{"bytes=0-18446744073709551616", 206, content}, // more than 63 bits
		{"bytes=18446744073709551616-", 416, ""},
		{"bytes=9223372036854775807-9223372036854775807", 416, ""},
		{"bytes=5-4", 416, ""},
		{"bytes=0010-9", 416, ""},
		{"bytes=-0", 416, ""},
		{"bytes=-000", 416, ""},
		{"bytes=-+0", 416, ""},
		{"bytes=- 0", 416, ""},
		{"bytes=+1-3", 416, ""},
		{"bytes=-", 416, ""},
		{"BYTES=-0", 416, ""},
		{"Bytes=1-2", 206, content[1:3]},
		{"bYTES=-3", 206, content[9997:]},
		{"lines=1-2", 200, content},
		{"items=-0", 200, content},
		{"bytes", 200, content},
		{"bytes=--5", 416, ""},
		{"bytes=0-0,-1", 200, content},
		{"bytes=0-9999,0-9999,0-9999,1-9998", 200, content},
		{"bytes=" + strings.Repeat("0-9999,", 1000) + "0-1", 200, content},
	} {
		a := s.do(request{method: "GET", path: path, user: "alice", header: map[string]string{"Range": c.ranges}})
		if a.status != c.status || c.status != 416 && a.body != c.body {
			t.Errorf("%.50s: got %d and %d bytes, want %d and %d", c.ranges, a.status, len(a.body), c.status, len(c.body))
		}
		if c.status == 416 {
			checkProblem(t, c.ranges, a, 416, "invalid_request")
			if got, want := a.header.Get("Content-Range"), "bytes */10000"; got != want {
				t.Errorf("%.50s: Content-Range %q, want %q", c.ranges, got, want)
			}
		}
		if strings.HasPrefix(a.header.Get("Content-Type"), "multipart/") {
			t.Errorf("%.50s: an answer of many parts", c.ranges)
		}
	}
}

// TestBombs: nothing is ever unpacked, whatever its sender says of it, and no picture is decoded that is too large.
func TestBombs(t *testing.T) {
	s := withG(t, nil)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(make([]byte, 10<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := s.create(fmt.Sprintf(`{"name":"a.gz","type":"application/gzip","size":%d}`, packed.Len()))
	checkProblem(t, "a packed body", s.patch("alice", path, 0, packed.String(), "Content-Encoding", "gzip"), 415, "invalid_request")
	if a := s.patch("alice", path, 0, packed.String()); a.status != 204 {
		t.Errorf("PATCH: %d %s", a.status, a.body)
	}
	a := s.do(request{method: "GET", path: path, user: "alice", header: map[string]string{"Accept-Encoding": "gzip"}})
	if a.body != packed.String() || a.header.Get("Content-Encoding") != "" || a.header.Get("Content-Type") != "application/gzip" {
		t.Errorf("GET: %d bytes of %d, %v", len(a.body), packed.Len(), a.header)
	}

	chunk := func(kind string, data []byte) []byte {
		body := append([]byte(kind), data...)
		return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(data))), body, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 50_000), 50_000)
	bomb := slices.Concat([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, 8, 6, 0, 0, 0)), chunk("IDAT", packed.Bytes()), chunk("IEND", nil))
	path = s.upload("b.png", "image/png", string(bomb))
	checkProblem(t, "the preview of 2,500 million pixels", s.do(request{method: "GET", path: path + "?size=preview", user: "alice"}), 404, "not_found")
	if a := s.must("alice", "GET", path+"?inline=1", ""); a.body != string(bomb) {
		t.Errorf("got %d bytes of %d", len(a.body), len(bomb))
	}
}

// TestRemovedInTheMiddle removes a member while a request of theirs uploads: what comes after that is not stored.
func TestRemovedInTheMiddle(t *testing.T) {
	for name, remove := range map[string]func(s *server){
		"removed":  func(s *server) { s.must("alice", "DELETE", "/v1/groups/g/members/bob", "") },
		"silenced": func(s *server) { s.must("alice", "PATCH", "/v1/groups/g", `{"post":"admins"}`) },
		"no group": func(s *server) { s.must("alice", "DELETE", "/v1/groups/g", "") },
	} {
		t.Run(name, func(t *testing.T) {
			s := withG(t, nil)
			path := s.must("bob", "POST", filesOfG, `{"name":"n","size":100000}`).header.Get("Location")
			content := randomText(100_000)
			body, rest := io.Pipe()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, s.url+path, body)
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = int64(len(content))
			req.Header.Set("Authorization", "Bearer "+token(t, "bob", ""))
			req.Header.Set("Content-Type", "application/offset+octet-stream")
			req.Header.Set("Upload-Offset", "0")
			wrote := make(chan error, 1)
			go func() {
				_, err := rest.Write([]byte(content[:50_000])) // the transport has taken all of it, so the request is under way
				remove(s)
				if err == nil {
					_, err = rest.Write([]byte(content[50_000:]))
				}
				_ = rest.CloseWithError(err)
				wrote <- err
			}()
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if want := map[string]int{"silenced": http.StatusForbidden}[name]; resp.StatusCode != want && (want != 0 || resp.StatusCode != http.StatusNotFound) {
				t.Errorf("PATCH: %d", resp.StatusCode)
			}
			if err := <-wrote; err != nil { // whether all of it can be written is up to the server
				t.Logf("not all was written: %v", err)
			}
			if a := s.do(request{method: "GET", path: path, user: "bob"}); a.status != http.StatusNotFound {
				t.Errorf("GET: %d %s", a.status, a.body)
			}
		})
	}
}
