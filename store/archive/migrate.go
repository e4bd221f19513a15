package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/chatd/chatd/migrations"
)

// versionTable is where goose notes which migrations have run.
const versionTable = "chatd_migrations"

const (
	// migrateTries bounds how often a step is tried that another node runs at the same time.
	migrateTries = 5
	// lockTries bounds how long a node waits while another one migrates, in seconds: a day.
	lockTries = 24 * 60 * 60
)

// Migration is a step of the schema.
type Migration struct {
	Version int64
	Name    string // of its file
	Applied bool
}

// MigrateUp brings the schema of the archive at url up to date and returns the steps that there are.
func MigrateUp(ctx context.Context, url string) ([]Migration, error) {
	return migrate(ctx, url, migrateUp)
}

// MigrateDown takes the newest step of the schema back, with what it holds.
func MigrateDown(ctx context.Context, url string) ([]Migration, error) {
	return migrate(ctx, url, func(ctx context.Context, e *engine, db *sql.DB) error {
		p, err := provider(e, db)
		if err != nil {
			return err
		}
		if err := checkSchema(ctx, p); err != nil {
			return err
		}
		if err := onceEach(ctx, e, db); err != nil {
			return err
		}
		_, err = p.Down(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return errors.New("archive: the database is empty: there is no migration to take back")
		}
		return err
	})
}

// MigrationStatus returns the steps of the schema and which of them the archive at url has. It changes nothing: where there is no
// database, or none of chatd's tables in it, every step is pending.
func MigrationStatus(ctx context.Context, url string) ([]Migration, error) {
	steps, err := look(ctx, url, func(ctx context.Context, e *engine, db *sql.DB) error {
		p, err := provider(e, db)
		if err != nil {
			return err
		}
		return checkSchema(ctx, p)
	})
	if errors.Is(err, errNoTables) {
		e, err := engineOf(url)
		if err != nil {
			return nil, err
		}
		return pending(e)
	}
	return steps, err
}

// look is migrate for what changes nothing: it makes no database and no table. Without them it fails with errNoTables.
func look(ctx context.Context, url string, do func(context.Context, *engine, *sql.DB) error) ([]Migration, error) {
	e, err := engineOf(url)
	if err != nil {
		return nil, err
	}
	if file, ok := e.driver.(*sqlite); ok {
		if _, err := os.Stat(file.path); errors.Is(err, fs.ErrNotExist) {
			return nil, errNoTables
		}
	}
	return migrate(ctx, url, func(ctx context.Context, e *engine, db *sql.DB) error {
		var n int
		if err := db.QueryRowContext(ctx, e.bind(e.tables), versionTable).Scan(&n); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		if n == 0 {
			return errNoTables
		}
		return do(ctx, e, db)
	})
}

// errNoTables says that no migration has run.
var errNoTables = errors.New("archive: no migration has run")

