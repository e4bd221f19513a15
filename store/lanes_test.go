package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store/conn"
)

// laneBench is a store on a cluster with many groups on the first of its masters, each in a partition of its own, and one elsewhere.
type laneBench struct {
	*clusterBench
	t         *testing.T
	home      *redistest.Server
	server    conn.Server // at home
	groups    []string
	elsewhere *shardSends

	running sync.WaitGroup
	mu      sync.Mutex
	ids     map[string][]int64 // that sends got, by group
	failed  []error
}

func onLanes(t *testing.T) *laneBench {
	t.Helper()
	on := onCluster(t, redistest.StartCluster(t, 3, 0))
	b := &laneBench{clusterBench: on, t: t, home: on.groups[0].home, elsewhere: on.groups[1], ids: map[string][]int64{}}
	s, used := b.store, map[int]bool{}
	for n := 0; len(b.groups) < 6; n++ {
		id := fmt.Sprint("lane", n)
		p := s.keys.partition(id)
		if _, home := b.Slot(s.keys.part(p).base); home == b.home && !used[p] {
			used[p] = true
			createBenchGroup(t, s, id)
			b.groups = append(b.groups, id)
		}
	}
	var err error
	if b.server, err = s.conn.MasterOf(t.Context(), s.keys.home(b.groups[0]).base); err != nil {
		t.Fatal(err)
	}
	return b
}

func plainMessage(group, key string) chat.Append {
	return chat.Append{Group: group, From: "alice", Kind: chat.Text, Mark: "abcdef", SentAtMs: 1, Key: key, Content: key,
		Rest: []byte(`"group":"` + group + `","from":"alice","kind":"text","body":"x"}`)}
}

// send sends n messages at the same time, to groups in turn.
func (b *laneBench) send(n int, groups ...string) {
	for i := range n {
		b.running.Go(func() {
			done, err := b.store.Append(b.t.Context(), plainMessage(groups[i%len(groups)], ""))
			b.mu.Lock()
			defer b.mu.Unlock()
			if err != nil {
				b.failed = append(b.failed, err)
				return
			}
			b.ids[groups[i%len(groups)]] = append(b.ids[groups[i%len(groups)]], done.ID)
		})
	}
}

// returned is how many sends have returned.
func (b *laneBench) returned() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, ids := range b.ids {
		n += len(ids)
	}
	return n + len(b.failed)
}

// awaitWaiting waits until so many sends wait in the lane to home.
func (b *laneBench) awaitWaiting(n int) {
	b.t.Helper()
	if !comes(func() bool { return b.store.sends.To(b.server).Load().Waiting == n }) {
		b.t.Fatalf("got %+v, want %d sends that wait", b.store.sends.To(b.server).Load(), n)
	}
}

// check waits for all sends, and sees that each of n succeeded and is in its log once. Each log begins with a notice.
func (b *laneBench) check(n int) {
	b.t.Helper()
	b.running.Wait()
	if got := b.returned(); len(b.failed) > 0 || got != n {
		b.t.Errorf("%d sends returned, want %d; failed: %v", got, n, b.failed)
	}
	for group, ids := range b.ids {
		different := map[int64]bool{}
		for _, id := range ids {
			different[id] = true
		}
		_, end, err := b.store.Range(b.t.Context(), group, 1<<40, 1, 0)
		if err != nil || len(different) != len(ids) || end.Last != int64(len(ids))+1 {
			b.t.Errorf("%s: %d sends have %d ids and the log ends at %d, %v", group, len(ids), len(different), end.Last, err)
		}
	}
}

// TestSendsOfAMasterShareRoundTrips: sends to groups in different partitions go together if one master has them, and those to other
// masters do not wait for them.
func TestSendsOfAMasterShareRoundTrips(t *testing.T) {
	b := onLanes(t)
	v := &valve{open: make(chan struct{})}
	b.server.Client.AddHook(v)
	b.send(sendsAlone, b.groups...)
	if !comes(func() bool { return v.count() == sendsAlone }) {
		t.Fatalf("%d sends have begun, want %d", v.count(), sendsAlone)
	}
	b.send(60, b.groups...)
	b.awaitWaiting(60)
	for range 20 {
		if _, err := b.store.Append(t.Context(), plainMessage(b.elsewhere.group, "")); err != nil {
			t.Errorf("a send to another master: %v", err)
		}
	}
	if got := b.returned(); got != 0 {
		t.Errorf("%d sends have returned while the master hangs", got)
	}
	close(v.open)
	b.check(sendsAlone + 60)
	if got, most := v.count(), sendsAlone+1; got != most {
		t.Errorf("%d round trips for %d sends, want %d", got, sendsAlone+60, most)
	}
}

