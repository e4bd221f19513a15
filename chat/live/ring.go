package live

import "github.com/chatd/chatd/chat"

// Bounds of one ring beside Limits.RingEntries.
const (
	ringBytesMax = 256 << 10 // JSON bytes kept in memory for one group; a ring of maximum-size messages would take 4 MiB
	quietChecks  = 5         // safety checks after which a ring that nobody used is given up: most groups are quiet most of the time
)

// unknownLast is the value of last while it is not known where a log ends.
const unknownLast = -1

// ring is the end of one group's log in memory: what is known of the log, and its newest entries. It is a value, without a
// lock, a clock or readers: its methods apply signals and answers of the store.
//
// Invariant: entries have the ids last-len(entries)+1..last, each with its current content. If that cannot be guaranteed, there
// are none.
type ring struct {
	known
	most    int // entries
	entries []ringEntry
	bytes   int   // of the JSON of entries
	quiet   int   // safety checks since an entry came, or someone was served
	floor   int64 // no entry below it can be put before those that are there

	// What readers at the same position share. Any change of the entries empties it, so all of it goes up to last.
	stretches []*stretch

	members   int64 // as of the entry membersAt; 0: not known
	membersAt int64
}

// known is what is known of a log. A copy taken before the store is asked shows what changed meanwhile.
type known struct {
	epoch string // "" while last is unknownLast
	last  int64  // the highest id of the entries, or where the log ended when the ring began
	mark  string // of the entry at last; "" if unknown
	want  int64  // the highest id known to exist; above last, there is a gap until a fill

	// gen is the generation. It rises whenever entries that were read before may be out of date: they changed or expired, the
	// log may be another one, or signals may have been missed.
	gen    int
	life   int  // the generation in which the present life of the log began: a reader that was compared before asks the store
	unsure bool // signals may have been missed since the log was compared: until it is again, no signal continues it, and nobody is served
}

func newRing(most int) ring { return ring{most: most, known: known{last: unknownLast}} }

// change says what a signal or an answer of the store did to a ring.
type change struct {
	grew bool // readers have something to look at
	hole bool // entries are missing: a fill is due
}

// due reports whether a fill is due.
func (r *ring) due() bool { return r.last != unknownLast && (r.want > r.last || r.unsure) }

// replaced reports whether the log has become another one since before was known.
func (r *ring) replaced(before known) bool { return before.gen < r.life || before.epoch != r.epoch }

// take applies a signal: the new entry m and the originals that it changed.
func (r *ring) take(epoch string, m chat.Message, changed []chat.Message) change {
	switch {
	case r.last == unknownLast:
		r.begin(epoch, m.ID-1)
	case epoch != r.epoch, r.contradicts(m): // the store lost the log or its end, and other entries took its place
		r.begin(epoch, m.ID-1)
		r.outdate()
	case m.ID <= r.last:
		return change{}
	case m.ID > r.last+1, r.unsure: // when unsure, the entry before m may not be the one that the ring has
		r.want = max(r.want, m.ID)
		return change{hole: true}
	}
	r.push(m)
	for _, c := range changed {
		r.replace(c)
	}
	return change{grew: true, hole: r.due()}
}

// cut notes that signals may have been missed.
func (r *ring) cut() {
	r.gen++
	r.unsure = true
}

// expire drops the entries up to id. Readers that lack them ask the store, which says that they are gone.
func (r *ring) expire(epoch string, id int64) {
	if r.epoch == epoch {
		r.gen++
		r.dropBelow(id + 1)
	}
}

// deleted discards the log: readers ask the store what happened to the group.
func (r *ring) deleted(epoch string) change {
	if r.last != unknownLast && r.epoch != epoch {
		return change{}
	}
	return r.forget()
}

func (r *ring) forget() change {
	r.begin("", unknownLast)
	r.outdate()
	return change{grew: true}
}

