package live

import (
	"slices"

	"github.com/chatd/chatd/chat"
)

// stretch is what all readers at one position get from the ring: one batch, which a transport encodes once.
type stretch struct {
	batch  *chat.Batch // shared by readers: never changed
	mark   string      // of its last message
	edits  bool        // it has an edit, so what members may see depends on hidden
	hidden int64       // what it was made for
	gone   []string    // users whose membership ends in it: each gets a batch of their own
}

// stretchLocked returns the stretch that begins at from, if readers have shared it already; nil: there is none for user.
func (f *feed) stretchLocked(from, hidden int64, user string) *stretch {
	for _, s := range f.stretches {
		if s.batch.From == from && (s.hidden == hidden || !s.edits) && !slices.Contains(s.gone, user) {
			return s
		}
	}
	return nil
}

// cutLocked makes the stretch from the entry at from, which the ring has, and keeps it for other readers. It ends early, and
// is kept for nobody, at the notice that ends user's membership as of the entry member.
func (f *feed) cutLocked(from, hidden, member int64, user string) (s *stretch, removed bool) {
	f.used = true
	entries := f.ring[from-f.firstLocked():]
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
		s.edits = s.edits || e.edits()
		leaver := e.leaver()
		if leaver != "" {
			s.gone = append(s.gone, leaver)
		}
		if removed = leaver == user && e.ID > member; removed {
			break
		}
	}
	end := messages[len(messages)-1]
	s.mark = end.Mark
	s.batch = &chat.Batch{
		Group: f.group, Epoch: f.epoch, From: from, To: end.ID, Last: f.last, HasMore: end.ID < f.last, Complete: true,
		Cursor: chat.FormatPosition(f.epoch, end.ID, end.Mark), Messages: messages,
	}
	if !slices.Contains(s.gone, user) {
		s.batch.Shared = &chat.Shared{}
		f.shareLocked(s)
	}
	return s, removed
}

func (f *feed) shareLocked(s *stretch) {
	if len(f.stretches) == stretchesMax {
		f.stretches = slices.Delete(f.stretches, 0, 1)
	}
	f.stretches = append(f.stretches, s)
}

// unshareLocked forgets the stretches. Readers that hold one keep it.
func (f *feed) unshareLocked() {
	clear(f.stretches)
	f.stretches = f.stretches[:0]
}
