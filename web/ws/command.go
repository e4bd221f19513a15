package ws

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/web/wire"
)

// refBytesMax bounds a ref, which every answer echoes.
const refBytesMax = 128

// command is one frame of a client: op and ref, and the op's struct with its fields.
type command struct {
	op, ref string
	args    any // *helloArgs, *sendArgs, *markArgs, *inboxMarkArgs, *typingArgs, *focusArgs, *streamArgs or *authArgs
}

// Each op has exactly these fields; a frame with any other is refused.
type (
	helloArgs struct {
		Op         string                     `json:"op"`
		Ref        *string                    `json:"ref,omitempty"`
		Token      *string                    `json:"token,omitempty"`
		As         *string                    `json:"as,omitempty"`
		After      map[string]json.RawMessage `json:"after,omitempty"`
		InboxAfter json.RawMessage            `json:"inbox_after,omitempty"`
		Start      *string                    `json:"start,omitempty"`
		Only       *[]string                  `json:"only,omitempty"`
	}
	sendArgs struct {
		Op    string  `json:"op"`
		Ref   *string `json:"ref,omitempty"`
		Group string  `json:"group"`
		wire.MessageDraft
	}
	markArgs struct { // of ack and read
		Op     string  `json:"op"`
		Ref    *string `json:"ref,omitempty"`
		Group  string  `json:"group"`
		ID     *int64  `json:"id,omitempty"`
		Cursor *string `json:"cursor,omitempty"`
	}
	inboxMarkArgs struct {
		Op     string  `json:"op"`
		Ref    *string `json:"ref,omitempty"`
		Seq    *int64  `json:"seq,omitempty"`
		Cursor *string `json:"cursor,omitempty"`
	}
	typingArgs struct {
		Op    string  `json:"op"`
		Ref   *string `json:"ref,omitempty"`
		Group string  `json:"group"`
	}
	focusArgs struct {
		Op    string          `json:"op"`
		Ref   *string         `json:"ref,omitempty"`
		Group json.RawMessage `json:"group"`
		Away  *bool           `json:"away,omitempty"`
	}
	streamArgs struct {
		Op    string  `json:"op"`
		Ref   *string `json:"ref,omitempty"`
		Group string  `json:"group"`
		ID    int64   `json:"id"`
		stream.Draft
	}
	authArgs struct {
		Op    string  `json:"op"`
		Ref   *string `json:"ref,omitempty"`
		Token *string `json:"token,omitempty"`
	}
)

// scope says what the session is about.
func (a *helloArgs) scope() (sc live.Scope, err error) {
	if sc.After, err = wire.Positions("after", a.After); err != nil {
		return sc, err
	}
	if sc.InboxAfter, err = wire.Position("inbox_after", a.InboxAfter); err != nil {
		return sc, err
	}
	if sc.Newest, err = wire.Newest(a.Start); err != nil {
		return sc, err
	}
	sc.Only, err = wire.Groups("only", a.Only)
	return sc, err
}

// decodeCommand parses a frame. object is false if it is not a JSON object, which ends the session; any other error is
// answered, with the ref if it could be parsed.
func decodeCommand(frame []byte) (c command, object bool, err error) {
	if trimmed := bytes.TrimLeft(frame, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' || !utf8.Valid(frame) || !json.Valid(frame) {
		return command{}, false, chat.Errorf(chat.CodeInvalid, "want a JSON object")
	}
	var head struct {
		Op  any `json:"op"`
		Ref any `json:"ref,omitempty"`
	}
	// Check depth and repeated names first: until then nothing in the frame can be trusted.
	if err := wire.Peek(frame, &head); err != nil {
		return command{}, true, err
	}
	if ref, ok := head.Ref.(string); ok {
		if len(ref) > refBytesMax {
			return command{}, true, chat.Errorf(chat.CodeInvalid, "ref: at most %d bytes", refBytesMax)
		}
		c.ref = ref
	}
	c.op, _ = head.Op.(string)
	if c.args = argsOf(c.op); c.args == nil {
		return c, true, chat.Errorf(chat.CodeInvalid, "op: want hello, send, ack, read, inbox_ack, typing, focus, stream or auth")
	}
	return c, true, wire.Decode(frame, c.args)
}

func argsOf(op string) any {
	switch op {
	case "hello":
		return new(helloArgs)
	case "send":
		return new(sendArgs)
	case "ack", "read":
		return new(markArgs)
	case "inbox_ack":
		return new(inboxMarkArgs)
	case "typing":
		return new(typingArgs)
	case "focus":
		return new(focusArgs)
	case "stream":
		return new(streamArgs)
	case "auth":
		return new(authArgs)
	}
	return nil
}
