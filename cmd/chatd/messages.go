package main

import (
	"errors"
	"fmt"

	"github.com/chatd/chatd/chat/importer"
	"github.com/chatd/chatd/internal/node"
)

// messages makes a group of past messages.
func (i importCommand) messages(env *environment, c node.Config) error {
	shown := env.progress("import", "KiB")
	draft := importer.Draft{Group: i.Group, Name: i.Name, Owner: i.Owner, Members: i.Members, Keep: i.Keep, Lenient: i.Lenient}
	show := func(done, total int64) { shown.show(done/1024, total/1024) }
	result, err := c.ImportMessages(env.ctx, i.Messages, draft, show, env.stderr)
	shown.clear()
	switch {
	case err != nil && env.ctx.Err() != nil:
		return fmt.Errorf("import: %s: interrupted; the same command goes on from here, and with -discard instead of -messages it removes what was imported", i.Messages)
	case err != nil:
		return fmt.Errorf("import: %s: %w", i.Messages, err)
	}
	if i.JSON {
		return env.printJSON(struct {
			Group string `json:"group"`
			importer.Result
		}{i.Group, result})
	}
	done := "imported"
	if result.Before {
		done = "imported before, nothing to do:"
	}
	err = env.print("%s %s and %s into the group %s of %s\n", done, plural(int(result.Messages), "message"),
		plural(int(result.Reactions), "reaction"), i.Group, plural(int(result.Members), "member"))
	if err == nil && result.Cut+result.Dropped > 0 {
		err = env.print("cut: %d bodies that were too long; dropped: %d mentions and reactions that were too many or are not known\n", result.Cut, result.Dropped)
	}
	return err
}

func (i importCommand) discard(env *environment, c node.Config) error {
	if i.Group == "" || i.Messages != "" || i.File != "" {
		return errors.New("import: -discard takes -group ID, and no file")
	}
	found, err := c.DiscardImport(env.ctx, i.Group, env.stderr)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	said := "removed what an interrupted import left behind"
	if !found {
		said = "no import into this group was interrupted"
	}
	return env.printAs(i.JSON, map[string]any{"group": i.Group, "discarded": found}, said)
}
