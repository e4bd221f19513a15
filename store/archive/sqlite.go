package archive

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	sqlitedriver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/chatd/chatd/chat/archive/tokens"
	"github.com/chatd/chatd/queue/backoff"
)

const (
	sqliteBusy    = 10 * time.Second // how long a statement waits for another process that writes
	sqliteReaders = 8                // connections that read beside the writer
	pageCacheKiB  = 16 << 10         // of the writer
)

type sqlite struct {
	path        string
	fewMax      int
	write, read *sql.DB
}

const sqlitePairs = `(SELECT value ->> 0 AS a, value ->> 1 AS b FROM json_each(?)) AS w`

func (e *sqlite) dialect() dialect {
	return dialect{
		name: "sqlite", migrations: goose.DialectSQLite3, moves: []move{{5, moveStep, moveEntries}, {7, fillStep, e.fill}},
		tables: `SELECT count(*) FROM sqlite_master WHERE name = ?`,
		pairs:  sqlitePairs, names: sqlitePairs,
		lockLogs: "",                           // its transactions lock everything
		byTarget: " INDEXED BY entries_target", // without it, the whole log would be read, because its entries are at hand there
		authored: `SELECT e.doc, l."group", l.epoch, e.id FROM search AS s CROSS JOIN entries AS e ON e.doc = s.rowid CROSS JOIN logs AS l ON l.number = e.log
			WHERE s.search MATCH ? AND e.author = ? AND s.rowid > ? ORDER BY s.rowid LIMIT ?`,
		facet:   `facets : "%s"`,
		writers: 1, // the database takes no more
		words:   ftsText, finders: []finder{e.few, e.index},
	}
}

// open makes one connection that writes and a pool that only reads. What was deleted is overwritten with zeros. A commit
// waits for the disk: the store trims what was committed.
func (e *sqlite) open(ctx context.Context) (write, read *sql.DB, err error) {
	if err := registerFunctions(); err != nil {
		return nil, nil, err
	}
	if err := e.makeFile(); err != nil {
		return nil, nil, err
	}
	busy := fmt.Sprintf("busy_timeout(%d)", sqliteBusy.Milliseconds())
	e.write, err = e.pool(1, url.Values{"_txlock": {"immediate"}, "_pragma": {busy, "journal_mode(WAL)", "synchronous(FULL)",
		"secure_delete(ON)", fmt.Sprintf("cache_size(-%d)", pageCacheKiB)}})
	if err != nil {
		return nil, nil, err
	}
	if err = e.connect(ctx); err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", e.path, err)
	}
	e.read, err = e.pool(sqliteReaders, url.Values{"_pragma": {busy, "query_only(ON)"}})
	return e.write, e.read, err
}

// connect makes the first connection of the writer. It turns the write-ahead log on, which fails at once where another
// process opens or closes the database, without waiting as statements do: it tries until ctx ends.
func (e *sqlite) connect(ctx context.Context) error {
	again := backoff.Backoff{Min: 5 * time.Millisecond, Max: 200 * time.Millisecond}
	for {
		err := e.write.PingContext(ctx)
		if err == nil || e.fault(err) != faultLocked {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(again.Next()):
		}
	}
}

