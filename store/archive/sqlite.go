package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

const (
	sqliteBusy    = 10 * time.Second // how long a statement waits for another process that writes
	sqliteReaders = 8                // connections that read beside the writer
	pageCacheKiB  = 16 << 10         // of the writer
)

type sqlite struct {
	path        string
	write, read *sql.DB
}

func (*sqlite) name() string { return "sqlite" }

// open makes one connection that writes and a pool that only reads. What was deleted is overwritten with zeros. A commit
// waits for the disk: the store trims what was committed.
func (e *sqlite) open(ctx context.Context) (write, read *sql.DB, err error) {
	busy := fmt.Sprintf("busy_timeout(%d)", sqliteBusy.Milliseconds())
	e.write, err = e.pool(1, url.Values{"_txlock": {"immediate"}, "_pragma": {busy, "journal_mode(WAL)", "synchronous(FULL)",
		"secure_delete(ON)", fmt.Sprintf("cache_size(-%d)", pageCacheKiB)}})
	if err != nil {
		return nil, nil, err
	}
	if err = e.write.PingContext(ctx); err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", e.path, err)
	}
	e.read, err = e.pool(sqliteReaders, url.Values{"_pragma": {busy, "query_only(ON)"}})
	return e.write, e.read, err
}

func (e *sqlite) pool(size int, parameters url.Values) (*sql.DB, error) {
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: e.path}).EscapedPath(), RawQuery: parameters.Encode()}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

func (e *sqlite) close() error {
	var errs []error
	for _, db := range []*sql.DB{e.read, e.write} { // the last connection that closes removes the write-ahead log
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

func (*sqlite) bind(query string) string { return query }

func (*sqlite) pairs() string {
	return `(SELECT value ->> 0 AS a, value ->> 1 AS b FROM json_each(?)) AS w`
}

func (*sqlite) lockLogs() string { return "" } // its transactions lock everything

func (*sqlite) insert(ctx context.Context, tx *sql.Tx, rows []*row) (taken []*row, err error) {
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO entries (doc, log, id, mark, author, kind, alive, target, edits, json)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (doc) DO NOTHING`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for _, r := range rows {
		done, err := stmt.ExecContext(ctx, r.doc, r.log, r.ID, r.Mark, r.author, string(r.kind), r.alive, r.targetOrNull(), r.editsOrNull(), string(r.JSON))
		if err != nil {
			return nil, err
		}
		if n, err := done.RowsAffected(); err != nil {
			return nil, err
		} else if n == 0 {
			taken = append(taken, r)
		}
	}
	return taken, nil
}

func (*sqlite) refused(err error) bool {
	var e *driver.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_ERROR, lib.SQLITE_CONSTRAINT, lib.SQLITE_MISMATCH, lib.SQLITE_RANGE, lib.SQLITE_TOOBIG, lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return true
	}
	return false
}

func (*sqlite) conflicted(error) bool { return false }

// scrub empties the write-ahead log, which holds pages as they were.
func (*sqlite) scrub(ctx context.Context, db *sql.DB) (again bool, err error) {
	var busy, frames, moved int
	err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved)
	return busy != 0, err
}
