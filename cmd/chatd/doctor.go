package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
	"github.com/chatd/chatd/store/doctor"
)

// doctorCommand reads the store directly, so it needs no running server.
type doctorCommand struct {
	Repair bool `help:"Repair what is derived: indexes, counts, list entries, orphans. Findings that need a decision are left to you."`
	JSON   bool `name:"json" help:"Print one JSON object, for programs."`
}

// examined is what -json prints.
type examined struct {
	Chatd string `json:"chatd"`
	doctor.Report
	Error string `json:"error,omitempty"` // why not everything was examined
}

func (d doctorCommand) Run(env *environment, c node.Config) error {
	shown := env.progress("doctor", "keys")
	opt := doctor.Options{Repair: d.Repair, Progress: shown.show}
	if !d.JSON {
		opt.Found = func(f doctor.Finding) {
			shown.clear()
			_ = env.print("%s", findingLine(f))
		}
	}
	report, err := c.Examine(env.ctx, opt, env.stderr)
	shown.clear()
	var text string
	switch {
	case d.JSON:
		shown := examined{Chatd: versionLine(), Report: report}
		if err != nil {
			shown.Error = err.Error()
		}
		if shown.Findings == nil {
			shown.Findings = []doctor.Finding{}
		}
		line, jsonErr := json.Marshal(shown)
		if jsonErr != nil {
			return jsonErr
		}
		text = string(line) + "\n"
	case err == nil:
		text = summary(report, d.Repair)
	}
	if err := env.print("%s", text); err != nil {
		return err
	}
	n := report.Open()
	switch {
	case env.ctx.Err() != nil:
		return coded(exitInterrupted, "doctor: interrupted")
	case err != nil:
		return fmt.Errorf("doctor: %w", err)
	case n > 0:
		return coded(exitFindings, "doctor: %s", plural(n, "finding"))
	case !report.Complete:
		return errors.New("doctor: not everything could be examined")
	}
	return nil
}

func findingLine(f doctor.Finding) string {
	text := string(f.Kind) + ": "
	if f.Key != "" {
		text += f.Key + " "
	}
	text += f.Message
	switch {
	case f.Repaired:
		text += " [repaired]"
	case f.Repair != "":
		text += " [-repair: " + f.Repair + "]"
	}
	return cli.Plain(text) + "\n"
}

// summary says what was examined, and what is left to fix.
func summary(r doctor.Report, repair bool) string {
	s := r.Server
	var b strings.Builder
	fmt.Fprintln(&b, versionLine())
	fmt.Fprintf(&b, "store: %s, %s with %s, layout %d, %s, persistence: %s, eviction: %s\n", strings.TrimSpace(s.Kind+" "+s.Version),
		s.Role, plural(s.Replicas, "replica"), s.Layout, plural(s.Partitions, "partition"), s.Persistence, s.Eviction)
	if s.Kind == "redis" {
		limit := "no limit"
		if s.MemoryMaxBytes > 0 {
			limit = fmt.Sprintf("%d MiB allowed", s.MemoryMaxBytes>>20)
		}
		fmt.Fprintf(&b, "memory: %d MiB used, %s; clock: %d ms ahead of this host's\n", s.MemoryBytes>>20, limit, s.ClockAheadMs)
	}
	fmt.Fprintf(&b, "examined %s: %s, %s with groups\n", plural(int(r.Keys), "key"), plural(int(r.Groups), "group"), plural(int(r.Users), "user"))
	repaired, possible := 0, 0
	for _, f := range r.Findings {
		switch {
		case f.Repaired:
			repaired++
		case f.Repair != "":
			possible++
		}
	}
	fmt.Fprintf(&b, "%s", plural(len(r.Findings), "finding"))
	if repair {
		fmt.Fprintf(&b, ", %d repaired", repaired)
	} else if possible > 0 {
		fmt.Fprintf(&b, "; -repair repairs %d", possible)
	}
	if !r.Complete {
		fmt.Fprint(&b, "; interrupted, so there may be more")
	}
	return b.String() + "\n"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// progressEvery is how often progress is shown, as a new line each time if the output is not a terminal.
const (
	progressEvery     = 5 * time.Second
	progressEveryTerm = 100 * time.Millisecond
	progressWidth     = 30
)

// progress shows the progress: a bar on a terminal, lines elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	command  string // that shows it
	of       string // what is counted
	drawn    bool
	last     time.Time
}

func (p *progress) show(done, total int64) {
	every := progressEvery
	if p.terminal {
		every = progressEveryTerm
	}
	now := time.Now()
	if p.last.IsZero() && !p.terminal {
		p.last = now // a short run needs no progress line
	}
	if now.Sub(p.last) < every {
		return
	}
	p.last = now
	share := float64(done) / float64(max(total, 1))
	if !p.terminal {
		_, _ = fmt.Fprintf(p.out, "%s: %d of about %d %s (%.0f %%)\n", p.command, done, total, p.of, 100*share)
		return
	}
	full := int(share * progressWidth)
	_, _ = fmt.Fprintf(p.out, "\r[%s%s] %d of about %d %s", strings.Repeat("=", full), strings.Repeat(" ", progressWidth-full), done, total, p.of)
	p.drawn = true
}

// clear removes the bar, so that a line can be written.
func (p *progress) clear() {
	if p.drawn {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
