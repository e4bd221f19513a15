package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store/conn"
)

// TestPartitionsSpreadOverMasters: with 64 partitions the busiest master has at most a quarter more than its share.
func TestPartitionsSpreadOverMasters(t *testing.T) {
	for _, masters := range []int{3, 4, 6, 16} {
		counts := make([]int, masters)
		for _, part := range newKeyspace("chat", clusterShare).partitions {
			counts[slotOf(fmt.Sprintf("p%02d", part.number))*masters/16384]++
		}
		most := 0
		for _, n := range counts {
			most = max(most, n)
			if n == 0 {
				t.Errorf("%d masters: got %v, one without a partition", masters, counts)
			}
		}
		if 4*most*masters > 5*clusterShare {
			t.Errorf("%d masters: got %v partitions, want at most a quarter more than %.1f each", masters, counts, float64(clusterShare)/float64(masters))
		}
	}
}

// slotOf is the slot of a tag: its CRC-16 (XMODEM).
func slotOf(tag string) (slot int) {
	for _, c := range []byte(tag) {
		slot ^= int(c) << 8
		for range 8 {
			slot <<= 1
			if slot&0x10000 != 0 {
				slot ^= 0x11021
			}
		}
	}
	return slot % 16384
}

// clusterBench is a store on a cluster, with a group on each master.
type clusterBench struct {
	*redistest.Cluster
	store  *Store
	groups []*shardSends // the first one's master gets the fault

	heard sync.Map // group to the highest id that came as a signal
	lost  atomic.Int64
}

var benches atomic.Int64