// observe applies what a reader learned from the store. A fill is due if that contradicts the ring.
func (r *ring) observe(i chat.Info) change {
	if r.last == unknownLast {
		r.begin(i.Epoch, i.Last)
		r.mark = i.LastMark
	}
	if r.epoch != i.Epoch {
		return change{hole: true}
	}
	if i.Last >= r.membersAt || r.members == 0 {
		r.members, r.membersAt = i.Members, i.Last
	}
	// The reader may be beyond the end of the ring: if the store loses that end, the node must notice.
	r.want = max(r.want, i.Last)
	return change{hole: r.want > r.last}
}

// compare is a safety check: before was known when the store said where the log ends.
func (r *ring) compare(before known, end chat.LogEnd) change {
	r.unshare() // readers have taken it by now; for others it is made again
	if r.quiet++; r.quiet > quietChecks {
		r.entries, r.bytes = nil, 0 // readers that lack something read it from the store
	}
	switch {
	case r.replaced(before):
		return change{}
	case r.last != unknownLast:
		return change{hole: r.due() || end.Epoch != r.epoch || end.Last < before.last || end.Last > r.last}
	case end.Last >= 0:
		r.begin(end.Epoch, end.Last)
	}
	return change{grew: end.Last >= 0}
}

// fill applies entries that were read at one instant after before was known: ascending, dense, up to the end that the log had then
// or to the bound of the read.
func (r *ring) fill(before known, messages []chat.Message, end chat.LogEnd) change {
	if r.replaced(before) {
		return change{hole: r.due()}
	}
	// After a cut, an end that cannot be compared may belong to another log: only its readers know which one they have.
	blind := before.unsure && r.unsure && r.last > 0
	r.unsure = r.unsure && r.gen != before.gen
	if end.Last < 0 {
		return r.forget()
	}
	// If the log ends below what some reader has, those entries are lost too, even if they never were in the ring.
	rewritten := before.last != unknownLast && (end.Epoch != before.epoch || end.Last < max(before.last, before.want))
	compare := func(m chat.Message) {
		rewritten = rewritten || r.contradicts(m)
		blind = blind && (m.ID != r.last || r.mark == "")
	}
	for _, m := range messages {
		compare(m)
	}
	if t := end.Trimmed; t.Mark != "" { // an entry of the ring may have been trimmed, with nothing missing after it
		compare(chat.Message{ID: t.ID, Mark: t.Mark})
	}
	rewritten = rewritten || blind
	old, begin := r.last, end.Last
	if len(messages) > 0 {
		begin = messages[0].ID - 1
	}
	switch {
	case rewritten:
		r.begin(end.Epoch, begin)
		r.outdate()
	case r.last == unknownLast:
		r.begin(end.Epoch, begin)
	case len(messages) == 0 && begin > r.last:
		r.jump(begin)
	}
	r.add(messages)
	return change{grew: rewritten || r.last != old, hole: r.due()}
}

// add appends those of messages that the ring does not have.
func (r *ring) add(messages []chat.Message) {
	old := r.last
	for _, m := range messages {
		if m.ID <= r.last {
			continue
		}
		if m.ID > r.last+1 { // the entries between were trimmed, or are more than the ring holds
			r.jump(m.ID - 1)
		}
		r.push(m)
		r.gen++
	}
	// An edit whose wake-up was lost may have changed an entry of the ring, and a deletion also the edits of an older
	// one. The entries just read are current; older ones are dropped, and read from the store.
	for i := range r.entries {
		e := &r.entries[i]
		if fx := e.effect; fx != nil && fx.kind != chat.Notice && e.ID > old && fx.target <= old && (fx.target >= r.first() || fx.kind == chat.Delete) {
			r.dropBelow(old + 1)
			return
		}
	}
}

// gap is what a ring lacks for a reader below its first entry: the ids from..to, as of a generation.
type gap struct {
	from, to int64
	gen      int
}

// reaches reports whether the ring can be filled backwards from an entry.
func (r *ring) reaches(from int64) bool {
	return from >= max(1, r.floor) && r.last-from < int64(r.most)
}

