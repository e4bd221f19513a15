package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
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
	"github.com/chatd/chatd/chat/expiry"
	"github.com/chatd/chatd/chat/exports"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/chat/health"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/memberdata"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/person"
	"github.com/chatd/chatd/chat/pins"
	"github.com/chatd/chatd/chat/presence"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/quorum"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/retention"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/chat/threads"
	"github.com/chatd/chatd/chat/users"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/chat/words"
	"github.com/chatd/chatd/internal/build"
	"github.com/chatd/chatd/internal/deliver"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/queue/metrics"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
	"github.com/chatd/chatd/web"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/origin"
	"github.com/chatd/chatd/web/unsent"
	"github.com/chatd/chatd/web/ws"
)

// Node is one running chatd. Open makes it, Run serves until its context ends, Close releases everything.
type Node struct {
	set         settings
	log         *slog.Logger
	causes      *causeLog
	output      *output         // of the log
	traces      *tracing.Tracer // nil: nothing is traced
	store       opened
	archiveDB   *sqlarchive.Store // nil without an archive
	archiver    *archive.Archiver
	blobs       files.Blobs // nil without files
	retention   *retention.Service
	expiry      *expiry.Service
	clock       *expiry.Clock // of the store
	sender      *deliver.Sender
	services    web.Services
	tasks       *queue.Server
	taskAdmin   *admin.Admin
	taskMetrics *metrics.Metrics
	hookMetrics hookMetrics
	watch       *storeWatch
	meter       health.Meter
	verifier    *auth.Verifier
	gate        *auth.Gate
	tables      *table.Follower
	callers     *limit.Limits
	sessions    *ws.Sessions
	doctor      doctorDesk
	web         *web.Server
	listener    net.Listener
	admin       net.Listener // nil without a separate address
	made        bool         // this start generated the secret
	devCode     string       // of the development sign-in; empty if that is off
}

// Open checks the configuration, opens the store and listens. Nothing is served before Run.
func Open(ctx context.Context, c Config, output io.Writer) (n *Node, err error) {
	set, err := c.check()
	if err != nil {
		return nil, err
	}
	lines := newOutput(output, func(w io.Writer, left int) {
		newLogger(set, w).Warn("the output did not take the log in time: lines are missing here", "lines", left)
	})
	causes := newCauseLog()
	n = &Node{set: set, log: causes.over(newLogger(set, lines), false), causes: causes, output: lines}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if set.Tracing == "otlp" {
		if n.traces, err = tracing.Open(ctx, n.log); err != nil {
			return n, fmt.Errorf("CHATD_TRACING: %w", err)
		}
	}
	if err := n.openTokens(ctx); err != nil {
		return n, err
	}
	if err := n.openStore(ctx); err != nil {
		return n, err
	}
	if err := n.openArchive(ctx); err != nil {
		return n, err
	}
	if err := n.openFiles(ctx); err != nil {
		return n, err
	}
	n.sender = deliver.New(deliver.Options{Allow: set.egress, PushHosts: set.PushHosts})
	n.clock = expiry.NewClock(n.store.Clock)
	if err := n.clock.Ask(ctx); err != nil {
		return n, fmt.Errorf("the clock of the store: %w", err)
	}
	n.openServices()
	if err := n.tables.Load(ctx); err != nil {
		return n, fmt.Errorf("the tables of the store: %w", err)
	}
	if n.services.Accounts != nil {
		if err := n.services.Accounts.Prepare(ctx); err != nil {
			return n, fmt.Errorf("the setup of accounts: %w", err)
		}
	}
	if err := n.retention.Switch(ctx); err != nil {
		return n, fmt.Errorf("CHATD_RETAIN_DAYS: %w", err)
	}
	if err := n.services.Directory.Prepare(ctx); err != nil {
		return n, fmt.Errorf("the list of groups: %w", err)
	}
	if err := n.openTasks(); err != nil {
		return n, err
	}
	if err := n.openWeb(); err != nil {
		return n, err
	}
	var lc net.ListenConfig
	if n.listener, err = lc.Listen(ctx, "tcp", set.Addr); err != nil {
		return n, fmt.Errorf("CHATD_ADDR: %w", err)
	}
	n.listener = n.callers.Listen(n.listener, set.proxies)
	if set.AdminAddr != "" {
		if n.admin, err = lc.Listen(ctx, "tcp", set.AdminAddr); err != nil {
			return n, fmt.Errorf("CHATD_ADMIN_ADDR: %w", err)
		}
	}
	return n, nil
}

