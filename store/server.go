package store

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/store/queue"
)

// Every package that reaches the type of a client of go-redis spends more than a second of its compilation on the methods of
// that type. A field of a Store leads there, a parameter of one of its methods too, exported or not. So these have interfaces
// without the methods that go on to such a type, and an exported function that uses one must not be inlined. build_test.go
// enforces this.

// Conn is one connection to a server: what was sent first is run first.
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

// clusterClient is what a Store knows of a cluster beside its client.
type clusterClient interface {
	// masters reloads the topology, and returns all masters by address.
	masters(ctx context.Context) ([]Server, error)
	masterOf(ctx context.Context, key string) (Server, error)
	subscribers(ctx context.Context, channels []string) (map[string]int64, error)
	// waitsFor returns the waits of the server that a call on a key goes to, and the client of that server.
	waitsFor(ctx context.Context, key string, at destination) (*waits, queue.Redis, error)
	// watch keeps the topology up to date while the master of a partition is away, until ctx ends.
	watch(ctx context.Context, partitions []*partKeys, see func(homes map[string]bool))
	Close() error
}

// masters returns the servers that hold the store.
func (s *Store) masters(ctx context.Context) ([]Server, error) {
	if s.cluster == nil {
		return []Server{s.server}, nil
	}
	return s.cluster.masters(ctx)
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

// Masters returns the servers that hold the store: one, or each master of the cluster, by address.
func (s *Store) Masters(ctx context.Context) ([]Server, error) { return s.masters(ctx) }

// masterOf returns the server of a key.
func (s *Store) masterOf(ctx context.Context, key string) (Server, error) {
	if s.cluster == nil {
		return s.server, nil
	}
	return s.cluster.masterOf(ctx, key)
}

func (c *cluster) masterOf(ctx context.Context, key string) (Server, error) {
	master, err := c.redis.MasterForKey(ctx, key)
	if err != nil {
		return Server{}, err
	}
	return serverOf(master), nil
}

// Subscribers counts the subscriptions to channels that are not sharded, by channel.
func (s *Store) Subscribers(ctx context.Context, channels []string) (map[string]int64, error) {
	if s.cluster == nil {
		return s.client.PubSubNumSub(ctx, channels...).Result()
	}
	return s.cluster.subscribers(ctx, channels)
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
