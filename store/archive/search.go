package archive

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/archive/tokens"
)

const (
	searchTimeout = 2 * time.Second
	// facetsMax is how many logs are looked up in the index itself: what a search costs then does not depend on what others
	// have, and grows with each log. Where a caller sees more, the log of each message that has the words is compared: enough of
	// them are theirs.
	facetsMax = 32
)

// Search implements archive.Store.
func (s *Store) Search(ctx context.Context, q archive.Query) (found archive.Found, err error) {
	wanted, err := q.Checked()
	if err != nil {
		return archive.Found{}, err
	}
	if err := s.Connect(ctx); err != nil {
		return archive.Found{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.searchMax)
	defer cancel()
	if q.Sort == archive.Best {
		found, err = s.best(ctx, q, wanted)
	} else {
		found, err = s.newest(ctx, q, wanted)
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return archive.Found{}, archive.ErrTooLong
	}
	return found, s.failed(err)
}

// candidate is a message that the index has found.
type candidate struct {
	doc int64
	log archive.Log
	chat.Message
}

func hitsOf(list []candidate, wanted tokens.Query) (hits []archive.Hit) {
	for _, c := range list {
		hit, _, _ := archive.Match(c.log, c.Message, wanted)
		hits = append(hits, hit)
	}
	return hits
}

// newest pages by doc, the order of hits: what comes later has a higher one.
func (s *Store) newest(ctx context.Context, q archive.Query, wanted tokens.Query) (archive.Found, error) {
	below := int64(1<<63 - 1)
	if q.Cursor != "" {
		var err error
		if below, err = strconv.ParseInt(q.Cursor, 36, 64); err != nil || below < 1 {
			return archive.Found{}, errCursor
		}
		below--
	}
	list, more, err := s.candidates(ctx, q, wanted, below, bound{q.Limit, q.BytesMax})
	if err != nil {
		return archive.Found{}, err
	}
	hits := hitsOf(list, wanted)
	n := q.Fit(hits)
	found := archive.Found{Hits: hits[:n]}
	if more || n < len(hits) {
		found.Next = strconv.FormatInt(list[n-1].doc, 36)
	}
	return found, nil
}

var errCursor = chat.Invalid("cursor: not one that a search gave")

// best ranks the newest candidates. The cursor names the newest of them, and how many were shown: what comes later does
// not move them.
func (s *Store) best(ctx context.Context, q archive.Query, wanted tokens.Query) (archive.Found, error) {
	top, shown := int64(1<<63-1), 0
	if q.Cursor != "" {
		doc, count, _ := strings.Cut(q.Cursor, ".")
		var err1, err2 error
		top, err1 = strconv.ParseInt(doc, 36, 64)
		shown, err2 = strconv.Atoi(count)
		if err1 != nil || err2 != nil || shown < 0 {
			return archive.Found{}, errCursor
		}
	}
	list, _, err := s.candidates(ctx, q, wanted, top, bound{archive.BestMax, archive.BestBytesMax})
	if err != nil || len(list) == 0 {
		return archive.Found{}, err
	}
	type ranked struct {
		candidate
		score float64
	}
	order := make([]ranked, len(list))
	for i, c := range list {
		_, score, _ := archive.Match(c.log, c.Message, wanted)
		order[i] = ranked{c, score}
	}
	slices.SortStableFunc(order, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	order = order[min(shown, len(order)):]
	page := make([]candidate, min(q.Limit, len(order)))
	for i := range page {
		page[i] = order[i].candidate
	}
	hits := hitsOf(page, wanted)
	n := q.Fit(hits)
	found := archive.Found{Hits: hits[:n]}
	if n < len(order) {
		found.Next = strconv.FormatInt(list[0].doc, 36) + "." + strconv.Itoa(shown+n)
	}
	return found, nil
}

// bound is how much is read at most: entries, and bytes of their JSON. One entry always is.
type bound struct{ entries, bytes int }

// candidates are the newest messages up to a doc that the caller may see and that have what is wanted. Who may see what
// is part of the query: a log that is not visible changes neither the hits nor their number.
func (s *Store) candidates(ctx context.Context, q archive.Query, wanted tokens.Query, top int64, most bound) (list []candidate, more bool, err error) {
	ranges, err := s.visible(ctx, q.Visible)
	if err != nil || len(ranges) == 0 {
		return nil, false, err
	}
	var facets [][]string
	if q.From != "" {
		facets = append(facets, []string{authorFacet(q.From)})
	}
	if q.Kind != "" {
		facets = append(facets, []string{kindFacet(q.Kind)})
	}
	low := int64(0)
	if q.SinceMs > 0 {
		low = min(q.SinceMs, docTimeMax) << docTimeBits
	}
	if q.UntilMs > 0 {
		top = min(top, min(q.UntilMs, docTimeMax)<<docTimeBits|(1<<docTimeBits-1))
	}
	limit := most.entries + 1
	if len(ranges) <= facetsMax {
		few, err := s.engine.few(ctx, wanted, q, ranges, low, top, limit)
		if err != nil {
			return nil, false, err
		}
		if few != nil {
			defer func() { _ = few.tx.Rollback() }()
			return s.collect(ctx, few.tx, ranges, most, few.check, few.query, few.args)
		}
		query, args, err := s.engine.walk(ctx, wanted, facets, ranges, low, top, limit)
		if err != nil {
			return nil, false, err
		}
		if query != "" {
			if list, more, err = s.collect(ctx, s.read, ranges, most, tokens.Query{}, query, args); err != nil || more {
				return list, more, err
			}
		}
		var numbers []string
		for _, r := range ranges {
			numbers = append(numbers, logFacet(r.number))
		}
		facets = append(facets, numbers)
	}
	asked, checked, err := s.split(ctx, wanted, low, top, limit)
	if err != nil {
		return nil, false, err
	}
	query, args, done := s.engine.search(asked, checked, facets, ranges)
	defer done()
	return s.collect(ctx, s.read, ranges, most, tokens.Query{}, query, append(args, low, top, limit))
}

// rareTimes is how many times as many entries as a page needs may have a rare word.
const rareTimes = 8

// split leaves the frequent words of a query for the entries that the index finds, where another word is rare: to look such an entry
// up in the long list of a frequent word costs more than to read it, and more the longer the list is.
func (s *Store) split(ctx context.Context, q tokens.Query, low, top int64, limit int) (asked, checked tokens.Query, err error) {
	var words []string
	for _, t := range q.Terms {
		if t.Word() {
			words = append(words, t.Tokens[0])
		}
	}
	if len(words) < 2 {
		return q, tokens.Query{}, nil
	}
	rare, err := s.engine.rare(ctx, words, low, top, limit)
	if err != nil || !slices.Contains(rare, true) {
		return q, tokens.Query{}, err
	}
	for _, t := range q.Terms {
		frequent := false
		if t.Word() {
			frequent, rare = !rare[0], rare[1:]
		}
		if frequent {
			checked.Terms = append(checked.Terms, t)
		} else {
			asked.Terms = append(asked.Terms, t)
		}
	}
	return asked, checked, nil
}

// collect reads candidates until there are enough. It leaves out those that do not have what check says.
func (s *Store) collect(ctx context.Context, from querier, ranges []logRange, most bound, check tokens.Query, query string, args []any) (list []candidate, more bool, err error) {
	bytes := 0
	err = s.query(ctx, from, query, args, func(rows *sql.Rows) error {
		var c candidate
		var log int64
		var edits sql.NullString
		if err := rows.Scan(&c.doc, &log, &c.ID, &c.Mark, &edits, &c.JSON); err != nil {
			return err
		}
		if len(check.Terms) > 0 {
			if _, _, ok := archive.Match(archive.Log{}, c.Message, check); !ok {
				return nil
			}
		}
		if bytes += len(c.JSON); len(list) == most.entries || len(list) > 0 && bytes > most.bytes {
			more = true
			return errEnough
		}
		var err error
		r, _ := rangeOf(ranges, log)
		c.log = r.Log
		c.Edits, err = decodeEdits(edits)
		list = append(list, c)
		return err
	})
	return list, more, err
}
