package main

import (
	"fmt"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/store/dump"
)

// exportCommand copies the store itself, so no server may run on it.
type exportCommand struct {
	File string `arg:"" help:"File to write. It contains everything, including secrets, and only you may read it."`
}

// importCommand fills an empty store from such a file.
type importCommand struct {
	File        string `arg:"" help:"File written by chatd export."`
	DropArchive bool   `help:"Leave the archive out: messages that were trimmed from the store are lost."`
	Partitions  int    `help:"Number of partitions of the keys. Default: that of the exported store."`
}

func (e exportCommand) Run(env *environment, c node.Config) error {
	shown := progress{out: env.stderr, terminal: isTerminal(env.stderr), of: "steps", command: "export"}
	counts, err := c.Export(env.ctx, e.File, dump.Options{Chatd: versionLine(), Progress: shown.show}, env.stderr)
	shown.clear()
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return env.dumped("exported", counts, e.File)
}

func (i importCommand) Run(env *environment, c node.Config) error {
	shown := progress{out: env.stderr, terminal: isTerminal(env.stderr), of: "lines", command: "import"}
	counts, err := c.Import(env.ctx, i.File, dump.Options{DropArchive: i.DropArchive, Partitions: i.Partitions, Progress: shown.show}, env.stderr)
	shown.clear()
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return env.dumped("imported", counts, i.File)
}

func (env *environment) dumped(done string, counts dump.Counts, file string) error {
	_, err := fmt.Fprintf(env.stdout, "%s %s and %s of the archive: %s\n", done, plural(int(counts.Keys), "key"), plural(int(counts.Messages), "message"), file)
	if err != nil {
		return fmt.Errorf("%w: %w", errOutput, err)
	}
	return nil
}
