package auth

import (
	"context"
	"net/netip"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/users"
)

// Gate tells who calls, by a token or by a key.
type Gate struct {
	Tokens   *Verifier
	Keys     *keys.Service
	Users    *users.Service
	Profiles *profiles.Service // is filled from tokens, and learns whom they let in
	// CheckLogin refuses the tokens of a login that has ended; nil: there are no logins.
	CheckLogin func(login string) error
}

var errActs = chat.Errorf(chat.CodeForbidden, "Chatd-As: only a key acts for others")

// Verify implements Verify.
func (g *Gate) Verify(ctx context.Context, c Credentials) (Identity, error) {
	if !keys.Is(c.Token) {
		who, err := g.Tokens.Verify(ctx, c.Token)
		if err == nil && c.As != "" {
			err = errActs
		}
		if err != nil {
			return Identity{}, err
		}
		if who, err = g.checked(who); err != nil {
			return who, err
		}
		g.Profiles.Saw(who.User)
		if who.claims.Name != "" || who.claims.Picture != "" {
			g.Profiles.Fill(ctx, who.User, who.claims)
		}
		return who, nil
	}
	k, ends, err := g.Keys.Verify(c.Token, c.From)
	if err != nil {
		return Identity{}, err
	}
	if c.As != "" {
		if err := chat.CheckUserID("Chatd-As", c.As); err != nil {
			return Identity{}, err
		}
		if !k.ActsFor(c.As) {
			return Identity{}, chat.Errorf(chat.CodeForbidden, "as: the key may not act for this user")
		}
		if g.Users.Disabled(c.As) {
			return Identity{}, users.ErrDisabled
		}
	}
	g.Keys.Used(ctx, k)
	return Identity{User: c.As, Key: k, Expires: ends, proof: c.Token}, nil
}

// checked is whom a verified token is for, by what is decided about the user.
func (g *Gate) checked(who Identity) (Identity, error) {
	who.byRole = who.Admin
	who.Admin = who.Admin || g.Users.Operator(who.User)
	if err := g.Users.CheckToken(who.User, who.IssuedS); err != nil || who.Login == "" || g.CheckLogin == nil {
		return who, err
	}
	return who, g.CheckLogin(who.Login)
}

var (
	errActsNoMore = chat.Errorf(chat.CodeUnauthenticated, "the key may no longer act for this user")
	errOtherReach = &chat.Error{Code: chat.CodeUnavailable, Message: otherReach, Advice: otherReach, RetryAfter: time.Second}
)

const otherReach = "the groups of the key have changed meanwhile; try again"

// Again returns who as they would be let in now from an address: what sessions and calls that go on ask, since keys and users change.
// Otherwise it returns why not, as Verify does. A key that is bound to other groups by now is refused, as what goes on was begun for those
// before. That a token ends is for the session to know.
func (g *Gate) Again(who Identity, from netip.Addr) (Identity, error) {
	if who.Key == nil {
		who.Admin = who.byRole
		return g.checked(who)
	}
	if g.Users.Disabled(who.User) {
		return Identity{}, users.ErrDisabled
	}
	k, ends, err := g.Keys.Verify(who.proof, from)
	switch {
	case err != nil:
		return Identity{}, err
	case who.User != "" && !k.ActsFor(who.User):
		return Identity{}, errActsNoMore
	}
	now := Identity{User: who.User, Key: k, Expires: ends, proof: who.proof}
	if !now.SameReach(who) {
		return Identity{}, errOtherReach
	}
	return now, nil
}
