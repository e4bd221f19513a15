package live

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Store is what the live part asks of a store. Errors are those of package chat.
type Store interface {
	SignalStore
	OpenStore
	chat.PullStore
	// Begin reads the whole index of a user, in no particular order, where the inbox ends, and the user's standing in each of groups, in
	// one round trip. The standings may be missing.
	Begin(ctx context.Context, user string, groups []string) (Beginning, error)
	// Standings reads the user's standing in each group, in order, without what has to be counted (Unread, MentionsUnread,
	// Acted), without names and settings, and with Joined only where history is hidden. A group that does not exist has an empty Epoch.
	Standings(ctx context.Context, user string, groups []string) ([]chat.Info, error)
	// OpenStreams reads the messages of a group that are being written, all of them if no ids are given.
	OpenStreams(ctx context.Context, group string, ids ...int64) (epoch string, list []chat.OpenStream, err error)
	// Range reads entries for the node itself, with the end of the log: see chat.LogStore.
	Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]chat.Message, chat.LogEnd, error)
	// UserGroups returns the whole index of a user, in no particular order.
	UserGroups(ctx context.Context, user string) ([]chat.UserGroup, error)
	// Looks tells of each group, in order, how far user is in it and where it ends: one round trip, a command a partition.
	Looks(ctx context.Context, user string, groups []string, at chat.LookAt) ([]chat.Look, error)
	// InboxPull reads up to limit items after a position; not set: after what was acked. Epoch "" never occurs.
	InboxPull(ctx context.Context, user string, after chat.Position, limit int) (chat.InboxBatch, error)
	// Arrivals is UserGroups, InboxPull and Looks at groups in one round trip: a sync begins with them. Looks may be missing.
	Arrivals(ctx context.Context, user string, of chat.Arriving) (chat.Arrivals, error)
}

// living is a Store that serves nothing that had to go by now, deleted or not. What the rings hold is looked at when it is served.
type living struct {
	Store
	nowMs func() int64
}

func (s living) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	pages, err := s.Store.Pull(ctx, user, pulls)
	for i := range pages {
		pages[i].Messages = chat.LiveAll(pages[i].Messages, s.nowMs())
	}
	return pages, err
}

func (s living) Begin(ctx context.Context, user string, groups []string) (Beginning, error) {
	b, err := s.Store.Begin(ctx, user, groups)
	b.Items = chat.LiveItems(b.Items, s.nowMs())
	return b, err
}

func (s living) InboxPull(ctx context.Context, user string, after chat.Position, limit int) (chat.InboxBatch, error) {
	b, err := s.Store.InboxPull(ctx, user, after, limit)
	b.Items = chat.LiveItems(b.Items, s.nowMs())
	return b, err
}

func (s living) Arrivals(ctx context.Context, user string, of chat.Arriving) (chat.Arrivals, error) {
	a, err := s.Store.Arrivals(ctx, user, of)
	a.Inbox.Items = chat.LiveItems(a.Inbox.Items, s.nowMs())
	return a, err
}
