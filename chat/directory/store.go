package directory

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// TaskIndex is the kind of the task that lists the groups of a store from before the list: IndexTask. A kind is stored with its
// tasks, so it keeps its name when the code is renamed.
const TaskIndex = "index_groups"

// IndexTask lists every group.
type IndexTask struct{}

// Backlog is what a group keeps beyond what it always keeps, because members are behind.
type Backlog struct {
	Held     int64          // entries that are kept only for members who are behind
	Since    *chat.Time     // when the oldest of them was sent; nil: there is none
	Blockers []chat.Blocker // the members who are behind, the slowest first
}

// Store keeps the list of all groups. Errors are those of chat.Store.
type Store interface {
	chat.TaskStore
	chat.InfoStore
	// Listed pages through the list: up to count entries that begin with prefix, behind the entry after; "" is the beginning. more:
	// there are others. An entry is ByID and an id, or ByName and a folded name, and GroupOf tells whose it is. One read of each
	// partition.
	Listed(ctx context.Context, prefix, after string, count int) (entries []string, more bool, err error)
	// ListedAll tells whether every group is listed, those included that are older than the list.
	ListedAll(ctx context.Context) (bool, error)
	// CountListed counts the groups of the list. One read of each partition.
	CountListed(ctx context.Context) (int64, error)
	// NoteListedAll records that.
	NoteListedAll(ctx context.Context) error
	// ListGroups adds groups to the list, a step each. Those that do not exist are skipped.
	ListGroups(ctx context.Context, groups []string) error
	// GroupIDs names all groups, page by page: from cursor 0 until next is 0, some more than once.
	GroupIDs(ctx context.Context, cursor uint64) (groups []string, next uint64, err error)
	// Activities reads when the newest entry of each group was sent, in ms; -1 for one that does not exist.
	Activities(ctx context.Context, groups []string) ([]int64, error)
	// Backlogs reads the backlog of each group, with up to blockers members. One that does not exist has none.
	Backlogs(ctx context.Context, groups []string, blockers int) ([]Backlog, error)
	// UserGroups is the index of a user: see chat.IndexStore.
	UserGroups(ctx context.Context, user string) ([]chat.UserGroup, error)
}
