package node

import (
	"cmp"
	"strconv"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/limit"
)

// Bounds of settings, and of what the node does on its own.
const (
	secretBytesMin    = 32               // HS256 is as strong as its secret, up to its 256 bits
	claimBytesMax     = 256              // name of a claim, or a role in one
	drainDelayDefault = 5 * time.Second  // load balancers typically ask /readyz this often
	drainDelayMax     = 5 * time.Minute  //
	notifyDelayMax    = time.Hour        // nobody wants a notification later than that
	sessionsDrainMax  = 10 * time.Second // over which a drain spreads the closing of websockets
	shutdownMax       = 20 * time.Second // then requests are cut off
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
		{"CHATD_MAX_WEBHOOK_BYTES", s.MaxWebhookBytes, 64 << 10, 64 << 30, &s.limits.WebhooksBytesMax},
		{"CHATD_UPLOADS_USER", s.UploadsUser, 1, 1000, &s.limits.UserUploadsMax},
		{"CHATD_INBOX_KEEP", s.InboxKeep, 0, 10_000, &s.limits.InboxKeep},
		{"CHATD_MAX_SESSIONS_NODE", s.MaxSessionsNode, 1, 1_000_000, &s.limits.SessionsNodeMax},
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
	if s.RetainDays != "" {
		n, err := strconv.ParseInt(s.RetainDays, 10, 64)
		if err != nil || n < 0 || n > chat.RetainDaysMax {
			p.add("CHATD_RETAIN_DAYS", "want a whole number of days from 0 (for ever) to %d; not %q", chat.RetainDaysMax, s.RetainDays)
		}
		s.retainDays = n
	}
	s.limits.PageMessages = min(s.limits.PageMessages, s.limits.PageMessagesMax)
	s.limits.GroupCreateMembers = min(s.limits.GroupCreateMembers, s.limits.GroupMembersMax)
}

// The default limits of one caller: generous for a person with several devices, tight for a script. See docs/limits.md.
const (
	rateUserDefault   = "100/s:2000"
	rateSendDefault   = "20/s:1000"
	rateIPDefault     = "50/s:1000"
	connsIPMaxDefault = 2000 // many people may share an address; a fifth of a node's sessions. See connsIPDefault
	pollsMaxDefault   = 20
	callsMaxDefault   = 64

	callsNodeMaxDefault = 1024 // of all callers together; see package admission
)

// checkCallers reads the limits of one caller. The limits by address apply to this host itself only if they are set
// explicitly: behind a local proxy that CHATD_TRUSTED_PROXIES does not name, everybody has its address.
func (s *settings) checkCallers(p *problems) {
	for _, r := range []struct {
		key, value, byDefault string
		into                  *limit.Rate
	}{
		{"CHATD_RATE_USER", s.RateUser, rateUserDefault, &s.callers.User},
		{"CHATD_RATE_SEND", s.RateSend, rateSendDefault, &s.callers.Send},
		{"CHATD_RATE_IP", s.RateIP, rateIPDefault, &s.callers.IP},
	} {
		var err error
		if *r.into, err = limit.ParseRate(cmp.Or(r.value, r.byDefault)); err != nil {
			p.add(r.key, "%v; not %q", err, r.value)
		}
	}
	for _, m := range []struct {
		key, value     string
		byDefault, max int
		into           *int
	}{
		{"CHATD_MAX_SESSIONS", s.MaxSessions, s.limits.SessionsUserMax, 10_000, &s.limits.SessionsUserMax},
		{"CHATD_MAX_CONNS_IP", s.MaxConnsIP, connsIPDefault(openFilesMax()), 1_000_000, &s.callers.Conns},
		{"CHATD_MAX_POLLS", s.MaxPolls, pollsMaxDefault, 10_000, &s.callers.Polls},
		{"CHATD_MAX_CALLS", s.MaxCalls, callsMaxDefault, 10_000, &s.callers.Calls},
		{"CHATD_MAX_FIRINGS", s.MaxFirings, s.limits.UserFiringsMax, 10_000, &s.limits.UserFiringsMax},
		{"CHATD_MAX_CALLS_NODE", s.MaxCallsNode, callsNodeMaxDefault, 100_000, &s.callsNodeMax},
	} {
		n, err := strconv.Atoi(m.value)
		switch {
		case m.value == "":
			n = m.byDefault
		case m.value == "off":
			n = 0
		case err != nil || n < 1 || n > m.max:
			p.add(m.key, "want off, or a whole number from 1 to %d; not %q", m.max, m.value)
		}
		*m.into = n
	}
	if s.limits.SessionsUserMax == 0 {
		s.limits.SessionsUserMax = s.limits.SessionsNodeMax
	}
	s.callers.LoopbackRate, s.callers.LoopbackConns = s.RateIP != "", s.MaxConnsIP != ""
}

// connsIPDefault is how many connections an address may have if no setting says so: fewer than usual where the process may have
// few open files, so that one address does not take those of everybody else and of the store.
func connsIPDefault(files uint64, known bool) int {
	if known && files < connsIPMaxDefault+filesSpare {
		return int(max(files/2, 1)) //nolint:gosec // less than 2,000
	}
	return connsIPMaxDefault
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
