package local

import (
	"maps"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
)

// entry is a message that is a line, as it is stored: with the changes up to At.
type entry struct {
	client.Message
	At int64 `json:"at"`
}

// isLine reports whether an entry of the log is a line of its own.
func isLine(kind string) bool {
	return kind == client.KindText || kind == client.KindData || kind == client.KindNotice
}

// changed returns the line after a later entry of the log that is about it.
func (e entry) changed(m client.Message, me string) entry {
	if m.ID <= e.At {
		return e
	}
	e.At = m.ID
	e.Message = revised(e.Message, m.Content, m.Files, m.SentAt)
	switch {
	case m.Kind == client.KindDelete:
		e.Reactions = nil
	case m.Kind == client.KindReaction && m.Emoji != "":
		e.Reactions = reacted(e.Reactions, m.Emoji, !m.Removed, m.From == me)
	}
	return e
}

// deletes reports whether an entry deletes a message. That of an erasure which names other entries takes an author off what was
// deleted before.
func deletes(m client.Message) bool { return m.Kind == client.KindDelete && len(m.Erased) == 0 }

// replied returns a root after a reply, or after the deletion of one.
func (e entry) replied(m client.Message) entry {
	switch {
	case m.ID <= e.At:
		return e
	case m.Kind == client.KindDelete:
		e.Replies = max(0, e.Replies-1)
	default:
		e.Replies++
		e.LastReplyID = m.ID
	}
	e.At = m.ID
	return e
}

// revised returns a message after an edit or a deletion; any other change leaves it as it is. An edit replaces the fields that
// it has; that of a message which was deleted later has no content.
func revised(m client.Message, change client.Content, files []client.File, at time.Time) client.Message {
	switch {
	case change.Kind == client.KindDelete:
		m.Body, m.Data, m.Mentions, m.Files, m.DeletedAt = "", nil, nil, nil, &at
	case change.Kind == client.KindEdit && m.DeletedAt == nil:
		if change.Body == "" && change.Data == nil && change.Mentions == nil && files == nil {
			return m
		}
		m.EditedAt = &at
		if change.Body != "" {
			m.Body = change.Body
		}
		if change.Data != nil {
			m.Data = change.Data
		}
		if change.Mentions != nil {
			m.Mentions = change.Mentions
		}
		if files != nil {
			m.Files = files
		}
	}
	return m
}

// reacted returns reactions with one more, or one less. One emoji may be spelled in two ways: it keeps the one that is shown.
func reacted(was map[string]client.Reaction, emoji string, on, mine bool) map[string]client.Reaction {
	next := maps.Clone(was)
	if next == nil {
		next = map[string]client.Reaction{}
	}
	for shown := range next {
		if plain(shown) == plain(emoji) {
			emoji = shown
		}
	}
	r := next[emoji]
	if on {
		r.Count++
	} else {
		r.Count--
	}
	if mine {
		r.Mine = on
	}
	next[emoji] = r
	if r.Count <= 0 {
		delete(next, emoji)
	}
	return next
}

// plain leaves out the selector that asks for the coloured form of a character.
func plain(emoji string) string { return strings.ReplaceAll(emoji, "\uFE0F", "") }
