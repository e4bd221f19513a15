package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// tailCommand follows groups.
type tailCommand struct {
	memberFlags
	Groups []string `arg:"" name:"group" help:"Ids of the groups."`
	N      int64    `name:"n" short:"n" default:"10" help:"Begin with so many of the last entries of each group."`
	Since  string   `placeholder:"POSITION" help:"Begin after this message instead, of the one group: its id, or a cursor of the API."`
	State  string   `placeholder:"FILE" help:"File that remembers what was written: the same command goes on after it."`
	JSON   bool     `name:"json" help:"Print entries as one JSON object per line, for programs, and gaps as {\"gap\":{…}}."`
}

func (t tailCommand) Run(env *environment, c node.Config) error {
	switch {
	case t.Since != "" && len(t.Groups) != 1:
		return coded(exitUsage, "-since is a position in one group; for several, use -state")
	case t.N < 0:
		return coded(exitUsage, "-n: want a whole number from 0")
	}
	server, at, err := t.member(c)
	if err != nil {
		return err
	}
	slices.Sort(t.Groups)
	t.Groups = slices.Compact(t.Groups)
	cursors, err := t.positions(env.ctx, server, at)
	if err != nil {
		return t.ended(env, at, err)
	}
	stream, err := server.Stream(env.ctx, client.StreamOptions{Cursors: cursors, Only: t.Groups, Fallback: true})
	if err != nil {
		return t.ended(env, at, err)
	}
	defer stream.Close()
	shown := &follower{env: env, who: newPeople(server), json: t.JSON, several: len(t.Groups) > 1, left: len(t.Groups)}
	for e, err := range stream.Events(env.ctx) {
		if err == nil {
			err = shown.show(e)
		}
		if err != nil {
			return t.ended(env, at, err)
		}
	}
	return nil
}

// ended is nil after an interruption: that is how it ends.
func (t tailCommand) ended(env *environment, at callee, err error) error {
	if env.ctx.Err() != nil {
		return nil
	}
	return at.explain(err)
}

// positions says where to begin in each group, and checks that the person is in it.
func (t tailCommand) positions(ctx context.Context, server *client.Client, at callee) (client.Cursors, error) {
	var kept client.Cursors = &client.MemoryCursors{}
	if t.State != "" {
		file, err := client.NewFileCursors(t.State)
		if err != nil {
			return nil, coded(exitFailed, "-state: %w", err)
		}
		kept = file
	}
	has, err := kept.Load(ctx)
	if err != nil {
		return nil, err
	}
	begin := map[string]client.Position{}
	for _, id := range t.Groups {
		g, err := server.Group(ctx, id)
		switch {
		case client.CodeOf(err) == client.CodeNotFound:
			return nil, noGroup(id)
		case err != nil:
			return nil, err
		case t.Since != "":
			begin[id] = client.Position(t.Since)
		case has[id] == "":
			begin[id] = client.At(max(g.First-1, g.Last-t.N, 0))
		}
	}
	return kept, kept.Save(ctx, begin)
}

// follower writes what a stream says.
type follower struct {
	env     *environment
	who     *people
	json    bool
	several bool // groups, so lines name them
	left    int  // groups that the person is still in
	lost    bool // the connection, which was said
}

func (f *follower) show(e client.Event) error {
	switch e := e.(type) {
	case client.Messages:
		return f.messages(e)
	case client.Gap:
		if f.json {
			return f.env.printJSON(map[string]any{"gap": map[string]any{"group": e.Group, "after": e.After, "from": e.From}})
		}
		f.say("%s: the server no longer has the messages before #%d", cli.Plain(e.Group), e.From)
	case client.Disconnected:
		f.lost = true
		f.say("not connected, trying again: %s", cli.Plain(fmt.Sprint(e.Err)))
	case client.Connected:
		if f.lost {
			f.say("connected again")
		}
		f.lost = false
	case client.Left:
		f.say("you are no longer in %s", cli.Plain(e.Group))
		if f.left--; f.left == 0 {
			return codedError{errors.New("there is no group left to follow"), exitRefused}
		}
	case client.Joined:
		f.left++
	}
	return nil
}

func (f *follower) say(format string, args ...any) {
	_, _ = fmt.Fprintf(f.env.stderr, "chatd: "+format+"\n", args...)
}

func (f *follower) messages(e client.Messages) error {
	if f.json {
		for _, m := range e.Messages {
			m.Group = e.Group
			if err := f.env.printJSON(m); err != nil {
				return err
			}
		}
		return nil
	}
	f.who.meetAll(f.env.ctx, e.Profiles, e.Messages)
	prefix := ""
	if f.several {
		prefix = cli.Plain(e.Group) + " "
	}
	var lines strings.Builder
	for _, m := range e.Messages {
		fmt.Fprintln(&lines, f.who.line(m, prefix))
	}
	return f.env.print("%s", lines.String())
}

// namesWait bounds how long lines wait for the names of people.
const namesWait = 2 * time.Second

// meetAll gets to know those who wrote messages or are named in them.
func (p *people) meetAll(ctx context.Context, profiles map[string]int64, messages []client.Message) {
	versions := map[string]int64{}
	for _, m := range messages {
		for _, user := range append([]string{m.From, m.User}, m.Users...) {
			if user != "" {
				versions[user] = profiles[user]
			}
		}
	}
	limited, cancel := context.WithTimeout(ctx, namesWait)
	defer cancel()
	p.meet(limited, versions)
}
