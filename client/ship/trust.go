package ship

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/client"
)

// trust decides whose parts and end marks a processor believes, and whose results a shipper: any member of the group can post what
// looks like one.
type trust struct {
	client *client.Client
	group  string
	named  []string // empty: the owner and the admins

	managers map[string]bool     // as they are now; nil: not read yet, or changed since
	skipped  map[[3]string]skips // by sender, kind and reason
	notice   func(string)
}

// skips are the messages of one kind by one member that were skipped for one reason since that was last said.
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

// stranger is why a message is skipped whose sender is not believed.
func (t *trust) stranger() string {
	if len(t.named) > 0 {
		return "who is not one of those who are believed"
	}
	return "who is neither the owner nor an admin of the group"
}

// skip says that a message is skipped and why, unless that was just said of such messages of its sender.
func (t *trust) skip(m client.Message, what, why string) {
	if t.skipped == nil {
		t.skipped = map[[3]string]skips{}
	}
	key := [3]string{m.From, what, why}
	s := t.skipped[key]
	s.n++
	if time.Since(s.said) >= skipsSaid {
		more := ""
		if s.n > 1 {
			more = fmt.Sprintf("; so were %d before it", s.n-1)
		}
		t.notice(fmt.Sprintf("skipped the %s in message %d: it is by %s, %s%s", what, m.ID, m.From, why, more))
		s = skips{said: time.Now()}
	}
	t.skipped[key] = s
}
