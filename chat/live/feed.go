package live

import (
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of one feed beside Limits.RingEntries.
const (
	ringBytesMax = 256 << 10 // JSON bytes kept in memory for one group; a ring of maximum-size messages would take 4 MiB
	stretchesMax = 4         // batches kept for further readers at the same position, each of batchBytesMax or one message
	quietChecks  = 5         // safety checks after which a ring that nobody used is given up: most groups are quiet most of the time
)

// unknownLast is the value of last while a feed does not know where its log ends.
const unknownLast = -1

// feed is the end of one group's log in memory.
//
// Invariant: ring holds the ids last-len(ring)+1..last, each with its current content. Whenever that cannot be guaranteed,
// the ring is emptied.
type feed struct {
	group   string
	entries int // bound of the ring

	mu    sync.RWMutex
	epoch string
	last  int64  // the highest id of the ring, or where the log ended when the feed began; unknownLast
	mark  string // of the message at last; "" if unknown
	want  int64  // the highest id known to exist; if it is above last, there is a gap until a fill
	life  int    // increases when what was served may belong to another log, or may not be visible to everyone: readers then ask the store
	cuts  int    // how often signals may have been missed

	unread []*interest // of readers that could not read the log, each once, until the next safety check
	sure   int         // cuts when the log was compared last: until it is that again, no signal continues the ring
	ring   []ringEntry
	bytes  int
	used   bool // the ring got an entry, or somebody was served from it, since the last safety check
	quiet  int  // safety checks since then

	changes int           // how often entries changed that are in the log, or may have
	coldest int64         // the ring cannot be filled back beyond this id
	warming chan struct{} // closed when the fill backwards under way has ended; nil: there is none

	// What readers at the same position share. Any change of the ring empties it, so all of it goes up to last.
	stretches []*stretch

	interests []*interest
	confirmed bool      // the store has confirmed the subscription
	idleSince time.Time // when the last reader left
	repairing bool      // queued for a fill, or being filled

	members   int64 // as of the entry membersAt; 0: not known
	membersAt int64
	throttles map[string]*throttle

	waiters map[*pending]struct{} // the interests that every cursor move wakes
}

func newFeed(group string, entries int) *feed {
	return &feed{group: group, entries: entries, last: unknownLast, idleSince: time.Now()}
}

// change says what a signal or a fill did to a feed.
type change struct {
	grew bool // readers have something to look at
	hole bool // entries are missing: a fill is due
}

// take applies a signal: the new entry m and the originals that it changed.
func (f *feed) take(epoch string, m chat.Message, changed []chat.Message) change {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.last == unknownLast:
		f.resetLocked(epoch, m.ID-1)
	case epoch != f.epoch:
		f.life++
		f.resetLocked(epoch, m.ID-1)
	case m.ID > f.last+1:
		f.want = max(f.want, m.ID)
		return change{hole: true}
	case m.ID <= f.last:
		if !f.contradictsLocked(m) {
			return change{}
		}
		// The store lost the end of the log, and other entries were written in its place.
		f.life++
		f.resetLocked(epoch, m.ID-1)
	case f.sure != f.cuts: // the entry before it may be another one than the ring has
		f.want = max(f.want, m.ID)
		return change{hole: true}
	}
	f.pushLocked(m)
	for _, c := range changed {
		f.replaceLocked(c)
	}
	return change{grew: true, hole: f.dueLocked()}
}

// cut notes that signals may have been missed.
func (f *feed) cut() {
	f.mu.Lock()
	f.cuts++
	f.mu.Unlock()
}

// dueLocked reports whether a fill is due.
func (f *feed) dueLocked() bool { return f.want > f.last || f.sure != f.cuts && f.last != unknownLast }

// resetLocked empties the ring. From now on the log is that of epoch and continues after last.
func (f *feed) resetLocked(epoch string, last int64) {
	clear(f.ring)
	f.ring, f.bytes = f.ring[:0], 0
	f.changes++
	f.coldest = 0
	f.unshareLocked()
	if epoch != f.epoch {
		f.members, f.membersAt = 0, 0
	}
	f.epoch, f.last, f.mark, f.want = epoch, last, "", last
}

