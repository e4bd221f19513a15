package archive

import (
	"context"
	"crypto/rand"
	"database/sql"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// dropMax bounds a step of Drop, in entries and in reactions. In a SQLite archive of a million messages, an entry takes 2 to 3 ms,
// because each of its words is overwritten, and nobody else writes meanwhile.
const dropMax = 500

// Drop implements archive.Store.
func (s *Store) Drop(ctx context.Context, log archive.Log, to int64) (more bool, err error) {
	var left bool // belongs to the writer until do returns without an error: it may still be at work where ctx has ended
	err = s.do(ctx, &write{alone: func(ctx context.Context, tx *sql.Tx) (erased bool, err error) {
		left, err = s.drop(ctx, tx, log, to)
		return true, err
	}})
	if err != nil {
		return false, err
	}
	return left, nil
}

func (s *Store) drop(ctx context.Context, tx *sql.Tx, log archive.Log, to int64) (more bool, err error) {
	r := round{store: s, tx: tx}
	var number int64
	err = r.query(ctx, `SELECT l.number FROM logs AS l WHERE l."group" = ? AND l.epoch = ?`+s.engine.lockLogs, []any{log.Group, log.Epoch},
		func(rows *sql.Rows) error { return rows.Scan(&number) })
	if err != nil || number == 0 {
		return false, err
	}
	// The highest id of this step: all up to it go, with the reactions to them.
	cut := int64(0)
	err = r.query(ctx, `SELECT coalesce(max(id), 0) FROM (SELECT id FROM entries WHERE log = ? AND id <= ? ORDER BY id LIMIT ?) AS step`,
		[]any{number, to, dropMax}, func(rows *sql.Rows) error { return rows.Scan(&cut) })
	if err != nil {
		return false, err
	}
	reactions, err := s.dropReactions(ctx, tx, number, cut)
	if err != nil || reactions == dropMax {
		return true, err
	}
	if err := r.exec(ctx, `UPDATE logs SET version = version + 1, dropped = ? WHERE number = ? AND dropped < ?`, cut, number, cut); err != nil {
		return false, err
	}
	if err := s.engine.unindex(ctx, tx, `log = ? AND id <= ?`, number, cut); err != nil {
		return false, err
	}
	entries, err := affected(tx.ExecContext(ctx, s.engine.bind(`DELETE FROM entries WHERE log = ? AND id <= ?`), number, cut))
	if err != nil || entries == dropMax {
		return true, err
	}
	if to >= chat.IDMax {
		return false, s.forget(ctx, r, number)
	}
	return false, nil
}

// forget deletes a log that has no entries left, and has all nodes read the numbers of logs again.
func (s *Store) forget(ctx context.Context, r round, number int64) error {
	if err := r.exec(ctx, `DELETE FROM logs WHERE number = ?`, number); err != nil {
		return err
	}
	return r.exec(ctx, `INSERT INTO about (name, value) VALUES ('dropped', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, rand.Text())
}

// dropReactions removes reactions to the messages up to cut, at most dropMax of them.
func (s *Store) dropReactions(ctx context.Context, tx *sql.Tx, number, cut int64) (int64, error) {
	return affected(tx.ExecContext(ctx, s.engine.bind(`DELETE FROM reactions WHERE log = ? AND (target, emoji, author) IN
		(SELECT target, emoji, author FROM reactions WHERE log = ? AND target <= ? ORDER BY target LIMIT ?)`), number, number, cut, dropMax))
}

func affected(done sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}
