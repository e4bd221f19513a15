package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/ship"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// shipCommand distributes files to all members of a group.
type shipCommand struct {
	memberFlags
	Group   string   `required:"" help:"Group of the processors. It needs overflow block; with keep 0, nothing is left of what all have processed."`
	Paths   []string `arg:"" name:"path" help:"Files to ship, one after the other."`
	Follow  bool     `help:"Go on as the files grow and are rotated, until interrupted."`
	Segment byteSize `default:"8MiB" help:"How many bytes of a file make a part, uncompressed: 1KiB to 64MiB."`
	Wait    bool     `help:"Wait until all members have finished, and show who has."`
	Delete  bool     `help:"Delete files that are shipped; with -wait once all have finished, with -follow those that were rotated."`
	From    []string `placeholder:"USER,..." help:"Processors whose results are printed; those of others are skipped. Default: all members."`
	State   string   `placeholder:"FILE" help:"File that remembers what is shipped. Default: GROUP.USER.ship in the working directory."`
	JSON    bool     `name:"json" help:"Print one JSON object per line, for programs: {\"result\":{…}} for each result, and {\"shipped\":{…}} at the end."`
}

func (s shipCommand) Run(env *environment, c node.Config) error {
	server, at, err := s.member(c)
	if err != nil {
		return err
	}
	state, err := stateFile(s.State, s.Group, at.user, "ship")
	if err != nil {
		return err
	}
	trimmed(s.From)
	shown := &shipProgress{env: env, bar: env.progress("ship", "KiB"), json: s.JSON}
	err = ship.Files(env.ctx, server, ship.Options{
		Group: s.Group, Paths: s.Paths, Segment: int64(s.Segment), State: state, Follow: s.Follow, Wait: s.Wait, Delete: s.Delete,
		From: s.From, Progress: shown.show, Result: shown.result, Notice: shown.notice,
	})
	shown.bar.clear()
	if s.Follow && env.ctx.Err() != nil {
		return nil // that is how it ends
	}
	if err != nil {
		return memberError(env.ctx, "ship", at, err)
	}
	last := shown.last
	said := fmt.Sprintf("shipped %s, %d bytes", plural(int(last.Parts), "part"), last.Bytes)
	if s.Wait {
		said += "; all have finished"
	}
	return env.printAs(s.JSON, map[string]any{"shipped": map[string]any{"ship": last.Ship, "parts": last.Parts, "bytes": last.Bytes}}, said)
}

// shipProgress shows what a Ship does: a bar on a terminal, and a line whenever it waits for others than before.
type shipProgress struct {
	env    *environment
	bar    progress
	json   bool
	last   ship.Progress
	waited string
}

func (p *shipProgress) show(now ship.Progress) {
	p.last = now
	waits := ""
	switch {
	case len(now.Blockers) > 0:
		waits = "waiting for " + blockerNames(now.Blockers)
	case now.Waiting != nil:
		waits = "waiting: " + cli.Plain(now.Waiting.Error())
	case len(now.Pending) > 0:
		waits = fmt.Sprintf("%s finished, waiting for %s", namesOr(now.Finished, "nobody has"), strings.Join(now.Pending, ", "))
	}
	if waits != "" && waits != p.waited {
		p.bar.clear()
		_, _ = fmt.Fprintf(p.env.stderr, "ship: %s\n", waits)
	}
	p.waited = waits
	if now.Total > 0 && waits == "" {
		p.bar.show(now.Bytes/1024, now.Total/1024)
	}
}

// result prints a line for each result. An output that cannot be written does not stop the shipping.
func (p *shipProgress) result(r ship.Result) {
	_ = p.env.printAs(p.json, map[string]any{"result": map[string]any{"from": r.From, "message": r.ID, "ship": r.Ship, "part": r.Number, "text": r.Text}},
		fmt.Sprintf("%s: part %d: %s", r.From, r.Number, cli.Plain(r.Text)))
}

func (p *shipProgress) notice(text string) {
	p.bar.clear()
	_, _ = fmt.Fprintf(p.env.stderr, "ship: %s\n", cli.Plain(text))
}

// blockerNames leaves out how far they are behind, which changes all the time.
func blockerNames(blockers []client.Blocker) string {
	names := make([]string, len(blockers))
	for i, b := range blockers {
		names[i] = b.User
	}
	return strings.Join(names, ", ") + ", too far behind"
}

func namesOr(names []string, none string) string {
	switch len(names) {
	case 0:
		return none
	case 1:
		return names[0] + " has"
	}
	return strings.Join(names, ", ") + " have"
}

// trimmed takes the blanks off the names of a list.
func trimmed(names []string) {
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
}

// byteSize is a number of bytes such as 8MiB, 512KiB or 1000000.
type byteSize int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *byteSize) UnmarshalText(text []byte) error {
	digits, unit := string(text), int64(1)
	for suffix, bytes := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if cut, ok := strings.CutSuffix(digits, suffix); ok {
			digits, unit = cut, bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > 1<<40/unit {
		return errors.New("want a number of bytes such as 8MiB, 512KiB or 1000000")
	}
	*b = byteSize(n * unit)
	return nil
}

// again says when something is tried again.
func again(wait time.Duration) string { return "again in " + wait.Round(100*time.Millisecond).String() }
