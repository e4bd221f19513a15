package live

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
)

func text(id int64, mark string) chat.Message {
	return chat.Message{ID: id, Mark: mark, JSON: fmt.Appendf(nil, `{"id":%d,"kind":"text","body":"x"}`, id)}
}

// outline says what is in a ring, and what else is known of its log.
func outline(t *testing.T, r *ring) string {
	t.Helper()
	bytes := 0
	for i := range r.entries {
		if e := &r.entries[i]; e.ID != r.first()+int64(i) {
			t.Errorf("entry %d is in the place of %d", e.ID, r.first()+int64(i))
		}
		bytes += len(r.entries[i].JSON)
	}
	if bytes != r.bytes || len(r.entries) > r.most {
		t.Errorf("%d entries of %d, %d bytes, counted as %d", len(r.entries), r.most, bytes, r.bytes)
	}
	if r.last == unknownLast {
		return "unknown"
	}
	s := fmt.Sprintf("%s %d..%d", r.epoch, r.first(), r.last)
	if r.want > r.last {
		s += fmt.Sprint(" of ", r.want)
	}
	if r.unsure {
		s += " unsure"
	}
	if r.floor > 0 {
		s += fmt.Sprint(", none below ", r.floor)
	}
	return s
}

func entry(id int64, kind chat.Kind, target int64) chat.Message {
	return chat.Message{ID: id, Mark: "m", JSON: fmt.Appendf(nil, `{"id":%d,"kind":%q,"target":%d,"settings":{"history":false}}`, id, kind, target)}
}

// texts are those with the ids from..to.
func texts(from, to int64, mark string) (list []chat.Message) {
	for id := from; id <= to; id++ {
		list = append(list, text(id, mark))
	}
	return list
}

