package live

import (
	"slices"

	"github.com/chatd/chatd/chat"
)

// Scope says which groups a reader looks at, and where it begins in them.
type Scope struct {
	After      map[string]string // raw, by group: an id in decimal or a cursor. Other groups begin at the member's seen
	InboxAfter chat.Position     // not set: after what was acked
	Newest     bool              // groups that After does not name begin at their newest page if more than that is unseen
	Only       []string          // nil: all groups of the caller
}

// scope is a Scope as it was read.
type scope struct {
	after        map[string]chat.Position
	inboxAfter   chat.Position
	inboxRefused bool
	newest       bool
	only         []string        // sorted; nil: all
	reach        chat.Reach      // nil: all groups
	refused      map[string]bool // their positions cannot be read: nothing is served of them
}

// newScope reads sc. Positions that cannot be read do not affect the rest: errors lists them. A caller who does not reach all groups
// gets nothing of the inbox, which has items of all.
func (s *Service) newScope(by chat.Caller, sc Scope) (c scope, errors []GroupError, err error) {
	switch most := s.limits.UserGroupsMax; {
	case len(sc.After) > most:
		return scope{}, nil, chat.Errorf(chat.CodeOutOfRange, "after: at most %d groups", most)
	case len(sc.Only) > most:
		return scope{}, nil, chat.Errorf(chat.CodeOutOfRange, "only: at most %d groups", most)
	}
	for i, group := range sc.Only {
		if !chat.ValidGroupID(group) {
			return scope{}, nil, chat.Invalid("only[%d]: not a valid group id", i)
		}
	}
	c = scope{after: make(map[string]chat.Position, len(sc.After)), newest: sc.Newest, reach: by.Reach, refused: map[string]bool{}}
	for group, raw := range sc.After {
		if !chat.ValidGroupID(group) {
			return scope{}, nil, chat.Invalid("after.%q: not a valid group id", group)
		}
		pos, err := chat.ParsePosition(raw)
		if err != nil {
			c.refused[group] = true
			errors = append(errors, GroupError{Group: group, Code: chat.CodeOf(err)})
			continue
		}
		c.after[group] = pos
	}
	switch c.inboxRefused = by.Reach != nil || sc.InboxAfter.ID < 0; {
	case !c.inboxRefused:
		c.inboxAfter = sc.InboxAfter
		c.inboxAfter.ID = min(c.inboxAfter.ID, chat.IDMax)
	case by.Reach == nil:
		errors = append(errors, GroupError{Inbox: true, Code: chat.CodeInvalid})
	}
	if sc.Only != nil {
		c.only = make([]string, 0, len(sc.Only))
		for _, g := range sc.Only {
			if !c.refused[g] {
				c.only = append(c.only, g)
			}
		}
		slices.Sort(c.only)
		c.only = slices.Compact(c.only)
	}
	return c, errors, nil
}

// covers reports whether a reader looks at a group.
func (c *scope) covers(group string) bool {
	if c.reach != nil && !c.reach.InGroup(group) {
		return false
	}
	if c.only != nil {
		_, in := slices.BinarySearch(c.only, group)
		return in
	}
	return !c.refused[group]
}
