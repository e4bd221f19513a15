package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
)

// line is a line of the file: a message as the other system had it.
type line struct {
	ID        ref                 `json:"id"`   // there; replies name it
	From      string              `json:"from"` // user id
	SentAt    *string             `json:"sent_at"`
	Kind      chat.Kind           `json:"kind"` // text or data; empty: as in a send
	Body      *string             `json:"body"`
	Data      json.RawMessage     `json:"data"`
	ReplyTo   ref                 `json:"reply_to"` // id of an earlier line
	Mentions  []string            `json:"mentions"`
	EditedAt  *string             `json:"edited_at"`
	Reactions map[string][]string `json:"reactions"` // emoji -> users
}

// ref is an id of the other system: a string or a number, told apart by nothing but their text.
type ref string

// UnmarshalJSON implements json.Unmarshaler.
func (r *ref) UnmarshalJSON(b []byte) error {
	var text string
	switch {
	case string(b) == "null":
	case b[0] == '"':
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		text = string(b)
	default:
		return errRef
	}
	*r = ref(text)
	return nil
}

var errRef = errors.New("id, reply_to: want a string or a number")

// message is a checked line.
type message struct {
	id, replyTo ref
	entry       chat.Entry // without its id, group and what it replies to
	reactions   []Reactions
	losses
}

// Reactions are who reacted to a message with one emoji.
type Reactions struct {
	Emoji string
	Users []string
}

// entries is how many entries of the log the message becomes.
func (m message) entries() int64 {
	n := int64(1)
	for _, r := range m.reactions {
		n += int64(len(r.Users))
	}
	return n
}

// parse reads a line and checks it as a send is checked. Its error names the field.
// With lenient, what is too long is cut and what is surplus dropped before.
func parse(text []byte, limits chat.Limits, now time.Time, lenient bool) (message, error) {
	var l line
	if !utf8.Valid(text) {
		return message{}, errors.New("not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return message{}, plain(err)
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return message{}, errors.New("more than one JSON object; want one a line")
	}
	var loss losses
	if lenient {
		loss = l.fit(limits)
	}
	m, err := l.check(limits, now)
	m.losses = loss
	return m, err
}

// check checks a line. The message has its id, whatever else is wrong.
func (l line) check(limits chat.Limits, now time.Time) (message, error) {
	unread := message{id: l.ID}
	if err := chat.CheckUserID("from", l.From); err != nil {
		return unread, err
	}
	switch {
	case l.SentAt == nil:
		return unread, errors.New("sent_at: missing")
	case l.Kind != "" && l.Kind != chat.Text && l.Kind != chat.Data:
		return unread, fmt.Errorf("kind: want %s or %s", chat.Text, chat.Data)
	}
	sent, err := parseTime("sent_at", *l.SentAt, now)
	if err != nil {
		return unread, err
	}
	content, err := chat.Content{Kind: l.Kind, Body: l.Body, Data: l.Data, Mentions: l.Mentions}.Checked(limits)
	if chat.CodeOf(err) == chat.CodeTooLarge {
		err = fmt.Errorf("%w (CHATD_MAX_BODY)", worded(err))
	}
	if err != nil {
		return unread, err
	}
	m := message{id: l.ID, replyTo: l.ReplyTo, entry: chat.Entry{From: l.From, Content: content, SentAt: sent}}
	if l.EditedAt != nil {
		at, err := parseTime("edited_at", *l.EditedAt, now)
		if err != nil {
			return unread, err
		}
		if m.entry.EditedAt = &at; at.Before(sent.Time) {
			return unread, errors.New("edited_at: before sent_at")
		}
	}
	m.reactions, err = l.checkReactions(limits)
	return m, err
}

// parseTime refuses what cannot be: a log is in the order of time, and what comes next is sent now.
func parseTime(field, text string, now time.Time) (chat.Time, error) {
	at, ok := chat.ParseTime(text)
	switch {
	case !ok:
		return chat.Time{}, fmt.Errorf("%s: want a time like 2026-11-20T10:00:00.000Z", field)
	case at.UnixMilli() < 0:
		return chat.Time{}, fmt.Errorf("%s: before 1970", field)
	case at.After(now):
		return chat.Time{}, fmt.Errorf("%s: in the future", field)
	}
	return chat.TimeMs(at.UnixMilli()), nil
}

func (l line) checkReactions(limits chat.Limits) ([]Reactions, error) {
	if len(l.Reactions) > limits.EmojisMax {
		return nil, fmt.Errorf("reactions: at most %d different emoji", limits.EmojisMax)
	}
	given := map[string][]string{} // by the spelling that is stored
	for _, emoji := range slices.Sorted(maps.Keys(l.Reactions)) {
		one, err := chat.Content{Kind: chat.Reaction, Target: 1, Emoji: emoji}.Checked(limits)
		if err != nil {
			return nil, fmt.Errorf("reactions: %w", worded(err))
		}
		given[one.Emoji] = append(given[one.Emoji], l.Reactions[emoji]...)
	}
	var all []Reactions
	for _, emoji := range slices.Sorted(maps.Keys(given)) {
		users, err := chat.UniqueUsers("reactions", given[emoji], limits.GroupMembersMax)
		if chat.CodeOf(err) == chat.CodeOutOfRange {
			err = fmt.Errorf("%w (CHATD_MAX_MEMBERS)", worded(err))
		}
		if err != nil {
			return nil, err
		}
		if len(users) > 0 {
			all = append(all, Reactions{emoji, users})
		}
	}
	return all, nil
}

// plain says what is wrong with JSON in words that need no knowledge of Go.
func plain(err error) error {
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Errorf("%s: is a JSON %s, which it cannot be", mismatch.Field, mismatch.Value)
	case errors.As(err, &mismatch):
		return errors.New("want a JSON object")
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return fmt.Errorf("%s: unknown field", strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`))
	case errors.Is(err, errRef):
		return err
	}
	return errors.New("not a JSON object: " + strings.TrimPrefix(err.Error(), "json: "))
}
