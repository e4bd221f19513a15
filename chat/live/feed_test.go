package live

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
)

// modelLog is a log as a store keeps it, with the signals that its writes published.
type modelLog struct {
	epoch    string
	messages []chat.Message // id i+1 at index i
	body     map[int64]string
	texts    []int64 // what can be edited
	signals  []Signal
	marks    int
}

func (m *modelLog) json(id int64, kind chat.Kind, target int64) []byte {
	return fmt.Appendf(nil, `{"id":%d,"kind":%q,"target":%d,"body":%q}`, id, kind, target, m.body[id])
}

func (m *modelLog) append(kind chat.Kind, target int64) {
	id := int64(len(m.messages)) + 1
	m.marks++
	m.body[id] = fmt.Sprint("as sent ", m.marks)
	message := chat.Message{ID: id, Mark: fmt.Sprintf("m%05d", m.marks), JSON: m.json(id, kind, target)}
	m.messages = append(m.messages, message)
	if kind == chat.Text {
		m.texts = append(m.texts, id)
	}
	s := Signal{Kind: SignalMessage, Epoch: m.epoch, Message: message}
	if kind == chat.Edit {
		m.body[target] = fmt.Sprint("edited by ", id)
		changed := &m.messages[target-1]
		changed.JSON = m.json(target, chat.Text, 0)
		s.Changed = []chat.Message{*changed}
	}
	m.signals = append(m.signals, s)
}

// edit changes one of the newest texts.
func (m *modelLog) edit(t *rapid.T) {
	if len(m.texts) > 0 {
		m.append(chat.Edit, rapid.SampledFrom(m.texts[max(0, len(m.texts)-8):]).Draw(t, "target"))
	}
}

// read is what a store's Range answers at this instant.
func (m *modelLog) read(from int64, limit int) ([]chat.Message, chat.LogEnd) {
	end := chat.LogEnd{Last: int64(len(m.messages)), Epoch: m.epoch}
	lo := min(max(from-1, 0), end.Last)
	hi := min(lo+int64(limit), end.Last)
	return append([]chat.Message(nil), m.messages[lo:hi]...), end
}

// ringReader follows a feed as a Follower's line does, with reads of the model where the ring does not reach.
type ringReader struct {
	t    *rapid.T
	log  *modelLog
	line *line
	got  int64
}

func newRingReader(t *rapid.T, log *modelLog, fd *feed) *ringReader {
	l := &line{interest: interest{feed: fd}, verified: true, life: fd.life}
	l.pos = chat.Position{Set: true, ID: int64(len(log.messages)), Epoch: log.epoch}
	return &ringReader{t: t, log: log, line: l, got: l.pos.ID}
}

// poll takes what the ring has and checks that it is dense and of this log.
func (r *ringReader) poll() {
	for {
		b, _, state := r.line.fromRing("nobody")
		switch state {
		case ringNothing:
			return
		case ringServed:
			r.take(b.Messages)
		case ringPull:
			before := r.line.feed.snapshot()
			messages, end := r.log.read(r.line.pos.ID+1, 5)
			r.line.life, r.line.last = before.life, end.Last
			if len(messages) == 0 {
				return
			}
			b := &chat.Batch{Last: end.Last}
			r.line.advance(b, messages)
			r.take(messages)
		}
	}
}

func (r *ringReader) take(messages []chat.Message) {
	for _, m := range messages {
		if m.ID != r.got+1 {
			r.t.Fatalf("got %d after %d", m.ID, r.got)
		}
		r.got = m.ID
		if want := r.log.messages[m.ID-1].Mark; m.Mark != want {
			r.t.Fatalf("message %d: got the mark %s, want %s", m.ID, m.Mark, want)
		}
	}
}

// becomeQuiet lets so many safety checks pass that the ring is given up.
func (f *feed) becomeQuiet() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range quietChecks + 1 {
		f.restLocked()
	}
}

