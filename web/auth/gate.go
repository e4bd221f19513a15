package auth

import (
	"context"
	"net/netip"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/chat/users"
)

// Gate tells who calls, by a token or by a key.
type Gate struct {
	Tokens *Verifier
	Keys   *keys.Service
	Users  *users.Service
}

var errActs = chat.Errorf(chat.CodeForbidden, "Chatd-As: only a key acts for others")

// Verify implements Verify.
func (g *Gate) Verify(ctx context.Context, c Credentials) (Identity, error) {
	if !keys.Is(c.Token) {
		if c.As != "" {
			return Identity{}, errActs
		}
		who, err := g.Tokens.Verify(ctx, c.Token)
		if err != nil {
			return Identity{}, err
		}
		return who, g.Users.CheckToken(who.User, who.IssuedS)
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

// Holds returns nil if who would be let in again now from an address: what a session asks after keys or users have changed. Otherwise
// it returns why not, as Verify does. That a token ends is for the session to know.
func (g *Gate) Holds(who Identity, from netip.Addr) error {
	if who.Key == nil {
		return g.Users.CheckToken(who.User, who.IssuedS)
	}
	if g.Users.Disabled(who.User) {
		return users.ErrDisabled
	}
	k, _, err := g.Keys.Verify(who.proof, from)
	if err != nil {
		return err
	}
	if !k.ActsFor(who.User) || !k.Has(keys.Read) {
		return chat.Errorf(chat.CodeUnauthenticated, "the key may no longer act for this user")
	}
	return nil
}
