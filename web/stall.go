package web

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// How long an answer is kept for a client that does not read it.
const (
	stallWithin = 5 * time.Second // for each piece
	pieceBytes  = 64 << 10
	smallBytes  = 16 << 10 // an answer that the kernel takes at once, even from a connection that has just begun
)

// boundStalls ends the connections of clients that do not read their answers. Otherwise the answers would stay in memory until
// the deadline of the whole request, which is over a minute for a long poll.
func boundStalls(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Writer = &stallWriter{ResponseWriter: c.Response().Writer, within: stallWithin, most: writeTimeout}
		return next(c)
	}
}

// stallWriter writes an answer in pieces, each with a deadline, and all within most after the first one. The first one
// also ends the request's turn: from then on it is the client who takes time, and the node's budget of unsent answers counts what
// is in memory.
type stallWriter struct {
	http.ResponseWriter
	turn         turn
	within, most time.Duration
	until        time.Time // the last deadline; zero before the first piece
}

// stallOf is the stallWriter of an answer; nil where a test has another writer.
func stallOf(w http.ResponseWriter) *stallWriter {
	if z, ok := w.(*compressWriter); ok {
		w = z.ResponseWriter
	}
	stall, _ := w.(*stallWriter)
	return stall
}

// Unwrap lets http.ResponseController find methods that this writer lacks, such as Hijack.
func (w *stallWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *stallWriter) Write(b []byte) (written int, err error) {
	w.turn.leave()
	if cap(b) > smallBytes {
		w.turn.room.Hold(int64(cap(b)))
		defer w.turn.room.Free()
	}
	for {
		piece := b[written:min(written+pieceBytes, len(b))]
		w.arm()
		n, err := w.ResponseWriter.Write(piece)
		written += n
		if err != nil || written == len(b) {
			return written, err
		}
	}
}

// arm sets the deadline of a piece. The rest that is in the server's buffer when the handler returns has the last deadline.
func (w *stallWriter) arm() {
	now := time.Now()
	if w.until.IsZero() {
		w.until = now.Add(w.most)
	}
	deadline := now.Add(w.within)
	if deadline.After(w.until) {
		deadline = w.until
	}
	// Not every writer has deadlines: those of tests do not.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(deadline)
}
