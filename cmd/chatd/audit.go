package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// auditCommand lists who did what.
type auditCommand struct {
	remote

	Group  string `help:"Only what was done in this group; its owner and admins may list that, too."`
	User   string `help:"Only what this user did, or what was done to them. A key is key:<id>."`
	Action string `help:"Only this action, such as member.ban."`
	Limit  int    `help:"Maximum number of entries. Default: all."`
}

// auditPage is how many entries one call asks for.
const auditPage = 1000

// Run prints page by page, so that a long list starts at once.
func (a *auditCommand) Run(env *environment, c node.Config) error {
	if a.Limit < 0 {
		return coded(exitUsage, "-limit: want a whole number from 0")
	}
	connect := a.connect
	if a.Group != "" {
		connect = a.connectAnybody
	}
	server, at, err := connect(c)
	if err != nil {
		return err
	}
	rows := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	if !a.JSON {
		_, _ = fmt.Fprintln(rows, "WHEN\tBY\tACTION\tUSER\tGROUP\tDETAIL")
	}
	query, page := client.AuditQuery{User: a.User, Group: a.Group, Action: a.Action}, client.Page{Limit: auditPage}
	for printed := 0; ; {
		if a.Limit > 0 {
			page.Limit = min(auditPage, a.Limit-printed)
		}
		entries, next, err := server.Audit(env.ctx, query, page)
		if err != nil {
			return at.explain(err)
		}
		if err := a.list(env, rows, entries); err != nil {
			return err
		}
		printed, page.Cursor = printed+len(entries), next
		if next == "" || printed == a.Limit && a.Limit > 0 {
			return nil
		}
	}
}

func (a *auditCommand) list(env *environment, rows *tabwriter.Writer, entries []client.AuditEntry) error {
	for _, e := range entries {
		if !a.JSON {
			_, _ = fmt.Fprintln(rows, strings.Join(auditCells(e), "\t"))
		} else if err := env.printJSON(e); err != nil {
			return err
		}
	}
	if err := rows.Flush(); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	return nil
}

// auditCells is a line of the list.
func auditCells(e client.AuditEntry) []string {
	by := cmp.Or(e.Actor, "(erased)")
	if e.Via != "" && e.Actor != "key:"+e.Via {
		by += " via key:" + e.Via
	}
	cells := []string{e.At.UTC().Format(time.RFC3339), by, e.Action, cmp.Or(e.User, "-"), cmp.Or(e.Group, "-"), auditDetail(e.Detail)}
	for i, cell := range cells {
		cells[i] = cli.Plain(cell)
	}
	return cells
}

// auditDetail is what else there is to say, as name=value; what is null is left out.
func auditDetail(detail json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(detail, &fields) != nil {
		return string(detail)
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if value := string(fields[name]); value != "null" {
			said = append(said, name+"="+value)
		}
	}
	return strings.Join(said, " ")
}
