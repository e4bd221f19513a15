package ws

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/problem"
)

// Which sockets are accepted, and which give way. A socket whose handshake carries a token counts towards its user's
// limit from the handshake on, others from the hello on; over the limit, a new one replaces the user's session that has
// been idle longest. Sockets without a token are limited too; over that limit, a new one replaces the oldest of the
// address that has most of them. So a client that floods a node with sockets pushes out only its own.

// idleAfter is how long a session must be without commands before it may give way to a newer one of its user. One
// without any command since its hello may give way at once.
const idleAfter = 30 * time.Second

// handshake is what is known about a socket before its first frame.
type handshake struct {
	who     *auth.Identity // nil: the token comes with the hello
	from    netip.Addr
	agent   string // that the client named, at most agentBytesMax bytes
	counted bool   // among the connections of from: behind a proxy the listener cannot count them
}

// agentBytesMax is how much of a client's name each socket keeps, for the list of sessions.
const agentBytesMax = 200

// agentOf is what a client calls itself: of the header only a part is kept, without the rest of the request.
func agentOf(r *http.Request) string {
	agent := strings.ToValidUTF8(r.UserAgent(), "")
	return strings.ToValidUTF8(strings.Clone(agent[:min(len(agent), agentBytesMax)]), "")
}

// claimed is the user of the handshake's token; empty: it has none.
func (h handshake) claimed() string {
	if h.who == nil {
		return ""
	}
	return h.who.User
}

// ServeHTTP handles a handshake. It returns when the socket is open; the session runs in its own goroutines.
func (s *Sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, err := s.admit(w, r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	full, err := s.enter()
	if err != nil {
		s.leaveAddress(h)
		s.refuse(w, err)
		return
	}
	hijacker := &stallHijacker{ResponseWriter: w, conn: &stallConn{stallAfter: s.opt.StallAfter, lastChance: s.opt.CloseWithin}}
	conn, err := s.upgrader.Upgrade(hijacker, r, nil)
	if err != nil {
		s.leaveAddress(h)
		s.wg.Done()
		return
	}
	hijacker.conn.opened = true
	one := newSession(s, conn, hijacker.conn, h)
	s.queue.start()
	s.add(one, full)
	one.run()
}

// refuse answers a rejected handshake.
func (s *Sessions) refuse(w http.ResponseWriter, err error) {
	e := problem.Public(err)
	if e.Code == chat.CodeInternal {
		s.opt.Log.Error("handshake failed", "error", err)
	}
	problem.Write(w, problem.Status(e.Code), e, "")
}

// admit checks a handshake before it costs anything.
func (s *Sessions) admit(w http.ResponseWriter, r *http.Request) (h handshake, err error) {
	if !s.opt.Origins.Allows(r) {
		return h, chat.Errorf(chat.CodeForbidden, "connections from this origin are not allowed")
	}
	if r.URL.RawQuery != "" {
		return h, chat.Errorf(chat.CodeInvalid, "query parameters are not allowed; send the token in the hello or the Authorization header")
	}
	if offered := websocket.Subprotocols(r); len(offered) > 0 && !slices.Contains(offered, Subprotocol) {
		return h, chat.Errorf(chat.CodeInvalid, "the subprotocol must be "+Subprotocol)
	}
	h.from, h.agent = s.opt.Address(r), agentOf(r)
	if h.who, err = s.admitToken(w, r, h.from); err != nil {
		return h, err
	}
	if h.from != peerOf(r) {
		if err := s.opt.Limits.EnterConn(h.from); err != nil {
			return h, err
		}
		h.counted = true
	}
	return h, nil
}

// handshakeCost is what a handshake costs its user, or its address if it carries no valid token.
var handshakeCost = limit.CostOf("openWebsocket", 0)

// admitToken charges a handshake to the user of its token, or to its address. who is nil if there is no token yet.
func (s *Sessions) admitToken(w http.ResponseWriter, r *http.Request, from netip.Addr) (who *auth.Identity, err error) {
	id, err := s.verify.Identify(r, from)
	if err == nil {
		quotas, err := s.opt.Limits.Spend(id.Caller(), handshakeCost)
		quotas.Write(w.Header())
		return &id, err
	}
	quotas, limited := s.opt.Limits.SpendAddress(from, handshakeCost)
	quotas.Write(w.Header())
	if limited != nil {
		return nil, limited
	}
	if r.Header["Authorization"] == nil {
		return nil, nil
	}
	return nil, err
}

func peerOf(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr()
}

func (s *Sessions) leaveAddress(h handshake) {
	if h.counted {
		s.opt.Limits.LeaveConn(h.from)
	}
}

// enter begins a session. full means that the node is at its limit of sessions.
func (s *Sessions) enter() (full bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false, &chat.Error{Code: chat.CodeUnavailable, Message: "restarting", RetryAfter: s.opt.DrainSpread}
	}
	s.wg.Add(1)
	// Sessions that gave way close within a moment. Until then they do not keep others out, unless there are as many of
	// them again.
	return len(s.live)-s.leaving >= s.opt.SessionsNodeMax || len(s.live) >= 2*s.opt.SessionsNodeMax, nil
}

