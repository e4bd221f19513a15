package web

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"net/http"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/web/wire"
)

// Bounds of compressing answers.
const (
	compressBytesMin = 1 << 10 // below, an answer fits into a packet anyway
	blurBytesMax     = 128     // by which a compressed answer may be longer than it needs to be
)

// compressAnswers sends JSON answers in gzip where the client takes that. Files, exports, event streams and websockets are no
// JSON, and static files are compressed once. An answer with an ETag is left alone: the tag is a strong one, which two forms of
// an answer must not share (RFC 9110, 8.8.3).
//
// An answer is compressed when it is written, and sent when its handler has returned. So a slow client holds the compressed bytes
// alone, which the node's budget of unsent answers counts. A writer that compresses as it sends, such as that of gzhttp, would hold its state and
// the whole answer for as long as the client takes.
func compressAnswers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		below := c.Response().Writer
		w := &compressWriter{ResponseWriter: below, takes: takesGzip(c.Request().Header["Accept-Encoding"])}
		c.Response().Writer = w
		err := next(c)
		c.Response().Writer = below
		w.finish()
		return err
	}
}

// compressWriter compresses what is written through it if that is worth it. The header waits for the first bytes.
type compressWriter struct {
	http.ResponseWriter
	takes  bool // the client takes gzip
	status int  // waits to be sent; 0: none does

	zip *gzip.Writer  // nil: nothing is compressed
	out *bytes.Buffer // what it wrote, to be sent
}

// Unwrap lets http.ResponseController find methods that this writer lacks, such as Hijack.
func (w *compressWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *compressWriter) WriteHeader(status int) {
	h := w.Header()
	if status < http.StatusOK || status == http.StatusNoContent || status == http.StatusNotModified ||
		h.Get("Content-Type") != "application/json" || h["Content-Encoding"] != nil || h["Etag"] != nil {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.status = status
}

func (w *compressWriter) Write(b []byte) (int, error) {
	if w.zip == nil && w.status != 0 {
		w.begin(b)
	}
	if w.zip != nil {
		return w.zip.Write(b)
	}
	w.sendHeader()
	return w.ResponseWriter.Write(b)
}

// begin decides about an answer by its first bytes, which mostly are all.
func (w *compressWriter) begin(b []byte) {
	if len(b) < compressBytesMin {
		return
	}
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if !w.takes {
		return
	}
	h.Set("Content-Encoding", "gzip")
	h.Del("Content-Length")
	w.out = wire.Buffer(len(b) / 4)
	w.zip = zippers.Get().(*gzip.Writer)
	w.zip.Reset(w.out)
	w.zip.Extra = blur(b)
}

func (w *compressWriter) sendHeader() {
	if w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
		w.status = 0
	}
}

// FlushError sends what has been written so far.
func (w *compressWriter) FlushError() error {
	w.sendHeader()
	if w.zip != nil {
		if err := w.zip.Flush(); err != nil {
			return err
		}
		if _, err := w.ResponseWriter.Write(w.out.Bytes()); err != nil {
			return err
		}
		w.out.Reset()
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// finish sends what the handler has left to be sent. That the client is gone matters to nobody then.
func (w *compressWriter) finish() {
	if w.zip == nil {
		w.sendHeader()
		return
	}
	_ = w.zip.Close() // a buffer takes everything
	zippers.Put(w.zip)
	if w.status != 0 {
		w.Header().Set("Content-Length", strconv.Itoa(w.out.Len()))
	}
	w.sendHeader()
	_, _ = w.ResponseWriter.Write(w.out.Bytes())
	wire.Free(w.out)
}

// zippers are as many as answers are compressed at the same time, each with some 200 KiB of state. The level is a third of the
// work of the usual one, for answers that are an eighth larger.
var zippers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level that the package has
	return w
}}

// blurSeed is secret, and another one in each process.
var blurSeed = maphash.MakeSeed()

// blur is what a compressed answer to these bytes begins with, so that its length says little about what is in it. Otherwise
// who sees the traffic of a user, and can send them messages, could guess at the messages of others in the same answer (BREACH). How
// much longer the answer gets depends on all of its content: the same one always has the same length, so asking again shows
// nothing, and with another guess the length changes anyway.
func blur(b []byte) []byte {
	n := int(maphash.Bytes(blurSeed, b) % blurBytesMax)
	extra := make([]byte, 4+n) // RFC 1952, 2.3.1.1: two letters, a length, and what readers skip
	copy(extra, "Bl")
	binary.LittleEndian.PutUint16(extra[2:], uint16(n))
	return extra
}
