package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// FileDraft is a file to upload to a group.
type FileDraft struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	Type   string `json:"type,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // hexadecimal; the server refuses other bytes

	// Key makes repeated requests begin only one upload (1 to 64 printable ASCII); generated if empty.
	Key string `json:"-"`
}

// Upload is a file that is not complete yet.
type Upload struct {
	ID        string    `json:"id"`
	Offset    int64     `json:"offset"` // how many bytes the server has
	ExpiresAt time.Time `json:"expires_at"`
}

// CreateUpload begins an upload, whose bytes follow with WriteUpload. [Client.UploadFile] does both.
func (c *Client) CreateUpload(ctx context.Context, group string, draft FileDraft) (Upload, error) {
	draft.Key = cmp.Or(draft.Key, NewKey())
	return answerTo[Upload](ctx, c, call{method: http.MethodPost, path: []string{"groups", group, "files"}, body: draft, key: draft.Key, again: true})
}

// UploadOffset returns how many bytes of an own upload the server has, which is where WriteUpload goes on. For a complete
// file that is its size.
func (c *Client) UploadOffset(ctx context.Context, group, id string) (int64, error) {
	answer, err := c.exchangeBytes(ctx, fileCall(http.MethodHead, group, id), nil, nil, 0)
	if err != nil {
		return 0, err
	}
	_ = answer.Body.Close()
	return uploadOffset(answer)
}

// WriteUpload adds size bytes at offset and returns the new offset. What arrived counts even if it fails: ask
// UploadOffset where to go on. CodeConflict means that the upload is at another offset.
func (c *Client) WriteUpload(ctx context.Context, group, id string, offset int64, body io.Reader, size int64) (int64, error) {
	header := http.Header{
		"Content-Type": {"application/offset+octet-stream"}, "Upload-Offset": {strconv.FormatInt(offset, 10)},
		"Expect": {"100-continue"}, // a refusal comes before the bytes are on their way
	}
	answer, err := c.exchangeBytes(ctx, fileCall(http.MethodPatch, group, id), header, body, size)
	if err != nil {
		return offset, err
	}
	_ = answer.Body.Close()
	return uploadOffset(answer)
}

func uploadOffset(answer *http.Response) (int64, error) {
	offset := headerInt(answer.Header, "Upload-Offset")
	if offset < 0 {
		return 0, fmt.Errorf("the response has no offset: Upload-Offset %q", answer.Header.Get("Upload-Offset"))
	}
	return offset, nil
}

// RemoveFile removes an own upload, or an own file that no message names.
func (c *Client) RemoveFile(ctx context.Context, group, id string) error {
	return c.do(ctx, fileCall(http.MethodDelete, group, id), nil)
}

func fileCall(method, group, id string) call {
	return call{method: method, path: []string{"groups", group, "files", id}}
}

// UploadFile uploads a whole file and returns its id, for the Files of a message. It goes in pieces of at most 1 MiB, which nginx
// lets through by default, and of less if a proxy answers 413. After a broken connection it goes on where the server is. The
// digest of the bytes is checked: by the server if the draft has it, otherwise it is computed on
// the way and compared with what the server stored.
func (c *Client) UploadFile(ctx context.Context, group string, draft FileDraft, content io.ReaderAt) (string, error) {
	u, err := c.CreateUpload(ctx, group, draft)
	if err != nil {
		return "", err
	}
	if draft.SHA256 != "" {
		err = c.writeWhole(ctx, group, draft, u, content)
	} else {
		err = c.writeDigested(ctx, group, draft, u, content)
	}
	if err != nil {
		return "", err
	}
	return u.ID, nil
}

// writeDigested writes all bytes of an upload, and compares them with what the server has at the end.
func (c *Client) writeDigested(ctx context.Context, group string, draft FileDraft, u Upload, content io.ReaderAt) error {
	sent := &digestedAt{content: content, digest: sha256.New()}
	if err := c.writeWhole(ctx, group, draft, u, sent); err != nil {
		return err
	}
	want, err := sent.sum(draft.Size)
	if err != nil {
		return fmt.Errorf("%s: %w", draft.Name, err)
	}
	return c.compareUpload(ctx, group, draft.Name, u.ID, want)
}

// A request with a piece of a file is no longer than the client_max_body_size of an nginx as installed. Below pieceMin, another
// limit than that of bodies is at work.
const (
	pieceMax = 1 << 20
	pieceMin = 16 << 10
)

// errPiece says whose limit an upload ran into, and what to do.
var errPiece = fmt.Errorf("a proxy in front of the server refuses even pieces of %d KiB: raise its limit for request bodies, which is client_max_body_size in nginx",
	pieceMin>>10)

// refusedPiece makes the pieces of this client smaller if err is the 413 of a proxy. What chatd itself refuses is about the whole
// file.
func (c *Client) refusedPiece(err error, size int64) (smaller bool, failed error) {
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusRequestEntityTooLarge || e.Code != "" {
		return false, nil
	}
	if size <= pieceMin {
		return false, fmt.Errorf("%w (%w)", errPiece, err)
	}
	c.piece.Store(max(pieceMin, size/2))
	return true, nil
}

// writeWhole writes all bytes of an upload, in as many requests as it takes.
func (c *Client) writeWhole(ctx context.Context, group string, draft FileDraft, u Upload, content io.ReaderAt) error {
	// failures counts those since the upload last got on.
	for at, failures := u.Offset, 0; at < draft.Size; {
		size := min(c.piece.Load(), draft.Size-at)
		next, err := c.WriteUpload(ctx, group, u.ID, at, io.NewSectionReader(content, at, size), size)
		if err == nil && next > at {
			at, failures = next, 0
			continue
		}
		smaller, failed := c.refusedPiece(err, size)
		if failed != nil {
			return fmt.Errorf("upload of %s at byte %d: %w", draft.Name, at, failed)
		}
		if smaller {
			continue // if the proxy let some bytes through, the next attempt learns the new offset
		}
		wait, again := retryable(err, true)
		if failures++; err != nil && !again && CodeOf(err) != CodeConflict || failures > c.attempts {
			return fmt.Errorf("upload of %s at byte %d: %w", draft.Name, at, err)
		}
		if failures > 1 || CodeOf(err) != CodeConflict {
			if err := c.backoff.sleep(ctx, failures-1, wait); err != nil {
				return err
			}
		}
		next, err = c.UploadOffset(ctx, group, u.ID)
		if _, again := retryable(err, true); err != nil && !again {
			return fmt.Errorf("upload of %s: %w", draft.Name, err)
		}
		if err == nil && next > at {
			failures = 0
		}
		if err == nil {
			at = next
		}
	}
	return nil
}

// compareUpload removes a file whose digest differs from that of what was sent.
func (c *Client) compareUpload(ctx context.Context, group, name, id, want string) error {
	for failures := 0; ; {
		answer, err := c.exchangeBytes(ctx, fileCall(http.MethodHead, group, id), nil, nil, 0)
		if err == nil {
			_ = answer.Body.Close()
			if got := strings.Trim(answer.Header.Get("ETag"), `"`); got != want {
				return errors.Join(fmt.Errorf("upload of %s: the server stored other bytes, with the digest %q", name, got), c.RemoveFile(ctx, group, id))
			}
			return nil
		}
		wait, again := retryable(err, true)
		if failures++; !again || failures > c.attempts {
			return fmt.Errorf("upload of %s: %w", name, err)
		}
		if err := c.backoff.sleep(ctx, failures-1, wait); err != nil {
			return err
		}
	}
}

// digestedAt computes the digest of a content while it is read from its beginning on. Pieces may be read again, also at the
// same time: a request that was given up may still read.
type digestedAt struct {
	content io.ReaderAt

	mu     sync.Mutex
	digest hash.Hash
	done   int64 // bytes that are in the digest
}

func (d *digestedAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := d.content.ReadAt(p, at)
	d.mu.Lock()
	defer d.mu.Unlock()
	if at <= d.done && d.done < at+int64(n) {
		d.digest.Write(p[d.done-at : n])
		d.done = at + int64(n)
	}
	return n, err
}

// sum is the digest of the whole content, in hexadecimal; what was not sent is read now.
func (d *digestedAt) sum(size int64) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rest := size - d.done
	if n, err := io.Copy(d.digest, io.NewSectionReader(d.content, d.done, rest)); err != nil || n != rest {
		return "", fmt.Errorf("read %d of %d bytes: %w", d.done+n, size, orShort(err))
	}
	return hex.EncodeToString(d.digest.Sum(nil)), nil
}

func orShort(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}