// openTokens finds the keys for tokens. With the embedded store, the first start generates a secret if none is
// configured, or if the development sign-in needs one.
func (n *Node) openTokens(ctx context.Context) (err error) {
	if len(n.set.secrets) == 0 && n.set.Redis == "" && (n.set.JWTJWKS == "" || n.set.dev) {
		secret, made, err := keepSecret(n.set.Data)
		if err != nil {
			return err
		}
		n.set.secrets, n.made = [][]byte{secret}, made
	}
	n.verifier, err = n.set.newVerifier(ctx, n.log)
	return err
}

func (n *Node) openStore(ctx context.Context) (err error) {
	log := n.causes.over(newLogger(n.set, n.output), true)
	if n.store, err = n.set.open(ctx, store.Options{Log: log, Traces: n.traces}, log); err != nil {
		return err
	}
	n.causes.writable = n.store.Conn().Writable
	n.watch = newStoreWatch(n.store.Conn().Conditions, n.log)
	return nil
}

// openServices makes the services of the domain, each over the core.
func (n *Node) openServices() {
	var groups chat.Store = n.store
	var logs live.Store = n.store
	// Without an archive, these are nil.
	var authors erase.Archive
	var written person.Archive
	var searched archive.Store
	var aging retention.Archive
	if n.archiveDB != nil {
		authors, written, searched, aging = authorsArchive{n.archiveDB, n.archiver}, n.archiveDB, n.archiveDB, n.archiver
		serving := archive.Serve(n.store, n.archiveDB, n.archiver.CatchUp, n.set.limits)
		groups, logs = serving, archivedStore{n.store, serving}
	}
	stored := groups // with what has to be gone by now
	groups = chat.Living(groups, n.clock.NowMs)
	n.expiry = expiry.New(n.store.Expiry, stored, n.clock, n.log)
	n.hookMetrics = newHookMetrics()
	hooks := n.hookMetrics.hooks(n)
	listed := words.New(n.store.Tables, n.store.Groups, hooks, n.log)
	core := chat.New(groups, chat.Options{Before: listed, Limits: n.set.limits, Direct: chat.DirectPolicy(n.set.Direct), Add: chat.AddPolicy(n.set.Add), StoreNow: n.clock.NowMs,
		Hides: func(user string) bool { return n.services.Profiles.Receipts.Hides(user) }, Log: n.log})
	listed.Core = core
	n.retention = retention.New(retainedStore{n.store, groups}, aging, retention.Options{Days: int64(n.set.RetainDays.value()), Log: n.log})
	webhooks := webhook.New(core, n.store.Webhooks, n.sender)
	schedules := schedule.New(core, n.store.Schedules, webhooks)
	exports, noted, blocked := exports.New(core, groups), memberdata.New(core, n.store.Groups), blocks.New(core, n.store.Blocks)
	readers := live.New(core, logs)
	notifications := notify.New(core, notifyStore{n.store.Notifications, n.store.Inboxes, n.store.Logs, n.store.Threads, n.store.Tasks, n.clock.NowMs}, notify.Options{
		Delay: n.set.NotifyDelay.value(), Pusher: n.sender, Disabled: func(user string) bool { return n.services.Users.Disabled(user) },
		Name:    func(ctx context.Context, user string) string { return n.services.Profiles.Name(ctx, user) },
		Blocked: blocked.Of, Opened: readers,
	})
	decided := users.New(usersStore{n.store.Tables, n.store.Notifications}, users.Options{Node: notifications.Node(), Now: time.Now, Log: n.log})
	kept := files.New(core, n.store.Files, n.blobs, files.Options{SizeMax: int64(n.set.FileMax.value()), Sole: n.store.server != nil, Log: n.log})
	shown := profiles.New(profilesStore{n.store.Profiles, n.store.Tables}, decided, profiles.Options{
		Directory: profiles.Directory(n.set.Directory), Claims: n.set.JWTProfile, Draw: kept.Avatar, Now: time.Now, Log: n.log,
	})
	webhooks.Profiles = shown.Names
	readers.ServeHere(notifications.Node(), n.store.Hidden)
	invites, decisions := n.openInvites(core, shown), rules.New(core, ruleStore{n.store.Groups, n.store.Pins, n.store.Tasks}, groups, webhooks)
	reported, reviewed := reports.New(core, n.store.Reports, groups, decisions, webhooks), reviews.New(core, n.store.Reviews, schedules, webhooks)
	n.services = web.Services{
		Erasures:      erase.New(core, eraseStore{n.store.Erasures, n.store.Files, n.store.Groups, n.store.Audits, n.store.Pins}, stored, authors, n.store.Schedules, webhooks, invites.Erase, decided.Erase, shown.Receipts.Erase, blocked.Erase, reviewed.Erase, n.endLogins),
		Directory:     directory.New(core, directoryStore{n.store.Directory, n.store.Groups, n.store.Index, n.store.Tasks}),
		Exports:       exports,
		Chat:          core,
		Files:         kept,
		Live:          readers,
		MemberData:    noted,
		Blocks:        blocked,
		Drafts:        drafts.New(core, n.store.Drafts),
		Streams:       stream.New(core, n.store.Streams, groups, n.set.StreamLongest.value()),
		Buttons:       buttons.New(core, n.store.Buttons, groups, webhooks),
		Pins:          pins.New(core, n.store.Pins, groups),
		Quorums:       quorum.New(core, n.store.Quorums, groups, readers, webhooks),
		Presence:      presence.New(core, presenceStore{n.store.Notifications, n.store.Profiles}, shown),
		Threads:       threads.New(core, n.store.Threads, groups),
		Rules:         decisions,
		Reports:       reported,
		Reviews:       reviewed,
		Audit:         audit.New(core, n.store.Audits),
		Schedules:     schedules,
		Announcements: announce.New(core, announceStore{n.store.Announcements, n.store.Schedules}),
		Notifications: notifications,
		Webhooks:      webhooks,
		Hooks:         hooks,
		Words:         listed,
		Direct:        direct.New(core, n.store.Groups, blocked),
		Invites:       invites,
		Keys:          n.openKeys(),
		Users:         decided,
		Profiles:      shown,
		Search:        archive.NewSearcher(core, n.store.Archive, searched, n.archiver.CatchUp),
		Batches:       batch.New(core, n.store.Logs), Members: bulk.New(core, n.store.Groups),
	}
	n.services.Health = n.openHealth()
	n.services.Previews = openPreviews(n)
	schedules.Failed, schedules.Failures, schedules.Waiting = n.noteFailed, n.failedSchedules, n.waitingSchedules
	n.gate = &auth.Gate{Tokens: n.verifier, Keys: n.services.Keys, Users: n.services.Users, Profiles: shown}
	n.tables = table.Follow(n.store.Tables, n.log, n.services.Keys.Table(), n.services.Users.Users(), n.services.Users.Asks(),
		shown.Published(), shown.Receipts.Table(), n.services.Invites.Table(), hooks.Table(), listed.Table(), listed.Groups())
	n.openAccounts()
	n.services.Persons = person.New(core, person.Sources{Exports: exports, Threads: n.services.Threads, MemberData: noted, Blocks: blocked, Drafts: n.services.Drafts, Reports: reported, Reviews: reviewed, Schedules: schedules, Notifications: notifications,
		Profiles: shown, Accounts: n.services.Accounts, Invites: invites, Users: decided, Archive: written})
}

