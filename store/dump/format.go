// Package dump copies a whole store, with its archive, into one file and from there into an empty store of any kind: from the
// embedded store to Redis, from SQLite to PostgreSQL, or back. Ids, cursors, epochs, marks, retry keys, schedules, tasks and
// inboxes stay what they are, so clients go on where they were. No server may run on either store meanwhile.
//
// A file is zstd-compressed NDJSON. The first line is the Manifest; then comes a line for each part of a key, then one for each
// part of a log of the archive, and last a line that counts the others and holds their SHA-256: a file without it is cut off.
package dump

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// Manifest begins a file.
type Manifest struct {
	Chatd      string    `json:"chatd"`      // the version that wrote it
	Format     int       `json:"format"`     // of the file: 1
	ID         string    `json:"id"`         // random: names the file
	Layout     int       `json:"layout"`     // of the keys; see docs/redis.md
	Partitions int       `json:"partitions"` // of the keys
	Archive    bool      `json:"archive"`    // the logs of an archive are in it
	At         time.Time `json:"at"`
}

// Counts is how much a file holds.
type Counts struct {
	Lines    int64 `json:"lines"` // between the manifest and the end
	Keys     int64 `json:"keys"`
	Messages int64 `json:"messages"` // of the archive
}

const format = 1

// Errors of a file.
var (
	errCut     = errors.New("the file ends too early: it was cut off, or its export was interrupted; export again")
	errDamaged = errors.New("the file is damaged: its checksum does not match; copy or export it again")
)

// line is a line behind the manifest: one of its fields is there.
type line struct {
	Part *part   `json:"part,omitempty"`
	Log  *logRun `json:"log,omitempty"`
	End  *end    `json:"end,omitempty"`
}

// part is some of what a key holds.
type part struct {
	Key       string `json:"key"` // without prefix and partition
	Partition int    `json:"p"`
	Kind      string `json:"type"` // string, list, set, hash or zset
	At        int64  `json:"at"`   // how many values the lines before have of this key
	// Values: the string; elements of a list or a set; field and value by turns of a hash; score and member by turns of a zset.
	Values []text `json:"values"`
}

// logRun is a run of entries of a log of the archive, as they read at the time of the export.
type logRun struct {
	Group    string    `json:"group"`
	Epoch    string    `json:"epoch"`
	Messages []message `json:"messages"`
}

type message struct {
	ID    int64           `json:"id"`
	Mark  string          `json:"mark"`
	Edits []int64         `json:"edits,omitempty"`
	Entry json.RawMessage `json:"entry"`
}

type end struct {
	Counts
	SHA256 string `json:"sha256"` // of all lines before this one, the manifest included, with their line ends
}

func (l logRun) batch() archive.Batch {
	b := archive.Batch{Log: archive.Log{Group: l.Group, Epoch: l.Epoch}, Last: chat.IDMax, Messages: make([]chat.Message, len(l.Messages))}
	for i, m := range l.Messages {
		b.Messages[i] = chat.Message{ID: m.ID, Mark: m.Mark, Edits: m.Edits, JSON: m.Entry}
	}
	return b
}

// text is a value of the store: a JSON string, or {"base64": "..."} where it is not UTF-8.
type text string

type binary struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (t text) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(string(t)) {
		return json.Marshal(binary{[]byte(t)})
	}
	return encode(string(t))
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var b binary
		err := json.Unmarshal(data, &b)
		*t = text(b.Base64)
		return err
	}
	return json.Unmarshal(data, (*string)(t))
}

// encode is JSON in which <, > and & stay what they are.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// writer writes the lines of a file.
type writer struct {
	to      *counter
	packed  *zstd.Encoder
	sum     hash.Hash
	counts  Counts
	pending int // bytes of lines since the last pause
}

// counter counts the bytes of a file.
type counter struct {
	io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}

func newWriter(to io.Writer) (*writer, error) {
	w := &writer{to: &counter{Writer: to}, sum: sha256.New()}
	var err error
	w.packed, err = zstd.NewWriter(w.to, zstd.WithEncoderConcurrency(1))
	return w, err
}

// pause ends what is packed so far, so that a file that goes on here later is like any other.
func (w *writer) pause(c *Checkpoint) error {
	if err := w.packed.Close(); err != nil {
		return err
	}
	w.packed.Reset(w.to)
	var err error
	c.Offset, c.Counts, w.pending = w.to.n, w.counts, 0
	c.Sum, err = w.sum.(encoding.BinaryMarshaler).MarshalBinary()
	return err
}

// resume goes on where a file was paused.
func (w *writer) resume(c Checkpoint) error {
	w.to.n, w.counts = c.Offset, c.Counts
	return w.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(c.Sum)
}

func (w *writer) write(value any) error {
	text, err := encode(value)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	w.sum.Write(text)
	w.pending += len(text)
	_, err = w.packed.Write(text)
	return err
}

func (w *writer) line(l line) error {
	w.counts.add(l)
	return w.write(l)
}

// end completes the file.
func (w *writer) end() error {
	if err := w.write(line{End: &end{w.counts, hex.EncodeToString(w.sum.Sum(nil))}}); err != nil {
		return err
	}
	return w.packed.Close()
}

// reader reads the lines of a file and checks them.
type reader struct {
	Manifest
	packed *zstd.Decoder
	lines  *bufio.Reader
	sum    hash.Hash
	counts Counts
	ended  bool
}

// memoryMax bounds what a file can make the reader allocate for its window.
const memoryMax = 64 << 20

func newReader(from io.Reader) (*reader, error) {
	packed, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(memoryMax))
	if err != nil {
		return nil, err
	}
	r := &reader{packed: packed, lines: bufio.NewReaderSize(packed, 1<<16), sum: sha256.New()}
	first, err := r.read()
	if err == nil {
		r.sum.Write(first)
		err = json.Unmarshal(first, &r.Manifest)
	}
	switch {
	case errors.Is(err, errCut):
	case err != nil || r.Format == 0 || r.ID == "":
		err = errors.New("the file is not an export of chatd")
	case r.Format != format:
		err = fmt.Errorf("the file has format %d, but this chatd reads format %d: use the version that wrote it, %s", r.Format, format, r.Chatd)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *reader) close() { r.packed.Close() }

func (r *reader) read() ([]byte, error) {
	text, err := r.lines.ReadBytes('\n')
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errCut
	}
	return text, err
}

// next returns the next line, and io.EOF behind the last.
func (r *reader) next() (line, error) {
	if r.ended {
		return line{}, io.EOF
	}
	var l line
	text, err := r.read()
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("%w (line %d: %w)", errDamaged, r.counts.Lines+2, err)
	}
	if l.End != nil {
		r.ended = true
		if l.End.SHA256 != hex.EncodeToString(r.sum.Sum(nil)) || l.End.Counts != r.counts {
			return l, errDamaged
		}
		return l, io.EOF
	}
	r.sum.Write(text)
	r.counts.add(l)
	return l, nil
}

func (c *Counts) add(l line) {
	c.Lines++
	switch {
	case l.Part != nil && l.Part.At == 0:
		c.Keys++
	case l.Log != nil:
		c.Messages += int64(len(l.Log.Messages))
	}
}
