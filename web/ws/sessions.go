package ws

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/limit"
)

// Subprotocol is the one protocol of the websocket route.
const Subprotocol = "chatd.v1"

// SessionOptions bound what sessions may take. Zero fields get the defaults that stand behind them.
type SessionOptions struct {
	SessionsUserMax int // live sessions of a user on this node; 20
	SessionsNodeMax int // live sessions on this node; 10,000
	SilentMax       int // sockets without a token, which is to come with the hello; half of SessionsNodeMax: a burst has room
	FrameBytesMax   int // one message of a client; 64 KiB

	HelloWithin time.Duration // from the handshake to a hello that holds; 10 s
	PingEvery   time.Duration // 25 s; each socket takes up to a fifth less
	PongWithin  time.Duration // 10 s
	StallAfter  time.Duration // a client that takes nothing for so long is closed; 30 s
	CloseWithin time.Duration // for the close frame, and for the last answers before it; 5 s
	CallWithin  time.Duration // one command; 10 s
	DrainSpread time.Duration // over which a drain closes sockets, at most; 10 s

	FramesPerSecond float64 // of one socket, lasting; 500
	FramesBurst     int     // of one socket, at once; 2,000

	Origins    []string // exact origins of other sites that may connect; the own one needs no entry
	Durability chat.Durability
	// Scheme tells how the client reached this server, where a proxy in front ends TLS; nil: by the connection itself.
	Scheme func(*http.Request) string
	// Address tells the client's address, where a proxy is in front; nil: that of the connection.
	Address func(*http.Request) netip.Addr
	Limits  *limit.Limits   // on one caller; nil: none
	Line    *admission.Line // that commands wait in for their turn; nil: none
	Log     *slog.Logger
}

// Control frames of a client: pings and pongs cost an answer or nothing, but a flood of them is no use to anyone.
const (
	controlPerSecond = 10
	controlBurst     = 100
)

// What a rate limit refuses is answered with an error that says when to come back. A client that does not stop is closed
// with 4429: one that has sent many commands before it got the first refusal is not meant.
const (
	refusalsPerSecond = 10
	refusalsBurst     = 200
)

func defaultTo[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o *SessionOptions) setDefaults() {
	defaultTo(&o.SessionsUserMax, 20)
	defaultTo(&o.SessionsNodeMax, 10_000)
	defaultTo(&o.SilentMax, max(1, o.SessionsNodeMax/2))
	defaultTo(&o.FrameBytesMax, 64<<10)
	defaultTo(&o.HelloWithin, 10*time.Second)
	defaultTo(&o.PingEvery, 25*time.Second)
	defaultTo(&o.PongWithin, 10*time.Second)
	defaultTo(&o.StallAfter, 30*time.Second)
	defaultTo(&o.CloseWithin, 5*time.Second)
	defaultTo(&o.CallWithin, 10*time.Second)
	defaultTo(&o.DrainSpread, 10*time.Second)
	defaultTo(&o.FramesPerSecond, 500)
	defaultTo(&o.FramesBurst, 2000)
	if o.Address == nil {
		o.Address = peerOf
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Sessions are the live websockets of one node. It is the http.Handler of GET /v1/ws.
//
// Its lock guards counts and the set of sessions only; nothing is written to a socket under it, and nothing waits.
type Sessions struct {
	service       *chat.Service
	readers       *live.Service
	schedules     *schedule.Service
	notifications *notify.Service
	verify        auth.Verify
	opt           SessionOptions
	origins       map[string]bool
	upgrader      websocket.Upgrader

	relieved atomic.Int64 // when relieve looked last, Unix ms

	wg       sync.WaitGroup
	mu       sync.Mutex
	live     map[*session]struct{}
	silent   map[*session]struct{}            // those without a token
	held     map[string]map[*session]struct{} // those with one, by user
	users    map[string]int                   // of them, sessions that said hello
	leaving  int                              // of live: those that gave way to a newer one
	draining bool
	spread   time.Duration // of the drain: over how long its clients are to come back
}

// Services are the parts of the domain that sessions serve.
type Services struct {
	Chat          *chat.Service
	Live          *live.Service
	Schedules     *schedule.Service
	Notifications *notify.Service
}

// NewSessions makes the handler of the websocket route. Stop it with Drain.
func NewSessions(services Services, verify auth.Verify, opt SessionOptions) *Sessions {
	opt.setDefaults()
	s := &Sessions{
		service: services.Chat, readers: services.Live, schedules: services.Schedules, notifications: services.Notifications,
		verify: verify, opt: opt, origins: map[string]bool{},
		live: map[*session]struct{}{}, silent: map[*session]struct{}{}, held: map[string]map[*session]struct{}{}, users: map[string]int{},
		upgrader: websocket.Upgrader{
			HandshakeTimeout: 5 * time.Second,
			ReadBufferSize:   512, // a live session waits in a read: this is what it holds
			WriteBufferSize:  4096,
			WriteBufferPool:  &sync.Pool{},
			Subprotocols:     []string{Subprotocol},
			CheckOrigin:      func(*http.Request) bool { return true }, // checked before, with an answer of our own
		},
	}
	s.upgrader.Error = func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
		if status == http.StatusMethodNotAllowed || status == http.StatusBadRequest || status == http.StatusUpgradeRequired {
			reason = chat.Errorf(chat.CodeInvalid, "this route accepts only websocket handshakes, version 13")
		}
		s.refuse(w, reason)
	}
	for _, o := range opt.Origins {
		s.origins[o] = true
	}
	return s
}

// Count is how many sockets are open, also those that have not said hello.
func (s *Sessions) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live)
}

// Users are those with a live session here, in no order.
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

// originAllowed holds for clients that are no browsers (no Origin; tokens never come by themselves, as cookies would), for
// the own origin and for those configured, each compared whole.
func (s *Sessions) originAllowed(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	if s.origins[values[0]] {
		return true
	}
	u, err := url.Parse(values[0])
	if err != nil {
		return false
	}
	scheme := "http"
	if s.opt.Scheme != nil {
		scheme = s.opt.Scheme(r)
	} else if r.TLS != nil {
		scheme = "https"
	}
	return u.Scheme == scheme && strings.EqualFold(u.Host, r.Host) && values[0] == u.Scheme+"://"+u.Host
}

// drainRate is how many sockets a second a drain closes at least.
const drainRate = 500

// Drain refuses new sockets and closes the open ones with 1012, spread over DrainSpread (less where there are few), so
// that they do not all come back at once. It returns when every session has ended; when ctx ends first, what is left is
// cut off.
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
		one.end(restarting(spread)) // a handful need not be kept away for long
	}
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