// openKeys makes the service of keys.
func (n *Node) openKeys() *keys.Service {
	return keys.New(n.store.Tables, keys.Options{
		Page: n.set.limits.Page,
		CheckRate: func(text string) error {
			_, err := limit.ParseRate(text)
			return err
		},
		Now: time.Now, Log: n.log,
		Changed: func() {
			if n.sessions != nil { // they come later, and begin with what is known
				n.sessions.Recheck()
			}
			if n.web != nil {
				n.web.Recheck()
			}
		},
	})
}

func (n *Node) openWeb() (err error) {
	n.callers = limit.New(n.set.callers)
	var line *admission.Line
	if most := n.set.MaxCallsNode.value(); most > 0 {
		line = admission.New(admission.Options{Max: most, Log: n.log})
	}
	room := unsent.New(n.set.limits.UnsentBytesMax, n.set.limits.UnsentUserBytesMax)
	services := ws.Services{
		Chat: n.services.Chat, Live: n.services.Live, Schedules: n.services.Schedules, Streams: n.services.Streams, Quorums: n.services.Quorums, Notifications: n.services.Notifications, Profiles: n.services.Profiles,
		Previews: n.services.Previews,
	}
	origins := origin.New(n.set.Origins, n.set.proxies, n.log)
	n.sessions = ws.NewSessions(services, n.gate.Verify, ws.SessionOptions{
		Again:           n.gate.Again,
		SessionsUserMax: n.set.limits.SessionsUserMax, SessionsNodeMax: n.set.limits.SessionsNodeMax,
		Origins: origins, Durability: n.set.durability,
		Address: origin.Proxies(n.set.proxies).Address, Limits: n.callers, Meter: &n.meter, Line: line, Unsent: room, Traces: n.traces, Log: n.log,
	})
	n.services.Users.Attach(callers{n.sessions, n})
	if n.services.Accounts != nil {
		n.services.Accounts.Attach(callers{n.sessions, n})
	}
	site, err := siteFiles()
	if err != nil {
		return err
	}
	n.doctor = newDoctorDesk(n)
	opt := web.Options{
		Limits: n.set.limits, Callers: n.callers, Line: line, Unsent: room, Durability: n.set.durability, Origins: origins, Proxies: n.set.proxies,
		Static: site, Sessions: n.sessions, Tasks: n.taskAdmin, Doctor: n.doctor, Settings: showSettings(n), Ready: n.ready, Meter: &n.meter, Again: n.gate.Again, Away: n.away,
		Compress: n.set.Compression == "on", ServeMetrics: n.set.AdminAddr == "", Version: build.Read().Version, Features: n.features(), Traces: n.traces, Log: n.log,
		Collectors: append(archiveMetrics(n.archiver, n.services.Search),
			buildInfo(), n.taskMetrics, n.watch.gauge, n.hookMetrics.answers, n.hookMetrics.seconds, n.callers.Metrics(), line, room, &webhookMetrics{totals: n.services.Webhooks.Totals}),
	}
	if opt.OpenID, err = n.set.openProvider(n.log); err != nil {
		return err
	}
	if n.set.dev {
		n.devCode = newDevCode()
		opt.Dev = &web.DevSignIn{Code: n.devCode, Issue: n.issue}
		if n.services.Accounts != nil {
			opt.Dev.Off = n.services.Accounts.Any
		}
	}
	n.web = web.New(n.services, n.gate.Verify, opt)
	return nil
}

