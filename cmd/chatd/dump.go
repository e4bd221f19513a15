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
	JSON bool   `name:"json" help:"Print one JSON object with what was exported, for programs."`
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

	JSON bool `name:"json" help:"Print one JSON object with what was imported, for programs."`
}

func (e exportCommand) Run(env *environment, c node.Config) error {
	shown := env.progress("export", "steps")
	counts, err := c.Export(env.ctx, e.File, dump.Options{Chatd: versionLine(), Progress: shown.show}, env.stderr)
	shown.clear()
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return env.dumped(e.JSON, dumped{e.File, counts, false}, "exported")
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
	done, before := "imported", errors.Is(err, dump.ErrImported)
	if before {
		done, err = "imported before, nothing to do:", nil
	}
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return env.dumped(i.JSON, dumped{i.File, counts, before}, done)
}

// dumped is what was exported or imported.
type dumped struct {
	File string `json:"file"`
	dump.Counts
	Before bool `json:"before,omitempty"` // an earlier import had done all of it
}

func (env *environment) dumped(asJSON bool, d dumped, done string) error {
	return env.printAs(asJSON, d, fmt.Sprintf("%s %s and %s of the archive: %s", done, plural(int(d.Keys), "key"), plural(int(d.Messages), "message"), d.File))
}
