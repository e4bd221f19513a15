package auth

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// Identity is the user that a verified token names.
type Identity struct {
	User    string
	Admin   bool      // an operator or a backend
	Expires time.Time // when the token ends, without any leeway
}

// Caller is the identity in the form of the domain.
func (i Identity) Caller() chat.Caller { return chat.Caller{User: i.User, Admin: i.Admin} }

// Verify checks a bearer token. Its error is a *chat.Error: unauthenticated for a refused token, saying why in at most
// 123 bytes, or unavailable if the keys to check it cannot be read.
type Verify func(ctx context.Context, token string) (Identity, error)
