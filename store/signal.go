package store

import (
	"context"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/store/conn"
)

var _ live.Store = (*Store)(nil)

// Signals are what nodes tell each other, and readers wait for.
type Signals struct {
	*base
	tables *Tables
}

// Typing publishes that user types in group. If nobody listens it is lost, which does no harm.
func (s *Signals) Typing(ctx context.Context, group, user string, large bool) error {
	word := "t "
	if large {
		word = "tl "
	}
	return fail("typing", s.conn.Publish(ctx, s.keys.group(group).channel(), word+user))
}

// traced begins the span of a send, and publishes which span its signal will belong to: on the same channel, so it comes
// first. If it is lost, the trace ends here.
func (s *Logs) traced(ctx context.Context, name string, a chat.Append) (context.Context, tracing.Span) {
	ctx, span, hint := s.traces.Store(ctx, name, a.Group, a.Mark)
	if err := s.conn.Publish(ctx, s.keys.group(a.Group).channel(), "o "+hint); err != nil {
		s.log.Debug("the nodes do not hear of a traced send", "error", err)
	}
	return ctx, span
}

// deliverTraced delivers a signal in a span, if it belongs to a traced send.
func (s *Signals) deliverTraced(sig live.Signal, deliver func(live.Signal)) {
	if sig.Kind == live.SignalMessage {
		if span := s.traces.Deliver(sig.Group, sig.Message.Mark, sig.Message.ID); span != nil {
			defer span.End()
		}
	}
	deliver(sig)
}

// Listen starts the node's subscription and delivers signals until ctx ends.
func (s *Signals) Listen(ctx context.Context, deliver func(live.Signal)) error {
	return s.conn.Listen(ctx, func(e conn.Event) {
		switch e.Kind {
		case conn.EventCut:
			deliver(live.Signal{Kind: live.SignalCut})
		case conn.EventLost:
			s.tables.signal()
			deliver(live.Signal{Kind: live.SignalLost})
		case conn.EventMessage:
			if e.Channel == s.keys.part(0).tables() {
				s.tables.signal()
			} else if hint, ok := strings.CutPrefix(e.Payload, "o "); ok {
				group, _, _ := s.keys.followed(e.Channel)
				s.traces.Expect(group, hint)
			} else if sig, ok := s.keys.decodeSignal(e.Channel, e.Payload); ok {
				s.deliverTraced(sig, deliver)
			} else {
				group, user, _ := s.keys.followed(e.Channel)
				deliver(live.Signal{Kind: live.SignalUnknown, Group: group, User: user})
				s.log.Debug("ignored an unknown signal", "channel", e.Channel)
			}
		}
	})
}

// Follow subscribes to groups and users and waits until the store has confirmed all of them.
func (s *Signals) Follow(ctx context.Context, groups, users []string) error {
	if err := s.conn.Follow(ctx, s.channels(groups, users)); err != nil {
		return unavailable("follow", err)
	}
	return nil
}

// Unfollow drops subscriptions.
func (s *Signals) Unfollow(groups, users []string) { s.conn.Unfollow(s.channels(groups, users)) }

func (s *Signals) channels(groups, users []string) []string {
	names := make([]string, 0, len(groups)+len(users))
	for _, g := range groups {
		names = append(names, s.keys.group(g).channel())
	}
	for _, u := range users {
		names = append(names, s.keys.user(u).channel())
	}
	return names
}

