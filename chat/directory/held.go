package directory

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
)

// heldLooks is how many groups a call of Held looks at: about 0.1 s of the store.
const heldLooks = 10_000

// HeldPage is what a part of the list holds for members who are behind.
type HeldPage struct {
	Groups []Row // those that hold most, most first; none that holds nothing
	Looked int64 // groups that were looked at
	Total  int64 // groups that there are
	Next   string
}

// Held looks at the next groups of the list, for operators, and returns those that hold most for members who are behind: limit of them at
// most. Going on until Next is empty looks at every group once, however many there are; what holds most of all is found among the pages.
func (s *Service) Held(ctx context.Context, by chat.Caller, limit int, cursor string) (p HeldPage, err error) {
	if limit, err = s.check(by, Query{Limit: limit}); err != nil {
		return p, err
	}
	after, err := base64.RawURLEncoding.DecodeString(cursor)
	if from := string(after); err != nil || from != "" && !strings.HasPrefix(from, ByID) {
		return p, errCursor
	}
	var groups []string
	last, more, err := s.each(ctx, newQuery(""), string(after), look, heldLooks/look, func(entry string) bool {
		if group := GroupOf(entry); by.Reaches(group) {
			groups = append(groups, group)
		}
		p.Looked++
		return true
	})
	if err != nil {
		return p, chat.AsError(err)
	}
	chat.Looked(ctx, len(groups))
	var most []chat.Rank
	for some := range slices.Chunk(groups, look) {
		weights, err := s.weigh(ctx, SortHeld, some)
		if err != nil {
			return p, chat.AsError(err)
		}
		for i, w := range weights {
			if w > 0 {
				most = append(most, chat.Rank{Weight: w, Group: some[i]})
			}
		}
		slices.SortFunc(most, chat.Rank.Compare)
		most = most[:min(len(most), limit)]
	}
	groups = groups[:0]
	for _, r := range most {
		groups = append(groups, r.Group)
	}
	if p.Groups, err = s.Rows(ctx, by, groups); err != nil {
		return p, err
	}
	if p.Total, err = s.store.CountListed(ctx); err != nil {
		return p, chat.AsError(err)
	}
	if more {
		p.Next = base64.RawURLEncoding.EncodeToString([]byte(last))
	}
	return p, nil
}

// Rows describes some groups, for operators. Those that are gone are left out.
func (s *Service) Rows(ctx context.Context, by chat.Caller, groups []string) (rows []Row, err error) {
	if err := chat.CheckOperator(by); err != nil {
		return nil, err
	}
	for len(groups) > 0 {
		some, n, err := s.rows(ctx, by, groups)
		if err != nil {
			return nil, chat.AsError(err)
		}
		rows, groups = append(rows, some...), groups[n:]
	}
	return rows, nil
}