// TestSlotMovesWhileSendsWait: sends that wait for their turn at a master while a slot moves away go to the new one, once, and those
// to its other groups are not held up while the slot cannot be served.
func TestSlotMovesWhileSendsWait(t *testing.T) {
	b := onLanes(t)
	moves, stays := b.groups[0], b.groups[1]
	slot, _ := b.Slot(b.store.keys.group(moves).base)
	before := 0
	b.Migrate(slot, b.home, b.elsewhere.home, func() {
		b.send(2*sendsAlone, moves)
		if !comes(func() bool { return b.elsewhere.home.Stat("total_error_replies") >= 2*sendsAlone }) { // TRYAGAIN, after ASK
			t.Error("the sends were not refused in between")
		}
		before = b.returned()
		for range 20 {
			if _, err := b.store.Append(t.Context(), plainMessage(stays, "")); err != nil {
				t.Errorf("a send to a group that stays: %v", err)
			}
		}
		if before > 0 || b.returned() > 0 {
			t.Errorf("%d sends to the group that moves have returned before the others, want none", b.returned())
		}
	})
	b.check(2 * sendsAlone)

	b.ids = map[string][]int64{}
	moves = b.groups[2]
	slot, _ = b.Slot(b.store.keys.group(moves).base)
	v := &valve{open: make(chan struct{})}
	b.server.Client.AddHook(v)
	b.send(sendsAlone, b.groups[3])
	if !comes(func() bool { return v.count() == sendsAlone }) {
		t.Fatal("the first sends have not begun")
	}
	b.send(40, moves, b.groups[4])
	b.awaitWaiting(40)
	b.Migrate(slot, b.home, b.elsewhere.home, nil)
	b.elsewhere.home.Do("SCRIPT", "FLUSH")
	b.home.Do("SCRIPT", "FLUSH")
	close(v.open)
	b.check(sendsAlone + 40)
}

// lossy loses the answers of script calls while it is armed.
type lossy struct {
	mu    sync.Mutex
	armed bool
	lost  int
}

func (l *lossy) lose(cmds ...redis.Cmder) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.armed || cmds[0].Name() != "evalsha" {
		return nil
	}
	for _, cmd := range cmds {
		cmd.SetErr(io.EOF)
		l.lost++
	}
	return io.EOF
}

func (l *lossy) arm(armed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = armed
}

func (l *lossy) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (l *lossy) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if lost := l.lose(cmd); lost != nil {
			return lost
		}
		return err
	}
}

func (l *lossy) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if lost := l.lose(cmds...); lost != nil {
			l.arm(false) // the next ones arrive
			return lost
		}
		return err
	}
}

// TestLostAnswersOfALane: a joined send whose answer is lost is repeated if it has a key, and never if it has none.
func TestLostAnswersOfALane(t *testing.T) {
	b := onLanes(t)
	v, l := &valve{open: make(chan struct{})}, &lossy{}
	b.server.Client.AddHook(v)
	b.server.Client.AddHook(l)
	b.send(sendsAlone, b.groups...)
	if !comes(func() bool { return v.count() == sendsAlone }) {
		t.Fatal("the first sends have not begun")
	}
	plain, keyed := b.groups[0], b.groups[1]
	var kept sync.WaitGroup
	for i := range 10 {
		kept.Go(func() {
			if done, err := b.store.Append(t.Context(), plainMessage(keyed, fmt.Sprint("key", i))); err != nil || !done.Duplicate {
				t.Errorf("a send with a key: got %+v, %v; want the answer to the first", done, err)
			}
		})
		kept.Go(func() {
			_, err := b.store.Append(t.Context(), plainMessage(plain, ""))
			if chat.CodeOf(err) != chat.CodeUnavailable || !errors.Is(err, io.EOF) {
				t.Errorf("a send without a key: got %v, want that its outcome is unknown", err)
			}
		})
	}
	b.awaitWaiting(20)
	v.hold() // only the first ones get through
	b.running.Wait()
	l.arm(true)
	close(v.open)
	kept.Wait()
	if l.lost == 0 {
		t.Error("no answer was lost")
	}
	for group, want := range map[string]int{plain: 10 + len(b.ids[plain]), keyed: 10 + len(b.ids[keyed])} {
		if _, end, err := b.store.Range(t.Context(), group, 1<<40, 1, 0); err != nil || end.Last != int64(want)+1 {
			t.Errorf("%s ends at %d, %v; want %d messages and a notice", group, end.Last, err, want)
		}
	}
}

// TestSharedReadsOfAMaster: pulls of groups in different partitions share a read if one master has them, and a pull that waits while
// its slot moves reads from the new one.
func TestSharedReadsOfAMaster(t *testing.T) {
	b := onLanes(t)
	v := &valve{open: make(chan struct{})}
	b.server.Client.AddHook(v)
	var running sync.WaitGroup
	pull := func(group string) {
		running.Go(func() {
			pages, err := b.store.Pull(t.Context(), "alice", []chat.Pull{{Group: group, From: 1, Limit: 10, Shared: true}})
			if err != nil || len(pages[0].Messages) != 1 {
				t.Errorf("%s: got %+v, %v", group, pages, err)
			}
		})
	}
	pull(b.groups[0])
	if !comes(func() bool { return v.count() == 1 }) {
		t.Fatal("the first pull has not begun")
	}
	for i := range 24 {
		pull(b.groups[i%len(b.groups)])
	}
	if !comes(func() bool { return b.store.shared.To(b.server).Load().Waiting == 24 }) {
		t.Fatalf("got %+v, want 24 pulls that wait", b.store.shared.To(b.server).Load())
	}
	pull(b.elsewhere.group) // does not wait
	slot, _ := b.Slot(b.store.keys.group(b.groups[1]).base)
	b.Migrate(slot, b.home, b.elsewhere.home, nil)
	close(v.open)
	running.Wait()
	if got := v.count(); got != 2 {
		t.Errorf("%d round trips to the master, want one for the first pull and one for the others", got)
	}
}
