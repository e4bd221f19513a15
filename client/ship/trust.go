package ship

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/client"
)

// trust decides whose parts and end marks a processor believes: any member of the group can post what looks like one.
type trust struct {
	client *client.Client
	group  string
	named  []string // empty: the owner and the admins

	managers map[string]bool     // as they are now; nil: not read yet, or changed since
	skipped  map[[2]string]skips // by sender and kind
	notice   func(string)
}

// skips are the messages of one kind by one member that were skipped since that was last said.
type skips struct {
	n    int
	said time.Time
}

// skipsSaid is how often skipped messages of a kind by one member are mentioned at most.
const skipsSaid = time.Minute

// believes reports whether a processor believes what user posts.
func (t *trust) believes(ctx context.Context, user string) (bool, error) {
	if len(t.named) > 0 {
		return slices.Contains(t.named, user), nil
	}
	if t.managers == nil {
		managers := map[string]bool{}
		for page := (client.Page{Limit: membersPage}); ; {
			members, next, err := t.client.Members(ctx, t.group, page)
			if err != nil {
				return false, err
			}
			for _, m := range members {
				if m.Role != "member" {
					managers[m.User] = true
				}
			}
			if page.Cursor = next; next == "" {
				break
			}
		}
		t.managers = managers
	}
	return t.managers[user], nil
}

// membersPage is how many members are read at a time.
const membersPage = 100

// heard forgets who manages the group if a notice says that this may have changed. What was read was true of a later point of the
// log, so no change is missed.
func (t *trust) heard(m client.Message) {
	switch m.Notice {
	case "role", "joined", "left", "removed":
		t.managers = nil
	}
}

// skip says that a message is skipped, unless that was just said of such messages of its sender.
func (t *trust) skip(m client.Message, what string) {
	if t.skipped == nil {
		t.skipped = map[[2]string]skips{}
	}
	key := [2]string{m.From, what}
	s := t.skipped[key]
	s.n++
	if time.Since(s.said) >= skipsSaid {
		whom, more := "neither the owner nor an admin of the group", ""
		if len(t.named) > 0 {
			whom = "not one of those whose parts are processed"
		}
		if s.n > 1 {
			more = fmt.Sprintf("; so were %d before it", s.n-1)
		}
		t.notice(fmt.Sprintf("skipped the %s in message %d: it is by %s, who is %s%s", what, m.ID, m.From, whom, more))
		s = skips{said: time.Now()}
	}
	t.skipped[key] = s
}
