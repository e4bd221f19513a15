// Package threads is what is said below a message of a group. A reply is an entry of the group's log like any other; the store
// counts it in its thread, and nowhere else.
package threads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/each"
)

const followTries = 5 // of a root in an archive that keeps changing

// Thread is a thread as a member sees it. All counts are of replies that can be read and were not deleted.
type Thread struct {
	ID        int64 // of the root
	Replies   int64
	LastID    int64 // of the newest reply; 0: there is none
	Unread    int64 // replies of others above Read; 0 where the member does not follow
	Following bool
	Read      int64
}

// Shown is a thread in a list, with its root and its newest reply. Last is nil for a reply that was deleted meanwhile.
type Shown struct {
	Thread
	Root chat.MessageView
	Last *chat.MessageView
}

// Page is a page of the replies in a thread, ascending.
type Page struct {
	Thread
	Group    string
	Messages []chat.MessageView
	HasMore  bool
}

// Query asks for a page of the threads of a group.
type Query struct {
	Following bool // only those that the caller follows
	Unread    bool // only those in which the caller has replies to read
	Limit     int
	Cursor    string
}

// PageQuery asks for a page of a thread: the replies above After, or those below Before.
type PageQuery struct {
	After, Before *int64
	Limit         int
}

// Store keeps threads. Every method is one atomic step and may be repeated. Errors are those of chat.Store.
type Store interface {
	// Threads reads a page of the threads that user may see, those with the newest replies first.
	Threads(ctx context.Context, group, user string, q Query, limit int) (list []Thread, next string, err error)
	// Thread reads how user stands to a thread, and a page of the ids of its replies: above after, ascending, or with before > 0 those
	// below, descending. more: there are further ones.
	Thread(ctx context.Context, group, user string, root, after, before int64, limit int) (t Thread, ids []int64, more bool, err error)
	// ReadThread moves what user has read of a thread forward. Of one that user does not follow it changes nothing.
	ReadThread(ctx context.Context, by chat.Caller, group string, root, id int64) (Thread, error)
	// FollowThread has user follow a thread, or not any longer. ErrConflict: the archive has changed since below was read.
	FollowThread(ctx context.Context, user, group string, f Follow) (Thread, error)
}

// Follow is whether a user follows the thread of a root.
type Follow struct {
	Root      int64
	Author    string // of the root
	Below     *chat.Below
	Following bool
}

// Logs are the logs of groups, with what is in the archive.
type Logs interface {
	// Entries is that of chat.LogStore.
	Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error)
	// Reactions is that of chat.LogStore.
	Reactions(ctx context.Context, group, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error)
}

// Service serves threads. It may be used from many goroutines.
type Service struct {
	core  *chat.Service
	store Store
	logs  Logs
}

// New makes a Service. logs are those that the core serves.
func New(core *chat.Service, store Store, logs Logs) *Service { return &Service{core, store, logs} }

// Cursor is where a list goes on behind a thread.
func Cursor(t Thread) string { return fmt.Sprintf("%016d %016d", t.LastID, t.ID) }

// cursors is what a cursor of List looks like.
var cursors = regexp.MustCompile(`^\d{16} \d{16}$`)

// List reads a page of the threads of a group, those with the newest replies first: for members.
func (s *Service) List(ctx context.Context, by chat.Caller, group string, q Query) (list chat.List[Shown], err error) {
	limit, err := s.core.Options().Limits.Page(q.Limit)
	if err == nil && q.Cursor != "" && !cursors.MatchString(q.Cursor) {
		err = chat.Invalid("cursor: not one of this list")
	}
	if err != nil {
		return list, err
	}
	info, err := s.core.MayRead(ctx, by, group)
	if err != nil {
		return list, err
	}
	found, next, err := s.store.Threads(ctx, group, by.User, q, limit)
	if err != nil {
		return list, s.core.Refused(ctx, by, group, err)
	}
	ids := make([]int64, 0, 2*len(found))
	for _, t := range found {
		ids = append(ids, t.ID, t.LastID)
	}
	views, err := s.views(ctx, by, info, ids)
	if err != nil {
		return list, err
	}
	list.Next = next
	bytes := 0
	for i, t := range found {
		root, ok := views[t.ID]
		if !ok {
			continue // it went in between
		}
		root.Thread = chat.ReplyCount{Replies: t.Replies, LastID: t.LastID}
		shown := Shown{Thread: t, Root: root}
		bytes += len(root.JSON)
		if last, ok := views[t.LastID]; ok {
			shown.Last = &last
			bytes += len(last.JSON)
		}
		if bytes > s.core.Options().Limits.PageBytesMax && len(list.Items) > 0 {
			list.Next = Cursor(found[i-1])
			break
		}
		list.Items = append(list.Items, shown)
	}
	return list, nil
}

// Followed reads a page of the threads of a group that the caller follows and that have replies, without what is said in them: for
// members. It goes on at next.
func (s *Service) Followed(ctx context.Context, by chat.Caller, group, cursor string, limit int) (list []Thread, next string, err error) {
	list, next, err = s.store.Threads(ctx, group, by.User, Query{Following: true, Cursor: cursor}, limit)
	return list, next, s.core.Refused(ctx, by, group, err)
}

