package main

import (
	"errors"
	"fmt"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/store/dump"
)

// exportCommand copies the store itself, so no server may run on it.
type exportCommand struct {
	File string `arg:"" help:"File to write. It contains everything, including secrets, and only you may read it."`
}

// importCommand fills an empty store from such a file, or a new group with past messages of another system.
type importCommand struct {
	File        string `arg:"" optional:"" help:"File written by chatd export."`
	DropArchive bool   `help:"Leave the archive out: messages that were trimmed from the store are lost."`
	Partitions  int    `help:"Number of partitions of the keys. Default: that of the exported store."`

	Messages string   `placeholder:"FILE" help:"Instead, make a new group of messages of another system: one JSON object per line, plain or compressed by zstd, - for standard input; see docs/history.md."`
	Group    string   `help:"Id of the new group."`
	Owner    string   `help:"User who owns the new group."`
	Name     string   `help:"Name of the new group."`
	Members  []string `placeholder:"USER,..." help:"Its other members. Default: everyone who wrote or reacted."`
	Keep     *int64   `help:"How many of its messages Redis keeps although everyone has seen them. Default: 100."`
	Lenient  bool     `help:"Cut bodies that are too long, and drop mentions and reactions that are too many, instead of refusing the file."`
	Discard  bool     `help:"Remove what an interrupted import of messages into this group left behind."`
}

func (e exportCommand) Run(env *environment, c node.Config) error {
	shown := env.progress("export", "steps")
	counts, err := c.Export(env.ctx, e.File, dump.Options{Chatd: versionLine(), Progress: shown.show}, env.stderr)
	shown.clear()
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return env.dumped("exported", counts, e.File)
}

func (i importCommand) Run(env *environment, c node.Config) error {
	switch ofGroup := i.Group != "" || i.Owner != "" || i.Name != "" || len(i.Members) > 0 || i.Keep != nil || i.Lenient; {
	case i.Discard:
		return i.discard(env, c)
	case i.Messages != "" && i.File == "" && !i.DropArchive:
		return i.messages(env, c)
	case i.Messages != "":
		return errors.New("import: -messages makes a group of messages, FILE fills an empty store: want one of them")
	case i.File == "":
		return errors.New("import: want a FILE that chatd export wrote, or -messages FILE -group ID -owner USER")
	case ofGroup:
		return errors.New("import: -group, -owner, -name, -members, -keep and -lenient are for -messages FILE")
	}
	shown := env.progress("import", "lines")
	counts, err := c.Import(env.ctx, i.File, dump.Options{DropArchive: i.DropArchive, Partitions: i.Partitions, Progress: shown.show}, env.stderr)
	shown.clear()
	done := "imported"
	if errors.Is(err, dump.ErrImported) {
		done, err = "imported before, nothing to do:", nil
	}
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return env.dumped(done, counts, i.File)
}

func (env *environment) dumped(done string, counts dump.Counts, file string) error {
	return env.print("%s %s and %s of the archive: %s\n", done, plural(int(counts.Keys), "key"), plural(int(counts.Messages), "message"), file)
}
