package queue

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/redistest"
)

// TestOnACluster runs a server on a cluster of one node. It checks that every script stays
// within its slot, and that pipelines, loading and wake-ups work through a cluster client.
func TestOnACluster(t *testing.T) {
	addr := redistest.FreeAddr(t)
	_, bus, _ := net.SplitHostPort(redistest.FreeAddr(t))
	t.Cleanup(startRedisAt(t, addr, "--cluster-enabled", "yes", "--cluster-port", bus))
	ctx := context.Background()
	if err := connect(t, addr).ClusterAddSlotsRange(ctx, 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	node := connect(t, addr)
	until(t, "the cluster to be ready", func() bool {
		info, err := node.ClusterInfo(ctx).Result()
		return err == nil && strings.Contains(info, "cluster_state:ok")
	})
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}, MaxRedirects: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })

	s := newServer(t, options(rdb, 8))
	s.Handle("k", func(_ context.Context, task Task) error {
		if task.Attempt == 1 && string(task.Payload) == "fails" {
			return errors.New("once")
		}
		return nil
	})
	start(t, s)
	tasks := make([]Task, 400)
	for i := range tasks {
		tasks[i] = Task{Kind: "k", Priority: priorities[i%4]}
		if i%10 == 0 {
			tasks[i].Payload = []byte("fails")
		}
	}
	if _, err := s.EnqueueAll(ctx, tasks); err != nil {
		t.Fatal(err)
	}
	until(t, "all to be done", func() bool { return stats(t, s.Client).Done == 400 })
	if got := stats(t, s.Client); got.Failed != 40 || got.Crashed != 0 {
		t.Errorf("got %+v", got)
	}
}
