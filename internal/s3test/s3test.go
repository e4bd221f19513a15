// Package s3test answers requests to a bucket as S3 does, from memory, for tests: conditional creation, parts of at least 5 MiB,
// digests that are compared. It does not verify signatures. `make soak` runs the same tests against a real server.
package s3test

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// partBytesMin is the least size of each part of an object but the last.
const partBytesMin = 5 << 20

// Server is one bucket with the name "bucket". It is safe for concurrent use.
type Server struct {
	mu      sync.Mutex
	objects map[string]object
	uploads map[string]*upload
	serial  int
	fault   func(w http.ResponseWriter, r *http.Request) bool
}

type object struct {
	content []byte
	etag    string
	at      time.Time
}

type upload struct {
	key   string
	parts map[int]object
	at    time.Time
}

// New makes a server with an empty bucket.
func New() *Server {
	return &Server{objects: map[string]object{}, uploads: map[string]*upload{}}
}

// SetFault sets a function that may answer a request in place of S3; it returns true if it did. Nil: no faults.
func (f *Server) SetFault(fault func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// Left counts the objects, and the multipart uploads that were neither completed nor aborted.
func (f *Server) Left() (objects, uploads int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.objects), len(f.uploads)
}

func etagOf(content []byte) string { return fmt.Sprintf("%x", md5.Sum(content)) }

func newObject(content []byte) object {
	return object{content: content, etag: etagOf(content), at: time.Now()}
}

func (f *Server) fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

// ServeHTTP implements http.Handler.
func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	fault := f.fault
	f.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	body, err := readBody(r)
	if err != nil {
		f.fail(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	key, hasKey := strings.CutPrefix(r.URL.Path, "/bucket/")
	switch {
	case !hasKey || key == "":
		f.list(w, q)
	case q.Has("uploads") || q.Has("uploadId"):
		f.multipart(w, r, key, q, body)
	case r.Method == http.MethodPut:
		f.put(w, r, key, body)
	case r.Method == http.MethodDelete:
		delete(f.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		f.get(w, r, key)
	}
}

// readBody reads the body of a request. Without TLS, it comes in chunks that are signed one by one.
func readBody(r *http.Request) (body []byte, err error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		if r.ContentLength < 0 {
			return nil, io.ErrUnexpectedEOF
		}
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, body)
		return body, err
	}
	for lines := bufio.NewReader(r.Body); ; {
		head, err := lines.ReadString('\n')
		if err != nil {
			return nil, err
		}
		var size int64
		if _, err := fmt.Sscanf(head, "%x;", &size); err != nil {
			return nil, err
		}
		if size == 0 {
			_, err = io.Copy(io.Discard, lines) // checksums
			if want := r.Header.Get("X-Amz-Decoded-Content-Length"); want != strconv.Itoa(len(body)) {
				err = errors.Join(err, io.ErrUnexpectedEOF)
			}
			return body, err
		}
		chunk := make([]byte, size+2) // and the end of the line
		if _, err := io.ReadFull(lines, chunk); err != nil {
			return nil, err
		}
		body = append(body, chunk[:size]...)
	}
}

