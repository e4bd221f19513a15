package invite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/table"
)

// TableName is the name of the table of invitations without a group: operators make few of them.
const TableName = "invites"

// row is such an invitation as the table has it.
type row struct {
	Invite
	Hash    string   `json:"hash"`
	Revoked bool     `json:"revoked,omitempty"`
	Users   []string `json:"users,omitempty"` // who used it; empty for one who was erased since
}

// Table is the table of invitations without a group.
func (s *Service) Table() *table.Table[Record] { return s.table }

func decode(id, text string) (Record, error) {
	var r row
	err := json.Unmarshal([]byte(text), &r)
	r.ID = id
	return r.record(), err
}

func (r row) record() Record {
	r.Used = int64(len(r.Users))
	return Record{Invite: r.Invite, Hash: r.Hash, Revoked: r.Revoked, Trusted: true}
}

// createOfServer keeps an invitation without a group.
func (s *Service) createOfServer(ctx context.Context, by chat.Caller, r Record) (Record, error) {
	now, open := s.opt.Now(), 0
	var ended []Record
	for _, one := range s.table.All() {
		if one.Open(now) {
			open++
		} else {
			ended = append(ended, one)
		}
	}
	if open >= OpenMax {
		return Record{}, chat.Errorf(chat.CodeQuotaFull, "%d invitations can be used already, the maximum: revoke some", open)
	}
	slices.SortFunc(ended, func(a, b Record) int { return a.CreatedAt.Compare(b.CreatedAt.Time) })
	for i := range len(ended) + open - KeptMax + 1 { // the oldest make room
		if err := s.change(ctx, ended[i].ID, func(row) (*row, error) { return nil, nil }); err != nil && !errors.Is(err, chat.ErrNotFound) {
			return Record{}, err
		}
	}
	text, err := json.Marshal(row{Invite: r.Invite, Hash: r.Hash})
	if err != nil {
		return Record{}, err
	}
	_, err = s.table.Put(ctx, s.rows, table.Row{ID: r.ID, Text: string(text), Notes: []audit.Entry{Note(by, audit.InviteCreate, r.Invite)}})
	if errors.Is(err, chat.ErrConflict) {
		return s.ofServer(ctx, r.ID) // a repeat
	}
	return r, err
}

// ofServer reads an invitation without a group.
func (s *Service) ofServer(ctx context.Context, id string) (Record, error) {
	r, err := s.rows.Row(ctx, TableName, id)
	if errors.Is(err, chat.ErrNotFound) {
		return Record{}, ErrNotFound
	}
	if err != nil {
		return Record{}, chat.AsError(err)
	}
	return decode(id, r.Text)
}

// usesTries is how often a use is tried that meets others: of those, one has succeeded each time.
const usesTries = UsesMax / 8

// change changes an invitation without a group, with what the audit gets of that; nil removes it.
func (s *Service) change(ctx context.Context, id string, change func(row) (*row, error), notes ...audit.Entry) (err error) {
	for range usesTries {
		_, err = s.table.ChangeNoted(ctx, s.rows, id, func(text string) (string, []audit.Entry, error) {
			if text == "" {
				return "", nil, ErrNotFound
			}
			var r row
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				return "", nil, err
			}
			changed, err := change(r)
			if err != nil || changed == nil {
				return "", notes, err
			}
			b, err := json.Marshal(changed)
			return string(b), notes, err
		})
		if !errors.Is(err, chat.ErrConflict) {
			break
		}
	}
	return chat.AsError(err)
}

// MadeBy reads the invitations that the caller made to a group, or those without one where group is empty.
func (s *Service) MadeBy(ctx context.Context, by chat.Caller, group string) (made []Invite, err error) {
	all := s.table.All()
	if group != "" {
		if all, err = s.store.ListInvites(ctx, group); err != nil {
			return nil, chat.AsError(err)
		}
	}
	for _, r := range all {
		if r.CreatedBy == by.User {
			made = append(made, r.Invite)
		}
	}
	slices.SortFunc(made, func(a, b Invite) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt.Time), strings.Compare(a.ID, b.ID))
	})
	return made, nil
}

// Erase removes the invitations without a group that a user made, and the name from those that the user registered with; the use counts
// still. Those of groups go with what the groups keep of the user.
func (s *Service) Erase(ctx context.Context, user string) error {
	for _, one := range s.table.All() {
		err := s.change(ctx, one.ID, func(r row) (*row, error) {
			if r.CreatedBy == user {
				return nil, nil
			}
			for i := range r.Users {
				if r.Users[i] == user {
					r.Users[i] = ""
				}
			}
			return &r, nil
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

func (s *Service) revokeOfServer(ctx context.Context, by chat.Caller, id string) error {
	if !by.Admin || by.Reach != nil {
		return ErrNotFound
	}
	return s.change(ctx, id, func(r row) (*row, error) {
		r.Revoked = true
		return &r, nil
	}, Note(by, audit.InviteRevoke, Invite{ID: id}))
}

// redeemOfServer counts a use by user.
func (s *Service) redeemOfServer(ctx context.Context, of Record, user string) error {
	if !s.holds(of) {
		return ErrGone
	}
	return s.change(ctx, of.ID, func(r row) (*row, error) {
		switch {
		case slices.Contains(r.Users, user):
		case !r.record().Open(s.opt.Now()):
			return nil, ErrGone
		default:
			r.Users = append(r.Users, user)
		}
		return &r, nil
	})
}
