package live

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
)

// A cursor that another device moves away and back again is where this session had put it, and is told all the same.
func TestPendingCursorComesBack(t *testing.T) {
	b := newPending("bob", false)
	b.acting("red")
	b.acted("red", &chat.Cursors{Seen: 5, Read: 5})
	b.cursor(CursorEvent{Group: "red", User: "bob", Seen: 5, Read: 5})
	if e := b.nextCursor(); e != nil {
		t.Errorf("told of the own ack: %+v", *e)
	}
	for _, read := range []int64{2, 5} {
		want := CursorEvent{Group: "red", User: "bob", Seen: 5, Read: read}
		b.cursor(want)
		if e := b.nextCursor(); e == nil || *e != want {
			t.Errorf("another device: got %v, want %+v", e, want)
		}
	}
}

// A client may name any group in an ack. Those that it is not in leave nothing behind, nor does one it was removed from
// in the middle.
func TestPendingKeepsNoRefusedAcks(t *testing.T) {
	b := newPending("bob", false)
	for i := range 100 {
		g := fmt.Sprint("g", i)
		b.acting(g)
		if i%2 == 0 {
			b.forget(g)
		}
		b.acted(g, nil)
	}
	if len(b.own) != 0 {
		t.Errorf("after 100 refused acks: %d are kept, want none", len(b.own))
	}
}

// What is heard of a group before it is known that the user is not in it stays unheard; the own cursor is never secret.
func TestFollowerTellsNothingOfOtherGroups(t *testing.T) {
	f := &Follower{by: chat.Caller{User: "eve"}, pending: newPending("eve", false), lines: map[string]*line{"red": {}}}
	for _, g := range []string{"red", "secret"} {
		for _, u := range []string{"ann", "eve"} {
			f.pending.cursor(CursorEvent{Group: g, User: u, Seen: 1, Read: 1})
		}
		f.pending.typed(TypingEvent{Group: g, User: "ann"})
	}
	told := 0
	for {
		e, ok, err := f.TryNext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		told++
		if c := e.Cursor; c != nil && c.Group == "secret" && c.User != "eve" || e.Typing != nil && e.Typing.Group == "secret" {
			t.Errorf("told %+v %+v", e.Cursor, e.Typing)
		}
	}
	if told != 4 {
		t.Errorf("got %d events, want both cursors and the typing of red, and the own cursor of the other", told)
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
		f.take("e", entry(id+1, 0, chat.Text), nil)
	}
	f.take("e", entry(4, 1, chat.Edit), nil) // the ring holds 3 and 4 now
	f.fill(f.snapshot(), []chat.Message{entry(4, 1, chat.Edit), entry(5, 1, chat.Delete)}, chat.LogEnd{Last: 5, Epoch: "e"})
	if e := f.atLocked(4); e != nil {
		t.Errorf("the edit is served from memory as it was: %s", e.JSON)
	}
	if e := f.atLocked(5); e == nil {
		t.Error("the deletion itself was given up")
	}
}
