package main

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/queue/cli"
)

// visible makes text of a person safe for a terminal: control characters (C0, C1), those that turn the direction of what
// follows, and others that nobody sees are written as escapes, so that no text moves the cursor, recolors a line or looks
// like another one. Joiners and variation selectors stay: Arabic, Indic scripts and emoji need them. Lines stay lines.
func visible(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n', r == '\u200c', r == '\u200d': // joiners
			b.WriteRune(r)
		case r == '\t':
			b.WriteByte(' ')
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
		case r == utf8.RuneError, unicode.IsPrint(r), unicode.Is(unicode.Variation_Selector, r):
			b.WriteRune(r)
		case unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// person is a user with the name that others see.
type person struct{ user, name string }

// String shows the id beside a name, because a name may be anybody's.
func (p person) String() string {
	name := strings.TrimSpace(oneLine(p.name))
	if name == "" || strings.EqualFold(name, p.user) {
		return cli.Plain(p.user)
	}
	return name + " (" + cli.Plain(p.user) + ")"
}

func oneLine(text string) string { return strings.ReplaceAll(visible(text), "\n", " ") }

// usersAsked is how many users a call asks for.
const usersAsked = 100

// people knows the names of those whom a command has met, by the versions of their profiles.
type people struct {
	server *client.Client
	known  map[string]client.User
}

func newPeople(server *client.Client) *people {
	return &people{server: server, known: map[string]client.User{}}
}

// meet asks for the profiles that are not known in these versions. Without an answer people are shown by their ids.
func (p *people) meet(ctx context.Context, versions map[string]int64) {
	var lack []string
	for user, version := range versions {
		if was, ok := p.known[user]; !ok || was.Version < version {
			lack = append(lack, user)
		}
	}
	for len(lack) > 0 {
		n := min(usersAsked, len(lack))
		found, err := p.server.Users(ctx, lack[:n]...)
		if err != nil {
			return
		}
		for _, user := range lack[:n] {
			p.known[user] = client.User{User: user, Version: versions[user]}
		}
		for _, u := range found {
			p.known[u.User] = u
		}
		lack = lack[n:]
	}
}

func (p *people) name(user string) string { return person{user, p.known[user].Name}.String() }

// said is what an entry of a log says, in words.
func (p *people) said(m client.Message) string {
	text := func() string {
		var parts []string
		if m.Body != "" {
			parts = append(parts, m.Body)
		}
		if m.Data != nil {
			parts = append(parts, string(m.Data))
		}
		for _, f := range m.Files {
			parts = append(parts, fmt.Sprintf("[file %s, %d bytes]", f.Name, f.Size))
		}
		return strings.Join(parts, " ")
	}
	switch m.Kind {
	case client.KindEdit:
		return fmt.Sprintf("edits #%d: %s", m.Target, text())
	case client.KindDelete:
		return fmt.Sprintf("deletes #%d", m.Target)
	case client.KindReaction:
		if m.Removed {
			return fmt.Sprintf("takes %s off #%d", m.Emoji, m.Target)
		}
		return fmt.Sprintf("reacts %s to #%d", m.Emoji, m.Target)
	case client.KindNotice:
		return p.notice(m)
	}
	switch {
	case m.DeletedAt != nil:
		return "(deleted)"
	case m.ReplyTo > 0:
		return fmt.Sprintf("(reply to #%d) %s", m.ReplyTo, text())
	}
	return text()
}

// notice is what a notice says after the name of the one who caused it.
func (p *people) notice(m client.Message) string {
	users := m.Users
	if m.User != "" {
		users = []string{m.User}
	}
	var names []string
	for _, user := range users {
		names = append(names, p.name(user))
	}
	whom := strings.Join(names, ", ")
	self := len(users) == 1 && users[0] == m.From
	switch m.Notice {
	case "created":
		return "creates the group"
	case "joined":
		if self {
			return "joins"
		}
		return "adds " + whom
	case "left":
		return "leaves"
	case "removed":
		return "removes " + whom
	case "role":
		return fmt.Sprintf("makes %s %s", whom, m.Role)
	case "renamed":
		if m.Name == nil || *m.Name == "" {
			return "takes the name off the group"
		}
		return "names the group " + *m.Name
	case "settings":
		return "changes the settings"
	}
	return m.Notice
}

// line is an entry as a line, and more lines that are indented, so that no text looks like another entry. Colons separate
// only who speaks.
func (p *people) line(m client.Message, prefix string) string {
	text, colon := p.said(m), ":"
	if m.Kind != client.KindText && m.Kind != client.KindData {
		colon = ""
	}
	text = strings.ReplaceAll(visible(text), "\n", "\n  ")
	return fmt.Sprintf("%s#%d %s %s%s %s", prefix, m.ID, m.SentAt.Local().Format("2006-01-02 15:04"), p.name(m.From), colon, text)
}