// TestRing says what each signal and each answer of the store does to a ring that holds 3..5 of a log, or that knows nothing.
func TestRing(t *testing.T) {
	end := func(last int64) chat.LogEnd { return chat.LogEnd{Epoch: "e", Last: last} }
	trimmed := func(last, id int64, mark string) chat.LogEnd {
		return chat.LogEnd{Epoch: "e", Last: last, Trimmed: chat.Trimmed{ID: id, Mark: mark}}
	}
	take := func(m chat.Message, changed ...chat.Message) func(*ring) change {
		return func(r *ring) change { return r.take("e", m, changed) }
	}
	fill := func(messages []chat.Message, end chat.LogEnd) func(*ring) change {
		return func(r *ring) change { return r.fill(r.known, messages, end) }
	}
	cutThen := func(do func(*ring) change) func(*ring) change {
		return func(r *ring) change { r.cut(); return do(r) }
	}
	// late answers with what was read before something happened.
	late := func(happens func(*ring), messages []chat.Message, end chat.LogEnd) func(*ring) change {
		return func(r *ring) change {
			before := r.known
			happens(r)
			return r.fill(before, messages, end)
		}
	}
	compare := func(end chat.LogEnd) func(*ring) change {
		return func(r *ring) change { return r.compare(r.known, end) }
	}
	observe := func(epoch string, last int64) func(*ring) change {
		return func(r *ring) change { return r.observe(chat.Info{Group: chat.Group{Epoch: epoch, Last: last}}) }
	}
	prepend := func(happens func(*ring), messages []chat.Message) func(*ring) change {
		return func(r *ring) change {
			g := gap{1, 2, r.gen}
			happens(r)
			return change{grew: r.prepend(g, messages, end(5))}
		}
	}
	quiet := func(*ring) {}
	grew, hole, both := change{grew: true}, change{hole: true}, change{grew: true, hole: true}
	for _, row := range []struct {
		what   string
		does   func(*ring) change
		want   string
		change change
		anew   bool // readers have to ask the store
	}{
		{"the next entry", take(text(6, "m")), "e 3..6", grew, false},
		{"the same entry again", take(text(4, "m")), "e 3..5", change{}, false},
		{"an entry from before the ring", take(text(2, "m")), "e 3..5", change{}, false},
		{"an entry behind others", take(text(8, "m")), "e 3..5 of 8", hole, false},
		{"another entry by a known id", take(text(4, "new")), "e 4..4", grew, true},
		{"an entry of another epoch", func(r *ring) change { return r.take("f", text(1, "new"), nil) }, "f 1..1", grew, true},
		{"an edit", take(entry(6, chat.Edit, 4), text(4, "m")), "e 3..6", grew, false},
		{"more than the ring holds", func(r *ring) change { take(text(6, "m"))(r); return take(text(7, "m"))(r) }, "e 4..7", grew, false},
		{"what came before members joined is hidden", take(entry(6, chat.Notice, 0)), "e 3..6", grew, true},

		{"an expiry", func(r *ring) change { r.expire("e", 4); return change{} }, "e 5..5", change{}, false},
		{"an expiry of all, and more", func(r *ring) change { r.expire("e", 9); return change{} }, "e 6..5", change{}, false},
		{"the next entry after an expiry of all", func(r *ring) change { r.expire("e", 9); return take(text(6, "m"))(r) }, "e 6..6", grew, false},
		{"an expiry of another epoch", func(r *ring) change { r.expire("f", 4); return change{} }, "e 3..5", change{}, false},
		{"a deletion", func(r *ring) change { return r.deleted("e") }, "unknown", grew, true},
		{"a deletion of another epoch", func(r *ring) change { return r.deleted("f") }, "e 3..5", change{}, false},

		{"a fill of the next ones", fill(texts(5, 7, "m"), end(7)), "e 4..7", grew, false},
		{"a fill without news", fill(texts(5, 5, "m"), end(5)), "e 3..5", change{}, false},
		{"a fill that ends earlier than others are known to exist", func(r *ring) change { r.want = 9; return fill(texts(5, 7, "m"), end(9))(r) }, "e 4..7 of 9", both, false},
		{"a fill that begins behind the ring", fill(texts(8, 9, "m"), end(9)), "e 8..9", grew, true},
		{"a fill that begins behind the ring, of some", func(r *ring) change { r.want = 12; return fill(texts(8, 9, "m"), end(12))(r) }, "e 8..9 of 12", both, true},
		{"a fill of a log that has nothing left", fill(nil, end(9)), "e 10..9", grew, true},
		{"a fill with an edit that was not heard of", fill([]chat.Message{text(5, "m"), entry(6, chat.Edit, 4)}, end(6)), "e 6..6", grew, false},
		{"a fill with a deletion of something older", fill([]chat.Message{text(5, "m"), entry(6, chat.Delete, 1)}, end(6)), "e 6..6", grew, false},
		{"a fill with an edit of something older", fill([]chat.Message{text(5, "m"), entry(6, chat.Edit, 1)}, end(6)), "e 3..6", grew, false},
		{"a fill with another entry", fill(texts(5, 6, "new"), end(6)), "e 5..6", grew, true},
		{"a fill of a log that ends earlier", fill(nil, end(3)), "e 4..3", grew, true},
		{"a fill below what a reader has", func(r *ring) change { r.want = 7; return fill(texts(5, 6, "m"), end(6))(r) }, "e 5..6", grew, true},
		{"a fill of another epoch", fill(texts(1, 2, "m"), chat.LogEnd{Epoch: "f", Last: 2}), "f 1..2", grew, true},
		{"a fill of a group that is gone", fill(nil, chat.LogEnd{Last: -1}), "unknown", grew, true},
		{"a fill that was read before the next entry came", late(func(r *ring) { take(text(6, "m"))(r) }, texts(5, 5, "m"), end(5)), "e 3..6", change{}, false},
		{"a fill that was read of another life", late(func(r *ring) { r.take("f", text(1, "new"), nil) }, texts(5, 7, "m"), end(7)), "f 1..1", change{}, true},

		{"a fill that was read before the log was rewritten", late(func(r *ring) { take(text(4, "new"))(r) }, texts(5, 7, "m"), end(7)), "e 4..4", change{}, true},

		{"a cut", cutThen(func(*ring) change { return change{} }), "e 3..5 unsure", change{}, false},
		{"the next entry after a cut", cutThen(take(text(6, "m"))), "e 3..5 of 6 unsure", hole, false},
		{"a fill after a cut", cutThen(fill(texts(5, 6, "m"), end(6))), "e 3..6", grew, false},
		{"a fill after a cut without news", cutThen(fill(texts(5, 5, "m"), end(5))), "e 3..5", change{}, false},
		{"a fill after a cut, of a rewritten log", cutThen(fill(texts(5, 6, "new"), end(6))), "e 5..6", grew, true},
		{"a fill after a cut that shows no known entry", cutThen(fill(texts(6, 7, "m"), end(7))), "e 6..7", grew, true},
		{"a fill after a cut, behind a known entry", cutThen(fill(texts(6, 7, "m"), trimmed(7, 5, "m"))), "e 4..7", grew, false},
		{"a fill after a cut, behind a rewritten entry", cutThen(fill(texts(6, 7, "m"), trimmed(7, 5, "new"))), "e 6..7", grew, true},
		{"a fill that was read before a cut", late((*ring).cut, texts(5, 6, "m"), end(6)), "e 3..6 unsure", both, false},
		{"a safety check after a cut", cutThen(compare(end(5))), "e 3..5 unsure", hole, false},

		{"a safety check", compare(end(5)), "e 3..5", change{}, false},
		{"a safety check of a longer log", compare(end(6)), "e 3..5", hole, false},
		{"a safety check of a shorter log", compare(end(4)), "e 3..5", hole, false},
		{"a safety check of another epoch", compare(chat.LogEnd{Epoch: "f", Last: 5}), "e 3..5", hole, false},
		{"a safety check that was read of another life", func(r *ring) change {
			before := r.known
			r.take("f", text(1, "new"), nil)
			return r.compare(before, end(9))
		}, "f 1..1", change{}, true},
		{"a reader that knows no more", observe("e", 5), "e 3..5", change{}, false},
		{"a reader that knows more", observe("e", 7), "e 3..5 of 7", hole, false},
		{"a reader that knows of another epoch", observe("f", 7), "e 3..5", hole, false},

		{"older entries, of which some are missing", prepend(quiet, texts(2, 2, "m")), "e 3..5, none below 3", change{}, false},
		{"all that is missing", func(r *ring) change { r.most = 5; return prepend(quiet, texts(1, 2, "m"))(r) }, "e 1..5", grew, false},
		{"more than the ring holds, backwards", prepend(quiet, texts(1, 2, "m")), "e 3..5, none below 3", change{}, false},
		{"older entries, and an edit meanwhile", func(r *ring) change {
			r.most = 9
			return prepend(func(r *ring) { take(entry(6, chat.Edit, 1), text(1, "m"))(r) }, texts(1, 2, "m"))(r)
		}, "e 3..6", change{}, false},
		{"older entries, and a cut meanwhile", func(r *ring) change { r.most = 9; return prepend((*ring).cut, texts(1, 2, "m"))(r) }, "e 3..5 unsure", change{}, false},
		{"older entries that expire meanwhile", func(r *ring) change {
			r.most = 9
			return prepend(func(r *ring) { r.expire("e", 2) }, texts(1, 2, "m"))(r)
		}, "e 3..5", change{}, false},
		{"older entries of another epoch", func(r *ring) change {
			r.most = 9
			return change{grew: r.prepend(gap{1, 2, r.gen}, texts(1, 2, "m"), chat.LogEnd{Epoch: "f", Last: 5})}
		}, "e 3..5", change{}, false},
		{"older entries, and the next one meanwhile", func(r *ring) change {
			r.most = 9
			return prepend(func(r *ring) { take(text(6, "m"))(r) }, texts(1, 2, "m"))(r)
		}, "e 1..6", grew, false},
	} {
		r := newRing(4)
		r.begin("e", 2)
		for _, m := range texts(3, 5, "m") {
			r.push(m)
		}
		c := row.does(&r)
		if got := outline(t, &r); got != row.want || c != row.change || (r.life > 0) != row.anew {
			t.Errorf("%s: got %s, %+v, to be verified %v; want %s, %+v, %v", row.what, got, c, r.life > 0, row.want, row.change, row.anew)
		}
	}
	for _, row := range []struct {
		what   string
		does   func(*ring) change
		want   string
		change change
	}{
		{"an entry", take(text(7, "m")), "e 7..7", grew},
		{"a fill", fill(texts(6, 7, "m"), end(7)), "e 6..7", grew},
		{"a fill of an empty log", fill(nil, end(0)), "e 1..0", grew},
		{"a safety check", compare(end(7)), "e 8..7", grew},
		{"a safety check of a group that is gone", compare(chat.LogEnd{Last: -1}), "unknown", change{}},
		{"a reader", observe("e", 7), "e 8..7", change{}},
		{"a deletion", func(r *ring) change { return r.deleted("e") }, "unknown", grew},
		{"a cut", func(r *ring) change { r.cut(); return take(text(7, "m"))(r) }, "e 7..7 unsure", both},
	} {
		r := newRing(4)
		c := row.does(&r)
		if got := outline(t, &r); got != row.want || c != row.change {
			t.Errorf("%s, where nothing is known: got %s, %+v; want %s, %+v", row.what, got, c, row.want, row.change)
		}
	}
}

