package web_test

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	_ "image/jpeg"
	"image/png"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
)

const filesOfG = "/v1/groups/g/files"

// withG starts a node with the group g of alice and bob.
func withG(t *testing.T, change func(*node.Config)) *server {
	s := start(t, change)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	return s
}

// create begins an upload of alice's and returns its path.
func (s *server) create(body string) string {
	s.t.Helper()
	a := s.must("alice", "POST", filesOfG, body)
	if want := filesOfG + "/" + a.field("id").(string); a.header.Get("Location") != want || a.field("offset") != float64(0) {
		s.t.Fatalf("got %s at %q, want it at %s", a.body, a.header.Get("Location"), want)
	}
	return a.header.Get("Location")
}

// patch adds bytes to an upload.
func (s *server) patch(user, path string, offset int, body string, header ...string) answer {
	s.t.Helper()
	all := map[string]string{"Content-Type": "application/offset+octet-stream", "Upload-Offset": strconv.Itoa(offset), "Tus-Resumable": "1.0.0"}
	for i := 0; i < len(header); i += 2 {
		all[header[i]] = header[i+1]
	}
	return s.do(request{method: "PATCH", path: path, body: body, user: user, header: all})
}

// offset is how many bytes of an upload are there, by HEAD; -1: it is not there.
func (s *server) offset(path string) int {
	s.t.Helper()
	a := s.do(request{method: "HEAD", path: path, user: "alice"})
	if a.status == http.StatusNotFound {
		return -1
	}
	n, err := strconv.Atoi(a.header.Get("Upload-Offset"))
	if a.status != http.StatusOK || err != nil {
		s.t.Fatalf("HEAD %s: %d, offset %q", path, a.status, a.header.Get("Upload-Offset"))
	}
	return n
}

// upload uploads a whole file of alice's and returns its path.
func (s *server) upload(name, kind, content string) string {
	s.t.Helper()
	path := s.create(fmt.Sprintf(`{"name":%q,"type":%q,"size":%d}`, name, kind, len(content)))
	if a := s.patch("alice", path, 0, content); a.status != http.StatusNoContent || a.header.Get("Upload-Offset") != strconv.Itoa(len(content)) {
		s.t.Fatalf("PATCH: %d %s, at %s of %d", a.status, a.body, a.header.Get("Upload-Offset"), len(content))
	}
	return path
}

func randomText(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.IntN(256))
	}
	return string(b)
}

