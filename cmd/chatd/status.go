package main

import (
	"fmt"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// statusCommand shows what is wrong and how the nodes do.
type statusCommand struct{ remote }

// statusFigures are the columns of the nodes: the newest value of each.
var statusFigures = []struct{ head, figure string }{
	{"SESSIONS", "sessions"}, {"MESSAGES/S", "messages_per_s"}, {"REQUESTS/S", "requests_per_s"}, {"FAILURES/S", "failures_per_s"},
	{"REQUEST MS", "request_ms"}, {"STORE MS", "store_ms"},
}

func (s *statusCommand) Run(env *environment, c node.Config) error {
	server, at, err := s.connect(c)
	if err != nil {
		return err
	}
	problems, err := server.Problems(env.ctx)
	if err != nil {
		return at.explain(err)
	}
	stats, err := server.Stats(env.ctx)
	// With the store away the nodes are not known, and the problems say so.
	if storeAway := slices.ContainsFunc(problems, func(p client.OpsProblem) bool { return p.Code == "store_away" }); err != nil && !storeAway {
		return at.explain(err)
	}
	if s.JSON {
		err = s.print(env, struct {
			Problems []client.OpsProblem `json:"problems"`
			client.ServerStats
		}{problems, stats}, "")
	} else {
		err = s.show(env, problems, stats.Nodes)
	}
	if err == nil && len(problems) > 0 {
		err = coded(exitFindings, "%s, the worst is %s", plural(len(problems), "problem"), cli.Plain(problems[0].Code))
	}
	return err
}

func (s *statusCommand) show(env *environment, problems []client.OpsProblem, nodes []client.NodeStats) error {
	if len(problems) == 0 {
		if err := env.print("Nothing is wrong.\n"); err != nil {
			return err
		}
	}
	for _, p := range problems {
		subject := ""
		if p.Subject != "" {
			subject = " " + cli.Plain(p.Subject)
		}
		err := env.print("%s: %s%s, since %s\n  %s\n  Fix: %s\n", p.Severity, cli.Plain(p.Code), subject, p.Since.UTC().Format(time.RFC3339), cli.Plain(p.Detail), cli.Plain(p.Fix))
		if err != nil {
			return err
		}
	}
	rows := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(rows, "\nNODE\tVERSION\tUP")
	for _, f := range statusFigures {
		_, _ = fmt.Fprint(rows, "\t", f.head)
	}
	_, _ = fmt.Fprintln(rows)
	for _, n := range nodes {
		_, _ = fmt.Fprintf(rows, "%s\t%s\t%s", cli.Plain(n.ID), cli.Plain(n.Version), n.SeenAt.Sub(n.Since).Round(time.Second))
		for _, f := range statusFigures {
			text := "-"
			if all := n.Series[f.figure]; len(all) > 0 {
				text = strconv.FormatFloat(all[len(all)-1], 'f', -1, 64)
			}
			_, _ = fmt.Fprint(rows, "\t", text)
		}
		_, _ = fmt.Fprintln(rows)
	}
	if err := rows.Flush(); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	return nil
}