// What was read of one life of a group is nothing to a feed that a signal of the next one has begun in the meantime.
func TestFillOfAnotherLife(t *testing.T) {
	r := newRing(8)
	before := r.known
	r.take("f", text(1, "new"), nil)
	r.fill(before, []chat.Message{text(1, "old"), text(2, "old")}, chat.LogEnd{Last: 2, Epoch: "e"})
	if e := r.at(1); r.epoch != "f" || r.last != 1 || e == nil || e.Mark != "new" {
		t.Errorf("the feed is of %s, up to %d, with %+v", r.epoch, r.last, e)
	}
}

// A notice that ends the reader's membership is the last entry that the ring gives to them.
func TestRingObeysRemoval(t *testing.T) {
	fd := newFeed("g", 8)
	r := &fd.ring
	notice := chat.Message{ID: 2, Mark: "b", JSON: []byte(`{"id":2,"kind":"notice","notice":"removed","user":"bob"}`)}
	r.begin("e", 0)
	r.take("e", text(1, "a"), nil)
	r.take("e", notice, nil)
	r.take("e", text(3, "c"), nil)
	at := func(member int64) *line {
		return &line{interest: interest{feed: fd}, verified: true, last: member, pos: chat.Position{Set: true, Epoch: "e"}}
	}
	b, removed, _ := at(0).serve("bob")
	if !removed || b.To != 2 {
		t.Errorf("bob, a member as of 0: got up to %d, removed %v; want up to 2, removed", b.To, removed)
	}
	if b, removed, _ = at(0).serve("ann"); removed || b.To != 3 {
		t.Errorf("ann: got up to %d, removed %v; want all 3", b.To, removed)
	}
	if b, removed, _ = at(3).serve("bob"); removed || b.To != 3 {
		t.Errorf("bob, a member again as of 3: got up to %d, removed %v; want all 3", b.To, removed)
	}
}

