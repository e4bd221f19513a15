// Package store keeps everything of the domain in Redis: groups and their logs, cursors, the index, inboxes, retry
// keys, and the signals between nodes. Each method is one Lua script, one atomic step in one slot; docs/redis.md has
// every key and every script. A Store may be used from many goroutines.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/queue"
)

// Embedded is a server inside this process that speaks the protocol of Redis.
type Embedded interface {
	// Dialer connects to it; network and address mean nothing.
	Dialer() func(ctx context.Context, network, addr string) (net.Conn, error)
	// Sync returns when everything that was answered before is on disk.
	Sync(ctx context.Context) error
	// Writable returns nil if it takes writes now.
	Writable() error
}

// Options say which store to open.
type Options struct {
	URL        string // redis://, rediss://, redis-sentinel://, redis-cluster:// or rediss-cluster://; ignored where Embedded is set
	Embedded   Embedded
	Prefix     string // of every key; empty: chat
	Partitions int    // 0: what the store says; for a new one 1, or 64 in a cluster
	Import     string // id of the file that is about to be imported; see package dump
	Export     bool   // it is opened to export it
	Existing   bool   // to look at a store: an empty one is refused, and a server that nobody should serve from is not
	Limits     chat.Limits
	Log        *slog.Logger
}

// Store is the store of the domain: of the core and of every feature, whose Go file says so.
type Store struct {
	client    queue.Redis
	server    Server        // of client, if that is a single one; zero in a cluster
	cluster   clusterClient // of client; nil for a single server
	address   string        // of the server, as errors show it
	keys      keyspace
	limits    chat.Limits
	log       *slog.Logger
	embedded  Embedded
	breaker   *breaker // nil with the embedded store, and in a cluster, where each node has one
	waits     *waits   // nil in a cluster, where each node has its own
	stop      context.CancelFunc
	loops     sync.WaitGroup
	follows   follower
	queues    map[string]*queue.Client // by name; set once the number of partitions is known
	sends     *lanes[joinedSends]
	begins    *joinedReads[string, chat.Beginning]
	standings *joinedReads[[]standing, []chat.Info]
	shared    *lanes[sharedReads]
	unusual   unusualGroups
	wanted    atomic.Bool // somebody wants to know of new entries, so sends carry the keys of the queue
}

var _ chat.Store = (*Store)(nil)

