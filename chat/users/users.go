package users

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/table"
)

// TableName is the name of the table of users about whom something was decided.
const TableName = "users"

// rowsMax is how many users may be disabled or operators, or have tokens that were revoked: every node has them in memory, about 20 MiB.
const rowsMax = 100_000

// Store is what users need from a store.
type Store interface {
	table.Rows
	// NodesOf lists the live nodes on which a user has a session, by the names with which they report their presence.
	NodesOf(ctx context.Context, user string) ([]string, error)
}

// Sockets are the sessions of this node.
type Sockets interface {
	// RecheckUsers ends the sessions of these users that would no longer be let in.
	RecheckUsers(users []string)
	// Disconnect ends the sessions of a user; their clients may connect again.
	Disconnect(user string)
	// SessionsOf lists the sessions of a user. Node is left out.
	SessionsOf(user string) []Session
}

// Options of a Service.
type Options struct {
	Node string // the name with which this node reports its presence
	Now  func() time.Time
	Log  *slog.Logger
}

// Service decides about users. It is safe for concurrent use.
type Service struct {
	store   Store
	opt     Options
	sockets Sockets // nil until Attach
	users   *table.Table[Decision]
	asks    *table.Table[Ask]

	wake    chan struct{} // asks have changed, for Run; room for one
	mu      sync.Mutex
	changed chan struct{} // is closed when asks change, for those who wait for answers
}

// Decision is what was decided about a user: a row of the table of users.
type Decision struct {
	RevokedS int64 `json:"revoked_s,omitempty"` // tokens issued in this second (Unix) or before are void; 0: none is
	Disabled bool  `json:"disabled,omitempty"`
	Operator bool  `json:"operator,omitempty"` // whatever the role in a token
}

// New makes a Service. Its Tables have to be followed.
func New(store Store, opt Options) *Service {
	s := &Service{store: store, opt: opt, wake: make(chan struct{}, 1), changed: make(chan struct{})}
	s.users = table.New(TableName, rowsMax, decode, func(ids []string) {
		if s.sockets != nil {
			s.sockets.RecheckUsers(ids)
		}
	}, opt.Log)
	s.asks = table.New(asksName, asksMax, decodeAsk, func([]string) { s.asksChanged() }, opt.Log)
	return s
}

// Attach names the sessions of this node. It must be called before the tables are followed.
func (s *Service) Attach(sockets Sockets) { s.sockets = sockets }

// Users is the table of what was decided.
func (s *Service) Users() *table.Table[Decision] { return s.users }

// Asks is the table of what nodes ask each other.
func (s *Service) Asks() *table.Table[Ask] { return s.asks }

func decode(_, text string) (d Decision, err error) {
	err = json.Unmarshal([]byte(text), &d)
	return d, err
}

var errRevoked = chat.Errorf(chat.CodeUnauthenticated, "the token was revoked: sign in again")

// ErrDisabled refuses a disabled user.
var ErrDisabled = chat.Errorf(chat.CodeForbidden, "the user is disabled")

// Disabled tells whether a user is disabled.
func (s *Service) Disabled(user string) bool {
	d, _ := s.users.Get(user)
	return d.Disabled
}

// Operator tells whether a user was made an operator.
func (s *Service) Operator(user string) bool {
	d, _ := s.users.Get(user)
	return d.Operator
}

// CheckToken refuses a token of a user that was revoked, or any if the user is disabled. issuedS is when it was issued, in Unix
// seconds; 0: it does not say.
func (s *Service) CheckToken(user string, issuedS int64) error {
	d, ok := s.users.Get(user)
	switch {
	case !ok:
		return nil
	case d.Disabled:
		return ErrDisabled
	case d.RevokedS != 0 && issuedS <= d.RevokedS:
		return errRevoked
	}
	return nil
}

// Revoke makes void the tokens of a user that were issued at a time or before, and those that do not say when; nil: now. What was
// revoked before stays so. It holds on this node at once and on every other within a second.
func (s *Service) Revoke(ctx context.Context, by chat.Caller, user string, before *time.Time) error {
	if err := chat.CheckUserID("user", user); err != nil {
		return err
	}
	at := s.opt.Now()
	if before != nil {
		if before.After(at) {
			return chat.Errorf(chat.CodeOutOfRange, "before: must not be in the future")
		}
		at = *before
	}
	_, err := s.change(ctx, user, func(d *Decision) { d.RevokedS = max(d.RevokedS, at.Unix()) }, func(Decision, Decision) []audit.Entry {
		if by.User == user {
			return nil
		}
		return []audit.Entry{audit.Note(by, audit.UserRevoke, "", user, nil)}
	})
	return err
}

// Decide changes whether a user is disabled and an operator, where that is not nil, and tells whether it was different before.
func (s *Service) Decide(ctx context.Context, by chat.Caller, user string, disabled, operator *bool) (changed bool, err error) {
	_, err = s.change(ctx, user, func(d *Decision) {
		before := *d
		if disabled != nil {
			d.Disabled = *disabled
		}
		if operator != nil {
			d.Operator = *operator
		}
		changed = *d != before
	}, func(before, after Decision) (notes []audit.Entry) {
		if before.Disabled != after.Disabled {
			action := audit.UserEnable
			if after.Disabled {
				action = audit.UserDisable
			}
			notes = append(notes, audit.Note(by, action, "", user, nil))
		}
		if before.Operator != after.Operator {
			notes = append(notes, audit.Note(by, audit.UserRole, "", user, struct {
				Operator bool `json:"operator"`
			}{after.Operator}))
		}
		return notes
	})
	return changed, err
}

// Erase makes an erased user no operator, so that whoever gets the name next is none. That the user is disabled, and which tokens are void,
// stays: it keeps tokens out.
func (s *Service) Erase(ctx context.Context, user string) error {
	_, err := s.change(ctx, user, func(d *Decision) { d.Operator = false }, func(Decision, Decision) []audit.Entry { return nil })
	return err
}

// change changes what is decided about a user, with what the audit gets of it, and returns the version of the row; 0: nothing is decided, and nothing was.
func (s *Service) change(ctx context.Context, user string, change func(*Decision), notes func(before, after Decision) []audit.Entry) (version int64, err error) {
	row, err := s.users.ChangeNoted(ctx, s.store, user, func(text string) (string, []audit.Entry, error) {
		var before Decision
		if text != "" {
			var err error
			if before, err = decode(user, text); err != nil {
				return "", nil, fmt.Errorf("what is decided about user %s cannot be read: %w", user, err)
			}
		}
		after := before
		change(&after)
		switch after {
		case before:
			return text, nil, nil
		case Decision{}:
			return "", notes(before, after), nil
		}
		changed, err := json.Marshal(after)
		return string(changed), notes(before, after), err
	})
	return row.Version, chat.AsError(err)
}
