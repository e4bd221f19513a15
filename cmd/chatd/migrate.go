package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/store/archive"
)

// migrateCommand accesses the store and the database directly, so it needs no running server.
type migrateCommand struct {
	Up     migrateUpCommand     `cmd:"" help:"Bring the layout of the store and the schema of the archive up to date, as a starting server does."`
	Status migrateStatusCommand `cmd:"" help:"List the migrations of the archive and which of them have run, and show the layout of the store."`
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
	return env.migrateBoth(c, archive.MigrateUp)
}

func (migrateStatusCommand) Run(env *environment, c node.Config) error {
	return env.migrateBoth(c, archive.MigrationStatus)
}

// migrateBoth is migrate, if there is an archive, and prints the layout of the store. A layout that this chatd does not know is an
// error that says what to do.
func (env *environment) migrateBoth(c node.Config, do func(context.Context, string) ([]archive.Migration, error)) error {
	address, err := c.ArchiveAddress()
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if address != "" {
		if err := env.print("%-8s %s\n", "database", redacted(address)); err != nil {
			return err
		}
		if err := env.migrate(c, do); err != nil {
			return err
		}
	}
	layout, err := c.Layout(env.ctx, env.stderr)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return env.print("%-8s %s\n", "layout", layout)
}

// redacted is the address of a database without a password.
func redacted(address string) string {
	if parsed, err := url.Parse(address); err == nil {
		if query := parsed.Query(); query.Has("password") {
			query.Set("password", "xxxxx")
			parsed.RawQuery = query.Encode()
		}
		return parsed.Redacted()
	}
	return address // a path, which has none
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
		if err := env.print("%-8s %s\n", state, s.Name); err != nil {
			return err
		}
	}
	return nil
}
