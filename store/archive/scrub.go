package archive

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Scrub writes the files of the archive anew, so that they hold what the archive holds now and nothing that was removed before. It
// returns a sentence for each kind of file. Nodes may go on; while PostgreSQL writes its tables anew, the archive does not answer them.
func (s *Store) Scrub(ctx context.Context) ([]string, error) {
	done, err := s.engine.rewrite(ctx, s.write)
	return done, s.failed(err)
}

// checkpointTries bounds how often the write-ahead log is emptied while others read it.
const (
	checkpointTries = 50
	checkpointPause = 200 * time.Millisecond
)

func (e *sqlite) rewrite(ctx context.Context, db *sql.DB) ([]string, error) {
	for _, statement := range []string{`INSERT INTO search (search) VALUES ('optimize')`, `VACUUM`} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	for range checkpointTries {
		again, err := e.scrub(ctx, db)
		if err != nil || !again {
			return []string{"SQLite: " + e.path + " and its search index rewritten, write-ahead log emptied"}, err
		}
		select {
		case <-time.After(checkpointPause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return nil, fmt.Errorf("the write-ahead log %s-wal cannot be emptied while the server reads it: stop the server and repeat this", e.path)
}

func (e *postgres) rewrite(ctx context.Context, db *sql.DB) ([]string, error) {
	for _, table := range []string{"entries", "reactions"} {
		if _, err := db.ExecContext(ctx, "VACUUM (FULL) "+table); err != nil {
			return nil, fmt.Errorf("VACUUM (FULL) %s: %w", table, err)
		}
	}
	done := []string{"PostgreSQL: tables entries and reactions and their indexes rewritten"}
	if _, err := db.ExecContext(ctx, "CHECKPOINT"); err != nil {
		return append(done, "PostgreSQL: run CHECKPOINT as a superuser, because this user may not"), nil
	}
	return append(done, "PostgreSQL: pg_wal, archived segments and backups may still contain removed content until they are recycled"), nil
}
