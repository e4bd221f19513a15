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
	sessionsDrainMax  = 10 * time.Second // over which a drain spreads the closing of websockets
	shutdownMax       = 20 * time.Second // then requests are cut off
)

// setLimits sets the limits of the domain.
func (s *settings) setLimits() {
	l := chat.DefaultLimits()
	l.BodyBytesMax, l.RequestBytesMax = s.MaxBody.value(), s.MaxRequest.value()
	l.BatchBytesMax = s.MaxBatch.value()
	l.PageMessagesMax = s.MaxPage.value()
	l.PageMessages = min(l.PageMessages, l.PageMessagesMax)
	l.GroupMembersMax, l.UserGroupsMax = s.MaxMembers.value(), s.MaxGroups.value()
	l.GroupCreateMembers = min(l.GroupCreateMembers, l.GroupMembersMax)
	l.InboxItemsMax, l.InboxKeep = s.MaxInbox.value(), s.InboxKeep.value()
	l.WebhooksBytesMax, l.UserFiringsMax = s.MaxWebhookBytes.value(), s.MaxFirings.value()
	l.UserFilesBytesMax, l.GroupFilesBytesMax = int64(s.FilesUser.value()), int64(s.FilesGroup.value())
	l.UserUploadsMax = s.UploadsUser.value()
	l.SessionsUserMax, l.SessionsNodeMax = s.MaxSessions.value(), s.MaxSessionsNode.value()
	if l.SessionsUserMax == 0 {
		l.SessionsUserMax = l.SessionsNodeMax
	}
	s.limits = l
}

const (
	rateIPDefault     = rate("50/s:1000")
	connsIPMaxDefault = 2000 // many people may share an address; a fifth of a node's sessions. See connsIPDefault
)

// setCallers sets the limits of one caller: generous for a person with several devices, tight for a script. Those by address apply
// to this host itself only if they are set explicitly: behind a local proxy that CHATD_TRUSTED_PROXIES does not name, everybody
// has its address.
func (s *settings) setCallers() {
	s.callers = limit.Options{
		User: s.RateUser.value(), Send: s.RateSend.value(), IP: cmp.Or(s.RateIP, rateIPDefault).value(), Polls: s.MaxPolls.value(), Calls: s.MaxCalls.value(),
		Conns: s.MaxConnsIP.value(), LoopbackRate: s.RateIP != "", LoopbackConns: s.MaxConnsIP != "",
	}
	if s.MaxConnsIP == "" {
		s.callers.Conns = connsIPDefault(openFilesMax())
	}
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
