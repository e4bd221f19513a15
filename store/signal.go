package store

import (
	"context"
	"strings"

	"github.com/chatd/chatd/chat"
)

// Typing publishes that user types in group. It is lost where nobody listens, and that is all right.
func (s *Store) Typing(ctx context.Context, group, user string) error {
	return fail("typing", s.client.Publish(ctx, s.keys.group(group).channel(), "t "+user).Err())
}

// decodeSignal reads what was published on a channel. A payload begins with a word that says what it is:
//
//	group   m <epoch> LF <message> [LF <changed message>]...   c <user> <seen> <read>   t <user>   d <epoch>
//	user    i   j <group>   l <group>
//
// ok is false for anything else: a node of another version may publish more.
func (k keyspace) decodeSignal(channel, payload string) (sig chat.Signal, ok bool) {
	group, user, ok := k.followed(channel)
	if !ok {
		return chat.Signal{}, false
	}
	word, rest, _ := strings.Cut(payload, " ")
	if user != "" {
		return decodeUserSignal(user, word, rest)
	}
	sig.Group = group
	switch word {
	case "m":
		sig.Kind = chat.SignalMessage
		return sig, decodeEntrySignal(rest, &sig)
	case "c":
		f := strings.Fields(rest)
		if len(f) != 3 {
			return chat.Signal{}, false
		}
		sig.Kind, sig.User, sig.Seen, sig.Read = chat.SignalCursor, f[0], number(f[1]), number(f[2])
	case "t":
		sig.Kind, sig.User = chat.SignalTyping, rest
	case "d":
		sig.Kind, sig.Epoch = chat.SignalDeleted, rest
	default:
		return chat.Signal{}, false
	}
	return sig, rest != ""
}

func decodeUserSignal(user, word, rest string) (chat.Signal, bool) {
	switch word {
	case "i":
		return chat.Signal{Kind: chat.SignalInbox, User: user}, true
	case "j":
		return chat.Signal{Kind: chat.SignalJoined, User: user, Group: rest}, rest != ""
	case "l":
		return chat.Signal{Kind: chat.SignalLeft, User: user, Group: rest}, rest != ""
	}
	return chat.Signal{}, false
}

// decodeEntrySignal reads the epoch, the entry and what it changed. JSON holds no line feed of its own.
func decodeEntrySignal(text string, sig *chat.Signal) bool {
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
