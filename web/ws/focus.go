package ws

import (
	"context"
	"encoding/json"

	"github.com/chatd/chatd/chat"
)

// focusOn notes which group the client has open. A user is away while all their sessions on this node say so; a session with no group open
// says so unless its frame says otherwise.
func focusOn(ctx context.Context, s *session, by chat.Caller, args *focusArgs) error {
	var group *string
	if len(args.Group) == 0 || json.Unmarshal(args.Group, &group) != nil || group != nil && *group == "" {
		return chat.Invalid("group: want the id of a group or null")
	}
	open := ""
	if group != nil {
		open = *group
	}
	if err := s.all.readers.Focus(ctx, by, s.follower, open); err != nil {
		return err
	}
	away := open == ""
	if args.Away != nil {
		away = *args.Away
	}
	s.all.setAway(s, away)
	return nil
}

// setAway notes whether a session says that its user is away.
func (s *Sessions) setAway(one *session, away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.away == away || one.departed {
		return
	}
	user := one.userName()
	if one.away = away; away {
		s.away[user]++
	} else if s.away[user]--; s.away[user] == 0 {
		delete(s.away, user)
	}
	s.settleAwayLocked(user)
}

// settleAwayLocked says whether a user is away.
func (s *Sessions) settleAwayLocked(user string) {
	s.notifications.SetAway(user, s.users[user] > 0 && s.away[user] >= s.users[user])
}
