package embedded

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// errOverflow closes a connection whose client left too many replies unread, as Redis does with
// client-output-buffer-limit. The server must never wait for a client: it publishes while it holds its lock.
var errOverflow = errors.New("embedded: too many unread replies on this connection")

// pair connects a client with the server in memory. The server's writes never block, so a client may write a pipeline
// of any length before it reads the first reply. The client's writes block above requestBytesMax, which the server
// always works off.
func pair(replyBytesMax int) (client, server net.Conn) {
	requests := newHalf(requestBytesMax, true)
	replies := newHalf(replyBytesMax, false)
	return &conn{r: replies, w: requests}, &conn{r: requests, w: replies}
}

// conn is one end of an in-memory connection.
type conn struct {
	r, w *half
}

func (c *conn) Read(p []byte) (int, error)  { return c.r.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.w.write(p) }

func (c *conn) Close() error {
	c.r.close()
	c.w.close()
	return nil
}

func (c *conn) LocalAddr() net.Addr                { return addr{} }
func (c *conn) RemoteAddr() net.Addr               { return addr{} }
func (c *conn) SetReadDeadline(t time.Time) error  { c.r.setDeadline(&c.r.readBy, t); return nil }
func (c *conn) SetWriteDeadline(t time.Time) error { c.w.setDeadline(&c.w.writeBy, t); return nil }

func (c *conn) SetDeadline(t time.Time) error {
	c.r.setDeadline(&c.r.readBy, t)
	c.w.setDeadline(&c.w.writeBy, t)
	return nil
}

type addr struct{}

func (addr) Network() string { return "memory" }
func (addr) String() string  { return "embedded" }

// half is one direction of a connection: a queue of bytes with one reader and one writer.
type half struct {
	mu              sync.Mutex
	changed         sync.Cond
	buf             []byte // buf[off:] is written and not yet read
	off             int
	bytesMax        int
	waits           bool // the writer waits if the queue is full; otherwise the connection is closed
	closed          bool
	overflowed      bool
	readBy, writeBy time.Time
	timer           *time.Timer // wakes a waiter at its deadline; armed only while one waits
}

func newHalf(bytesMax int, waits bool) *half {
	h := &half{bytesMax: bytesMax, waits: waits}
	h.changed.L = &h.mu
	return h
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.off == len(h.buf) {
		if h.overflowed {
			return 0, errOverflow
		}
		if h.closed {
			return 0, io.EOF
		}
		if len(p) == 0 {
			return 0, nil
		}
		if err := h.waitLocked(&h.readBy); err != nil {
			return 0, err
		}
	}
	n := copy(p, h.buf[h.off:])
	h.off += n
	if h.off == len(h.buf) {
		h.off = 0
		if cap(h.buf) > idleBytesMax {
			h.buf = nil
		} else {
			h.buf = h.buf[:0]
		}
	}
	h.changed.Broadcast()
	return n, nil
}

func (h *half) write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	written := 0
	for {
		if h.closed {
			return written, io.ErrClosedPipe
		}
		room := h.bytesMax - (len(h.buf) - h.off)
		if len(p) <= room || (h.waits && room > 0) {
			n := min(room, len(p))
			h.appendLocked(p[:n])
			written += n
			if p = p[n:]; len(p) == 0 {
				return written, nil
			}
		}
		if !h.waits {
			h.closed, h.overflowed = true, true
			h.buf, h.off = nil, 0
			h.changed.Broadcast()
			return written, errOverflow
		}
		if err := h.waitLocked(&h.writeBy); err != nil {
			return written, err
		}
	}
}

func (h *half) appendLocked(p []byte) {
	if h.off > 0 && len(h.buf)+len(p) > cap(h.buf) {
		h.buf = h.buf[:copy(h.buf, h.buf[h.off:])]
		h.off = 0
	}
	h.buf = append(h.buf, p...)
	h.changed.Broadcast()
}

// waitLocked waits for any change, at most until the deadline, which may change meanwhile.
func (h *half) waitLocked(by *time.Time) error {
	if !by.IsZero() {
		left := time.Until(*by)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		if h.timer == nil {
			h.timer = time.AfterFunc(left, h.wake)
		} else {
			h.timer.Reset(left)
		}
		defer h.timer.Stop()
	}
	h.changed.Wait()
	return nil
}

func (h *half) wake() {
	h.mu.Lock()
	h.changed.Broadcast()
	h.mu.Unlock()
}

func (h *half) setDeadline(by *time.Time, t time.Time) {
	h.mu.Lock()
	*by = t
	h.changed.Broadcast()
	h.mu.Unlock()
}

func (h *half) close() {
	h.mu.Lock()
	h.closed = true
	h.changed.Broadcast()
	h.mu.Unlock()
}
