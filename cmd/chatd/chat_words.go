package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/local"
	"github.com/chatd/chatd/queue/cli"
)

// chatWord is what begins with a slash in a chat.
type chatWord struct {
	name, args, help string
	run              func(t *talk, ctx context.Context, args string) error
}

// chatWords are the commands of a chat, as /help lists them. It is filled below, since /help reads it.
var chatWords []chatWord

func init() {
	chatWords = []chatWord{
		{"groups", "", "list your groups", (*talk).list},
		{"open", "GROUP", "open a group: its id, or its number in the list", (*talk).openNamed},
		{"more", "", "show older messages", (*talk).more},
		{"reply", "ID TEXT", "reply to a message", (*talk).reply},
		{"react", "ID EMOJI", "react to a message, or take it back", (*talk).react},
		{"edit", "ID TEXT", "change a message of yours", (*talk).edit},
		{"delete", "ID", "delete a message", (*talk).remove},
		{"members", "", "list who is in the group", (*talk).members},
		{"retry", "", "send again what was refused", (*talk).retry},
		{"discard", "", "give up what was refused", (*talk).discard},
		{"leave", "GROUP", "leave the open group, named so that it is meant", (*talk).leave},
		{"help", "", "list this", (*talk).help},
		{"quit", "", "end; ctrl-D does the same", func(*talk, context.Context, string) error { return errQuit }},
	}
}

// take does what a line says.
func (t *talk) take(ctx context.Context, line string) error {
	word, args, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	switch {
	case strings.TrimSpace(line) == "":
		return nil
	case !strings.HasPrefix(line, "/"):
		return t.send(ctx, client.Text(line))
	case strings.HasPrefix(line, "//"): // a text that begins with a slash
		return t.send(ctx, client.Text(line[1:]))
	}
	for _, w := range chatWords {
		if w.name == word {
			return w.run(t, ctx, strings.TrimSpace(args))
		}
	}
	return fmt.Errorf("there is no /%s; see /help, and begin a text with // if it begins with a slash", word)
}

// complete adds to a line what can only follow.
func (t *talk) complete(line string) string {
	var all []string
	for _, w := range chatWords {
		all = append(all, "/"+w.name+" ")
	}
	for _, g := range t.chat.Groups() {
		all = append(all, "/open "+g.ID)
	}
	return extend(line, all)
}

// extend returns the longest beginning that all of those that begin with a line have.
func extend(line string, all []string) string {
	if line == "" {
		return line
	}
	longest, found := "", false
	for _, one := range all {
		switch {
		case !strings.HasPrefix(one, line):
		case !found:
			longest, found = one, true
		default:
			for !strings.HasPrefix(one, longest) {
				longest = longest[:len(longest)-1]
			}
		}
	}
	if !found {
		return line
	}
	return longest
}

func (t *talk) help(context.Context, string) error {
	var b strings.Builder
	b.WriteString("-- What you type is sent to the open group, except:\n")
	for _, w := range chatWords {
		fmt.Fprintf(&b, "--   %-18s %s\n", "/"+strings.TrimSpace(w.name+" "+w.args), w.help)
	}
	t.screen.write(b.String())
	return nil
}

// listMax is how many groups are listed: the latest.
const listMax = 100

func (t *talk) list(ctx context.Context, _ string) error {
	page, err := t.server.Groups(ctx, client.Page{Limit: listMax})
	if err != nil {
		return err
	}
	t.who.meetOthers(ctx, page.Groups, t.at.user)
	t.listed = nil
	for i, g := range page.Groups {
		t.listed = append(t.listed, g.ID)
		unread := ""
		if g.Unread > 0 {
			unread = fmt.Sprintf(", %d unread", g.Unread)
		}
		title := t.who.title(g.Group, t.at.user)
		if title != g.ID {
			title += " [" + cli.Plain(g.ID) + "]"
		}
		t.say("%d %s%s", i+1, title, unread)
	}
	switch {
	case len(page.Groups) == 0:
		t.say("you are in no group yet")
	case page.Next != "":
		t.say("and %d more: chatd groups lists them", page.Total-int64(len(page.Groups)))
	case t.group.ID == "":
		t.say("/open GROUP opens one")
	}
	return nil
}

func (t *talk) openNamed(ctx context.Context, name string) error {
	if name == "" {
		return errors.New("/open GROUP: name it; /groups lists them")
	}
	_, known := t.chat.Group(name)
	if n, err := strconv.Atoi(name); err == nil && !known && n >= 1 && n <= len(t.listed) {
		name = t.listed[n-1]
	}
	return t.open(ctx, name)
}

