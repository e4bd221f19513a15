package live

import (
	"encoding/json"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
)

// Whether an entry does something is told from its beginning just as from all of it, whatever a client puts into it.
func TestInertEntries(t *testing.T) {
	body := `","group":"g","from":"u","kind":"text"`
	target := `{"kind":"edit","notice":"left"}`
	for kind, inertly := range map[chat.Kind]bool{
		chat.Text: true, chat.Data: true, chat.Reaction: true, chat.Edit: false, chat.Delete: false, chat.Notice: false,
	} {
		e := chat.Entry{Group: "g.1", From: "u-1", Content: chat.Content{Kind: kind, Body: &body, Data: json.RawMessage(target), Target: 3}}
		_, rest := chat.NewEntry(e)
		if got := inert(chat.EntryJSON(7, rest)); got != inertly {
			t.Errorf("%s: inert is %v for %s", kind, got, chat.EntryJSON(7, rest))
		}
	}
	for _, other := range []string{
		``, `{}`, `{"id":1}`, `{"id":1,"kind":"edit","data":{"x":1,"group":"g","from":"u","kind":"text"}}`,
		`{"id":1,"group":"g\",\"from\":\"u\",\"kind\":\"text","from":"u","kind":"edit"}`, `{"id":1,"group":"g","kind":"text"}`,
	} {
		if inert([]byte(other)) {
			t.Errorf("not as the server writes it, but said to be inert: %s", other)
		}
	}
}

// A node keeps a line for each group of each session, and up to 128 entries for each group: their sizes are those of
// docs/costs.md.
func TestWhatANodeKeepsMuchOfIsSmall(t *testing.T) {
	for _, one := range []struct {
		name       string
		size, most uintptr
	}{
		{"line", unsafe.Sizeof(line{}), 112},
		{"interest", unsafe.Sizeof(interest{}), 32},
		{"ringEntry", unsafe.Sizeof(ringEntry{}), 88},
	} {
		if one.size > one.most {
			t.Errorf("a %s takes %d bytes, want at most %d", one.name, one.size, one.most)
		}
	}
}

// The ring of a group in which nothing happens is given up, and readers that are behind ask the store; new entries are served
// from memory again.
func TestQuietRingIsGivenUp(t *testing.T) {
	fd := stretchLog()
	r := &fd.ring
	end := chat.LogEnd{Epoch: "e", Last: 6}
	for range quietChecks {
		r.compare(r.known, end)
	}
	if len(r.entries) != 6 {
		t.Fatalf("the ring has %d entries before it is quiet for long enough, want 6", len(r.entries))
	}
	if _, _, p := fd.reader(4, 0).serve("ann"); p != planServe {
		t.Fatalf("a reader that is behind got plan %d, want it served", p)
	}
	for range quietChecks {
		r.compare(r.known, end)
	}
	if len(r.entries) != 6 {
		t.Fatalf("the ring has %d entries although a reader used it, want 6", len(r.entries))
	}
	if c := r.compare(r.known, end); c != (change{}) || r.entries != nil || r.bytes != 0 {
		t.Fatalf("a quiet ring: got %+v, %d entries of %d bytes; want none", c, len(r.entries), r.bytes)
	}
	behind, there := fd.reader(4, 0), fd.reader(6, 0)
	if _, _, p := behind.serve("ann"); p != planAsk {
		t.Errorf("a reader that is behind got plan %d, want it to ask the store", p)
	}
	r.take("e", chat.Message{ID: 7, Mark: "m7", JSON: []byte(`{"id":7}`)}, nil)
	if b, _, p := there.serve("ann"); p != planServe || b.From != 7 || b.To != 7 {
		t.Errorf("a reader at the end got %+v by plan %d, want entry 7 from memory", b, p)
	}
}

// Lines are found whatever the order in which groups are joined and left.
func TestLinesAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &Follower{service: &Service{}, pending: newPending("u", false)}
		want := map[string]*line{}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			var joined []*interest
			for _, g := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-e]{1,2}`), 0, 5, rapid.ID[string]).Draw(t, "groups") {
				if l := want[g]; l != nil {
					f.drop(l)
					delete(want, g)
					continue
				}
				l := &line{interest: interest{feed: newFeed(g, 1)}}
				l.line = l
				want[g] = l
				joined = append(joined, &l.interest)
			}
			f.follow(joined)
			if len(f.lines) != len(want) {
				t.Fatalf("%d lines, want %d", len(f.lines), len(want))
			}
			for g, l := range want {
				if f.lines.of(g) != l || f.lines.of(g+"x") != nil {
					t.Fatalf("%s was not found, or another one instead", g)
				}
			}
		}
	})
}