// add counts an open socket, and ends the one that has to give way to it: itself if no other can.
func (s *Sessions) add(one *session, full bool) {
	s.mu.Lock()
	s.live[one] = struct{}{}
	draining, spread := s.draining, s.spread
	var silent, idle *session
	taken := true
	if full || one.handshake.who == nil && len(s.silent) >= s.opt.SilentMax {
		if silent = s.oldestSilentLocked(); silent != nil {
			delete(s.silent, silent)
			s.leaveLocked(silent, "")
			full = false
		}
	}
	switch who := one.handshake.who; {
	case full:
		s.leaveLocked(one, one.claimed())
	case who == nil:
		s.silent[one] = struct{}{}
	default:
		idle, taken = s.holdLocked(one, who.User)
	}
	s.mu.Unlock()

	if silent != nil {
		s.opt.Limits.Count(limit.KindSilent)
		silent.end(ending{code: closeNoHello, reason: "no hello, and others wait", brisk: true})
	}
	s.giveWay(idle)
	switch {
	case draining:
		one.end(restarting(spread))
	case full:
		one.end(ending{code: closeTooMany, reason: "too many sessions on this node", brisk: true})
	case !taken:
		one.end(s.tooMany())
	}
	s.boundClosing(one.claimed())
}

// How many hellos beyond FrameBytesMax may be read at once: 24 MiB of the node, a quarter of that for one address.
const (
	longMax        = 128
	longAddressMax = 32
)

