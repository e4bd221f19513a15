package statemachine_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/interval"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

const (
	faultSteps  = 60
	faultChecks = 8               // runs of each setup by default
	healed      = 3 * time.Minute // until everything serves again, or a client has learned what it must
	savesKept   = 25              // states that a fault may lead back to

	overtakenMax = 25 // messages that a log may lack of what a device holds, so that it is rewritten up to there
)

// faultsMustHappen are the outcomes without which TestFaults has shown nothing.
var faultsMustHappen = []string{"rewind", "rewrite", "empty", "full", "busy", "stop", "kill", "failover", "failover that loses",
	"pull from a log that is not the device's", "ack of a log that is not the device's", "sync from a log that is not the device's",
	"follower of a log that is not its own", "inbox that is not the device's", "ack of an inbox that is not the device's",
	"follower of an inbox that is not its own", "send that met a fault",
	"trimmed just where a device stands that holds another log", "archived run", "page of the archive", "page over the border",
	"edit of an archived message", "react of an archived message", "archive after a loss", "unchange",
	"served newer than the store had it", "react in doubt", "sync from memory"}

// TestFaults drives two nodes on one Redis at random, as the other machines do one, while the Redis is killed, stopped, kept
// busy, full, emptied, put back to what it held before, or replaced by a replica that lags behind. Clients keep what they
// were given through all of it. Each whose copy the store has lost learns so with its next pull, sync, ack or live batch,
// nobody else does, and nobody misses what was written in its place. In every other run there is an archive, which keeps what
// the store lost until it hears of that: see doubts.
func TestFaults(t *testing.T) {
	flagged := flag.Lookup("rapid.checks")
	if flagged.Value.String() == flagged.DefValue {
		if err := flagged.Value.Set(fmt.Sprint(faultChecks)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flagged.Value.Set(flagged.DefValue) })
	}
	clear(outcomes)
	t.Cleanup(func() {
		t.Logf("outcomes: %v", outcomes)
		for _, what := range faultsMustHappen { // a few runs may leave out some of these by chance
			if outcomes[what] < outcomes["run"]/50 && !t.Failed() {
				t.Errorf("%q happened %d times in %d runs: too seldom to say anything", what, outcomes[what], outcomes["run"])
			}
		}
	})
	for _, setup := range []struct {
		name    string
		start   func(*testing.T) (fresh func() *faultStore)
		archive func(*testing.T) [2]*sqlarchive.Store
	}{
		{"AOF always", func(t *testing.T) func() *faultStore { return alone(t, "always") }, archiveOfBoth},
		{"AOF everysec", func(t *testing.T) func() *faultStore { return alone(t, "everysec") }, archiveOfBoth},
		{"sentinel", func(t *testing.T) func() *faultStore { return func() *faultStore { return withSentinel(t) } }, archiveOfEach},
	} {
		t.Run(setup.name, func(t *testing.T) {
			t.Parallel()
			fresh, archive := setup.start(t), setup.archive(t)
			rapid.Check(t, func(rt *rapid.T) {
				redis := fresh()
				if oneOf(rt, "archived", true, false) {
					redis.archive = archive
				}
				m := newFaultMachine(rt, redis)
				defer m.close()
				for range faultSteps {
					m.step(rt)
				}
				m.settle(rt)
				happened("run")
				if m.archive != nil {
					happened("archived run")
				}
			})
		})
	}
}

// faultStore is the Redis of one run.
type faultStore struct {
	url      string
	primary  *redistest.Server
	fsync    string            // of a server that is alone
	replica  *redistest.Server // else
	sentinel *redistest.Server
	archive  [2]*sqlarchive.Store // of each node; nil: there is none
	end      func()
}

// alone starts one server, and gives it to each run without anything in it.
func alone(t *testing.T, fsync string) func() *faultStore {
	server := redistest.Start(t, "--appendfsync", fsync, "--enable-debug-command", "yes")
	return func() *faultStore {
		server.Rewind(0)
		return &faultStore{url: server.URL(), primary: server, fsync: fsync, end: func() {}}
	}
}

const primaryName = "faults"

// perRun ends what one run has started at its end, not at that of the test.
type perRun struct {
	testing.TB
	cleanups []func()
}

