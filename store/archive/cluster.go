package archive

import (
	"context"
	"database/sql"
	"errors"
)

// moveStep is how many entries change tables in one transaction: about 10 MB of them.
const moveStep = 20_000

// moveEntries moves at most step entries of an archive written by an older version to the table in which those of a log lie together. Each step is a
// transaction that removes what it has moved: after an interruption, the next call goes on, and the file hardly grows.
func moveEntries(ctx context.Context, db *sql.DB, step int) (more bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var tables int
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'entries_by_time'`).Scan(&tables)
	if err != nil || tables == 0 { // another process was faster
		return false, err
	}
	var last sql.NullInt64
	err = tx.QueryRowContext(ctx, `SELECT max(doc) FROM (SELECT doc FROM entries_by_time ORDER BY doc LIMIT ?)`, step).Scan(&last)
	if err != nil || !last.Valid {
		return false, err
	}
	_, insert := tx.ExecContext(ctx, `INSERT INTO entries (doc, log, id, mark, author, kind, alive, target, edits, json)
		SELECT doc, log, id, mark, author, kind, alive, target, edits, json FROM entries_by_time WHERE doc <= ?`, last.Int64)
	if insert == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM entries_by_time WHERE doc <= ?`, last.Int64)
	}
	if err := errors.Join(insert, err); err != nil {
		return false, err
	}
	return true, tx.Commit()
}