func (t *talk) more(ctx context.Context, _ string) error {
	if t.timeline == nil {
		return errors.New("open a group first: /open GROUP")
	}
	if older := t.shown.older(t.timeline.View(), t.who); len(older) > 0 {
		t.screen.write(strings.Join(older, "\n") + "\n")
		return nil
	}
	if err := t.timeline.LoadBefore(ctx); err != nil {
		return err
	}
	older := t.shown.older(t.timeline.View(), t.who)
	if len(older) == 0 {
		t.say("there is nothing older")
		return nil
	}
	t.screen.write(strings.Join(older, "\n") + "\n")
	return nil
}

// target takes the id of a message off the arguments of a command.
func target(args string) (id int64, rest string, err error) {
	word, rest, _ := strings.Cut(strings.TrimPrefix(args, "#"), " ")
	if id, err = strconv.ParseInt(word, 10, 64); err != nil || id < 1 {
		return 0, "", fmt.Errorf("%q is not the id of a message: it is the number behind #", word)
	}
	return id, strings.TrimSpace(rest), nil
}

func (t *talk) reply(ctx context.Context, args string) error {
	id, text, err := target(args)
	if err != nil {
		return err
	}
	if text == "" {
		return errors.New("/reply ID TEXT: what is the reply?")
	}
	return t.send(ctx, client.Draft{Body: text, ReplyTo: id})
}

func (t *talk) react(ctx context.Context, args string) error {
	id, emoji, err := target(args)
	if err != nil {
		return err
	}
	if emoji == "" {
		return errors.New("/react ID EMOJI: with what?")
	}
	mine := false
	for _, l := range t.shown.lines {
		mine = mine || l.ID == id && l.Reactions[emoji].Mine
	}
	return t.send(ctx, client.Draft{Kind: client.KindReaction, Target: id, Emoji: emoji, Removed: mine})
}

func (t *talk) edit(ctx context.Context, args string) error {
	id, text, err := target(args)
	if err != nil {
		return err
	}
	if text == "" {
		return errors.New("/edit ID TEXT: what is the new text? /delete ID deletes a message")
	}
	return t.send(ctx, client.Draft{Kind: client.KindEdit, Target: id, Body: text})
}

func (t *talk) remove(ctx context.Context, args string) error {
	id, rest, err := target(args)
	if err != nil {
		return err
	}
	if rest != "" {
		return errors.New("/delete ID: one message at a time")
	}
	return t.send(ctx, client.Draft{Kind: client.KindDelete, Target: id})
}

// membersMax is how many members are listed.
const membersMax = 100

func (t *talk) members(ctx context.Context, _ string) error {
	if t.group.ID == "" {
		return errors.New("open a group first: /open GROUP")
	}
	all, next, err := t.server.Members(ctx, t.group.ID, client.Page{Limit: membersMax})
	if err != nil {
		return err
	}
	versions := map[string]int64{}
	for _, m := range all {
		versions[m.User] = 0
	}
	t.who.meet(ctx, versions)
	for _, m := range all {
		t.say("%s, %s", t.who.name(m.User), m.Role)
	}
	if next != "" {
		t.say("and more: these are the first %d", len(all))
	}
	return nil
}

// failures are the keys of what was refused in the open group.
func (t *talk) failures() (keys []string) {
	for _, l := range t.shown.lines {
		if l.State == local.StateFailed {
			keys = append(keys, l.ClientID)
		}
	}
	slices.Sort(keys)
	return keys
}

func (t *talk) retry(ctx context.Context, _ string) error {
	return t.refusedOnes(ctx, t.chat.Retry)
}

func (t *talk) discard(ctx context.Context, _ string) error {
	return t.refusedOnes(ctx, t.chat.Discard)
}

func (t *talk) refusedOnes(ctx context.Context, do func(context.Context, string) error) error {
	keys := t.failures()
	if len(keys) == 0 {
		return errors.New("nothing was refused")
	}
	t.shown.failed -= len(keys)
	for _, key := range keys {
		if err := do(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (t *talk) leave(ctx context.Context, args string) error {
	switch {
	case t.group.ID == "":
		return errors.New("open a group first: /open GROUP")
	case args != t.group.ID:
		return fmt.Errorf("to leave %s, write /leave %[1]s", t.group.ID)
	}
	left := t.group.ID
	if err := t.server.RemoveMember(ctx, left, t.at.user); err != nil {
		return err
	}
	t.close()
	t.say("you have left %s", cli.Plain(left))
	return nil
}
