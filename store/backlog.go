package store

import (
	"context"

	"github.com/chatd/chatd/chat"
)

var blockersScript = newReader("backlog/blockers", groupNames)

// Blockers reads which members hold back trimming, the slowest first.
func (s *Groups) Blockers(ctx context.Context, by chat.Caller, group string) ([]chat.Blocker, error) {
	r, err := s.runSafe(ctx, blockersScript.On(s.keys.group(group)).Arg("caller", by.User).Arg("operator", by.Admin).
		Arg("max", chat.BlockersMax))
	if err != nil {
		return nil, err
	}
	return r.waitedFor(1), nil
}

// waitedFor reads rows of user, entries behind, bytes behind and the oldest entry that they have not seen.
func (r reply) waitedFor(from int) []chat.Blocker {
	const columns = 4
	found := r.blockers(from, columns)
	for i := range found {
		found[i].Since = sentAt(r.text(from + columns*i + 3))
	}
	return found
}

// blockers reads rows of user, entries behind and bytes behind, from an element on; a row may have more columns.
func (r reply) blockers(from, columns int) []chat.Blocker {
	found := make([]chat.Blocker, 0, len(r)/columns)
	for i := from; i+columns <= len(r); i += columns {
		found = append(found, chat.Blocker{User: r.text(i), Behind: r.number(i + 1), Bytes: r.number(i + 2)})
	}
	return found
}
