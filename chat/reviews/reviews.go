// Package reviews is what moderators decide about messages that wait for them: to release one, or to drop it. The step of the store
// that stores a message, or drops it, ends its review, so of several moderators one decides.
package reviews

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
)

const reasonMax = 500 // characters, that the sender of a message gets to see

// Actions on a message.
const (
	Release = "release"
	Drop    = "drop"
)

// View is a message that waits, as moderators see it.
type View struct {
	ID        string       `json:"id"`
	Group     string       `json:"group,omitempty"` // that it is for; or
	To        string       `json:"to,omitempty"`    // the user whose inbox it is for
	From      string       `json:"from"`
	Via       string       `json:"via,omitempty"`
	Reason    string       `json:"reason,omitempty"` // why it waits
	At        chat.Time    `json:"at"`
	ExpiresAt chat.Time    `json:"expires_at"`
	DeliverAt *chat.Time   `json:"deliver_at,omitempty"` // of a schedule: when it is first due
	Message   chat.Content `json:"message"`
}

// Decided is what became of a message.
type Decided struct {
	ID        string `json:"id"`
	State     State  `json:"state"`
	MessageID int64  `json:"message_id,omitempty"` // of the message, where it is in a log
}

// Ref is whose a review is: a group's, or a user's for whose inbox it is.
type Ref struct{ ID, Group, To string }

// Store keeps reviews. Errors are those of chat.Store.
type Store interface {
	// EndReview ends a review whose message is not stored. chat.ErrReviewGone.
	EndReview(ctx context.Context, r chat.ReviewEnd) error
	// ReviewIDs lists the ids of the reviews of a group, or of a user, the oldest first.
	ReviewIDs(ctx context.Context, group, user string) ([]string, error)
	// AllReviews lists at most limit reviews behind an id, the oldest first.
	AllReviews(ctx context.Context, after string, limit int) ([]Ref, error)
	// RefOfReview tells whose a review is. chat.ErrReviewGone.
	RefOfReview(ctx context.Context, id string) (Ref, error)
	// ReadReviews reads reviews. Those that are not there any longer are left out.
	ReadReviews(ctx context.Context, refs []Ref) ([]chat.Review, error)
}

// Service is for moderators. It may be used from many goroutines.
type Service struct {
	core      *chat.Service
	store     Store
	schedules *schedule.Service
	webhooks  *webhook.Service
}

// New makes a Service.
func New(core *chat.Service, store Store, schedules *schedule.Service, webhooks *webhook.Service) *Service {
	return &Service{core, store, schedules, webhooks}
}

// moderates refuses who does not decide about a review: direct messages are for operators. It returns the epoch of the group.
func (s *Service) moderates(ctx context.Context, by chat.Caller, group string) (epoch string, err error) {
	if group == "" {
		return "", cmp.Or(chat.CheckInbox(by), chat.CheckOperator(by))
	}
	if err := chat.CheckGroup(by, group); err != nil {
		return "", err
	}
	info, err := s.core.Managed(ctx, by, group)
	return info.Epoch, err
}

// List lists what waits in a group, the oldest first: owner, admin, operator. Without a group it lists everything, for operators.
func (s *Service) List(ctx context.Context, by chat.Caller, group string, limit int, cursor string) (list chat.List[View], err error) {
	most, err := s.core.Options().Limits.Page(limit)
	if err == nil {
		_, err = s.moderates(ctx, by, group)
	}
	if err != nil {
		return list, err
	}
	if _, ok := chat.ParseReviewID(cursor); cursor != "" && !ok {
		return list, chat.Invalid("cursor: not one of this list")
	}
	refs, err := s.refs(ctx, group, cursor, most+1)
	if err != nil {
		return list, chat.AsError(err)
	}
	if len(refs) > most {
		list.Next, refs = refs[most-1].ID, refs[:most]
	}
	waiting, err := s.store.ReadReviews(ctx, refs)
	for _, r := range waiting {
		list.Items = append(list.Items, view(r))
	}
	return list, chat.AsError(err)
}

func (s *Service) refs(ctx context.Context, group, after string, limit int) (refs []Ref, err error) {
	if group == "" {
		return s.store.AllReviews(ctx, after, limit)
	}
	ids, err := s.store.ReviewIDs(ctx, group, "")
	at, found := slices.BinarySearch(ids, after)
	if found {
		at++
	}
	for _, id := range ids[at:min(at+limit, len(ids))] {
		refs = append(refs, Ref{ID: id, Group: group})
	}
	return refs, err
}

func view(r chat.Review) View {
	v := View{ID: r.ID, Group: r.Group, To: r.To, From: r.From, Via: r.Via, Reason: r.Reason, At: r.At,
		ExpiresAt: chat.TimeMs(r.At.Add(chat.ReviewKept).UnixMilli()), Message: r.Message}
	if n, err := schedule.Reviewed(r); err == nil && r.Schedule != nil {
		at := chat.TimeMs(n.NextMs)
		v.DeliverAt = &at
	}
	return v
}