func (r *perRun) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *perRun) end() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

// withSentinel starts a primary, its replica, and a sentinel.
func withSentinel(tb testing.TB) *faultStore {
	t := &perRun{TB: tb}
	s := &faultStore{end: t.end}
	common := []string{"--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0", "--user", "replicating", "on", ">secret", "+@all"}
	s.primary = redistest.Start(t, common...)
	host, port, _ := net.SplitHostPort(s.primary.Addr)
	s.replica = redistest.Start(t, append(common, "--masteruser", "replicating", "--masterauth", "secret", "--replicaof", host+" "+port)...)
	s.caughtUp()
	s.sentinel = redistest.StartSentinel(t, primaryName, s.primary)
	s.url = "redis-sentinel://" + s.sentinel.Addr + "/0?master_name=" + primaryName
	return s
}

// caughtUp waits until the replica has everything.
func (s *faultStore) caughtUp() {
	for s.primary.Int("WAIT", "1", "100") != 1 || s.replica.Field("replication", "slave_repl_offset") < s.primary.Field("replication", "master_repl_offset") {
	}
}

// await looks again and again until ok.
func await(t interface{ Fatalf(string, ...any) }, what string, ok func() bool) {
	awaitNone(t, func() string {
		if ok() {
			return ""
		}
		return what
	})
}

// awaitNone looks again and again until there is nothing that missing would name.
func awaitNone(t interface{ Fatalf(string, ...any) }, missing func() string) {
	var every interval.Growing
	began := time.Now()
	for what := missing(); what != ""; what = missing() {
		if time.Since(began) > healed {
			t.Fatalf("waited %v in vain: %s", healed, what)
		}
		<-every.Next()
	}
}

// faultNode is one node, without the workers for its tasks.
type faultNode struct {
	core    *chat.Service
	live    *live.Service
	stores  *store.Store
	archive *machineArchive // nil: there is none
	stop    func()
}

// saved is what the store held at a moment.
type saved struct {
	written int64
	groups  map[string]*modelGroup
	inboxes map[string]*modelInbox
}

// faultMachine is a machine on two nodes. Every step takes one of them at random.
type faultMachine struct {
	*machine
	t         *rapid.T
	redis     *faultStore
	nodes     [2]*faultNode
	at        int // the node in use
	followers []*follower
	inboxes   map[string]*modelInbox // by user
	items     []*inboxDevice
	before    map[string]string // the mark of an entry or item -> that of the one before it, in all the logs that ever were
	cuts      map[string]int64  // by epoch: what was ever trimmed
	saves     []saved
	lagging   *saved // what the replica has, once it is cut off
	failed    bool   // the replica has taken over
}

func newFaultMachine(t *rapid.T, redis *faultStore) *faultMachine {
	m := &faultMachine{t: t, redis: redis, inboxes: map[string]*modelInbox{}, before: map[string]string{}, cuts: map[string]int64{}}
	for i := range m.nodes {
		m.nodes[i] = m.open(t, i)
	}
	m.machine = newMachine(context.Background(), func() opened { return m.node() })
	m.faults = true
	if m.archive != nil {
		m.doubts = newDoubts()
	}
	m.restart = m.reopen
	for i, user := range machineUsers {
		m.items = append(m.items, &inboxDevice{user: user})
		m.followers = append(m.followers, newFollower(user, i%len(m.nodes)))
	}
	for _, f := range m.followers {
		m.connect(t, f)
	}
	m.learn(t)
	return m
}

// open starts the node i.
func (m *faultMachine) open(t *rapid.T, i int) *faultNode {
	limits := chat.DefaultLimits()
	limits.SafetyCheck, limits.InboxKeep, limits.RememberGroups = 200*time.Millisecond, 2, 1
	s, err := store.Open(context.Background(), store.Options{URL: m.redis.url, Partitions: 4, Limits: limits})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	n := &faultNode{stores: s}
	if db := m.redis.archive[i]; db != nil {
		n.archive = newMachineArchive(t, s, db, chat.Options{Limits: limits})
		n.core = n.archive.core
		n.live = live.New(n.core, recalling{archivedStore{s, n.archive.serving}})
	} else {
		n.core = chat.New(s, chat.Options{Limits: limits})
		n.live = live.New(n.core, recalling{s})
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = n.live.Run(ctx) })
	n.stop = func() {
		cancel()
		running.Wait()
		_ = s.Close()
	}
	return n
}

