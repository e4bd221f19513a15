package chat

import "context"

// Start is where serving a reader begins.
type Start struct {
	ID       int64 // the first id to serve; Last+1 where the reader has everything
	Complete bool  // false: something between the position and ID is gone, or the position is of another log
}

// Resolve compares a position with the log. mark is that of the entry stored at the position, "" where it is not known.
//
// A position that cannot be of this log (another epoch, above last, another mark) leaves the reader with nothing it can
// trust, so it starts over from the oldest entry it may see. A position before the point where a member joined a group
// without history is read as that point: nothing is missing there.
func Resolve(info Info, pos Position, mark string) Start {
	oldest := info.Visible()
	if !pos.Set {
		pos = Position{ID: info.Seen}
	}
	switch {
	case pos.Epoch != "" && pos.Epoch != info.Epoch:
		return Start{ID: oldest}
	case pos.ID > info.Last:
		return Start{ID: oldest}
	case Differ(pos.Mark, info.MarkAt(pos.ID, mark)):
		return Start{ID: oldest}
	}
	id := pos.ID
	if !info.History {
		id = max(id, info.Joined-1)
	}
	if id+1 < oldest {
		return Start{ID: oldest}
	}
	return Start{ID: id + 1, Complete: true}
}

// Before is the position just before s, which is what a reader has reached who was told where it starts. pos and mark are
// those that Resolve was given.
func (s Start) Before(info Info, pos Position, mark string) Position {
	id := s.ID - 1
	same := s.Complete && pos.Set && pos.ID == id
	if !same {
		mark = ""
	}
	if mark = info.MarkAt(id, mark); mark == "" && same && pos.Epoch == info.Epoch {
		mark = pos.Mark // as far as can be told
	}
	return Position{Set: true, ID: id, Epoch: info.Epoch, Mark: mark}
}

// MarkAt is the mark of the entry at id, "" where it is not known. read is that of the entry as it was read, of the store or
// of the archive; the store knows the marks of the last entry and of the highest trimmed one without reading them, and what
// it knows goes before what the archive has.
func (i Info) MarkAt(id int64, read string) string {
	switch {
	case id == i.Last && i.LastMark != "":
		return i.LastMark
	case id == i.Trimmed.ID && i.Trimmed.Mark != "":
		return i.Trimmed.Mark
	}
	return read
}

// Differ tells that two marks are known and not the same.
func Differ(a, b string) bool {
	return a != "" && b != "" && a != noMark && b != noMark && a != b
}

// Look is how far a user is in a log, and where it ends. It costs a tenth of an Info, and tells where there is anything to
// read.
type Look struct {
	Last     int64  // -1: there is no such group
	Epoch    string // LookAtPosition only; empty: there is no such group
	Mark     string // LookAtPosition only: of the entry at Last
	Seen     int64  // -1: not a member, or LookAtRead
	Read     int64  // LookAtRead only; -1: not a member
	Follows  bool   // LookAtRead only: the user follows threads of the group
	ActiveMs int64  // LookAtActivity only: when the newest entry was sent
}

// LookAt says what a look is compared with.
type LookAt int

const (
	LookAtSeen     LookAt = iota // the member's seen
	LookAtRead                   // the member's read
	LookAtPosition               // the member's seen, and positions
	LookAtActivity               // nothing: the member's seen and the activity alone, and no Last
)

// Nothing reports whether a member who has reached pos, or seen if that is not set, has everything: Resolve would start it
// behind the last entry.
func (l Look) Nothing(pos Position) bool {
	switch {
	case l.Last < 0, l.Seen < 0:
		return false
	case !pos.Set:
		return l.Seen == l.Last
	}
	return pos.ID == l.Last && (pos.Epoch == "" || pos.Epoch == l.Epoch) && !Differ(pos.Mark, l.Mark)
}

// Owed is how many messages a member was not served who has reached pos, or seen if that is not set: as many as the log ever
// had where pos is not of it, and maybe more than Resolve finds where some are gone.
func (l Look) Owed(pos Position) int64 {
	switch {
	case l.Seen < 0:
		return 0
	case !pos.Set:
		return max(0, l.Last-l.Seen)
	case pos.ID > l.Last, pos.Epoch != "" && pos.Epoch != l.Epoch:
		return max(0, l.Last)
	}
	return l.Last - pos.ID
}

