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
	errCut      = errors.New("the file ends too early: it was cut off, or its export was interrupted; export again")
	errDamaged  = errors.New("the file is damaged: its checksum does not match; copy or export it again")
	errWrong    = errors.New("the file is damaged, or no chatd wrote it")
	errLine     = fmt.Errorf("%w: a line has more than %d bytes", errWrong, lineBytesMax)
	errUnpacked = fmt.Errorf("%w: it unpacks to more than %d times its size", errWrong, unpackedTimes)
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
	Values values `json:"values"`
}

type values []text

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(data []byte) (err error) {
	*v, err = atMost[text](data, valuesMax)
	return err
}

// logRun is a run of entries of a log of the archive, as they read at the time of the export.
type logRun struct {
	Group    string   `json:"group"`
	Epoch    string   `json:"epoch"`
	Messages messages `json:"messages"`
}

type messages []message

// UnmarshalJSON implements json.Unmarshaler.
func (m *messages) UnmarshalJSON(data []byte) (err error) {
	*m, err = atMost[message](data, entryStep)
	return err
}

type message struct {
	ID    int64           `json:"id"`
	Mark  string          `json:"mark"`
	Edits edits           `json:"edits,omitempty"`
	Entry json.RawMessage `json:"entry"`
}

type edits []int64

// UnmarshalJSON implements json.Unmarshaler.
func (e *edits) UnmarshalJSON(data []byte) (err error) {
	*e, err = atMost[int64](data, editsMax)
	return err
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
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(t))
	case '{':
		var b binary
		err := strictly(data, &b)
		*t = text(b.Base64)
		return err
	}
	return errors.New("a value must be a string or {\"base64\": ...}")
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

	manifest Manifest
	before   line // the last one
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

// line writes a line that every import takes: a file that none takes must not be found out when it is needed.
func (w *writer) line(l line) error {
	if err := l.check(w.manifest, w.before); err != nil {
		return fmt.Errorf("no import would take it: %w; see chatd doctor", err)
	}
	w.before = l
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

// reader reads the lines of a file and checks them. What it takes does not grow with the file.
type reader struct {
	Manifest
	from     *meter
	packed   *zstd.Decoder
	lines    *bufio.Reader
	text     []byte // of the line
	unpacked int64  // bytes of all lines
	sum      hash.Hash
	counts   Counts
	before   line // the last one
	ended    bool
}

// meter counts the bytes that are read.
type meter struct {
	io.Reader
	n int64
}

func (m *meter) Read(b []byte) (int, error) {
	n, err := m.Reader.Read(b)
	m.n += int64(n)
	return n, err
}

// windowMax bounds what a file can make the reader allocate to unpack it: an export uses as much, and every reader of zstd must be
// able to (RFC 8878, 3.1.1.1.2).
const windowMax = 8 << 20

func newReader(from io.Reader) (*reader, error) {
	r := &reader{from: &meter{Reader: from}, sum: sha256.New()}
	var err error
	if r.packed, err = zstd.NewReader(r.from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowMax)); err != nil {
		return nil, err
	}
	r.lines = bufio.NewReaderSize(r.packed, 1<<16)
	first, err := r.read()
	if err == nil {
		r.sum.Write(first)
		err = json.Unmarshal(first, &r.Manifest)
	}
	switch {
	case errors.Is(err, errCut), errors.Is(err, errLine):
	case err != nil || r.Format == 0 || !chat.ValidKey(r.ID) || len(r.Chatd) > versionMax:
		err = errors.New("the file is not an export of chatd")
	case r.Format != format:
		err = fmt.Errorf("the file has format %d, but this chatd reads format %d: use the version that wrote it, %s", r.Format, format, r.Chatd)
	default:
		err = r.check()
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *reader) close() { r.packed.Close() }

// read returns the next line, until the next call.
func (r *reader) read() ([]byte, error) {
	for r.text = r.text[:0]; ; {
		some, err := r.lines.ReadSlice('\n')
		r.text = append(r.text, some...)
		r.unpacked += int64(len(some))
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil, errCut
		case len(r.text) > lineBytesMax:
			return nil, errLine
		case r.unpacked-unpackedFree > unpackedTimes*r.from.n:
			return nil, errUnpacked
		case !errors.Is(err, bufio.ErrBufferFull):
			return r.text, err
		}
	}
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
	if err := strictly(text, &l); err != nil {
		return l, r.wrong(err)
	}
	if l.End != nil {
		r.ended = true
		if l.End.SHA256 != hex.EncodeToString(r.sum.Sum(nil)) || l.End.Counts != r.counts {
			return l, errDamaged
		}
		return l, io.EOF
	}
	if err := l.check(r.Manifest, r.before); err != nil {
		return l, r.wrong(err)
	}
	r.sum.Write(text)
	r.counts.add(l)
	r.before = l
	return l, nil
}

// wrong says in which line something is wrong.
func (r *reader) wrong(err error) error {
	return fmt.Errorf("%w: line %d: %w", errWrong, r.counts.Lines+2, err)
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
