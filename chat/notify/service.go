package notify

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// Options are what a Service needs besides the core and a store.
type Options struct {
	Delay  time.Duration // from a new message to its fan-out
	Pusher Pusher        // reaches devices; nil: nothing is delivered
	// Disabled tells whether a user gets no notifications at all; nil: nobody.
	Disabled func(user string) bool
	// Blocked tells whom of others a user blocks; nil: nobody.
	Blocked func(ctx context.Context, user string, others []string) (map[string]bool, error)
	// Name is the name of a user; empty: they have none. nil: nobody has.
	Name func(ctx context.Context, user string) string
	// Opened knows which groups sessions here have open; nil: none.
	Opened Opened
}

// Opened knows which groups the sessions of a node have open.
type Opened interface {
	Opened() []string
	// Alive tells how many nodes are alive where groups lie.
	Alive(groups []string, alive []int64)
}

// Service notifies offline members. It is safe for concurrent use.
type Service struct {
	core     *chat.Service
	store    Store
	opt      chat.Options
	delay    time.Duration
	pusher   Pusher
	disabled func(user string) bool
	blocked  func(ctx context.Context, user string, others []string) (map[string]bool, error)
	name     func(ctx context.Context, user string) string
	presence *sessions
	opened   Opened
	key      pushKey
}

// New makes a Service that shares the limits, the log and the clock of core. Run reports presence.
func New(core *chat.Service, store Store, opt Options) *Service {
	return &Service{core: core, store: store, opt: core.Options(), delay: opt.Delay, pusher: opt.Pusher, disabled: opt.Disabled, blocked: opt.Blocked, name: opt.Name, opened: opt.Opened, presence: newSessions()}
}

// Node is the name with which this node reports who has a session here.
func (s *Service) Node() string { return s.presence.node }

// Handlers returns the tasks of notifications, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{
		TaskFanOut:   chat.Handle(s.fanOut),
		TaskInbox:    chat.Handle(s.fanOutInbox),
		TaskDispatch: chat.Handle(s.dispatch),
		TaskPush:     s.pushKind(),
	}
}

// Run reports who has a session on this node until ctx ends, and returns when the store knows that all of them have
// ended.
func (s *Service) Run(ctx context.Context) error {
	// If there are devices, this node's delay applies from now on.
	if err := s.store.WantNotify(ctx, s.delay, true); err != nil && ctx.Err() == nil {
		s.opt.Log.WarnContext(ctx, "cannot set the delay of notifications; the stored one stays", "error", err)
	}
	s.runPresence(ctx)
	return nil
}
