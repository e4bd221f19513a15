package limit

import (
	"context"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/cache"
)

// Options are the limits of a node. Zero: no such limit.
type Options struct {
	User, Send, IP Rate
	Calls          int  // under way of a user
	Polls          int  // waiting, of a user
	Conns          int  // connections of an address
	LoopbackRate   bool // whether IP also applies to addresses of this host
	LoopbackConns  bool // whether Conns does
	Now            func() time.Time
}

// callsWait is how long a call waits for its turn if its user has as many under way as allowed. callsWaiting is how many
// may wait, as a multiple of those under way. So a burst is served, and only a flood is refused.
const (
	callsWait    = time.Second
	callsWaiting = 16
	atOnceRetry  = time.Second // when to come back after a refusal by count: nobody can know when a call will end
)

// Limits are the limits of a node, shared by HTTP and websocket. A nil *Limits does not limit anything.
type Limits struct {
	opt     Options
	user    *buckets[string]
	send    *buckets[string]
	ip      *buckets[netip.Prefix]
	calls   *atOnce[string]
	polls   *atOnce[string]
	conns   *atOnce[netip.Prefix]
	indexes *cache.Cache[string, int] // how many groups each user is in, as a call has found
	keys    keyRates
	refused *prometheus.CounterVec
}

// New makes the limits of a node.
func New(opt Options) *Limits {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	begin := opt.Now()
	now := func() time.Duration { return opt.Now().Sub(begin) }
	return &Limits{
		opt:     opt,
		user:    newBuckets[string](kindUser, opt.User, now),
		send:    newBuckets[string](kindSend, opt.Send, now),
		ip:      newBuckets[netip.Prefix](kindIP, opt.IP, now),
		calls:   newAtOnce[string](opt.Calls, callsWait, opt.Calls*callsWaiting),
		polls:   newAtOnce[string](opt.Polls, 0, 0),
		conns:   newAtOnce[netip.Prefix](opt.Conns, 0, 0),
		keys:    keyRates{now: now, all: map[string]*buckets[string]{}},
		indexes: cache.New[string, int](bucketsMax),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chatd_limited_total", Help: "Calls refused, and sockets closed, by a limit on one caller.",
		}, []string{"limit"}),
	}
}

// Metrics counts refusals by limit, never by user or address.
func (l *Limits) Metrics() prometheus.Collector { return l.refused }

// Count counts a refusal that someone else decided.
func (l *Limits) Count(kind string) {
	if l != nil {
		l.refused.WithLabelValues(kind).Inc()
	}
}

// Spend charges a call to its caller. Its error is rate_limited: the call must not be carried out. Operators are exempt.
func (l *Limits) Spend(by chat.Caller, c Cost) (Quotas, error) {
	if l == nil || by.Admin {
		return nil, nil
	}
	quotas := make(Quotas, 0, 2)
	if l.user != nil && c.User > 0 {
		quotas = append(quotas, charge(l.user, by.User, c.User))
	}
	if l.send != nil && c.Send > 0 && quotas.err() == nil {
		quotas = append(quotas, charge(l.send, by.User, c.Send))
	}
	return quotas, l.counted(quotas)
}

// unknownGroups is how many groups a caller is taken to have of whom that is not known yet, when calls at once are counted.
const unknownGroups = 2500

// GroupsOf returns how many groups a user is in, as a call has found; 0: none has yet.
func (l *Limits) GroupsOf(user string) int {
	if l == nil {
		return 0
	}
	n, _ := l.indexes.Get(user)
	return n
}

// Weigh is how many units the node should count a call of user as while it is at work: what it costs, with the most that it
// may have to look at in the user's groups.
func (l *Limits) Weigh(user string, c Cost) int {
	if l == nil || c.index == 0 {
		return c.User
	}
	n, known := l.indexes.Get(user)
	if !known {
		n = unknownGroups
	}
	return c.User + Groups(c.index*n).User
}

// Index is what a call that costs c pays for all groups of its caller, as many as an earlier call has found.
func (l *Limits) Index(by chat.Caller, c Cost) Cost {
	if l == nil || c.index == 0 {
		return Cost{}
	}
	return Groups(l.GroupsOf(by.User))
}

