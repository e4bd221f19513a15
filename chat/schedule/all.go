package schedule

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
)

// Query asks for schedules of anybody. Zero fields ask for nothing.
type Query struct {
	User    string // only those of this owner, whatever their state
	Failing bool   // only those whose last occurrence sent nothing, the newest failure first
	Limit   int
	Cursor  string
}

// Failure is a schedule that sent nothing when it was due, and since when.
type Failure struct {
	ID      string
	SinceMs int64
}

var errCursor = &chat.Error{Code: chat.CodeInvalid, Message: "cursor: not one of ours"}

// All lists schedules of anybody for operators, without what they send: without a User and Failing those that wait for their time. What
// changes meanwhile makes a page shorter.
func (s *Service) All(ctx context.Context, by chat.Caller, q Query) (chat.List[Schedule], error) {
	if err := chat.CheckOperator(by); err != nil {
		return chat.List[Schedule]{}, err
	}
	limit, err := s.opt.Limits.Page(q.Limit)
	if err != nil {
		return chat.List[Schedule]{}, err
	}
	records, next, err := s.all(ctx, by, q, limit)
	if err != nil {
		return chat.List[Schedule]{}, chat.AsError(err)
	}
	list := chat.List[Schedule]{Next: next}
	for _, r := range records {
		if r.Plan.ReachedBy(by) && (!q.Failing || r.failing()) {
			v := r.view()
			v.Content = chat.Content{Kind: v.Kind}
			list.Items = append(list.Items, v)
		}
	}
	return list, nil
}

func (s *Service) all(ctx context.Context, by chat.Caller, q Query, limit int) (page []Record, next string, err error) {
	if q.User != "" {
		if err := cmp.Or(chat.CheckUserID("user", q.User), checkAlone(q)); err != nil {
			return nil, "", err
		}
		return s.store.SchedulesOf(ctx, chat.Caller{User: q.User, Reach: by.Reach}, q.Cursor, limit, s.opt.Limits.PageBytesMax)
	}
	var ids []string
	if q.Failing {
		ids, next, err = s.failed(ctx, q.Cursor, limit)
	} else {
		ids, next, err = s.Waiting(ctx, q.Cursor, limit)
	}
	if err != nil {
		return nil, "", err
	}
	page, err = s.store.SchedulesNamed(ctx, ids)
	return page, next, err
}

func checkAlone(q Query) error {
	if q.Failing {
		return chat.Invalid("user, failing: one of the two")
	}
	return nil
}

// failed pages through what has failed; a cursor is a position in that order.
func (s *Service) failed(ctx context.Context, cursor string, limit int) (ids []string, next string, err error) {
	var after Failure
	if cursor != "" {
		ms, id, ok := strings.Cut(cursor, ".")
		if after.SinceMs, err = strconv.ParseInt(ms, 10, 64); err != nil || !ok || !chat.ValidID(id) {
			return nil, "", errCursor
		}
		after.ID = id
	}
	all, err := s.Failures(ctx)
	if err != nil {
		return nil, "", err
	}
	slices.SortFunc(all, Failure.compare)
	if cursor != "" {
		all = slices.DeleteFunc(all, func(f Failure) bool { return f.compare(after) <= 0 })
	}
	if len(all) > limit {
		all = all[:limit]
		last := all[limit-1]
		next = strconv.FormatInt(last.SinceMs, 10) + "." + last.ID
	}
	for _, f := range all {
		ids = append(ids, f.ID)
	}
	return ids, next, nil
}

func (f Failure) compare(other Failure) int {
	return cmp.Or(cmp.Compare(other.SinceMs, f.SinceMs), strings.Compare(f.ID, other.ID))
}

// failing tells whether the newest occurrence sent nothing, and that still matters.
func (r Record) failing() bool { return r.LastError != "" && r.State != Cancelled }
