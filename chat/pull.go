package chat

import (
	"context"
	"iter"
	"slices"
)

// pages serves the messages of groups.
type pages struct {
	*base
	store LogStore
}

// Pull reads a page of a group, with its reactions. It moves no cursor. ErrNotFound or ErrForbidden for those outside.
func (s *pages) Pull(ctx context.Context, by Caller, group string, q PullQuery) (Batch, []MessageView, error) {
	if err := CheckGroup(by, group); err != nil {
		return Batch{}, nil, err
	}
	limit, err := s.opt.Limits.Page(q.Limit)
	if err != nil {
		return Batch{}, nil, err
	}
	var b Batch
	var views []MessageView
	if q.Before != nil {
		if q.After != nil {
			return Batch{}, nil, Invalid("after and before: only one of them")
		}
		b, views, err = s.pullBefore(ctx, by, group, *q.Before, limit)
	} else {
		var pos Position
		if q.After != nil {
			if pos, err = ParsePosition(*q.After); err != nil {
				return Batch{}, nil, err
			}
		}
		b, views, err = s.pullAfter(ctx, by, group, pos, limit)
	}
	if err != nil {
		return Batch{}, nil, s.Refused(ctx, by, group, AsError(err))
	}
	return b, views, nil
}

// pullAfter reads the batch after a position. One round trip, but where the position leads elsewhere than it says.
func (s *pages) pullAfter(ctx context.Context, by Caller, group string, pos Position, limit int) (Batch, []MessageView, error) {
	r := NewCounted(group, pos, limit)
	if err := Read(ctx, s.store, by.User, []*Reading{&r}); err != nil {
		return Batch{}, nil, err
	}
	if r.Err != nil {
		return Batch{}, nil, r.Err
	}
	if len(r.Messages) == 0 && r.Owed() > 0 {
		return Batch{}, nil, ErrUnavailable
	}
	views, err := s.views(ctx, by.User, r.Info, r.Messages, r.Reactions)
	if err != nil {
		return Batch{}, nil, err
	}
	views = views[:fitViews(slices.All(views), s.opt.Limits.PageBytesMax)]
	return r.Batch(r.Messages[:len(views)]), views, nil
}

// pullBefore reads the page that ends just before an id. What is asked for and was trimmed makes it incomplete; what
// lies before the member's joining of a group without history does not.
func (s *pages) pullBefore(ctx context.Context, by Caller, group string, before int64, limit int) (Batch, []MessageView, error) {
	if before < 1 {
		return Batch{}, nil, Invalid("before: must be at least 1")
	}
	page, err := readPage(ctx, s.store, by.User, Pull{Group: group, Before: min(before, IDMax), Limit: limit, Counted: true})
	if err != nil {
		return Batch{}, nil, err
	}
	info, messages := page.Info, page.Messages
	views, err := s.views(ctx, by.User, info, messages, page.Reactions)
	if err != nil {
		return Batch{}, nil, err
	}
	cut := len(views) - fitViews(slices.Backward(views), s.opt.Limits.PageBytesMax)
	messages, views = messages[cut:], views[cut:]
	oldest := info.Visible()
	start := Start{ID: oldest, Complete: true}
	switch n := len(messages); {
	case n > 0:
		start.ID = messages[0].ID
	case !info.History && before <= info.Joined:
		// Nothing is missing there for this member.
	default:
		start.ID = min(before, info.Last+1)
		start.Complete = before <= 1 || info.First <= 1
	}
	b := newBatch(info, start, info.MarkAt(start.ID-1, ""), messages)
	b.HasMore = start.ID > oldest
	return b, views, nil
}

// readPage pulls from one group.
func readPage(ctx context.Context, store PullStore, user string, p Pull) (Page, error) {
	pages, err := store.Pull(ctx, user, []Pull{p})
	if err != nil {
		return Page{}, err
	}
	return pages[0], pages[0].Err
}

// views adds reactions and the counts of threads to messages of a group: those that were read with them, or freshly read ones if some are missing.
func (s *pages) views(ctx context.Context, user string, info Info, messages []Message, reactions map[int64]map[string]ReactionCount) ([]MessageView, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	if reactions == nil || messages[0].ID < info.Held {
		var err error
		reactions, err = s.store.Reactions(ctx, info.ID, user, messages[0].ID, messages[len(messages)-1].ID)
		if err != nil {
			return nil, err
		}
	}
	var counts map[int64]ReplyCount
	if info.Threads {
		ids := make([]int64, len(messages))
		for i, m := range messages {
			ids[i] = m.ID
		}
		var err error
		if counts, err = s.store.ReplyCounts(ctx, info.ID, ids); err != nil {
			return nil, err
		}
	}
	views := make([]MessageView, len(messages))
	for i, m := range messages {
		views[i] = MessageView{Message: m, Thread: counts[m.ID], Reactions: OneSpelling(reactions[m.ID])}
	}
	return views, nil
}

// reactionBytes is more than what the reactions with one emoji take in an answer beside the emoji.
const reactionBytes = 60

// fitViews is how many of views go into an answer of bytesMax bytes with their reactions, one at least.
func fitViews(views iter.Seq2[int, MessageView], bytesMax int) (n int) {
	bytes := 0
	for _, v := range views {
		bytes += len(v.JSON) + 1
		if v.Thread.Replies > 0 {
			bytes += reactionBytes
		}
		for emoji := range v.Reactions {
			bytes += reactionBytes + len(emoji)
		}
		if n > 0 && bytes > bytesMax {
			break
		}
		n++
	}
	return n
}
