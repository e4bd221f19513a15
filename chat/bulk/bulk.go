// Package bulk changes many members of a group with one call: one notice, and one step of the store, for up to
// chat.NoticeUsersMax of them. All methods of Service may be called from many goroutines.
package bulk

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/each"
)

// UsersMax is how many users one call may add, and how many it may remove.
const UsersMax = 1000

// Store changes several members in one step. The caller of a step is an owner, admin or operator; else ErrNotFound, ErrForbidden.
type Store interface {
	// AddMembers adds those who are no members yet, with one notice.
	AddMembers(ctx context.Context, c Change) (Added, error)
	// RemoveMembers removes those who are members, with one notice. left are those whom only a step for one removes: the owner, and
	// the last member.
	RemoveMembers(ctx context.Context, c Change) (removed, left []string, err error)
}

// Change is about users of one group.
type Change struct {
	Group  string
	By     chat.Caller
	Users  []string    // each once, chat.NoticeUsersMax at most
	Roles  []chat.Role // of each, to add: admin or member
	AtMs   int64
	Notice chat.UsersNotice
}

// Added is what a step that adds members did.
type Added struct {
	Epoch       string
	Start, Last int64       // where the new members begin, and the id of the notice; if any were added
	Had         []chat.Role // of each user the role before; "" for one who was added, Full for one who was not
}

// No roles: why a user was not added.
const (
	Full   chat.Role = "full"   // the group has no room
	Banned chat.Role = "banned" // the user is kept out
)

// Draft is a user to add, with an optional role. One who is a member already gets the role.
type Draft struct {
	User string
	Role chat.Role
}

// Result counts what changed, and says for whom nothing could be done, in the order of the request.
type Result struct {
	Added   int       `json:"added"`
	Removed int       `json:"removed"`
	Errors  []Refusal `json:"errors"`
}

// Refusal is why nothing was done about a user.
type Refusal struct {
	User string    `json:"user"`
	Code chat.Code `json:"code"`
}

// Service changes members. Create one with New.
type Service struct {
	core  *chat.Service
	store Store
}

// New makes a Service over the core.
func New(core *chat.Service, store Store) *Service { return &Service{core, store} }

// change is one call: who it is by, and what came of it so far.
type change struct {
	*Service
	by    chat.Caller
	group string

	mu      sync.Mutex
	result  Result
	refused map[string]chat.Code
}

// ChangeMembers adds and removes users, with the rights and rules of a single addition or removal; adding a member, or removing someone
// who is none, changes nothing. It is not atomic, and may be repeated.
func (s *Service) ChangeMembers(ctx context.Context, by chat.Caller, group string, add []Draft, remove []string) (Result, error) {
	if err := chat.CheckGroup(by, group); err != nil {
		return Result{}, err
	}
	for field, n := range map[string]int{"add": len(add), "remove": len(remove)} {
		if n > UsersMax {
			return Result{}, chat.Errorf(chat.CodeOutOfRange, "%s: at most %d users, not %d", field, UsersMax, n)
		}
	}
	c := &change{Service: s, by: by, group: group, refused: map[string]chat.Code{}}
	if err := c.mayManage(ctx, add, remove); err != nil {
		return Result{}, err
	}
	if err := c.add(ctx, add); err != nil {
		return Result{}, err
	}
	if err := c.remove(ctx, remove); err != nil {
		return Result{}, err
	}
	c.result.Errors = []Refusal{}
	named := slices.Clone(remove)
	for i := len(add) - 1; i >= 0; i-- {
		named = slices.Insert(named, 0, add[i].User)
	}
	for _, user := range named {
		if code, ok := c.refused[user]; ok {
			c.result.Errors = append(c.result.Errors, Refusal{user, code})
			delete(c.refused, user)
		}
	}
	return c.result, nil
}

// mayManage refuses callers who may change no member but themselves.
func (c *change) mayManage(ctx context.Context, add []Draft, remove []string) error {
	info, err := c.core.Info(ctx, c.by.User, c.group)
	if err == nil && !info.Sees(c.by) {
		err = chat.ErrNotFound
	}
	if err == nil && chat.IsDirect(c.group) {
		err = chat.ErrDirectFixed
	}
	if err != nil || c.by.Admin || info.Role.Manages() {
		return err
	}
	if len(add)+len(remove) > 0 && !slices.ContainsFunc(add, func(d Draft) bool { return d.User != c.by.User }) &&
		!slices.ContainsFunc(remove, func(user string) bool { return user != c.by.User }) {
		return nil // joining and leaving is for everyone
	}
	return chat.ErrManagersOnly
}

// refuse keeps why nothing was done about a user. Only what would have stopped the rest too is an error.
func (c *change) refuse(user string, err error) error {
	err = chat.AsError(err)
	switch code := chat.CodeOf(err); code {
	case chat.CodeInternal, chat.CodeUnavailable:
		return err
	default:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refused[user] = code
		return nil
	}
}

