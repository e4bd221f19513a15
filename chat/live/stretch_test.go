package live

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
)

// stretchLog is a feed of texts 1 to 3, an edit of 2 with id 4, the notice that bob left with id 5, and text 6.
func stretchLog() *feed {
	f := newFeed("g", 100)
	add := func(id int64, fields string) {
		f.ring.take("e", chat.Message{ID: id, Mark: fmt.Sprint("m", id), JSON: fmt.Appendf(nil, `{"id":%d%s}`, id, fields)}, nil)
	}
	for id := range int64(3) {
		add(id+1, `,"kind":"text","body":"x"`)
	}
	add(4, `,"kind":"edit","target":2,"body":"y"`)
	add(5, `,"kind":"notice","notice":"left","user":"bob"`)
	add(6, `,"kind":"text","body":"z"`)
	return f
}

func (f *feed) reader(after, hidden int64) *line {
	pos := chat.Position{Set: true, ID: after, Epoch: "e", Mark: fmt.Sprint("m", after)}
	return &line{interest: interest{feed: f}, pos: pos, verified: true, gen: f.ring.gen, hidden: hidden}
}

// Readers at the same position get the same batch, as far as they may see the same.
func TestStretchIsShared(t *testing.T) {
	f := stretchLog()
	take := func(user string, after, hidden int64) (*chat.Batch, bool) {
		l := f.reader(after, hidden)
		b, removed, p := l.serve(user)
		if p != planServe || b.From != after+1 || l.pos.ID != b.To || l.pos.Mark != fmt.Sprint("m", b.To) {
			t.Fatalf("%s after %d: got %+v by plan %d, then stands at %+v", user, after, b, p, l.pos)
		}
		return b, removed
	}
	ann, _ := take("ann", 1, 0)
	if cid, _ := take("cid", 1, 0); cid != ann || ann.Shared == nil || ann.To != 6 {
		t.Errorf("got %+v and %+v, want one batch up to 6", ann, cid)
	}
	if dan, _ := take("dan", 2, 0); dan == ann || dan.To != 6 {
		t.Errorf("after another position: got %+v", dan)
	}
	if eve, _ := take("eve", 1, 3); eve == ann || string(eve.Messages[2].JSON) == string(ann.Messages[2].JSON) {
		t.Errorf("who may not see what was edited got %s", eve.Messages[2].JSON)
	}
	if bob, removed := take("bob", 1, 0); !removed || bob.To != 5 || bob.Shared != nil {
		t.Errorf("who left with 5: got %+v, removed %v", bob, removed)
	}
	if ann, removed := take("ann", 4, 0); removed || ann.To != 6 {
		t.Errorf("ann after 4: got %+v, removed %v", ann, removed)
	}
}

// What is shared never outlives a change of the ring.
func TestStretchEndsWithAChange(t *testing.T) {
	for name, change := range map[string]func(*feed){
		"a message": func(f *feed) { f.ring.take("e", chat.Message{ID: 7, Mark: "m7", JSON: []byte(`{"id":7}`)}, nil) },
		"an edit":   func(f *feed) { f.ring.replace(chat.Message{ID: 3, Mark: "m3", JSON: []byte(`{"id":3,"body":"new"}`)}) },
		"an expiry": func(f *feed) { f.ring.expire("e", 1) },
		"a safety check": func(f *feed) {
			f.ring.compare(f.ring.known, chat.LogEnd{Epoch: "e", Last: 6})
		},
	} {
		f := stretchLog()
		before, _, _ := f.reader(2, 0).serve("ann")
		change(f)
		if after, _, p := f.reader(2, 0).serve("cid"); p != planServe || after == before {
			t.Errorf("after %s: got the batch from before, plan %d", name, p)
		}
	}
}
