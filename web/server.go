package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/batch"
	"github.com/chatd/chatd/chat/blocks"
	"github.com/chatd/chatd/chat/bulk"
	"github.com/chatd/chatd/chat/buttons"
	"github.com/chatd/chatd/chat/direct"
	"github.com/chatd/chatd/chat/directory"
	"github.com/chatd/chatd/chat/drafts"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/exports"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/chat/health"
	"github.com/chatd/chatd/chat/hook"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/memberdata"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/person"
	"github.com/chatd/chatd/chat/pins"
	"github.com/chatd/chatd/chat/presence"
	"github.com/chatd/chatd/chat/previews"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/quorum"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/chat/threads"
	"github.com/chatd/chatd/chat/users"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/chat/words"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/oidc"
	"github.com/chatd/chatd/web/origin"
	"github.com/chatd/chatd/web/unsent"
)

// SessionHandler serves the websocket route. Count is how many sessions are live.
type SessionHandler interface {
	http.Handler
	Count() int
}

// Options are what a Server needs besides the domain.
type Options struct {
	Limits       chat.Limits
	Callers      *limit.Limits     // what one caller may take; nil: no limits
	Line         *admission.Line   // how many requests are worked on at once; nil: all
	Unsent       *unsent.Budget    // what of answers is in memory for slow clients; nil: anything
	Durability   chat.Durability   // what every send waits for; empty or memory: what the store gives anyway
	Origins      *origin.Policy    // whose pages may call; nil: its own alone
	Proxies      origin.Proxies    // whose forwarded addresses count
	Static       map[string][]byte // the browser client by path, index.html among them; what is below assets/HASH/ never changes; the JavaScript client below sdk/
	Sessions     SessionHandler    // nil: no websocket route
	OpenID       *oidc.Provider    // nil: nobody signs in by OpenID Connect
	Dev          *DevSignIn        // nil: no development sign-in
	Tasks        *admin.Admin      // the background work, for operators
	Doctor       Doctor
	Settings     api.Settings // of this node, for operators
	Ready        func(ctx context.Context) error
	Meter        *health.Meter          // counts requests and messages; nil: for the metrics only
	Again        auth.Again             // asked after keys have changed; see Recheck
	Away         func() []string        // what the server does without at the moment; nil: nothing ever
	Compress     bool                   // JSON answers, for clients that take gzip
	ServeMetrics bool                   // /metrics is on this address, for clients of the same host
	Collectors   []prometheus.Collector // further metrics, served beside the server's own
	Traces       *tracing.Tracer        // nil: nothing is traced
	Version      string                 // of the program
	Features     []string               // what is switched on, as GET /v1/server names it
	Log          *slog.Logger
}

// Doctor examines the store, for operators. Errors are those of package chat.
type Doctor interface {
	// Check looks at the server and the queues, in bounded time.
	Check(ctx context.Context) (api.DoctorReport, error)
	// Begin begins to examine everything, on this node, beside requests. ErrConflict: some node does already.
	Begin(ctx context.Context, repair bool) (api.DoctorRun, error)
	// Latest returns the examination that runs on some node, or the last one. ErrNotFound.
	Latest(ctx context.Context) (api.DoctorRun, error)
	// Stop ends the one that runs within seconds, on whatever node. ErrNotFound.
	Stop(ctx context.Context) error
}

// Services are the parts of the domain that the routes serve.
type Services struct {
	Chat          *chat.Service
	Live          *live.Service
	MemberData    *memberdata.Service
	Blocks        *blocks.Service
	Reviews       *reviews.Service
	Drafts        *drafts.Service
	Pins          *pins.Service
	Quorums       *quorum.Service
	Presence      *presence.Service
	Streams       *stream.Service
	Threads       *threads.Service
	Buttons       *buttons.Service
	Rules         *rules.Service
	Reports       *reports.Service
	Audit         *audit.Service
	Schedules     *schedule.Service
	Announcements *announce.Service
	Notifications *notify.Service
	Webhooks      *webhook.Service
	Hooks         *hook.Service
	Words         *words.Service
	Search        *archive.Searcher
	Erasures      *erase.Service
	Directory     *directory.Service
	Exports       *exports.Service
	Persons       *person.Service
	Files         *files.Service
	Direct        *direct.Service
	Invites       *invite.Service
	Keys          *keys.Service
	Users         *users.Service
	Members       *bulk.Service
	Batches       *batch.Service
	Previews      *previews.Service // nil: links have none
	Profiles      *profiles.Service
	Health        *health.Service
	Accounts      *accounts.Service // nil: nobody signs in here
}