func (f *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	o, ok := f.objects[key]
	if !ok {
		f.fail(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", `"`+o.etag+`"`)
	w.Header().Set("Content-Type", "application/octet-stream")
	for name, header := range map[string]string{"response-content-type": "Content-Type", "response-content-disposition": "Content-Disposition"} {
		if value := r.URL.Query().Get(name); value != "" {
			w.Header().Set(header, value)
		}
	}
	http.ServeContent(w, r, "", o.at, bytes.NewReader(o.content))
}

func (f *Server) put(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	if from := r.Header.Get("X-Amz-Copy-Source"); from != "" {
		from, _ = url.PathUnescape(from)
		o, ok := f.objects[strings.TrimPrefix(strings.TrimPrefix(from, "/"), "bucket/")]
		if !ok {
			f.fail(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		f.objects[key] = newObject(o.content)
		_, _ = fmt.Fprintf(w, "<CopyObjectResult><ETag>%q</ETag><LastModified>%s</LastModified></CopyObjectResult>", o.etag, o.at.UTC().Format(time.RFC3339))
		return
	}
	if _, ok := f.objects[key]; ok && r.Header.Get("If-None-Match") == "*" {
		f.fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	f.objects[key] = newObject(body)
	w.Header().Set("ETag", `"`+f.objects[key].etag+`"`)
}

func (f *Server) multipart(w http.ResponseWriter, r *http.Request, key string, q url.Values, body []byte) {
	if r.Method == http.MethodPost && q.Has("uploads") {
		f.serial++
		id := strconv.Itoa(f.serial)
		f.uploads[id] = &upload{key, map[int]object{}, time.Now()}
		_, _ = fmt.Fprintf(w, "<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>%s</Key><UploadId>%s</UploadId></InitiateMultipartUploadResult>", key, id)
		return
	}
	id := q.Get("uploadId")
	upload, ok := f.uploads[id]
	if !ok || upload.key != key {
		f.fail(w, http.StatusNotFound, "NoSuchUpload")
		return
	}
	switch r.Method {
	case http.MethodPut:
		n, _ := strconv.Atoi(q.Get("partNumber"))
		upload.parts[n] = newObject(body)
		w.Header().Set("ETag", `"`+upload.parts[n].etag+`"`)
	case http.MethodDelete:
		delete(f.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost:
		f.complete(w, key, id, upload, body)
	}
}

func (f *Server) complete(w http.ResponseWriter, key, id string, upload *upload, body []byte) {
	var list struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(body, &list); err != nil {
		f.fail(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	var whole []byte
	for i, p := range list.Part {
		o, ok := upload.parts[p.PartNumber]
		switch {
		case !ok || o.etag != strings.Trim(p.ETag, `"`):
			f.fail(w, http.StatusBadRequest, "InvalidPart")
			return
		case i < len(list.Part)-1 && len(o.content) < partBytesMin:
			f.fail(w, http.StatusBadRequest, "EntityTooSmall")
			return
		}
		whole = append(whole, o.content...)
	}
	delete(f.uploads, id)
	f.objects[key] = newObject(whole)
	_, _ = fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>%s</Key><ETag>%q</ETag></CompleteMultipartUploadResult>", key, f.objects[key].etag)
}

func (f *Server) list(w http.ResponseWriter, q url.Values) {
	w.Header().Set("Content-Type", "application/xml")
	if q.Has("uploads") {
		f.listUploads(w, q)
		return
	}
	most, _ := strconv.Atoi(q.Get("max-keys"))
	after := max(q.Get("start-after"), q.Get("continuation-token"))
	_, _ = fmt.Fprint(w, "<ListBucketResult><Name>bucket</Name><EncodingType>url</EncodingType>")
	count, last := 0, ""
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= after {
			continue
		}
		if count == most {
			_, _ = fmt.Fprintf(w, "<IsTruncated>true</IsTruncated><NextContinuationToken>%s</NextContinuationToken>", last)
			break
		}
		o := f.objects[key]
		_, _ = fmt.Fprintf(w, "<Contents><Key>%s</Key><ETag>%q</ETag><Size>%d</Size><LastModified>%s</LastModified></Contents>",
			url.QueryEscape(key), o.etag, len(o.content), o.at.UTC().Format(time.RFC3339))
		count, last = count+1, key
	}
	_, _ = fmt.Fprint(w, "</ListBucketResult>")
}

func (f *Server) listUploads(w http.ResponseWriter, q url.Values) {
	most, _ := strconv.Atoi(q.Get("max-uploads"))
	ids := slices.SortedFunc(maps.Keys(f.uploads), func(a, b string) int { return strings.Compare(f.uploads[a].key, f.uploads[b].key) })
	_, _ = fmt.Fprint(w, "<ListMultipartUploadsResult><Bucket>bucket</Bucket><EncodingType>url</EncodingType>")
	for _, id := range ids {
		u := f.uploads[id]
		if !strings.HasPrefix(u.key, q.Get("prefix")) || u.key <= q.Get("key-marker") || most == 0 {
			continue
		}
		most--
		_, _ = fmt.Fprintf(w, "<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>%s</Initiated></Upload>", url.QueryEscape(u.key), id, u.at.UTC().Format(time.RFC3339))
	}
	_, _ = fmt.Fprint(w, "</ListMultipartUploadsResult>")
}
