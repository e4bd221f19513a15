package accounts

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Own is what an account says about its user, to that user. Logins are listed apart.
type Own struct {
	CreatedAt chat.Time `json:"created_at"`
	Role      string    `json:"role,omitempty"` // admin, or none
	Password  bool      `json:"password"`       // one is set
	By        *Provider `json:"by,omitempty"`   // who vouches for the user
}

// Own reads the account of a user, without its secrets; nil: there is none.
func (s *Service) Own(ctx context.Context, user string) (*Own, error) {
	a, text, err := s.account(ctx, user)
	if err != nil || text == "" {
		return nil, err
	}
	own := &Own{CreatedAt: chat.TimeMs(a.CreatedMs), Password: a.Password != "", By: a.By}
	if s.isOperator(user, a) {
		own.Role = "admin"
	}
	return own, nil
}