// Server is the HTTP layer. Make one with New.
type Server struct {
	*polls
	opt     Options
	log     *slog.Logger
	routes  routes
	metrics *metrics
	echo    *echo.Echo
}

const websocketPath = "/v1/ws"

// New builds the routes.
func New(services Services, verify auth.Verify, opt Options) *Server {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	opt.Meter = cmp.Or(opt.Meter, &health.Meter{})
	if opt.Origins == nil {
		opt.Origins = origin.New(nil, opt.Proxies, opt.Log)
	}
	e := echo.New()
	s := &Server{polls: newPolls(opt.Limits.WaitMax), opt: opt, log: opt.Log, routes: describedRoutes(), metrics: newMetrics(opt.Sessions, opt.Meter), echo: e}
	s.metrics.registry.MustRegister(opt.Collectors...)
	admits := &admitter{
		verify: verify, again: opt.Again, core: services.Chat, routes: s.routes, limits: &s.opt.Limits, callers: opt.Callers, line: opt.Line, unsent: opt.Unsent,
		address: opt.Proxies.Address, metrics: s.metrics,
	}
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	e.Binder = &binder{int64(opt.Limits.RequestBytesMax), int64(opt.Limits.BatchBytesMax)}
	if opt.Traces != nil {
		e.Use(s.trace)
	}
	e.Use(s.observe, admits.refuseEarly, boundStalls)
	if opt.Compress {
		e.Use(compressAnswers)
	}
	e.Use(s.recoverPanic, secureHeaders, s.cors, admits.admit)
	h := newHandlers(services, s, verify)
	api.RegisterHandlersWithOptions(e, api.NewStrictHandler(h, []api.StrictMiddlewareFunc{settled, inTurn}), api.RegisterHandlersOptions{
		OperationMiddlewares: map[string][]echo.MiddlewareFunc{"sync": {s.longPoll}, "listReceipts": {s.longPoll}, "createFile": {h.tus}, "deleteFile": {h.tus}},
	})
	h.registerFiles(e)
	h.registerAvatars(e)
	if opt.Sessions != nil {
		e.GET(websocketPath, s.websocket)
	}
	if opt.Dev != nil {
		e.POST("/v1/dev/token", s.devToken)
	}
	h.registerAccounts(e)
	openIDHandlers{h.accountHandlers, opt.OpenID}.registerOpenID(e)
	s.registerHealth(e)
	e.POST("/v1/invites/check", inviteHandlers{services.Chat, services.Invites, opt.Origins}.CheckInvite)
	e.GET("/v1/server", s.describe(services))
	if opt.ServeMetrics {
		e.GET("/metrics", s.localMetrics)
	}
	s.registerPages(e)
	return s
}

// websocket hands the connection over. A server that is about to stop takes no new ones.
func (s *Server) websocket(c echo.Context) error {
	if s.draining() {
		return &chat.Error{Code: chat.CodeUnavailable, Message: "restarting", RetryAfter: time.Second}
	}
	s.opt.Sessions.ServeHTTP(c.Response(), c.Request())
	return nil
}

// Handler serves everything.
func (s *Server) Handler() http.Handler { return overrideMethod(answerHead(s.echo)) }

// Admin serves health and metrics alone, for an address of its own that only operators reach.
func (s *Server) Admin() http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	e.Use(s.recoverPanic, secureHeaders)
	s.registerHealth(e)
	e.GET("/metrics", echo.WrapHandler(s.metrics.handler()))
	return answerHead(e)
}

// answerHead answers HEAD wherever GET is answered, as RFC 9110 asks: health checks and link checkers use it. The server
// itself keeps the body back, by the request that it holds.
func answerHead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(context.WithValue(r.Context(), headKey{}, true)) // a copy
			r.Method = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// headKey marks the context of a request that was HEAD.
type headKey struct{}

func isHead(r *http.Request) bool { return r.Context().Value(headKey{}) != nil }

// Deadlines of the HTTP server. Routes that wait longer (sync, the websocket) extend their own.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 15 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = 75 * time.Second
	headerBytesMax = 32 << 10 // a token of up to 16 KiB, and what browsers and proxies add
)

// NewHTTPServer returns a server for h with a deadline on everything a client can hold up.
func NewHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytesMax,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
