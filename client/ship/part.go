package ship

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/client"
)

// shipped is the data of the messages by which Files and Process speak. One of the fields is set. docs/shipping.md
// describes them for other programs.
type shipped struct {
	Part   *partData   `json:"part,omitempty"`
	End    *endData    `json:"end,omitempty"`
	Result *resultData `json:"result,omitempty"`
}

// partData describes the file that the message names: lines, compressed by zstd.
type partData struct {
	Ship   string `json:"ship"`
	Number int64  `json:"number"` // from 1
	Name   string `json:"name"`
	Offset int64  `json:"offset"` // in that file
	Bytes  int64  `json:"bytes"`  // before compression
	SHA256 string `json:"sha256"` // of these bytes, hexadecimal
	Open   bool   `json:"open,omitempty"`
	// NoResult says that the shipper does not stay to take results: nobody would read them, and they would fill the group.
	NoResult bool `json:"no_result,omitempty"`
}

// endData is the end mark.
type endData struct {
	Ship   string `json:"ship"`
	Parts  int64  `json:"parts"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the bytes of all parts in their order, hexadecimal
}

// resultData is what a processor posts; the message replies to that of the part.
type resultData struct {
	Ship   string `json:"ship"`
	Number int64  `json:"number"`
	Text   string `json:"text"`
}

// resultBytesMax is how much of a result is posted: it is a line for people and programs, not the output.
const resultBytesMax = 4096

// Part is a piece of what a shipper ships, as a processor gets it. Group, Epoch and ID together name it for good: a
// handler that stores them along with what it does counts a part once even if it gets it twice.
type Part struct {
	Group   string
	Epoch   string
	ID      int64  // of the message
	From    string // the shipper
	Ship    string // id of the shipment
	Number  int64  // of the part in the shipment, from 1
	Name    string // of the file that the lines are from, as the shipper named it
	Offset  int64  // where in that file they begin
	Bytes   int64  // how many, uncompressed
	SHA256  string // of these bytes, hexadecimal
	Open    bool   // the last line is too long for a part: the next part continues it
	Attempt int    // from 1

	// Lines are the lines, uncompressed while they are read. Reading fails if they do not have the digest.
	Lines io.Reader
}

// End is the end mark of a shipment.
type End struct {
	Group  string
	Epoch  string
	ID     int64 // of the message
	From   string
	Ship   string
	Parts  int64
	Bytes  int64
	SHA256 string // of the bytes of all parts in their order, hexadecimal
}

// Result is what a processor posted about a part.
type Result struct {
	From   string // the processor
	ID     int64  // of the message
	Part   int64  // id of the message with the part
	Ship   string
	Number int64 // of the part
	Text   string
}

// readShipped reads what a message says about shipping; all fields are nil if it is another message.
func readShipped(m client.Message) shipped {
	var s shipped
	if m.Kind != client.KindData || m.DeletedAt != nil || json.Unmarshal(m.Data, &s) != nil {
		return shipped{}
	}
	if s.Part != nil && len(m.Files) != 1 {
		s.Part = nil
	}
	return s
}

func partOf(epoch string, m client.Message, p *partData) Part {
	return Part{Group: m.Group, Epoch: epoch, ID: m.ID, From: m.From, Ship: p.Ship, Number: p.Number, Name: p.Name, Offset: p.Offset,
		Bytes: p.Bytes, SHA256: p.SHA256, Open: p.Open}
}

func endOf(epoch string, m client.Message, e *endData) End {
	return End{Group: m.Group, Epoch: epoch, ID: m.ID, From: m.From, Ship: e.Ship, Parts: e.Parts, Bytes: e.Bytes, SHA256: e.SHA256}
}

func resultOf(m client.Message, r *resultData) Result {
	return Result{From: m.From, ID: m.ID, Part: m.ReplyTo, Ship: r.Ship, Number: r.Number, Text: r.Text}
}

// clipped is a result as it is posted: valid UTF-8, and not too long.
func clipped(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= resultBytesMax {
		return text
	}
	end := resultBytesMax
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

const (
	// zstdWindow bounds what compressing and decompressing a part needs in memory.
	zstdWindow    = 1 << 20
	zstdWindowMax = 8 << 20 // of other shippers
)

// lines decompresses a part while it is downloaded.
type lines struct {
	body   io.ReadCloser
	zstd   *zstd.Decoder
	digest hash.Hash
	all    hash.Hash // of the shipment so far; nil if that is not known
	want   string
	left   int64
	err    error // why reading failed
}

// errPart means that a part is not what its message says. Trying again cannot help.
var errPart = errors.New("the lines are not those that the message describes")

// openLines begins to read a part. What is read is added to all.
func openLines(ctx context.Context, c *client.Client, m client.Message, p *partData, all hash.Hash) (*lines, error) {
	body, err := c.OpenFile(ctx, m.Group, m.Files[0])
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindowMax))
	if err != nil {
		return nil, errors.Join(err, body.Close())
	}
	return &lines{body: body, zstd: decoder, digest: sha256.New(), all: all, want: strings.ToLower(p.SHA256), left: p.Bytes}, nil
}

func (l *lines) Read(p []byte) (int, error) {
	n, err := l.zstd.Read(p)
	_, _ = l.digest.Write(p[:n])
	if l.all != nil {
		_, _ = l.all.Write(p[:n])
	}
	l.left -= int64(n)
	if l.left < 0 || errors.Is(err, io.EOF) && (l.left > 0 || hex.EncodeToString(l.digest.Sum(nil)) != l.want) {
		err = errPart
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

// finish reads what the handler has left, and returns why reading failed: the handler may have mistaken it for the end.
func (l *lines) finish() error {
	_, _ = io.Copy(io.Discard, l) // l.err says it
	return l.err
}

func (l *lines) close() {
	l.zstd.Close()
	_ = l.body.Close() // it was only read
}
