package local

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/chatd/chatd/client"
)

// The states of a Line.
const (
	StateQueued  = "queued" // kept here until the server is reached
	StateSending = "sending"
	StateSent    = "sent"   // in the log
	StateFailed  = "failed" // refused, see Failed: Retry or Discard
)

// Line is a message of a timeline, or a gap.
type Line struct {
	Key string // stays the same from the moment of sending on
	Gap *Gap   // nil: a message
	client.Message
	State    string
	Failed   *Failure // why, in StateFailed
	Changing bool     // a change of one's own is not confirmed yet
}

// Gap are messages that are missing: the ids From to To, of which LoadGap may bring some. To is 0 where the log began anew.
type Gap struct{ From, To int64 }

// View returns what is shown now. It is the caller's, but for what its messages point to.
func (t *Timeline) View() View {
	c := t.chat
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.record(t.group)
	v := View{Unread: t.unread, After: !t.tail && t.to < r.tip()}
	v.Before = t.from > t.thread+1 && (t.from > r.floor() || slices.ContainsFunc(r.Log.Held, func(s span) bool { return s[1] < t.from }))
	var gaps []span
	for _, g := range r.Log.Gaps {
		if t.from <= t.to && g[0] >= t.from && g[0] <= t.to+1 {
			gaps = append(gaps, g)
		}
	}
	slices.SortStableFunc(gaps, func(a, b span) int { return cmp.Compare(a[0], b[0]) })
	showGaps := func(upTo int64) {
		for ; len(gaps) > 0 && gaps[0][0] <= upTo; gaps = gaps[1:] {
			key := fmt.Sprintf("g-%d", gaps[0][1]) // it is loaded from its beginning
			if gaps[0].anew() {
				key = fmt.Sprintf("e-%d", gaps[0][0])
			}
			v.Lines = append(v.Lines, Line{Key: key, Gap: &Gap{gaps[0][0], gaps[0][1]}})
		}
	}
	own := map[string]bool{}
	for _, e := range t.lines {
		showGaps(e.ID)
		if e.ClientID != "" && e.From == c.me {
			own[e.ClientID] = true
		}
		v.Lines = append(v.Lines, c.lineLocked(t.group, e))
	}
	showGaps(idMax)
	for _, o := range c.outbox {
		if t.tail && o.Group == t.group && o.Draft.Thread == t.thread && o.isMessage() && !own[o.key()] {
			v.Lines = append(v.Lines, c.unsentLocked(o))
		}
	}
	return v
}

// lineLocked is an entry with the changes of one's own that the log does not have yet.
func (c *Chat) lineLocked(group string, e entry) Line {
	l := Line{Key: fmt.Sprintf("m-%d", e.ID), Message: e.Message, State: StateSent}
	if e.ClientID != "" {
		l.Key = lineKey(e.From, e.ClientID)
	}
	for _, o := range c.outbox {
		if o.Group != group || o.Draft.Target != e.ID || o.Failed != nil || o.ID > 0 && o.ID <= e.At {
			continue
		}
		l.Changing = true
		if o.Draft.Kind != client.KindReaction {
			l.Message = revised(l.Message, o.Draft, nil, o.Queued)
		} else if l.DeletedAt == nil && mine(l.Reactions, o.Draft.Emoji) == o.Draft.Removed {
			l.Reactions = reacted(l.Reactions, o.Draft.Emoji, !o.Draft.Removed, true)
		}
	}
	l.Message = c.living(l.Message)
	if l.DeletedAt != nil {
		l.Reactions = nil
	}
	return l
}

// living is a message as it is shown: what had to go is not, even where its deletion has not come.
func (c *Chat) living(m client.Message) client.Message {
	if m.ExpiresAt == nil || m.DeletedAt != nil || c.clock.Now().Before(*m.ExpiresAt) {
		return m
	}
	return revised(m, client.Content{Kind: client.KindDelete}, nil, *m.ExpiresAt)
}

func mine(reactions map[string]client.Reaction, emoji string) bool {
	for shown, r := range reactions {
		if plain(shown) == plain(emoji) {
			return r.Mine
		}
	}
	return false
}

func (c *Chat) unsentLocked(o task) Line {
	l := Line{Key: lineKey(c.me, o.key()), Message: o.message(c.me, o.ID, o.SentAt), State: StateQueued, Failed: o.Failed}
	switch {
	case o.Failed != nil:
		l.State = StateFailed
	case o.ID > 0:
		l.State = StateSent
	case c.sending[o.Group] == o.key():
		l.State = StateSending
	}
	return l
}

func lineKey(from, key string) string { return "c-" + from + "-" + key }