// makeFile makes the file where there is none, for its owner alone; the write-ahead log takes its rights after it.
func (e *sqlite) makeFile() error {
	file, err := os.OpenFile(e.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
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

// insert goes by time: the index of words starts another part of itself at each entry that is older than the one before.
func (e *sqlite) insert(ctx context.Context, tx *sql.Tx, rows []*row) (taken []*row, err error) {
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO entries (doc, log, id, mark, author, kind, alive, target, edits, json)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (doc) DO NOTHING`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	index, err := tx.PrepareContext(ctx, `INSERT INTO search (rowid, words, facets) VALUES (?, ?, ?)`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, index.Close()) }()
	var indexed []*row
	for _, r := range slices.SortedFunc(slices.Values(rows), func(a, b *row) int { return cmp.Compare(a.doc, b.doc) }) {
		done, err := stmt.ExecContext(ctx, r.doc, r.log, r.ID, r.Mark, r.author, string(r.kind), r.alive, r.targetOrNull(), r.editsOrNull(), string(r.JSON))
		if err != nil {
			return nil, err
		}
		if n, err := done.RowsAffected(); err != nil {
			return nil, err
		} else if n == 0 {
			taken = append(taken, r)
		} else if r.alive {
			if _, err := index.ExecContext(ctx, r.doc, r.index(ftsText), strings.Join(r.facets(), " ")); err != nil {
				return nil, err
			}
			indexed = append(indexed, r)
		}
	}
	return taken, e.inLogs(ctx, tx, indexInLogs, indexed)
}

// unindexStep bounds the entries that are held in memory while they are taken out of the index.
const unindexStep = 200

// unindex tells the indexes what they have of each entry: they keep no text.
func (e *sqlite) unindex(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	for after := int64(-1); ; {
		list, err := e.indexed(ctx, tx, where, append(args[:len(args):len(args)], after, unindexStep))
		if err != nil {
			return err
		}
		for _, r := range list {
			after = r.doc
			_, err := tx.ExecContext(ctx, `INSERT INTO search (search, rowid, words, facets) VALUES ('delete', ?, ?, ?)`,
				r.doc, r.index(ftsText), strings.Join(r.facets(), " "))
			if err != nil {
				return err
			}
		}
		if err := e.inLogs(ctx, tx, unindexInLogs, list); err != nil {
			return err
		}
		if len(list) < unindexStep {
			return e.writeIndexes(ctx, tx)
		}
	}
}

// writeIndexes has FTS5 write what it holds in memory, as it does at a savepoint. Where an entry is taken out of log_search and put
// in again before that, FTS5 3.53 loses the entries that come after it in the list of each of its words.
func (*sqlite) writeIndexes(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `SAVEPOINT indexed; RELEASE indexed`)
	return err
}

func (*sqlite) indexed(ctx context.Context, tx *sql.Tx, where string, args []any) (list []*row, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT doc, log, id, mark, edits, json FROM entries WHERE alive AND `+where+` AND doc > ? ORDER BY doc LIMIT ?`, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, err := scanRow(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// index walks the index from the highest doc down, and looks at entries only until it has enough.
func (e *sqlite) index(ctx context.Context, q *question) (*plan, error) {
	asked, checked, err := q.split(ctx, e.rare)
	if err != nil {
		return nil, err
	}
	handle, done := lend(lending{q.visible, checked})
	p := &plan{done: done, args: []any{handle}, query: `SELECT e.doc, e.log, e.id, e.mark, e.edits, e.json
		FROM search AS s CROSS JOIN entries AS d INDEXED BY entries_doc ON d.doc = s.rowid
		CROSS JOIN entries AS e ON e.log = d.log AND e.id = d.id WHERE ` + visibleFunction + `(?, d.log, d.id)`}
	if len(checked.Terms) > 0 {
		p.query, p.args = p.query+` AND `+hasFunction+`(?, e.json)`, append(p.args, handle)
	}
	p.query += ` AND s.search MATCH ? AND s.rowid BETWEEN ? AND ? ORDER BY s.rowid DESC LIMIT ?`
	p.args = append(p.args, ftsMatch(asked, q.logFacets()), q.low, q.top, q.limit())
	return p, nil
}

const (
	// spanOf is how many of the newest entries with a word tell how frequent it is.
	spanOf = 17
	// rarer is how many times as frequent a word is that is not asked for: so many that each entry with the rare word is in another
	// page of its list.
	rarer = 256
)

// rare finds the word that the fewest entries have, if it is rare, and leaves out those that are far more frequent.
func (e *sqlite) rare(ctx context.Context, words []string, q *question) (asked []bool, err error) {
	asked = slices.Repeat([]bool{true}, len(words))
	newest, ends := int64(0), make([]int64, len(words)) // ends: the oldest of spanOf entries
	rarest, known := 0, false
	for i, word := range words {
		n, first, last, err := e.newestWith(ctx, word, q, spanOf)
		if err != nil {
			return nil, err
		}
		if n < spanOf {
			last = q.low
		}
		newest, ends[i] = max(newest, first), last
		if ends[i] <= ends[rarest] {
			rarest, known = i, n < spanOf
		}
	}
	if !known {
		n, _, _, err := e.newestWith(ctx, words[rarest], q, rareTimes*q.limit())
		if err != nil || n == rareTimes*q.limit() {
			return asked, err
		}
	}
	for i, end := range ends {
		asked[i] = i == rarest || (newest-end) > (newest-ends[rarest])/rarer
	}
	return asked, nil
}

// newestWith counts the newest entries with a word, at most limit, and tells where they begin and end.
func (e *sqlite) newestWith(ctx context.Context, word string, q *question, limit int) (n int, first, last int64, err error) {
	err = e.read.QueryRowContext(ctx, `SELECT count(*), coalesce(max(rowid), 0), coalesce(min(rowid), 0)
		FROM (SELECT rowid FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?)`,
		ftsMatch(tokens.Query{Terms: []tokens.Term{{Tokens: []string{word}}}}, nil), q.low, q.top, limit).Scan(&n, &first, &last)
	return n, first, last, err
}

func (*sqlite) fault(err error) fault {
	var e *sqlitedriver.Error
	if !errors.As(err, &e) {
		return faultAway
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_ERROR, lib.SQLITE_CONSTRAINT, lib.SQLITE_MISMATCH, lib.SQLITE_RANGE, lib.SQLITE_TOOBIG, lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return faultRefused
	case lib.SQLITE_BUSY:
		return faultLocked
	}
	return faultAway
}

// scrub empties the write-ahead log, which holds pages as they were.
func (*sqlite) scrub(ctx context.Context, db *sql.DB) (again bool, err error) {
	var busy, frames, moved int
	err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved)
	return busy != 0, err
}
