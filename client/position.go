package client

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Position is a position in the log of a group, or in the inbox: either an id (a seq), or the opaque cursor that came
// with a batch. With a cursor the server also notices that a log was rolled back or recreated, so store cursors. The
// zero value stands for the member's own `seen` on the server.
type Position string

// At is the position after the message with this id.
func At(id int64) Position { return Position(strconv.FormatInt(id, 10)) }

// isID reports whether p is a plain id; a cursor always contains other characters.
func (p Position) isID() bool {
	_, err := strconv.ParseInt(string(p), 10, 64)
	return err == nil
}

// id is the id that a plain one is; 0 for a cursor.
func (p Position) id() int64 {
	id, _ := strconv.ParseInt(string(p), 10, 64)
	return id
}

// MarshalJSON writes an id as a number and a cursor as a string, as the server expects.
func (p Position) MarshalJSON() ([]byte, error) {
	if p.isID() {
		return strconv.AppendInt(nil, p.id(), 10), nil
	}
	return json.Marshal(string(p))
}

// UnmarshalJSON parses a number or a string.
func (p *Position) UnmarshalJSON(b []byte) error {
	var id int64
	if json.Unmarshal(b, &id) == nil {
		*p = At(id)
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a position is an id or a cursor: %w", err)
	}
	*p = Position(s)
	return nil
}
