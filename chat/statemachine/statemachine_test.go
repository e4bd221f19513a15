package statemachine_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
	"github.com/chatd/chatd/store/embedded"
)

// happens are the outcomes without which a test has compared nothing, each with the share of runs in which it comes at least
// once, in percent, as measured over 400 runs on three kinds of store. A thirtieth of that is demanded: how often something
// comes in all says little, where one run of fifty has it many times and the others never.
var happens = map[string]int{
	"create": 100, "send": 98, "retry": 28, "key reused": 34, "pull": 84, "ack": 100, "ack above last": 58, "unread": 35,
	"join": 3, "put": 17, "remove": 38, "edit": 19, "delete": 31, "react": 39, "settings": 24, "delete a group": 12,
	"operator puts": 38, "operator removes": 25, "receipts": 29, "task cleanup": 77, "task member": 49, "pin": 31,
	"unpin": 4, "pin of a trimmed message": 4, "sync": 46, "groups": 41, "send from outside": 50,
	"pull from outside": 19, "rewrite a text": 69, "refuse a text": 48, "hold a text": 82, "hold an edit": 7,
	"release a text": 24, "decide twice": 35, "report": 71, "close a report twice": 25, "retry of what was held": 10,
	"release an edit": 2, "release against the rights of now": 8, "drop what is held": 10, "hold a direct message": 8,
	"report again": 8, "report of what is gone now": 5, "dismiss a report": 12, "delete what is reported and there": 7, "a message goes by itself": 30,
	"mute who is reported": 4, "ban who is reported": 4, "queues": 18,
}

// machineSteps is how many actions a run of the state machine takes.
const machineSteps = 70

// backend is a store with a restart: reopen gives a new service on the data that was there.
type backend struct {
	t       *rapid.T
	open    func() (*store.Store, func())
	archive *sqlarchive.Store // nil: there is none
	clock   machineClock      // of what is sent
	now     int64             // what the nodes take for the time where messages go by themselves, in ms
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
	if b.clock == 0 {
		b.clock = newMachineClock()
		b.now = int64(b.clock)
	}
	o := chat.Options{Limits: machineLimits(), Before: &b.hook, Now: b.clock.tick, StoreNow: func() int64 { return b.now }}
	node := opened{stores: s, hook: &b.hook, clock: &b.clock, now: &b.now}
	if b.archive == nil {
		node.service = chat.New(chat.Living(s, o.StoreNow), o)
		return node
	}
	node.archive = newMachineArchive(b.t, s, b.archive, o)
	node.service = node.archive.core
	return node
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
func runMachine(t *testing.T, checks int, newBackend func(*rapid.T) *backend, alsoHappen ...map[string]int) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set(fmt.Sprint(checks)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }() // its own default is no error
	}
	clear(outcomes)
	runs, came := 0, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		before := maps.Clone(outcomes)
		defer func() {
			for what, n := range outcomes {
				if n > before[what] {
					came[what]++
				}
			}
		}()
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
	for _, list := range append(alsoHappen, happens) {
		for what, percent := range list {
			if least := runs * percent / 100 / 30; came[what] < least && !t.Failed() {
				t.Errorf("%q happened in %d of %d runs, want %d at least: too seldom to say anything", what, came[what], runs, least)
			}
		}
	}
	t.Logf("outcomes: %v, and in how many of %d runs: %v", outcomes, runs, came)
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
