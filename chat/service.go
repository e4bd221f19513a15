// Package chat is the domain: groups as logs, members as cursors into them, inboxes, and the readers that pull. It knows
// no Redis and no HTTP. All methods of Service may be called from many goroutines.
package chat

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"
)

// Options are what a Service needs.
type Options struct {
	Limits Limits
	Direct DirectPolicy // whom one may write to directly
	Add    AddPolicy    // whom one may put into a group
	Before Before       // decides about messages before they are stored; nil: nobody does
	Log    *slog.Logger
	Now    func() int64 // ms since the Unix epoch; for display only, order is the id
	// StoreNow is the time by the clock of the store, which decides what has to be gone; nil: Now.
	StoreNow func() int64
	Hides    func(user string) bool // whether a user hides what they have seen and read; nil: nobody does
}

// GroupDraft is what a client asks for when it creates a group. Nil fields take the defaults of the wire contract.
type GroupDraft struct {
	// Key is the Idempotency-Key of the request, or empty: a creation that is repeated with it, and with the same
	// content, makes no second group.
	Key          string
	ID           string // empty: the server makes one
	Name         string
	Members      []string
	Direct       bool `json:"-"` // a direct group of the caller and one member, with the id of the two
	Visibility   Visibility
	Keep         *int64
	BacklogMax   *int64
	Post         Posting
	History      *bool
	RetainDays   *int64     `json:",omitempty"`
	Overflow     Overflow   `json:",omitempty"`
	BacklogBytes *int64     `json:",omitempty"`
	SlowS        *int64     `json:",omitempty"`
	ExpireS      *int64     `json:",omitempty"`
	Receipts     Receipting `json:",omitempty"`
	Join         Joining    `json:",omitempty"`
	Pins         Pinning    `json:",omitempty"`
	MentionAll   Mentioning `json:",omitempty"`

	Data json.RawMessage `json:",omitempty"`
}

// GroupView is a group in the list of its member.
type GroupView struct {
	Group
	Seen           int64           `json:"seen"`
	Read           int64           `json:"read"`
	Unread         int64           `json:"unread"`
	MentionsUnread int64           `json:"mentions_unread"`
	ThreadsUnread  int64           `json:"threads_unread"`
	LastMessage    json.RawMessage `json:"last_message"` // null where there is none
}

// List is a page of a list. Next is the cursor of the next page, empty at the end. Total counts the whole list; only
// Groups sets it.
type List[T any] struct {
	Items []T
	Next  string
	Total int64
}

// PullQuery asks for a page of a group. After is the raw text of the client: an id or a cursor; nil: not given.
type PullQuery struct {
	After  *string
	Before *int64
	Limit  int // 0: the default
}

// MessageView is a message of GET messages with its reactions and the count of its thread; Reactions is nil where there are none, and
// Thread is zero without replies.
type MessageView struct {
	Message
	Thread    ReplyCount
	Reactions map[string]ReactionCount
}

// UnreadCounts of a user over all groups; Groups holds those with unread messages.
type UnreadCounts struct {
	Total    int64            `json:"total"`
	Mentions int64            `json:"mentions"`
	Threads  int64            `json:"threads"` // replies in threads that the user follows
	Groups   map[string]int64 `json:"groups"`
}

// Service is the domain: all parts together, each a type in the files of its name. Create one with New, run its loops with Run.
type Service struct {
	*base
	*cursors
	*groups
	*hints
	*holds
	*inboxes
	*known
	*lists
	*members
	*pages
	*retryKeys
	*sends
	*strangers
	*tasks
}

// base is what the parts have in common: the limits, the log and the clock, and how a caller stands to a group.
type base struct {
	opt     Options
	reader  InfoStore
	reviews ReviewStore
}

// New makes a Service over stores. Its loops run in Run.
func New(stores Store, opt Options) *Service {
	if opt.Limits == (Limits{}) {
		opt.Limits = DefaultLimits()
	}
	if opt.Direct == "" {
		opt.Direct = DirectAll
	}
	if opt.Add == "" {
		opt.Add = AddAll
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Now == nil {
		opt.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if opt.StoreNow == nil {
		opt.StoreNow = opt.Now
	}
	b := &base{opt: opt, reader: stores, reviews: stores}
	hints, known := newHints(stores, opt.Log), newKnown(stores)
	index, strangers := &index{b, stores}, &strangers{b, stores}
	groups := &groups{b, stores, stores, index, strangers}
	inboxes := &inboxes{b, stores, strangers}
	members := &members{b, stores, index, strangers}
	return &Service{base: b, cursors: &cursors{b, stores, hints}, groups: groups, hints: hints,
		holds: &holds{b, stores}, inboxes: inboxes, known: known, lists: &lists{b, stores, stores, stores},
		members: members, pages: &pages{b, stores}, retryKeys: &retryKeys{b, stores},
		sends: &sends{b, stores}, strangers: strangers, tasks: &tasks{b, stores, groups, inboxes, index, members}}
}

// Options are those of New, with the defaults filled in: what is built on the core shares its limits, log and clock.
func (s *base) Options() Options { return s.opt }

// Run keeps users' indexes close to their cursors, and the list of known users complete, until ctx ends, and returns once
// everything is written.
func (s *Service) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.hints.later.Run(ctx) }) // flush says what is not written
	wg.Go(func() {
		if err := s.known.later.Run(ctx); err != nil {
			s.opt.Log.WarnContext(ctx, "users who were seen for the first time were not noted", "error", err)
		}
	})
	wg.Wait()
	return nil
}