// callers are the sessions of the node, and the calls that wait beside them.
type callers struct {
	*ws.Sessions
	node *Node
}

// RecheckUsers implements users.Sockets.
func (c callers) RecheckUsers(users []string) {
	c.Sessions.RecheckUsers(users)
	if c.node.web != nil { // it comes later, and begins with what is known
		c.node.web.RecheckUsers(users)
	}
}

// ready tells whether everything that requests need can be reached.
func (n *Node) ready(ctx context.Context) error {
	if err := n.store.Ready(ctx); err != nil {
		return err
	}
	return n.services.Files.Ready(ctx)
}

// Addr returns the address that the node listens on.
func (n *Node) Addr() net.Addr { return n.listener.Addr() }

// AdminAddr returns the separate address for health and metrics; nil if there is none.
func (n *Node) AdminAddr() net.Addr {
	if n.admin == nil {
		return nil
	}
	return n.admin.Addr()
}

// Run serves until ctx ends, then drains: it reports that it is not ready, waits for load balancers, accepts no new
// websockets, stops the tasks, closes the websockets spread over time, and ends the running requests. It may be called
// once.
func (n *Node) Run(ctx context.Context) error {
	n.printBanner()
	// The loops outlive ctx: requests need them until they have ended.
	loops, stopLoops := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLoops()
	work, stopWork := context.WithCancel(loops)
	defer stopWork()
	failed := make(chan error, 16) // enough for every goroutine that may fail
	var background, working, serving sync.WaitGroup
	background.Go(func() { report(loops, failed, "core", n.services.Chat.Run(loops)) })
	background.Go(func() { report(loops, failed, "live readers", n.services.Live.Run(loops)) })
	background.Go(func() { report(loops, failed, "webhooks", n.services.Webhooks.Run(loops)) })
	background.Go(func() { report(loops, failed, "presence", n.services.Notifications.Run(loops)) })
	background.Go(func() { report(loops, failed, "archiver", n.archiver.Run(loops)) })
	background.Go(func() { n.verifier.Run(loops) })
	background.Go(func() { report(loops, failed, "tables", n.tables.Run(loops)) })
	background.Go(func() { report(loops, failed, "the clock of the store", n.clock.Run(loops)) })
	background.Go(func() { report(loops, failed, "users", n.services.Users.Run(loops)) })
	background.Go(func() { report(loops, failed, "profiles", n.services.Profiles.Run(loops, n.sessions.People)) })
	if n.services.Accounts != nil {
		background.Go(func() { report(loops, failed, "accounts", n.services.Accounts.Run(loops)) })
	}
	background.Go(func() { report(loops, failed, "health", n.services.Health.Run(loops)) })
	background.Go(func() { n.services.Files.Run(loops) })
	background.Go(func() { n.services.Previews.Run(loops) })
	background.Go(func() { n.doctor.run(work) })
	background.Go(func() { n.watch.run(loops) })
	background.Go(func() { n.causes.run(loops, n.log) })
	working.Go(func() { report(work, failed, "task server", n.tasks.Run(work)) })

	public := web.NewHTTPServer(n.web.Handler(), n.log)
	serving.Go(func() { serve(public, n.listener, failed) })
	servers := []*http.Server{public}
	if n.admin != nil {
		admin := web.NewHTTPServer(n.web.Admin(), n.log)
		serving.Go(func() { serve(admin, n.admin, failed) })
		servers = append(servers, admin)
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		n.log.Error("stopping because of an error", "error", err)
	}
	err = errors.Join(err, n.drain(servers, func() { stopWork(); working.Wait() }, err != nil))
	serving.Wait()
	stopLoops()
	background.Wait()
	n.log.Info("stopped")
	return err
}

