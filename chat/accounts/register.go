package accounts

import (
	"cmp"
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
)

// Registration says who may register.
type Registration string

// Who may register.
const (
	RegisterInvited Registration = "invite" // who has an invitation
	RegisterOpen    Registration = "open"   // everybody
	RegisterClosed  Registration = "closed" // nobody
)

// Invitations let people register.
type Invitations interface {
	// Valid tells whether a code holds: ErrNotFound, or gone.
	Valid(ctx context.Context, code string) error
	// Use uses a code for a user, once however often it is repeated. Its errors are those of Valid: nothing was done then.
	Use(ctx context.Context, code, user string) error
}

// Registration tells who may register.
func (s *Service) Registration() Registration { return s.opt.Registration }

// Draft is a registration.
type Draft struct {
	User, Password, Code string
	Name                 string // empty: none
	Admin                bool   // for operators
}

// Register makes an account. by is an operator, who asks for no invitation and may give an account to a user whom the server knows already,
// or nil: who gets the account asks for it. ErrExists: the id is taken.
func (s *Service) Register(ctx context.Context, d Draft, by *chat.Caller) error {
	if err := chat.CheckUserID("user", d.User); err != nil {
		return err
	}
	if by == nil {
		switch {
		case s.opt.Registration == RegisterClosed:
			return errClosed
		case d.Code != "" && s.opt.Invitations == nil:
			return errNoInvite
		case d.Code != "":
			return s.registerInvited(ctx, d)
		case s.opt.Registration == RegisterInvited:
			return errInvite
		}
	}
	a, err := s.draft(ctx, d.User, d.Password, d.Name)
	if err != nil {
		return err
	}
	who, note := chat.Caller{User: d.User}, audit.Entry{}
	if by != nil {
		a.Admin, who, note = d.Admin, *by, audit.Note(*by, audit.AccountCreate, "", d.User, nil)
	}
	if err := s.create(ctx, d.User, a, by == nil, note); err != nil {
		return err
	}
	if a.Admin {
		if err := s.hasOperator(ctx, d.User); err != nil {
			return err
		}
	}
	return s.change(ctx, d.User, nil, func(a *account, _ bool) error { return s.settle(ctx, who, d.User, a) })
}

// settle gives a user the role and the name that the account holds for them. They leave the account with its next change: until then, after
// a crash too, each sign-in gives them again. by is whom the audit names.
func (s *Service) settle(ctx context.Context, by chat.Caller, user string, a *account) error {
	if a.Admin || a.Setup && s.known().Operator == user {
		operator := true
		if _, err := s.opt.Users.Decide(ctx, by, user, nil, &operator); err != nil {
			return err
		}
		a.Admin, a.Setup = false, false
	}
	if a.Name != "" {
		if err := s.opt.Introduce(ctx, user, a.Name); err != nil {
			return err
		}
		a.Name = ""
	}
	return nil
}

// registerInvited makes an account for who has an invitation. It is pending until the invitation is used, so that a refusal uses none, and
// after a crash between the two steps a repetition with the same password goes on.
func (s *Service) registerInvited(ctx context.Context, d Draft) error {
	if err := s.opt.Invitations.Valid(ctx, d.Code); err != nil {
		return err
	}
	a, err := s.draft(ctx, d.User, d.Password, d.Name)
	if err != nil {
		return err
	}
	a.Pending = true
	if err := s.create(ctx, d.User, a, true, audit.Entry{}); err != nil {
		begun, _, readErr := s.account(ctx, d.User)
		if readErr != nil || !begun.Pending {
			return cmp.Or(readErr, err)
		}
		if same, matchErr := s.hasher.matches(ctx, begun.Password, d.Password); matchErr != nil || !same {
			return cmp.Or(chat.AsError(matchErr), err)
		}
	}
	if err := s.opt.Invitations.Use(ctx, d.Code, d.User); err != nil {
		return err // the account stays pending: with another invitation it goes on
	}
	return s.change(ctx, d.User, nil, func(a *account, there bool) error {
		if !there {
			return nil
		}
		a.Pending = false
		return s.settle(ctx, chat.Caller{User: d.User}, d.User, a)
	})
}

// draft makes a record with a password, and with a name unless that is empty.
func (s *Service) draft(ctx context.Context, user, password, name string) (a account, err error) {
	if err = CheckPassword(user, password); err == nil && name != "" {
		name, err = s.opt.CheckName(name)
	}
	if err != nil {
		return a, err
	}
	hash, err := s.hasher.hash(ctx, password)
	return account{Password: hash, Name: name, CreatedMs: s.opt.Now().UnixMilli()}, err
}

// create stores a new account. fresh asks for an id that nobody has used. The audit gets note.
func (s *Service) create(ctx context.Context, user string, a account, fresh bool, note audit.Entry) error {
	if fresh {
		if _, decided := s.opt.Users.Users().Get(user); decided {
			return errExists
		}
		if err := s.opt.Flush(ctx); err != nil {
			return err
		}
	}
	if err := s.hasAny(ctx); err != nil { // before: the development sign-in may not outlive the first account
		return err
	}
	text, err := a.encode()
	if err != nil {
		return chat.AsError(err)
	}
	err = s.store.PutAccount(ctx, user, "", text, fresh, note)
	if errors.Is(err, chat.ErrConflict) || errors.Is(err, chat.ErrExists) {
		return errExists
	}
	return chat.AsError(err)
}
