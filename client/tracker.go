package client

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
)

// Stats counts what a Stream or a Poll has received. With a correct server, Holes stays 0, and so does Repeats while a
// connection lasts.
type Stats struct {
	Batches  int64 // batches of messages
	Messages int64 // messages returned
	Gaps     int64 // gaps that the server reported
	Repeats  int64 // messages that came again and were left out
	Holes    int64 // ids that were skipped silently, which made the client ask again
	Sessions int64 // sessions of a Stream that began
}

type counters struct{ batches, messages, gaps, repeats, holes, sessions atomic.Int64 }

func (c *counters) stats() Stats {
	return Stats{
		Batches: c.batches.Load(), Messages: c.messages.Load(), Gaps: c.gaps.Load(),
		Repeats: c.repeats.Load(), Holes: c.holes.Load(), Sessions: c.sessions.Load(),
	}
}

// batch is what a frame of a websocket and an answer to a sync have in common.
type batch struct {
	Group    string    `json:"group"`
	Epoch    string    `json:"epoch"`
	From     int64     `json:"from"`
	To       int64     `json:"to"`
	First    int64     `json:"first"`
	Cursor   Position  `json:"cursor"`
	Complete bool      `json:"complete"`
	Messages []Message `json:"messages"`

	Profiles map[string]int64 `json:"profiles"`
}

// tracker knows the end of the caller's copy of each group, and turns batches into events. Ids are dense, so it sees
// every hole and every repeat. One goroutine owns it.
type tracker struct {
	newest bool            // groups without a position begin at their newest page
	only   map[string]bool // nil: all groups
	out    map[string]bool // of only: the caller is not in them, which was said
	groups map[string]groupEnd
	first  map[string]int64 // the lowest ids that the caller may read
	inbox  inboxEnd
	count  *counters
}

// groupEnd is the end of the copy of one group.
type groupEnd struct {
	at    Position
	id    int64  // known if counted is set
	epoch string // empty until a batch or a welcome brings it
	// lost: a position that the server could not read was given up, and a Gap is still to say so.
	lost bool
	// counted: id is the highest id held. A position saved by an earlier run is a cursor, whose id only the server can
	// read.
	counted bool
}

type inboxEnd struct {
	at    Position
	epoch string
	seq   int64
}

// newTracker begins at saved positions. Those of groups that only leaves out stay as they are.
func newTracker(at map[string]Position, start string, only []string, count *counters) *tracker {
	t := &tracker{newest: start == StartNewest, out: map[string]bool{}, first: map[string]int64{}, groups: make(map[string]groupEnd, len(at)), count: count}
	if only != nil {
		t.only = make(map[string]bool, len(only))
		for _, group := range only {
			t.only[group] = true
		}
	}
	for group, position := range at {
		if !t.covers(group) {
			continue
		}
		p := groupEnd{at: position}
		if position.isID() {
			p.id, p.counted = position.id(), true
		}
		t.groups[group] = p
	}
	return t
}

// after returns the positions to continue from, as a hello and a sync take them.
func (t *tracker) after() map[string]Position {
	after := make(map[string]Position, len(t.groups))
	for group, p := range t.groups {
		if p.at != "" {
			after[group] = p.at
		}
	}
	return after
}

func (t *tracker) covers(group string) bool { return t.only == nil || t.only[group] }

// pin starts groups without a position at the caller's `seen`, so that an ack by another device cannot move this one
// past messages that it never got. It returns the new positions. A group whose newest page is still to come gets its
// position from that.
func (t *tracker) pin(groups map[string]GroupPosition) map[string]Position {
	pinned := map[string]Position{}
	for group, g := range groups {
		t.first[group] = g.First
		if !t.covers(group) || t.newest && g.Last > g.Seen {
			continue
		}
		if t.groups[group].at == "" {
			p := groupEnd{at: At(g.Seen), id: g.Seen, counted: true, epoch: g.Epoch, lost: t.groups[group].lost}
			t.groups[group] = p
			pinned[group] = p.at
		}
	}
	return pinned
}

// forgetUnreadable forgets the positions that the server cannot read, and reports whether there were any. Reading goes on at
// the caller's `seen`, as for a new device.
func (t *tracker) forgetUnreadable(errors []SyncError) (some bool) {
	for _, e := range errors {
		switch {
		case e.Code != CodeInvalid:
			continue
		case e.Inbox:
			t.inbox = inboxEnd{}
		default:
			t.groups[e.Group] = groupEnd{lost: true}
		}
		some = true
	}
	return some
}

