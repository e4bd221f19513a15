// Package conn reaches the servers that hold a store: one Redis, the primary behind Sentinel, the masters of a Cluster, or a server
// inside this process. It runs scripts there, joins calls that go to one server, waits for a disk or a replica, holds a node's
// subscriptions, and refuses calls at once while nobody answers. It knows nothing of what is stored.
package conn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
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

// Options say which deployment to reach.
type Options struct {
	URL      string // see CheckURL; ignored where Embedded is set
	Embedded Embedded
	Scripts  *script.Library // that calls run
	Patience time.Duration   // with a server that does not answer a ping, then calls are refused; 0: 600 ms
	Log      *slog.Logger
}

// Deployment is the servers of a store. It may be used from many goroutines.
type Deployment struct {
	client     queue.Redis
	server     Server        // of client, if that is a single one; zero in a cluster
	cluster    clusterClient // of client; nil for a single server
	address    string        // of the server, as errors show it
	partitions int           // number that the URL asks for; 0: none
	scripts    *script.Library
	log        *slog.Logger
	embedded   Embedded
	patience   time.Duration // of breakers
	breaker    *breaker      // nil with the embedded store, and in a cluster, where each node has one
	waits      *waits        // nil in a cluster, where each node has its own
	stop       context.CancelFunc
	loops      sync.WaitGroup
	follows    follower
	joined     *Joined[[]string, []chan struct{}] // calls of Follow; nil in a cluster
	lanes      []keeper
	slots      []string    // a key of each partition; set by Start
	unfenced   atomic.Bool // the server does not say what a fence asks
}

// Open makes the client of a deployment. Nothing is connected to yet.
func Open(o Options) (*Deployment, error) {
	quietLibrary()
	d := &Deployment{log: o.Log, embedded: o.Embedded, scripts: o.Scripts, patience: o.Patience, stop: func() {}}
	if o.Embedded != nil {
		opt := withDefaults(&redis.Options{Addr: "embedded", Dialer: o.Embedded.Dialer()})
		// A late answer means a busy machine here, never a dead peer: only the caller's context limits the wait.
		opt.ReadTimeout, opt.WriteTimeout = -1, -1
		d.address = "the embedded store"
		useServer(d, redis.NewClient(opt))
		return d, nil
	}
	a, err := parseURL(o.URL)
	switch {
	case err != nil:
		return nil, err
	case a.cluster != nil:
		d.address = "the cluster at " + strings.Join(a.cluster.Addrs, ", ")
		c := newCluster(a.cluster, d)
		d.client, d.cluster, d.follows = c.redis, c, newSubscriptions(d, c)
		d.partitions = a.partitions
	case a.redis != nil:
		d.address = "the server at " + a.redis.Addr
		useServer(d, redis.NewClient(withDefaults(a.redis)))
	default:
		d.address = fmt.Sprintf("the primary %q of the sentinels %s", a.sentinel.MasterName, strings.Join(a.sentinel.SentinelAddrs, ", "))
		useServer(d, redis.NewFailoverClient(withFailoverDefaults(a.sentinel)))
	}
	return d, nil
}

// quietLibrary keeps the Redis library from writing to stderr, past the log and in another format. What it says there also
// comes as errors.
var quietLibrary = sync.OnceFunc(logging.Disable)

// useServer sets up the client of a single server. No method: see server.go.
func useServer(d *Deployment, client *redis.Client) {
	d.client, d.server = client, serverOf(client)
	if d.embedded == nil {
		d.breaker = newBreaker(pinging(client), d.patience, d.log)
	}
	client.AddHook(newGuard(turns, d.breaker, true))
	d.waits = newWaits(d, client, d.breaker)
	d.joined = Join(followsJoined, followsPause, func(ctx context.Context, calls [][]string) ([][]chan struct{}, error) {
		return followTogether(ctx, d.follows, calls)
	})
	d.follows = newSubscription(d, func(ctx context.Context) *redis.PubSub { return client.Subscribe(ctx) })
}

// The client never repeats a command by itself: a step may have been done although its answer was lost (go-redis would send it up to
// three times more).
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

// Start watches the servers until Close. slots are a key of each partition, whose masters in a cluster are those that count.
func (d *Deployment) Start(slots []string) {
	var ctx context.Context
	ctx, d.stop = context.WithCancel(context.Background())
	d.slots = slots
	if d.breaker != nil {
		d.loops.Go(func() { d.breaker.run(ctx) })
	}
	if d.cluster != nil {
		d.loops.Go(func() { d.cluster.watch(ctx, slots, d.keepLanes) })
	}
}

// Close ends all connections. Listen must have returned.
func (d *Deployment) Close() error {
	d.stop()
	d.loops.Wait()
	if d.cluster != nil {
		return d.cluster.Close()
	}
	return errors.Join(d.waits.client.Close(), d.client.Close())
}

// IsCluster tells whether it is a Redis Cluster.
func (d *Deployment) IsCluster() bool { return d.cluster != nil }

// IsEmbedded tells whether it is in this process.
func (d *Deployment) IsEmbedded() bool { return d.embedded != nil }

// Address says in words where it is.
func (d *Deployment) Address() string { return d.address }

// Partitions is how many the URL asks for in a new store; 0: none.
func (d *Deployment) Partitions() int { return d.partitions }

// Client sends commands to the servers.
func (d *Deployment) Client() queue.Redis { return d.client }

// Ping tells whether the deployment answers: in a cluster, whether any master does.
func (d *Deployment) Ping(ctx context.Context) error {
	masters, err := d.Masters(ctx)
	for _, one := range masters {
		if err = one.Client.Ping(ctx).Err(); err == nil {
			return nil
		}
	}
	return err
}
