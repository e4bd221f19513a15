package directory

import (
	"strings"

	"github.com/chatd/chatd/internal/fold"
)

// What entries of the list begin with. Ids come before names in its order.
const (
	ByID   = "="
	ByName = ">"
)

// GroupOf is the group of an entry. An id has no NUL, so the last one separates it from what stands before.
func GroupOf(entry string) string { return entry[strings.LastIndexByte(entry, 0)+1:] }

// query is what groups are looked for by: the beginning of their id or name.
type query struct{ id, name string }

func newQuery(q string) query { return query{q, fold.Fold(q)} }

// prefixes are the parts of the list that have the answer, in order. All groups are found by their ids.
func (q query) prefixes() []string {
	if q.id == "" {
		return []string{ByID}
	}
	return []string{ByID + q.id, ByName + q.name}
}

// again tells whether a group that is found by its name was found by its id before.
func (q query) again(entry string) bool {
	return strings.HasPrefix(entry, ByName) && strings.HasPrefix(GroupOf(entry), q.id)
}

// finds tells whether a group is one that is looked for.
func (q query) finds(id, name string) bool {
	return strings.HasPrefix(id, q.id) || strings.HasPrefix(fold.Fold(name), q.name)
}
