package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
)

// StreamState says that a message is, or was, written piece by piece.
type StreamState string

// The states of a stream. StreamDone is that of the entry that ends it alone.
const (
	StreamOpen StreamState = "open" // it is being written
	StreamDone StreamState = "done"
	StreamCut  StreamState = "cut" // its author fell silent
)

// MarshalJSON writes true for an open one.
func (s StreamState) MarshalJSON() ([]byte, error) {
	if s == StreamOpen {
		return []byte("true"), nil
	}
	return json.Marshal(string(s))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *StreamState) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "true":
		*s = StreamOpen
		return nil
	case "false", "null":
		*s = ""
		return nil
	}
	return json.Unmarshal(text, (*string)(s))
}

// Piece is some text of a message that is being written: Append at byte Offset, or, where Body is set, the whole text.
type Piece struct {
	Offset int64
	Append string
	Body   *string
	Done   bool // the text is whole
}

// MarshalJSON writes what the server takes.
func (p Piece) MarshalJSON() ([]byte, error) {
	fields := map[string]any{}
	if p.Body != nil {
		fields["body"] = *p.Body
	} else {
		fields["offset"], fields["append"] = p.Offset, p.Append
	}
	if p.Done {
		fields["done"] = true
	}
	return json.Marshal(fields)
}

// Written is how far a message is that is being written.
type Written struct {
	Length    int64 `json:"length"`    // bytes that stand
	Cancelled bool  `json:"cancelled"` // somebody asked to stop
}

// WritePiece writes on at a message of the caller that was sent with StreamOpen. Repeating it is harmless. CodeConflict: the piece does not
// go with what stands, and [Error.Length] says how much that is. Package writing does all this.
func (c *Client) WritePiece(ctx context.Context, group string, id int64, p Piece) (Written, error) {
	return answerTo[Written](ctx, c, call{method: http.MethodPatch, path: []string{"groups", group, "messages", strconv.FormatInt(id, 10), "stream"}, body: p, again: true})
}

// CancelStream asks the author of a message to stop writing it.
func (c *Client) CancelStream(ctx context.Context, group string, id int64) error {
	return c.do(ctx, call{method: http.MethodPost, path: []string{"groups", group, "messages", strconv.FormatInt(id, 10), "stream", "cancel"}, again: true}, nil)
}