// prepend puts entries that were read for a gap before the others, unless entries or the whole log may have changed since. It
// reports whether it did.
func (r *ring) prepend(g gap, messages []chat.Message, end chat.LogEnd) bool {
	if r.gen != g.gen || r.first() != g.to+1 || r.epoch != end.Epoch {
		return false
	}
	bytes, fits := r.bytes, int64(len(messages)) == g.to-g.from+1 && len(messages)+len(r.entries) <= r.most
	for i, m := range messages {
		bytes += len(m.JSON)
		fits = fits && m.ID == g.from+int64(i)
	}
	if !fits || bytes > ringBytesMax {
		r.floor = g.to + 1 // missing or too large: readers so far behind read from the store
		return false
	}
	entries := make([]ringEntry, 0, len(messages)+len(r.entries))
	for _, m := range messages {
		e, _ := newRingEntry(m)
		entries = append(entries, e)
	}
	r.entries, r.bytes, r.quiet = append(entries, r.entries...), bytes, 0
	return true
}

// begin empties the ring, which then continues after last in the log of epoch.
func (r *ring) begin(epoch string, last int64) {
	clear(r.entries)
	r.entries, r.bytes, r.floor = r.entries[:0], 0, 0
	r.unshare()
	if epoch != r.epoch {
		r.members, r.membersAt = 0, 0
	}
	r.epoch, r.last, r.mark, r.want = epoch, last, "", last
	r.gen++
}

// outdate makes every reader that was compared with the log ask the store again.
func (r *ring) outdate() {
	r.gen++
	r.life = r.gen
}

// jump continues after last, without the entries up to there. A reader may be at one of them: only the store can tell whether that
// belongs to this log.
func (r *ring) jump(last int64) {
	want := r.want
	r.begin(r.epoch, last)
	r.outdate()
	r.want = max(want, last)
}

// push appends m, whose id is last+1.
func (r *ring) push(m chat.Message) {
	e, facts := newRingEntry(m)
	r.entries = append(r.entries, e)
	r.unshare()
	r.bytes += len(m.JSON)
	r.quiet = 0
	r.last, r.mark, r.want = m.ID, m.Mark, max(r.want, m.ID)
	for len(r.entries) > r.most || r.bytes > ringBytesMax && len(r.entries) > 1 {
		r.dropBelow(r.first() + 1)
	}
	if facts.hides() {
		r.outdate() // readers ask the store what they may see
	}
	if facts.Kind == chat.Notice && m.ID > r.membersAt && r.members > 0 {
		switch facts.Notice {
		case chat.NoticeJoined:
			r.members += int64(len(facts.concerned()))
		case chat.NoticeLeft, chat.NoticeRemoved:
			r.members -= int64(len(facts.concerned()))
		}
		r.membersAt = m.ID
	}
}

// replace replaces an entry by m, its new content.
func (r *ring) replace(m chat.Message) {
	r.gen++
	if e := r.at(m.ID); e != nil && e.Mark == m.Mark {
		r.bytes += len(m.JSON) - len(e.JSON)
		*e, _ = newRingEntry(m)
		r.unshare()
	}
}

// dropBelow takes the entries below id out of the ring.
func (r *ring) dropBelow(id int64) {
	for len(r.entries) > 0 && r.first() < id {
		r.unshare()
		r.bytes -= len(r.entries[0].JSON)
		r.entries[0] = ringEntry{}
		r.entries = r.entries[1:]
	}
}

// at is the entry with this id, or nil if the ring does not have it.
func (r *ring) at(id int64) *ringEntry {
	if i := id - r.first(); i >= 0 && i < int64(len(r.entries)) {
		return &r.entries[i]
	}
	return nil
}

// first is the lowest id in the ring, or last+1 if it is empty.
func (r *ring) first() int64 { return r.last - int64(len(r.entries)) + 1 }

// contradicts reports whether m is a different entry from the one that is known by that id.
func (r *ring) contradicts(m chat.Message) bool {
	if e := r.at(m.ID); e != nil {
		return e.Mark != m.Mark
	}
	return m.ID == r.last && r.mark != "" && r.mark != m.Mark
}