// pending lists the steps, none of which has run.
func pending(e *engine) (steps []Migration, err error) {
	names, err := fs.Glob(migrations.Files, e.name+"/*.sql")
	for _, name := range names {
		step := Migration{Name: path.Base(name)}
		number, _, _ := strings.Cut(step.Name, "_")
		if step.Version, err = strconv.ParseInt(number, 10, 64); err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, err
}

func migrate(ctx context.Context, url string, do func(context.Context, *engine, *sql.DB) error) (steps []Migration, err error) {
	e, err := engineOf(url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	var db *sql.DB
	err = inTime(ctx, func(ctx context.Context) (err error) {
		db, _, err = e.open(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := do(ctx, e, db); err != nil {
		return nil, err
	}
	p, err := provider(e, db)
	if err != nil {
		return nil, err
	}
	states, err := p.Status(ctx)
	for _, state := range states {
		steps = append(steps, Migration{state.Source.Version, state.Source.Path, state.State == goose.StateApplied})
	}
	return steps, err
}

// provider runs the migrations of an engine. On PostgreSQL, one node does while others wait; SQLite runs each migration
// in a transaction that excludes others, which fails where another one has run it meanwhile (onceEach).
func provider(e *engine, db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations.Files, e.name)
	if err != nil {
		return nil, err
	}
	options := []goose.ProviderOption{goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true)}
	if e.migrations == goose.DialectPostgres {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, lockTries))
		if err != nil {
			return nil, err
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(e.migrations, db, files, options...)
}

// migrateUp runs the migrations that are missing. Where another node runs one, it waits until that is done, and looks again.
func migrateUp(ctx context.Context, e *engine, db *sql.DB) error {
	p, err := provider(e, db)
	if err != nil {
		return err
	}
	at := int64(0) // the version that the tries began at
	for tries := 1; ; tries++ {
		err = inTime(ctx, func(ctx context.Context) error {
			if err := checkSchema(ctx, p); err != nil {
				return err
			}
			return onceEach(ctx, e, db)
		})
		if err != nil && e.fault(err) != faultLocked {
			return err
		}
		if err == nil {
			if err = up(ctx, p, e, db); err == nil {
				return nil
			}
		}
		if has, err := p.GetDBVersion(ctx); err == nil && has > at { // this one or another has come further
			at, tries = has, 0
		}
		if ctx.Err() != nil || tries >= migrateTries && e.fault(err) != faultLocked {
			return fmt.Errorf("archive: migration: %w; the steps before this one are complete, and nothing of it is: fix the cause and start again", err)
		}
	}
}

// onceEach has the table of versions refuse a step that is in it: a process that found a step missing before another one ran it
// would run it again, which undoes what later steps did. The transaction of a step that is refused is taken back.
func onceEach(ctx context.Context, e *engine, db *sql.DB) error {
	if e.migrations != goose.DialectSQLite3 {
		return nil
	}
	const index = versionTable + "_once"
	var n int
	if err := db.QueryRowContext(ctx, e.bind(e.tables), index).Scan(&n); err != nil || n > 0 {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, query := range []string{
		`DELETE FROM ` + versionTable + ` WHERE id NOT IN (SELECT min(id) FROM ` + versionTable + ` GROUP BY version_id)`,
		`CREATE UNIQUE INDEX IF NOT EXISTS ` + index + ` ON ` + versionTable + ` (version_id)`,
	} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// move is what an engine does itself between the version of the schema and the next one. It may be interrupted, repeated, and done by
// several processes at once.
type move struct {
	version int64
	step    int                                                                    // entries in one transaction
	run     func(ctx context.Context, db *sql.DB, step int) (more bool, err error) // one step
}

// all runs every step.
func (m move) all(ctx context.Context, db *sql.DB) error {
	for more := true; more; {
		var err error
		if more, err = m.run(ctx, db, m.step); err != nil {
			return err
		}
	}
	return nil
}

// up runs the migrations in their order, and between two of them what the engine does itself.
func up(ctx context.Context, p *goose.Provider, e *engine, db *sql.DB) error {
	for _, m := range e.moves {
		has, err := p.GetDBVersion(ctx)
		if err == nil && has <= m.version {
			if _, err = p.UpTo(ctx, m.version); err == nil {
				err = m.all(ctx, db)
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := p.Up(ctx)
	return err
}

// checkSchema refuses a schema that this program must not touch.
func checkSchema(ctx context.Context, p *goose.Provider) error {
	has, knows, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if has > knows {
		return fmt.Errorf("archive: the schema has version %d, and this chatd knows %d: run the chatd that made it or a newer one, "+
			"or take the schema back with its `chatd migrate down`", has, knows)
	}
	steps, err := p.Status(ctx)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	missing := slices.IndexFunc(steps, func(s *goose.MigrationStatus) bool { return s.State == goose.StatePending })
	if missing >= 0 && steps[missing].Source.Version < has {
		return fmt.Errorf("archive: the schema has version %d, but not %d: it is migrated by half. Restore the database from a backup, "+
			"or point CHATD_ARCHIVE to an empty one", has, steps[missing].Source.Version)
	}
	return nil
}
