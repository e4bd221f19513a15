package ws

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// drainBytesMax is how much of the client's further data is read after the close frame: closing a connection with
// unread bytes resets it, and the client may never see the reason.
const drainBytesMax = 1 << 20

// socketBytesMax is how much the kernel buffers for a client that does not read; by default it would let that grow to
// megabytes.
const socketBytesMax = 64 << 10

// stallTries is how many attempts a write that makes no progress is divided into.
const stallTries = 8

// stallConn is a connection that measures whether its client reads: a write may last as long as it makes progress. It
// sets its own write deadlines and ignores those of others. Only one goroutine at a time may write.
type stallConn struct {
	net.Conn
	stallAfter time.Duration // a write without progress for this long is stalled
	lastChance time.Duration // how long a stalled or ending connection has to write its last frames

	blocked atomic.Int64 // when the current write began, Unix ms; 0: none

	sys    syscall.RawConn // nil: only send can write
	opened bool            // the handshake is over: only send and try write to the connection

	mu      sync.Mutex
	stalled bool
	until   time.Time // set once the connection has to end
	last    []byte    // the close frame that the library wrote
}

// SetWriteDeadline does nothing: Write sets its own.
func (c *stallConn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline sets the read deadline only.
func (c *stallConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// Write is how the websocket library writes: the answer to the handshake, and later only a close frame, if what the client
// sent violates the protocol. That frame is kept for the goodbye, because it must not get into the middle of another one.
func (c *stallConn) Write(b []byte) (int, error) {
	if !c.opened {
		return c.send(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = bytes.Clone(b)
	return len(b), nil
}

// farewell is the close frame that the library wrote; nil: none.
func (c *stallConn) farewell() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// errWouldBlock means that the client has not read enough to take more.
var errWouldBlock = errors.New("the write would block")

// try writes what the kernel takes without waiting. It returns errWouldBlock if that is not all of b.
func (c *stallConn) try(b []byte) (written int, err error) {
	if c.sys == nil {
		return 0, errWouldBlock
	}
	t, _ := attempts.Get().(*attempt)
	defer attempts.Put(t)
	t.rest, t.written, t.err = b, 0, nil
	err = c.sys.Write(t.write)
	t.rest = nil
	if err == nil {
		err = t.err
	}
	return t.written, err
}

// attempt is one call of try. Its function is made once, not for every write.
type attempt struct {
	rest    []byte
	written int
	err     error
	write   func(fd uintptr) (done bool)
}

var attempts = sync.Pool{New: func() any {
	t := &attempt{}
	t.write = func(fd uintptr) bool {
		for len(t.rest) > 0 && t.err == nil {
			n, err := tryWrite(fd, t.rest)
			t.rest, t.written, t.err = t.rest[n:], t.written+n, err
		}
		return true // never wait until the connection can be written to
	}
	return t
}}

// send writes all of b. It waits for the client as long as that makes progress.
func (c *stallConn) send(b []byte) (written int, err error) {
	defer c.disarm()
	for idle := 0; ; {
		c.arm()
		n, err := c.Conn.Write(b[written:])
		written += n
		if !errors.Is(err, os.ErrDeadlineExceeded) || c.hurried() && !time.Now().Before(c.end()) {
			return written, err
		}
		// The bytes may have gone out at any time during this attempt, so a stall is measured in short ones.
		if idle++; n > 0 {
			idle = 0
		}
		if idle == stallTries {
			// A half-written frame is finished if the client starts reading in time, so that it can receive the reason
			// for the close.
			c.mu.Lock()
			c.stalled = true
			c.mu.Unlock()
			c.hurry()
		}
	}
}

// arm sets the deadline of the next write.
func (c *stallConn) arm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.until.IsZero() {
		_ = c.Conn.SetWriteDeadline(c.until)
		return
	}
	now := time.Now()
	c.blocked.CompareAndSwap(0, now.UnixMilli())
	_ = c.Conn.SetWriteDeadline(now.Add(c.stallAfter / stallTries))
}

// disarm ends what arm began: try has no deadline of its own.
func (c *stallConn) disarm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocked.Store(0)
	if c.until.IsZero() {
		_ = c.Conn.SetWriteDeadline(time.Time{})
	}
}

// hurry gives all further writes together the last chance, including one that blocks at this moment.
func (c *stallConn) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until.IsZero() {
		c.until = time.Now().Add(c.lastChance)
		_ = c.Conn.SetWriteDeadline(c.until)
	}
}

func (c *stallConn) hurried() bool { return !c.end().IsZero() }

func (c *stallConn) end() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.until
}

func (c *stallConn) isStalled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stalled
}

// finish closes the connection after the close frame was written, and gives the client a moment to read it.
func (c *stallConn) finish(within time.Duration) {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = c.Conn.SetReadDeadline(time.Now().Add(within))
		_, _ = io.Copy(io.Discard, io.LimitReader(c.Conn, drainBytesMax))
	}
	_ = c.Close()
}

// stallHijacker hands the upgrader a stallConn.
type stallHijacker struct {
	http.ResponseWriter
	conn *stallConn
}

func (h *stallHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if tcp, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = tcp.SetWriteBuffer(socketBytesMax)
	}
	h.conn.Conn = conn
	if sys, ok := conn.(syscall.Conn); ok {
		h.conn.sys, _ = sys.SyscallConn()
	}
	return h.conn, rw, nil
}