// TestFeedDense feeds signals in random order, some lost, some twice, with fills and checks in between whose reads are as
// old as they like, and wants every reader to get every id once, and the ring to end with the content that is stored.
func TestFeedDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := &modelLog{epoch: "e", body: map[int64]string{}}
		fd := newFeed("g", rapid.IntRange(1, 12).Draw(t, "entries"))
		for range rapid.IntRange(0, 5).Draw(t, "before") {
			log.append(chat.Text, 0)
		}
		log.signals = nil
		fd.resetLocked("e", int64(len(log.messages)))
		readers := []*ringReader{newRingReader(t, log, fd)}
		var reads []func() // answers of the store under way
		fill := func() {
			before := fd.snapshot()
			from := max(before.last, 1)
			messages, end := log.read(from, fd.entries)
			if end.Last-from >= int64(fd.entries) {
				messages, end = log.read(end.Last-int64(fd.entries)+1, 2*fd.entries)
			}
			reads = append(reads, func() { fd.fill(before, messages, end) })
		}
		actions := map[string]func(*rapid.T){
			"append": func(t *rapid.T) { log.append(chat.Text, 0) },
			"edit": func(t *rapid.T) {
				log.edit(t)
			},
			"signal": func(t *rapid.T) {
				if len(log.signals) == 0 {
					return
				}
				// Mostly in order, as a channel gives them; otherwise any, which is harder than what can happen.
				i := 0
				if rapid.IntRange(0, 3).Draw(t, "disorder") == 0 {
					i = rapid.IntRange(0, len(log.signals)-1).Draw(t, "which")
				}
				s := log.signals[i]
				if rapid.IntRange(0, 9).Draw(t, "twice") > 0 {
					log.signals = append(log.signals[:i:i], log.signals[i+1:]...)
				}
				if rapid.IntRange(0, 5).Draw(t, "lost") > 0 {
					if c := fd.take(s.Epoch, s.Message, s.Changed); c.hole {
						fill()
					}
				}
			},
			"fill": func(t *rapid.T) { fill() },
			"answer": func(t *rapid.T) {
				if len(reads) > 0 {
					i := rapid.IntRange(0, len(reads)-1).Draw(t, "which")
					reads[i]()
					reads = append(reads[:i:i], reads[i+1:]...)
				}
			},
			"reader": func(t *rapid.T) {
				if len(readers) < 4 {
					readers = append(readers, newRingReader(t, log, fd))
				}
			},
			"quiet": func(*rapid.T) { fd.becomeQuiet() },
			"poll":  func(t *rapid.T) { readers[rapid.IntRange(0, len(readers)-1).Draw(t, "reader")].poll() },
			"": func(t *rapid.T) {
				if len(fd.ring) > fd.entries || fd.last != unknownLast && len(fd.ring) > 0 && fd.ring[len(fd.ring)-1].ID != fd.last {
					t.Fatalf("the ring holds %d of %d entries and ends at %d", len(fd.ring), fd.entries, fd.last)
				}
				for i := 1; i < len(fd.ring); i++ {
					if fd.ring[i].ID != fd.ring[i-1].ID+1 {
						t.Fatalf("the ring has a hole before %d", fd.ring[i].ID)
					}
				}
			},
		}
		t.Repeat(actions)
		// The safety check: whatever was lost, a comparison and the fills it asks for make the feed whole.
		for _, read := range reads {
			read()
		}
		reads = nil
		for range 4 {
			before := fd.snapshot()
			_, end := log.read(1, 0)
			if c := fd.compare(before, end); c.hole {
				fill()
				reads[0]()
				reads = nil
			}
		}
		last := int64(len(log.messages))
		if fd.last != last {
			t.Fatalf("the feed ends at %d, the log at %d", fd.last, last)
		}
		for _, r := range readers {
			r.poll()
			if r.got != last {
				t.Fatalf("a reader got up to %d of %d", r.got, last)
			}
		}
	})
}

