package chat

import (
	"context"
	"strings"
	"time"
)

const (
	// BlockersMax is how many members a list of those who hold back trimming has.
	BlockersMax = 100
	// RefusedBlockersMax is how many of them a refused send names.
	RefusedBlockersMax = 10

	backlogRetry = time.Second // how long a refused sender waits: until some have acked
)

// Blocker is a member who holds back trimming.
type Blocker struct {
	User   string `json:"user"`
	Behind int64  `json:"behind"` // entries that they have not seen
	Bytes  int64  `json:"bytes"`  // of files in these
	// Since is when the oldest of them was written: the member has been behind since then. Only Service.Blockers sets it.
	Since *Time `json:"since,omitempty"`
}

// ErrBacklogFull is what a BacklogFull matches in errors.Is.
var ErrBacklogFull = &Error{Code: CodeBacklogFull, Message: "members are too far behind"}

// BacklogFull is the refusal of a send to a group with OverflowBlock.
func BacklogFull(blockers []Blocker) error {
	names := make([]string, len(blockers))
	for i, b := range blockers {
		names[i] = b.User
	}
	return &Error{Code: CodeBacklogFull, Message: "members are too far behind: " + strings.Join(names, ", "), RetryAfter: backlogRetry, Blockers: blockers}
}

// Blockers lists the members who hold back the trimming of a group, whatever its Overflow is, and with OverflowBlock those because
// of whom a send may be refused, the slowest first: for its owner and admins, who are not in their own lists, and operators.
func (s *members) Blockers(ctx context.Context, by Caller, group string) ([]Blocker, error) {
	if err := CheckGroup(by, group); err != nil {
		return nil, err
	}
	blockers, err := s.store.Blockers(ctx, by, group)
	if err != nil {
		return nil, s.Refused(ctx, by, group, err)
	}
	return blockers, nil
}
