package archive

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

const (
	postgresWriters = 3  // enough for one to compute while another waits for the disk
	postgresConns   = 12 // of a node, where its address names no other number: writers, searches, and pages beside them
)

type postgres struct {
	url      string
	pool     *pgxpool.Pool
	db       *sql.DB
	shares   shares
	settling sync.Mutex
}

func (e *postgres) dialect() dialect {
	return dialect{
		name: "postgres", migrations: goose.DialectPostgres,
		tables: `SELECT count(to_regclass(?))`, numbered: true,
		pairs:    `(SELECT (v ->> 0)::bigint AS a, (v ->> 1)::bigint AS b FROM jsonb_array_elements(?::jsonb) AS v) AS w`,
		names:    `(SELECT v ->> 0 AS a, v ->> 1 AS b FROM jsonb_array_elements(?::jsonb) AS v) AS w`,
		lockLogs: " FOR UPDATE OF l",
		authored: `SELECT e.doc, l."group", l.epoch, e.id FROM entries AS e JOIN logs AS l ON l.number = e.log
			WHERE e.words @@ ?::text::tsquery AND e.author = ? AND e.doc > ? ORDER BY e.doc LIMIT ?`,
		facet:   "':%s'",
		writers: postgresWriters, settles: true,
		words: tsWords, finders: []finder{e.walk, e.index},
	}
}

func (e *postgres) open(ctx context.Context) (write, read *sql.DB, err error) {
	config, err := pgxpool.ParseConfig(e.url)
	if err != nil {
		return nil, nil, err
	}
	if !strings.Contains(e.url, "pool_max_conns") {
		config.MaxConns = postgresConns
	}
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_custom_plan" // a search is planned by its words
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		registerBigints(conn.TypeMap())
		return nil
	}
	if e.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, nil, err
	}
	e.db = stdlib.OpenDBFromPool(e.pool)
	return e.db, e.db, e.db.PingContext(ctx)
}

func (e *postgres) close() error {
	if e.pool == nil {
		return nil
	}
	err := e.db.Close()
	e.pool.Close()
	return err
}

func (e *postgres) insert(ctx context.Context, tx *sql.Tx, rows []*row) (taken []*row, err error) {
	n := len(rows)
	docs, logs, ids, targets := make([]int64, n), make([]int64, n), make([]int64, n), make([]*int64, n)
	marks, authors, kinds, texts, edits := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]*string, n)
	alive, words := make([]bool, n), make([]*string, n)
	waiting := make(map[int64]*row, n)
	for i, r := range rows {
		docs[i], logs[i], ids[i], targets[i], edits[i] = r.doc, r.log, r.ID, r.targetOrNull(), r.editsOrNull()
		marks[i], authors[i], kinds[i], alive[i], texts[i] = r.Mark, r.author, string(r.kind), r.alive, string(r.JSON)
		waiting[r.doc] = r
		if r.alive {
			vector := r.index(tsWords) + tsFacets(r.facets())
			words[i] = &vector
		}
	}
	inserted, err := tx.QueryContext(ctx, `INSERT INTO entries (doc, log, id, mark, author, kind, alive, target, edits, json, words)
		SELECT doc, log, id, mark, author, kind, alive, target, edits, json, words::tsvector FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::bigint[], $9::text[], $10::text[], $11::text[])
		AS r (doc, log, id, mark, author, kind, alive, target, edits, json, words)
		ON CONFLICT (doc) DO NOTHING RETURNING doc`, docs, logs, ids, marks, authors, kinds, alive, targets, edits, texts, words)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, inserted.Close()) }()
	for inserted.Next() {
		var doc int64
		if err := inserted.Scan(&doc); err != nil {
			return nil, err
		}
		delete(waiting, doc)
	}
	for _, r := range rows {
		if waiting[r.doc] != nil {
			taken = append(taken, r)
		}
	}
	return taken, inserted.Err()
}

// unindex has nothing to do: the index holds what the rows hold.
func (*postgres) unindex(context.Context, *sql.Tx, string, ...any) error { return nil }

// index leaves it to PostgreSQL whether it asks the index of words, or walks down from the highest doc: it knows how
// frequent the words are. What may be seen are sorted arrays, not a table: joined with one, it would read every entry of every
// log. The CASE keeps its guesses about ids out of this decision.
//
// What is checked is no condition of the index: IS TRUE keeps it from that.
func (e *postgres) index(ctx context.Context, q *question) (*plan, error) {
	asked, checked, err := q.split(ctx, e.rare)
	if err != nil {
		return nil, err
	}
	n, cut := len(q.visible), false
	logs, lowest, highest := make([]int64, n), make([]int64, n), make([]int64, n)
	for i, v := range q.visible {
		logs[i], lowest[i], highest[i] = v.number, v.From, v.To
		cut = cut || v.From > 1
	}
	if !cut {
		lowest = nil // each log from its first id, which is usual: an array less to send and to read
	}
	p := &plan{args: []any{logs, lowest, highest, tsQuery(asked, q.logFacets())}, query: `SELECT e.doc, e.log, e.id, e.mark, e.edits, e.json
		FROM (SELECT ?::bigint[] AS logs, ?::bigint[] AS lowest, ?::bigint[] AS highest) AS v, entries AS e
		WHERE CASE WHEN v.logs[width_bucket(e.log, v.logs)] = e.log
			THEN e.id BETWEEN coalesce(v.lowest[width_bucket(e.log, v.logs)], 1) AND v.highest[width_bucket(e.log, v.logs)] ELSE false END
		AND e.words @@ ?::text::tsquery`}
	if len(checked.Terms) > 0 {
		p.query, p.args = p.query+` AND (e.words @@ ?::text::tsquery) IS TRUE`, append(p.args, tsQuery(checked, nil))
	}
	p.query += ` AND e.doc BETWEEN ? AND ? ORDER BY e.doc DESC LIMIT ?`
	p.args = append(p.args, q.low, q.top, q.limit())
	return p, nil
}

// rare words are those that PostgreSQL does not count as frequent.
func (e *postgres) rare(ctx context.Context, words []string, _ *question) (asked []bool, err error) {
	of, err := e.shares.get(ctx, e.db)
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		asked = append(asked, len(of) > 0 && of[word] == 0)
	}
	return asked, nil
}

// fault counts as away what time may mend: connections, resources, shutdowns.
func (*postgres) fault(err error) fault {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return faultAway
	}
	switch e.Code[:2] {
	case "40":
		return faultConflicted
	case "08", "53", "55", "57", "58":
		return faultAway
	}
	return faultRefused
}

// scrub merges into the index of words what waits to be: each search reads all of that. What VACUUM frees is overwritten in its
// time.
func (e *postgres) scrub(ctx context.Context, db *sql.DB) (again bool, err error) {
	if !e.settling.TryLock() {
		return true, nil // what was written meanwhile comes next time
	}
	defer e.settling.Unlock()
	_, err = db.ExecContext(ctx, `SELECT gin_clean_pending_list('entries_words')`)
	if err != nil && e.fault(err) == faultRefused {
		return false, nil // not the owner: PostgreSQL does it by itself, later
	}
	return false, err
}
