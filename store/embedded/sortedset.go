package embedded

import (
	"iter"
	"sort"

	"github.com/tidwall/btree"
)

// sortedSet keeps its members ordered by score, then by bytes, so that the cost of reading a range depends on its length and
// not on the size of the set: miniredis keeps a map, and sorts all of it on each read.
type sortedSet struct {
	order *btree.BTreeG[scored]
	// scores maps a member to its score. It is nil while the set is small, as most sets of chatd are: there a map costs more
	// than looking at each member.
	scores map[string]float64
}

type scored struct {
	score  float64
	member string
}

// smallSetMax is how many members a set holds without a map.
const smallSetMax = 16

func before(a, b scored) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return a.member < b.member
}

func newSortedSet() *sortedSet {
	return &sortedSet{order: btree.NewBTreeGOptions(before, btree.Options{NoLocks: true})}
}

func (z *sortedSet) len() int { return z.order.Len() }

// score returns the score of a member.
func (z *sortedSet) score(member string) (score float64, found bool) {
	if z.scores != nil {
		score, found = z.scores[member]
		return score, found
	}
	z.order.Scan(func(e scored) bool {
		score, found = e.score, e.member == member
		return !found
	})
	return score, found
}

// set adds a member, or gives it another score.
func (z *sortedSet) set(member string, score float64) {
	if old, found := z.score(member); found {
		z.order.Delete(scored{old, member})
	}
	z.add(scored{score, member})
}

// add adds a member that the set does not hold. It costs least at the end of the set.
func (z *sortedSet) add(e scored) {
	z.order.Load(e)
	switch {
	case z.scores != nil:
		z.scores[e.member] = e.score
	case z.len() > smallSetMax:
		z.scores = make(map[string]float64, 2*smallSetMax)
		z.order.Scan(func(e scored) bool {
			z.scores[e.member] = e.score
			return true
		})
	}
}

// remove reports whether the set held the member.
func (z *sortedSet) remove(member string) bool {
	score, found := z.score(member)
	if found {
		z.order.Delete(scored{score, member})
		delete(z.scores, member) // no-op on a nil map
	}
	return found
}

// rank returns how many members come before the first one for which reached is true. It must be true for all that follow.
func (z *sortedSet) rank(reached func(scored) bool) int {
	return sort.Search(z.len(), func(i int) bool {
		e, _ := z.order.GetAt(i)
		return reached(e)
	})
}

// between yields the members with the ranks from..to-1, the last one first if reverse. The set must not change meanwhile.
func (z *sortedSet) between(from, to int, reverse bool) iter.Seq[scored] {
	return func(yield func(scored) bool) {
		left := to - from
		if left <= 0 {
			return
		}
		each := func(e scored) bool {
			left--
			return yield(e) && left > 0
		}
		if reverse {
			pivot, _ := z.order.GetAt(to - 1)
			z.order.Descend(pivot, each)
			return
		}
		pivot, _ := z.order.GetAt(from)
		z.order.Ascend(pivot, each)
	}
}
