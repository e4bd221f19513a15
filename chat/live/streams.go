package live

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/chatd/chatd/chat"
)

// writing is what a node knows of the messages of a group that are being written. Signals carry pieces; where one is missing, all are read
// of the store.
type writing struct {
	epoch string
	open  map[int64]*written
}

// written is what stands of a message.
type written struct {
	gen  int64 // how often it was replaced
	text []byte
	from int // how much of it the entry in the log has
}

// sent is how much of a message a session has got.
type sent struct {
	gen int64
	n   int
}

type streamKey struct {
	group string
	id    int64
}

// StreamEvent is what is new in a message that is being written.
type StreamEvent struct {
	Group  string
	ID     int64
	Offset int64 // of Text; -1: it is the whole
	Text   string
}

// StreamCancelEvent says to the author of a message that User asks to stop writing it.
type StreamCancelEvent struct {
	Group string
	ID    int64
	User  string
}

// noteStreams notes messages that begin or end to be written, before readers hear of them.
func (f *feed) noteStreams(s Signal) {
	begins := chat.IsStreaming(s.Message.JSON)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.writing == nil && !begins {
		return
	}
	w := f.writingOf(s.Epoch)
	for _, c := range s.Changed {
		if !chat.IsStreaming(c.JSON) {
			delete(w.open, c.ID)
		}
	}
	if begins {
		var e chat.Entry
		if json.Unmarshal(s.Message.JSON, &e) == nil && e.Body != nil && w.open[e.ID] == nil {
			w.open[e.ID] = &written{text: []byte(*e.Body), from: len(*e.Body)}
		}
	}
	f.tidyWriting()
}

// writingOf is f.writing, of this life of the log. Call it with the lock.
func (f *feed) writingOf(epoch string) *writing {
	if f.writing == nil || f.writing.epoch != epoch && f.writing.epoch != "" {
		f.writing = &writing{open: map[int64]*written{}}
	}
	f.writing.epoch = epoch
	return f.writing
}

func (f *feed) tidyWriting() {
	if len(f.writing.open) == 0 {
		f.writing = nil
	}
}

// writes tells whether a message of the group is being written, as far as the node knows.
func (f *feed) writes() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.writing != nil
}

// piece takes a piece of a message. hole: the node lacks what comes before it.
func (f *feed) piece(s Signal) (grew, hole bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.writingOf(s.Epoch)
	t, end := w.open[s.ID], s.Offset+int64(len(s.Text))
	switch {
	case t != nil && (t.gen > s.Gen || t.gen == s.Gen && s.Offset >= 0 && int64(len(t.text)) >= end):
		return false, false // read of the store already
	case s.Offset < 0:
		w.open[s.ID] = &written{gen: s.Gen, text: []byte(s.Text)}
	case t != nil && t.gen == s.Gen && int64(len(t.text)) == s.Offset:
		t.text = append(t.text, s.Text...)
	default:
		f.tidyWriting()
		return false, true
	}
	return true, false
}

// streamed applies a piece.
func (h *hub) streamed(fd *feed, s Signal) {
	grew, hole := fd.piece(s)
	if grew {
		fd.eachSession(func(in *interest) { in.pending.grew(in) })
	}
	if hole {
		h.readStreams(fd)
	}
}

// eachSession is each, without long polls.
func (f *feed) eachSession(do func(*interest)) {
	f.each(func(in *interest) {
		if !in.pending.plain {
			do(in)
		}
	})
}

// readStreams has the messages of a group that are being written read of the store, soon.
func (h *hub) readStreams(fd *feed) {
	fd.mu.Lock()
	queued := fd.readingStreams
	fd.readingStreams = true
	fd.mu.Unlock()
	if !queued {
		h.streams.Add(fd)
	}
}

// streamLoop reads what readStreams asks for. After a failed read, the next safety check tries again.
func (h *hub) streamLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.streams.More():
		}
		for fd := h.streams.Next(); fd != nil && ctx.Err() == nil; fd = h.streams.Next() {
			if err := h.readStreamsOf(ctx, fd); err != nil && ctx.Err() == nil {
				h.log.Warn("cannot read what is being written yet", "error", err)
			}
		}
	}
}

