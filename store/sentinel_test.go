package store

import (
	"context"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
)

// startSentinel runs a primary, a replica that follows it, and a sentinel that knows both.
func startSentinel(t *testing.T) (primary, heir, sentinel *redistest.Server) {
	t.Helper()
	common := []string{"--repl-diskless-sync-delay", "0", "--user", "replicating", "on", ">secret", "+@all"}
	primary = redistest.Start(t, common...)
	host, port, _ := net.SplitHostPort(primary.Addr)
	heir = redistest.Start(t, append(common, "--masteruser", "replicating", "--masterauth", "secret", "--replicaof", host+" "+port)...)
	if !comes(func() bool { return primary.Int("WAIT", "1", "1000") == 1 }) {
		t.Fatal("the replica does not follow")
	}
	sentinel = redistest.StartSentinel(t, "chat", primary)
	known := func() bool {
		replicas, _ := sentinel.Do("SENTINEL", "REPLICAS", "chat").([]any)
		return len(replicas) == 1
	}
	if !comes(known) {
		t.Fatal("the sentinel does not know the replica")
	}
	return primary, heir, sentinel
}

// TestSentinelFailover: the replica is cut off and then the primary dies, under load, and the sentinel promotes the replica by itself.
// Sends go on there, everything that it had confirmed is there once, and who holds what is lost is told so.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	primary, heir, sentinel := startSentinel(t)
	s, err := Open(t.Context(), Options{URL: "redis-sentinel://" + sentinel.Addr + "/0?master_name=chat"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	createBenchGroup(t, s, "g")
	g := &shardSends{group: "g", home: primary, acked: map[string]int64{}}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { g.run(ctx, s) })
	defer running.Wait()
	defer stop()
	g.await(t, 40)

	primary.Do("ACL", "SETUSER", "replicating", "off")
	primary.Do("CLIENT", "KILL", "TYPE", "replica")
	g.await(t, 10)
	service := chat.New(s, chat.Options{Limits: chat.DefaultLimits()})
	pull := func(after string) chat.Batch {
		t.Helper()
		batch, _, err := service.Pull(t.Context(), chat.Caller{User: "alice"}, "g", chat.PullQuery{After: &after, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return batch
	}
	_, end, err := s.Range(t.Context(), "g", 1<<40, 1)
	if err != nil {
		t.Fatal(err)
	}
	lost := pull(strconv.FormatInt(end.Last-2, 10)).Cursor // only the primary has it
	primary.Kill()
	promoted := func() bool {
		answer, _ := heir.Try("ROLE") // a promotion ends the connections of clients
		role, _ := answer.([]any)
		return len(role) > 0 && role[0] == "master"
	}
	if !comes(promoted) {
		t.Fatal("the sentinel does not promote the replica")
	}
	since := time.Now()
	g.await(t, 1)
	t.Logf("the first send succeeded %v after the promotion was seen; %d had failed", time.Since(since), g.failed.Load())
	g.await(t, 20)
	stop()
	running.Wait()
	g.check(t, s)
	if batch := pull(lost); batch.Complete {
		t.Errorf("who holds %s, which is lost, gets %+v", lost, batch)
	}
}