// Decide releases a message or drops it: owner, admin, operator. A message is released with the rights that its sender has now:
// CodeConflict where these are gone, and it goes on waiting. ErrReviewGone: somebody has decided, or its time is over.
func (s *Service) Decide(ctx context.Context, by chat.Caller, id, action, reason string) (Decided, error) {
	if err := cmp.Or(chat.CheckCaller(by), chat.CheckWord("action", &action, Release, Drop)); err != nil {
		return Decided{}, err
	}
	reason, err := chat.Line("reason", reason, reasonMax)
	if err != nil {
		return Decided{}, err
	}
	r, err := s.read(ctx, id)
	if err != nil {
		return Decided{}, err
	}
	epoch, err := s.moderates(ctx, by, r.Group)
	if err != nil {
		if errors.Is(err, chat.ErrNotFound) || r.Group == "" || !by.Reaches(r.Group) {
			return Decided{}, chat.ErrReviewGone // who may not know of the group, or of a direct message, does not learn of it
		}
		return Decided{}, err
	}
	if action == Drop {
		end := chat.ReviewEnd{Review: r, Report: report(r, Dropped, reason), By: by, Epoch: epoch}
		return Decided{ID: id, State: Dropped}, chat.AsError(s.store.EndReview(ctx, end))
	}
	return s.release(ctx, chat.ReviewEnd{Review: r, Report: report(r, Released, reason), By: by, Epoch: epoch})
}

// read reads a review. ErrReviewGone.
func (s *Service) read(ctx context.Context, id string) (chat.Review, error) {
	ref, err := s.store.RefOfReview(ctx, id)
	if err != nil {
		return chat.Review{}, chat.AsError(err)
	}
	found, err := s.store.ReadReviews(ctx, []Ref{ref})
	if err == nil && (len(found) == 0 || s.over(found[0])) {
		err = chat.ErrReviewGone
	}
	if err != nil {
		return chat.Review{}, chat.AsError(err)
	}
	return found[0], nil
}

// over tells whether the time of a review is over, whether or not its task has run.
func (s *Service) over(r chat.Review) bool {
	return s.core.Options().Now() >= r.At.Add(chat.ReviewKept).UnixMilli()
}

func (s *Service) release(ctx context.Context, r chat.ReviewEnd) (d Decided, err error) {
	d = Decided{ID: r.ID, State: Released}
	switch {
	case r.Schedule != nil:
		err = s.schedules.Release(ctx, r)
	case r.Group != "":
		var sent chat.Sent
		sent, err = s.core.Release(ctx, r)
		d.MessageID = sent.ID
	default:
		err = s.core.ReleaseDirect(ctx, r)
	}
	if err == nil {
		return d, nil
	}
	return Decided{}, refusal(err)
}

// refusal says to a moderator why a message cannot be stored now. What is wrong is its sender's, not theirs.
func refusal(err error) error {
	var e *chat.Error
	if !errors.As(chat.AsError(err), &e) || e == chat.ErrReviewGone || e.Code == chat.CodeUnavailable || e.Code == chat.CodeInternal {
		return chat.AsError(err)
	}
	return chat.Errorf(chat.CodeConflict, "it cannot be stored for its sender now, and goes on waiting: %s", e.Message)
}

// pageIDs is how many reviews a step of each looks at.
const pageIDs = 1000

// each hands out what waits of a user, or for their inbox, the oldest first.
func (s *Service) each(ctx context.Context, user string, do func(chat.Review) error) error {
	who := chat.ReviewSender(user)
	for after := ""; ; {
		page, err := s.store.AllReviews(ctx, after, pageIDs)
		if err != nil {
			return err
		}
		theirs := slices.DeleteFunc(slices.Clone(page), func(p Ref) bool {
			id, ok := chat.ParseReviewID(p.ID)
			return !ok || id.Who != who && p.To != user
		})
		found, err := s.store.ReadReviews(ctx, theirs)
		if err != nil {
			return err
		}
		for _, r := range found {
			if r.From != user && r.To != user {
				continue
			}
			if err := do(r); err != nil {
				return err
			}
		}
		if len(page) < pageIDs {
			return nil
		}
		after = page[len(page)-1].ID
	}
}

// Erase removes what waits of a user, and what waits for their inbox. Nobody is told.
func (s *Service) Erase(ctx context.Context, user string) error {
	return s.each(ctx, user, func(r chat.Review) error {
		if err := s.store.EndReview(ctx, chat.ReviewEnd{Review: r}); !errors.Is(err, chat.ErrNotFound) {
			return err
		}
		return nil
	})
}

// MadeBy is what waits of the caller, the oldest first, without why, which is for moderators.
func (s *Service) MadeBy(ctx context.Context, by chat.Caller) (made []View, err error) {
	err = s.each(ctx, by.User, func(r chat.Review) error {
		if r.From == by.User && !s.over(r) {
			v := view(r)
			v.Reason = ""
			made = append(made, v)
		}
		return nil
	})
	return made, chat.AsError(err)
}

// Whose is the payload of the task that ends the reviews of a group, or of a user, whose time is over.
func Whose(group, user string) []byte {
	return chat.Encode(OverTask{Group: group, User: user})
}