// Where signals come in order but for losses, the ring holds the newest content after each.
func TestFeedContentAfterLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := &modelLog{epoch: "e", body: map[int64]string{}}
		fd := newFeed("g", rapid.IntRange(1, 12).Draw(t, "entries"))
		fd.resetLocked("e", 0)
		fd.interests = make([]*interest, warmReaders)
		var warmed func() // the answer to a fill backwards under way
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "warm") {
			case 0:
				if answer := beginWarming(t, log, fd); answer != nil {
					warmed = answer
				}
			case 1:
				if warmed != nil {
					warmed()
					warmed = nil
				}
			}
			if rapid.Bool().Draw(t, "edit") {
				log.edit(t)
			} else {
				log.append(chat.Text, 0)
			}
			if len(log.signals) == 0 {
				continue
			}
			s := log.signals[len(log.signals)-1]
			if rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
				continue
			}
			if c := fd.take(s.Epoch, s.Message, s.Changed); c.hole {
				before := fd.snapshot()
				messages, end := log.read(max(before.last, 1), fd.entries)
				if end.Last-max(before.last, 1) >= int64(fd.entries) {
					messages, end = log.read(end.Last-int64(fd.entries)+1, 2*fd.entries)
				}
				fd.fill(before, messages, end)
			}
			if fd.last != s.Message.ID {
				t.Fatalf("after message %d the feed ends at %d", s.Message.ID, fd.last)
			}
			for _, e := range fd.ring {
				if got, want := string(e.JSON), string(log.messages[e.ID-1].JSON); got != want {
					t.Fatalf("message %d is served as %s, stored as %s", e.ID, got, want)
				}
			}
		}
	})
}

// beginWarming reads what a fill backwards for some reader reads now. The answer may come later; nil: none is needed.
func beginWarming(t *rapid.T, log *modelLog, fd *feed) (answer func()) {
	l := &line{interest: interest{feed: fd}, verified: rapid.Bool().Draw(t, "verified"), life: fd.life}
	l.pos = chat.Position{Set: true, ID: rapid.Int64Range(0, int64(len(log.messages))).Draw(t, "behind"), Epoch: log.epoch}
	from, before, wait := fd.beginWarm(l)
	if wait != nil || from == 0 {
		return nil
	}
	messages, end := log.read(from, int(before.first-from))
	return func() { fd.endWarm(before, from, messages, end) }
}

func text(id int64, mark string) chat.Message {
	return chat.Message{ID: id, Mark: mark, JSON: fmt.Appendf(nil, `{"id":%d,"kind":"text","body":"x"}`, id)}
}

// A store that lost the end of a log and wrote it anew is noticed by the mark, whatever way it shows.
func TestFeedRolledBack(t *testing.T) {
	fresh := func() *feed {
		fd := newFeed("g", 8)
		for id := int64(1); id <= 5; id++ {
			fd.take("e", text(id, "old"), nil)
		}
		return fd
	}
	ways := map[string]func(fd *feed){
		"a signal with a known id and another mark": func(fd *feed) { fd.take("e", text(4, "new"), nil) },
		"another epoch": func(fd *feed) { fd.take("f", text(1, "new"), nil) },
		"a fill that begins with another entry": func(fd *feed) {
			fd.fill(fd.snapshot(), []chat.Message{text(5, "new"), text(6, "new")}, chat.LogEnd{Last: 6, Epoch: "e"})
		},
		"a log that ends earlier": func(fd *feed) {
			fd.fill(fd.snapshot(), nil, chat.LogEnd{Last: 3, Epoch: "e"})
		},
		"a deleted group": func(fd *feed) { fd.deleted("e") },
		"a group that is gone": func(fd *feed) {
			fd.fill(fd.snapshot(), nil, chat.LogEnd{Last: -1})
		},
	}
	for name, happens := range ways {
		fd := fresh()
		life := fd.life
		happens(fd)
		if fd.life == life {
			t.Errorf("%s: readers need not verify their position", name)
		}
		if e := fd.atLocked(2); e != nil {
			t.Errorf("%s: the ring still holds %d", name, e.ID)
		}
	}
	same := fresh()
	same.take("e", text(4, "old"), nil)
	if same.life != 0 || same.last != 5 {
		t.Errorf("a signal that comes twice: life %d, last %d, want 0 and 5", same.life, same.last)
	}
}

// What was read of one life of a group is nothing to a feed that a signal of the next one has begun in the meantime.
func TestFillOfAnotherLife(t *testing.T) {
	fd := newFeed("g", 8)
	before := fd.snapshot()
	fd.take("f", text(1, "new"), nil)
	fd.fill(before, []chat.Message{text(1, "old"), text(2, "old")}, chat.LogEnd{Last: 2, Epoch: "e"})
	if e := fd.atLocked(1); fd.epoch != "f" || fd.last != 1 || e == nil || e.Mark != "new" {
		t.Errorf("the feed is of %s, up to %d, with %+v", fd.epoch, fd.last, e)
	}
}