// Reading decides what comes after a position in the log of one group, for one member. All that serve messages decide it
// here: Pull, Sync and the followers. It does no I/O: Ask says what to read of the store, Take what the answer means.
//
// The store is asked for entries from the position itself on, so that one answer tells whether the position is of this
// log and what follows. Where it leads elsewhere (it was trimmed away, is of another log, lies before the member joined,
// or the hint of a cursor was wrong) a second answer is needed, from Start. What is decided of the position stays decided
// then: the log may have grown past a position that it did not reach before.
type Reading struct {
	Info     Info
	Start    Start
	Messages []Message // Invariant: the ids from Start.ID on, without a hole, and no more of them than asked for
	Cut      bool      // of the last answer, as in Page
	Err      error     // of this group, as in Page

	// Reactions are those of the last answer, as in Page: of all Messages unless there was another one before.
	Reactions map[int64]map[string]ReactionCount

	together *Together // of the answer that Messages are from

	pos     Position
	mark    string // of the entry stored at pos, "" where it is not known
	limit   int
	asked   Pull
	decided bool // Info and Start hold
	newest  bool // it skips what the member has not seen before pos
}

// NewReading begins a reading after pos. Where pos is not set, so that the member's seen holds, hint is what seen was when
// it was last heard of: if that is right, one answer is enough.
func NewReading(group string, pos Position, hint int64, limit int) Reading {
	r := Reading{pos: pos, limit: limit, asked: Pull{Group: group, From: hint + 1, Limit: limit, Unseen: !pos.Set}}
	if pos.Set {
		// Ids above what a store can tell apart are above every log.
		r.asked.From, r.asked.Limit = min(pos.ID, IDMax), limit+1
	}
	return r
}

// Share says that others are likely to read the same at this moment, and that nobody looks at what is unread.
func (r *Reading) Share() { r.asked.Shared, r.asked.NoUnread = true, true }

// NewCounted begins a reading that also asks for reactions.
func NewCounted(group string, pos Position, limit int) Reading {
	r := NewReading(group, pos, 0, limit)
	r.asked.Counted = true
	return r
}

// NewNewest begins a reading after id of a member who is served nothing below, seen or not. Where that leaves out
// something unseen, its start is not complete.
func NewNewest(group string, id int64, limit int) Reading {
	r := NewReading(group, At(id), 0, limit)
	r.newest = true
	return r
}

// Group is whose log is read.
func (r *Reading) Group() string { return r.asked.Group }

// Ask is what to read next. ok is false where the reading has something to serve, or there is nothing.
func (r *Reading) Ask() (p Pull, ok bool) {
	switch {
	case r.Err != nil:
		return Pull{}, false
	case !r.decided:
		return r.asked, true
	case len(r.Messages) > 0 || r.Owed() == 0:
		return Pull{}, false
	case r.asked.From == r.Start.ID: // the same question would get the same answer
		return Pull{}, false
	}
	return r.More(r.limit), true
}

// More is what to read for n messages after those in hand.
func (r *Reading) More(n int) Pull {
	r.limit = len(r.Messages) + n
	r.asked.From, r.asked.Limit, r.asked.Unseen = r.Start.ID+int64(len(r.Messages)), n, false
	return r.asked
}

