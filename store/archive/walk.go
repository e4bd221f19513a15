package archive

import (
	"context"
	"database/sql"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/chat/archive/tokens"
)

const (
	// walkMax is how many of the newest entries of the caller's logs a search looks at before it asks the index: in PostgreSQL,
	// the index lists the entries with a word in all logs before it compares them with those of the caller.
	walkMax = 2_000
	// walkSpare is how many times as many entries it looks at as a page needs, if the words are as frequent here as elsewhere.
	walkSpare = 4
	sharesAge = time.Minute
)

// shares are the words that PostgreSQL counts as frequent, with the share of the entries that have them.
type shares struct {
	mu   sync.Mutex
	read time.Time
	of   map[string]float64
}

func (s *shares) get(ctx context.Context, db *sql.DB) (of map[string]float64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of != nil && time.Since(s.read) < sharesAge {
		return s.of, nil
	}
	rows, err := db.QueryContext(ctx, `SELECT u.word, u.share FROM pg_stats AS s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs)
		AS u (word, share) WHERE s.schemaname = current_schema() AND s.tablename = 'entries' AND s.attname = 'words' AND u.word IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	of = map[string]float64{}
	for rows.Next() {
		var word string
		var share float64
		if err := rows.Scan(&word, &share); err != nil {
			return nil, err
		}
		of[word] = share
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	s.read, s.of = time.Now(), of
	return of, nil
}

// shareOf is about how many of all entries a search finds. Phrases and beginnings of words count as rare: nothing is known of
// them.
func shareOf(q tokens.Query, facets [][]string, of map[string]float64) float64 {
	share := 1.0
	for _, t := range q.Terms {
		switch {
		case t.Not:
			share *= 1 - of[t.Tokens[0]]
		case t.Prefix || len(t.Tokens) > 1:
			return 0
		default:
			share *= of[t.Tokens[0]]
		}
	}
	for _, some := range facets {
		among := 0.0
		for _, facet := range some {
			among += of[":"+facet]
		}
		share *= min(among, 1)
	}
	return share
}

// walk merges the newest entries of each log, and stops as soon as it has a page.
func (e *postgres) walk(ctx context.Context, q *question) (*plan, error) {
	if len(q.visible) > facetsMax {
		return nil, nil
	}
	of, err := e.shares.get(ctx, e.db)
	if err != nil {
		return nil, err
	}
	share := shareOf(q.wanted, q.facets(), of)
	if share*walkMax < float64(walkSpare*q.limit()) {
		return nil, nil
	}
	depth := strconv.Itoa(int(float64(walkSpare*q.limit()) / share))
	// While it plans, PostgreSQL looks up the first or the last doc for each bound that is near it, and that for each log.
	var bounds string
	var docs, args []any
	if q.low > 0 {
		bounds, docs = ` AND doc >= ?`, append(docs, q.low)
	}
	if q.top < math.MaxInt64 {
		bounds, docs = bounds+` AND doc <= ?`, append(docs, q.top)
	}
	parts := make([]string, len(q.visible))
	for i, v := range q.visible {
		parts[i] = `(SELECT doc, log, id, mark, edits, json, words FROM entries WHERE log = ? AND id BETWEEN ? AND ?` + bounds + `
			ORDER BY doc DESC LIMIT ` + depth + `)`
		args = append(append(args, v.number, v.From, v.To), docs...)
	}
	return &plan{part: true, args: append(args, tsQuery(q.wanted, q.facets()), q.limit()), query: `SELECT doc, log, id, mark, edits, json
		FROM (SELECT * FROM (` + strings.Join(parts, " UNION ALL ") + `) AS e ORDER BY doc DESC LIMIT ` + depth + `) AS e
		WHERE words @@ ?::text::tsquery ORDER BY doc DESC LIMIT ?`}, nil
}
