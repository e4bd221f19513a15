package archive

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/chatd/chatd/chat/archive/tokens"
)

// SQLite has a second index of words, log_search, in which the entries of a log lie together. If few entries of the few logs of a
// search have one of its words, all of them are read, whatever else is in the archive. If many have each word, the first index finds
// the newest quickly.

const (
	// fewMax is how many entries are few, where a page needs less than half as many. They are all read, to sort them by time.
	fewMax = 250
	// fewLogs bounds the logs, for each is looked up by itself: in more of them, the first index finds an entry about as fast, unless
	// the archive is far larger than a million entries.
	fewLogs = 8
	// fewWords is how many words of a search are tried.
	fewWords = 2
	// fillStep is how many entries of an archive written by an older version are indexed in one transaction.
	fillStep = 5_000
)

// logRow is the row of an entry in log_search, unless its log or its id is too large to have one.
func logRow(log, id int64) (rowid int64, ok bool) {
	const idBits = 32
	return log<<idBits | id, log < 1<<(63-idBits) && id < 1<<idBits
}

// logSpans are the rows of the entries that may be found, unless some may have no row.
func logSpans(visible []logRange) (spans []pair, ok bool) {
	for _, v := range visible {
		low, ok1 := logRow(v.number, v.From)
		high, ok2 := logRow(v.number, v.To)
		if !ok1 || !ok2 {
			return nil, false
		}
		spans = append(spans, pair{low, high})
	}
	return spans, true
}

// rareWords are the words of a search that are likely to be the rarest: long ones.
func rareWords(q tokens.Query) (words []string) {
	for _, t := range q.Terms {
		whole := t.Tokens
		if t.Prefix {
			whole = whole[:len(whole)-1]
		}
		if !t.Not {
			words = append(words, whole...)
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return words[:min(len(words), fewWords)]
}

// few finds all entries that may match, if they are few. It asks log_search for one word at a time: for two, FTS5
// would go on through other logs until it finds an entry that has both. Its two statements see one state of the archive.
func (e *sqlite) few(ctx context.Context, q *question) (*plan, error) {
	spans, ok := logSpans(q.visible)
	words := rareWords(q.wanted)
	if !ok || len(q.visible) > fewLogs || len(words) == 0 {
		return nil, nil
	}
	tx, err := e.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	most := max(e.fewMax, 2*q.limit())
	for _, word := range words {
		var n int
		var rows string
		err := tx.QueryRowContext(ctx, `SELECT count(*), json_group_array(r) FROM (SELECT s.rowid AS r FROM `+sqlitePairs+` CROSS JOIN log_search AS s
			WHERE s.log_search MATCH ? AND s.rowid BETWEEN w.a AND w.b LIMIT ?)`, encodePairs(spans), `"`+word+`"`, most+1).Scan(&n, &rows)
		if err != nil {
			return nil, errors.Join(err, tx.Rollback())
		}
		if n <= most {
			return &plan{tx: tx, check: besides(q.wanted), query: `SELECT e.doc, e.log, e.id, e.mark, e.edits, e.json FROM json_each(?) AS r CROSS JOIN entries AS e
				ON e.log = r.value >> 32 AND e.id = r.value & 0xffffffff
				WHERE ? IN ('', e.author) AND ? IN ('', e.kind) AND e.doc BETWEEN ? AND ? ORDER BY e.doc DESC`,
				args: []any{rows, q.From, string(q.Kind), q.low, q.top}}, nil
		}
	}
	return nil, tx.Rollback()
}

// besides is what remains to be checked of entries that have one of the words.
func besides(wanted tokens.Query) tokens.Query {
	if len(wanted.Terms) == 1 && wanted.Terms[0].Word() {
		return tokens.Query{}
	}
	return wanted
}

const (
	indexInLogs   = `INSERT INTO log_search (rowid, words) VALUES (?, ?)`
	unindexInLogs = `INSERT INTO log_search (log_search, rowid, words) VALUES ('delete', ?, ?)`
)

// inLogs runs a statement of log_search for each entry that has a row there, in the order of these: the index starts another part
// of itself at each that is lower than the one before.
func (e *sqlite) inLogs(ctx context.Context, tx *sql.Tx, statement string, list []*row) (err error) {
	stmt, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	slices.SortFunc(list, func(a, b *row) int { return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.ID, b.ID)) })
	for _, r := range list {
		if rowid, ok := logRow(r.log, r.ID); ok {
			if _, err := stmt.ExecContext(ctx, rowid, r.index(ftsText)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill indexes at most step entries of an archive written by an older version in log_search. Each step is a transaction that notes how far it came:
// after an interruption, the next call goes on.
func (e *sqlite) fill(ctx context.Context, db *sql.DB, step int) (more bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var tables int
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'log_search_to'`).Scan(&tables)
	if err != nil || tables == 0 { // another process was faster
		return false, err
	}
	var log, id int64
	if err := tx.QueryRowContext(ctx, `SELECT log, id FROM log_search_to`).Scan(&log, &id); err != nil {
		return false, err
	}
	last, err := e.fillAfter(ctx, tx, log, id, step)
	if err != nil || last == nil {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE log_search_to SET log = ?, id = ?`, last.log, last.ID); err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// fillAfter indexes at most step entries behind one, and returns the last of them.
func (e *sqlite) fillAfter(ctx context.Context, tx *sql.Tx, log, id int64, step int) (last *row, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT doc, log, id, mark, edits, json FROM entries WHERE (log, id) > (?, ?) AND alive ORDER BY log, id LIMIT ?`,
		log, id, step)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if last, err = scanRow(rows); err != nil {
			return nil, err
		}
		if err := e.inLogs(ctx, tx, indexInLogs, []*row{last}); err != nil {
			return nil, err
		}
	}
	return last, rows.Err()
}
