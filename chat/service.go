// Package chat is the domain: groups as logs, members as cursors into them, inboxes, and the readers that pull. It knows
// no Redis and no HTTP. All methods of Service may be called from many goroutines.
package chat

import (
	"encoding/json"
	"log/slog"
	"time"
)

// Options are what a Service needs.
type Options struct {
	Limits Limits
	Direct DirectPolicy // whom one may write to directly
	Add    AddPolicy    // whom one may put into a group
	Log    *slog.Logger
	Now    func() int64 // ms since the Unix epoch; for display only, order is the id
}

// GroupDraft is what a client asks for when it creates a group. Nil fields take the defaults of the wire contract.
type GroupDraft struct {
	// Key is the Idempotency-Key of the request, or empty: a creation that is repeated with it, and with the same
	// content, makes no second group.
	Key          string
	ID           string // empty: the server makes one
	Name         string
	Members      []string
	Visibility   Visibility
	Keep         *int64
	BacklogMax   *int64
	Post         Posting
	History      *bool
	RetainDays   *int64   `json:",omitempty"`
	Overflow     Overflow `json:",omitempty"`
	BacklogBytes *int64   `json:",omitempty"`
}

// GroupView is a group in the list of its member.
type GroupView struct {
	Group
	Seen           int64           `json:"seen"`
	Read           int64           `json:"read"`
	Unread         int64           `json:"unread"`
	MentionsUnread int64           `json:"mentions_unread"`
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

// MessageView is a message of GET messages with its reactions; Reactions is nil where there are none.
type MessageView struct {
	Message
	Reactions map[string]ReactionCount
}

// UnreadCounts of a user over all groups; Groups holds those with unread messages.
type UnreadCounts struct {
	Total    int64            `json:"total"`
	Mentions int64            `json:"mentions"`
	Groups   map[string]int64 `json:"groups"`
}

// Service is the domain. Create one with New, run its loops with Run.
type Service struct {
	stores Store
	opt    Options
	hints  *hints
	known  *known
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
	return &Service{stores: stores, opt: opt, hints: newHints(), known: newKnown()}
}

// Options are those of New, with the defaults filled in: what is built on the core shares its limits, log and clock.
func (s *Service) Options() Options { return s.opt }