// Open connects to a store, checks that it can be one, loads the scripts, and records or compares the layout.
func Open(ctx context.Context, o Options) (*Store, error) {
	quietLibrary()
	if o.Prefix == "" {
		o.Prefix = "chat"
	}
	if strings.ContainsAny(o.Prefix, "{}: ") {
		return nil, fmt.Errorf("store: the prefix %q holds a brace, a colon or a blank", o.Prefix)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Limits == (chat.Limits{}) {
		o.Limits = chat.DefaultLimits()
	}
	s := &Store{limits: o.Limits, log: o.Log, embedded: o.Embedded, keys: newKeyspace(o.Prefix, 1)}
	if err := s.connect(&o); err != nil {
		return nil, err
	}
	s.sends, s.shared = newLanes(s.joinSends), newLanes(s.joinShared)
	s.begins = joinReads(beginsJoined, beginsPause, s.readBeginnings)
	s.standings = joinReads(beginsJoined, beginsPause, s.readStandings)
	if err := s.prepare(ctx, o); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	s.start()
	return s, nil
}

// start runs what the store does by itself until Close.
func (s *Store) start() {
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	if s.breaker != nil {
		s.loops.Go(func() { s.breaker.run(ctx) })
	}
	if s.cluster != nil {
		s.loops.Go(func() { s.cluster.watch(ctx, s.keys.partitions, s.keepLanes) })
	}
}

// sameServer are the options of another client of the server that a client leads to.
func sameServer(client *redis.Client) *redis.Options {
	opt := *client.Options()
	opt.MaxRetries = -1 // which a client's options show as 0, and 0 stands for 3
	return &opt
}

// pinging asks the server that a client leads to, on a new connection each time.
func pinging(client *redis.Client) func(context.Context) error {
	opt := sameServer(client)
	opt.PoolSize = 1
	return func(ctx context.Context) error {
		one := redis.NewClient(opt)
		defer func() { _ = one.Close() }()
		defer context.AfterFunc(ctx, func() { _ = one.Close() })() // a read under way ends with its connection
		return one.Ping(ctx).Err()
	}
}

// quietLibrary keeps the Redis library from writing to stderr past the log, in a form of its own; what it says comes as
// errors too.
var quietLibrary = sync.OnceFunc(logging.Disable)

func (s *Store) prepare(ctx context.Context, o Options) error {
	if err := s.ping(ctx); err != nil {
		return fmt.Errorf("store: %s does not answer: %w", s.address, err)
	}
	if s.embedded == nil && !o.Existing {
		if err := s.inspect(ctx); err != nil {
			return err
		}
	}
	if o.Existing {
		if err := s.checkExists(ctx); err != nil {
			return err
		}
	}
	if err := s.loadScripts(ctx); err != nil {
		return fmt.Errorf("store: the server does not take the scripts: %w", err)
	}
	if err := s.checkLayout(ctx, o); err != nil {
		return err
	}
	return s.newClients()
}

// connect makes the client for a URL, and says in words where it leads. The client never repeats a command by itself: a
// step may have been done although its answer was lost (go-redis would send it up to three times more).
func (s *Store) connect(o *Options) error {
	if o.Embedded != nil {
		opt := withDefaults(&redis.Options{Addr: "embedded", Dialer: o.Embedded.Dialer()})
		// A late answer means a busy machine here, never a dead peer: only the caller's context limits the wait.
		opt.ReadTimeout, opt.WriteTimeout = -1, -1
		s.address = "the embedded store"
		useServer(s, redis.NewClient(opt))
		return nil
	}
	a, err := parseURL(o.URL)
	switch {
	case err != nil:
		return fmt.Errorf("store: %w", err)
	case a.cluster != nil:
		s.address = "the cluster at " + strings.Join(a.cluster.Addrs, ", ")
		c := newCluster(a.cluster, o.Log)
		s.client, s.cluster, s.follows = c.redis, c, newSubscriptions(s, c)
		o.Partitions = cmp.Or(o.Partitions, a.partitions)
	case a.redis != nil:
		s.address = "the server at " + a.redis.Addr
		useServer(s, redis.NewClient(withDefaults(a.redis)))
	default:
		s.address = fmt.Sprintf("the primary %q of the sentinels %s", a.sentinel.MasterName, strings.Join(a.sentinel.SentinelAddrs, ", "))
		useServer(s, redis.NewFailoverClient(withFailoverDefaults(a.sentinel)))
	}
	return nil
}

// useServer sets up the client of a single server. No method: see server.go.
func useServer(s *Store, client *redis.Client) {
	s.client, s.server = client, serverOf(client)
	if s.embedded == nil {
		s.breaker = newBreaker(pinging(client), s.log)
	}
	client.AddHook(newGuard(turns, s.breaker, true))
	s.waits = newWaits(client, s.breaker, false)
	s.follows = newSubscription(s, func(ctx context.Context) *redis.PubSub { return client.Subscribe(ctx) })
}

// disconnect ends all connections.
func (s *Store) disconnect() error {
	if s.cluster != nil {
		return s.cluster.Close()
	}
	s.waits.running.Wait()
	return errors.Join(s.waits.client.Close(), s.client.Close())
}

func withDefaults(opt *redis.Options) *redis.Options {
	opt.MaxRetries = -1
	opt.DisableIdentity = true
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	opt.ContextTimeoutEnabled = true
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = dialTimeout, replyTimeout, replyTimeout
	opt.PoolSize, opt.DialerRetries = poolSize, 1
	opt.ReadBufferSize, opt.WriteBufferSize = connBytes, connBytes
	return opt
}

func withFailoverDefaults(opt *redis.FailoverOptions) *redis.FailoverOptions {
	opt.MaxRetries = -1
	opt.DisableIdentity, opt.ContextTimeoutEnabled = true, true
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = dialTimeout, replyTimeout, replyTimeout
	opt.PoolSize, opt.DialerRetries = poolSize, 1
	opt.ReadBufferSize, opt.WriteBufferSize = connBytes, connBytes
	return opt
}

// IsCluster tells whether the store is in a Redis Cluster.
func (s *Store) IsCluster() bool { return s.cluster != nil }

// IsEmbedded tells whether the store is in this process.
func (s *Store) IsEmbedded() bool { return s.embedded != nil }

// Client sends commands to the servers of the store.
func (s *Store) Client() queue.Redis { return s.client }

// Partitions is how many partitions the store has.
func (s *Store) Partitions() int { return len(s.keys.partitions) }

// Prefix begins every key.
func (s *Store) Prefix() string { return s.keys.prefix }

// Close ends all connections. Listen must have returned.
func (s *Store) Close() error {
	s.stop()
	s.loops.Wait()
	return s.disconnect()
}

// Ping tells whether the store answers; in a cluster, whether any master does.
func (s *Store) Ping(ctx context.Context) error { return fail("ping", s.ping(ctx)) }

func (s *Store) ping(ctx context.Context) error {
	masters, err := s.masters(ctx)
	for _, one := range masters {
		if err = one.Client.Ping(ctx).Err(); err == nil {
			return nil
		}
	}
	return err
}
