package live

import (
	"slices"

	"github.com/chatd/chatd/chat"
)

// stretch is what all readers at one position get from the ring: one batch, which a transport encodes once.
type stretch struct {
	batch  *chat.Batch // shared by readers: never changed
	edits  bool        // it has an edit, so what members may see depends on hidden
	hidden int64       // what it was made for
	endMs  int64       // when the first of its messages goes; 0: none does
	gone   []string    // users whose membership ends in it: each gets a batch of their own
}

// stretchesMax is how many batches are kept for further readers at the same position, each of batchBytesMax or one message.
const stretchesMax = 4

// stretch returns the one that begins at from, if readers have shared it already; nil: there is none for user.
func (r *ring) stretch(from, hidden int64, user string) *stretch {
	for _, s := range r.stretches {
		if s.batch.From == from && (s.hidden == hidden || !s.edits) && !slices.Contains(s.gone, user) {
			return s
		}
	}
	return nil
}

// newStretch makes the one that begins at from, which the ring has, and keeps it for other readers. At a notice that ends user's
// membership as of the entry member, it ends early and is not kept.
func (r *ring) newStretch(group string, from, hidden, member int64, user string) (s *stretch, removed bool) {
	r.quiet = 0
	entries := r.entries[from-r.first():]
	entries = entries[:min(len(entries), batchMessagesMax)]
	messages := make([]chat.Message, 0, len(entries))
	s = &stretch{hidden: hidden}
	bytes := 0
	for i := range entries {
		e := &entries[i]
		m := e.shownTo(hidden)
		if bytes += len(m.JSON); i > 0 && bytes > batchBytesMax {
			break
		}
		messages = append(messages, *m)
		if end := chat.EndMs(m.JSON); end > 0 && (s.endMs == 0 || end < s.endMs) {
			s.endMs = end
		}
		s.edits = s.edits || e.edits()
		s.gone = append(s.gone, e.leavers()...)
		if removed = e.ID > member && slices.Contains(e.leavers(), user); removed {
			break
		}
	}
	end := messages[len(messages)-1]
	s.batch = &chat.Batch{
		Group: group, Epoch: r.epoch, From: from, To: end.ID, Last: r.last, HasMore: end.ID < r.last, Complete: true,
		Cursor: chat.FormatPosition(r.epoch, end.ID, end.Mark), Messages: messages,
	}
	if !slices.Contains(s.gone, user) {
		s.batch.Shared = &chat.Shared{}
		if len(r.stretches) == stretchesMax {
			r.stretches = slices.Delete(r.stretches, 0, 1)
		}
		r.stretches = append(r.stretches, s)
	}
	return s, removed
}

// served is the batch as it is served now: the entries of a ring are as they came, and some may have had to go since.
func (s *stretch) served(nowMs func() int64) *chat.Batch {
	if s.endMs == 0 || s.endMs > nowMs() {
		return s.batch
	}
	b := *s.batch
	b.Messages, b.Shared = chat.LiveAll(b.Messages, nowMs()), nil
	return &b
}

// unshare forgets the stretches. Readers that hold one keep it.
func (r *ring) unshare() {
	clear(r.stretches)
	r.stretches = r.stretches[:0]
}