// pushLocked appends m, whose id is last+1.
func (f *feed) pushLocked(m chat.Message) {
	e, facts := newRingEntry(m)
	f.ring = append(f.ring, e)
	f.used = true
	f.unshareLocked()
	f.bytes += len(m.JSON)
	f.last, f.mark, f.want = m.ID, m.Mark, max(f.want, m.ID)
	for len(f.ring) > f.entries || f.bytes > ringBytesMax && len(f.ring) > 1 {
		f.dropFirstLocked()
	}
	if facts.hides() {
		f.life++ // readers ask the store what they may see
	}
	if facts.Kind == chat.Notice && m.ID > f.membersAt && f.members > 0 {
		switch facts.Notice {
		case chat.NoticeJoined:
			f.members++
		case chat.NoticeLeft, chat.NoticeRemoved:
			f.members--
		}
		f.membersAt = m.ID
	}
}

func (f *feed) dropFirstLocked() {
	f.unshareLocked()
	f.bytes -= len(f.ring[0].JSON)
	f.ring[0] = ringEntry{}
	f.ring = f.ring[1:]
}

// expired drops the entries up to id. Readers who have not got them yet ask the store, which says that they are gone.
func (f *feed) expired(epoch string, id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes++
	for f.epoch == epoch && len(f.ring) > 0 && f.ring[0].ID <= id {
		f.dropFirstLocked()
	}
}

// atLocked is the entry with this id, or nil if the ring does not have it.
func (f *feed) atLocked(id int64) *ringEntry {
	if i := id - f.firstLocked(); i >= 0 && i < int64(len(f.ring)) {
		return &f.ring[i]
	}
	return nil
}

// firstLocked is the lowest id in the ring, or last+1 if it is empty.
func (f *feed) firstLocked() int64 { return f.last - int64(len(f.ring)) + 1 }

// contradictsLocked reports whether m is a different entry from the one that this feed knows by that id.
func (f *feed) contradictsLocked(m chat.Message) bool {
	if e := f.atLocked(m.ID); e != nil {
		return e.Mark != m.Mark
	}
	return m.ID == f.last && f.mark != "" && f.mark != m.Mark
}

func (f *feed) replaceLocked(m chat.Message) {
	f.changes++
	if e := f.atLocked(m.ID); e != nil && e.Mark == m.Mark {
		f.bytes += len(m.JSON) - len(e.JSON)
		*e, _ = newRingEntry(m)
		f.unshareLocked()
	}
}

// snapshot is the state of a feed before the store was asked, to tell the answer from what arrived meanwhile.
type snapshot struct {
	epoch string
	last  int64
	want  int64
	life  int
	cuts  int
}

func (f *feed) snapshot() snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return snapshot{f.epoch, f.last, f.want, f.life, f.cuts}
}

// fill applies entries read from the store at one instant after the snapshot was taken: ascending, dense, up to the end
// of the log as it was then or to the bound of the read.
func (f *feed) fill(before snapshot, messages []chat.Message, end chat.LogEnd) change {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life != before.life || f.epoch != before.epoch {
		return change{hole: f.dueLocked()} // it was reset meanwhile
	}
	unsure := f.sure != before.cuts && f.last > 0
	f.sure = before.cuts
	if end.Last < 0 {
		f.life++
		f.resetLocked("", 0)
		f.last = unknownLast
		return change{grew: true}
	}
	// What a reader has, and the feed has not yet, is lost as well where the log ends below it.
	rewritten := before.last != unknownLast && (end.Epoch != before.epoch || end.Last < max(before.last, before.want))
	compare := func(m chat.Message) {
		rewritten = rewritten || f.contradictsLocked(m)
		unsure = unsure && (m.ID != f.last || f.mark == "")
	}
	for _, m := range messages {
		compare(m)
	}
	if t := end.Trimmed; t.Mark != "" { // an entry of the ring may be trimmed, and nothing missing behind it
		compare(chat.Message{ID: t.ID, Mark: t.Mark})
	}
	// After a cut, an end that cannot be compared may be another one: its readers know which they have.
	rewritten = rewritten || unsure
	old := f.last
	if rewritten {
		f.life++
	}
	if begin := end.Last; rewritten || f.last == unknownLast || len(messages) == 0 && begin > f.last {
		if len(messages) > 0 {
			begin = messages[0].ID - 1
		}
		want := f.want
		if f.last != unknownLast && !rewritten {
			f.life++ // as in jumpLocked
		}
		f.resetLocked(end.Epoch, begin)
		if !rewritten {
			f.want = max(want, f.want)
		}
	}
	f.addLocked(messages)
	return change{grew: rewritten || f.last != old, hole: f.dueLocked()}
}

