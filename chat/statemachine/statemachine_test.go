package statemachine_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
	"github.com/chatd/chatd/store/embedded"
)

// mustHappen are the outcomes without which a test has compared nothing.
var mustHappen = []string{"create", "send", "retry", "key reused", "pull", "ack", "ack above last", "unread", "join", "put", "remove",
	"edit", "delete", "react", "settings", "delete a group", "operator puts", "operator removes", "receipts",
	"task cleanup", "task member", "pin", "unpin", "pin of a trimmed message", "sync", "groups", "send from outside", "pull from outside",
	"rewrite a text", "refuse a text", "hold a text", "hold an edit", "release a text", "decide twice", "report", "close a report twice"}

// mustHappenToo come less often, once in ten runs at the least.
var mustHappenToo = []string{"retry of what was held", "release an edit", "release against the rights of now", "drop what is held", "hold a direct message",
	"report again", "report of what is gone now", "dismiss a report", "delete what is reported and there", "mute who is reported", "ban who is reported", "queues"}

// machineSteps is how many actions a run of the state machine takes.
const machineSteps = 70

// backend is a store with a restart: reopen gives a new service on the data that was there.
type backend struct {
	t       *rapid.T
	open    func() (*store.Store, func())
	archive *sqlarchive.Store // nil: there is none
	clock   machineClock      // of what is sent, where there is an archive
	hook    machineHook
	close   func()
}

// machineLimits are small where a run would not get there.
func machineLimits() chat.Limits {
	l := chat.DefaultLimits()
	l.SenderReviewsMax, l.MemberReportsMax = senderReviewsMax, memberReportsMax
	return l
}

func (b *backend) reopen() opened {
	if b.close != nil {
		b.close()
	}
	s, release := b.open()
	b.close = release
	o := chat.Options{Limits: machineLimits(), Before: &b.hook}
	if b.archive == nil {
		return opened{service: chat.New(s, o), stores: s, hook: &b.hook}
	}
	if b.clock == 0 {
		b.clock = newMachineClock()
	}
	o.Now = b.clock.tick
	a := newMachineArchive(b.t, s, b.archive, o)
	a.clock = &b.clock
	return opened{service: a.core, stores: s, archive: a, hook: &b.hook}
}

func (b *backend) store(o store.Options) *store.Store {
	o.Limits = machineLimits()
	s, err := store.Open(context.Background(), o)
	if err != nil {
		b.t.Fatalf("open: %v", err)
	}
	return s
}

func (b *backend) fatal(err error) {
	if err != nil {
		b.t.Fatal(err)
	}
}

// runMachine runs the state machine checks times, or as often as -rapid.checks says: `make soak` runs it for hours.
func runMachine(t *testing.T, checks int, newBackend func(*rapid.T) *backend, alsoHappen ...happening) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set(fmt.Sprint(checks)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }() // its own default is no error
	}
	clear(outcomes)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		b := newBackend(rt)
		defer func() {
			if b.close != nil {
				b.close()
			}
		}()
		m := newMachine(context.Background(), b.reopen)
		for range machineSteps {
			m.step(rt)
		}
		for group := range m.groups {
			m.trim(rt, "", group)
			m.check(rt, group)
		}
	})
	// The rarest of these comes once in fifteen runs, so far fewer are no matter of chance.
	seldom(t, runs, 50, mustHappen)
	seldom(t, runs, 85, mustHappenToo)
	for _, also := range alsoHappen {
		seldom(t, runs, also.every, also.what)
	}
	t.Logf("outcomes: %v", outcomes)
}

// happening is what must have happened at least once in every so many runs.
type happening struct {
	every int
	what  []string
}

func seldom(t *testing.T, runs, every int, list []string) {
	t.Helper()
	for _, what := range list {
		if outcomes[what] < runs/every && !t.Failed() {
			t.Errorf("%q happened %d times in %d runs: too seldom to say anything", what, outcomes[what], runs)
		}
	}
}

// TestMachineEmbedded compares the service on the embedded store with the model, with one partition and with four. In one
// run of three a restart is that of the whole store, which replays its journal; in the others the node alone is new, and
// the runs share a store in memory: what is compared is the same, and the disk is not waited for.
func TestMachineEmbedded(t *testing.T) {
	shared := openEmbedded(t, embedded.Options{})
	defer func() { _ = shared.Close() }()
	runs := 0
	runMachine(t, 85, func(rt *rapid.T) *backend {
		runs++
		o := store.Options{Embedded: shared, Prefix: fmt.Sprintf("run%d", runs), Partitions: oneOf(rt, "partitions", 1, 4)}
		b := &backend{t: rt}
		if oneOf(rt, "on disk", true, false, false) {
			dir := memoryDir(t)
			b.open = func() (*store.Store, func()) {
				e := openEmbedded(rt, embedded.Options{Dir: dir})
				o.Embedded = e
				s := b.store(o)
				return s, func() {
					b.fatal(s.Close())
					b.fatal(e.Close())
				}
			}
			return b
		}
		b.open = func() (*store.Store, func()) {
			s := b.store(o)
			return s, func() { b.fatal(s.Close()) }
		}
		return b
	})
}

func openEmbedded(t interface{ Fatalf(string, ...any) }, o embedded.Options) *embedded.Store {
	e, err := embedded.Open(context.Background(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return e
}

// memoryDir is a folder in memory where the system has one: a journal is replayed from there as from a disk, and nobody
// waits for an fsync.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "chatd-test")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestMachineRedis compares the service on a real redis-server with four partitions with the model. A restart is that of
// the node, and the server has forgotten the scripts.
func TestMachineRedis(t *testing.T) {
	server := redistest.Start(t)
	runMachineOn(t, 50, server.URL(), func() { server.Do("SCRIPT", "FLUSH") })
}

// `make soak` does more. What differs from one server are the client and where the scripts are.
const machinesElsewhere = 6

// TestMachineCluster is the same with the partitions on three masters, each with a replica.
func TestMachineCluster(t *testing.T) {
	cluster := redistest.StartCluster(t, 3, 1)
	runMachineOn(t, machinesElsewhere, cluster.URL(), func() {
		for _, node := range cluster.Nodes {
			node.Do("SCRIPT", "FLUSH")
		}
	})
}

// TestMachineSentinel is the same on a primary that a sentinel names, with a replica. TestFaults has its failovers.
func TestMachineSentinel(t *testing.T) {
	redis := withSentinel(t)
	defer redis.end()
	runMachineOn(t, machinesElsewhere, redis.url, func() { redis.primary.Do("SCRIPT", "FLUSH") })
}

// runMachineOn runs the state machine with four partitions, each run under a prefix of its own.
func runMachineOn(t *testing.T, checks int, url string, forget func()) {
	t.Helper()
	runs := 0
	runMachine(t, checks, func(rt *rapid.T) *backend {
		runs++
		prefix := fmt.Sprintf("run%d", runs)
		b := &backend{t: rt}
		b.open = func() (*store.Store, func()) {
			forget()
			s := b.store(store.Options{URL: url, Prefix: prefix, Partitions: 4})
			return s, func() { b.fatal(s.Close()) }
		}
		return b
	})
}