// A reader may stand above the end of a feed that has not heard of the newest entry yet. Where the store loses that one, the
// reader has to verify its position, although the feed has lost nothing.
func TestFeedBehindItsReaderRolledBack(t *testing.T) {
	fd := newFeed("g", 8)
	fd.take("e", text(1, "one"), nil)
	fd.take("e", text(2, "two"), nil)
	info := chat.Info{Group: chat.Group{ID: "g", Epoch: "e", Last: 3}}
	if !fd.observe(info) {
		t.Error("a reader knows of an entry that the feed does not have: want a fill")
	}
	life := fd.life
	c := fd.fill(fd.snapshot(), []chat.Message{text(2, "two")}, chat.LogEnd{Last: 2, Epoch: "e"})
	if fd.life == life || !c.grew || c.hole {
		t.Errorf("the log ends below what a reader has: got life %d of %d, %+v; want readers to verify their position", fd.life, life, c)
	}
	life = fd.life
	fd.observe(info)
	if c := fd.fill(fd.snapshot(), []chat.Message{text(2, "two"), text(3, "three")}, chat.LogEnd{Last: 3, Epoch: "e"}); fd.life != life || c.hole {
		t.Errorf("the fill found what the reader has: got life %d of %d, %+v", fd.life, life, c)
	}
}

// A notice that ends the reader's membership is the last entry that the ring gives to them.
func TestRingObeysRemoval(t *testing.T) {
	fd := newFeed("g", 8)
	notice := chat.Message{ID: 2, Mark: "b", JSON: []byte(`{"id":2,"kind":"notice","notice":"removed","user":"bob"}`)}
	fd.resetLocked("e", 0)
	fd.take("e", text(1, "a"), nil)
	fd.take("e", notice, nil)
	fd.take("e", text(3, "c"), nil)
	at := func(member int64) *line {
		return &line{interest: interest{feed: fd}, verified: true, last: member, pos: chat.Position{Set: true, Epoch: "e"}}
	}
	b, removed, _ := at(0).fromRing("bob")
	if !removed || b.To != 2 {
		t.Errorf("bob, a member as of 0: got up to %d, removed %v; want up to 2, removed", b.To, removed)
	}
	if b, removed, _ = at(0).fromRing("ann"); removed || b.To != 3 {
		t.Errorf("ann: got up to %d, removed %v; want all 3", b.To, removed)
	}
	if b, removed, _ = at(3).fromRing("bob"); removed || b.To != 3 {
		t.Errorf("bob, a member again as of 3: got up to %d, removed %v; want all 3", b.To, removed)
	}
}

// The bytes of a ring are bounded, whatever the size of its messages.
func TestRingBytes(t *testing.T) {
	fd := newFeed("g", 128)
	large := make([]byte, 16<<10)
	for i := range large {
		large[i] = 'x'
	}
	for id := int64(1); id <= 200; id++ {
		fd.take("e", chat.Message{ID: id, Mark: "m", JSON: fmt.Appendf(nil, `{"id":%d,"kind":"text","body":%q}`, id, large)}, nil)
	}
	sum := 0
	for _, e := range fd.ring {
		sum += len(e.JSON)
	}
	if sum != fd.bytes || sum > ringBytesMax || fd.ring[len(fd.ring)-1].ID != 200 {
		t.Errorf("got %d bytes (counted %d) up to %d; want at most %d up to 200", sum, fd.bytes, fd.ring[len(fd.ring)-1].ID, ringBytesMax)
	}
}

