// Package demo fills a chatd server with a small world to look at: five people of a product team and their groups, a community of
// thousands, and troubles for an operator to find. It works through the public API, as the backend of a product would, and says the same
// things in the same order each time.
package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
)

// Server is a running chatd.
type Server struct {
	// As returns a client that acts as a user, for Operator as an operator.
	As func(user string) (*client.Client, error)
	// Receiver is the URL of a listener that answers as Receiver does, which the server may reach. Empty: no webhook fails.
	Receiver string
}

// Begin makes everything but the members of the community, which take longer. What Past holds it sends only where it was not imported
// before.
func Begin(ctx context.Context, s Server) error {
	w := newWorld(ctx, s)
	w.people()
	w.past(time.Now())
	w.held()
	w.plans()
	w.troubles()
	w.today()
	return w.err
}

// Grow adds members to the community until it has so many, MembersMin to MembersMax.
func Grow(ctx context.Context, s Server, members int) error {
	w := newWorld(ctx, s)
	w.crowd(members)
	return w.err
}

func newWorld(ctx context.Context, s Server) *world {
	return &world{Context: ctx, server: s, clients: map[string]*client.Client{}, ids: map[string]int64{}}
}

// world is a server that is being filled. The first error ends it: what follows does nothing.
type world struct {
	context.Context
	server  Server
	clients map[string]*client.Client
	ids     map[string]int64 // of messages, by their group and label
	err     error
}

// as acts as a user, unless something has failed before.
func (w *world) as(user string, do func(*client.Client) error) {
	if w.err != nil {
		return
	}
	c := w.clients[user]
	if c == nil {
		if c, w.err = w.server.As(user); w.err != nil {
			return
		}
		w.clients[user] = c
	}
	if err := do(c); err != nil {
		w.err = fmt.Errorf("the demo, as %s: %w", user, err)
	}
}

// group makes a group, whose owner is the first member.
func (w *world) group(draft client.GroupDraft, members ...string) {
	draft.Members = members[1:]
	w.as(members[0], func(c *client.Client) error {
		_, err := c.CreateGroup(w, draft)
		return err
	})
}

// say sends lines to a group, with what became of them, and returns the last one.
func (w *world) say(group string, lines ...line) (l line) {
	for _, l = range lines {
		w.as(l.from, func(c *client.Client) error {
			draft := client.Draft{Body: l.body, Data: l.data, Mentions: mentioned(l.body)}
			if l.reply != "" {
				draft.ReplyTo = w.ids[group+" "+l.reply]
			}
			for _, f := range l.files {
				id, err := c.UploadFile(w, group, client.FileDraft{Name: f.name, Size: int64(len(f.bytes)), Type: f.kind}, strings.NewReader(f.bytes))
				if err != nil {
					return err
				}
				draft.Files = append(draft.Files, id)
			}
			sent, err := c.Send(w, group, draft)
			w.ids[group+" "+l.label], l.id = sent.ID, sent.ID
			return err
		})
		w.follow(group, l)
	}
	return l
}

// follow does what follows a line: its edit, its deletion, reactions.
func (w *world) follow(group string, l line) {
	entry := func(from string, d client.Draft) {
		w.as(from, func(c *client.Client) error {
			d.Target = l.id
			_, err := c.Send(w, group, d)
			return err
		})
	}
	if l.corrected != "" {
		entry(l.from, client.Draft{Kind: client.KindEdit, Body: l.corrected})
	}
	if l.deleted {
		entry(l.from, client.Draft{Kind: client.KindDelete})
	}
	for _, emoji := range slices.Sorted(maps.Keys(l.reactions)) {
		for _, from := range l.reactions[emoji] {
			entry(from, client.Draft{Kind: client.KindReaction, Emoji: emoji})
		}
	}
}

// read lets people read a group to its end.
func (w *world) read(group string, people ...string) {
	for _, user := range people {
		w.as(user, func(c *client.Client) error { return readAll(w, c, group) })
	}
}

func readAll(ctx context.Context, c *client.Client, group string) error {
	g, err := c.Group(ctx, group)
	if err == nil && g.Read < g.Last {
		_, err = c.Read(ctx, group, g.Last)
	}
	return err
}

// mentioned are the people whom a text names as @id.
func mentioned(text string) (users []string) {
	for _, p := range People {
		if strings.Contains(text, "@"+p.ID) {
			users = append(users, p.ID)
		}
	}
	return users
}
