package chat

import (
	"cmp"
	"context"
)

// sends appends what callers send to the logs of groups.
type sends struct {
	*base
	store LogStore
}

// Send appends a message to the log of a group. A key that is known gives the first answer again.
func (s *sends) Send(ctx context.Context, by Caller, group string, c Content, durability Durability) (Sent, error) {
	if err := cmp.Or(CheckGroup(by, group), by.MayAct(c)); err != nil {
		return Sent{}, err
	}
	c, err := c.Checked(s.opt.Limits)
	if err != nil {
		return Sent{}, err
	}
	switch durability {
	case "", DurabilityMemory, DurabilityDisk, DurabilityReplica:
	default:
		return Sent{}, Invalid("durability: want %s, %s or %s", DurabilityMemory, DurabilityDisk, DurabilityReplica)
	}
	gone := false
	if len(c.Files) > 0 {
		if c.Files, gone, err = s.sendable(ctx, by, group, c); err != nil {
			return Sent{}, err
		}
		if c.Body == nil && c.Kind == Text {
			c.Body = new(string)
		}
	}
	if c.Kind == Reaction {
		c.Emoji = s.spelling(ctx, by.User, group, c)
	}
	e := Entry{Group: group, From: by.User, Via: by.Via, Content: c}
	a := NewAppend(e, s.opt.Now())
	a.Operator, a.Durability, a.Files, a.FilesGone = by.Admin, durability, fileIDs(c.Files), gone
	var done Appended
	asks := s.Asks(group) && e.Kind != Delete && e.Kind != Reaction && !gone && e.Stream == "" // of a stream, the whole text is decided about
	if asks {
		e, a, done, err = s.decided(ctx, by, a, e)
	} else {
		done, err = s.append(ctx, by, a, e)
	}
	if err != nil {
		return Sent{}, s.Refused(ctx, by, group, err)
	}
	sent := NewSent(e, a, done)
	if done.Duplicate && (e.Kind == Reaction || gone || asks) {
		s.asStored(ctx, group, &sent)
	}
	return sent, nil
}

// append appends e, of which a was made.
func (s *sends) append(ctx context.Context, by Caller, a Append, e Entry) (Appended, error) {
	if e.Kind == Edit || e.Kind == Delete {
		e.SentAt = TimeMs(a.SentAtMs)
		return s.revise(ctx, by, a, e)
	}
	return s.store.Append(ctx, a)
}

// sendable reads the files of a message. Who may not post learns that first. gone: they cannot be named, and the store knows
// whether the message is one that was sent before, when they could.
func (s *sends) sendable(ctx context.Context, by Caller, group string, c Content) (files []File, gone bool, err error) {
	if _, err := s.MayPost(ctx, by, group); err != nil {
		return nil, false, err
	}
	files, err = s.store.SendableFiles(ctx, group, by.User, fileIDs(c.Files))
	if c.ClientID != "" && CodeOf(err) == CodeInvalid {
		return c.Files, true, nil
	}
	return files, false, AsError(err)
}

// NewAppend is what a store needs to append e, sent at nowMs.
func NewAppend(e Entry, nowMs int64) Append {
	e.SentAt = TimeMs(nowMs)
	a := Append{
		Group: e.Group, From: e.From, Kind: e.Kind, Mark: newMark(), Rest: entryRest(e), SentAtMs: nowMs, Key: e.ClientID,
		Mentions: e.Mentions, ReplyTo: e.ReplyTo, Thread: e.Thread, ExpireS: e.ExpireS, Target: min(e.Target, IDMax), Emoji: e.Emoji, Removed: e.Removed,
	}
	if e.Stream == StreamOpen && e.Kind == Text {
		a.Stream, a.Body = true, *e.Body
	}
	if a.Key != "" {
		a.Content = contentHash(e)
	}
	return a
}

// NewSent is the answer to a send. A duplicate has the same content, so only id, mark and time are those of the first.
func NewSent(e Entry, a Append, done Appended) Sent {
	rest := a.Rest
	if done.SentAtMs != a.SentAtMs || done.EndsMs > 0 {
		e.SentAt = TimeMs(done.SentAtMs)
		if done.EndsMs > 0 {
			end := TimeMs(done.EndsMs)
			e.ExpiresAt = &end
		}
		rest = entryRest(e)
	}
	return Sent{
		Message: Message{ID: done.ID, Mark: done.Mark, JSON: EntryJSON(done.ID, rest)},
		SentAt:  TimeMs(done.SentAtMs), Duplicate: done.Duplicate, Durability: done.Durability,
	}
}
