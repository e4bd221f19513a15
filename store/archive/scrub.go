package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Scrub rewrites the files of the archive, so that they hold what the archive holds now and nothing that was removed before. It
// returns a sentence for each kind of file: done for those that were, left for those that this user of the database may not, or that
// the server keeps. Nodes may go on; while PostgreSQL rewrites its tables, the archive does not answer them.
func (s *Store) Scrub(ctx context.Context) (done, left []string, err error) {
	for range checkpointTries {
		if done, left, err = s.rewrite(ctx); err == nil || s.engine.fault(err) != faultLocked {
			return done, left, err
		}
		select { // a node on a busy machine may write for longer than a statement waits
		case <-time.After(checkpointPause):
		case <-ctx.Done():
			return nil, nil, err
		}
	}
	return nil, nil, err
}

func (s *Store) rewrite(ctx context.Context) (done, left []string, err error) {
	if err := s.Connect(ctx); err != nil {
		return nil, nil, err
	}
	done, left, err = s.engine.rewrite(ctx, s.write)
	return done, left, s.failed(err)
}

// checkpointTries bounds how often the write-ahead log is emptied while others read it, and how often all begins anew while
// they write.
const (
	checkpointTries = 50
	checkpointPause = 200 * time.Millisecond
)

func (e *sqlite) rewrite(ctx context.Context, db *sql.DB) (done, left []string, err error) {
	for _, statement := range []string{`INSERT INTO search (search) VALUES ('optimize')`, `INSERT INTO log_search (log_search) VALUES ('optimize')`, `VACUUM`} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", statement, err)
		}
	}
	for range checkpointTries {
		again, err := e.scrub(ctx, db)
		if err != nil || !again {
			return []string{"SQLite: " + e.path + " and its search indexes rewritten, write-ahead log emptied"}, nil, err
		}
		select {
		case <-time.After(checkpointPause):
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	return nil, nil, fmt.Errorf("the write-ahead log %s-wal cannot be emptied while the server reads it: stop the server and repeat this", e.path)
}

// rewrite has PostgreSQL rewrite its tables, then what it knows about their columns (samples of what they hold), then its
// write-ahead log.
func (e *postgres) rewrite(ctx context.Context, db *sql.DB) (done, left []string, err error) {
	if err := e.awaitSnapshots(ctx, db); err != nil {
		return nil, nil, err
	}
	for _, table := range []string{"entries", "reactions"} {
		if _, err := db.ExecContext(ctx, "VACUUM (FULL, ANALYZE) "+table); err != nil {
			return nil, nil, fmt.Errorf("VACUUM (FULL, ANALYZE) %s: %w", table, err)
		}
	}
	done = []string{"PostgreSQL: tables entries and reactions and their indexes rewritten"}
	for _, part := range []struct {
		what, advice string
		rewrite      func(context.Context, *sql.DB) (whole bool, err error)
	}{
		{"PostgreSQL: statistics of columns", "run VACUUM (FULL) pg_statistic as the owner of the database", e.rewriteStatistics},
		{"PostgreSQL: write-ahead log", "give this user pg_checkpoint, pg_monitor and EXECUTE on pg_switch_wal, or repeat this as a superuser;" +
			" replication slots, wal_keep_size and a slow archive_command hold segments back, too", e.rewriteWAL},
	} {
		whole, err := part.rewrite(ctx, db)
		var refused *pgconn.PgError
		switch {
		case err == nil && whole:
			done = append(done, part.what+" rewritten")
		case err == nil, errors.As(err, &refused) && refused.Code == "42501":
			left = append(left, part.what+" not rewritten: "+part.advice)
		default:
			return done, left, fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return done, left, nil
}

// awaitSnapshots waits for transactions that have begun before: VACUUM keeps rows for them that are deleted. One that goes on for
// long is not waited for.
func (*postgres) awaitSnapshots(ctx context.Context, db *sql.DB) error {
	var now int64
	if err := db.QueryRowContext(ctx, `SELECT txid_current() % 4294967296`).Scan(&now); err != nil {
		return err
	}
	for range checkpointTries {
		var older bool
		err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()
			AND backend_xmin IS NOT NULL AND age(backend_xmin) >= age($1::text::xid))`, strconv.FormatInt(now, 10)).Scan(&older)
		if err != nil || !older {
			return err
		}
		select {
		case <-time.After(checkpointPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// rewriteStatistics rewrites the table of statistics. A user without the right gets a warning only, and the file stays the same.
func (*postgres) rewriteStatistics(ctx context.Context, db *sql.DB) (whole bool, err error) {
	var before, after int64
	err = db.QueryRowContext(ctx, `SELECT pg_relation_filenode('pg_statistic')`).Scan(&before)
	if err == nil {
		_, err = db.ExecContext(ctx, `VACUUM (FULL) pg_statistic`)
	}
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT pg_relation_filenode('pg_statistic')`).Scan(&after)
	}
	return before != after, err
}

const segmentsMax = 10_000 // of the write-ahead log, 160 GB

// rewriteWAL overwrites the write-ahead log. A checkpoint removes the segments before it, or renames them to be written to later
// on: so it goes through all that there are, and PostgreSQL fills each with zeros. whole is false where it holds older ones back.
func (*postgres) rewriteWAL(ctx context.Context, db *sql.DB) (whole bool, err error) {
	next := func() (written string, err error) {
		if _, err = db.ExecContext(ctx, `SELECT pg_logical_emit_message(false, 'chatd', '')`); err == nil { // an empty segment is not ended
			err = db.QueryRowContext(ctx, `SELECT pg_walfile_name(pg_switch_wal())`).Scan(&written)
		}
		return written, err
	}
	segment := func(which string) (name string, err error) {
		err = db.QueryRowContext(ctx, `SELECT `+which+`(name) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'`).Scan(&name)
		return name, err
	}
	old, err := next()
	if err != nil {
		return false, err
	}
	if _, err = db.ExecContext(ctx, "CHECKPOINT"); err != nil {
		return false, err
	}
	highest, err := segment("max")
	for n, written := 0, old; err == nil && written < highest; n++ {
		if n == segmentsMax {
			return false, nil
		}
		written, err = next()
	}
	if err != nil {
		return false, err
	}
	if _, err = db.ExecContext(ctx, "CHECKPOINT"); err != nil {
		return false, err
	}
	lowest, err := segment("min")
	return lowest > old, err
}
