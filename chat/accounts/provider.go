package accounts

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/users"
)

// Provider is where a user signs in instead of here, and as whom.
type Provider struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"` // the same for ever, while names and addresses may go to somebody else
}

var errOthers = chat.Errorf(chat.CodeForbidden, "the name belongs to someone who signs in in another way")

// SignInBy signs in a user for whom a provider vouches. The first time makes the account; it then belongs to that person at the provider. Its
// error is forbidden for a disabled user, and where the account is someone else's.
func (s *Service) SignInBy(ctx context.Context, by Provider, user string, from Client) (Pair, error) {
	if err := s.admits(ctx, user); err != nil {
		return Pair{}, err
	}
	return s.signIn(ctx, user, from, func(a *account, there bool) error { return a.own(there, by, s.opt.Now()) })
}

// MakeCodeBy makes a link code for a user for whom a provider vouches: for a program that cannot have the cookie. Its errors are those of SignInBy.
func (s *Service) MakeCodeBy(ctx context.Context, by Provider, user string) (Code, error) {
	if err := s.admits(ctx, user); err != nil {
		return Code{}, err
	}
	secret := random(16)
	c := newCode(user, secret, s.opt.Now().Add(linkTTL))
	return c, s.change(ctx, user, nil, func(a *account, there bool) error {
		hash := sha256.Sum256(secret)
		a.Codes = append(a.Codes, code{Hash: hash[:], Kind: CodeLink, EndsS: c.Expires.Unix()})
		return a.own(there, by, s.opt.Now())
	})
}

func (s *Service) admits(ctx context.Context, user string) error {
	if s.opt.Users.Disabled(user) {
		return users.ErrDisabled
	}
	return s.hasAny(ctx)
}

// own makes an account that is not there the person's, and refuses another's.
func (a *account) own(there bool, by Provider, now time.Time) error {
	switch {
	case !there:
		a.CreatedMs, a.By = now.UnixMilli(), &by
	case a.By == nil || *a.By != by:
		return errOthers
	}
	return nil
}