// The bytes of a ring are bounded, whatever the size of its messages.
func TestRingBytes(t *testing.T) {
	r := newRing(128)
	large := make([]byte, 16<<10)
	for i := range large {
		large[i] = 'x'
	}
	for id := int64(1); id <= 200; id++ {
		r.take("e", chat.Message{ID: id, Mark: "m", JSON: fmt.Appendf(nil, `{"id":%d,"kind":"text","body":%q}`, id, large)}, nil)
	}
	sum := 0
	for _, e := range r.entries {
		sum += len(e.JSON)
	}
	if sum != r.bytes || sum > ringBytesMax || r.entries[len(r.entries)-1].ID != 200 {
		t.Errorf("got %d bytes (counted %d) up to %d; want at most %d up to 200", sum, r.bytes, r.entries[len(r.entries)-1].ID, ringBytesMax)
	}
}

// While signals may have been missed, nobody is served from the ring: it may be of a log that is lost.
func TestRingServesNobodyAfterACut(t *testing.T) {
	fd := newFeed("g", 8)
	r := &fd.ring
	for id := int64(1); id <= 3; id++ {
		r.take("e", text(id, "old"), nil)
	}
	reader := func(verified bool) *line {
		pos := chat.Position{Set: true, ID: 2, Epoch: "e", Mark: "old"}
		return &line{interest: interest{feed: fd}, verified: verified, last: 3, pos: pos}
	}
	for _, verified := range []bool{false, true} {
		r.cut()
		if _, _, p := reader(verified).serve("bob"); p != planAsk {
			t.Errorf("after a cut, verified %t: got plan %d, want the store to be asked", verified, p)
		}
		r.fill(r.known, []chat.Message{text(3, "old")}, chat.LogEnd{Last: 3, Epoch: "e"})
		if b, _, p := reader(verified).serve("bob"); p != planServe || b.From != 3 {
			t.Errorf("after a fill, verified %t: got plan %d, want the ring to serve it", verified, p)
		}
	}
}

// TestFeedAfterACutWithoutAMark: a feed that does not know the mark of its end cannot tell whether the log was rewritten.
func TestFeedAfterACutWithoutAMark(t *testing.T) {
	r := newRing(8)
	r.begin("e", 2)
	r.cut()
	r.fill(r.known, []chat.Message{text(3, "new")}, chat.LogEnd{Last: 3, Epoch: "e", Trimmed: chat.Trimmed{ID: 2, Mark: "new"}})
	if r.life == 0 {
		t.Error("readers need not verify their position")
	}
}
