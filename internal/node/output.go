package node

import (
	"io"
	"sync"
	"time"
)

const (
	outputBytesMax = 1 << 20                // lines that wait; more are left out
	outputPatience = 100 * time.Millisecond // how long a caller that logs waits for the line to be written
	outputCloseMax = time.Second            // how long Close waits for the last ones
)

// output writes the lines of the log, each whole, in their order. A line is written when Write returns, unless the reader of
// the output has stopped reading, or is gone: then lines wait in a bounded buffer, nobody waits for them, and those that do
// not fit are counted and left out.
type output struct {
	w    io.Writer
	gap  func(w io.Writer, lines int) // writes that so many lines are left out here
	kick chan struct{}                // has an entry when there are lines to write
	quit chan struct{}
	done chan struct{}

	mu      sync.Mutex
	lines   []byte
	written chan struct{} // closed when lines are written
	stuck   bool          // the last write takes, or took, too long
	left    int           // lines that did not fit
}

func newOutput(w io.Writer, gap func(io.Writer, int)) *output {
	o := &output{w: w, gap: gap, kick: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), written: make(chan struct{})}
	go o.run()
	return o
}

// Write implements io.Writer. It never fails: there is nowhere to say so.
func (o *output) Write(line []byte) (int, error) {
	o.mu.Lock()
	if len(o.lines)+len(line) > outputBytesMax {
		o.left++
		o.mu.Unlock()
		return len(line), nil
	}
	o.lines = append(o.lines, line...)
	written, stuck := o.written, o.stuck
	o.mu.Unlock()
	select {
	case o.kick <- struct{}{}:
	default:
	}
	if stuck {
		return len(line), nil
	}
	patience := time.NewTimer(outputPatience)
	defer patience.Stop()
	select {
	case <-written:
	case <-patience.C:
		o.mu.Lock()
		o.stuck = true
		o.mu.Unlock()
	}
	return len(line), nil
}

func (o *output) run() {
	defer close(o.done)
	for {
		select {
		case <-o.kick:
			o.flush()
		case <-o.quit:
			o.flush()
			return
		}
	}
}

// flush writes what waits. The output may be a pipe that nobody reads any longer: what it does not take is lost.
func (o *output) flush() {
	o.mu.Lock()
	lines, written, left := o.lines, o.written, o.left
	o.lines, o.written, o.left = nil, make(chan struct{}), 0
	o.mu.Unlock()
	if len(lines) > 0 {
		_, _ = o.w.Write(lines)
	}
	if left > 0 {
		o.gap(o.w, left)
	}
	close(written)
	o.mu.Lock()
	o.stuck = false
	o.mu.Unlock()
}

// Close writes the last lines. Nothing may be written after it. Where the output takes nothing, it gives up, and leaves the
// goroutine that waits for it behind.
func (o *output) Close() {
	close(o.quit)
	select {
	case <-o.done:
	case <-time.After(outputCloseMax):
	}
}
