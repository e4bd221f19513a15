// Package writing writes messages piece by piece, as the answers of language models come.
package writing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/chatd/chatd/client"
)

// How often a Writer writes: the server takes 20 pieces a second.
const (
	pieceEvery   = 60 * time.Millisecond
	pieceRetry   = time.Second
	pieceBytes   = 16 << 10
	pieceRetries = 30 // in a row
)

// ErrClosed is the error of a write to a Writer that was closed.
var ErrClosed = errors.New("chatd: the stream is closed")

// Writer writes a message piece by piece: an io.WriteCloser that sends what is written to it, several writes together, and goes on
// behind what stands after errors. It may be used from many goroutines.
type Writer struct {
	Message client.Sent // as it began

	c         *client.Client
	ctx       context.Context
	cancelled chan struct{}
	wake      chan struct{} // capacity 1
	ended     chan struct{}

	mu     sync.Mutex
	moved  sync.Cond // something of the below has changed
	rest   []byte    // not sent yet
	length int64     // bytes that stand
	closed bool
	err    error
}

// Open sends a text that is written piece by piece, with what Body has of it. Close the writer in the end: ctx bounds all that it does.
func Open(ctx context.Context, c *client.Client, group string, draft client.Draft) (*Writer, error) {
	draft.Stream = client.StreamOpen
	sent, err := c.Send(ctx, group, draft)
	if err != nil {
		return nil, err
	}
	sent.Group = cmp.Or(sent.Group, group)
	w := &Writer{Message: sent, c: c, ctx: ctx, cancelled: make(chan struct{}), wake: make(chan struct{}, 1), ended: make(chan struct{}), length: int64(len(draft.Body))}
	w.moved.L = &w.mu
	go w.run()
	return w, nil
}

// Write adds text to the message. It does not wait for the server; the error is that of an earlier piece.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	if w.closed {
		return 0, ErrClosed
	}
	w.rest = append(w.rest, p...)
	w.signal()
	return len(p), nil
}

func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Flush waits until the server has what was written, but for the beginning of a character.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && whole(w.rest) > 0 {
		w.moved.Wait()
	}
	return w.err
}

// Cancelled is closed once somebody has asked to stop. Close the writer then.
func (w *Writer) Cancelled() <-chan struct{} { return w.cancelled }

// Close sends what is left, ends the message, and waits for the answer.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed = true
	w.signal()
	w.mu.Unlock()
	<-w.ended
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *Writer) run() {
	defer close(w.ended)
	failed := 0
	for {
		select {
		case <-w.wake:
		case <-w.ctx.Done():
			w.fail(context.Cause(w.ctx))
			return
		}
		for {
			p, more := w.next()
			if !more {
				break
			}
			state, err := w.c.WritePiece(w.ctx, w.Message.Group, w.Message.ID, p)
			var refused *client.Error
			pause := pieceEvery
			switch {
			case err == nil:
				failed = 0
				if w.stands(p, state); p.Done {
					return
				}
			case errors.As(err, &refused) && refused.Code == client.CodeConflict && refused.Length != nil && w.resume(p, *refused.Length):
				failed = 0
			case retried(refused, err) && failed < pieceRetries:
				failed++
				pause = pieceRetry
				if refused != nil {
					pause = max(pause, refused.RetryAfter)
				}
			default:
				w.fail(err)
				return
			}
			select {
			case <-time.After(pause):
			case <-w.ctx.Done():
				w.fail(context.Cause(w.ctx))
				return
			}
		}
	}
}

// retried tells whether a piece is sent again.
func retried(refused *client.Error, err error) bool {
	if refused == nil {
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	return refused.Status >= http.StatusInternalServerError || refused.Code == client.CodeRateLimited
}

// next is the next piece, of whole characters; ok is false if there is none.
func (w *Writer) next() (p client.Piece, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := whole(w.rest[:min(len(w.rest), pieceBytes)])
	if w.closed && len(w.rest) < utf8.UTFMax && n == 0 {
		w.rest = nil // the beginning of a character that never came whole
	}
	if n == 0 && !w.closed {
		return p, false
	}
	if !utf8.Valid(w.rest[:n]) {
		valid := bytes.ToValidUTF8(w.rest[:n], []byte("\uFFFD"))
		n, w.rest = len(valid), append(valid, w.rest[n:]...)
	}
	return client.Piece{Offset: w.length, Append: string(w.rest[:n]), Done: w.closed && n == len(w.rest)}, true
}

// whole is how many bytes of text are whole characters.
func whole(text []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return at
			}
			break
		}
	}
	return len(text)
}

// stands notes that a piece was taken.
func (w *Writer) stands(p client.Piece, state client.Written) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest, w.length = w.rest[len(p.Append):], w.length+int64(len(p.Append))
	w.moved.Broadcast()
	if state.Cancelled {
		select {
		case <-w.cancelled:
		default:
			close(w.cancelled)
		}
	}
}

// resume goes on behind what stands, of which the answer to an earlier try was lost. ok is false if that is not the writer's.
func (w *Writer) resume(p client.Piece, length int64) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	skip := length - w.length
	if skip <= 0 || skip > int64(len(p.Append)) {
		return false
	}
	w.rest, w.length = w.rest[skip:], length
	w.signal()
	w.moved.Broadcast()
	return true
}

func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	w.moved.Broadcast()
}
