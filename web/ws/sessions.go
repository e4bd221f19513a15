package ws

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/health"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/previews"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/quorum"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/chat/users"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/origin"
	"github.com/chatd/chatd/web/unsent"
)

// Subprotocol is the one protocol of the websocket route.
const Subprotocol = "chatd.v1"

// SessionOptions bound what sessions may use. Zero fields get the defaults named beside them.
type SessionOptions struct {
	SessionsUserMax int // live sessions of a user on this node; 20
	SessionsNodeMax int // live sessions on this node; 10,000
	SilentMax       int // sockets without a token, until their hello; half of SessionsNodeMax, which leaves room for a burst
	FrameBytesMax   int // one message from a client; 64 KiB
	HelloBytesMax   int // the same until an accepted hello, for few sockets at once; 256 KiB: positions in 1,000 groups

	HelloWithin time.Duration // from the handshake to an accepted hello; 10 s
	PingEvery   time.Duration // 25 s; each socket subtracts up to a fifth
	PongWithin  time.Duration // 10 s
	StallAfter  time.Duration // a client that reads nothing for this long is closed; 30 s
	CloseWithin time.Duration // for the close frame, and the last answers before it; 5 s
	CallWithin  time.Duration // one command; 10 s
	DrainSpread time.Duration // a drain spreads the closing of sockets over at most this; 10 s

	FramesPerSecond float64 // of one socket, sustained; 500
	FramesBurst     int     // of one socket, at once; 2,000

	Origins    *origin.Policy // whose pages may connect; nil: those of the server's own origin
	Durability chat.Durability
	// Address returns the client's address, if a proxy is in front; nil: that of the connection.
	Address func(*http.Request) netip.Addr
	// Again tells whether a caller who was let in still would be; nil: everybody would. See Recheck.
	Again  auth.Again
	Limits *limit.Limits   // on each caller; nil: none
	Meter  *health.Meter   // counts messages; nil: nothing is counted
	Line   *admission.Line // where commands wait for their turn; nil: none
	Unsent *unsent.Budget  // what welcomes may hold for clients that do not take them; nil: no bound
	Traces *tracing.Tracer // nil: nothing is traced
	Log    *slog.Logger
}

// Control frames of a client: a ping costs an answer and a pong nothing, but nobody needs a flood of them.
const (
	controlPerSecond = 10
	controlBurst     = 100
)

// A command that a rate limit refuses is answered with an error that says when to retry. A client that goes on
// regardless is closed with 4429. The burst spares a client that had sent many commands before it got the first
// refusal.
const (
	refusalsPerSecond = 10
	refusalsBurst     = 200
)

func (o *SessionOptions) setDefaults() {
	o.Meter = cmp.Or(o.Meter, &health.Meter{})
	o.SessionsUserMax = cmp.Or(o.SessionsUserMax, 20)
	o.SessionsNodeMax = cmp.Or(o.SessionsNodeMax, 10_000)
	o.SilentMax = cmp.Or(o.SilentMax, max(1, o.SessionsNodeMax/2))
	o.FrameBytesMax = cmp.Or(o.FrameBytesMax, 64<<10)
	o.HelloBytesMax = cmp.Or(o.HelloBytesMax, 256<<10)
	o.HelloWithin = cmp.Or(o.HelloWithin, 10*time.Second)
	o.PingEvery = cmp.Or(o.PingEvery, 25*time.Second)
	o.PongWithin = cmp.Or(o.PongWithin, 10*time.Second)
	o.StallAfter = cmp.Or(o.StallAfter, 30*time.Second)
	o.CloseWithin = cmp.Or(o.CloseWithin, 5*time.Second)
	o.CallWithin = cmp.Or(o.CallWithin, 10*time.Second)
	o.DrainSpread = cmp.Or(o.DrainSpread, 10*time.Second)
	o.FramesPerSecond = cmp.Or(o.FramesPerSecond, 500)
	o.FramesBurst = cmp.Or(o.FramesBurst, 2000)
	if o.Address == nil {
		o.Address = peerOf
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Origins == nil {
		o.Origins = origin.New(nil, nil, o.Log)
	}
}

// Sessions are the live websockets of one node. It is the http.Handler of GET /v1/ws.
//
// Its lock guards only counts and the set of sessions; nobody writes to a socket or waits while holding it.
type Sessions struct {
	service       *chat.Service
	readers       *live.Service
	schedules     *schedule.Service
	streams       *stream.Service
	quorums       *quorum.Service
	notifications *notify.Service
	profiles      *profiles.Service
	previews      *previews.Service
	verify        auth.Verify
	opt           SessionOptions
	upgrader      websocket.Upgrader

	relieved atomic.Int64 // when relieve looked last, Unix ms
	queue    *runQueue

	wg       sync.WaitGroup
	mu       sync.Mutex
	live     map[*session]struct{}
	silent   map[*session]struct{} // sessions without a token
	held     map[string][]*session // sessions with one, by user
	users    map[string]int        // of those, how many said hello
	away     map[string]int        // of these, how many say that nothing is open
	leaving  int                   // sessions of live that are about to close because there are too many
	closing  map[string][]*session // of those, the ones of each user, the first that began to close in front
	long     map[netip.Prefix]int  // frames beyond FrameBytesMax that are being read, by address
	longs    int                   // of all addresses
	draining bool
	spread   time.Duration // of the drain: over how long its clients should reconnect
}

// Services are the parts of the domain that sessions use.
type Services struct {
	Chat          *chat.Service
	Live          *live.Service
	Schedules     *schedule.Service
	Streams       *stream.Service
	Quorums       *quorum.Service
	Notifications *notify.Service
	Profiles      *profiles.Service
	Previews      *previews.Service // nil: links have none
}

// NewSessions makes the handler of the websocket route. Stop it with Drain.
func NewSessions(services Services, verify auth.Verify, opt SessionOptions) *Sessions {
	opt.setDefaults()
	s := &Sessions{
		service: services.Chat, readers: services.Live, schedules: services.Schedules, streams: services.Streams, quorums: services.Quorums, notifications: services.Notifications, profiles: services.Profiles, previews: services.Previews,
		queue: newRunQueue(), verify: verify, opt: opt, long: map[netip.Prefix]int{},
		live: map[*session]struct{}{}, silent: map[*session]struct{}{}, held: map[string][]*session{}, users: map[string]int{}, away: map[string]int{},
		closing: map[string][]*session{},
		upgrader: websocket.Upgrader{
			HandshakeTimeout: 5 * time.Second,
			ReadBufferSize:   512, // a live session holds this while it waits for data
			WriteBufferSize:  4096,
			WriteBufferPool:  &sync.Pool{},
			Subprotocols:     []string{Subprotocol},
			CheckOrigin:      func(*http.Request) bool { return true }, // admit checks it, with an answer of our own
		},
	}
	s.upgrader.Error = func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
		if status == http.StatusMethodNotAllowed || status == http.StatusBadRequest || status == http.StatusUpgradeRequired {
			reason = chat.Errorf(chat.CodeInvalid, "this route accepts only websocket handshakes, version 13")
		}
		s.refuse(w, reason)
	}
	return s
}

