package accounts

import (
	"context"
	"fmt"
	"regexp"

	"github.com/chatd/chatd/chat"
)

// walkUsers is how many users one step of a list looks at, most of whom may have no account.
const walkUsers = 500

// position is what UsersFrom takes.
var position = regexp.MustCompile(`^([0-9]{1,4} [^\x00-\x20\x7f]*)?$`)

// Page is a part of the list of accounts.
type Page struct {
	Accounts []Account
	Next     string // empty: the end
}

// List lists accounts, in no particular order: at least one and about as many as a step finds, as long as there are some.
func (s *Service) List(ctx context.Context, cursor string) (p Page, err error) {
	if !position.MatchString(cursor) {
		return p, chat.Invalid("cursor: want the next of an answer")
	}
	p.Accounts, p.Next = []Account{}, cursor
	for {
		var known []string
		if known, p.Next, err = s.store.UsersFrom(ctx, p.Next, walkUsers); err != nil {
			return p, chat.AsError(err)
		}
		texts, err := s.store.AccountsOf(ctx, known)
		if err != nil {
			return p, chat.AsError(err)
		}
		for i, user := range known {
			if texts[i] == "" {
				continue
			}
			a, err := decodeAccount(texts[i])
			if err != nil {
				return p, chat.AsError(fmt.Errorf("the account of %s cannot be read: %w", user, err))
			}
			v := Account{User: user, CreatedAt: chat.TimeMs(a.CreatedMs), Disabled: s.opt.Users.Disabled(user)}
			for _, l := range a.Logins {
				if s.opt.Now().Before(l.ends()) {
					v.Logins++
				}
			}
			if s.isOperator(user, a) {
				v.Role = "admin"
			}
			p.Accounts = append(p.Accounts, v)
		}
		if len(p.Accounts) > 0 || p.Next == "" {
			return p, nil
		}
	}
}
