package local

import (
	"cmp"
	"slices"

	"github.com/chatd/chatd/client"
)

// span are the ids from the first to the last, both of them within.
type span [2]int64

// groupLog is what is held of a group's log. Its methods return a changed one and leave the old one alone.
//
// A message is changed only by later entries of the same log: edits, deletions, reactions. A page is read at some later
// point, so its messages have the changes up to the `last` of that page. Each entry remembers that point, and a change applies
// only if it is newer: so nothing is counted twice, in whatever order pages and live entries come.
type groupLog struct {
	Epoch  string          `json:"epoch"`
	End    int64           `json:"end"`    // up to here everything came live; -1: no position yet, the server decides where the log begins
	Cursor client.Position `json:"cursor"` // the server's name for End; empty: End alone
	Held   []span          `json:"held"`   // every id of these is known, though changes are no lines; ascending, not adjacent
	Gaps   []span          `json:"gaps"`   // lost for good; to is 0 where the log began anew at from
	Floor  int64           `json:"floor"`  // nothing below is to be had from the server
	// Since: from here to the end nothing was missed. What an earlier page does not have of it came live.
	Since int64 `json:"since"`
	// Loose are ids of changes that came live before the messages that they are about; a page that was read earlier needs them.
	Loose []int64 `json:"loose"`
}

// looseMax is how many changes are remembered for messages that are not held.
const looseMax = 100

func emptyLog() groupLog { return groupLog{End: -1, Floor: 1} }

func (l groupLog) placed() bool { return l.End >= 0 }

// position is from where the server is asked to go on; empty: it decides.
func (l groupLog) position() client.Position {
	if !l.placed() {
		return ""
	}
	return cmp.Or(l.Cursor, client.At(l.End))
}

// add returns spans with one more, joined where they touch.
func add(spans []span, s span) []span {
	if s[1] < s[0] {
		return spans
	}
	var out []span
	for _, r := range spans {
		if r[1] < s[0]-1 || r[0] > s[1]+1 {
			out = append(out, r)
		} else {
			s = span{min(s[0], r[0]), max(s[1], r[1])}
		}
	}
	out = append(out, s)
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a[0], b[0]) })
	return out
}

// cut returns spans without one.
func cut(spans []span, s span) (out []span) {
	for _, r := range spans {
		if r[1] < s[0] || r[0] > s[1] {
			out = append(out, r)
			continue
		}
		if r[0] < s[0] {
			out = append(out, span{r[0], s[0] - 1})
		}
		if s[1] < r[1] {
			out = append(out, span{s[1] + 1, r[1]})
		}
	}
	return out
}

// around returns the span that an id is in.
func around(spans []span, id int64) (span, bool) {
	for _, s := range spans {
		if s[0] <= id && id <= s[1] {
			return s, true
		}
	}
	return span{}, false
}

func holds(spans []span, id int64) bool {
	_, ok := around(spans, id)
	return ok
}

func (s span) anew() bool { return s[1] == 0 }

// parted separates the gaps where the log began anew from those that are ids.
func parted(gaps []span) (anew, lost []span) {
	for _, g := range gaps {
		if g.anew() {
			anew = append(anew, g)
		} else {
			lost = append(lost, g)
		}
	}
	return anew, lost
}

// holding returns a log that has a span: what was a gap there is none.
func (l groupLog) holding(s span) groupLog {
	l.Held = add(l.Held, s)
	if s[0] <= s[1] {
		anew, lost := parted(l.Gaps)
		l.Gaps = append(anew, cut(lost, s)...)
	}
	return l
}

// lost returns a log with a gap for good, but for what is held of that.
func (l groupLog) lost(s span) groupLog {
	anew, lost := parted(l.Gaps)
	lost = add(lost, s)
	for _, r := range l.Held {
		lost = cut(lost, r)
	}
	l.Gaps = append(anew, lost...)
	return l
}

