package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
)

// ErrNegative is the error for a negative id or count.
func ErrNegative(field string) error {
	return chat.Errorf(chat.CodeInvalid, "%s: want an integer from 0", field)
}

// Instant parses a time in RFC 3339, with any offset; nil for an absent field.
func Instant(field string, text *string) (*time.Time, error) {
	if text == nil {
		return nil, nil
	}
	t, ok := chat.ParseTime(*text)
	if !ok {
		return nil, chat.Errorf(chat.CodeInvalid, "%s: want a time like 2026-11-20T10:00:00.000Z", field)
	}
	return &t, nil
}

// Mark parses the position that a client has reached, given as a number or as the cursor of a batch.
func Mark(field string, number *int64, cursor *string) (chat.Position, error) {
	switch {
	case number != nil && cursor != nil:
		return chat.Position{}, chat.Errorf(chat.CodeInvalid, "%s and cursor are mutually exclusive", field)
	case cursor != nil:
		at, err := chat.ParsePosition(*cursor)
		if err != nil || at.Epoch == "" {
			return chat.Position{}, chat.Errorf(chat.CodeInvalid, "cursor: want the cursor of a batch")
		}
		return at, nil
	case number == nil || *number < 0:
		return chat.Position{}, ErrNegative(field)
	}
	return chat.At(*number), nil
}

// Position parses a client's position in the inbox: a seq or a cursor. An absent field gives the zero position, a string
// that is no cursor chat.Unreadable.
func Position(field string, raw json.RawMessage) (chat.Position, error) {
	if len(raw) == 0 {
		return chat.Position{}, nil
	}
	text, ok := position(raw)
	if !ok {
		return chat.Position{}, chat.Errorf(chat.CodeInvalid, "%s: want a seq from 0, or the cursor of a batch as a string", field)
	}
	return chat.ReadPosition(text), nil
}

// Positions parses a client's position in each group, in the form that the domain takes. Whether a string is a cursor is
// not decided here.
func Positions(field string, after map[string]json.RawMessage) (map[string]string, error) {
	positions := make(map[string]string, len(after))
	for group, raw := range after {
		if err := chat.CheckGroupID(entry(field, group), group); err != nil {
			return nil, err
		}
		at, ok := position(raw)
		if !ok {
			return nil, chat.Errorf(chat.CodeInvalid, "%s: want an id from 0, or the cursor of a batch as a string", entry(field, group))
		}
		positions[group] = at
	}
	return positions, nil
}

// Newest parses where groups without a position begin.
func Newest(start *string) (bool, error) {
	if start != nil && *start != "newest" {
		return false, chat.Errorf(chat.CodeInvalid, `start: want "newest", or leave it out`)
	}
	return start != nil, nil
}

// Groups parses a list of groups; nil for an absent field, which is not an empty list.
func Groups(field string, groups *[]string) ([]string, error) {
	if groups == nil {
		return nil, nil
	}
	for i, g := range *groups {
		if !chat.ValidGroupID(g) {
			return nil, chat.CheckGroupID(fmt.Sprintf("%s[%d]", field, i), g)
		}
	}
	return *groups, nil
}

// position parses an id, which is a number, or a cursor, which is a string. Anything else has the wrong type.
func position(raw json.RawMessage) (string, bool) {
	text := string(raw)
	if !strings.HasPrefix(text, `"`) {
		_, ok := Decimal(text)
		return text, ok
	}
	var cursor string
	if err := json.Unmarshal(raw, &cursor); err != nil {
		return "", false
	}
	_, number := Decimal(cursor) // an id in quotes has the wrong type: numbers are always JSON numbers
	return cursor, !number
}
