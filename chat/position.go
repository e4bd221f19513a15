package chat

import (
	"strconv"
	"strings"
)

// noMark stands in a cursor where the mark of the message is not known: it is trimmed, or there is none.
const noMark = "-"

const tokenBytesMax = 32 // epochs and marks in a cursor

// FormatPosition writes the cursor string of a place in a log.
func FormatPosition(epoch string, id int64, mark string) string {
	if mark == "" {
		mark = noMark
	}
	return epoch + "." + strconv.FormatInt(id, 10) + "." + mark
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

// place is where a reader stands in a log after its position was judged.
type place struct {
	next     int64 // the first id to serve
	complete bool  // false: between the position and next something is gone, or the position is of another log
}

// judge compares a position with the log. at is the message at the position, nil where it is not stored.
//
// A position that cannot be of this log (another epoch, above last, another mark) leaves the reader with nothing it can
// trust, so it starts over from the oldest entry it may see. A position before the point where a member joined a group
// without history is read as that point: nothing is missing there.
func judge(info Info, pos Position, at *Message) place {
	oldest := info.Visible()
	if !pos.Set {
		pos = Position{ID: info.Seen}
	}
	switch {
	case pos.Epoch != "" && pos.Epoch != info.Epoch:
		return place{oldest, false}
	case pos.ID > info.Last:
		return place{oldest, false}
	case differs(pos.Mark, markAt(info, pos.ID, at)):
		return place{oldest, false}
	}
	id := pos.ID
	if !info.History {
		id = max(id, info.Joined-1)
	}
	if id+1 < oldest {
		return place{oldest, false}
	}
	return place{id + 1, true}
}

// markAt is the mark of the entry at id as far as it is known.
func markAt(info Info, id int64, at *Message) string {
	switch {
	case at != nil && at.ID == id:
		return at.Mark
	case id == info.Last:
		return info.LastMark
	}
	return ""
}

func differs(a, b string) bool {
	return a != "" && b != "" && a != noMark && b != noMark && a != b
}
