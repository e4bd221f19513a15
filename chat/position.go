package chat

import (
	"strconv"
	"strings"
)

// noMark is used in a cursor if the mark of the message is unknown: the message was trimmed, or there is none.
const noMark = "-"

const tokenBytesMax = 32 // epochs and marks in a cursor

// FormatPosition writes the cursor string of a position in a log.
func FormatPosition(epoch string, id int64, mark string) string {
	if mark == "" {
		mark = noMark
	}
	return epoch + "." + strconv.FormatInt(id, 10) + "." + mark
}

// At is the position at an id or seq, without epoch and mark.
func At(id int64) Position { return Position{Set: true, ID: id} }

// Unmarked is p without its mark: nothing is compared.
func (p Position) Unmarked() Position {
	p.Mark = noMark
	return p
}

// HasMark reports whether p has the mark of the message there.
func (p Position) HasMark() bool { return p.Mark != "" && p.Mark != noMark }

// Unreadable stands for a position that a client names and nobody can read: whatever it is used for is invalid_request.
var Unreadable = At(-1)

// ReadPosition is ParsePosition with Unreadable for an error.
func ReadPosition(raw string) Position {
	pos, err := ParsePosition(raw)
	if err != nil {
		return Unreadable
	}
	return pos
}

// ParsePosition reads what a client names in `after`: an id, or a cursor string. Anything else is invalid_request.
func ParsePosition(raw string) (Position, error) {
	if id, ok := ParseID(raw); ok {
		return Position{Set: true, ID: id}, nil
	}
	epoch, rest, _ := strings.Cut(raw, ".")
	number, mark, _ := strings.Cut(rest, ".")
	id, ok := ParseID(number)
	if !ok || !isToken(epoch) || !isToken(mark) {
		return Position{}, Invalid("after: neither an id nor a cursor of this server")
	}
	return Position{Set: true, ID: id, Epoch: epoch, Mark: mark}, nil
}

// ParseID reads a decimal id as this server writes them: no sign, no leading zeros.
func ParseID(s string) (int64, bool) {
	if s == "" || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	id, err := strconv.ParseInt(s, 10, 64)
	return id, err == nil
}

func isToken(s string) bool {
	if s == "" || len(s) > tokenBytesMax {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

// LogEnd is where a group's log ends.
type LogEnd struct {
	Last    int64
	Epoch   string
	Trimmed Trimmed
	Streams bool // messages are being written
}

// Trimmed is the highest trimmed entry of a log. Zero: nothing is trimmed, or its mark is not known.
type Trimmed struct {
	ID   int64
	Mark string
}
