package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chatd/chatd/chat"
)

// done ends a stream because its author says so.
func (s *Service) done(ctx context.Context, by chat.Caller, group string, id int64) error {
	return s.end(ctx, CutTask{Group: group, ID: id}, &by)
}

// cut ends a stream whose author is silent, or that lasts too long.
func (s *Service) cut(ctx context.Context, t CutTask) error {
	if err := chat.CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	if t.ID < 1 {
		return chat.Invalid("a task names no message")
	}
	err := s.end(ctx, t, nil)
	_, waits := chat.IsInReview(err)
	if waits || errors.Is(err, chat.ErrNotFound) || chat.CodeOf(err) == chat.CodeRefused {
		return nil // a moderator sees it, the group is gone, or a hook refused it, and it was withdrawn
	}
	return err
}

// end ends a stream, in the name of its author, who is by; nil: if it is silent. What decides about messages decides about its text.
func (s *Service) end(ctx context.Context, t CutTask, by *chat.Caller) error {
	for range endTries {
		epoch, open, err := s.store.OpenStreams(ctx, t.Group, t.ID)
		if err != nil {
			return err
		}
		if len(open) == 0 || t.Epoch != "" && t.Epoch != epoch {
			return nil // it has ended
		}
		o := open[0]
		if wait := min(chat.StreamSilence-o.Idle, s.longest-o.Age); by == nil && wait > 0 {
			return chat.Postpone(wait, nil)
		}
		was, m, err := s.written(ctx, t.Group, o)
		if err != nil {
			return err
		}
		err = s.endAs(ctx, t.Group, epoch, o, m, was, by)
		if !errors.Is(err, chat.ErrConflict) {
			return err
		}
	}
	return chat.ErrConflict
}

// written is a message with what stands of it, and how it is stored. Where the log has trimmed it, it says as much as is known.
func (s *Service) written(ctx context.Context, group string, o chat.OpenStream) (e chat.Entry, m chat.Message, err error) {
	found, err := s.logs.Entries(ctx, group, []int64{o.ID})
	switch {
	case err != nil:
		return e, m, err
	case len(found) > 0:
		m = found[0]
	default:
		m, err = s.logs.Pinned(ctx, group, o.ID)
		if err != nil && !errors.Is(err, chat.ErrNotFound) {
			return e, m, err
		}
	}
	e = chat.Entry{ID: o.ID, Group: group, From: o.Author, Content: chat.Content{Kind: chat.Text, Stream: chat.StreamOpen}}
	if m.Mark == o.Mark {
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			return e, m, fmt.Errorf("message %d of %s: %w", o.ID, group, err)
		}
	} else {
		m = chat.Message{}
	}
	e.Body = &o.Text
	return e, m, nil
}

// endAs ends a stream that reads as was.
func (s *Service) endAs(ctx context.Context, group, epoch string, o chat.OpenStream, m chat.Message, was chat.Entry, by *chat.Caller) error {
	author := chat.Caller{User: o.Author, Via: was.Via}
	state := chat.StreamCut
	if by != nil {
		author, state = *by, chat.StreamDone
	}
	final := was.Content
	final.Stream = ""
	var refused error
	if s.core.Asks(group) && *final.Body != "" {
		decided, err := s.core.Ask(ctx, chat.Question{By: author, Group: group, Epoch: epoch, Content: final})
		r, waits := chat.IsInReview(err)
		switch {
		case waits:
			refused = s.core.Review(ctx, chat.Review{Group: group, From: author.User, Via: author.Via, Reason: r.Reason,
				At: chat.TimeMs(s.core.Options().Now()), Message: final}, "", "")
		case chat.CodeOf(err) == chat.CodeRefused:
			refused = err
		case err != nil:
			return err
		default:
			final = decided
		}
		if _, kept := chat.IsInReview(refused); waits && !kept {
			return refused
		}
	}
	if refused != nil {
		err := s.withdraw(ctx, author, o, m, was)
		if !errors.Is(err, chat.ErrNotFound) {
			return cmp.Or(err, refused)
		}
		final.Body = new(string) // the log has trimmed it: only its text is left to be withdrawn
	}
	entry := chat.Entry{Group: group, From: o.Author, Via: was.Via, SentAt: chat.TimeMs(s.core.Options().Now()),
		Content: chat.Content{Kind: chat.Edit, Stream: state, Target: o.ID, Body: final.Body, Data: final.Data}, ExpiresAt: was.ExpiresAt}
	e := End{Group: group, Epoch: epoch, Of: o, SentAtMs: entry.SentAt.UnixMilli(), Was: chat.Encode(was), JSON: chat.Encode(was.Ended(entry)),
		Mentions: was.Mentions, Cut: by == nil, Longest: s.longest}
	e.Mark, e.Rest = chat.NewEntry(entry)
	_, wait, err := s.store.EndStream(ctx, e)
	if err == nil && wait > 0 {
		err = chat.Postpone(wait, nil)
	}
	return cmp.Or(err, refused)
}

// withdraw deletes a message whose text is not to be seen, as its author would.
func (s *Service) withdraw(ctx context.Context, author chat.Caller, o chat.OpenStream, m chat.Message, was chat.Entry) error {
	if m.Mark == "" { // it is trimmed: what is left of it is the text
		m = chat.Message{ID: o.ID, Mark: o.Mark, JSON: chat.Encode(was)}
	}
	deletion := chat.Entry{Group: was.Group, From: o.Author, Via: author.Via, Content: chat.Content{Kind: chat.Delete, Target: o.ID}}
	a := chat.NewAppend(deletion, s.core.Options().Now())
	a.Decided = true
	deletion.SentAt = chat.TimeMs(a.SentAtMs)
	left := m
	left.JSON = chat.Encode(was.Deleted(deletion))
	_, err := s.logs.Revise(ctx, a, []chat.Change{{Old: m, New: left}}, false)
	return err
}
