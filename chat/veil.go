package chat

import (
	"context"
	"encoding/json"
	"errors"
)

// smallGroup is up to how many members a group has in which who hides is not even counted: in one of three, a number is a name.
const smallGroup = 20

// Hides tells whether a user hides what they have seen and read, and so sees of nobody.
func (s *base) Hides(user string) bool { return s.opt.Hides != nil && s.opt.Hides(user) }

// Veiled tells whether what user has seen and read is hidden from the caller in a group where receipts say that.
func (s *base) Veiled(by string, r Receipting, user string) bool {
	switch {
	case by == user, r == ReceiptsRequired:
		return false
	case r == ReceiptsCounts, r == ReceiptsOff:
		return true
	}
	return s.Hides(user) || s.Hides(by)
}

// Veil hides from the caller what a member has seen and read, where it is hidden.
func (s *base) Veil(ctx context.Context, by Caller, group string, m *Member) error {
	if m.User == by.User {
		return nil
	}
	list, err := s.reader.Infos(ctx, by.User, []string{group})
	if err != nil {
		return AsError(err)
	}
	m.Veiled = s.Veiled(by.User, list[0].Receipts, m.User)
	return nil
}

// MarshalJSON writes m; what is hidden is null.
func (m Member) MarshalJSON() ([]byte, error) {
	type plain Member
	if !m.Veiled {
		return json.Marshal(plain(m))
	}
	return json.Marshal(struct {
		plain
		Seen *int64 `json:"seen"`
		Read *int64 `json:"read"`
	}{plain: plain(m)})
}

// veiled are receipts as the caller may see them. read reads more of them, of a message.
func (s *cursors) veiled(ctx context.Context, by Caller, r Receipts, after string, read func(after string, limit int) (Receipts, error)) (Receipts, error) {
	switch {
	case r.Receipting == ReceiptsOff:
		return Receipts{ID: r.ID}, nil
	case r.Receipting == ReceiptsRequired:
		return r, nil
	case r.Receipting == ReceiptsOptional && s.opt.Hides == nil:
		return r, nil
	}
	if r.All <= smallGroup && r.Receipting == ReceiptsOptional {
		whole := r
		if after != "" || r.Next != "" {
			var err error
			if whole, err = read("", smallGroup); err != nil {
				return Receipts{}, err
			}
		}
		hidden := func(user string) bool { return user != by.User && s.Hides(user) }
		for _, one := range whole.SeenBy {
			if hidden(one.User) {
				r.Members, r.Seen = r.Members-1, r.Seen-1
				if one.Read >= r.ID {
					r.Read--
				}
			}
		}
		for _, user := range whole.Pending {
			if hidden(user) {
				r.Members--
			}
		}
	}
	if r.Receipting == ReceiptsCounts || s.Hides(by.User) {
		r.SeenBy, r.Pending, r.Next = nil, nil, ""
		return r, nil
	}
	// A page does not end at somebody who hides: the cursor would name them.
	for n := 0; n < 20 && s.Hides(r.LastUser) && r.Next != ""; n++ {
		more, err := read(r.Next, smallGroup)
		if err != nil {
			return Receipts{}, err
		}
		r.SeenBy, r.Pending = append(r.SeenBy, more.SeenBy...), append(r.Pending, more.Pending...)
		r.Next, r.LastUser = more.Next, more.LastUser
	}
	var seenBy []Receipt
	for _, one := range r.SeenBy {
		if !s.Veiled(by.User, r.Receipting, one.User) {
			seenBy = append(seenBy, one)
		}
	}
	var pending []string
	for _, user := range r.Pending {
		if !s.Veiled(by.User, r.Receipting, user) {
			pending = append(pending, user)
		}
	}
	r.SeenBy, r.Pending = seenBy, pending
	return r, nil
}

// unnamed is a refusal of a send without the names of members who are too far behind and hide how far they are, unless the caller
// manages the group.
func (s *base) unnamed(ctx context.Context, by Caller, group string, err error) error {
	var full *Error
	if by.Admin || !errors.As(err, &full) || len(full.Blockers) == 0 {
		return err
	}
	list, infoErr := s.reader.Infos(ctx, by.User, []string{group})
	if infoErr != nil || list[0].Role.Manages() {
		return err
	}
	var named []Blocker
	for _, b := range full.Blockers {
		if !s.Veiled(by.User, list[0].Receipts, b.User) {
			named = append(named, b)
		}
	}
	if len(named) == len(full.Blockers) {
		return err
	}
	return BacklogFull(named)
}
