package chat

import (
	"bytes"
	"encoding/json"
	"time"
)

// Stream says that a message is, or was, written piece by piece. On the wire it is true while it is being written.
type Stream string

const (
	StreamOpen Stream = "open" // it is being written
	StreamDone Stream = "done" // of the entry that ends it: the text is whole
	StreamCut  Stream = "cut"  // its author fell silent; in the message, too
)

// Bounds of streams.
const (
	StreamBytesMax   = 64 << 10               // of the text
	StreamsOpenMax   = 20                     // in a group
	StreamPiecesMax  = 20                     // pieces of one stream in StreamWindow
	StreamWindow     = 950 * time.Millisecond // a writer that sends one each 50 ms is never refused because of jitter
	StreamSilence    = time.Minute            // after which a stream is cut
	StreamLongest    = time.Hour              // how long one may last by default
	StreamLongestMin = time.Minute
	StreamLongestMax = 24 * time.Hour
)

// ErrStreamOpen refuses an edit of a message that is still being written.
var ErrStreamOpen = Errorf(CodeConflict, "the message is still being written")

// MarshalJSON writes true for an open one.
func (s Stream) MarshalJSON() ([]byte, error) {
	if s == StreamOpen {
		return []byte("true"), nil
	}
	return json.Marshal(string(s))
}

// UnmarshalJSON reads what MarshalJSON writes, and false as nothing.
func (s *Stream) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "true":
		*s = StreamOpen
	case "false", "null":
		*s = ""
	default:
		return json.Unmarshal(text, (*string)(s))
	}
	return nil
}

// left is what a message keeps of how its stream ended.
func (s Stream) left() Stream {
	if s == StreamCut {
		return s
	}
	return ""
}

// checkStream checks a message that is to be written piece by piece.
func (c Content) checkStream() error {
	switch {
	case c.Stream != StreamOpen:
		return Invalid("stream: want true")
	case len(c.Files) > 0:
		return Invalid("files: a stream names none")
	case c.Body != nil && len(*c.Body) > StreamBytesMax:
		return Errorf(CodeTooLarge, "body: a stream has at most %d bytes", StreamBytesMax)
	}
	return nil
}

// IsStreaming tells whether an entry is a message that is still being written. It looks at the beginning alone, as the server writes it:
// most entries are none.
func IsStreaming(entry []byte) bool {
	head, rest, ok := bytes.Cut(entry, []byte(`,"stream":true`))
	if !ok || len(rest) == 0 {
		return false
	}
	head = bytes.TrimRight(head, "0123456789") // of a reply, the id of the root
	if reply, inThread := bytes.CutSuffix(head, []byte(`,"thread":`)); inThread {
		head = reply
	}
	return bytes.HasSuffix(head, []byte(`,"kind":"text"`)) && bytes.Count(head, []byte{'"'}) == 14
}

// Standing is an entry that is being written with what stands of it.
func Standing(m Message, body string) (Message, error) {
	var e Entry
	if err := json.Unmarshal(m.JSON, &e); err != nil {
		return Message{}, &Error{Code: CodeInternal, Message: "internal error", Cause: err}
	}
	e.Body = &body
	return rewritten(m, e), nil
}

// OpenStream is a message that is being written.
type OpenStream struct {
	ID     int64
	Author string
	Mark   string        // of the message
	Gen    int64         // how often the text was replaced
	Text   string        // that stands
	Idle   time.Duration // since the last piece
	Age    time.Duration // since it began
}

// Ended is the message as it reads once by, the entry that ends its stream, is there.
func (e Entry) Ended(by Entry) Entry { return e.edited(by) }
