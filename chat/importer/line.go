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

// line is a line of the file: a message as the other system had it. Its content is that of a send of a text or data, without a
// client_id and files.
type line struct {
	chat.Content
	ID        ref                 `json:"id"`   // there; replies name it
	From      string              `json:"from"` // user id
	SentAt    *string             `json:"sent_at"`
	ReplyTo   ref                 `json:"reply_to"` // id of an earlier line
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

// faults are everything that is wrong with a line, each said once.
type faults []string

func (f *faults) add(err error) {
	if err == nil {
		return
	}
	if text := worded(err).Error(); !slices.Contains(*f, text) {
		*f = append(*f, text)
	}
}

// err is one error of all faults; nil where there are none.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return errors.New(strings.Join(f, "; "))
}

// parse reads a line and checks it as a send is checked. It returns all faults, each with its field, and what of the message can be
// told all the same. With lenient, what is too long is cut and what is surplus dropped before.
func parse(text []byte, limits chat.Limits, now time.Time, lenient bool) (message, faults) {
	var l line
	if !utf8.Valid(text) {
		return message{}, faults{"not valid UTF-8"}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return message{}, faults{plain(err).Error()}
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return message{}, faults{"more than one JSON object; want one a line"}
	}
	var loss losses
	if lenient {
		loss = l.fit(limits)
	}
	m, wrong := l.check(limits, now)
	m.losses = loss
	return m, wrong
}

// check checks a line. What is wrong is left out of the message.
func (l line) check(limits chat.Limits, now time.Time) (m message, wrong faults) {
	m = message{id: l.ID, replyTo: l.ReplyTo}
	wrong.add(chat.CheckUserID("from", l.From))
	var err error
	if l.SentAt == nil {
		wrong.add(errors.New("sent_at: missing"))
	} else {
		m.entry.SentAt, err = parseTime("sent_at", *l.SentAt, now)
		wrong.add(err)
	}
	m.entry.From, m.entry.Content = l.From, l.checkContent(limits, &wrong)
	if l.EditedAt != nil {
		at, err := parseTime("edited_at", *l.EditedAt, now)
		wrong.add(err)
		if m.entry.EditedAt = &at; err == nil && at.Before(m.entry.SentAt.Time) {
			wrong.add(errors.New("edited_at: before sent_at"))
		}
	}
	m.reactions = l.checkReactions(limits, &wrong)
	return m, wrong
}

// checkContent checks the fields of the content one after the other: a send is refused for the first of them.
func (l line) checkContent(limits chat.Limits, wrong *faults) chat.Content {
	given := l.Content
	given.Mentions = nil
	if given.Kind != "" && given.Kind != chat.Text && given.Kind != chat.Data {
		wrong.add(fmt.Errorf("kind: want %s or %s", chat.Text, chat.Data))
		given.Kind = ""
	}
	wrong.add(given.NamesNoFiles())
	if given.ClientID != "" {
		wrong.add(errors.New("client_id: unknown field"))
	}
	add := func(err error) {
		if chat.CodeOf(err) == chat.CodeTooLarge {
			err = fmt.Errorf("%w (CHATD_MAX_BODY)", worded(err))
		}
		wrong.add(err)
	}
	content, err := given.Checked(limits)
	if add(err); err != nil && l.Body != nil && l.Data != nil { // the fault may be that of the body alone
		given.Kind, given.Body = chat.Data, nil
		_, err = given.Checked(limits)
		add(err)
	}
	content.Mentions, err = chat.UniqueMentions(l.Mentions, limits.MentionsMax)
	add(err)
	return content
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

func (l line) checkReactions(limits chat.Limits, wrong *faults) (all []Reactions) {
	if len(l.Reactions) > limits.EmojisMax {
		wrong.add(fmt.Errorf("reactions: at most %d different emoji", limits.EmojisMax))
		return nil
	}
	given := map[string][]string{} // by the spelling that is stored
	for _, emoji := range slices.Sorted(maps.Keys(l.Reactions)) {
		one, err := chat.Content{Kind: chat.Reaction, Target: 1, Emoji: emoji}.Checked(limits)
		if err != nil {
			wrong.add(fmt.Errorf("reactions: %w", worded(err)))
			one.Emoji = emoji // whose users may be wrong, too
		}
		given[one.Emoji] = append(given[one.Emoji], l.Reactions[emoji]...)
	}
	for _, emoji := range slices.Sorted(maps.Keys(given)) {
		users, err := chat.UniqueUsers("reactions", given[emoji], limits.GroupMembersMax)
		if chat.CodeOf(err) == chat.CodeOutOfRange {
			err = fmt.Errorf("%w (CHATD_MAX_MEMBERS)", worded(err))
		}
		if wrong.add(err); len(users) > 0 {
			all = append(all, Reactions{emoji, users})
		}
	}
	return all
}

// plain says what is wrong with JSON in words that need no knowledge of Go.
func plain(err error) error {
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Errorf("%s: is a JSON %s, which it cannot be", strings.TrimPrefix(mismatch.Field, "Content."), mismatch.Value)
	case errors.As(err, &mismatch):
		return errors.New("want a JSON object")
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return fmt.Errorf("%s: unknown field", strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`))
	case errors.Is(err, errRef):
		return err
	}
	return errors.New("not a JSON object: " + strings.TrimPrefix(err.Error(), "json: "))
}
