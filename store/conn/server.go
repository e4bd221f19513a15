package conn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
)

// Every package that reaches the type of a client of go-redis spends more than a second of its compilation on the methods of
// that type. A field of a Deployment leads there, a parameter of one of its methods too, exported or not. So these have interfaces
// without the methods that go on to such a type, and an exported function that uses one must not be inlined. build_test.go
// enforces this.

// Conn is one connection to a server, which runs commands in the order in which they were sent.
type Conn interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
	Pipeline() redis.Pipeliner
	Close() error
}

// Server is one of the servers that hold a store: the only one, or a master of its cluster.
type Server struct {
	Addr   string
	Client queue.Redis
	conn   func() Conn
}

func serverOf(client *redis.Client) Server {
	return Server{client.Options().Addr, client, func() Conn { return client.Conn() }}
}

// Conn takes a connection for the caller alone, until it is closed.
func (s Server) Conn() Conn { return s.conn() }

// clusterClient is what a Deployment knows of a cluster besides its client.
type clusterClient interface {
	// masters reloads the topology, and returns all masters by address.
	masters(ctx context.Context) ([]Server, error)
	masterOf(ctx context.Context, key string) (Server, error)
	subscribers(ctx context.Context, channels []string) (map[string]int64, error)
	// waitsFor returns the waits of the server that a call on a key goes to, and the client of that server.
	waitsFor(ctx context.Context, key string, at destination) (*waits, queue.Redis, error)
	// watch keeps the topology up to date while the master of a partition is away, until ctx ends.
	watch(ctx context.Context, slots []string, see func(homes map[string]bool))
	Close() error
}

// Masters returns the servers that hold the store: one, or each master of the cluster, by address.
func (d *Deployment) Masters(ctx context.Context) ([]Server, error) {
	if d.cluster == nil {
		return []Server{d.server}, nil
	}
	return d.cluster.masters(ctx)
}

func (c *cluster) masters(ctx context.Context) ([]Server, error) {
	var mu sync.Mutex
	var all []Server
	err := c.redis.ForEachMaster(ctx, func(_ context.Context, master *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, serverOf(master))
		return nil
	})
	slices.SortFunc(all, func(a, b Server) int { return cmp.Compare(a.Addr, b.Addr) })
	return all, err
}

// MasterOf returns the server of a key.
func (d *Deployment) MasterOf(ctx context.Context, key string) (Server, error) {
	if d.cluster == nil {
		return d.server, nil
	}
	return d.cluster.masterOf(ctx, key)
}

func (c *cluster) masterOf(ctx context.Context, key string) (Server, error) {
	master, err := c.redis.MasterForKey(ctx, key)
	if err != nil {
		return Server{}, err
	}
	return serverOf(master), nil
}

// Subscribers counts the subscriptions to channels that are not sharded, by channel.
func (d *Deployment) Subscribers(ctx context.Context, channels []string) (map[string]int64, error) {
	if d.cluster == nil {
		return d.client.PubSubNumSub(ctx, channels...).Result()
	}
	return d.cluster.subscribers(ctx, channels)
}

func (c *cluster) subscribers(ctx context.Context, channels []string) (map[string]int64, error) {
	var mu sync.Mutex
	sums := map[string]int64{}
	err := c.redis.ForEachShard(ctx, func(ctx context.Context, node *redis.Client) error { // each node knows only its own subscribers
		counts, err := node.PubSubNumSub(ctx, channels...).Result()
		mu.Lock()
		defer mu.Unlock()
		for channel, n := range counts {
			sums[channel] += n
		}
		return err
	})
	return sums, err
}

// Process identifies the server process, or those of all masters. A cursor of SCAN, for example, is only valid within
// one process. It is empty for the embedded store, and if the server does not say.
func (d *Deployment) Process(ctx context.Context) (string, error) {
	if d.IsEmbedded() {
		return "", nil
	}
	masters, err := d.Masters(ctx)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, one := range masters {
		info, err := one.Client.Info(ctx, "server").Result()
		if redis.HasErrorPrefix(err, "NOPERM") {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("INFO: %w", err)
		}
		_, rest, _ := strings.Cut(info, "run_id:")
		id, _, _ := strings.Cut(rest, "\r")
		ids = append(ids, id)
	}
	return strings.Join(ids, " "), nil
}