// Count returns how many sockets are open, including those that have not said hello.
func (s *Sessions) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live)
}

// Users returns the users with a live session here, in no order.
func (s *Sessions) Users() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	users := make([]string, 0, len(s.users))
	for u := range s.users {
		users = append(users, u)
	}
	return users
}

func (s *Sessions) snapshot() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*session, 0, len(s.live))
	for one := range s.live {
		list = append(list, one)
	}
	return list
}

// People are the users who have a session with a token of theirs. Some may be there more than once.
func (s *Sessions) People() []string {
	var list []string
	for _, one := range s.snapshot() {
		one.mu.Lock()
		if one.hello && one.who.Key == nil {
			list = append(list, one.who.User)
		}
		one.mu.Unlock()
	}
	return list
}

// drainRate is how many sockets per second a drain closes, at least.
const drainRate = 500

// Recheck ends the sessions of callers who would no longer be let in, with 4401: it is called after keys have changed.
func (s *Sessions) Recheck() {
	for _, one := range s.snapshot() {
		one.recheck()
	}
}

// RecheckUsers ends the sessions of these users whose callers would no longer be let in: with 4401 where the token was revoked,
// with 4403 where the user is disabled.
func (s *Sessions) RecheckUsers(users []string) {
	for _, user := range users {
		for _, one := range s.of(user) {
			one.recheck()
		}
	}
}

// Disconnect closes the sockets of a user with 4408.
func (s *Sessions) Disconnect(user string) {
	for _, one := range s.of(user) {
		one.end(ending{code: closeDisconnected, reason: "disconnected on request"})
	}
}

// SessionsOf lists the sessions of a user on this node. Node is left out.
func (s *Sessions) SessionsOf(user string) []users.Session {
	var list []users.Session
	for _, one := range s.of(user) {
		v := users.Session{ID: one.id, Since: chat.TimeMs(one.begun.UnixMilli()), Address: one.from.String(), Agent: one.agent}
		if f := one.started.Load(); f != nil {
			v.Groups = f.Groups()
		}
		list = append(list, v)
	}
	return list
}

// of are the sockets with a token of a user.
func (s *Sessions) of(user string) []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.held[user])
}

// Drain refuses new sockets and closes the open ones with 1012, spread over DrainSpread (less if there are few), so
// that they do not all reconnect at once. It returns when every session has ended; if ctx ends first, it cuts off the
// rest.
func (s *Sessions) Drain(ctx context.Context) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	list := s.snapshot()
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	spread := min(s.opt.DrainSpread, time.Duration(len(list))*time.Second/drainRate)
	s.mu.Lock()
	s.spread = spread
	s.mu.Unlock()
	ticks := time.NewTimer(0)
	defer ticks.Stop()
	for i, one := range list {
		select {
		case <-ticks.C:
			ticks.Reset(spread / time.Duration(len(list)))
		case <-ctx.Done():
			for _, late := range list[i:] {
				late.cut()
			}
		}
		one.end(restarting(spread)) // a handful may reconnect soon
	}
	defer s.queue.close()
	done := make(chan struct{})
	go func() { s.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		for _, one := range s.snapshot() {
			one.cut()
		}
		<-done
	}
}

func (o *SessionOptions) frameLimiter() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(o.FramesPerSecond), o.FramesBurst)
}
