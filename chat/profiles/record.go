package profiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/emoji"
	"github.com/chatd/chatd/internal/mergepatch"
)

// Bounds of a profile.
const (
	nameMax          = 64 // characters
	pictureBytesMax  = 2048
	statusMax        = 100 // characters
	emojiBytesMax    = 64
	dataBytesMax     = 4 << 10
	settingsBytesMax = 8 << 10
)

// Status is what a user says about the moment.
type Status struct {
	Text  string     `json:"text"`
	Emoji string     `json:"emoji,omitempty"`
	Until *chat.Time `json:"until,omitempty"` // it is served until then; nil: until it is changed
}

// Names of the fields of a profile.
const (
	fieldName    = "name"
	fieldPicture = "picture"
	fieldData    = "data"
	fieldStatus  = "status"
)

// Presence says whether others see where a user is.
type Presence string

// Who hides sees nobody's presence either.
const (
	PresenceShown  Presence = "shown"
	PresenceHidden Presence = "hidden"
)

// record is a profile as it is stored.
type record struct {
	Name     string          `json:"name,omitempty"`
	Picture  string          `json:"picture,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Status   *Status         `json:"status,omitempty"`
	Presence Presence        `json:"presence,omitempty"`  // empty: shown
	Pinned   []string        `json:"pinned,omitempty"`    // fields that operators have set, in order
	ClaimedS int64           `json:"claimed_s,omitempty"` // when the token was issued from which fields came last, Unix seconds
	Shown    bool            `json:"shown,omitempty"`     // there is, or was, something to see: clients are told of its versions
}

// Change is what to change of a profile, as JSON: what is empty stays, and null clears.
type Change struct {
	Name, Picture, Data, Status, Settings json.RawMessage
	Presence                              *Presence // nil: it stays
}

// read decodes what the store has. There is always a record, which may be empty.
func (s Stored) read() (r record, err error) {
	if s.Text == "" {
		return r, nil
	}
	if err := json.Unmarshal([]byte(s.Text), &r); err != nil {
		return r, fmt.Errorf("a profile cannot be read: %w", err)
	}
	return r, nil
}

// changed makes a change to what is stored. by is who asks: what operators set is pinned, and nobody else changes it then.
func (s Stored) changed(c Change, operator bool, now time.Time) (Stored, error) {
	r, err := s.read()
	if err != nil {
		return s, err
	}
	for _, f := range []struct {
		name  string
		value json.RawMessage
		set   func(json.RawMessage) error
	}{
		{fieldName, c.Name, r.setName}, {fieldPicture, c.Picture, r.setPicture}, {fieldData, c.Data, r.setData},
		{fieldStatus, c.Status, func(v json.RawMessage) error { return r.setStatus(v, now) }},
	} {
		switch {
		case len(f.value) == 0:
			continue
		case !operator && slices.Contains(r.Pinned, f.name):
			return s, errPinned(f.name)
		}
		if err := f.set(f.value); err != nil {
			return s, err
		}
		if operator {
			r.pin(f.name, !isNull(f.value))
		}
	}
	if c.Presence != nil {
		if r.Presence = *c.Presence; r.Presence == PresenceShown {
			r.Presence = ""
		}
	}
	if len(c.Settings) > 0 {
		if s.Settings, err = merged(s.Settings, c.Settings, "settings", settingsBytesMax); err != nil {
			return s, err
		}
	}
	r.Shown = r.Shown || r.Name != "" || r.Picture != "" || len(r.Data) > 0 || r.Status != nil
	return s.with(r)
}

func errPinned(field string) error {
	return chat.Errorf(chat.CodeForbidden, "%s: set by an operator, and only they change it", field)
}

// with is s with another record.
func (s Stored) with(r record) (Stored, error) {
	text, err := json.Marshal(r)
	s.Text = string(text)
	return s, err
}

func (r *record) pin(field string, pinned bool) {
	at, known := slices.BinarySearch(r.Pinned, field)
	switch {
	case pinned && !known:
		r.Pinned = slices.Insert(r.Pinned, at, field)
	case !pinned && known:
		r.Pinned = slices.Delete(r.Pinned, at, at+1)
	}
}

func isNull(value json.RawMessage) bool { return string(bytes.TrimSpace(value)) == "null" }

// text reads a string; null is the empty one.
func text(field string, value json.RawMessage) (s string, err error) {
	if json.Unmarshal(value, &s) != nil {
		return "", chat.Invalid("%s: want a string or null", field)
	}
	return s, nil
}

func (r *record) setName(value json.RawMessage) error {
	name, err := text(fieldName, value)
	if err == nil && !isNull(value) {
		name, err = CheckName(name)
	}
	r.Name = name
	return err
}

// CheckName checks the name of a user, and returns it as it is stored: composed (NFC), and without spaces around it.
func CheckName(name string) (string, error) {
	name = norm.NFC.String(strings.TrimSpace(name))
	return name, checkLine(fieldName, name, 1, nameMax)
}

// checkLine checks a short text: its length in characters, and that it has no controls, nor any that turn the direction of what stands beside it.
func checkLine(field, text string, least, most int) error {
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text):
		return chat.Invalid("%s: not valid UTF-8", field)
	case n < least || n > most:
		return chat.Invalid("%s: want %d to %d characters", field, least, most)
	case strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	}):
		return chat.Invalid("%s: line breaks, control characters and those that change the direction of text are not allowed", field)
	case least > 0 && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }):
		return chat.Invalid("%s: must have a character that shows", field)
	}
	return nil
}

// setPicture takes an address elsewhere, or that of the avatar that the user has. There is an avatar as long as the picture names it.
func (r *record) setPicture(value json.RawMessage) error {
	picture, err := text(fieldPicture, value)
	if err == nil && !isNull(value) && (picture != r.Picture || avatarOf(picture) == "") {
		err = checkPicture(picture)
	}
	r.Picture = picture
	return err
}

func checkPicture(picture string) error {
	u, err := url.Parse(picture)
	if err != nil || len(picture) > pictureBytesMax || u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.ContainsFunc(picture, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return chat.Invalid("picture: want an https address of at most %d bytes, or that of the avatar that the user has on this server", pictureBytesMax)
	}
	return nil
}

func (r *record) setData(value json.RawMessage) error {
	if isNull(value) {
		r.Data = nil
		return nil
	}
	if !bytes.HasPrefix(bytes.TrimSpace(value), []byte{'{'}) {
		return chat.Invalid("data: want a JSON object or null")
	}
	data, err := merged(string(r.Data), value, fieldData, dataBytesMax)
	r.Data = json.RawMessage(data)
	return err
}

// merged applies a merge patch to JSON, as RFC 7396 says: what is no object replaces it, and null is nothing.
func merged(before string, patch json.RawMessage, field string, bytesMax int) (string, error) {
	if isNull(patch) {
		return "", nil
	}
	var after []byte
	if bytes.HasPrefix(bytes.TrimSpace(patch), []byte{'{'}) {
		if !strings.HasPrefix(before, "{") {
			before = ""
		}
		var err error
		if after, err = mergepatch.Apply([]byte(before), patch); err != nil {
			if errors.Is(err, mergepatch.ErrObject) {
				return "", chat.Invalid("%s: want a JSON object", field)
			}
			return "", err
		}
	} else {
		var b bytes.Buffer
		if err := json.Compact(&b, patch); err != nil {
			return "", chat.Invalid("%s: not valid JSON", field)
		}
		after = b.Bytes()
	}
	if len(after) > bytesMax {
		return "", chat.Errorf(chat.CodeOutOfRange, "%s: at most %d bytes", field, bytesMax)
	}
	return string(after), nil
}

func (r *record) setStatus(value json.RawMessage, now time.Time) error {
	r.Status = nil
	if isNull(value) {
		return nil
	}
	var given struct {
		Text  *string `json:"text"`
		Emoji *string `json:"emoji"`
		Until *string `json:"until"`
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if d.Decode(&given) != nil {
		return chat.Invalid("status: want null or an object of text, emoji and until")
	}
	var s Status
	if given.Text != nil {
		s.Text = norm.NFC.String(strings.TrimSpace(*given.Text))
	}
	if err := checkLine("status.text", s.Text, 0, statusMax); err != nil {
		return err
	}
	if given.Emoji != nil && *given.Emoji != "" {
		one, ok := emoji.Canonical(*given.Emoji)
		if !ok || len(one) > emojiBytesMax {
			return chat.Invalid("status.emoji: want one emoji of Unicode")
		}
		s.Emoji = one
	}
	if given.Until != nil {
		until, ok := chat.ParseTime(*given.Until)
		switch {
		case !ok:
			return chat.Invalid("status.until: want a time as in RFC 3339")
		case !until.After(now):
			return chat.Errorf(chat.CodeOutOfRange, "status.until: must be in the future")
		}
		at := chat.TimeMs(until.UnixMilli())
		s.Until = &at
	}
	if s.Text == "" && s.Emoji == "" {
		return chat.Invalid("status: want a text or an emoji")
	}
	r.Status = &s
	return nil
}
