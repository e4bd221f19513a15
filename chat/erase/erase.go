package erase

import (
	"cmp"
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
)

// State says how far an erasure is.
type State string

// The states of an erasure.
const (
	Pending State = "pending"
	Running State = "running"
	Done    State = "done" // of all but what is held
)

// Erasure is the report of one.
type Erasure struct {
	ID       string   `json:"id"`
	State    State    `json:"state"`
	Messages int64    `json:"messages"` // whose content was erased, direct messages too
	Groups   int64    `json:"groups"`   // that had something of the person
	Held     []string `json:"held"`     // groups under a legal hold: what they have is erased when that ends
}

// Service erases people.
type Service struct {
	core      *chat.Service
	store     Store
	logs      Logs
	db        Archive // nil: there is none
	schedules schedule.Store
	events    Events
	elsewhere []func(ctx context.Context, user string) error
	opt       chat.Options
	runs      chan struct{} // one for each erasure that is carried out
}

// New makes a Service. logs are those that the core serves, with what is in the archive; db is nil where there is none. Each of elsewhere
// removes what another part keeps of a person, and may be repeated.
func New(core *chat.Service, store Store, logs Logs, db Archive, schedules schedule.Store, events Events, elsewhere ...func(ctx context.Context, user string) error) *Service {
	return &Service{core: core, store: store, logs: logs, db: db, schedules: schedules, events: events, elsewhere: elsewhere, opt: core.Options(), runs: make(chan struct{}, runsMax)}
}

// Begin begins the erasure of a user, or returns the one that is under way. Everyone may erase themselves, operators anyone.
func (s *Service) Begin(ctx context.Context, by chat.Caller, user string) (Erasure, error) {
	if err := cmp.Or(chat.CheckCaller(by), chat.CheckUserID("user", user)); err != nil {
		return Erasure{}, err
	}
	if by.User != user {
		if err := chat.CheckOperator(by); err != nil {
			return Erasure{}, err
		}
	}
	id, err := s.store.BeginErasure(ctx, by, user)
	if err != nil {
		return Erasure{}, chat.AsError(err)
	}
	r, err := s.store.Erasure(ctx, id)
	return r.Erasure, chat.AsError(err)
}

// Get is the report of an erasure, for operators.
func (s *Service) Get(ctx context.Context, by chat.Caller, id string) (Erasure, error) {
	if err := chat.CheckOperator(by); err != nil {
		return Erasure{}, err
	}
	if !chat.ValidID(id) {
		return Erasure{}, chat.ErrNotFound
	}
	r, err := s.store.Erasure(ctx, id)
	return r.Erasure, chat.AsError(err)
}
