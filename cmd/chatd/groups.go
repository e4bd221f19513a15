package main

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// groupsCommand lists the groups of the person.
type groupsCommand struct {
	memberFlags
	Unread bool `help:"Only groups with unread messages."`
	JSON   bool `name:"json" help:"Print one JSON object per line, for programs."`
}

func (g groupsCommand) Run(env *environment, c node.Config) error {
	server, at, err := g.member(c)
	if err != nil {
		return err
	}
	who := newPeople(server)
	rows := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	if !g.JSON {
		_, _ = fmt.Fprintln(rows, "GROUP\tUNREAD\tMENTIONS\tLAST\tNAME")
	}
	for page := (client.Page{}); ; {
		list, err := server.Groups(env.ctx, page)
		if err != nil {
			return at.explain(err)
		}
		who.meetOthers(env.ctx, list.Groups, at.user)
		for _, one := range list.Groups {
			switch {
			case g.Unread && one.Unread == 0:
			case g.JSON:
				if err := env.printJSON(one); err != nil {
					return err
				}
			default:
				last := "-"
				if one.LastMessage != nil {
					last = one.LastMessage.SentAt.Local().Format("2006-01-02 15:04")
				}
				_, _ = fmt.Fprintf(rows, "%s\t%d\t%d\t%s\t%s\n", cli.Plain(one.ID), one.Unread, one.MentionsUnread, last, who.title(one.Group, at.user))
			}
		}
		if page.Cursor = list.Next; list.Next == "" {
			break
		}
	}
	if err := rows.Flush(); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	return nil
}

// other is the other user of a direct group; empty for any other group.
func other(g client.Group, me string) string {
	switch {
	case len(g.Direct) != 2:
		return ""
	case g.Direct[0] == me:
		return g.Direct[1]
	}
	return g.Direct[0]
}

// meetOthers gets to know those with whom the person has direct groups.
func (p *people) meetOthers(ctx context.Context, groups []client.GroupState, me string) {
	versions := map[string]int64{}
	for _, g := range groups {
		if user := other(g.Group, me); user != "" {
			versions[user] = 0
		}
	}
	p.meet(ctx, versions)
}

// title is what people call a group: its name, the other person of a direct one, or its id.
func (p *people) title(g client.Group, me string) string {
	if user := other(g, me); user != "" {
		return p.name(user)
	}
	return cmp.Or(oneLine(g.Name), cli.Plain(g.ID))
}