func onCluster(t *testing.T, c *redistest.Cluster) *clusterBench {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: c.URL(), Prefix: fmt.Sprint("f", benches.Add(1))})
	if err != nil {
		t.Fatal(err)
	}
	b := &clusterBench{Cluster: c, store: s}
	t.Cleanup(func() { _ = s.Close() })
	used := map[*redistest.Server]bool{}
	for n := 0; len(b.groups) < 3; n++ {
		id := fmt.Sprint("g", n)
		if _, home := c.Slot(s.keys.group(id).base); !used[home] {
			used[home] = true
			b.groups = append(b.groups, newShardSends(id, home))
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Listen(ctx, b.hear) })
	t.Cleanup(func() { stop(); running.Wait() })
	for _, g := range b.groups {
		createBenchGroup(t, s, g.group)
		if err := s.Follow(t.Context(), []string{g.group}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func createBenchGroup(t *testing.T, s *Store, id string) {
	t.Helper()
	if err := s.CreateGroup(t.Context(), chat.NewGroup{Group: chat.Group{ID: id, Visibility: chat.Private, CreatedBy: "alice",
		CreatedAt: chat.TimeMs(1), Epoch: "e", Keep: 1_000_000, BacklogMax: 1_000_000, Post: chat.PostMembers, History: true},
		Notices: []chat.NoticeEntry{{Mark: "madeit", Rest: []byte(`"kind":"notice"}`)}}}); err != nil {
		t.Fatal(err)
	}
}

func (b *clusterBench) hear(sig live.Signal) {
	switch sig.Kind {
	case live.SignalLost:
		b.lost.Add(1)
	case live.SignalMessage:
		b.heard.Store(sig.Group, sig.Message.ID)
	}
}

// sending runs senders to all groups and readers of them while a fault happens.
func (b *clusterBench) sending(t *testing.T, fault func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, g := range b.groups {
		running.Go(func() { g.run(ctx, b.store) })
		running.Go(func() { g.reader.run(ctx, t, b.store) })
		running.Go(func() { g.absent.run(ctx, t, b.store) })
	}
	for _, g := range b.groups {
		g.await(t, 20)
	}
	fault()
}

// hears waits until new messages of a group come as signals.
func (b *clusterBench) hears(t *testing.T, group string) {
	t.Helper()
	_, end, err := b.store.Range(t.Context(), group, 1<<40, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !comes(func() bool { id, ok := b.heard.Load(group); return ok && id.(int64) > end.Last }) {
		t.Fatalf("no signal of new messages in %s", group)
	}
}

// TestClusterFaults: on three masters with a replica each, under load: a master dies, hangs, hands over to its replica by hand, is cut
// off from the other nodes but not from chatd, and a slot and all partitions of a master move. Nothing that a replica had is lost,
// nothing is there twice, clients that hold what is lost hear of it and nobody else, the other shards go on, and signals come again.
func TestClusterFaults(t *testing.T) {
	t.Parallel()
	var counts faultCounts
	defer func() { counts.log(t) }()
	plain, gated := redistest.StartCluster(t, 3, 1), redistest.StartGatedCluster(t, 3, 1)
	faults := []struct {
		name    string
		cluster *redistest.Cluster
		happens func(*testing.T, *clusterBench) (resumed time.Duration, loses losses)
	}{
		{"a master dies", plain, func(t *testing.T, b *clusterBench) (time.Duration, losses) {
			return b.takeover(t, (*redistest.Server).Kill, (*redistest.Server).Restart), maybe
		}},
		{"a master hangs", plain, func(t *testing.T, b *clusterBench) (time.Duration, losses) {
			since := time.Now()
			hang := func(s *redistest.Server) { s.Signal(syscall.SIGSTOP) }
			return b.takeover(t, hang, func(s *redistest.Server) {
				<-time.After(*faultHang - time.Since(since))
				s.Signal(syscall.SIGCONT)
			}), maybe
		}},
		{"a replica is promoted by hand", plain, func(t *testing.T, b *clusterBench) (time.Duration, losses) {
			return b.takeover(t, func(s *redistest.Server) { b.ReplicaOf(s).Do("CLUSTER", "FAILOVER") }, nil), nothing
		}},
		{"a slot moves", plain, func(t *testing.T, b *clusterBench) (time.Duration, losses) { b.moveSlot(t); return -1, nothing }},
		{"a master's partitions move away and back", plain, func(t *testing.T, b *clusterBench) (time.Duration, losses) { b.reshard(t); return -1, nothing }},
		{"a master is cut off from the others", gated, func(t *testing.T, b *clusterBench) (time.Duration, losses) {
			return b.takeover(t, b.Isolate, func(*redistest.Server) { b.Join() }), something
		}},
	}
	for range *faultCycles {
		for _, fault := range faults {
			t.Run(fault.name, func(t *testing.T) {
				for _, node := range fault.cluster.Nodes {
					_, _ = node.Try("FLUSHALL") // what the cycle before left; replicas refuse
				}
				b := onCluster(t, fault.cluster)
				resumed, loses := fault.happens(t, b)
				if lost := counts.add(t, fault.name, b.store, resumed, b.groups...); lost > 0 && loses == nothing || lost == 0 && loses == something {
					t.Errorf("%d messages were lost that only a master had, want %s", lost, loses)
				}
				if b.lost.Load() == 0 {
					t.Error("nobody was told that signals may be lost")
				}
			})
			if t.Failed() {
				return
			}
		}
	}
}

// losses says whether a fault loses what only a master had.
type losses string

const (
	nothing   losses = "none"
	maybe     losses = "any number"
	something losses = "some"
)

// takeover lets a master fail until its replica serves, and come back. It returns how long after the promotion sends succeeded.
func (b *clusterBench) takeover(t *testing.T, fail, heal func(*redistest.Server)) (resumed time.Duration) {
	t.Helper()
	hit := b.groups[0]
	slot, _ := b.Slot(b.store.keys.group(hit.group).base)
	b.sending(t, func() {
		fail(hit.home)
		heir := b.AwaitHeir(hit.home, slot)
		resumed = hit.arrives(t, b.store, heir)
		slack := 2 * time.Duration(max(b.groups[1].slowest.Load(), b.groups[2].slowest.Load())) // of a machine that is busy
		if resumed > resumesWithin+slack {
			t.Errorf("the first send succeeded %v after the promotion of %s", resumed, heir.Addr)
		}
		for _, g := range b.groups {
			g.await(t, 20)
			b.hears(t, g.group)
		}
		if heal != nil {
			heal(hit.home)
		}
		b.AwaitReady()
		for _, g := range b.groups {
			g.await(t, 20)
		}
	})
	return resumed
}

// moveSlot moves one slot to another master.
func (b *clusterBench) moveSlot(t *testing.T) {
	t.Helper()
	hit, to := b.groups[0], b.groups[1].home
	slot, _ := b.Slot(b.store.keys.group(hit.group).base)
	b.sending(t, func() {
		b.Migrate(slot, hit.home, to, func() {
			if got := b.writeDurably(t, hit.group, chat.DurabilityReplica); got != chat.DurabilityReplica {
				t.Errorf("a call that followed ASK: got durability %q", got)
			}
		})
		hit.await(t, 20)
		b.hears(t, hit.group)
	})
	if hit.failed.Load() > 0 {
		t.Errorf("%d sends to %s failed", hit.failed.Load(), hit.group)
	}
}

// reshard moves every partition of a master to the two others in turn, and then all of them back.
func (b *clusterBench) reshard(t *testing.T) {
	t.Helper()
	hit := b.groups[0]
	b.sending(t, func() {
		moved := map[int64]*redistest.Server{}
		for _, part := range b.store.keys.partitions {
			if slot, home := b.Slot(part.base); home == hit.home {
				moved[slot] = b.groups[1+len(moved)%2].home
				b.Migrate(slot, home, moved[slot], nil)
			}
		}
		hit.await(t, 20)
		b.hears(t, hit.group)
		for slot, at := range moved {
			b.Migrate(slot, at, hit.home, nil)
		}
		for _, g := range b.groups {
			g.await(t, 20)
			b.hears(t, g.group)
		}
		t.Logf("%d slots moved twice", len(moved))
	})
	if hit.failed.Load()*100 > hit.sent.Load() {
		t.Errorf("%d sends to %s failed, and %d succeeded", hit.failed.Load(), hit.group, hit.sent.Load())
	}
}

// TestRedirectsAreFollowed: a client that knows the old master of a slot gets through to the new one, and so does one that comes
// while the keys have moved and the slot has not.
func TestRedirectsAreFollowed(t *testing.T) {
	b := onCluster(t, redistest.StartCluster(t, 3, 0))
	s, hit, other := b.store, b.groups[0], b.groups[1]
	k := s.keys.group(hit.group)
	reads := func(what string) {
		t.Helper()
		if got, err := s.conn.Client().HGet(t.Context(), k.meta(), "epoch").Result(); got != "e" || err != nil {
			t.Errorf("%s: a command: got %q, %v", what, got, err)
		}
		for name, run := range map[string]func(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error){
			"a pipeline": s.conn.Client().Pipelined, "a transaction": s.conn.Client().TxPipelined,
		} {
			var epoch *redis.StringCmd
			var elsewhere *redis.StringCmd
			var n *redis.IntCmd
			_, err := run(t.Context(), func(pipe redis.Pipeliner) error {
				epoch, n = pipe.HGet(t.Context(), k.meta(), "epoch"), pipe.ZCard(t.Context(), k.msgs())
				if elsewhere = epoch; name == "a pipeline" {
					elsewhere = pipe.HGet(t.Context(), s.keys.group(other.group).meta(), "epoch")
				}
				return nil
			})
			if err != nil || epoch.Val() != "e" || elsewhere.Val() != "e" || n.Val() == 0 {
				t.Errorf("%s: %s: got %q, %q, %d, %v", what, name, epoch.Val(), elsewhere.Val(), n.Val(), err)
			}
		}
	}
	appends := func() error {
		_, err := s.Append(t.Context(), chat.Append{Group: hit.group, From: "alice", Kind: chat.Text, Mark: "abcdef", SentAtMs: 1,
			Rest: []byte(`"group":"` + hit.group + `","from":"alice","kind":"text","body":"x"}`)})
		return err
	}
	slot, _ := b.Slot(k.base)
	sent := make(chan error, 1)
	b.Migrate(slot, hit.home, other.home, func() {
		reads("the keys have moved") // ASK
		go func() { sent <- appends() }()
		refused := func() bool { return other.home.Stat("total_error_replies") > 0 } // TRYAGAIN: the script has keys that do not exist
		if !comes(refused) {
			t.Error("the send was not refused in between")
		}
	})
	if err := <-sent; err != nil {
		t.Errorf("a send that came while the slot moved: %v", err)
	}
	reads("the slot has moved") // MOVED, until the client has learned of it
	if err := appends(); err != nil {
		t.Error(err)
	}
	if pages, err := s.Pull(t.Context(), "alice", []chat.Pull{{Group: hit.group, Limit: 10}}); err != nil || len(pages[0].Messages) != 3 {
		t.Errorf("got %+v, %v", pages, err)
	}
}

// TestClusterKeepsItsPartitions: a new store has 64 or as many as the URL says, and another number is refused by name. So is a
// master that hangs when a node starts.
func TestClusterKeepsItsPartitions(t *testing.T) {
	c := redistest.StartCluster(t, 3, 0)
	for _, one := range []struct {
		prefix, url string
		want        int
		refused     string
	}{
		{"a", c.URL(), 64, ""}, {"b", c.URL() + "?partitions=8", 8, ""}, {"b", c.URL(), 8, ""}, {"b", c.URL() + "?partitions=9", 0, "8 partitions"},
	} {
		s, err := Open(t.Context(), Options{URL: one.url, Prefix: one.prefix})
		if one.refused != "" {
			if err == nil || !strings.Contains(err.Error(), one.refused) {
				t.Errorf("%s: got error %v, want one about %q", one.url, err, one.refused)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Partitions(); got != one.want {
			t.Errorf("%s: got %d partitions, want %d", one.url, got, one.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(t.Context(), Options{URL: c.URL(), Prefix: "none", Existing: true}); !errors.Is(err, ErrEmpty) {
		t.Errorf("got error %v of a store that is not there", err)
	}
	away := c.Nodes[1]
	away.Signal(syscall.SIGSTOP)
	if _, err := Open(t.Context(), Options{URL: c.URL(), Prefix: "a"}); err == nil || !strings.Contains(err.Error(), away.Addr) {
		t.Errorf("got error %v while %s hangs, want one that names it", err, away.Addr)
	}
}

// TestClusterConditions: what is wrong on any master is a condition that names it.
func TestClusterConditions(t *testing.T) {
	c := redistest.StartCluster(t, 3, 0, "--appendonly", "yes")
	s, err := Open(t.Context(), Options{URL: c.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	expect := func(kind conn.ConditionKind, node *redistest.Server) {
		t.Helper()
		got, err := s.conn.Conditions(t.Context())
		if err != nil || node == nil && len(got) > 0 {
			t.Fatalf("got %v, %v; want none", got, err)
		}
		if node != nil && (len(got) != 1 || got[0].Kind != kind || !strings.HasPrefix(got[0].Message, node.Addr+": ")) {
			t.Errorf("got %v, want %s of %s", got, kind, node.Addr)
		}
	}
	expect("", nil)
	for kind, setting := range map[conn.ConditionKind][3]string{
		conn.ConditionCoverage: {"cluster-require-full-coverage", "yes", "no"}, conn.ConditionEviction: {"maxmemory-policy", "allkeys-lru", "noeviction"},
	} {
		c.Nodes[1].Do("CONFIG", "SET", setting[0], setting[1])
		expect(kind, c.Nodes[1])
		c.Nodes[1].Do("CONFIG", "SET", setting[0], setting[2])
	}
	expect("", nil)
}
