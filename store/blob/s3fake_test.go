package blob

import (
	"bytes"
	"crypto/md5"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeS3 answers what a bucket is asked for, as S3 does, from memory: conditional creation, parts of at least 5 MiB, digests that
// are compared. `make soak` runs the same tests against a real server.
type fakeS3 struct {
	mu      sync.Mutex
	objects map[string]fakeObject
	uploads map[string]*fakeUpload
	serial  int
	// fault may answer a request in the place of S3: true if it did.
	fault func(w http.ResponseWriter, r *http.Request) bool
}

type fakeObject struct {
	content []byte
	etag    string
	at      time.Time
}

type fakeUpload struct {
	key   string
	parts map[int]fakeObject
	at    time.Time
}

func newFakeS3() *fakeS3 {
	return &fakeS3{objects: map[string]fakeObject{}, uploads: map[string]*fakeUpload{}}
}

// startFakeS3 serves over TLS, so that bodies are sent as they are.
func startFakeS3(t *testing.T) (f *fakeS3, url string, transport http.RoundTripper) {
	t.Helper()
	f = newFakeS3()
	server := httptest.NewTLSServer(f)
	t.Cleanup(server.Close)
	return f, "s3://key:secret@bucket/pre/fix?region=us-east-1&endpoint=" + strings.TrimPrefix(server.URL, "https://"), server.Client().Transport
}

func etagOf(content []byte) string { return fmt.Sprintf("%x", md5.Sum(content)) }

func newFakeObject(content []byte) fakeObject {
	return fakeObject{content, etagOf(content), time.Now()}
}

func (f *fakeS3) fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

func (f *fakeS3) setFault(fault func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	fault := f.fault
	f.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || int64(len(body)) != r.ContentLength {
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

func (f *fakeS3) get(w http.ResponseWriter, r *http.Request, key string) {
	o, ok := f.objects[key]
	if !ok {
		f.fail(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", `"`+o.etag+`"`)
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", o.at, bytes.NewReader(o.content))
}

func (f *fakeS3) put(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	if from := r.Header.Get("X-Amz-Copy-Source"); from != "" {
		from, _ = url.PathUnescape(from)
		o, ok := f.objects[strings.TrimPrefix(strings.TrimPrefix(from, "/"), "bucket/")]
		if !ok {
			f.fail(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		f.objects[key] = newFakeObject(o.content)
		_, _ = fmt.Fprintf(w, "<CopyObjectResult><ETag>%q</ETag><LastModified>%s</LastModified></CopyObjectResult>", o.etag, o.at.UTC().Format(time.RFC3339))
		return
	}
	if _, ok := f.objects[key]; ok && r.Header.Get("If-None-Match") == "*" {
		f.fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	f.objects[key] = newFakeObject(body)
	w.Header().Set("ETag", `"`+f.objects[key].etag+`"`)
}

func (f *fakeS3) multipart(w http.ResponseWriter, r *http.Request, key string, q url.Values, body []byte) {
	if r.Method == http.MethodPost && q.Has("uploads") {
		f.serial++
		id := strconv.Itoa(f.serial)
		f.uploads[id] = &fakeUpload{key, map[int]fakeObject{}, time.Now()}
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
		upload.parts[n] = newFakeObject(body)
		w.Header().Set("ETag", `"`+upload.parts[n].etag+`"`)
	case http.MethodDelete:
		delete(f.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost:
		f.complete(w, key, id, upload, body)
	}
}

func (f *fakeS3) complete(w http.ResponseWriter, key, id string, upload *fakeUpload, body []byte) {
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
	f.objects[key] = newFakeObject(whole)
	_, _ = fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>%s</Key><ETag>%q</ETag></CompleteMultipartUploadResult>", key, f.objects[key].etag)
}

func (f *fakeS3) list(w http.ResponseWriter, q url.Values) {
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

func (f *fakeS3) listUploads(w http.ResponseWriter, q url.Values) {
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