// Messages reads a page of the replies in a thread: for members. ErrNotFound: there is no such root, or it is deleted.
func (s *Service) Messages(ctx context.Context, by chat.Caller, group string, root int64, q PageQuery) (Page, error) {
	limit, err := s.core.Options().Limits.Page(q.Limit)
	var after, before int64
	if err == nil && q.After != nil {
		after, err = *q.After, chat.CheckRange("after", q.After, 0, chat.IDMax)
	}
	if err == nil && q.Before != nil {
		before, err = *q.Before, chat.CheckRange("before", q.Before, 1, chat.IDMax)
	}
	if err == nil && q.After != nil && q.Before != nil {
		err = chat.Invalid("after and before: only one of them")
	}
	if err != nil {
		return Page{}, err
	}
	info, _, err := s.root(ctx, by, group, root)
	if err != nil {
		return Page{}, err
	}
	t, ids, more, err := s.store.Thread(ctx, group, by.User, root, after, before, limit)
	if err != nil {
		return Page{}, s.core.Refused(ctx, by, group, err)
	}
	views, err := s.views(ctx, by, info, ids)
	if err != nil {
		return Page{}, err
	}
	p, bytes := Page{Thread: t, Group: group, HasMore: more}, 0
	for _, id := range ids {
		m, ok := views[id]
		if !ok {
			continue
		}
		bytes += len(m.JSON)
		if bytes > s.core.Options().Limits.PageBytesMax && len(p.Messages) > 0 {
			p.HasMore = true
			break
		}
		p.Messages = append(p.Messages, m)
	}
	if before > 0 {
		slices.Reverse(p.Messages)
	}
	return p, nil
}

// Read moves what the caller has read of a thread forward to id, never back. Of one that they do not follow it changes nothing.
func (s *Service) Read(ctx context.Context, by chat.Caller, group string, root, id int64) (Thread, error) {
	if id < 0 {
		return Thread{}, chat.Invalid("id: want an integer from 0")
	}
	if _, _, err := s.root(ctx, by, group, root); err != nil {
		return Thread{}, err
	}
	t, err := s.store.ReadThread(ctx, by, group, root, min(id, chat.IDMax))
	return t, s.core.Refused(ctx, by, group, err)
}

// Follow has the caller follow a thread, with all of it read, or not any longer.
func (s *Service) Follow(ctx context.Context, by chat.Caller, group string, root int64, following bool) (t Thread, err error) {
	for range followTries {
		info, author, err := s.root(ctx, by, group, root)
		if err != nil {
			return t, err
		}
		f := Follow{Root: root, Author: author, Following: following}
		if root >= info.First && root < info.Held {
			f.Below = &chat.Below{Epoch: info.Epoch, Late: info.Late}
		}
		if t, err = s.store.FollowThread(ctx, by.User, group, f); !errors.Is(err, chat.ErrConflict) {
			return t, s.core.Refused(ctx, by, group, err)
		}
	}
	return t, chat.ErrConflict
}

// root reads the root of a thread, as a caller may see it.
func (s *Service) root(ctx context.Context, by chat.Caller, group string, id int64) (info chat.Info, author string, err error) {
	if err = cmp.Or(chat.CheckGroup(by, group), chat.CheckRange("id", &id, 1, chat.IDMax)); err != nil {
		return info, "", err
	}
	if info, err = s.core.MayRead(ctx, by, group); err != nil {
		return info, "", err
	}
	if id < info.Visible() {
		return info, "", chat.ErrNotFound
	}
	found, err := s.logs.Entries(ctx, group, []int64{id})
	if err != nil {
		return info, "", chat.AsError(err)
	}
	if len(found) == 0 {
		return info, "", chat.ErrNotFound
	}
	e, err := chat.RootOf(found[0])
	return info, e.From, err
}

// views reads messages of a group with their reactions.
func (s *Service) views(ctx context.Context, by chat.Caller, info chat.Info, ids []int64) (map[int64]chat.MessageView, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id int64) bool { return id < info.Visible() })
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.logs.Entries(ctx, info.ID, ids)
	if err != nil {
		return nil, chat.AsError(err)
	}
	views := make([]chat.MessageView, len(found))
	for i, m := range found {
		views[i].Message = m
	}
	if err := s.react(ctx, by, info, views); err != nil {
		return nil, chat.AsError(err)
	}
	byID := make(map[int64]chat.MessageView, len(views))
	for _, v := range views {
		byID[v.ID] = v
	}
	return byID, nil
}

// reactSpan is how far apart messages are at most whose reactions are read together: between them there are those of others.
const reactSpan = 200

// react adds their reactions to views, which ascend.
func (s *Service) react(ctx context.Context, by chat.Caller, info chat.Info, views []chat.MessageView) error {
	var spans [][]chat.MessageView
	for len(views) > 0 {
		n := 1
		for n < len(views) && views[n].ID-views[0].ID < reactSpan {
			n++
		}
		spans, views = append(spans, views[:n]), views[n:]
	}
	return each.Of(ctx, spans, func(ctx context.Context, span []chat.MessageView) error {
		found, err := s.logs.Reactions(ctx, info.ID, by.User, span[0].ID, span[len(span)-1].ID)
		for i := range span {
			span[i].Reactions = chat.OneSpelling(found[span[i].ID])
		}
		return err
	})
}
