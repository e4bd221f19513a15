package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/chatd/chatd/chat"
)

// bufferBytesKept bounds the buffers in the pool: one that grew beyond it is left to the garbage collector. So no small answer
// that is taken slowly holds a large buffer.
const bufferBytesKept = 64 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Buffer returns an empty buffer for about so many bytes, from a pool if they are few. Call Free when it is written.
func Buffer(size int) *bytes.Buffer {
	if size > bufferBytesKept {
		return bytes.NewBuffer(make([]byte, 0, size))
	}
	return buffers.Get().(*bytes.Buffer)
}

// Free returns a buffer to the pool. Nobody may use it, or its bytes, afterwards.
func Free(buf *bytes.Buffer) {
	if buf.Cap() <= bufferBytesKept {
		buf.Reset()
		buffers.Put(buf)
	}
}

// Each function below writes one field. name is everything before the value: `{"from":` or `,"to":`.

// Plain writes a field of plain text, such as an id, an epoch or a cursor, which needs no escaping.
func Plain(buf *bytes.Buffer, name, value string) {
	buf.WriteString(name)
	buf.WriteByte('"')
	buf.WriteString(value)
	buf.WriteByte('"')
}

func Int(buf *bytes.Buffer, name string, n int64) {
	buf.WriteString(name)
	buf.Write(strconv.AppendInt(buf.AvailableBuffer(), n, 10))
}

func Bool(buf *bytes.Buffer, name string, v bool) {
	buf.WriteString(name)
	buf.Write(strconv.AppendBool(buf.AvailableBuffer(), v))
}

// JSON writes a field of one of our types, whose encoding cannot fail.
func JSON(buf *bytes.Buffer, name string, value any) {
	buf.WriteString(name)
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) //nolint:forbidigo // see above
	}
	buf.Write(b)
}

// Items writes the items of an inbox, which are stored as clients see them.
func Items(buf *bytes.Buffer, items []chat.StoredItem) {
	buf.WriteString(`,"items":[`)
	for i := range items {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.Write(items[i].JSON)
	}
	buf.WriteByte(']')
}

// Profiles writes the field of versions of profiles behind others; nil: there are none.
func Profiles(buf *bytes.Buffer, versions []byte) {
	if versions != nil {
		buf.WriteString(`,"profiles":`)
		buf.Write(versions)
	}
}

// Previews writes the field of previews of links behind others; nil: there are none.
func Previews(buf *bytes.Buffer, previews []byte) {
	if previews != nil {
		buf.WriteString(`,"previews":`)
		buf.Write(previews)
	}
}
