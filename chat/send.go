package chat

import (
	"context"
	"encoding/json"
	"slices"
)

// Send appends what draft asks for to the log of a group. A key that is known gives the first answer again.
func (s *Service) Send(ctx context.Context, by Caller, group string, draft Draft, durability Durability) (Sent, error) {
	if err := CheckGroup(by, group); err != nil {
		return Sent{}, err
	}
	e, err := s.DraftEntry(by, group, draft)
	if err != nil {
		return Sent{}, err
	}
	switch durability {
	case "", DurabilityMemory, DurabilityDisk, DurabilityReplica:
	default:
		return Sent{}, Invalid("durability: want %s, %s or %s", DurabilityMemory, DurabilityDisk, DurabilityReplica)
	}
	a := NewAppend(e, s.opt.Now())
	a.Operator, a.Durability = by.Admin, durability
	var done Appended
	if e.Kind == Edit || e.Kind == Delete {
		done, err = s.revise(ctx, by, a, e)
	} else {
		done, err = s.stores.Append(ctx, a)
	}
	if err != nil {
		return Sent{}, s.Refused(ctx, by, group, err)
	}
	sent := newSent(e, a, done)
	if e.Kind == Reaction && done.Duplicate {
		s.asStored(ctx, group, &sent)
	}
	return sent, nil
}

// asStored gives the answer to a reaction that is there already the form of its entry, which may have come with another
// key. Where that cannot be read the answer stays as the request would have made it.
func (s *Service) asStored(ctx context.Context, group string, sent *Sent) {
	list, err := s.stores.Entries(ctx, group, []int64{sent.ID})
	if err != nil || len(list) == 0 {
		return
	}
	var e Entry
	if json.Unmarshal(list[0].JSON, &e) == nil {
		sent.Message, sent.SentAt = list[0], e.SentAt
	}
}

// NewAppend is what a store needs to append e, sent at nowMs.
func NewAppend(e Entry, nowMs int64) Append {
	e.SentAt = TimeMs(nowMs)
	return Append{
		Group: e.Group, From: e.From, Kind: e.Kind, Mark: newMark(), Rest: entryRest(e), SentAtMs: nowMs,
		Key: e.ClientID, Content: contentHash(e), Mentions: e.Mentions, ReplyTo: e.ReplyTo, Target: min(e.Target, IDMax),
		Emoji: e.Emoji, Removed: e.Removed,
	}
}

// newSent is the answer to a send. A duplicate has the same content, so only id, mark and time are those of the first.
func newSent(e Entry, a Append, done Appended) Sent {
	rest := a.Rest
	if done.SentAtMs != a.SentAtMs {
		e.SentAt = TimeMs(done.SentAtMs)
		rest = entryRest(e)
	}
	return Sent{
		Message: Message{ID: done.ID, Mark: done.Mark, JSON: entryJSON(done.ID, rest)},
		SentAt:  TimeMs(done.SentAtMs), Duplicate: done.Duplicate, Durability: done.Durability,
	}
}

// DraftEntry checks a draft against what its kind takes and makes the entry of it, still without id and time.
func (s *Service) DraftEntry(by Caller, group string, d Draft) (Entry, error) {
	d.Kind = d.ImpliedKind()
	if d.Kind != Data && string(d.Data) == "null" {
		d.Data = nil // JSON null in a field that may be absent
	}
	if err := d.checkFields(); err != nil {
		return Entry{}, err
	}
	e := Entry{Group: group, From: by.User, Kind: d.Kind, ClientID: d.ClientID, ReplyTo: d.ReplyTo, Target: d.Target,
		Emoji: d.Emoji, Removed: d.Removed}
	if err := CheckKey("client_id", d.ClientID); err != nil {
		return Entry{}, err
	}
	if d.ReplyTo != 0 {
		if err := checkID("reply_to", d.ReplyTo, 1); err != nil {
			return Entry{}, err
		}
	}
	var err error
	if e.Mentions, err = UniqueIDs("mentions", d.Mentions, s.opt.Limits.MentionsMax); err != nil {
		return Entry{}, err
	}
	e.Body, e.Data, err = s.draftContent(d)
	return e, err
}

// ImpliedKind is the kind that a draft names, or what its content says where it names none.
func (d Draft) ImpliedKind() Kind {
	switch {
	case d.Kind != "":
		return d.Kind
	case d.Data != nil && d.Body == nil:
		return Data
	}
	return Text
}

// checkFields refuses the fields that the kind does not take, so that none is silently ignored.
func (d Draft) checkFields() error {
	var takes []string
	switch d.Kind {
	case Text:
		takes = []string{"body", "data", "reply_to", "mentions"}
	case Data:
		takes = []string{"data", "reply_to", "mentions"}
	case Edit:
		takes = []string{"target", "body", "data"}
	case Delete:
		takes = []string{"target"}
	case Reaction:
		takes = []string{"target", "emoji", "removed"}
	default:
		return Invalid("kind: want %s, %s, %s, %s or %s", Text, Data, Edit, Delete, Reaction)
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"body", d.Body != nil}, {"data", d.Data != nil}, {"reply_to", d.ReplyTo != 0}, {"mentions", len(d.Mentions) > 0},
		{"target", d.Target != 0}, {"emoji", d.Emoji != ""}, {"removed", d.Removed},
	} {
		if f.given && !slices.Contains(takes, f.name) {
			return Invalid("%s: a message of kind %s takes none", f.name, d.Kind)
		}
	}
	return nil
}

// draftContent checks what the kind needs and returns body and data as they are stored.
func (s *Service) draftContent(d Draft) (*string, json.RawMessage, error) {
	most := s.opt.Limits.BodyBytesMax
	if d.Kind == Edit || d.Kind == Delete || d.Kind == Reaction {
		if d.Target < 1 {
			return nil, nil, Invalid("target: want the id of a message, an integer from 1")
		}
	}
	switch {
	case d.Kind == Reaction:
		return nil, nil, checkEmoji(d.Emoji, s.opt.Limits.EmojiBytesMax)
	case d.Kind == Data && d.Data == nil:
		return nil, nil, Invalid("data: missing")
	case d.Kind == Edit && d.Body == nil && d.Data == nil:
		return nil, nil, Invalid("body: an edit needs a new body or new data")
	}
	if d.Kind == Text || d.Kind == Edit && d.Body != nil {
		if err := CheckBody(d.Body, most); err != nil {
			return nil, nil, err
		}
	}
	if d.Data == nil {
		return d.Body, nil, nil
	}
	data, err := CompactData(d.Data, most)
	return d.Body, data, err
}
