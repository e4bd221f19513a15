package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/store/archive"
)

// migrateCommand accesses the database directly, so it needs no running server.
type migrateCommand struct {
	Up     migrateUpCommand     `cmd:"" help:"Bring the schema up to date, as a starting server does."`
	Status migrateStatusCommand `cmd:"" help:"List the migrations and which of them have run."`
	Down   migrateDownCommand   `cmd:"" help:"Undo the newest migration. This deletes everything in its tables."`
}

type (
	migrateUpCommand     struct{}
	migrateStatusCommand struct{}
	migrateDownCommand   struct {
		Yes bool `help:"Confirm that everything in its tables is deleted."`
	}
)

func (migrateUpCommand) Run(env *environment, c node.Config) error {
	return env.migrate(c, archive.MigrateUp)
}

func (migrateStatusCommand) Run(env *environment, c node.Config) error {
	return env.migrate(c, archive.MigrationStatus)
}

func (d migrateDownCommand) Run(env *environment, c node.Config) error {
	if !d.Yes {
		return errors.New("migrate down deletes everything in the tables of the newest migration; back up the archive, stop all servers, then repeat it with -yes")
	}
	return env.migrate(c, archive.MigrateDown)
}

// migrate changes the schema of the configured archive and prints the result.
func (env *environment) migrate(c node.Config, do func(context.Context, string) ([]archive.Migration, error)) error {
	address, err := c.ArchiveAddress()
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if address == "" {
		return errors.New("migrate: no archive is configured; set CHATD_ARCHIVE to sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")
	}
	steps, err := do(env.ctx, address)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for _, s := range steps {
		state := "pending"
		if s.Applied {
			state = "applied"
		}
		if _, err := fmt.Fprintf(env.stdout, "%-8s %s\n", state, s.Name); err != nil {
			return fmt.Errorf("%w: %w", errOutput, err)
		}
	}
	return nil
}