// recalling is a store that counts the syncs of which it is certain that nothing is missing from what the node remembered.
type recalling struct{ live.Store }

func (s recalling) Arrivals(ctx context.Context, user string, of chat.Arriving) (chat.Arrivals, error) {
	a, err := s.Store.Arrivals(ctx, user, of)
	if err == nil && of.NoIndex && a.Ground != "" {
		happened("sync from memory")
	}
	return a, err
}

// reopen restarts the node in use. Its followers come back with what they hold.
func (m *faultMachine) reopen() opened {
	for _, f := range m.followers {
		if f.node == m.at {
			f.Close()
		}
	}
	m.nodes[m.at].stop()
	m.nodes[m.at] = m.open(m.t, m.at)
	for _, f := range m.followers {
		if f.node == m.at {
			m.connect(m.t, f)
		}
	}
	return m.node()
}

// node is the node in use.
func (m *faultMachine) node() opened {
	n := m.nodes[m.at]
	return opened{service: n.core, live: n.live, stores: n.stores, archive: n.archive}
}

func (m *faultMachine) close() {
	for _, f := range m.followers {
		f.Close()
	}
	for _, n := range m.nodes {
		n.stop()
	}
	m.redis.end()
}

// step does one random action on a random node.
func (m *faultMachine) step(t *rapid.T) {
	m.t = t
	m.at = evenly(t, "node", len(m.nodes))
	m.use(m.node())
	user := oneOf(t, "user", machineUsers...)
	group := oneOf(t, "group", machineGroups...)
	switch pick := evenly(t, "kind of step", 100); {
	case pick < 42:
		m.machine.step(t)
	case pick < 52 && m.groups[group] != nil:
		m.pull(t, user, group)
		m.check(t, group)
	case pick < 62:
		m.ackHeld(t, user, group)
	case pick < 70:
		m.syncHeld(t, user, true)
	case pick < 77:
		m.sendItem(t, user)
	case pick < 83:
		m.pullItems(t, user)
	case pick < 88:
		m.ackItems(t, user)
	case pick < 91:
		m.reconnect(t)
	case pick < 93:
		m.settle(t)
	default:
		m.fault(t, user, group)
	}
	m.learn(t)
	m.save()
}

// learn takes what the store has into the model, as far as the model cannot know it: marks, and the inboxes.
func (m *faultMachine) learn(t *rapid.T) {
	for group, g := range m.groups {
		m.cuts[g.epoch] = max(m.cuts[g.epoch], g.below())
		m.learnArchived(t, group)
		m.doubts.sawAll(g)
		link(m.before, g.marks)
	}
	for _, user := range machineUsers {
		m.readInbox(t, user)
	}
}

// link notes which mark follows which.
func link(before map[string]string, marks map[int64]string) {
	for id, mark := range marks {
		if previous := marks[id-1]; previous != "" {
			before[mark] = previous
		}
	}
}

// save keeps what the store holds now, for a rewind.
func (m *faultMachine) save() {
	if m.redis.fsync == "" {
		return
	}
	s := m.now()
	s.written = m.redis.primary.Written()
	if m.saves = append(m.saves, s); len(m.saves) > savesKept {
		m.saves = slices.Delete(m.saves, 0, 1)
	}
}

// now copies the model.
func (m *faultMachine) now() saved {
	s := saved{groups: map[string]*modelGroup{}, inboxes: map[string]*modelInbox{}}
	for id, g := range m.groups {
		s.groups[id] = g.clone()
	}
	for user, b := range m.inboxes {
		inbox := *b
		inbox.marks = maps.Clone(b.marks)
		s.inboxes[user] = &inbox
	}
	return s
}

// back sets the model to what it was.
func (m *faultMachine) back(s saved) {
	old := faultMachine{machine: &machine{groups: s.groups}, inboxes: s.inboxes}
	copied := old.now()
	m.groups, m.inboxes = copied.groups, copied.inboxes
	m.doubts.lost(m.groups)
}
