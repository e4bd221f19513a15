package archive

import (
	"cmp"
	"context"
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
