package main

import (
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// invitesCommand manages invitations.
type invitesCommand struct {
	remote

	Add  invitesAddCommand  `cmd:"" help:"Make an invitation and print its link, once."`
	List invitesListCommand `cmd:"" help:"List invitations, without their codes."`
	Rm   invitesRmCommand   `cmd:"" help:"Revoke an invitation."`
}

type invitesAddCommand struct {
	Group   string `help:"Id of the group that it lets join. Default: none, it lets register."`
	Role    string `help:"Role that it gives in the group: member (the default) or admin."`
	Uses    int64  `default:"1" help:"How many people may use it, up to 1000."`
	Expires *span  `placeholder:"DURATION" help:"How long it holds, such as 7d or 12h. Default: until it is used up or revoked."`
	Note    string `help:"What it is for, for operators and managers of the group."`
}

func (a invitesAddCommand) Run(env *environment, c node.Config, i *invitesCommand) error {
	server, at, err := i.connectAnybody(c)
	if err != nil {
		return err
	}
	draft := client.InviteDraft{Group: a.Group, Role: a.Role, Uses: a.Uses, Note: a.Note}
	if a.Expires != nil {
		draft.ExpiresAt = new(time.Now().Add(time.Duration(*a.Expires)))
	}
	made, err := server.CreateInvite(env.ctx, draft)
	if err != nil {
		return at.explain(err)
	}
	if made.Code == "" {
		return fmt.Errorf("%s is made, but the answer with its link was lost; revoke it with: chatd invites rm %s", made.ID, made.ID)
	}
	if err := i.print(env, made, made.URL); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(env.stderr, "%s is made; its link is shown only now\n", made.ID)
	return nil
}

type invitesListCommand struct {
	Group string `help:"Id of the group. Default: those that let register."`
}

func (l invitesListCommand) Run(env *environment, c node.Config, i *invitesCommand) error {
	server, at, err := i.connectAnybody(c)
	if err != nil {
		return err
	}
	rows := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(rows, "ID\tROLE\tUSED\tEXPIRES\tCREATED BY\tNOTE")
	for page := (client.Page{}); ; {
		list, next, err := server.Invites(env.ctx, l.Group, page)
		if err != nil {
			return at.explain(err)
		}
		for _, one := range list {
			if i.JSON {
				if err := i.print(env, one, ""); err != nil {
					return err
				}
				continue
			}
			role, expires := "-", "never"
			if one.Role != nil {
				role = *one.Role
			}
			if one.ExpiresAt != nil {
				expires = one.ExpiresAt.UTC().Format(time.RFC3339)
			}
			used := strconv.FormatInt(one.Used, 10) + " of " + strconv.FormatInt(one.Uses, 10)
			_, _ = fmt.Fprintf(rows, "%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, role, used, expires, cli.Plain(one.CreatedBy), cli.Plain(one.Note))
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	if i.JSON {
		return nil
	}
	if err := rows.Flush(); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	return nil
}

type invitesRmCommand struct {
	ID string `arg:"" help:"Id of the invitation."`
}

func (r invitesRmCommand) Run(env *environment, c node.Config, i *invitesCommand) error {
	server, at, err := i.connectAnybody(c)
	if err != nil {
		return err
	}
	if err := server.DeleteInvite(env.ctx, r.ID); err != nil {
		return at.explain(err)
	}
	return i.print(env, map[string]string{"id": r.ID, "state": "revoked"}, cli.Plain(r.ID)+" is revoked")
}