// add adds users, those who need no notice of their own together.
func (c *change) add(ctx context.Context, drafts []Draft) error {
	var together, alone []Draft
	named := map[string]bool{}
	for _, d := range drafts {
		err := chat.CheckUserID("user", d.User)
		if err == nil && d.Role != "" {
			err = chat.CheckWord("role", &d.Role, chat.Owner, chat.Admin, chat.Ordinary)
		}
		switch {
		case err != nil:
			if err := c.refuse(d.User, err); err != nil {
				return err
			}
		case named[d.User]:
			alone = append(alone, d) // the last role holds
		case d.User == c.by.User || d.Role == chat.Owner:
			alone = append(alone, d)
		default:
			together = append(together, d)
		}
		named[d.User] = true
	}
	for some := range slices.Chunk(together, chat.NoticeUsersMax) {
		promoted, err := c.addSome(ctx, some)
		if err != nil {
			return err
		}
		alone = append(alone, promoted...)
	}
	for _, d := range alone {
		_, created, err := c.core.PutMember(ctx, c.by, c.group, d.User, d.Role)
		if err != nil {
			if err := c.refuse(d.User, err); err != nil {
				return err
			}
		}
		if created {
			c.result.Added++
		}
	}
	return nil
}

// addSome adds users with one notice, and returns those who are members with another role than they shall have.
func (c *change) addSome(ctx context.Context, drafts []Draft) (promoted []Draft, err error) {
	if drafts, err = c.allowed(ctx, drafts); err != nil || len(drafts) == 0 {
		return nil, err
	}
	step := c.step(chat.NoticeJoined)
	for _, d := range drafts {
		role := chat.Ordinary
		if d.Role == chat.Admin {
			role = chat.Admin
		}
		step.Users, step.Roles = append(step.Users, d.User), append(step.Roles, role)
	}
	added, err := c.store.AddMembers(ctx, step)
	if err != nil {
		return nil, chat.AsError(err)
	}
	var users []string
	for i, had := range added.Had {
		switch {
		case had == "":
			users = append(users, drafts[i].User)
		case had == Full:
			c.refused[drafts[i].User] = chat.CodeOutOfRange
		case had == Banned:
			c.refused[drafts[i].User] = chat.CodeConflict
		case drafts[i].Role != "" && drafts[i].Role != had:
			promoted = append(promoted, drafts[i])
		}
	}
	c.result.Added += len(users)
	c.core.Joined(ctx, c.by, c.group, added.Epoch, users, added.Start, added.Last)
	return promoted, nil
}

// allowed leaves out users whom the caller may not put into the group.
func (c *change) allowed(ctx context.Context, drafts []Draft) ([]Draft, error) {
	users := make([]string, len(drafts))
	for i, d := range drafts {
		users[i] = d.User
	}
	if c.core.MayPut(ctx, c.by, c.group, users...) == nil {
		return drafts, nil
	}
	err := each.Of(ctx, users, func(ctx context.Context, user string) error {
		info, err := c.core.Info(ctx, user, c.group)
		if err == nil && info.Role != "" {
			return nil
		}
		if err == nil {
			err = c.core.MayPut(ctx, c.by, c.group, user)
		}
		if err == nil {
			return nil
		}
		return c.refuse(user, err)
	})
	return slices.DeleteFunc(slices.Clone(drafts), func(d Draft) bool { return c.refused[d.User] != "" }), err
}

// remove removes users, those who need no notice of their own together.
func (c *change) remove(ctx context.Context, users []string) error {
	var together, alone []string
	named := map[string]bool{}
	for _, user := range users {
		switch err := chat.CheckUserID("user", user); {
		case err != nil:
			if err := c.refuse(user, err); err != nil {
				return err
			}
		case named[user]:
		case user == c.by.User:
			alone = append(alone, user)
		default:
			together = append(together, user)
		}
		named[user] = true
	}
	for some := range slices.Chunk(together, chat.NoticeUsersMax) {
		step := c.step(chat.NoticeRemoved)
		step.Users = some
		removed, left, err := c.store.RemoveMembers(ctx, step)
		if err != nil {
			return chat.AsError(err)
		}
		c.result.Removed += len(removed)
		_ = each.Of(ctx, removed, func(ctx context.Context, user string) error {
			c.core.Moved(ctx, c.group, user)
			return nil
		})
		alone = append(left, alone...)
	}
	for _, user := range alone {
		switch err := c.core.RemoveMember(ctx, c.by, c.group, user); {
		case err == nil:
			c.result.Removed++
		case errors.Is(err, chat.ErrNotFound): // no member, as was asked for
		default:
			if err := c.refuse(user, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *change) step(notice string) Change {
	now := c.core.Options().Now()
	return Change{Group: c.group, By: c.by, AtMs: now, Notice: chat.NewUsersNotice(c.by, c.group, now, chat.Entry{Notice: notice})}
}
