// Package drafts is what users have begun to write in groups, for all their devices.
package drafts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
)

// bytesMax bounds the body and the data of a draft together.
const bytesMax = 16 << 10

// afterwards is how long what follows a write may take where the caller does not wait any longer.
const afterwards = 10 * time.Second

// Draft is what a user has begun to write in a group.
type Draft struct {
	Body    string          `json:"body"`
	Data    json.RawMessage `json:"data,omitempty"`
	ReplyTo *int64          `json:"reply_to,omitempty"`
	Thread  *int64          `json:"thread,omitempty"`
	Rev     int64           `json:"rev"` // grows with each change, as the client counts
}

// Of is a draft and its group.
type Of struct {
	Group string `json:"group"`
	Draft
}

// Kept is a draft as the store keeps it, with the epoch of the group that it was written in.
type Kept struct {
	Group string
	Epoch string
	JSON  json.RawMessage
}

// Store keeps drafts. Every method is one atomic step and may be repeated. Errors are those of chat.Store.
type Store interface {
	// PutDraft keeps a draft, unless one of the same epoch has a higher revision, or the same one with other content: ErrConflict.
	// The user's sessions get a signal. CodeQuotaFull: Limits.UserDraftsMax.
	PutDraft(ctx context.Context, user string, d Kept, rev int64) error
	// DropDraft forgets a draft, if there is one. The user's sessions get a signal.
	DropDraft(ctx context.Context, user, group string) error
	// Draft reads a draft. ErrNotFound: there is none.
	Draft(ctx context.Context, user, group string) (Kept, error)
	// DraftsOf reads the drafts of a user, of any epoch.
	DraftsOf(ctx context.Context, user string) ([]Kept, error)
}

// Service keeps drafts. It may be used from many goroutines.
type Service struct {
	core  *chat.Service
	store Store
}

// New makes a Service.
func New(core *chat.Service, store Store) *Service { return &Service{core, store} }

// Put keeps what the caller has begun to write in a group, and tells their other sessions. ErrConflict: what is kept has a higher
// revision, or this one with other content. CodeTooLarge: its body and data have more than 16 KiB. CodeQuotaFull: Limits.UserDraftsMax.
func (s *Service) Put(ctx context.Context, by chat.Caller, group string, d Draft) (Draft, error) {
	d, text, err := d.checked()
	if err != nil {
		return Draft{}, err
	}
	info, err := s.core.MayRead(ctx, by, group)
	if err != nil {
		return Draft{}, err
	}
	if err := s.store.PutDraft(ctx, by.User, Kept{group, info.Epoch, text}, d.Rev); err != nil {
		return Draft{}, chat.AsError(err)
	}
	// The user may have left in the meantime, and what leaving forgets is forgotten already. This is done also for a caller who is gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	_, err = s.core.MayRead(ctx, by, group)
	if errors.Is(err, chat.ErrNotFound) || errors.Is(err, chat.ErrForbidden) {
		err = cmp.Or(chat.AsError(s.store.DropDraft(ctx, by.User, group)), err)
	}
	return d, err
}

// checked is the draft as it is kept, also as JSON.
func (d Draft) checked() (Draft, json.RawMessage, error) {
	err := cmp.Or(chat.CheckRange("rev", &d.Rev, 1, chat.IDMax), chat.CheckRange("reply_to", d.ReplyTo, 1, chat.IDMax),
		chat.CheckRange("thread", d.Thread, 1, chat.IDMax))
	switch {
	case err != nil:
	case !utf8.ValidString(d.Body):
		err = chat.Invalid("body: not valid UTF-8")
	case string(d.Data) == "null":
		d.Data = nil
	case d.Data != nil:
		d.Data, err = chat.CompactData(d.Data, bytesMax)
	}
	if err != nil {
		return Draft{}, nil, err
	}
	if len(d.Body)+len(d.Data) > bytesMax {
		return Draft{}, nil, chat.Errorf(chat.CodeTooLarge, "the body and data of a draft have at most %d bytes together", bytesMax)
	}
	return d, chat.Encode(d), nil
}

// Get is what the caller has begun to write in a group. ErrNotFound: nothing.
func (s *Service) Get(ctx context.Context, by chat.Caller, group string) (d Draft, err error) {
	info, err := s.core.MayRead(ctx, by, group)
	if err != nil {
		return d, err
	}
	kept, err := s.store.Draft(ctx, by.User, group)
	if err == nil && kept.Epoch != info.Epoch {
		err = chat.ErrNotFound // of an earlier group with this id
	}
	if err != nil {
		return d, chat.AsError(err)
	}
	return d, json.Unmarshal(kept.JSON, &d)
}

// Drop forgets what the caller has begun to write in a group, if anything, and tells their other sessions.
func (s *Service) Drop(ctx context.Context, by chat.Caller, group string) error {
	if _, err := s.core.MayRead(ctx, by, group); err != nil {
		return err
	}
	return chat.AsError(s.store.DropDraft(ctx, by.User, group))
}

// Own are all drafts of the caller, for their export.
func (s *Service) Own(ctx context.Context, by chat.Caller) ([]Of, error) {
	if err := chat.CheckInbox(by); err != nil {
		return nil, err
	}
	kept, err := s.store.DraftsOf(ctx, by.User)
	if err != nil {
		return nil, chat.AsError(err)
	}
	own := make([]Of, len(kept))
	for i, k := range kept {
		own[i].Group = k.Group
		if err := json.Unmarshal(k.JSON, &own[i].Draft); err != nil {
			return nil, err
		}
	}
	return own, nil
}
