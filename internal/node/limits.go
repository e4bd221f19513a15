package node

import (
	"strconv"
	"time"
)

// Bounds of settings, and of what the node does by itself.
const (
	secretBytesMin    = 32               // HS256 is as strong as its secret, up to its 256 bits
	drainDelayDefault = 5 * time.Second  // a balancer asks /readyz about that often
	drainDelayMax     = 5 * time.Minute  //
	notifyDelayMax    = time.Hour        // beyond that nobody would call it telling
	sessionsDrainMax  = 10 * time.Second // how long closing the websockets is spread over
	shutdownMax       = 20 * time.Second // after that requests are cut off
)

func (s *settings) checkLimits(p *problems) {
	for _, l := range []struct {
		key, value string
		min, max   int
		into       *int
	}{
		{"CHATD_MAX_BODY", s.MaxBody, 1, 1 << 20, &s.limits.BodyBytesMax},
		{"CHATD_MAX_REQUEST", s.MaxRequest, 1 << 10, 64 << 20, &s.limits.RequestBytesMax},
		{"CHATD_MAX_PAGE", s.MaxPage, 1, 10_000, &s.limits.PageMessagesMax},
		{"CHATD_MAX_MEMBERS", s.MaxMembers, 1, 1_000_000, &s.limits.GroupMembersMax},
		{"CHATD_MAX_GROUPS", s.MaxGroups, 1, 100_000, &s.limits.UserGroupsMax},
		{"CHATD_MAX_INBOX", s.MaxInbox, 1, 1_000_000, &s.limits.InboxItemsMax},
		{"CHATD_INBOX_KEEP", s.InboxKeep, 0, 10_000, &s.limits.InboxKeep},
		{"CHATD_MAX_SESSIONS", s.MaxSessions, 1, 10_000, &s.limits.SessionsUserMax},
	} {
		if l.value == "" {
			continue
		}
		n, err := strconv.Atoi(l.value)
		if err != nil || n < l.min || n > l.max {
			p.add(l.key, "want a whole number from %d to %d; not %q", l.min, l.max, l.value)
			continue
		}
		*l.into = n
	}
	s.limits.PageMessages = min(s.limits.PageMessages, s.limits.PageMessagesMax)
	s.limits.GroupCreateMembers = min(s.limits.GroupCreateMembers, s.limits.GroupMembersMax)
}

func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= 65535
}

func oneOf(value string, allowed []string) bool {
	for _, a := range allowed {
		if a == value {
			return true
		}
	}
	return false
}