// jumpLocked goes on after last, without the entries up to there. A reader may know one of them and stand just there: whether it
// is of this log only the store can tell.
func (f *feed) jumpLocked(last int64) {
	want := f.want
	f.life++
	f.resetLocked(f.epoch, last)
	f.want = max(want, f.want)
}

// addLocked appends those of messages that the ring does not have.
func (f *feed) addLocked(messages []chat.Message) {
	f.changes++
	old := f.last
	for _, m := range messages {
		if m.ID <= f.last {
			continue
		}
		if m.ID > f.last+1 { // what lies between was trimmed, or is more than the ring holds
			f.jumpLocked(m.ID - 1)
		}
		f.pushLocked(m)
	}
	// An edit whose wake-up was lost may have changed an entry of the ring, and a deletion also the edits of an older
	// one. The entries just read are as they are now; older ones are given up to the store.
	for i := range f.ring {
		e := &f.ring[i]
		if fx := e.effect; fx != nil && fx.kind != chat.Notice && e.ID > old && fx.target <= old && (fx.target >= f.firstLocked() || fx.kind == chat.Delete) {
			f.dropBelowLocked(old + 1)
			return
		}
	}
}

// dropBelowLocked takes the entries below id out of the ring.
func (f *feed) dropBelowLocked(id int64) {
	for len(f.ring) > 0 && f.firstLocked() < id {
		f.dropFirstLocked()
	}
}

// shared returns the feed's own copies of an epoch and a mark that are the same: readers keep them for as long as they follow.
func (f *feed) shared(epoch, mark string) (string, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if epoch == f.epoch {
		epoch = f.epoch
	}
	if mark == f.mark {
		mark = f.mark
	}
	return epoch, mark
}

// observe passes on what a reader learned from the store. It reports whether that contradicts the feed, which then has to
// ask the store itself.
func (f *feed) observe(i chat.Info) (suspect bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == unknownLast {
		f.resetLocked(i.Epoch, i.Last)
		f.mark = i.LastMark
	}
	if f.epoch != i.Epoch {
		return true
	}
	if i.Last >= f.membersAt || f.members == 0 {
		f.members, f.membersAt = i.Members, i.Last
	}
	// The reader may stand where the ring does not reach yet: should the store lose that end, the feed must notice.
	f.want = max(f.want, i.Last)
	return f.want > f.last
}

// compare reports whether the feed needs a fill, given where the log ends according to the store. before was taken before
// the store was asked.
func (f *feed) compare(before snapshot, end chat.LogEnd) change {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unshareLocked() // the readers have got it; what they have not is made anew
	f.restLocked()
	if f.life != before.life || f.epoch != before.epoch {
		return change{}
	}
	if f.last == unknownLast {
		if end.Last >= 0 {
			f.resetLocked(end.Epoch, end.Last)
		}
		return change{grew: end.Last >= 0}
	}
	differs := end.Epoch != f.epoch || end.Last < before.last || end.Last > f.last
	return change{hole: differs || f.dueLocked()}
}

// restLocked gives up the ring of a quiet group: its readers have got it, and others read what they lack from the store.
func (f *feed) restLocked() {
	if f.quiet++; f.used {
		f.used, f.quiet = false, 0
	}
	if f.quiet >= quietChecks && len(f.ring) > 0 {
		f.ring, f.bytes = nil, 0
	}
}

// failed notes that a reader could not read the log.
func (f *feed) failed(in *interest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !in.failed {
		in.failed = true
		f.unread = append(f.unread, in)
	}
}

// takeUnread returns the readers that have to try again.
func (f *feed) takeUnread() []*interest {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.unread
	f.unread = nil
	for _, in := range list {
		in.failed = false
	}
	return list
}
