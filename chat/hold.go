package chat

import (
	"cmp"
	"context"
	"errors"
	"strings"

	spelling "github.com/chatd/chatd/internal/text"
)

// holds puts groups under legal hold.
type holds struct {
	*base
	store HoldStore
}

const holdReasonMax = 500 // characters: some lines, or the name of a case

// Hold is a legal hold on a group: while it lasts, the group is not deleted, nothing of it is removed because of its age, and
// nobody's content in it is erased. Members may still edit and delete what they may edit and delete without one; what that takes away
// is kept for operators until the hold ends.
type Hold struct {
	Reason string `json:"reason"`
	By     string `json:"by"`    // the operator who gave the reason
	Since  Time   `json:"since"` // when it began
}

// Kept is how an entry of a group under legal hold read before a change.
type Kept struct {
	ID     int64
	Change int64 // id of the edit or the deletion
	JSON   []byte
}

// HoldStore keeps legal holds. Every step that takes content away from a group refuses with Held while one lasts, and so does
// the deletion of the group; the last member of a held group cannot leave.
type HoldStore interface {
	// PutHold puts a group under legal hold, or gives its hold another reason. Since stays that of the first. ErrNotFound.
	PutHold(ctx context.Context, by Caller, group string, h Hold) (Hold, error)
	// ReleaseHold ends the hold on a group. released is false where there was none. ErrNotFound.
	ReleaseHold(ctx context.Context, by Caller, group string) (released bool, err error)
	// Kept reads how the entries from..to of a group under legal hold read before each change since, in the order of their ids, a
	// bounded number of them behind the first skip. An empty list is the end.
	Kept(ctx context.Context, group string, from, to int64, skip int) ([]Kept, error)
	// Former reads up to which id, in which life of a group, the entries of a user are of someone of that name who was erased: a
	// legal hold keeps them. 0: there are none.
	Former(ctx context.Context, group, user string) (epoch string, last int64, err error)
	// HoldOf reads the hold on a group; nil: there is none. ErrNotFound.
	HoldOf(ctx context.Context, group string) (*Hold, error)
}

var errHeld = errors.New("legal hold")

// Held is the refusal of a step that a legal hold does not allow.
func Held(reason string) error {
	return &Error{Code: CodeConflict, Message: "the group is under legal hold: " + reason, Cause: errHeld}
}

// IsHeld tells whether err is such a refusal.
func IsHeld(err error) bool { return errors.Is(err, errHeld) }

// PutHold puts a group under legal hold, or gives its hold another reason: operators.
func (s *holds) PutHold(ctx context.Context, by Caller, group, reason string) (Hold, error) {
	if err := cmp.Or(CheckOperator(by), CheckGroup(by, group)); err != nil {
		return Hold{}, err
	}
	reason, err := Line("reason", reason, holdReasonMax)
	if err != nil {
		return Hold{}, err
	}
	if reason = strings.TrimSpace(reason); !spelling.Visible(reason) {
		return Hold{}, Invalid("reason: has no visible character")
	}
	h, err := s.store.PutHold(ctx, by, group, Hold{Reason: reason, By: by.User, Since: TimeMs(s.opt.Now())})
	if err == nil {
		s.opt.Log.InfoContext(ctx, "a group is under legal hold", "group", group, "by", by.User)
	}
	return h, AsError(err)
}

// Former is up to which id, in which life of a group, what a user wrote is of someone of that name who was erased; 0: nothing is.
func (s *holds) Former(ctx context.Context, group, user string) (epoch string, last int64, err error) {
	epoch, last, err = s.store.Former(ctx, group, user)
	return epoch, last, AsError(err)
}

// ReleaseHold ends the legal hold on a group, if there is one: operators. What the hold kept from being removed follows.
func (s *holds) ReleaseHold(ctx context.Context, by Caller, group string) error {
	if err := cmp.Or(CheckOperator(by), CheckGroup(by, group)); err != nil {
		return err
	}
	released, err := s.store.ReleaseHold(ctx, by, group)
	if err == nil && released {
		s.opt.Log.InfoContext(ctx, "the legal hold on a group has ended", "group", group, "by", by.User)
	}
	return AsError(err)
}