func (h *hub) readStreamsOf(ctx context.Context, fd *feed) error {
	fd.mu.Lock()
	fd.readingStreams = false // what is missed from here on is read again
	var had []int64
	if fd.writing != nil {
		had = slices.Collect(maps.Keys(fd.writing.open))
	}
	fd.mu.Unlock()
	epoch, list, err := h.store.OpenStreams(ctx, fd.group)
	if err != nil {
		return err
	}
	if fd.takeStreams(epoch, had, list) {
		fd.eachSession(func(in *interest) { in.pending.grew(in) })
	}
	return nil
}

// takeStreams takes what was read of the store, where it is newer than what signals said meanwhile. had are those that were known before.
func (f *feed) takeStreams(epoch string, had []int64, list []chat.OpenStream) (grew bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.writing == nil && len(list) == 0 {
		return false
	}
	w := f.writingOf(epoch)
	open := map[int64]bool{}
	for _, o := range list {
		open[o.ID] = true
		t := w.open[o.ID]
		switch {
		case t == nil:
			w.open[o.ID] = &written{gen: o.Gen, text: []byte(o.Text)}
		case o.Gen > t.gen || o.Gen == t.gen && len(o.Text) > len(t.text):
			t.gen, t.text = o.Gen, []byte(o.Text)
		default:
			continue
		}
		grew = true
	}
	for _, id := range had {
		if !open[id] {
			delete(w.open, id)
		}
	}
	f.tidyWriting()
	return grew
}

// cancelled tells the author's sessions that somebody asks to stop.
func (h *hub) cancelled(fd *feed, s Signal) {
	fd.eachSession(func(in *interest) {
		if in.pending.user == s.Author {
			in.pending.cancelled(StreamCancelEvent{Group: s.Group, ID: s.ID, User: s.User})
		}
	})
}

// served notes what a batch of the ring has shown of messages that are being written.
func (f *Follower) served(l *line, b *chat.Batch) {
	l.feed.mu.RLock()
	defer l.feed.mu.RUnlock()
	w := l.feed.writing
	if w == nil {
		return
	}
	for id, t := range w.open {
		if i := id - b.From; i >= 0 && i < int64(len(b.Messages)) && b.Messages[i].ID == id && t.from >= 0 && chat.IsStreaming(b.Messages[i].JSON) {
			f.noteSent(streamKey{l.group(), id}, sent{0, shown(b.Messages[i].JSON, t.from)})
		}
	}
}

// shown is how many bytes of text an entry has, or otherwise where that cannot be read.
func shown(entry []byte, otherwise int) int {
	var e struct {
		Body string `json:"body"`
	}
	if json.Unmarshal(entry, &e) != nil {
		return otherwise
	}
	return len(e.Body)
}

func (f *Follower) noteSent(key streamKey, s sent) {
	if f.sent == nil {
		f.sent = map[streamKey]sent{}
	}
	f.sent[key] = s
}

// stream is what the session lacks of one of the messages of a group that are being written, and has in its log; nil: nothing.
func (f *Follower) stream(l *line) *StreamEvent {
	if l.gone {
		return nil
	}
	l.feed.mu.RLock()
	defer l.feed.mu.RUnlock()
	w := l.feed.writing
	for key := range f.sent {
		if key.group == l.group() && (w == nil || w.open[key.id] == nil) {
			delete(f.sent, key)
		}
	}
	if w == nil || w.epoch != l.pos.Epoch {
		return nil
	}
	for id, t := range w.open {
		if id > l.pos.ID || id < l.hidden {
			continue
		}
		key := streamKey{l.group(), id}
		has, known := f.sent[key]
		e := &StreamEvent{Group: l.group(), ID: id, Offset: -1}
		switch {
		case !known, has.gen != t.gen, has.n > len(t.text):
			e.Text = string(t.text)
		case has.n < len(t.text):
			e.Offset, e.Text = int64(has.n), string(t.text[has.n:])
		default:
			continue
		}
		f.noteSent(key, sent{t.gen, len(t.text)})
		return e
	}
	return nil
}