// step is what a batch does to a log.
type step struct {
	log   groupLog
	fresh []client.Message
	anew  bool // what was held is of another life of the log, or of an end that it lost: it goes
	gap   bool // it begins behind a gap
	hole  bool // ids are missing silently: nothing of the batch may be taken
	known bool // all of it is
}

// append takes what the server sent after the position. gap: it said before that what is between, or what is held, is not
// there any more; nil: it did not.
func (l groupLog) append(b client.Messages, gap *client.Gap) step {
	other := l.Epoch != "" && l.Epoch != b.Epoch
	switch {
	case other || gap != nil || !l.placed():
	case b.To <= l.End:
		return step{known: true}
	case b.From > l.End+1 && b.From != b.First: // who was out of a group may not see what was written then
		return step{hole: true}
	}
	rewritten := other || gap != nil && l.placed() && (gap.Anew || b.From <= l.End)
	anew := rewritten || l.missed(b.From)
	next := l
	if anew {
		next = emptyLog()
	}
	next.Epoch = b.Epoch
	end := next.End
	fresh := slices.DeleteFunc(slices.Clone(b.Messages), func(m client.Message) bool { return m.ID <= end })
	shows := true
	switch {
	case rewritten:
		next.Gaps = []span{{b.From, 0}}
	case l.placed() && b.From > l.End+1:
		next = next.lost(span{l.End + 1, b.From - 1})
	case !l.placed() && slices.ContainsFunc(l.Gaps, span.anew):
		_, lost := parted(l.Gaps)
		next.Gaps = append([]span{{b.From, 0}}, lost...) // a position was given up: this is where it goes on
	default:
		shows = false
	}
	// Not what is below the end: of that, what is not held was dropped.
	next = next.holding(span{max(b.From, next.End+1), b.To})
	next.End, next.Cursor = max(next.End, b.To), b.Cursor
	if !l.placed() || shows {
		next.Since = b.From
	}
	return step{log: next, fresh: fresh, anew: anew, gap: shows}
}

// missed reports whether what is held of a log without a position lacks changes, if it goes on from an id.
func (l groupLog) missed(from int64) bool { return !l.placed() && len(l.Held) > 0 && l.Since < from }

// taken returns the last id of a page that is taken: what is beyond the end comes live, or behind a gap.
func (l groupLog) taken(page client.Batch) int64 {
	if !l.placed() {
		return page.To
	}
	return min(page.To, l.End)
}

// insert takes the page before or, if before is 0, after an id. false: it is of another life of the log or came too late, ask
// again.
func (l groupLog) insert(page client.Batch, before, after int64) (groupLog, bool) {
	last := max(page.Last, page.To)
	some := len(page.Messages) > 0
	late := l.placed() && (last+1 < l.Since || len(l.Loose) == looseMax && last < l.Loose[0])
	if l.Epoch != "" && l.Epoch != page.Epoch || late {
		return l, false
	}
	l.Epoch = page.Epoch
	if page.First > 0 {
		l.Floor = min(l.Floor, page.First)
	}
	if before > 0 {
		if some && page.To >= before {
			return l, false
		}
		if !some {
			l.Floor = max(l.Floor, before)
		} else if !page.HasMore {
			l.Floor = max(l.Floor, page.From)
		}
	} else if some {
		if page.From <= after {
			return l, false
		}
		if page.From > after+1 {
			l = l.lost(span{after + 1, min(page.From-1, l.taken(page))})
		}
	}
	if !some {
		return l, true
	}
	if !l.placed() {
		if len(l.Held) == 0 {
			l.Since = last + 1
		}
		l.Since = min(l.Since, last+1)
	}
	return l.holding(span{page.From, l.taken(page)}), true
}

// loosened remembers changes whose messages are not held, and returns those that are forgotten for them.
func (l groupLog) loosened(ids []int64) (groupLog, []int64) {
	all := append(slices.Clone(l.Loose), ids...)
	extra := max(0, len(all)-looseMax)
	l.Loose = all[extra:]
	return l, all[:extra]
}
