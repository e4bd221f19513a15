package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/chatd/chatd/client/ship"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// processCommand runs a command for each part that chatd ship ships to a group.
type processCommand struct {
	memberFlags
	Group    string   `required:"" help:"Group to process."`
	Command  []string `arg:"" name:"cmd" help:"Command to run for each part, after --: it gets the lines on its standard input."`
	From     []string `placeholder:"USER,..." help:"Members whose parts and end marks are processed; what others post is skipped. Default: owner and admins of the group."`
	Follow   bool     `help:"Go on with the next shipment after the end mark."`
	Attempts int      `help:"How often the command may fail for one part. Default: no limit."`
	State    string   `placeholder:"FILE" help:"File that remembers what was processed, and results that the group cannot take yet. Default: GROUP.USER.process in the working directory."`
	JSON     bool     `name:"json" help:"Print one JSON object per line, for programs: {\"processed\":{…}} for each part, and {\"end\":{…}} at the end. What the command prints goes to the standard error."`
}

// processed is what -json prints of a part: what the command finds in its environment, and its result.
type processed struct {
	Group   string `json:"group"`
	Epoch   string `json:"epoch"`
	Message int64  `json:"message"`
	From    string `json:"from"`
	Ship    string `json:"ship"`
	Part    int64  `json:"part"`
	Name    string `json:"name"`
	Offset  int64  `json:"offset"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Open    bool   `json:"open"`
	Attempt int    `json:"attempt"`
	Result  string `json:"result"`
}

// cmdGrace is how long a command may take to end when chatd process is interrupted.
const cmdGrace = 10 * time.Second

func (p processCommand) Run(env *environment, c node.Config) error {
	server, at, err := p.member(c)
	if err != nil {
		return err
	}
	state, err := stateFile(p.State, p.Group, at.user, "process")
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(p.Command[0]); err != nil {
		return fmt.Errorf("process: %w", err)
	}
	shown := env.progress("process", "parts")
	trimmed(p.From)
	say := func(text string) {
		shown.clear()
		_, _ = fmt.Fprintf(env.stderr, "process: %s\n", text)
	}
	parts := 0
	err = ship.Process(env.ctx, server, ship.ProcessOptions{
		Group: p.Group, From: p.From, Follow: p.Follow, State: state, Attempts: p.Attempts,
		Failed: func(err error, wait time.Duration) { say(cli.Plain(err.Error()) + "; " + again(wait)) },
		Notice: func(text string) { say(cli.Plain(text)) },
	}, func(ctx context.Context, part ship.Part) (string, error) {
		shown.clear()
		result, err := p.part(ctx, env, part)
		if err != nil {
			return "", err
		}
		parts++
		shown.show(part.Number, part.Number)
		if p.JSON {
			// An output that cannot be written does not stop the processing.
			_ = env.printJSON(map[string]any{"processed": processed{part.Group, part.Epoch, part.ID, part.From, part.Ship, part.Number, part.Name,
				part.Offset, part.Bytes, part.SHA256, part.Open, part.Attempt, result}})
		}
		return result, nil
	})
	shown.clear()
	if p.Follow && env.ctx.Err() != nil {
		return nil // that is how it ends
	}
	if err != nil {
		return memberError(env.ctx, "process", at, err)
	}
	if p.JSON {
		return env.printJSON(map[string]any{"end": map[string]any{"group": p.Group, "parts": parts}})
	}
	say(plural(parts, "part") + ", end of the shipment")
	return nil
}

// part runs the command for one part. The lines are complete and verified before it starts: it never sees a part of them, not
// even if chatd process is killed.
func (p processCommand) part(ctx context.Context, env *environment, part ship.Part) (string, error) {
	file, err := os.CreateTemp("", "chatd-part-*")
	if err != nil {
		return "", err
	}
	_ = os.Remove(file.Name()) // if an open file cannot be removed, the call below does it
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	if _, err := io.Copy(file, part.Lines); err != nil {
		return "", err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	last, output := &lastLine{}, env.stdout
	if p.JSON {
		output = env.stderr
	}
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	cmd.Env = append(os.Environ(), partEnv(part)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, io.MultiWriter(last, output), env.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = cmdGrace
	endWithParent(cmd)
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return "", fmt.Errorf("%s: %w", p.Command[0], err)
	}
	return last.text(), nil
}

// partEnv describes a part to the command.
func partEnv(part ship.Part) []string {
	open := "0"
	if part.Open {
		open = "1"
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{
		"CHATD_GROUP=" + part.Group, "CHATD_EPOCH=" + part.Epoch, "CHATD_MESSAGE=" + number(part.ID), "CHATD_FROM=" + part.From,
		"CHATD_SHIP=" + part.Ship, "CHATD_PART=" + number(part.Number), "CHATD_NAME=" + part.Name, "CHATD_OFFSET=" + number(part.Offset),
		"CHATD_BYTES=" + number(part.Bytes), "CHATD_SHA256=" + part.SHA256, "CHATD_OPEN=" + open, "CHATD_ATTEMPT=" + strconv.Itoa(part.Attempt),
	}
}

// lastLine remembers the last line that is written to it and not empty.
type lastLine struct{ done, line []byte }

// lastLineMax is more than a result may have.
const lastLineMax = 8192

func (l *lastLine) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		l.line = append(l.line, line[:min(len(line), lastLineMax-len(l.line))]...)
		if ended && len(bytes.TrimSpace(l.line)) > 0 {
			l.done = append(l.done[:0], l.line...)
		}
		if ended {
			l.line = l.line[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (l *lastLine) text() string {
	if line := bytes.TrimSpace(l.line); len(line) > 0 {
		return string(line)
	}
	return string(bytes.TrimSpace(l.done))
}