// beginLong counts a long hello and reports whether it may be read; endLong ends it.
func (s *Sessions) beginLong(from netip.Addr) bool {
	key := limit.AddressKey(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.longs >= longMax || s.long[key] >= longAddressMax && !from.IsLoopback() {
		return false
	}
	s.longs++
	s.long[key]++
	return true
}

func (s *Sessions) endLong(from netip.Addr) {
	key := limit.AddressKey(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.longs--
	if s.long[key]--; s.long[key] == 0 {
		delete(s.long, key)
	}
}

// oldestSilentLocked returns the oldest socket without a token, of the address with most of them, that is not handling
// its hello right now; nil if there is none.
func (s *Sessions) oldestSilentLocked() (oldest *session) {
	count := map[netip.Addr]int{}
	for one := range s.silent {
		count[one.from]++
	}
	for one := range s.silent {
		switch {
		case one.busy.Load() > 0:
		case oldest == nil, count[one.from] > count[oldest.from],
			count[one.from] == count[oldest.from] && one.begun.Before(oldest.begun):
			oldest = one
		}
	}
	return oldest
}

// holdLocked counts one among the sockets of user. If idle is not nil, that session has to give way; taken is false if
// there are too many and none is idle.
func (s *Sessions) holdLocked(one *session, user string) (idle *session, taken bool) {
	delete(s.silent, one)
	set := s.held[user]
	if slices.Contains(set, one) {
		return nil, true
	}
	if len(set) >= s.opt.SessionsUserMax {
		now := time.Now()
		for _, other := range set {
			if other.idleAt(now) && (idle == nil || other.lastActed().Before(idle.lastActed())) {
				idle = other
			}
		}
		if idle == nil {
			s.leaveLocked(one, user)
			return nil, false
		}
		set = slices.DeleteFunc(set, func(other *session) bool { return other == idle })
		s.leaveLocked(idle, user)
	}
	s.held[user] = append(set, one)
	one.heldBy = user
	return idle, true
}

// leaveLocked notes that a session is about to close because there are too many, of user if that is not empty. boundClosing must
// follow.
func (s *Sessions) leaveLocked(one *session, user string) {
	if one.leaving {
		return
	}
	one.leaving, one.leavingOf = true, user
	s.leaving++
	if user != "" {
		s.closing[user] = append(s.closing[user], one)
	}
}

// boundClosing lets a user have no more sockets that are about to close than may be open: beyond that, those that began to
// close first are cut off. A client may take its time to read why its socket is closed, and one that connects in a loop would
// fill the node with such sockets.
func (s *Sessions) boundClosing(user string) {
	s.mu.Lock()
	closing := s.closing[user]
	surplus := closing[:max(0, len(closing)-s.opt.SessionsUserMax)]
	if len(surplus) > 0 {
		s.closing[user] = slices.Clone(closing[len(surplus):])
	}
	s.mu.Unlock()
	for _, one := range surplus {
		one.cut()
	}
}

// giveWay ends a session, if any, because its user has a newer one.
func (s *Sessions) giveWay(idle *session) {
	if idle != nil {
		s.opt.Limits.Count(limit.KindSessions)
		idle.end(ending{code: closeTooMany, reason: "too many sessions of this user: this one was idle for longest", brisk: true})
	}
}

func (s *Sessions) tooMany() ending {
	s.opt.Limits.Count(limit.KindSessions)
	return ending{code: closeTooMany, reason: "too many sessions of this user", brisk: true}
}

// greet counts a session that says hello as user's, unless there are too many. The service learns when a user's first
// session begins and the last one ends, in that order.
func (s *Sessions) greet(one *session, user string) bool {
	s.mu.Lock()
	idle, taken := s.holdLocked(one, user)
	if taken {
		if s.users[user]++; s.users[user] == 1 {
			s.notifications.SessionsBegan(user)
		}
		s.settleAwayLocked(user)
	}
	s.mu.Unlock()
	s.giveWay(idle)
	s.boundClosing(user)
	return taken
}

// ungreet stops counting a session as user's; one is nil where it never began.
func (s *Sessions) ungreet(one *session, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one != nil {
		one.departed = true
		if one.away {
			if s.away[user]--; s.away[user] == 0 {
				delete(s.away, user)
			}
		}
	}
	if s.users[user]--; s.users[user] <= 0 {
		delete(s.users, user)
		s.notifications.SessionsEnded(user)
		return
	}
	s.settleAwayLocked(user)
}

// remove forgets a session that has ended.
func (s *Sessions) remove(one *session) {
	s.mu.Lock()
	delete(s.live, one)
	delete(s.silent, one)
	s.releaseLocked(one)
	if one.leaving {
		s.leaving--
		drop(s.closing, one.leavingOf, one)
	}
	s.mu.Unlock()
	s.leaveAddress(one.handshake)
	s.wg.Done()
}

// release stops counting a session that is about to close, so that its client can reconnect at once.
func (s *Sessions) release(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.silent, one)
	s.releaseLocked(one)
}

func (s *Sessions) releaseLocked(one *session) { drop(s.held, one.heldBy, one) }

// drop takes a session off the list of user.
func drop(lists map[string][]*session, user string, one *session) {
	list := slices.DeleteFunc(lists[user], func(other *session) bool { return other == one })
	if len(list) == 0 {
		delete(lists, user)
	} else {
		lists[user] = list
	}
}