// Take takes the answer to what was asked last.
func (r *Reading) Take(p *Page) {
	r.Cut = p.Cut
	switch {
	case len(r.Messages) > 0:
		// What changed in between (left, trimmed, another life of the log) is for the next reading.
		if p.Err == nil && p.Info.Epoch == r.Info.Epoch {
			more := Following(p.Messages, r.asked.From, r.asked.Limit)
			r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], more...)
			r.together = nil
		}
		return
	case p.Err != nil:
		if r.Err = p.Err; !r.decided {
			r.Info = p.Info
		}
		return
	case !r.decided || !r.pos.Set:
		r.mark = r.markIn(p.Messages)
		r.Start = Resolve(p.Info, r.pos, r.mark)
	default:
		reached := Position{Set: true, ID: r.Start.ID - 1, Epoch: r.Info.Epoch}
		complete := r.Start.Complete
		r.Start = Resolve(p.Info, reached, "")
		r.Start.Complete = r.Start.Complete && complete
	}
	if r.newest && r.Start.ID > p.Info.Seen+1 {
		r.Start.Complete = false
	}
	r.decided, r.Info, r.Reactions = true, p.Info, p.Reactions
	r.Messages, r.together = Following(p.Messages, r.Start.ID, r.limit), p.Together
}

// markIn is the mark of the entry at the position among those that were read from there on.
func (r *Reading) markIn(messages []Message) string {
	if r.pos.Set && len(messages) > 0 && messages[0].ID == r.pos.ID {
		return messages[0].Mark
	}
	return ""
}

// Following cuts messages to those from id on, as far as they have no hole; none where id is not among them.
func Following(messages []Message, id int64, limit int) []Message {
	for len(messages) > 0 && messages[0].ID < id {
		messages = messages[1:]
	}
	n := 0
	for n < len(messages) && n < limit && messages[n].ID == id+int64(n) {
		n++
	}
	return messages[:n]
}

// Owed is how many messages the reader was not served before.
func (r *Reading) Owed() int64 { return max(0, r.Info.Last-r.Start.ID+1) }

// Position is what the reader has reached before it is served Messages.
func (r *Reading) Position() Position { return r.Start.Before(r.Info, r.pos, r.mark) }

// Shared is what readers share who are given the same batch of this answer; nil: nothing.
func (r *Reading) Shared(b *Batch) *Shared { return r.together.Of(b) }

// Batch is what the reader is given: some of Messages, from the first on.
func (r *Reading) Batch(messages []Message) Batch {
	return newBatch(r.Info, r.Start, r.Position().Mark, messages)
}

// newBatch is what a reader is given who starts at start. mark is that of the entry before it, as far as it is known.
func newBatch(info Info, start Start, mark string, messages []Message) Batch {
	to := start.ID - 1 + int64(len(messages))
	if n := len(messages); n > 0 {
		mark = messages[n-1].Mark
	}
	return Batch{
		Group: info.ID, Epoch: info.Epoch, From: start.ID, To: to, First: info.Visible(), Last: info.Last,
		Cursor:   FormatPosition(info.Epoch, to, mark),
		Complete: start.Complete, HasMore: to < info.Last, Messages: messages,
		Cursors: Cursors{Seen: info.Seen, Read: info.Read, Unread: info.Unread},
	}
}

// readTries bounds how often a page is asked for because the log was trimmed, or its epoch changed, in between.
const readTries = 4

// PullStore reads pages of groups.
type PullStore interface {
	// Pull reads a page of each group for user, authorised and read at the same instant. One round trip a partition.
	// However much is asked for, the entries read are about Limits.PageBytesMax bytes, twice that at most: pages get
	// theirs by turns in the order of pulls, fewer than asked for where they are many bytes, at least one entry of the
	// first that has any. Those that got none say so in Cut.
	Pull(ctx context.Context, user string, pulls []Pull) ([]Page, error)
}

// Read asks store until every one of readings has what comes after its position. One call is enough for positions that
// are in the log. A reading that is owed messages and has none meets a log that changes too fast, or has a hole.
func Read(ctx context.Context, store PullStore, user string, readings []*Reading) error {
	pulls := make([]Pull, 0, len(readings))
	asking := make([]*Reading, 0, len(readings))
	for range readTries {
		pulls, asking = pulls[:0], asking[:0]
		for _, r := range readings {
			if p, ok := r.Ask(); ok {
				pulls, asking = append(pulls, p), append(asking, r)
			}
		}
		if len(pulls) == 0 {
			return nil
		}
		pages, err := store.Pull(ctx, user, pulls)
		if err != nil {
			return err
		}
		for i := range pages {
			asking[i].Take(&pages[i])
		}
	}
	return nil
}