// decodeSignal reads what was published on a channel. A payload begins with a word that says what it is:
//
//	group   m <epoch> LF <message> [LF <changed message>]...   c or cr or cq <user> <seen> <read> [<origin>]   t or tl <user>   h <node>   d <epoch>   x <epoch> <id>
//	        s <epoch> <id> <generation> <offset or -> <text>   k <epoch> <id> <author> <user>
//	        o <mark> <traceparent>, before the m of a traced send
//	user    i   j <group>   l <group>   f <group> [<draft>]   v <0 or 1>
//
// ok is false for anything else: a node of another version may publish more.
func (k keyspace) decodeSignal(channel, payload string) (sig live.Signal, ok bool) {
	group, user, ok := k.followed(channel)
	if !ok {
		return live.Signal{}, false
	}
	word, rest, _ := strings.Cut(payload, " ")
	if user != "" {
		return decodeUserSignal(user, word, rest)
	}
	sig.Group = group
	switch word {
	case "m":
		sig.Kind = live.SignalMessage
		return sig, decodeEntrySignal(rest, &sig)
	case "c", "cr", "cq":
		f := strings.Fields(rest)
		if len(f) != 3 && len(f) != 4 {
			return live.Signal{}, false
		}
		if len(f) == 4 {
			sig.Origin = f[3]
		}
		sig.Named, sig.Quiet = word == "cr", word == "cq"
		sig.Kind, sig.User, sig.Seen, sig.Read = live.SignalCursor, f[0], number(f[1]), number(f[2])
	case "t", "tl":
		sig.Kind, sig.User, sig.Large = live.SignalTyping, rest, word == "tl"
	case "h":
		sig.Kind, sig.Node = live.SignalHere, rest
	case "d":
		sig.Kind, sig.Epoch = live.SignalDeleted, rest
	case "s", "k":
		return decodeStreamSignal(sig, word, rest)
	case "x":
		epoch, id, ok := strings.Cut(rest, " ")
		if !ok {
			return live.Signal{}, false
		}
		sig.Kind, sig.Epoch, sig.Seen = live.SignalExpired, epoch, number(id)
	default:
		return live.Signal{}, false
	}
	return sig, rest != ""
}

// decodeStreamSignal reads a piece of a message that is being written, or that somebody asks to stop.
func decodeStreamSignal(sig live.Signal, word, rest string) (live.Signal, bool) {
	f := strings.SplitN(rest, " ", 5)
	if word == "k" && len(f) == 4 {
		sig.Kind, sig.Epoch, sig.ID, sig.Author, sig.User = live.SignalCancel, f[0], number(f[1]), f[2], f[3]
		return sig, true
	}
	if word == "k" || len(f) < 5 {
		return live.Signal{}, false
	}
	sig.Kind, sig.Epoch, sig.ID, sig.Gen, sig.Offset, sig.Text = live.SignalStream, f[0], number(f[1]), number(f[2]), -1, f[4]
	if f[3] != "-" {
		sig.Offset = number(f[3])
	}
	return sig, true
}

func decodeUserSignal(user, word, rest string) (live.Signal, bool) {
	switch word {
	case "i":
		return live.Signal{Kind: live.SignalInbox, User: user}, true
	case "j":
		return live.Signal{Kind: live.SignalJoined, User: user, Group: rest}, rest != ""
	case "f":
		group, draft, _ := strings.Cut(rest, " ")
		return live.Signal{Kind: live.SignalDraft, User: user, Group: group, Draft: draft}, rest != ""
	case "v":
		return live.Signal{Kind: live.SignalShown, User: user, Shown: rest == "1"}, rest != ""
	case "l":
		return live.Signal{Kind: live.SignalLeft, User: user, Group: rest}, rest != ""
	}
	return live.Signal{}, false
}

// decodeEntrySignal reads the epoch, the entry and what it changed. Compact JSON contains no line feed.
func decodeEntrySignal(text string, sig *live.Signal) bool {
	epoch, rest, ok := strings.Cut(text, "\n")
	if !ok || epoch == "" {
		return false
	}
	sig.Epoch = epoch
	for i, member := range strings.Split(rest, "\n") {
		m, err := decodeMessage(member)
		if err != nil {
			return false
		}
		if i == 0 {
			sig.Message = m
		} else {
			sig.Changed = append(sig.Changed, m)
		}
	}
	return true
}
