package live

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// SignalKind says what a signal carries.
type SignalKind int

// The kinds of signals. A lost one costs latency, never a message: ids are dense, so readers notice gaps.
const (
	SignalMessage SignalKind = iota + 1 // Group, Epoch, Message, Changed
	SignalCursor                        // Group, User, Seen, Read, Origin
	SignalTyping                        // Group, User, Large
	SignalDeleted                       // Group, Epoch: the group is gone
	SignalExpired                       // Group, Epoch, Seen: the entries up to Seen are gone because of their age
	SignalInbox                         // User: the inbox grew
	SignalJoined                        // User, Group
	SignalLeft                          // User, Group
	SignalDraft                         // User, Group, Draft
	SignalHere                          // Group, Node: who has the group open has changed there
	SignalShown                         // User, Shown
	SignalStream                        // Group, Epoch, ID, Gen, Offset, Text: a piece of a message that is being written
	SignalCancel                        // Group, Epoch, ID, Author, User: User asks the author of such a message to stop
	SignalUnknown                       // Group or User: something that this version cannot read
	SignalCut                           // the subscription broke: what arrives from now on may not follow what came before
	SignalLost                          // signals may have been missed: compare everything that is followed
)

// Signal is one signal of the store.
type Signal struct {
	Kind    SignalKind
	Group   string
	User    string
	Epoch   string
	Message chat.Message   // the new entry
	Changed []chat.Message // originals that the entry changed, as they are served from now on
	Seen    int64
	Read    int64
	Named   bool   // the cursor is shown even if its member hides
	Quiet   bool   // the cursor is shown to nobody else
	Origin  string // the session that moved the cursor, or empty
	Node    string // that has changed who has a group open
	Shown   bool   // the user no longer hides where they are
	ID      int64
	Gen     int64 // how often the text of a message was replaced
	Offset  int64 // of Text, in bytes; -1: it replaces all
	Text    string
	Author  string
	Large   bool   // so many are in the group that only who has it open sees who types
	Draft   string // JSON of what the user has begun to write; empty: nothing any longer
}

// SignalStore follows groups and users on behalf of one node, over one subscription.
type SignalStore interface {
	// Listen starts the node's subscription and calls deliver, from one goroutine, for every signal until ctx ends; it
	// returns then. It reconnects by itself: it delivers SignalCut before anything of the new connection, and SignalLost
	// once everything is followed again. deliver must not block.
	Listen(ctx context.Context, deliver func(Signal)) error
	// Follow subscribes to the groups and users and returns when the store has confirmed all of them: what is
	// published after that is delivered. It may be called from any goroutine. Following twice is harmless.
	Follow(ctx context.Context, groups, users []string) error
	// Unfollow drops subscriptions. It does not wait.
	Unfollow(groups, users []string)
	// Typing publishes that user types in group, and whether that is a large one. Nothing is stored.
	Typing(ctx context.Context, group, user string, large bool) error
	// Lasts returns last and epoch of each group in order, -1 and "" for one that does not exist: one command a partition.
	Lasts(ctx context.Context, groups []string) ([]chat.LogEnd, error)
	// InboxGrowth returns how often inboxes have grown, by bucket of users, and InboxBucket the bucket of a user: one command
	// per partition tells which users need no check.
	InboxGrowth(ctx context.Context) (map[int]int64, error)
	InboxBucket(user string) int
	// InboxEnds returns where each user's inbox ends, in order.
	InboxEnds(ctx context.Context, users []string) ([]chat.InboxEnd, error)
}