// foreign returns an event for each group of only that the caller turned out not to be in.
func (t *tracker) foreign(errors []SyncError) (left []Event) {
	for _, e := range errors {
		if e.Code == CodeNotFound && !e.Inbox && !t.out[e.Group] {
			t.out[e.Group] = true
			t.forget(e.Group)
			left = append(left, Left{Group: e.Group})
		}
	}
	return left
}

func (t *tracker) forget(group string) {
	delete(t.groups, group)
	delete(t.first, group)
}

// batch processes a batch: the result is at most a Gap and then Messages. An error means that the server violated the
// protocol and the batch was not used: ask again from the end of the copy.
func (t *tracker) batch(b batch) ([]Event, error) {
	t.count.batches.Add(1)
	if err := dense(b); err != nil {
		t.count.holes.Add(1)
		return nil, err
	}
	delete(t.out, b.Group)
	p := t.groups[b.Group]
	// Who was out of a group that hides its history is served from the joining on, and nothing counts as missing.
	away := p.counted && b.From > p.id+1 && b.From == cmp.Or(b.First, t.first[b.Group])
	var events []Event
	anew := p.lost || p.epoch != "" && p.epoch != b.Epoch
	if anew {
		delete(t.first, b.Group)
	}
	if !anew && !b.Complete && b.Cursor != "" && b.Cursor == p.at {
		return nil, nil // the gap was reported
	}
	if !b.Complete || anew || away {
		t.count.gaps.Add(1)
		events = append(events, Gap{Group: b.Group, Epoch: b.Epoch, After: p.id, From: b.From, Anew: anew})
	} else if p.counted {
		if b.From > p.id+1 {
			t.count.holes.Add(1)
			return nil, fmt.Errorf("group %s: messages %d to %d are missing", b.Group, p.id+1, b.From-1)
		}
		repeated := min(p.id+1-b.From, int64(len(b.Messages)))
		t.count.repeats.Add(repeated)
		b.Messages = b.Messages[repeated:]
		b.From += repeated
		if b.To <= p.id {
			return nil, nil
		}
	}
	at := b.Cursor
	if at == "" {
		at = At(b.To)
	}
	t.groups[b.Group] = groupEnd{at: at, id: b.To, counted: true, epoch: b.Epoch}
	if len(b.Messages) > 0 {
		t.count.messages.Add(int64(len(b.Messages)))
		events = append(events, Messages{Group: b.Group, Epoch: b.Epoch, From: b.From, To: b.To, First: b.First, Cursor: at, Messages: b.Messages, Profiles: b.Profiles})
	}
	return events, nil
}

// dense checks that a batch contains exactly the ids that it claims.
func dense(b batch) error {
	if b.To-b.From+1 != int64(len(b.Messages)) {
		return fmt.Errorf("group %s: got %d messages for the ids %d to %d", b.Group, len(b.Messages), b.From, b.To)
	}
	for i, m := range b.Messages {
		if m.ID != b.From+int64(i) {
			return fmt.Errorf("group %s: got message %d in the place of %d", b.Group, m.ID, b.From+int64(i))
		}
	}
	return nil
}

// items processes a part of the inbox and leaves out items that were returned before. If it is not complete, it may be
// a list that was rewritten under the same seqs.
func (t *tracker) items(in Inbox) (Items, bool) {
	if in.Epoch == "" {
		return Items{}, false // an answer without the inbox
	}
	if in.Epoch != t.inbox.epoch || !in.Complete {
		t.inbox = inboxEnd{epoch: in.Epoch}
	}
	if in.To >= t.inbox.seq {
		t.inbox.at = in.Cursor
	}
	fresh := in.Items
	for len(fresh) > 0 && fresh[0].Seq <= t.inbox.seq {
		fresh = fresh[1:]
	}
	if len(fresh) == 0 {
		return Items{}, false
	}
	last := fresh[len(fresh)-1].Seq
	t.inbox.seq = last
	return Items{Epoch: in.Epoch, From: fresh[0].Seq, To: last, Cursor: in.Cursor, Complete: in.Complete, Items: fresh, Profiles: in.Profiles}, true
}

// commit returns the positions to save once an event was handled.
func commit(e Event) map[string]Position {
	switch e := e.(type) {
	case Messages:
		return map[string]Position{e.Group: e.Cursor}
	case Left:
		return map[string]Position{e.Group: ""}
	case pinned:
		return maps.Clone(e.at)
	}
	return nil
}

// pinned wraps a Connected with the positions that it set.
type pinned struct {
	Connected
	at map[string]Position
}

// httpToWS turns http into ws and https into wss.
func httpToWS(scheme string) string { return strings.Replace(scheme, "http", "ws", 1) }