func TestFileIsServed(t *testing.T) {
	s := withG(t, nil)
	content := randomText(100_000)
	sum := sha256.Sum256([]byte(content))
	tag := `"` + hex.EncodeToString(sum[:]) + `"`
	path := s.create(fmt.Sprintf(`{"name":"Bericht \"ä\".pdf","type":"application/pdf","size":100000,"sha256":%q}`, hex.EncodeToString(sum[:])))
	if n := s.offset(path); n != 0 {
		t.Errorf("a new upload is at %d", n)
	}
	checkProblem(t, "an upload is read", s.do(request{method: "GET", path: path, user: "alice"}), 404, "not_found")
	s.patch("alice", path, 0, content[:30_000])
	if n := s.offset(path); n != 30_000 {
		t.Errorf("got offset %d, want 30000", n)
	}
	s.patch("alice", path, 30_000, content[30_000:])
	a := s.must("alice", "GET", path, "")
	if a.body != content {
		t.Errorf("got %d other bytes", len(a.body))
	}
	for name, want := range map[string]string{
		"Content-Type": "application/pdf", "X-Content-Type-Options": "nosniff", "ETag": tag, "Cache-Control": "private, no-cache",
		"Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'", "Accept-Ranges": "bytes", "Content-Length": "100000",
		"Content-Disposition": `attachment; filename="Bericht ___.pdf"; filename*=UTF-8''Bericht%20%22%C3%A4%22.pdf`,
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct {
		header map[string]string
		status int
		body   string
	}{
		{map[string]string{"Range": "bytes=10-19"}, 206, content[10:20]},
		{map[string]string{"Range": "bytes=-5"}, 206, content[99_995:]},
		{map[string]string{"Range": "bytes=10-19", "If-Range": tag}, 206, content[10:20]},
		{map[string]string{"Range": "bytes=10-19", "If-Range": `"other"`}, 200, content},
		{map[string]string{"Range": "bytes=0-1,3-4"}, 200, content},
		{map[string]string{"Range": "bytes=0-" + strings.Repeat(",0-", 3000)}, 200, content},
		{map[string]string{"Range": "lines=1"}, 200, content},
		{map[string]string{"Range": "bytes=100000-"}, 416, ""},
		{map[string]string{"If-None-Match": tag}, 304, ""},
	} {
		a := s.do(request{method: "GET", path: path, user: "alice", header: c.header})
		if a.status != c.status || c.status != 416 && a.body != c.body {
			t.Errorf("%.60v: got %d and %d bytes, want %d and %d", c.header, a.status, len(a.body), c.status, len(c.body))
		}
	}
	beyond := s.do(request{method: "GET", path: path, user: "alice", header: map[string]string{"Range": "bytes=100000-"}})
	checkProblem(t, "beyond the end", beyond, 416, "invalid_request")
	if beyond.header.Get("Content-Range") != "bytes */100000" || beyond.header.Get("Content-Disposition") != "" || beyond.header.Get("Cache-Control") != "no-store" {
		t.Errorf("beyond the end: %v", beyond.header)
	}
	checkProblem(t, "another file", s.do(request{method: "GET", path: path, user: "alice", header: map[string]string{"If-Match": `"other"`}}), 412, "conflict")
	checkProblem(t, "no file", s.do(request{method: "GET", path: path + "x", user: "alice"}), 404, "not_found")
	head := s.do(request{method: "HEAD", path: path, user: "alice"})
	if head.status != 200 || head.body != "" || head.header.Get("Content-Length") != "100000" || head.header.Get("ETag") != tag || head.header.Get("Upload-Offset") != "100000" {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
	for _, user := range []string{"bob", "carl"} {
		checkProblem(t, user+" reads what no message names", s.do(request{method: "GET", path: path, user: user}), 404, "not_found")
	}
	s.must("alice", "DELETE", path, "")
	checkProblem(t, "a removed file", s.do(request{method: "GET", path: path, user: "alice"}), 404, "not_found")
}

func TestTus(t *testing.T) {
	s := withG(t, nil)
	a := s.do(request{method: "OPTIONS", path: filesOfG})
	if a.status != 204 || a.header.Get("Tus-Version") != "1.0.0" || a.header.Get("Tus-Extension") != "creation,checksum,expiration,termination" ||
		a.header.Get("Allow") != "OPTIONS, POST" || a.header.Get("Tus-Max-Size") != "104857600" || a.header.Get("Tus-Checksum-Algorithm") != "sha1,sha256,md5" {
		t.Errorf("OPTIONS: %d %v", a.status, a.header)
	}
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	create := func(length, metadata string) answer {
		return s.do(request{method: "POST", path: filesOfG, user: "alice", header: map[string]string{
			"Tus-Resumable": "1.0.0", "Upload-Length": length, "Upload-Metadata": metadata}})
	}
	a = create("10", "filename "+encoded("a b.txt")+",filetype "+encoded("text/plain")+",relativePath,other "+encoded("x"))
	path := a.header.Get("Location")
	if a.status != 201 || a.header.Get("Tus-Resumable") != "1.0.0" || a.header.Get("Upload-Expires") == "" || path == "" {
		t.Fatalf("POST: %d %s %v", a.status, a.body, a.header)
	}
	checkProblem(t, "no length yet", s.do(request{method: "POST", path: filesOfG, user: "alice", header: map[string]string{"Upload-Defer-Length": "1"}}), 400, "invalid_request")
	for _, bad := range [][2]string{{"x", ""}, {"-1", ""}, {"+5", ""}, {"-0", ""}, {"5.0", ""}, {"9223372036854775808", ""}, {"10", "filename ä"}, {"10", "filename " + encoded("a/b")}, {"10", "sha256 " + encoded("x")},
		{"10", "filename " + encoded("a") + ",filename " + encoded("a")}, {"10", "other,filename " + encoded("a") + ",other"}} {
		checkProblem(t, bad[0]+" "+bad[1], create(bad[0], bad[1]), 400, "invalid_request")
	}
	checkProblem(t, "more than the maximum", create("104857601", ""), 413, "too_large")
	for _, method := range []string{"POST", "HEAD", "PATCH", "DELETE"} {
		to := path
		if method == "POST" {
			to = filesOfG
		}
		a := s.do(request{method: method, path: to, user: "alice", header: map[string]string{"Tus-Resumable": "0.2.2"}})
		if a.status != 412 || a.header.Get("Tus-Version") != "1.0.0" {
			t.Errorf("%s of another version: %d %v", method, a.status, a.header)
		}
		if method != "HEAD" {
			checkProblem(t, method+" of another version", a, 412, "conflict")
		}
	}
	checkProblem(t, "another offset", s.patch("alice", path, 5, "x"), 409, "conflict")
	checkProblem(t, "no offset", s.patch("alice", path, 0, "x", "Upload-Offset", ""), 400, "invalid_request")
	for _, offset := range []string{"+0", "-0", "0x0", " "} {
		checkProblem(t, "the offset "+offset, s.patch("alice", path, 0, "x", "Upload-Offset", offset), 400, "invalid_request")
	}
	checkProblem(t, "another type", s.patch("alice", path, 0, "x", "Content-Type", "text/plain"), 415, "invalid_request")
	checkProblem(t, "no type", s.patch("alice", path, 0, "x", "Content-Type", ""), 415, "invalid_request")
	checkProblem(t, "an algorithm", s.patch("alice", path, 0, "x", "Upload-Checksum", "crc32 AAAA"), 400, "invalid_request")
	wrong := sha1.Sum([]byte("y"))
	checkProblem(t, "a checksum", s.patch("alice", path, 0, "x", "Upload-Checksum", "sha1 "+base64.StdEncoding.EncodeToString(wrong[:])), 460, "invalid_request")
	if n := s.offset(path); n != 0 {
		t.Errorf("after a wrong checksum the upload is at %d", n)
	}
	right := sha1.Sum([]byte("hello"))
	if a := s.patch("alice", path, 0, "hello", "Upload-Checksum", "sha1 "+base64.StdEncoding.EncodeToString(right[:])); a.status != 204 || a.header.Get("Upload-Offset") != "5" {
		t.Errorf("a right checksum: %d %s", a.status, a.body)
	}
	checkProblem(t, "too long", s.patch("alice", path, 5, "world and more"), 413, "too_large")
	if n := s.offset(path); n != 5 {
		t.Errorf("after a body that is too long the upload is at %d", n)
	}
	if a := s.patch("alice", path, 5, "world"); a.status != 204 {
		t.Errorf("the rest: %d %s", a.status, a.body)
	}
	if a := s.must("alice", "GET", path, ""); a.body != "helloworld" || a.header.Get("Content-Type") != "text/plain" {
		t.Errorf("got %q of type %s", a.body, a.header.Get("Content-Type"))
	}
	path = s.create(`{"name":"n","size":3,"sha256":"` + strings.Repeat("0", 64) + `"}`)
	checkProblem(t, "another digest", s.patch("alice", path, 0, "abc"), 400, "invalid_request")
	if n := s.offset(path); n != -1 {
		t.Errorf("after another digest the upload is at %d", n)
	}
	path = s.create(`{"name":"empty","size":0}`)
	if a := s.must("alice", "GET", path, ""); a.body != "" || a.header.Get("Content-Length") != "0" {
		t.Errorf("an empty file: %d bytes, %v", len(a.body), a.header)
	}
}

// TestMethodOverride: clients that can only POST say which method they mean, for uploads alone.
func TestMethodOverride(t *testing.T) {
	s := withG(t, nil)
	path := s.create(`{"name":"n","size":5}`)
	post := func(path, method, body string) answer {
		return s.do(request{method: "POST", path: path, body: body, user: "alice", header: map[string]string{
			"X-HTTP-Method-Override": method, "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}})
	}
	if a := post(path, "PATCH", "hel"); a.status != 204 || a.header.Get("Upload-Offset") != "3" {
		t.Errorf("PATCH: %d %s", a.status, a.body)
	}
	if a := post(path, "HEAD", ""); a.status != 200 || a.header.Get("Upload-Offset") != "3" {
		t.Errorf("HEAD: %d %s", a.status, a.body)
	}
	whole := s.upload("whole", "text/plain", "hello")
	if a := post(whole, "HEAD", ""); a.status != 200 || a.header.Get("Upload-Offset") != "5" || a.body != "" {
		t.Errorf("HEAD of a whole file: %d %q %v", a.status, a.body, a.header)
	}
	if a := post(path, "DELETE", ""); a.status != 204 || s.offset(path) != -1 {
		t.Errorf("DELETE: %d %s", a.status, a.body)
	}
	checkProblem(t, "PUT", post(path, "PUT", ""), 405, "invalid_request")
	if a := post("/v1/groups/g", "DELETE", ""); a.status != 405 {
		t.Errorf("of a group: %d %s", a.status, a.body)
	}
	if a := s.do(request{method: "GET", path: "/v1/groups/g", user: "alice", header: map[string]string{"X-HTTP-Method-Override": "DELETE"}}); a.status != 200 {
		t.Errorf("of a GET: %d %s", a.status, a.body)
	}
}

// TestHostileFiles: nothing that is uploaded runs in a browser.
func TestHostileFiles(t *testing.T) {
	s := withG(t, nil)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	const script = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	for _, c := range []struct{ name, declared, content, kind, disposition string }{
		{"a.html", "text/html", "<script>alert(1)</script>", "application/octet-stream", "attachment"},
		{"a.html", "", "<!doctype html><script>alert(1)</script>", "text/plain", "attachment"},
		{"a.svg", "image/svg+xml", script, "application/octet-stream", "attachment"},
		{"a.png", "image/png", script, "application/octet-stream", "attachment"},
		{"a.xml", "application/xhtml+xml", script, "application/octet-stream", "attachment"},
		{"a.js", "text/javascript", "alert(1)", "application/octet-stream", "attachment"},
		{"a.html", "text/html", picture.String(), "image/png", "inline"},
		{"a.png", "", picture.String(), "image/png", "inline"},
		{"a.mp4", "video/mp4", "\x00\x01", "video/mp4", "attachment"},
		{"a", "", "\x00\x01", "application/octet-stream", "attachment"},
	} {
		path := s.upload(c.name, c.declared, c.content)
		a := s.must("alice", "GET", path+"?inline=1", "")
		disposition, _, _ := strings.Cut(a.header.Get("Content-Disposition"), ";")
		if a.body != c.content || a.header.Get("Content-Type") != c.kind || disposition != c.disposition || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s of type %q: got %s as %s, want %s as %s", c.name, c.declared, a.header.Get("Content-Type"), disposition, c.kind, c.disposition)
		}
		if a := s.must("alice", "GET", path, ""); !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment;") {
			t.Errorf("%s: %s", c.name, a.header.Get("Content-Disposition"))
		}
	}
	for _, name := range []string{"", " ", ".", "..", "../a", `..\a`, "a/b", "a\x00", "a\nb", strings.Repeat("a", 256), strings.Repeat("a", 4096)} {
		body := fmt.Sprintf(`{"name":%s,"size":1}`, strconv.QuoteToASCII(name))
		body = strings.NewReplacer(`\x00`, `\u0000`).Replace(body)
		checkProblem(t, body, s.do(request{method: "POST", path: filesOfG, user: "alice", body: body}), 400, "invalid_request")
	}
	for _, body := range []string{`{"name":"n","size":-1}`, `{"name":"n","size":1.5}`, `{"name":"n"}`, `{"name":"n","size":1,"type":"x"}`, `{"name":"n","size":1,"sha256":"x"}`} {
		checkProblem(t, body, s.do(request{method: "POST", path: filesOfG, user: "alice", body: body}), 400, "invalid_request")
	}
	checkProblem(t, "size", s.do(request{method: "POST", path: filesOfG, user: "alice", body: `{"name":"n","size":104857601}`}), 413, "too_large")
}

// TestUploadGoesOn: what arrived before a connection broke counts, also at the next process.
func TestUploadGoesOn(t *testing.T) {
	data := t.TempDir()
	s := withG(t, func(c *node.Config) { c.Data = data })
	content := randomText(3_000_000)
	path := s.create(`{"name":"n","size":3000000}`)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/offset+octet-stream\r\n"+
		"Upload-Offset: 0\r\nContent-Length: 3000000\r\n\r\n", path, token(t, "alice", ""))
	if _, err := conn.Write([]byte(content[:1_000_000])); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); s.offset(path) != 1_000_000; {
		if time.Now().After(deadline) {
			t.Fatalf("the upload is at %d, want 1000000", s.offset(path))
		}
	}
	s.close()
	s = start(t, func(c *node.Config) { c.Data = data })
	if a := s.patch("alice", path, 1_000_000, content[1_000_000:]); a.status != 204 {
		t.Fatalf("PATCH: %d %s", a.status, a.body)
	}
	if a := s.must("alice", "GET", path, ""); a.body != content {
		t.Errorf("got %d other bytes", len(a.body))
	}
}

// TestRemovedMemberLosesUploads: who is no longer a member, or may no longer post, has no upload either.
func TestRemovedMemberLosesUploads(t *testing.T) {
	s := withG(t, nil)
	a := s.must("bob", "POST", filesOfG, `{"name":"n","size":10}`)
	path := a.header.Get("Location")
	if a := s.patch("bob", path, 0, "12345"); a.status != 204 {
		t.Fatalf("PATCH: %d %s", a.status, a.body)
	}
	s.must("alice", "PATCH", "/v1/groups/g", `{"post":"admins"}`)
	checkProblem(t, "may not post", s.patch("bob", path, 5, "6"), 403, "forbidden")
	s.must("alice", "DELETE", "/v1/groups/g/members/bob", "")
	checkProblem(t, "a removed member writes", s.patch("bob", path, 5, "6"), 404, "not_found")
	for _, method := range []string{"GET", "DELETE"} {
		checkProblem(t, method, s.do(request{method: method, path: path, user: "bob"}), 404, "not_found")
	}
}

// TestMessagesNameFiles: a file is there for members as long as a message that names it.
func TestMessagesNameFiles(t *testing.T) {
	s := withG(t, nil)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1000, 500))); err != nil {
		t.Fatal(err)
	}
	path := s.upload("a.png", "image/png", picture.String())
	id := path[strings.LastIndexByte(path, '/')+1:]
	send := func(user, body string) answer {
		return s.do(request{method: "POST", path: "/v1/groups/g/messages", user: user, body: body})
	}
	for _, body := range []string{`{"files":["absent"]}`, `{"files":[` + strings.Repeat(`"`+id+`",`, 2) + `"x"]}`, `{"files":[{"id":"` + id + `"}]}`, `{"files":["a b"]}`,
		`{"kind":"edit","target":1,"body":"x","files":["` + id + `"]}`, `{"files":["` + id + `"],"deliver_at":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"}`} {
		checkProblem(t, body, send("alice", body), 400, "invalid_request")
	}
	checkProblem(t, "another's file", send("bob", `{"files":["`+id+`"]}`), 400, "invalid_request")
	checkProblem(t, "eleven", send("alice", `{"files":["1","2","3","4","5","6","7","8","9","10","11"]}`), 400, "out_of_range")
	a := s.must("alice", "POST", "/v1/groups/g/messages", `{"files":["`+id+`"],"client_id":"k"}`)
	want := fmt.Sprintf(`"files":[{"id":%q,"name":"a.png","size":%d,"type":"image/png","sha256":"%x","width":1000,"height":500}]`,
		id, picture.Len(), sha256.Sum256(picture.Bytes()))
	if !strings.Contains(a.body, want) || a.field("body") != "" {
		t.Errorf("got %s, want %s", a.body, want)
	}
	if page := s.must("bob", "GET", "/v1/groups/g/messages?after=0", ""); !strings.Contains(page.body, want) {
		t.Errorf("the page has %s, want %s", page.body, want)
	}
	if a := s.must("bob", "GET", path, ""); a.body != picture.String() {
		t.Errorf("bob got %d other bytes", len(a.body))
	}
	for range 2 { // made, then kept
		preview := s.must("bob", "GET", path+"?size=preview&inline=1", "")
		config, kind, err := image.DecodeConfig(strings.NewReader(preview.body))
		if err != nil || config.Width != 640 || config.Height != 320 || preview.header.Get("Content-Type") != "image/"+kind {
			t.Errorf("the preview is a %s of %d x %d, %v", preview.header.Get("Content-Type"), config.Width, config.Height, err)
		}
	}
	checkProblem(t, "a removed name", s.do(request{method: "DELETE", path: path, user: "alice"}), 409, "conflict")
	s.must("alice", "DELETE", "/v1/groups/g/members/bob", "")
	checkProblem(t, "a removed member", s.do(request{method: "GET", path: path, user: "bob"}), 404, "not_found")
	s.must("alice", "PUT", "/v1/groups/g/members/bob", `{"role":"member"}`)
	s.must("bob", "GET", path, "")
	s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%v}`, a.field("id")))
	for _, user := range []string{"alice", "bob"} {
		checkProblem(t, "the file of a deleted message", s.do(request{method: "GET", path: path, user: user}), 404, "not_found")
	}
	if again := s.must("alice", "POST", "/v1/groups/g/messages", `{"files":["`+id+`"],"client_id":"k"}`); again.field("id") != a.field("id") {
		t.Errorf("a repeated send whose files are gone: %s, want the first answer %s", again.body, a.body)
	}
	checkProblem(t, "a new send of a file that is gone", send("alice", `{"files":["`+id+`"],"client_id":"new"}`), 400, "invalid_request")
	text := s.upload("a.txt", "text/plain", "text")
	checkProblem(t, "the preview of a text", s.do(request{method: "GET", path: text + "?size=preview", user: "alice"}), 404, "not_found")
	bomb := s.upload("b.png", "", picture.String()[:60]) // a header, and nothing behind it
	checkProblem(t, "the preview of a damaged picture", s.do(request{method: "GET", path: bomb + "?size=preview", user: "alice"}), 404, "not_found")
}

// TestForwardedFiles: a member forwards what they may read, and nothing else; the copy lives by itself.
func TestForwardedFiles(t *testing.T) {
	data := t.TempDir()
	s := withG(t, func(c *node.Config) { c.Data = data })
	s.must("bob", "POST", "/v1/groups", `{"id":"other","members":["carl"]}`)
	path := s.upload("a.txt", "text/plain", "content")
	id := path[strings.LastIndexByte(path, '/')+1:]
	message := s.must("alice", "POST", "/v1/groups/g/messages", `{"files":["`+id+`"]}`)
	forward := func(user, group, from, file string) answer {
		return s.do(request{method: "POST", path: "/v1/groups/" + group + "/files", user: user, body: fmt.Sprintf(`{"from":{"group":%q,"id":%q}}`, from, file)})
	}
	checkProblem(t, "carl may not read it", forward("carl", "other", "g", id), 404, "not_found")
	checkProblem(t, "alice may not post there", forward("alice", "other", "g", id), 404, "not_found")
	checkProblem(t, "no file", forward("bob", "other", "g", "absent"), 404, "not_found")
	checkProblem(t, "of another group", forward("bob", "other", "other", id), 404, "not_found")
	open := s.create(`{"name":"n","size":3}`)
	checkProblem(t, "an upload", forward("alice", "g", "g", open[strings.LastIndexByte(open, '/')+1:]), 404, "not_found")
	for _, body := range []string{`{"from":{"group":"g","id":"` + id + `"},"name":"n"}`, `{"from":{"group":"g"}}`, `{"name":"n"}`, `{}`} {
		checkProblem(t, body, s.do(request{method: "POST", path: filesOfG, user: "alice", body: body}), 400, "invalid_request")
	}

	made := forward("bob", "other", "g", id)
	if made.status != 201 || made.field("offset") != 7. || made.field("id") == id {
		t.Fatalf("got %d %s", made.status, made.body)
	}
	a := s.must("bob", "POST", "/v1/groups/other/messages", fmt.Sprintf(`{"files":[%q]}`, made.field("id")))
	if want := fmt.Sprintf(`{"id":%q,"name":"a.txt","size":7,"type":"text/plain","sha256":"%x"}`, made.field("id"), sha256.Sum256([]byte("content"))); !strings.Contains(a.body, want) {
		t.Errorf("got %s, want %s", a.body, want)
	}
	s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%v}`, message.field("id")))
	if got := s.must("carl", "GET", made.header.Get("Location"), ""); got.body != "content" {
		t.Errorf("carl got %q", got.body)
	}
	checkProblem(t, "the original is gone", forward("bob", "other", "g", id), 404, "not_found")
	s.must("alice", "DELETE", "/v1/groups/g", "")
	blobs := func() []string {
		found, err := filepath.Glob(filepath.Join(data, "files", "blobs", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for deadline := time.Now().Add(30 * time.Second); len(blobs()) > 1; {
		if time.Now().After(deadline) {
			t.Fatalf("the files of a deleted group are there: %v", blobs())
		}
	}
	if got := s.must("carl", "GET", made.header.Get("Location"), ""); got.body != "content" {
		t.Errorf("after the first group was deleted, carl got %q", got.body)
	}
}

func TestQuotaOfFiles(t *testing.T) {
	s := withG(t, func(c *node.Config) { c.FilesUser, c.UploadsUser, c.FileMax = "1048576", "60", "1048576" })
	var mu sync.Mutex
	paths, all := []string{}, sync.WaitGroup{}
	for range 50 {
		all.Go(func() {
			a := s.do(request{method: "POST", path: filesOfG, user: "alice", body: `{"name":"n","size":100000}`})
			mu.Lock()
			defer mu.Unlock()
			if a.status == 201 {
				paths = append(paths, a.header.Get("Location"))
				return
			}
			checkProblem(t, "over the quota", a, 429, "quota_full")
		})
	}
	all.Wait()
	if len(paths) != 10 {
		t.Errorf("got %d uploads of 100,000 bytes into 1 MiB, want 10", len(paths))
	}
	for _, path := range paths {
		s.must("alice", "DELETE", path, "")
	}
	for deadline := time.Now().Add(30 * time.Second); ; { // a task frees the quota
		a := s.do(request{method: "POST", path: filesOfG, user: "alice", body: `{"name":"n","size":1048576}`})
		if a.status == 201 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the quota is not free: %d %s", a.status, a.body)
		}
	}
}

func TestFilesOff(t *testing.T) {
	s := withG(t, func(c *node.Config) { c.Files = "off" })
	for _, r := range []request{{method: "POST", path: filesOfG, body: `{"name":"n","size":1}`}, {method: "GET", path: filesOfG + "/F-0"}, {method: "DELETE", path: filesOfG + "/F-0"}} {
		r.user = "alice"
		a := s.do(r)
		checkProblem(t, r.method, a, 404, "not_found")
		if detail, _ := a.field("detail").(string); !strings.Contains(detail, "CHATD_FILES") {
			t.Errorf("%s: %s", r.method, a.body)
		}
	}
}

// TestUploadThatCannotBeFinished: all bytes are there, and the disk fails. Clients of tus learn that the upload goes on later, instead
// of beginning another one.
func TestUploadThatCannotBeFinished(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "files")
	s := withG(t, func(c *node.Config) { c.Files = "dir:" + folder })
	path := s.create(`{"name":"n","size":5}`)
	blobs := filepath.Join(folder, "blobs")
	if err := os.Rename(blobs, blobs+".away"); err != nil {
		t.Fatal(err)
	}
	checkProblem(t, "the last bytes", s.patch("alice", path, 0, "hello"), 503, "unavailable")
	head := func(version string) answer {
		return s.do(request{method: "HEAD", path: path, user: "alice", header: map[string]string{"Tus-Resumable": version}})
	}
	if a := head("1.0.0"); a.status != 423 {
		t.Errorf("HEAD of tus: %d", a.status)
	}
	if a := head(""); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("HEAD: %d %v", a.status, a.header)
	}
	if err := os.Rename(blobs+".away", blobs); err != nil {
		t.Fatal(err)
	}
	if a := head("1.0.0"); a.status != 200 || a.header.Get("Upload-Offset") != "5" {
		t.Errorf("HEAD later: %d %v", a.status, a.header)
	}
	if a := s.must("alice", "GET", path, ""); a.body != "hello" {
		t.Errorf("got %q", a.body)
	}
}

// TestReadyNeedsFiles: a node that lost its folder takes no requests.
func TestReadyNeedsFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "files")
	s := start(t, func(c *node.Config) { c.Files = "dir:" + folder })
	s.must("", "GET", "/readyz", "")
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	if a := s.do(request{method: "GET", path: "/readyz"}); a.status != 503 {
		t.Errorf("without the folder: %d", a.status)
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	s.must("", "GET", "/readyz", "")
}
