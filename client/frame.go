package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const subprotocol = "chatd.v1"

// hello is the first frame of a session. It carries the token, rather than a header, so that proxies that log headers
// do not see it.
type hello struct {
	Op         string              `json:"op"`
	Token      string              `json:"token"`
	As         string              `json:"as,omitempty"`
	After      map[string]Position `json:"after"`
	InboxAfter Position            `json:"inbox_after,omitempty"`
	Start      string              `json:"start,omitempty"`
	Only       []string            `json:"only,omitzero"`
}

// request is any later frame of the client.
type request struct {
	Op     string   `json:"op"`
	Ref    string   `json:"ref,omitempty"`
	Group  string   `json:"group,omitempty"`
	ID     int64    `json:"id,omitempty"`
	Seq    int64    `json:"seq,omitempty"`
	Cursor Position `json:"cursor,omitempty"` // instead of ID or Seq
	Token  string   `json:"token,omitempty"`
	*Draft
}

// focus says which group the person has open.
type focus struct {
	Op    string  `json:"op"`
	Group *string `json:"group"`
}

// welcome opens a session.
type welcome struct {
	User    string                   `json:"user"`
	Session string                   `json:"session"`
	Groups  map[string]GroupPosition `json:"groups"`
	PingS   float64                  `json:"ping_s"`
	Errors  []SyncError              `json:"errors"`
}

// reply answers the request with the same ref: ok, or error with a code.
type reply struct {
	Op        string    `json:"op"`
	Ref       string    `json:"ref"`
	Code      string    `json:"code"`
	Detail    string    `json:"detail"`
	RetryMS   int64     `json:"retry_after_ms"`
	Blockers  []Blocker `json:"blockers"`
	Until     time.Time `json:"until"`
	Reason    string    `json:"reason"`
	ID        int64     `json:"id"`
	SentAt    time.Time `json:"sent_at"`
	Duplicate bool      `json:"duplicate"`
	review    string    // that the answer names in the place of ID
	Progress
}

// err returns the error in a reply.
func (r reply) err() *Error {
	if r.review != "" {
		return waits(0, r.review)
	}
	return &Error{Code: r.Code, Detail: r.Detail, RetryAfter: time.Duration(r.RetryMS) * time.Millisecond, Blockers: r.Blockers, Until: r.Until, Reason: r.Reason}
}

// decodeFrame parses a frame of the server: welcome, reply, batch, Inbox, CursorMoved, Typing, Here, DraftChanged, Streamed,
// StreamCancelled, Joined or Left. For an op that this client does not know it returns nil, so that newer servers can add some.
func decodeFrame(data []byte) (any, error) {
	op, err := opOf(data)
	if err != nil {
		return nil, err
	}
	switch op {
	case "welcome":
		return into[welcome](data)
	case "ok":
		if held := inReview(data); held != "" {
			return inReviewReply(data, held)
		}
		return into[reply](data)
	case "error":
		return into[reply](data)
	case "messages":
		return into[batch](data)
	case "inbox":
		return into[Inbox](data)
	case "cursor":
		return into[CursorMoved](data)
	case "typing":
		return into[Typing](data)
	case "here":
		return into[Here](data)
	case "draft":
		return into[DraftChanged](data)
	case "stream":
		return into[Streamed](data)
	case "stream_cancel":
		return into[StreamCancelled](data)
	case "joined":
		return into[Joined](data)
	case "left":
		return into[Left](data)
	}
	return nil, nil
}

// opOf returns the op of a frame. The server puts it first, so most frames need not be parsed twice; decoding checks
// the rest.
func opOf(data []byte) (string, error) {
	if rest, first := bytes.CutPrefix(data, []byte(`{"op":"`)); first {
		if end := bytes.IndexAny(rest, `"\\`); end > 0 && rest[end] == '"' && known[string(rest[:end])] {
			return string(rest[:end]), nil
		}
	}
	var head struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return "", fmt.Errorf("frame: %w", err)
	}
	if head.Op == "" {
		return "", errors.New("frame: op is missing")
	}
	return head.Op, nil
}

var known = map[string]bool{
	"welcome": true, "ok": true, "error": true, "messages": true, "inbox": true, "cursor": true, "typing": true,
	"stream": true, "stream_cancel": true,
	"joined": true, "left": true,
}

func into[T any](data []byte) (any, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("frame: %w", err)
	}
	return v, nil
}
