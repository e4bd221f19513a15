package live

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chatd/chatd/chat"
)

func nextCursor(p *pending) *CursorEvent {
	e, _ := p.nextLocked()
	return e.Cursor
}

// A session gets an event for every move of its user's cursors but its own, also for one back to where it had put them.
func TestPendingSkipsOwnMoves(t *testing.T) {
	b := newPending("bob", false)
	b.session = "laptop"
	moved := func(origin string, read int64) CursorEvent {
		e := CursorEvent{Group: "red", User: "bob", Seen: 5, Read: read, Origin: origin}
		b.cursor(e)
		return e
	}
	moved("laptop", 3)
	if e := nextCursor(b); e != nil {
		t.Errorf("after an own move: got %+v, want nothing", *e)
	}
	moved("phone", 4)
	want := moved("laptop", 5)
	if e := nextCursor(b); e == nil || *e != want {
		t.Errorf("after a move of another session and an own one: got %v, want %+v", e, want)
	}
	if e := nextCursor(b); e != nil {
		t.Errorf("after the last move: got %+v, want nothing", *e)
	}
	for _, origin := range []string{"phone", ""} {
		for _, read := range []int64{2, 5} {
			want := moved(origin, read)
			if e := nextCursor(b); e == nil || *e != want {
				t.Errorf("moved by %q: got %v, want %+v", origin, e, want)
			}
		}
	}
	nameless := newPending("bob", false)
	nameless.cursor(CursorEvent{Group: "red", User: "bob", Seen: 5})
	if nextCursor(nameless) == nil {
		t.Error("a session without a name got no event about a move without an origin")
	}
}

// Who does not ask for typing is not woken by it. Who asks is woken apart from news, is not notified of the own typing, and has a bound.
func TestPendingTypingOfPolls(t *testing.T) {
	deaf, asks := newPending("bob", true), newPending("bob", true)
	asks.heard = make(chan struct{}, 1)
	for n := range 2 * pendingTypingMax {
		for _, p := range []*pending{deaf, asks} {
			p.typed(TypingEvent{Group: "red", User: fmt.Sprintf("u%03d", n)})
			p.typed(TypingEvent{Group: "red", User: "bob"})
		}
	}
	if len(deaf.c)+len(asks.c) > 0 {
		t.Error("woken to read the store")
	}
	if len(deaf.takeTyping()) > 0 || len(asks.heard) != 1 {
		t.Errorf("want one to be woken, and nothing kept for the other")
	}
	if got := asks.takeTyping(); len(got) != pendingTypingMax || !slices.Contains(got, TypingEvent{"red", "u001"}) {
		t.Errorf("got %d: %v", len(got), got)
	}
	if len(asks.takeTyping()) > 0 {
		t.Error("given twice")
	}
}

// What is heard of a group before it is known that the user is not in it stays unheard; the own cursor is never secret.
func TestFollowerKeepsToItsGroups(t *testing.T) {
	f := &Follower{by: chat.Caller{User: "eve"}, pending: newPending("eve", false), lines: lines{{interest: interest{feed: newFeed("red", 1)}}}}
	for _, g := range []string{"red", "secret"} {
		for _, u := range []string{"ann", "eve"} {
			f.pending.cursor(CursorEvent{Group: g, User: u, Seen: 1, Read: 1})
		}
		f.pending.typed(TypingEvent{Group: g, User: "ann"})
	}
	got := 0
	for {
		e, ok, err := f.TryNext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		got++
		if c := e.Cursor; c != nil && c.Group == "secret" && c.User != "eve" || e.Typing != nil && e.Typing.Group == "secret" {
			t.Errorf("told %+v %+v", e.Cursor, e.Typing)
		}
	}
	if got != 4 {
		t.Errorf("got %d events, want both cursors and the typing of red, and the own cursor of the other", got)
	}
}

// A deletion takes the content of the edits too. Where its wake-up was lost, edits that are in the ring of a message that
// is not go back to the store.
func TestFeedDeletionUnheard(t *testing.T) {
	f := newFeed("red", 2)
	entry := func(id, target int64, kind chat.Kind) chat.Message {
		return chat.Message{ID: id, Mark: fmt.Sprint("m", id), JSON: fmt.Appendf(nil, `{"id":%d,"kind":%q,"target":%d}`, id, kind, target)}
	}
	for id := range int64(3) {
		f.ring.take("e", entry(id+1, 0, chat.Text), nil)
	}
	f.ring.take("e", entry(4, 1, chat.Edit), nil) // the ring holds 3 and 4 now
	f.ring.fill(f.ring.known, []chat.Message{entry(4, 1, chat.Edit), entry(5, 1, chat.Delete)}, chat.LogEnd{Last: 5, Epoch: "e"})
	if e := f.ring.at(4); e != nil {
		t.Errorf("the edit is served from memory as it was: %s", e.JSON)
	}
	if e := f.ring.at(5); e == nil {
		t.Error("the deletion itself was given up")
	}
}