// Settle charges a call that has paid paid for the groups that it looked at, once they are counted: what is missing is a debt
// that later calls wait for, and what was too much is given back.
func (l *Limits) Settle(by chat.Caller, paid Cost, m *chat.Meter) Quotas {
	if l == nil {
		return nil
	}
	if n, ok := m.Index(); ok {
		l.indexes.Put(by.User, n)
	}
	missing := Groups(m.Groups()).User - paid.User
	if l.user == nil || by.Admin || missing == 0 {
		return nil
	}
	if missing < 0 {
		l.user.give(by.User, -missing)
		missing = 0
	}
	left, full := l.user.owe(by.User, missing)
	return Quotas{{limit: l.user.name, policy: l.user.policy, left: left, full: full}}
}

// SpendAddress charges a call that carries no valid token to the address it comes from.
func (l *Limits) SpendAddress(from netip.Addr, c Cost) (Quotas, error) {
	if l == nil || l.ip == nil || c.User == 0 || free(from, l.opt.LoopbackRate) {
		return nil, nil
	}
	quotas := Quotas{charge(l.ip, AddressKey(from), c.User)}
	return quotas, l.counted(quotas)
}

// RefundAddress returns what was charged for a call that turned out to carry a valid token.
func (l *Limits) RefundAddress(from netip.Addr, c Cost) {
	if l != nil && l.ip != nil && !free(from, l.opt.LoopbackRate) {
		l.ip.give(AddressKey(from), c.User)
	}
}

func charge[K comparable](b *buckets[K], key K, cost int) Quota {
	left, full, wait := b.take(key, cost)
	return Quota{limit: b.name, policy: b.policy, left: left, full: full, refused: wait}
}

func (l *Limits) counted(q Quotas) error {
	err := q.err()
	if err != nil {
		l.Count(q[len(q)-1].limit)
	}
	return err
}

// EnterCall counts a call of a user; it may wait for its turn. Unless the call was refused, LeaveCall ends it.
func (l *Limits) EnterCall(ctx context.Context, by chat.Caller) error {
	if l == nil || by.Admin || l.calls.enter(ctx, by.User) {
		return nil
	}
	l.Count(kindCalls)
	return refusal(texts[kindCalls], atOnceRetry)
}

// LeaveCall ends a call.
func (l *Limits) LeaveCall(by chat.Caller) {
	if l != nil && !by.Admin {
		l.calls.leave(by.User)
	}
}

// EnterPoll counts a poll of a user that is about to wait; LeavePoll ends it.
func (l *Limits) EnterPoll(ctx context.Context, by chat.Caller) error {
	if l == nil || by.Admin || l.polls.enter(ctx, by.User) {
		return nil
	}
	l.Count(kindPolls)
	return refusal(texts[kindPolls], atOnceRetry)
}

// LeavePoll ends a poll.
func (l *Limits) LeavePoll(by chat.Caller) {
	if l != nil && !by.Admin {
		l.polls.leave(by.User)
	}
}

// EnterConn counts a connection of an address; LeaveConn ends it.
func (l *Limits) EnterConn(from netip.Addr) error {
	if l == nil || free(from, l.opt.LoopbackConns) || l.conns.enter(context.Background(), AddressKey(from)) {
		return nil
	}
	l.Count(kindConns)
	return refusal(texts[kindConns], atOnceRetry)
}

// LeaveConn ends a connection.
func (l *Limits) LeaveConn(from netip.Addr) {
	if l != nil && !free(from, l.opt.LoopbackConns) {
		l.conns.leave(AddressKey(from))
	}
}

// free reports whether an address is not limited. Requests from this host come from a proxy or from someone working on the
// host, and a limit would hit everybody behind the proxy.
func free(from netip.Addr, limited bool) bool { return !limited && from.Unmap().IsLoopback() }

// AddressKey is what counts as one address: a whole IPv4 address, or the first 64 bits of an IPv6 address. That is the
// smallest network that providers assign; users choose the rest freely.
func AddressKey(from netip.Addr) netip.Prefix {
	from = from.Unmap().WithZone("")
	bits := 32
	if from.Is6() {
		bits = 64
	}
	key, _ := from.Prefix(bits) // all invalid addresses share the zero Prefix
	return key
}
