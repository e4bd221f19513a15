package e2e

import (
	"flag"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

var deploymentFlag = flag.String("deployment", "redis",
	"what the tests of load, schedules and tasks run on: redis, sentinel or cluster; `make soak` runs them on each")

const (
	clusterMasters    = 3 // with a replica each
	clusterPartitions = 64
)

// deployment is the Redis of a test: one server, one that a sentinel watches, or a cluster.
type deployment struct {
	url        string
	partitions int // that chatd makes there by itself
	masters    []*redistest.Server
	cluster    *redistest.Cluster // nil if it is none
}

// deploy starts the Redis that the flag asks for.
func deploy(t *testing.T) *deployment {
	t.Helper()
	switch *deploymentFlag {
	case "redis":
		server := redistest.Start(t)
		return &deployment{url: server.URL(), partitions: 1, masters: []*redistest.Server{server}}
	case "sentinel":
		primary := redistest.Start(t)
		sentinel := redistest.StartSentinel(t, "chat", primary)
		return &deployment{
			url: "redis-sentinel://" + sentinel.Addr + "/0?master_name=chat", partitions: 1, masters: []*redistest.Server{primary},
		}
	case "cluster":
		cluster := redistest.StartCluster(t, clusterMasters, 1)
		return &deployment{
			url: cluster.URL(), partitions: clusterPartitions, masters: cluster.Nodes[:clusterMasters], cluster: cluster,
		}
	}
	t.Fatalf("-deployment=%s: must be redis, sentinel or cluster", *deploymentFlag)
	return nil
}

// sum adds up what a command returns on every master.
func (d *deployment) sum(args ...string) (n int64) {
	for _, master := range d.masters {
		n += master.Int(args...)
	}
	return n
}

// calls adds up how often every master ran each command since its counters were reset.
func (d *deployment) calls() map[string]int64 {
	calls := map[string]int64{}
	for _, master := range d.masters {
		for name, n := range maps.All(master.Calls()) {
			calls[name] += n
		}
	}
	return calls
}

// stored counts the messages of a group in Redis itself, wherever in the cluster that is.
func (d *deployment) stored(group string) int64 {
	p := queue.Partition(group, d.partitions)
	master := d.masters[0]
	if d.cluster != nil {
		_, master = d.cluster.Slot(logOf(group, p))
	}
	return master.Int("ZCARD", logOf(group, p))
}

// stored counts the messages of a group in Redis itself, which only the documented key of the log names.
func stored(redis *redistest.Server, group string) int64 { return redis.Int("ZCARD", logOf(group, 0)) }

func logOf(group string, partition int) string {
	return fmt.Sprintf("chat:{p%02d}:g:%s:msgs", partition, group)
}

// taskClient connects the task engine alone to a Redis, as a program without chatd would.
func taskClient(address string) (redis.UniversalClient, error) {
	scheme, rest, _ := strings.Cut(address, "://")
	hosts, rest, _ := strings.Cut(rest, "/")
	addrs := strings.Split(hosts, ",")
	switch scheme {
	case "redis":
		return redis.NewClient(&redis.Options{Addr: hosts, MaxRetries: -1, DisableIdentity: true}), nil
	case "redis-sentinel":
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: strings.TrimPrefix(rest, "0?master_name="), SentinelAddrs: addrs, MaxRetries: -1, DisableIdentity: true,
		}), nil
	case "redis-cluster":
		return redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, MaxRetries: -1, DisableIdentity: true}), nil
	}
	return nil, fmt.Errorf("no Redis has the scheme %q", scheme)
}
