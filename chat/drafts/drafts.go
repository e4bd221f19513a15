// Package drafts is what users have begun to write in groups, for all their devices.
package drafts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
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
	// DraftsIn reads the drafts of a user in groups, one for each. Where there is none, there is no JSON.
	DraftsIn(ctx context.Context, user string, groups ...string) ([]Kept, error)
	// DraftsAfter reads up to limit drafts of a user, of any epoch, in those of the groups behind one, in the order of bytes, that in
	// says. One that went meanwhile has no JSON.
	DraftsAfter(ctx context.Context, user, after string, in func(group string) bool, limit int) ([]Kept, error)
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
	kept, err := s.store.DraftsIn(ctx, by.User, group)
	switch {
	case err != nil:
		return d, chat.AsError(err)
	case len(kept[0].JSON) == 0 || kept[0].Epoch != info.Epoch: // that is of an earlier group with this id
		return d, chat.ErrNotFound
	}
	return d, json.Unmarshal(kept[0].JSON, &d)
}

// Drop forgets what the caller has begun to write in a group, if anything, and tells their other sessions.
func (s *Service) Drop(ctx context.Context, by chat.Caller, group string) error {
	if _, err := s.core.MayRead(ctx, by, group); err != nil {
		return err
	}
	return chat.AsError(s.store.DropDraft(ctx, by.User, group))
}

// pageMax is how many drafts of 16 KiB are read at once.
const pageMax = 20

// List are drafts of the caller in the order of their groups, up to 20: those that Get would find. A page can be short while there are more.
func (s *Service) List(ctx context.Context, by chat.Caller, limit int, cursor string) (list chat.List[Of], err error) {
	if err := chat.CheckCaller(by); err != nil {
		return list, err
	}
	if cursor != "" && !chat.ValidGroupID(cursor) {
		return list, chat.Invalid("cursor: not one of this list")
	}
	if limit < 1 || limit > pageMax {
		limit = pageMax
	}
	kept, next, err := s.page(ctx, by, cursor, limit)
	if err != nil {
		return list, err
	}
	groups := make([]string, len(kept))
	for i, k := range kept {
		groups[i] = k.Group
	}
	infos, err := s.core.Views(ctx, by.User, groups)
	if err != nil {
		return list, err
	}
	i := -1
	kept = slices.DeleteFunc(kept, func(k Kept) bool {
		i++
		return infos[i].Role == "" || infos[i].Epoch != k.Epoch
	})
	list.Next = next
	list.Items, err = read(kept)
	return list, err
}

// page reads drafts of the caller behind a group, where they reach. next: the group behind which there are more.
func (s *Service) page(ctx context.Context, by chat.Caller, after string, limit int) (kept []Kept, next string, err error) {
	if kept, err = s.store.DraftsAfter(ctx, by.User, after, by.Reaches, limit+1); err != nil {
		return nil, "", chat.AsError(err)
	}
	if len(kept) > limit {
		kept = kept[:limit]
		next = kept[limit-1].Group
	}
	return slices.DeleteFunc(kept, func(k Kept) bool { return len(k.JSON) == 0 }), next, nil
}

func read(kept []Kept) ([]Of, error) {
	list := make([]Of, len(kept))
	for i, k := range kept {
		list[i].Group = k.Group
		if err := json.Unmarshal(k.JSON, &list[i].Draft); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Own are all drafts of the caller, for their export.
func (s *Service) Own(ctx context.Context, by chat.Caller) (own []Of, err error) {
	if err := chat.CheckInbox(by); err != nil {
		return nil, err
	}
	for after, more := "", true; more; more = after != "" {
		var kept []Kept
		if kept, after, err = s.page(ctx, by, after, pageMax); err != nil {
			return nil, err
		}
		some, err := read(kept)
		if err != nil {
			return nil, err
		}
		own = append(own, some...)
	}
	return own, nil
}
