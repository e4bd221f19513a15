package web

import (
	"crypto/md5"  // against damage, not against people
	"crypto/sha1" // the one algorithm that tus demands
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"hash"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/web/wire"
)

// The protocol for resumable uploads, https://tus.io/protocols/resumable-upload: core, creation, checksum, expiration and
// termination.
const (
	tusVersion    = "1.0.0"
	tusExtensions = "creation,checksum,expiration,termination"
	tusAlgorithms = "sha1,sha256,md5"

	uploadOffset   = "Upload-Offset"
	uploadLength   = "Upload-Length"
	uploadExpires  = "Upload-Expires"
	uploadChecksum = "Upload-Checksum"

	methodOverride = "X-HTTP-Method-Override"

	offsetStream   = "application/offset+octet-stream"
	statusChecksum = 460 // of tus

	metadataBytesMax = 4096

	fileHeadersAllowed = "Tus-Resumable, X-HTTP-Method-Override, Upload-Length, Upload-Metadata, Upload-Offset, Upload-Checksum, Range, If-Range, If-None-Match"
	fileHeadersExposed = "Location, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, Upload-Offset, " +
		"Upload-Length, Upload-Expires, ETag, Content-Disposition, Content-Range, Accept-Ranges"
)

// tus answers in the version that the client speaks, if it says one. Others need none of it.
func (h fileHandlers) tus(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Tus-Resumable", tusVersion)
		version := c.Request().Header.Get("Tus-Resumable")
		if version != "" && version != tusVersion {
			header.Set("Tus-Version", tusVersion)
			return &refusal{http.StatusPreconditionFailed, chat.Errorf(chat.CodeConflict, "Tus-Resumable: this server speaks %s", tusVersion)}
		}
		if lengths := c.Request().Header[uploadLength]; len(lengths) > 0 {
			if _, ok := wire.Decimal(lengths[0]); !ok {
				return chat.Errorf(chat.CodeInvalid, "%s: want an integer from 0", uploadLength)
			}
		}
		err := next(c)
		// After any other error for HEAD, a tus client begins a new upload; after 423 it resumes this one later.
		if code := chat.CodeOf(err); version != "" && isHead(c.Request()) && (code == chat.CodeConflict || code == chat.CodeUnavailable) {
			h.log.WarnContext(c.Request().Context(), "upload cannot be resumed now; the client will try again", "error", err)
			return &refusal{http.StatusLocked, chat.Errorf(chat.CodeInvalid, "the upload cannot be resumed right now; try again")}
		}
		return err
	}
}

// overrideMethod takes the method of a request to an upload from X-HTTP-Method-Override, as tus requires for clients that can only
// POST.
func overrideMethod(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Header.Get(methodOverride)
		upload := strings.HasPrefix(r.URL.Path, "/v1/groups/") && strings.Contains(r.URL.Path, "/files/")
		if r.Method == http.MethodPost && upload && (method == http.MethodPatch || method == http.MethodDelete || method == http.MethodHead) {
			r = r.WithContext(r.Context()) // a copy
			r.Method = method
			if method == http.MethodHead {
				w = bodiless{w}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// bodiless answers a POST that stands for a HEAD: a length that no body follows would break the answer off.
type bodiless struct{ http.ResponseWriter }

func (w bodiless) WriteHeader(status int) {
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(status)
}

func (w bodiless) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// describeUploads serves OPTIONS of a path of files, which has the methods.
func (h fileHandlers) describeUploads(methods string) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set(echo.HeaderAllow, methods)
		header.Set("Tus-Resumable", tusVersion)
		header.Set("Tus-Version", tusVersion)
		header.Set("Tus-Extension", tusExtensions)
		header.Set("Tus-Checksum-Algorithm", tusAlgorithms)
		if most := h.files.SizeMax(); most > 0 {
			header.Set("Tus-Max-Size", strconv.FormatInt(most, 10))
		}
		return c.NoContent(http.StatusNoContent)
	}
}

// writeOffset says how far an upload is, and until when it may go on.
func writeOffset(h http.Header, f files.File) {
	h.Set(uploadOffset, strconv.FormatInt(f.Offset, 10))
	h.Set(uploadLength, strconv.FormatInt(f.Size, 10))
	if !f.Named {
		h.Set(uploadExpires, f.Expires.UTC().Format(http.TimeFormat))
	}
}

// tusDraft reads the headers of a creation. Keys that it does not know are those of someone else.
func tusDraft(length int64, metadata string) (files.Draft, error) {
	d := files.Draft{Size: length, Name: "file"}
	if len(metadata) > metadataBytesMax {
		return d, chat.Errorf(chat.CodeInvalid, "Upload-Metadata: at most %d bytes", metadataBytesMax)
	}
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(metadata, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), " ")
		if seen[key] {
			return d, chat.Errorf(chat.CodeInvalid, "Upload-Metadata: the key %s appears twice", wire.QuoteName(key))
		}
		seen[key] = true
		text, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return d, chat.Errorf(chat.CodeInvalid, "Upload-Metadata: want pairs of a key and a value in base64, separated by commas")
		}
		switch key {
		case "filename":
			d.Name = string(text)
		case "filetype":
			d.Type = string(text)
		case "sha256":
			d.SHA256 = string(text)
		}
	}
	return d, nil
}

// checksum is the digest of a body that the client has named.
type checksum struct {
	hash.Hash
	want []byte
}

func newChecksum(text string) (*checksum, error) {
	algorithm, value, _ := strings.Cut(text, " ")
	want, err := base64.StdEncoding.DecodeString(value)
	c := &checksum{want: want}
	switch algorithm {
	case "sha1":
		c.Hash = sha1.New()
	case "sha256":
		c.Hash = sha256.New()
	case "md5":
		c.Hash = md5.New()
	default:
		return nil, chat.Errorf(chat.CodeInvalid, "%s: want one of %s", uploadChecksum, tusAlgorithms)
	}
	if err != nil || len(want) != c.Size() {
		return nil, chat.Errorf(chat.CodeInvalid, "%s: want a digest in base64", uploadChecksum)
	}
	return c, nil
}

// Fits implements files.Checksum.
func (c *checksum) Fits() bool { return subtle.ConstantTimeCompare(c.Sum(nil), c.want) == 1 }

// isChecksum tells a piece that does not fit its checksum from other invalid requests.
func isChecksum(err error) bool {
	var e *chat.Error
	return errors.As(err, &e) && e == files.ErrChecksum
}
