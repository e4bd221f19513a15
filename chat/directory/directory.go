// Package directory lists all groups of a store, for operators.
package directory

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of a list.
const (
	look      = 1000    // groups that are looked at in one step
	looks     = 100     // steps for one page of a caller who reaches only some groups, which may be short then
	sortedMax = 200_000 // groups that are sorted for one page
	blockers  = 3       // members named of each group
	rowBytes  = 1200    // upper bound of a row in an answer without name and data
)

// Sort is an order of the list.
type Sort string

// The latest activity first, or what keeps the most for members who are behind.
const (
	SortActivity Sort = "activity"
	SortHeld     Sort = "held"
)

// Query asks for a page of the list. All groups are listed by their ids; what begins with Q by its id first, then by its name.
type Query struct {
	Q      string // beginning of the id, or of the name in any case
	User   string // groups of this user alone; by their ids, unless Sort is given
	Sort   Sort   // empty: by the list's own order
	Limit  int
	Cursor string
}

// Row is a group in the list.
type Row struct {
	chat.Group
	Held      int64          `json:"held"`       // messages that are kept only for members who are behind
	HeldSince *chat.Time     `json:"held_since"` // when the oldest of them was sent; null where there is none
	Blockers  []chat.Blocker `json:"blockers"`   // the slowest of these members, three at most
}

// Service lists groups.
type Service struct {
	core  *chat.Service
	store Store
}

// New makes a Service.
func New(core *chat.Service, store Store) *Service { return &Service{core, store} }

// Handlers are the tasks of the list, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{TaskIndex: chat.Patient(s.index)}
}

// Prepare has a task list the groups that are older than the list, if there may be any: once, at the start of a node.
func (s *Service) Prepare(ctx context.Context) error {
	all, err := s.store.ListedAll(ctx)
	if err != nil || all {
		return err
	}
	s.core.Options().Log.InfoContext(ctx, "the groups of the store are being listed for operators")
	return s.store.Enqueue(ctx, chat.NewTask{Queue: chat.QueueCore, Kind: TaskIndex, Subject: TaskIndex, Payload: IndexTask{},
		Priority: chat.PriorityLow, Unique: TaskIndex})
}

// index lists every group. A run that is cut off begins again, which does no harm.
func (s *Service) index(ctx context.Context, _ IndexTask) error {
	for cursor := uint64(0); ; {
		groups, next, err := s.store.GroupIDs(ctx, cursor)
		if err == nil {
			err = s.store.ListGroups(ctx, groups)
		}
		if err != nil {
			return err
		}
		if cursor = next; cursor == 0 {
			return s.store.NoteListedAll(ctx)
		}
	}
}

var errListing = &chat.Error{Code: chat.CodeUnavailable, Message: "the groups are being listed; try again in a moment", RetryAfter: 2 * time.Second,
	Advice: "the groups are being listed; try again in a moment"}

// List lists groups: operators, and keys as far as they reach. A group that is there all the while is on one page, whatever is
// created and deleted meanwhile; where the order is by activity or held, one that moves may be missing. ErrUnavailable until the groups
// of an older store are listed.
func (s *Service) List(ctx context.Context, by chat.Caller, q Query) (chat.List[Row], error) {
	limit, err := s.check(by, q)
	if err != nil {
		return chat.List[Row]{}, err
	}
	read := s.sorted
	if q.Sort == "" && q.User == "" {
		read = s.listed
	}
	groups, end, err := read(ctx, by, q, limit) // end is the cursor behind the first n of groups
	if err != nil {
		return chat.List[Row]{}, chat.AsError(err)
	}
	rows, n, err := s.rows(ctx, by, groups)
	if err != nil {
		return chat.List[Row]{}, chat.AsError(err)
	}
	return chat.List[Row]{Items: rows, Next: end(n)}, nil
}

func (s *Service) check(by chat.Caller, q Query) (limit int, err error) {
	if limit, err = s.core.Options().Limits.Page(q.Limit); err != nil {
		return 0, err
	}
	if q.User != "" {
		err = chat.CheckUserID("user", q.User)
	}
	return limit, cmp.Or(chat.CheckOperator(by), err)
}

// rows describes groups, as many as fit into an answer; n is how many were looked at. Those that are gone are left out.
func (s *Service) rows(ctx context.Context, by chat.Caller, groups []string) (rows []Row, n int, err error) {
	views, err := s.core.Views(ctx, by.User, groups)
	if err != nil {
		return nil, 0, err
	}
	backlogs, err := s.store.Backlogs(ctx, groups, blockers)
	if err != nil {
		return nil, 0, err
	}
	chat.Looked(ctx, chat.PageLooks*len(groups))
	bytes := 0
	for n = range views {
		info, b := views[n], backlogs[n]
		bytes += rowBytes + len(chat.Encode(info.Name)) + len(info.Data)
		if n > 0 && bytes > s.core.Options().Limits.PageBytesMax {
			return rows, n, nil
		}
		if info.Epoch == "" {
			continue
		}
		if b.Blockers == nil {
			b.Blockers = []chat.Blocker{}
		}
		rows = append(rows, Row{Group: info.Group, Held: b.Held, HeldSince: b.Since, Blockers: b.Blockers})
	}
	return rows, len(views), nil
}

