package archive

import (
	"context"
	"database/sql"
	"slices"

	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/archive/tokens"
)

// question is what a search asks for: the newest entries with what is wanted, of what the caller may see.
type question struct {
	archive.Query
	wanted    tokens.Query
	visible   []logRange // in the order of their numbers
	low, top  int64      // docs, both included
	most      bound
	narrowing []string // facets that every entry must have
}

// bound is how much is read at most: entries, and bytes of their JSON. One entry always is.
type bound struct{ entries, bytes int }

// limit is how many entries a finder needs to find: one more than fit tells that there are more.
func (q *question) limit() int { return q.most.entries + 1 }

// facets are those that an entry must have one of each of.
func (q *question) facets() (all [][]string) {
	for _, one := range q.narrowing {
		all = append(all, []string{one})
	}
	return all
}

// logFacets are the facets with those of the logs, where these are few enough.
func (q *question) logFacets() [][]string {
	all := q.facets()
	if len(q.visible) > facetsMax {
		return all
	}
	var logs []string
	for _, r := range q.visible {
		logs = append(logs, logFacet(r.number))
	}
	return append(all, logs)
}

// finder is a way to answer a question. nil: another way is likely to be faster, or this one cannot tell.
type finder func(ctx context.Context, q *question) (*plan, error)

// plan is a statement that finds entries that may be seen, newest first.
type plan struct {
	query string
	args  []any
	check tokens.Query // what is left to compare each entry with
	tx    *sql.Tx      // that has been begun for it; nil: none
	part  bool         // where it finds less than a page, there may be more
	done  func()       // called when the rows are read; may be nil
}

// candidates are the newest messages up to a doc that the caller may see and that have what is wanted. Who may see what
// is part of the query: a log that is not visible changes neither the hits nor their number.
func (s *Store) candidates(ctx context.Context, query archive.Query, wanted tokens.Query, top int64, most bound) (list []candidate, more bool, err error) {
	q := &question{Query: query, wanted: wanted, top: top, most: most}
	if q.visible, err = s.visible(ctx, q.Visible); err != nil || len(q.visible) == 0 {
		return nil, false, err
	}
	if q.From != "" {
		q.narrowing = append(q.narrowing, authorFacet(q.From))
	}
	if q.Kind != "" {
		q.narrowing = append(q.narrowing, kindFacet(q.Kind))
	}
	if q.SinceMs > 0 {
		q.low = min(q.SinceMs, docTimeMax) << docTimeBits
	}
	if q.UntilMs > 0 {
		q.top = min(q.top, min(q.UntilMs, docTimeMax)<<docTimeBits|(1<<docTimeBits-1))
	}
	for _, find := range s.engine.finders {
		p, err := find(ctx, q)
		if err != nil {
			return nil, false, err
		}
		if p == nil {
			continue
		}
		if list, more, err = s.collect(ctx, q, p); err != nil || more || !p.part {
			return list, more, err
		}
	}
	return list, more, nil
}

// collect reads candidates until there are enough. It leaves out those that do not have what is left to check.
func (s *Store) collect(ctx context.Context, q *question, p *plan) (list []candidate, more bool, err error) {
	var from querier = s.read
	if p.tx != nil {
		from = p.tx
		defer func() { _ = p.tx.Rollback() }()
	}
	if p.done != nil {
		defer p.done()
	}
	bytes := 0
	err = s.query(ctx, from, p.query, p.args, func(rows *sql.Rows) error {
		var c candidate
		var log int64
		var edits sql.NullString
		if err := rows.Scan(&c.doc, &log, &c.ID, &c.Mark, &edits, &c.JSON); err != nil {
			return err
		}
		if len(p.check.Terms) > 0 {
			if _, _, ok := archive.Match(archive.Log{}, c.Message, p.check); !ok {
				return nil
			}
		}
		if bytes += len(c.JSON); len(list) == q.most.entries || len(list) > 0 && bytes > q.most.bytes {
			more = true
			return errEnough
		}
		var err error
		r, _ := rangeOf(q.visible, log)
		c.log = r.Log
		c.Edits, err = decodeEdits(edits)
		list = append(list, c)
		return err
	})
	return list, more, err
}

// rareTimes is how many times as many entries as a page needs may have a rare word.
const rareTimes = 8

// rare tells which of several words to ask the index for. Where these are not all, so few entries have them that each can be looked at.
// None: ask for all.
type rare func(ctx context.Context, words []string, q *question) (asked []bool, err error)

// split leaves the frequent words of a question for the entries that the index finds, where another word is rare: to look such an entry
// up in the long list of a frequent word costs more than to read it, and more the longer the list is.
func (q *question) split(ctx context.Context, among rare) (asked, checked tokens.Query, err error) {
	var words []string
	for _, t := range q.wanted.Terms {
		if t.Word() {
			words = append(words, t.Tokens[0])
		}
	}
	if len(words) < 2 {
		return q.wanted, tokens.Query{}, nil
	}
	rare, err := among(ctx, words, q)
	if err != nil || !slices.Contains(rare, true) {
		return q.wanted, tokens.Query{}, err
	}
	for _, t := range q.wanted.Terms {
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
