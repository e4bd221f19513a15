package conn

import (
	"context"
	"errors"
	"hash/fnv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/chatd/chatd/queue"
)

// cluster is the Redis Cluster of a deployment. Each node has its own guard, breaker and waits, so that a node that hangs slows down
// only calls to the partitions on it.
type cluster struct {
	redis *redis.ClusterClient // not embedded: the compiler would make each of its 600 methods again
	of    *Deployment
	up    context.Context // ends with the deployment
	stop  context.CancelFunc
	loops sync.WaitGroup // of the breakers

	mu    sync.Mutex
	nodes map[string]*clusterNode // by address: every node that was ever seen
}

// clusterNode is a node of the cluster, master or replica.
type clusterNode struct {
	client  *redis.Client
	breaker *breaker
	waits   *waits // nil until the first send waits there
}

var _ clusterClient = (*cluster)(nil)

func newCluster(opt *redis.ClusterOptions, d *Deployment) *cluster {
	// go-redis could follow redirects, but then it also repeats commands of the same pipeline that have succeeded, and commands
	// that a broken connection may have delivered. The hook redirects follows them instead.
	opt.MaxRetries, opt.MaxRedirects = -1, -1
	opt.DisableIdentity, opt.ContextTimeoutEnabled = true, true
	opt.DisableRoutingPolicies = true // they need the right to run COMMAND
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = dialTimeout, replyTimeout, replyTimeout
	opt.PoolSize, opt.DialerRetries = poolSize, 1
	opt.ReadBufferSize, opt.WriteBufferSize = connBytes, connBytes
	opt.ClusterStateReloadInterval = topologyAge
	c := &cluster{redis: redis.NewClusterClient(opt), of: d, nodes: map[string]*clusterNode{}}
	c.up, c.stop = context.WithCancel(context.Background())
	c.redis.OnNewNode(c.added)
	c.redis.AddHook(&redirects{c})
	return c
}

// added installs the guard of a new client of a node. A node that comes back keeps its breaker.
func (c *cluster) added(client *redis.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	addr := client.Options().Addr
	n := c.nodes[addr]
	if n == nil {
		n = &clusterNode{breaker: newBreaker(pinging(client), c.of.patience, c.of.log.With("node", addr))}
		c.nodes[addr] = n
		c.loops.Go(func() { n.breaker.run(c.up) })
	}
	n.client = client
	client.AddHook(newGuard(turns, n.breaker, true))
}

// node returns the node at an address, or nil if it was never seen.
func (c *cluster) node(addr string) *clusterNode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[addr]
}

// client returns the client of the node at an address, or nil if it was never seen.
func (c *cluster) client(addr string) *redis.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.nodes[addr]; n != nil {
		return n.client
	}
	return nil
}

// watch reloads the topology while the master of a partition does not answer, to find the new one. A node that is the
// master of no partition is asked less often: it may never come back, and nobody waits for it. watch passes on where the masters
// are.
func (c *cluster) watch(ctx context.Context, slots []string, see func(homes map[string]bool)) {
	tick := time.NewTicker(topologyTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		homes := c.homes(ctx, slots)
		see(homes)
		if c.anyAway(homes) {
			c.redis.ReloadState(ctx)
		}
	}
}

// homes returns the addresses of the masters of partitions; "" stands for one that is not known.
func (c *cluster) homes(ctx context.Context, slots []string) map[string]bool {
	homes := map[string]bool{}
	for _, slot := range slots {
		addr := ""
		if master, err := c.redis.MasterForKey(ctx, slot); err == nil {
			addr = master.Options().Addr
		}
		homes[addr] = true
	}
	return homes
}

// anyAway reports whether one of the homes does not answer or is not known. The breakers of other nodes ask less often from now on.
func (c *cluster) anyAway(homes map[string]bool) (away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	away = homes[""]
	for addr, n := range c.nodes {
		n.breaker.seldom.Store(!homes[addr])
		away = away || homes[addr] && n.breaker.state().Err() != nil
	}
	return away
}

// Close ends all connections and loops. Once the client is closed, it adds no node.
func (c *cluster) Close() error {
	err := c.redis.Close()
	c.stop()
	c.loops.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		if n.waits != nil {
			err = errors.Join(err, n.waits.client.Close())
		}
	}
	return err
}

func (c *cluster) waitsFor(ctx context.Context, key string, at destination) (*waits, queue.Redis, error) {
	if at.how != asked {
		master, err := c.redis.MasterForKey(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		return c.waitsOf(master.Options().Addr)
	}
	if c.node(at.addr) == nil { // a new master without slots: go-redis gets to know it from the answer to any command
		_ = c.redis.Exists(ctx, key).Err()
	}
	return c.waitsOf(at.addr)
}

// waitsOf returns the waits and the client of the node at an address.
func (c *cluster) waitsOf(addr string) (*waits, queue.Redis, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[addr]
	if n == nil {
		return nil, nil, errTopology
	}
	if n.waits == nil {
		n.waits = newWaits(c.of, n.client, n.breaker)
	}
	return n.waits, n.client, nil
}

// A cursor of NextKeys in a cluster has the SCAN cursor of one master in its low 48 bits, which no server exceeds, then 8 bits with
// the number of that master, then 8 bits of a hash of which master has which partition.
const (
	cursorBits   = 48
	cursorOfNode = 1<<cursorBits - 1
	cursorNodes  = 1<<8 - 1
)

// NextKeys returns about count keys of the server, or of all masters of the cluster one after another. A scan begins with cursor 0
// and has ended when next is 0. It fails if a partition moved to another master since the scan began.
func (d *Deployment) NextKeys(ctx context.Context, cursor uint64, count int64) (keys []string, next uint64, err error) {
	if d.cluster == nil {
		return d.client.Scan(ctx, cursor, "", count).Result()
	}
	masters, err := d.Masters(ctx)
	if err != nil {
		return nil, 0, err
	}
	homes := fnv.New32a()
	for _, slot := range d.slots {
		home, err := d.MasterOf(ctx, slot)
		if err != nil {
			return nil, 0, err
		}
		_, _ = homes.Write([]byte(home.Addr + " "))
	}
	topology := uint64(homes.Sum32()&cursorNodes) << (cursorBits + 8)
	at := cursor >> cursorBits & cursorNodes
	if at >= uint64(min(len(masters), cursorNodes)) || cursor != 0 && cursor>>(cursorBits+8) != topology>>(cursorBits+8) {
		return nil, 0, errTopology
	}
	keys, next, err = masters[at].Client.Scan(ctx, cursor&cursorOfNode, "", count).Result()
	switch {
	case err != nil:
		return nil, 0, err
	case next != 0:
		return keys, topology | at<<cursorBits | next, nil
	case at+1 < uint64(len(masters)):
		return keys, topology | (at+1)<<cursorBits, nil
	}
	return keys, 0, nil
}

var errTopology = errors.New("the cluster has changed meanwhile: a partition has another master")