// drain stops the servers in the order that loses nothing.
func (n *Node) drain(servers []*http.Server, stopTasks func(), broken bool) error {
	n.web.Unready()
	if n.set.drainDelay > 0 && !broken {
		n.log.Info("draining", "delay", n.set.drainDelay)
		<-time.After(n.set.drainDelay) // load balancers need time to notice, and do not say when they have
	}
	n.web.Drain()
	var stopping sync.WaitGroup
	stopping.Go(stopTasks)
	stopping.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), sessionsDrainMax)
		defer cancel()
		n.sessions.Drain(ctx)
	})
	stopping.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownMax)
	defer cancel()
	var errs []error
	for _, s := range servers {
		if err := s.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("running requests were cut off: %w", err), s.Close())
		}
	}
	return errors.Join(errs...)
}

// Close closes the listeners and the store. It may be called on a node that was never run, and repeatedly.
func (n *Node) Close() error {
	var errs []error
	for _, l := range []net.Listener{n.listener, n.admin} {
		if l != nil {
			if err := l.Close(); !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	if n.services.Files != nil {
		n.services.Files.Close()
	}
	if n.sender != nil {
		n.sender.Close()
	}
	if n.archiveDB != nil {
		errs = append(errs, n.archiveDB.Close())
	}
	if n.store.Store != nil {
		errs = append(errs, n.store.Close())
		n.store = opened{}
	}
	if err := n.traces.Close(); err != nil {
		n.log.Warn("the last spans were not exported", "error", err)
	}
	n.traces = nil
	if n.output != nil {
		n.output.Close()
		n.output = nil
	}
	return errors.Join(errs...)
}