// listed reads a page in the order of the list.
func (s *Service) listed(ctx context.Context, by chat.Caller, q Query, limit int) (groups []string, end func(n int) string, err error) {
	after, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if from := string(after); err != nil || from != "" && !strings.HasPrefix(from, ByID) && !strings.HasPrefix(from, ByName) {
		return nil, nil, errCursor
	}
	count := limit + 1
	if by.Reach != nil {
		count = max(count, look)
	}
	var entries []string
	last, more, err := s.each(ctx, newQuery(q.Q), string(after), count, looks, func(entry string) bool {
		if !by.Reaches(GroupOf(entry)) {
			return true
		}
		if len(entries) == limit {
			return false
		}
		entries, groups = append(entries, entry), append(groups, GroupOf(entry))
		return true
	})
	return groups, func(n int) string {
		switch {
		case n < len(entries):
			last = entries[n-1]
		case !more:
			return ""
		}
		return base64.RawURLEncoding.EncodeToString([]byte(last))
	}, err
}

var errCursor = chat.Errorf(chat.CodeInvalid, "cursor: not one of this list")

// each calls do with the entries of q behind one, count of them a step, until it returns false or so many steps are done. last is the
// last one that was dealt with; more: there may be others.
func (s *Service) each(ctx context.Context, q query, after string, count, steps int, do func(entry string) bool) (last string, more bool, err error) {
	all, err := s.store.ListedAll(ctx)
	if err != nil {
		return "", false, err
	}
	if !all {
		return "", false, errListing
	}
	last = after
	for _, prefix := range q.prefixes() {
		from, kind := "", prefix[:1]
		if strings.HasPrefix(after, kind) {
			from = after
		} else if after > kind {
			continue // it is in a later part
		}
		for more := true; more; {
			if steps--; steps < 0 {
				return last, true, nil
			}
			var entries []string
			if entries, more, err = s.store.Listed(ctx, prefix, from, count); err != nil {
				return "", false, err
			}
			for _, e := range entries {
				if !q.again(e) && !do(e) {
					return last, true, nil
				}
				from, last = e, e
			}
		}
	}
	return last, false, nil
}

// sorted reads a page of groups that are sorted for it.
func (s *Service) sorted(ctx context.Context, by chat.Caller, q Query, limit int) (groups []string, end func(n int) string, err error) {
	after, err := chat.ParseRank(q.Cursor)
	if err != nil {
		return nil, nil, err
	}
	all, err := s.found(ctx, by, q)
	if err != nil {
		return nil, nil, err
	}
	chat.Looked(ctx, len(all))
	var page []chat.Rank
	for some := range slices.Chunk(all, look) {
		weights, err := s.weigh(ctx, q.Sort, some)
		if err != nil {
			return nil, nil, err
		}
		for i, w := range weights {
			if r := (chat.Rank{Weight: w, Group: some[i]}); w >= 0 && (q.Cursor == "" || after.Compare(r) < 0) {
				page = append(page, r)
			}
		}
	}
	slices.SortFunc(page, chat.Rank.Compare)
	left := len(page)
	page = page[:min(left, limit)]
	for _, r := range page {
		groups = append(groups, r.Group)
	}
	return groups, func(n int) string {
		if n == 0 || n == left {
			return ""
		}
		return page[n-1].String()
	}, nil
}

// found are the groups that are to be sorted.
func (s *Service) found(ctx context.Context, by chat.Caller, q Query) (groups []string, err error) {
	find := newQuery(q.Q)
	if q.User == "" {
		_, more, err := s.each(ctx, find, "", look, sortedMax/look, func(entry string) bool {
			if group := GroupOf(entry); by.Reaches(group) {
				groups = append(groups, group)
			}
			return true
		})
		if err == nil && more {
			err = chat.Errorf(chat.CodeOutOfRange, "sort: more than %d groups; narrow them by q", sortedMax)
		}
		return groups, err
	}
	index, err := s.store.UserGroups(ctx, q.User)
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(by.Reached(index), look) {
		ids := make([]string, len(some))
		for i, g := range some {
			ids[i] = g.Group
		}
		// The index says where to look, the groups who is in them.
		infos, err := s.store.Infos(ctx, q.User, ids)
		if err != nil {
			return nil, err
		}
		for _, i := range infos {
			if i.Epoch != "" && i.Role != "" && find.finds(i.ID, i.Name) {
				groups = append(groups, i.ID)
			}
		}
	}
	return groups, nil
}

// weigh returns by what each group is sorted, highest first; -1 for one that is gone.
func (s *Service) weigh(ctx context.Context, by Sort, groups []string) ([]int64, error) {
	weights := make([]int64, len(groups))
	switch by {
	case SortActivity:
		return s.store.Activities(ctx, groups)
	case SortHeld:
		backlogs, err := s.store.Backlogs(ctx, groups, 0)
		for i, b := range backlogs {
			weights[i] = b.Held
		}
		return weights, err
	}
	return weights, nil
}
