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
)

// TestPartitionsSpreadOverMasters: with 64 partitions the busiest master has at most a quarter more than its share.
func TestPartitionsSpreadOverMasters(t *testing.T) {
	for _, masters := range []int{3, 4, 6, 16} {
		counts := make([]int, masters)
		for _, part := range newKeyspace("chat", clusterShare).partitions {
			counts[slotOf(tagOf(part.base))*masters/16384]++
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

// shardSends sends to one group without a pause and keeps what was acknowledged.
type shardSends struct {
	group string
	home  *redistest.Server

	sent, failed atomic.Int64
	slowest      atomic.Int64 // ns
	mu           sync.Mutex
	acked        map[string]int64 // mark to id, of those that a replica had
}

func (l *shardSends) run(ctx context.Context, s *Store) {
	for n := 0; ctx.Err() == nil; n++ {
		mark := fmt.Sprintf("%06d", n)
		durability := chat.DurabilityReplica // the others take another way
		if n%2 == 0 {
			durability = chat.DurabilityMemory
		}
		began := time.Now()
		done, err := s.Append(context.WithoutCancel(ctx), chat.Append{Group: l.group, From: "alice", Kind: chat.Text, Mark: mark, SentAtMs: 1,
			Durability: durability, Rest: []byte(`"group":"` + l.group + `","from":"alice","kind":"text","body":"x"}`)})
		l.slowest.Store(max(l.slowest.Load(), int64(time.Since(began))))
		if err != nil {
			l.failed.Add(1)
			continue
		}
		if done.Durability == chat.DurabilityReplica {
			l.mu.Lock()
			l.acked[mark] = done.ID
			l.mu.Unlock()
		}
		l.sent.Add(1)
	}
}

// await waits for more sends to succeed.
func (l *shardSends) await(t *testing.T, more int64) {
	t.Helper()
	want := l.sent.Load() + more
	if !comes(func() bool { return l.sent.Load() >= want }) {
		t.Fatalf("sends to %s on %s do not succeed; %d failed", l.group, l.home.Addr, l.failed.Load())
	}
}

// comes waits for something of the background, and reports whether it came.
func comes(holds func() bool) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !holds() {
		select {
		case <-deadline:
			return false
		case <-tick.C:
		}
	}
	return true
}

// check compares what was acknowledged with what is stored.
func (l *shardSends) check(t *testing.T, s *Store) {
	t.Helper()
	stored := map[int64]string{}
	times := map[string]int{}
	for from := int64(1); ; {
		entries, end, err := s.Range(t.Context(), l.group, from, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range entries {
			stored[m.ID] = m.Mark
			times[m.Mark]++
			if times[m.Mark] > 1 {
				t.Errorf("%s: message %s is there %d times", l.group, m.Mark, times[m.Mark])
			}
			from = m.ID + 1
		}
		if len(entries) == 0 || from > end.Last {
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for mark, id := range l.acked {
		if stored[id] != mark {
			t.Errorf("%s: message %s with id %d was acknowledged, and %q is there", l.group, mark, id, stored[id])
		}
	}
	if len(l.acked) == 0 {
		t.Errorf("%s: nothing was acknowledged by a replica", l.group)
	}
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
			b.groups = append(b.groups, &shardSends{group: id, home: home, acked: map[string]int64{}})
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

// sending runs senders to all groups while a fault happens.
func (b *clusterBench) sending(t *testing.T, fault func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, g := range b.groups {
		running.Go(func() { g.run(ctx, b.store) })
	}
	for _, g := range b.groups {
		g.await(t, 20)
	}
	fault()
}

// hears waits until new messages of a group come as signals.
func (b *clusterBench) hears(t *testing.T, group string) {
	t.Helper()
	_, end, err := b.store.Range(t.Context(), group, 1<<40, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !comes(func() bool { id, ok := b.heard.Load(group); return ok && id.(int64) > end.Last }) {
		t.Fatalf("no signal of new messages in %s", group)
	}
}

// TestClusterFaults: on three masters with a replica each, a master dies, another hangs, and a slot moves, under load. Nothing
// that a replica had is lost, nothing is there twice, the other shards go on, and signals come again.
func TestClusterFaults(t *testing.T) {
	c := redistest.StartCluster(t, 3, 1)
	takeover := func(t *testing.T, fail, heal func(*redistest.Server)) {
		b := onCluster(t, c)
		hit := b.groups[0]
		slot, _ := c.Slot(b.store.keys.group(hit.group).base)
		b.sending(t, func() {
			fail(hit.home)
			heir := c.AwaitHeir(hit.home, slot)
			promoted := time.Now()
			hit.await(t, 1)
			if took := time.Since(promoted); took > 6*time.Second {
				t.Errorf("the first send succeeded %v after the promotion of %s", took, heir.Addr)
			} else {
				t.Logf("the first send succeeded %v after the promotion; %d had failed", took, hit.failed.Load())
			}
			for _, g := range b.groups {
				g.await(t, 20)
				b.hears(t, g.group)
			}
			if !comes(func() bool {
				return !b.store.cluster.anyAway(b.store.cluster.homes(t.Context(), b.store.keys.partitions))
			}) {
				t.Error("the topology is reloaded for a node that nobody needs")
			}
			if n := b.store.cluster.node(hit.home.Addr).breaker; n.state().Err() == nil || !n.seldom.Load() {
				t.Error("a node that is away and has an heir is taken for one that answers, or asked often")
			}
		})
		for i, g := range b.groups {
			g.check(t, b.store)
			if slow := time.Duration(g.slowest.Load()); i > 0 && (g.failed.Load() > 0 || slow > 3*time.Second) {
				t.Errorf("another shard: %d sends failed, and the slowest took %v", g.failed.Load(), slow)
			}
		}
		if b.lost.Load() == 0 {
			t.Error("nobody was told that signals may be lost")
		}
		heal(hit.home)
		c.AwaitReady()
	}
	t.Run("a master dies", func(t *testing.T) {
		takeover(t, (*redistest.Server).Kill, (*redistest.Server).Restart)
	})
	t.Run("a master hangs", func(t *testing.T) {
		takeover(t, func(s *redistest.Server) { s.Signal(syscall.SIGSTOP) }, func(s *redistest.Server) { s.Signal(syscall.SIGCONT) })
	})
	t.Run("a slot moves", func(t *testing.T) {
		b := onCluster(t, c)
		hit, to := b.groups[0], b.groups[1].home
		slot, _ := c.Slot(b.store.keys.group(hit.group).base)
		b.sending(t, func() {
			c.Migrate(slot, hit.home, to, func() {
				if got := b.holdDurably(t, hit.group, chat.DurabilityReplica); got != chat.DurabilityReplica {
					t.Errorf("a call that followed ASK: got durability %q", got)
				}
			})
			hit.await(t, 20)
			b.hears(t, hit.group)
		})
		for _, g := range b.groups {
			g.check(t, b.store)
			if g.failed.Load() > 0 {
				t.Errorf("%d sends to %s failed", g.failed.Load(), g.group)
			}
		}
		if b.lost.Load() == 0 {
			t.Error("nobody was told that signals may be lost")
		}
	})
}

// TestRedirectsAreFollowed: a client that knows the old master of a slot gets through to the new one, and so does one that comes
// while the keys have moved and the slot has not.
func TestRedirectsAreFollowed(t *testing.T) {
	b := onCluster(t, redistest.StartCluster(t, 3, 0))
	s, hit, other := b.store, b.groups[0], b.groups[1]
	k := s.keys.group(hit.group)
	reads := func(what string) {
		t.Helper()
		if got, err := s.client.HGet(t.Context(), k.meta(), "epoch").Result(); got != "e" || err != nil {
			t.Errorf("%s: a command: got %q, %v", what, got, err)
		}
		for name, run := range map[string]func(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error){
			"a pipeline": s.client.Pipelined, "a transaction": s.client.TxPipelined,
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
	expect := func(kind ConditionKind, node *redistest.Server) {
		t.Helper()
		got, err := s.Conditions(t.Context())
		if err != nil || node == nil && len(got) > 0 {
			t.Fatalf("got %v, %v; want none", got, err)
		}
		if node != nil && (len(got) != 1 || got[0].Kind != kind || !strings.HasPrefix(got[0].Message, node.Addr+": ")) {
			t.Errorf("got %v, want %s of %s", got, kind, node.Addr)
		}
	}
	expect("", nil)
	for kind, setting := range map[ConditionKind][3]string{
		ConditionCoverage: {"cluster-require-full-coverage", "yes", "no"}, ConditionEviction: {"maxmemory-policy", "allkeys-lru", "noeviction"},
	} {
		c.Nodes[1].Do("CONFIG", "SET", setting[0], setting[1])
		expect(kind, c.Nodes[1])
		c.Nodes[1].Do("CONFIG", "SET", setting[0], setting[2])
	}
	expect("", nil)
}
