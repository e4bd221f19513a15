package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// Question is a message that is about to be stored: what is asked of Before.
type Question struct {
	By        Caller
	Group     string // that it is sent to; or
	To        string // the user whose inbox it is for
	Epoch     string // of the group; empty: it was not looked up
	Key       string // by which the caller would repeat it; empty: it will not be repeated
	DeliverAt *Time  // of a message that is scheduled
	Content   Content
}

// AskMax is how long a message may wait for a decision.
const AskMax = 15 * time.Second

// Before decides about messages before they are stored.
type Before interface {
	// Asks tells whether anything is to be decided about messages to a group; empty: about direct messages.
	Asks(group string) bool
	// Ask returns the content to store in the place of that of q, checked. CodeRefused: nothing is to be stored; InReview: a
	// moderator is to see the content first. It takes at most AskMax.
	Ask(ctx context.Context, q Question) (Content, error)
}

// Refusal refuses a message that Before has decided about. reason is for the sender; empty: none was given.
func Refusal(reason string) *Error {
	return &Error{Code: CodeRefused, Message: cmp.Or(reason, "the message was refused"), Reason: reason}
}

// Asks tells whether a message to a group may wait for a decision before it is stored; empty: a direct message.
func (s *base) Asks(group string) bool { return s.opt.Before != nil && s.opt.Before.Asks(group) }

// Ask has Before decide about a message, if it is asked about such.
func (s *base) Ask(ctx context.Context, q Question) (Content, error) {
	if !s.Asks(q.Group) {
		return q.Content, nil
	}
	if release, ok := ctx.Value(releaseKey{}).(func()); ok {
		release()
	}
	c, err := s.opt.Before.Ask(ctx, q)
	return c, AsError(err)
}

type releaseKey struct{}

// WithRelease returns a context for a call that holds what others wait for: release gives it back before the call waits for a
// decision. It is called once.
func WithRelease(ctx context.Context, release func()) context.Context {
	return context.WithValue(ctx, releaseKey{}, sync.OnceFunc(release))
}

// decided appends e, of which a was made, once Before has decided about it. Who may not send learns that first, and a key that is
// known is answered as the first time without asking again.
func (s *sends) decided(ctx context.Context, by Caller, a Append, e Entry) (Entry, Append, Appended, error) {
	first, err := s.look(ctx, by, a, e)
	switch {
	case err == nil && first.Duplicate && a.Durability != "" && a.Durability != DurabilityMemory:
		first, err = s.append(ctx, by, a, e) // looking waits for no disk
		fallthrough
	case err != nil, first.Duplicate:
		return e, a, first, err
	}
	e.Content, err = s.Ask(ctx, Question{By: by, Group: e.Group, Epoch: first.Epoch, Key: e.ClientID, Content: e.Content})
	if r, ok := IsInReview(err); ok {
		first, err = s.review(ctx, by, a, e, r.Reason)
		return e, a, first, err
	}
	if err != nil {
		return e, a, Appended{}, err
	}
	b := NewAppend(e, s.opt.Now())
	b.Operator, b.Durability, b.Files, b.Content = a.Operator, a.Durability, a.Files, a.Content // its key stands for what was sent
	done, err := s.append(ctx, by, b, e)
	return e, b, done, err
}

// look tells what would become of an entry: the first answer to its key, a refusal, or neither.
func (s *sends) look(ctx context.Context, by Caller, a Append, e Entry) (Appended, error) {
	if e.Kind != Edit {
		a.Look = true
		return s.store.Append(ctx, a)
	}
	if _, _, _, err := s.changes(ctx, by, e); err != nil {
		return s.firstAnswer(ctx, a, err)
	}
	first, err := s.store.Revise(ctx, a, unchanged(a), false)
	if errors.Is(err, ErrConflict) {
		return Appended{}, nil
	}
	return first, err
}

// asStored gives the answer to a send that is repeated the form of its entry: a reaction may have come with another key, files
// may be gone, and a hook may have rewritten it. Where that cannot be read the answer stays as the request would have made it.
func (s *sends) asStored(ctx context.Context, group string, sent *Sent) {
	list, err := s.store.Entries(ctx, group, []int64{sent.ID})
	if err != nil || len(list) == 0 {
		return
	}
	var e Entry
	if json.Unmarshal(list[0].JSON, &e) == nil {
		sent.Message, sent.SentAt = list[0], e.SentAt
	}
}
