package chattest

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// found is a hit with what it is sorted by.
type found struct {
	archive.Hit
	sentMs int64
	score  float64
}

// Search implements archive.Store. A cursor counts the hits before it, so pages hold together only while nothing changes.
func (a *Archive) Search(_ context.Context, q archive.Query) (archive.Found, error) {
	unlock, err := a.open()
	if err != nil {
		return archive.Found{}, err
	}
	defer unlock()
	wanted, err := q.Checked()
	if err != nil {
		return archive.Found{}, err
	}
	var all []found
	for _, v := range q.Visible {
		for id, m := range a.logs[v.Log] {
			e, err := decoded(m)
			if err != nil {
				return archive.Found{}, err
			}
			ms := e.SentAt.UnixMilli()
			if id < v.From || id > v.To || q.From != "" && e.From != q.From || q.Kind != "" && e.Kind != q.Kind || q.SinceMs > 0 && ms < q.SinceMs || q.UntilMs > 0 && ms > q.UntilMs {
				continue
			}
			if hit, score, ok := archive.Match(v.Log, m, wanted); ok {
				all = append(all, found{hit, ms, score})
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		newest := cmp.Or(cmp.Compare(b.sentMs, a.sentMs), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(b.ID, a.ID))
		if q.Sort == archive.Best {
			return cmp.Or(cmp.Compare(b.score, a.score), newest)
		}
		return newest
	})
	start, err := strconv.Atoi(cmp.Or(q.Cursor, "0"))
	if err != nil {
		return archive.Found{}, chat.Invalid("cursor: not one that a search gave")
	}
	var page archive.Found
	for _, f := range all[min(start, len(all)):] {
		page.Hits = append(page.Hits, f.Hit)
	}
	page.Hits = page.Hits[:q.Fit(page.Hits)]
	if next := start + len(page.Hits); next < len(all) {
		page.Next = strconv.Itoa(next)
	}
	return page, nil
}
