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
	l := &line{interest: interest{feed: fd}, verified: true, gen: fd.ring.gen}
	l.pos = chat.Position{Set: true, ID: int64(len(log.messages)), Epoch: log.epoch}
	return &ringReader{t: t, log: log, line: l, got: l.pos.ID}
}

// poll takes what the ring has and checks that it is dense and of this log.
func (r *ringReader) poll() {
	for {
		b, _, p := r.line.serve("nobody")
		switch p {
		case planNothing:
			return
		case planServe:
			r.take(b.Messages)
		default:
			pages, _ := planPages([]*line{r.line}, 5)
			reading := &pages[0].of
			pull, _ := reading.Ask()
			messages, end := r.log.read(pull.From, pull.Limit)
			reading.Take(&chat.Page{Info: chat.Info{Group: chat.Group{ID: "g", Epoch: end.Epoch, First: 1, Last: end.Last, History: true}}, Messages: messages})
			r.line.last = end.Last
			b, _, err := r.line.apply(reading, pages[0].gen, roundBytesMax)
			if err != nil {
				r.t.Fatal(err)
			}
			if b == nil {
				return
			}
			r.take(b.Messages)
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
func (r *ring) becomeQuiet() {
	for range quietChecks + 1 {
		r.compare(r.known, chat.LogEnd{Epoch: r.epoch, Last: r.last})
	}
}

// TestFeedDense feeds signals in random order, some lost, some twice, with fills and checks in between whose reads are as
// old as they like, and wants every reader to get every id once, and the ring to end with the content that is stored.
func TestFeedDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := &modelLog{epoch: "e", body: map[int64]string{}}
		fd := newFeed("g", rapid.IntRange(1, 12).Draw(t, "entries"))
		r := &fd.ring
		for range rapid.IntRange(0, 5).Draw(t, "before") {
			log.append(chat.Text, 0)
		}
		log.signals = nil
		r.begin("e", int64(len(log.messages)))
		readers := []*ringReader{newRingReader(t, log, fd)}
		var reads []func() // answers of the store under way
		fill := func() {
			before := r.known
			from := max(before.last, 1)
			messages, end := log.read(from, r.most)
			if end.Last-from >= int64(r.most) {
				messages, end = log.read(end.Last-int64(r.most)+1, 2*r.most)
			}
			reads = append(reads, func() { r.fill(before, messages, end) })
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
					if c := r.take(s.Epoch, s.Message, s.Changed); c.hole {
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
			"quiet": func(*rapid.T) { r.becomeQuiet() },
			"poll":  func(t *rapid.T) { readers[rapid.IntRange(0, len(readers)-1).Draw(t, "reader")].poll() },
			"": func(t *rapid.T) {
				if len(r.entries) > r.most || r.last != unknownLast && len(r.entries) > 0 && r.entries[len(r.entries)-1].ID != r.last {
					t.Fatalf("the ring holds %d of %d entries and ends at %d", len(r.entries), r.most, r.last)
				}
				for i := 1; i < len(r.entries); i++ {
					if r.entries[i].ID != r.entries[i-1].ID+1 {
						t.Fatalf("the ring has a hole before %d", r.entries[i].ID)
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
			before := r.known
			_, end := log.read(1, 0)
			if c := r.compare(before, end); c.hole {
				fill()
				reads[0]()
				reads = nil
			}
		}
		last := int64(len(log.messages))
		if r.last != last {
			t.Fatalf("the feed ends at %d, the log at %d", r.last, last)
		}
		for _, one := range readers {
			one.poll()
			if one.got != last {
				t.Fatalf("a reader got up to %d of %d", one.got, last)
			}
		}
	})
}

// Where signals come in order except for losses, the ring holds the newest content after each.
func TestFeedContentAfterLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := &modelLog{epoch: "e", body: map[int64]string{}}
		fd := newFeed("g", rapid.IntRange(1, 12).Draw(t, "entries"))
		r := &fd.ring
		r.begin("e", 0)
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
			if c := r.take(s.Epoch, s.Message, s.Changed); c.hole {
				before := r.known
				messages, end := log.read(max(before.last, 1), r.most)
				if end.Last-max(before.last, 1) >= int64(r.most) {
					messages, end = log.read(end.Last-int64(r.most)+1, 2*r.most)
				}
				r.fill(before, messages, end)
			}
			if r.last != s.Message.ID {
				t.Fatalf("after message %d the feed ends at %d", s.Message.ID, r.last)
			}
			for _, e := range r.entries {
				if got, want := string(e.JSON), string(log.messages[e.ID-1].JSON); got != want {
					t.Fatalf("message %d is served as %s, stored as %s", e.ID, got, want)
				}
			}
		}
	})
}

// beginWarming reads what a fill backwards for some reader reads now. The answer may come later; nil: none is needed.
func beginWarming(t *rapid.T, log *modelLog, fd *feed) (answer func()) {
	l := &line{interest: interest{feed: fd}, verified: rapid.Bool().Draw(t, "verified"), gen: fd.ring.gen}
	l.pos = chat.Position{Set: true, ID: rapid.Int64Range(0, int64(len(log.messages))).Draw(t, "behind"), Epoch: log.epoch}
	missing, wait := fd.beginWarm(l)
	if wait != nil || missing.from == 0 {
		return nil
	}
	messages, end := log.read(missing.from, int(missing.to-missing.from+1))
	return func() { fd.endWarm(missing, messages, end) }
}
