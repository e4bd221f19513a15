package chat

import (
	"cmp"
	"strconv"
	"strings"
)

// Rank is a position in a list of groups that is sorted by a weight, such as the time of the last activity in ms.
type Rank struct {
	Weight int64
	Group  string
}

// String is the rank as a cursor, which ParseRank reads.
func (r Rank) String() string { return strconv.FormatInt(r.Weight, 10) + "." + r.Group }

// Compare orders by weight, highest first, then by id.
func (r Rank) Compare(o Rank) int {
	return cmp.Or(cmp.Compare(o.Weight, r.Weight), strings.Compare(r.Group, o.Group))
}

// ParseRank reads a cursor; the empty one is the beginning. Any other text is an Error of CodeInvalid.
func ParseRank(cursor string) (Rank, error) {
	if cursor == "" {
		return Rank{}, nil
	}
	weight, group, _ := strings.Cut(cursor, ".")
	n, ok := ParseID(weight)
	if !ok || !ValidGroupID(group) {
		return Rank{}, Invalid("cursor: not one of this list")
	}
	return Rank{n, group}, nil
}
