package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chatd/chatd/internal/emoji"

	spelling "github.com/chatd/chatd/internal/text"
)

// Content is the part of a message that the client chooses. Sends, logs, schedules and announcements all use this one
// struct; Checked has its rules.
type Content struct {
	Kind     Kind            `json:"kind,omitempty"`   // if empty, ImpliedKind decides
	Thread   int64           `json:"thread,omitempty"` // the message whose thread it is in. Scripts find it behind the kind
	Stream   Stream          `json:"stream,omitempty"`
	Body     *string         `json:"body,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	ClientID string          `json:"client_id,omitempty"`
	ReplyTo  int64           `json:"reply_to,omitempty"`
	Mentions []string        `json:"mentions,omitempty"`
	Files    []File          `json:"files,omitempty"`  // in a send, only the ids of them
	Target   int64           `json:"target,omitempty"` // the message that is edited, deleted or reacted to
	Emoji    string          `json:"emoji,omitempty"`
	Removed  bool            `json:"removed,omitempty"`  // removes the reaction
	Actions  []Action        `json:"actions,omitempty"`  // of a program
	ExpireS  int64           `json:"expire_s,omitempty"` // seconds after which it goes, if its group says none that are fewer; 0: no such
}

// contentFields are the fields that some kinds take and others do not.
var contentFields = []struct {
	name  string
	kinds []Kind
	given func(c *Content) bool
}{
	{"stream", []Kind{Text}, func(c *Content) bool { return c.Stream != "" }},
	{"body", []Kind{Text, Edit}, func(c *Content) bool { return c.Body != nil }},
	{"data", []Kind{Text, Data, Edit}, func(c *Content) bool { return c.Data != nil }},
	{"thread", []Kind{Text, Data}, func(c *Content) bool { return c.Thread != 0 }},
	{"reply_to", []Kind{Text, Data}, func(c *Content) bool { return c.ReplyTo != 0 }},
	{"mentions", []Kind{Text, Data}, func(c *Content) bool { return len(c.Mentions) > 0 }},
	{"files", []Kind{Text, Data}, func(c *Content) bool { return len(c.Files) > 0 }},
	{"actions", []Kind{Text, Data}, func(c *Content) bool { return len(c.Actions) > 0 }},
	{"expire_s", []Kind{Text, Data}, func(c *Content) bool { return c.ExpireS != 0 }},
	{"target", []Kind{Edit, Delete, Reaction}, func(c *Content) bool { return c.Target != 0 }},
	{"emoji", []Kind{Reaction}, func(c *Content) bool { return c.Emoji != "" }},
	{"removed", []Kind{Reaction}, func(c *Content) bool { return c.Removed }},
}

// Checked is c as it is stored: with its kind, with each mention once, and with data that has no
// white space between its tokens. Its error names the field: CodeInvalid, CodeTooLarge or CodeOutOfRange.
func (c Content) Checked(limits Limits) (Content, error) {
	c.Kind = c.ImpliedKind()
	if c.Kind != Data && string(c.Data) == "null" {
		c.Data = nil // JSON null in a field that may be absent
	}
	if err := c.checkFields(); err != nil {
		return Content{}, err
	}
	if c.Stream != "" {
		if err := c.checkStream(); err != nil {
			return Content{}, err
		}
		if c.Body == nil {
			c.Body = new(string)
		}
	}
	if err := CheckKey("client_id", c.ClientID); err != nil {
		return Content{}, err
	}
	if c.Thread != 0 {
		if err := checkID("thread", c.Thread, 1); err != nil {
			return Content{}, err
		}
	}
	if c.ReplyTo != 0 {
		if err := checkID("reply_to", c.ReplyTo, 1); err != nil {
			return Content{}, err
		}
	}
	if err := cmp.Or(CheckExpire("expire_s", &c.ExpireS), c.checkNeeds(limits)); err != nil {
		return Content{}, err
	}
	var err error
	if c.Kind == Reaction {
		if c.Emoji, err = reactionEmoji(c.Emoji, c.Removed, limits.EmojiBytesMax); err != nil {
			return Content{}, err
		}
	}
	if c.Mentions, err = UniqueMentions(c.Mentions, limits.MentionsMax); err != nil {
		return Content{}, err
	}
	if err = checkFiles(c.Files); err != nil {
		return Content{}, err
	}
	if len(c.Actions) > 0 {
		if c.Actions, err = checkActions(c.Actions); err != nil {
			return Content{}, err
		}
	}
	if c.Data != nil {
		c.Data, err = CompactData(c.Data, limits.BodyBytesMax)
	}
	return c, err
}

// Given reports whether any field besides the kind is set.
func (c Content) Given() bool {
	for _, f := range contentFields {
		if f.given(&c) {
			return true
		}
	}
	return false
}

// ImpliedKind is the kind that the content names. If it names none, it is data if only Data is set, and text otherwise.
func (c Content) ImpliedKind() Kind {
	switch {
	case c.Kind != "":
		return c.Kind
	case c.Data != nil && c.Body == nil:
		return Data
	}
	return Text
}

// checkFields refuses the fields that the kind does not take, so that none is silently ignored.
func (c Content) checkFields() error {
	switch c.Kind {
	case Text, Data, Edit, Delete, Reaction:
	default:
		return Invalid("kind: want %s, %s, %s, %s or %s", Text, Data, Edit, Delete, Reaction)
	}
	for _, f := range contentFields {
		if f.given(&c) && !slices.Contains(f.kinds, c.Kind) {
			return Invalid("%s: a message of kind %s takes none", f.name, c.Kind)
		}
	}
	return nil
}

// checkNeeds checks what the kind needs.
func (c Content) checkNeeds(limits Limits) error {
	if (c.Kind == Edit || c.Kind == Delete || c.Kind == Reaction) && c.Target < 1 {
		return Invalid("target: want the id of a message, an integer from 1")
	}
	switch {
	case c.Kind == Data && c.Data == nil:
		return Invalid("data: missing")
	case c.Kind == Edit && c.Body == nil && c.Data == nil:
		return Invalid("body: an edit needs a new body or new data")
	case c.Stream != "" && (c.Body == nil || *c.Body == ""):
		return nil
	case c.Kind == Text && len(c.Files) > 0 && (c.Body == nil || *c.Body == ""):
		return nil
	case c.Kind == Text, c.Body != nil:
		return checkBody(c.Body, limits.BodyBytesMax)
	}
	return nil
}

// Revised is c with the new body, the new data, or both, of an edit.
func (c Content) Revised(by Content) Content {
	if by.Body != nil {
		c.Body = by.Body
	}
	if by.Data != nil {
		c.Data = by.Data
	}
	c.Stream = by.Stream.left()
	return c
}

// Blanked is what a deletion leaves: how the message relates to others, and nothing that its author wrote or chose. Mentions are
// content, too, and so is the key of a retry: the store keeps hashes of those. What took a reaction back keeps its emoji, for clients
// count by it.
func (c Content) Blanked() Content {
	left := Content{Kind: c.Kind, Thread: c.Thread, ReplyTo: c.ReplyTo, Target: c.Target}
	if c.Kind == Reaction && c.Removed {
		left.Emoji, left.Removed = c.Emoji, true
	}
	return left
}

func checkFiles(files []File) error {
	if len(files) > FilesMax {
		return Errorf(CodeOutOfRange, "files: at most %d", FilesMax)
	}
	seen := map[string]bool{}
	for i, f := range files {
		if err := CheckID(fmt.Sprintf("files[%d]", i), f.ID); err != nil {
			return err
		}
		if seen[f.ID] {
			return Invalid("files[%d]: the file is named before", i)
		}
		seen[f.ID] = true
	}
	return nil
}

// NamesNoFiles refuses files, and a stream, where a message is not sent to a group now.
func (c Content) NamesNoFiles() error {
	if c.Stream != "" {
		return Invalid("stream: only a message that is sent to a group now may be one")
	}
	if len(c.Files) > 0 {
		return Invalid("files: only a message that is sent to a group now may name files")
	}
	return nil
}

// checkBody checks the text of a message: something to see, valid UTF-8, nothing below U+0020 except tab and line breaks.
func checkBody(body *string, bytesMax int) error {
	switch {
	case body == nil || *body == "":
		return Invalid("body: missing or empty")
	case len(*body) > bytesMax:
		return Errorf(CodeTooLarge, "body: at most %d bytes", bytesMax)
	case !utf8.ValidString(*body):
		return Invalid("body: not valid UTF-8")
	}
	if i := strings.IndexFunc(*body, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' }); i >= 0 {
		return Invalid("body: control character at byte %d", i)
	}
	if !spelling.Visible(*body) {
		return Invalid("body: has no visible character")
	}
	return nil
}

// CompactData checks data and returns it as it is stored: one JSON value without white space between its tokens, so that it
// never holds a raw line break.
func CompactData(data json.RawMessage, bytesMax int) (json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, Invalid("data: not valid UTF-8")
	}
	var b bytes.Buffer
	b.Grow(len(data))
	if err := json.Compact(&b, data); err != nil {
		return nil, Invalid("data: not valid JSON")
	}
	if b.Len() > bytesMax {
		return nil, Errorf(CodeTooLarge, "data: at most %d bytes", bytesMax)
	}
	return b.Bytes(), nil
}

// shortName is a reaction by name, as clients show pictures of their own.
var shortName = regexp.MustCompile(`^:[a-z0-9_+-]{1,62}:$`)

// reactionEmoji is an emoji as it is stored: in one spelling, whichever the client wrote. What is removed may be of a time when
// any text was taken.
func reactionEmoji(text string, removed bool, bytesMax int) (string, error) {
	if len(text) <= bytesMax {
		if one, ok := emoji.Canonical(text); ok {
			return one, nil
		}
		if shortName.MatchString(text) || removed && text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsSpace) {
			return text, nil
		}
	}
	return "", Invalid("emoji: want one emoji of Unicode of at most %d bytes, or a :name: of a-z 0-9 _ + - with at most 64 characters", bytesMax)
}
