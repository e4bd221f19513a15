package auth

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/chat/profiles"
)

// Credentials are what a caller presents.
type Credentials struct {
	Token string     // a token of a person or an operator, or a key
	As    string     // the user whom a key acts for; empty: nobody
	From  netip.Addr // the address that the call comes from
}

// Identity is who makes a call: a person, an operator, or a program with a key, which acts for a user or for itself.
type Identity struct {
	User    string          // empty: a key that acts for nobody
	Admin   bool            // an operator
	Key     *keys.Key       // nil: User's own token
	Expires time.Time       // when the token or the key ends, without any leeway; the zero time: no end is known
	Login   string          // that the token is of; empty: it is of none of this server
	IssuedS int64           // when the token was issued, Unix seconds; 0: it does not say, or it is a key
	proof   string          // of a key: what shows later that it still holds
	claims  profiles.Claims // that fill the profile of the user
	byRole  bool            // an operator by the role in the token, whatever is decided about the user
}

// Caller is the identity in the form of the domain. A key that acts for nobody manages as an operator does, as far as its scopes
// and groups go: those are checked before.
func (i Identity) Caller() chat.Caller {
	by := chat.Caller{User: i.User, Admin: i.Admin}
	if i.Key != nil {
		by.Via = i.Key.ID
		if i.Key.Bound() {
			by.Reach = i.Key
		}
		if i.User == "" {
			by.User, by.Admin = i.Key.Name(), true
		}
	}
	return by
}

// SameReach tells whether two identities may have to do with the same groups.
func (i Identity) SameReach(other Identity) bool {
	var mine, others []string // nil: all
	if i.Key != nil {
		mine = i.Key.Draft.Groups
	}
	if other.Key != nil {
		others = other.Key.Draft.Groups
	}
	return (mine == nil) == (others == nil) && slices.Equal(mine, others)
}

// Again returns who as they would be let in now from an address, or why they would not be: see Gate.
type Again func(who Identity, from netip.Addr) (Identity, error)

// Verify finds out who presents credentials. Its error is a *chat.Error: unauthenticated for a refused token or key, saying why in
// at most 123 bytes, forbidden for a key that may not act so and for a disabled user, or unavailable if what is needed to check a token cannot be read.
type Verify func(ctx context.Context, c Credentials) (Identity, error)