// TestFeedAfterACut: while signals may have been missed, none continues the ring: the entry before it may be another one.
func TestFeedAfterACut(t *testing.T) {
	fresh := func() *feed {
		fd := newFeed("g", 8)
		fd.take("e", text(1, "old"), nil)
		fd.take("e", text(2, "old"), nil)
		fd.cut()
		return fd
	}
	fd := fresh()
	if c := fd.take("e", text(3, "new"), nil); c.grew || !c.hole || fd.last != 2 {
		t.Errorf("a signal after a cut: got %+v and an end at %d, want a fill first", c, fd.last)
	}
	c := fd.fill(fd.snapshot(), []chat.Message{text(2, "old"), text(3, "new")}, chat.LogEnd{Last: 3, Epoch: "e"})
	if !c.grew || c.hole || fd.life != 0 {
		t.Errorf("the same log: got %+v, life %d, want no more than the new entry", c, fd.life)
	}
	if c := fd.take("e", text(4, "new"), nil); !c.grew || c.hole {
		t.Errorf("a signal after the fill: got %+v", c)
	}

	fd = fresh()
	before := fd.snapshot()
	fd.cut()
	if c := fd.fill(before, []chat.Message{text(2, "old")}, chat.LogEnd{Last: 2, Epoch: "e"}); !c.hole {
		t.Error("a fill that was read before another cut: want one more")
	}

	for name, end := range map[string]chat.LogEnd{
		"an entry of the ring, trimmed": {Last: 3, Epoch: "e", Trimmed: chat.Trimmed{ID: 2, Mark: "new"}},
		"what the ring never had":       {Last: 4, Epoch: "e", Trimmed: chat.Trimmed{ID: 3, Mark: "new"}},
		"nothing is left":               {Last: 4, Epoch: "e", Trimmed: chat.Trimmed{ID: 4, Mark: "new"}},
	} {
		fd := fresh()
		var left []chat.Message
		for id := end.Trimmed.ID + 1; id <= end.Last; id++ {
			left = append(left, text(id, "new"))
		}
		if fd.fill(fd.snapshot(), left, end); fd.life == 0 {
			t.Errorf("%s: readers need not verify their position", name)
		}
	}
}

// While signals may have been missed, nobody is served from the ring: it may be of a log that is lost.
func TestRingServesNobodyAfterACut(t *testing.T) {
	fd := newFeed("g", 8)
	for id := int64(1); id <= 3; id++ {
		fd.take("e", text(id, "old"), nil)
	}
	reader := func(verified bool) *line {
		pos := chat.Position{Set: true, ID: 2, Epoch: "e", Mark: "old"}
		return &line{interest: interest{feed: fd}, verified: verified, last: 3, pos: pos}
	}
	for _, verified := range []bool{false, true} {
		fd.cut()
		if _, _, state := reader(verified).fromRing("bob"); state != ringPull {
			t.Errorf("after a cut, verified %t: got state %d, want the store to be asked", verified, state)
		}
		fd.fill(fd.snapshot(), []chat.Message{text(3, "old")}, chat.LogEnd{Last: 3, Epoch: "e"})
		if b, _, state := reader(verified).fromRing("bob"); state != ringServed || b.From != 3 {
			t.Errorf("after a fill, verified %t: got state %d, want the ring to serve it", verified, state)
		}
	}
}

// TestFeedAfterACutWithoutAMark: a feed that does not know the mark of its end cannot tell whether the log was rewritten.
func TestFeedAfterACutWithoutAMark(t *testing.T) {
	fd := newFeed("g", 8)
	fd.resetLocked("e", 2)
	fd.cut()
	fd.fill(fd.snapshot(), []chat.Message{text(3, "new")}, chat.LogEnd{Last: 3, Epoch: "e", Trimmed: chat.Trimmed{ID: 2, Mark: "new"}})
	if fd.life == 0 {
		t.Error("readers need not verify their position")
	}
}

// TestRingForgetsWhatExpired: what is gone because of its age is not served from memory; the end of the log stays known.
func TestRingForgetsWhatExpired(t *testing.T) {
	fd := newFeed("g", 128)
	for id := int64(1); id <= 10; id++ {
		fd.take("e", text(id, "m"), nil)
	}
	fd.expired("of another life", 9)
	if first := fd.firstLocked(); first != 1 {
		t.Errorf("the ring begins at %d, want 1", first)
	}
	fd.expired("e", 7)
	if first := fd.firstLocked(); first != 8 || fd.last != 10 {
		t.Errorf("the ring has %d to %d, want 8 to 10", first, fd.last)
	}
	fd.expired("e", 20)
	fd.take("e", text(11, "m"), nil)
	if sum := len(text(11, "m").JSON); fd.firstLocked() != 11 || fd.last != 11 || fd.bytes != sum {
		t.Errorf("the ring has %d to %d in %d bytes, want 11 alone in %d", fd.firstLocked(), fd.last, fd.bytes, sum)
	}
}
