package store_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/embedded"
)

// disk is an embedded server whose syncs are looked at, and may fail.
type disk struct {
	*embedded.Store
	sync func() error
	full error
}

func (d *disk) Writable() error { return d.full }

func (d *disk) Sync(ctx context.Context) error {
	if err := d.sync(); err != nil {
		return err
	}
	return d.Store.Sync(ctx)
}

// A node whose embedded store refuses writes is not ready: everything that it is for fails.
func TestEmbeddedIsReadyWhileItWrites(t *testing.T) {
	d := &disk{Store: embeddedServer(t)}
	s := open(t, store.Options{Embedded: d})
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	d.full = errors.New("no space left on device")
	if err := s.Ready(t.Context()); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("while it cannot write: %v, want unavailable", err)
	}
}

// TestEmbeddedIsOnDiskAfterSync: what was sent is said to be on the disk once a sync that came after it has succeeded.
func TestEmbeddedIsOnDiskAfterSync(t *testing.T) {
	d := &disk{Store: embeddedServer(t)}
	s := open(t, store.Options{Embedded: d})
	group(t, s, "g", 100, 1000)
	syncs := 0
	sends := func(key string, want chat.Durability, failure error) {
		t.Helper()
		before := syncs
		d.sync = func() error {
			syncs++
			entries, _, err := s.Range(t.Context(), "g", 3, 100, 0)
			if err != nil || len(entries) == 0 || !strings.Contains(string(entries[len(entries)-1].JSON), key) {
				t.Errorf("synced before %s was written: %v", key, err)
			}
			return failure
		}
		a := greeting("g", "alice")
		a.Rest = []byte(strings.Replace(string(a.Rest), "hi", key, 1))
		a.Durability, a.Key, a.Content = chat.DurabilityDisk, key, "c"
		if got := send(t, s, a).Durability; got != want || syncs != before+1 {
			t.Errorf("got %q with %d syncs, want %q with one", got, syncs-before, want)
		}
	}
	for range 2 { // the second time it is a duplicate
		sends("one", chat.DurabilityDisk, nil)
	}
	for range 2 {
		sends("two", chat.DurabilityMemory, errors.New("the disk is broken"))
	}
	sends("two", chat.DurabilityDisk, nil)
}

// TestRepeatsAreWritten: WAIT and WAITAOF are documented to wait for what their own connection wrote, and the first time may
// have been on another one. So a repeat that is to reach a disk or a replica writes once more.
func TestRepeatsAreWritten(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL()})
	group(t, s, "g", 100, 1000)
	a := greeting("g", "bob")
	a.Key, a.Content = "k", "c"
	first := send(t, s, a)
	for _, durability := range []chat.Durability{chat.DurabilityDisk, chat.DurabilityReplica} {
		a.Durability = durability
		before := field(t, server, "persistence", "rdb_changes_since_last_save")
		again := send(t, s, a)
		writes := field(t, server, "persistence", "rdb_changes_since_last_save") - before
		if !again.Duplicate || again.ID != first.ID || writes == 0 {
			t.Errorf("durability %q: got %+v and %d writes, want a duplicate of %d that writes", durability, again, writes, first.ID)
		}
	}
}

// TestRepeatedReactionsAreWritten: the same for a reaction that is there already, which needs no key to be a duplicate.
func TestRepeatedReactionsAreWritten(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL()})
	group(t, s, "g", 100, 1000)
	target := send(t, s, greeting("g", "bob"))
	a := chat.Append{Group: "g", From: "bob", Kind: chat.Reaction, Mark: "r00001", Target: target.ID, Emoji: "+",
		Rest: []byte(`"group":"g","from":"bob","kind":"reaction","emoji":"+","sent_at":"2026-11-20T10:00:00.000Z"}`), SentAtMs: 1}
	first := send(t, s, a)
	a.Durability = chat.DurabilityDisk
	before := field(t, server, "persistence", "rdb_changes_since_last_save")
	again := send(t, s, a)
	if writes := field(t, server, "persistence", "rdb_changes_since_last_save") - before; !again.Duplicate || again.ID != first.ID || writes == 0 {
		t.Errorf("got %+v and %d writes, want a duplicate of %d that writes", again, writes, first.ID)
	}
}

// startReplica makes a replica of a server, and returns when it follows.
func startReplica(t *testing.T, of *redistest.Server) *redistest.Server {
	t.Helper()
	host, port, _ := net.SplitHostPort(of.Addr)
	replica := redistest.Start(t, "--replicaof", host+" "+port)
	of.AwaitReplica()
	return replica
}

// durableSends makes n sends at once that wait for a replica, and as many calls of others beside them. All have to succeed,
// each send having reached want. It tells how long the slowest of either took.
func durableSends(t *testing.T, s *store.Store, n int, want chat.Durability) (sends, others time.Duration) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	timed := func(slowest *time.Duration, do func()) {
		all.Go(func() {
			began := time.Now()
			do()
			mu.Lock()
			defer mu.Unlock()
			*slowest = max(*slowest, time.Since(began))
		})
	}
	for range n {
		timed(&sends, func() {
			a := greeting("g", "alice")
			a.Durability = chat.DurabilityReplica
			if done, err := s.Append(t.Context(), a); err != nil || done.Durability != want {
				t.Errorf("got durability %q, %v; want %q", done.Durability, err, want)
			}
		})
		timed(&others, func() {
			if _, err := s.Lasts(t.Context(), []string{"g"}); err != nil {
				t.Errorf("a call beside the sends: %v", err)
			}
		})
	}
	all.Wait()
	return sends, others
}

// TestReplicaDurability: a send that is to reach a replica says truthfully whether it did. Where there is none it is answered
// at once, and one that hangs holds up nobody else.
func TestReplicaDurability(t *testing.T) {
	const n, noWait = 180, 900 * time.Millisecond
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL()})
	group(t, s, "g", 100, 1000)
	// Who has to wait does so each time; a busy machine delays someone in one of several.
	sendsWhile := func(what string, ok func(sends, others time.Duration) bool) {
		t.Helper()
		var sends, others time.Duration
		for range 5 {
			if sends, others = durableSends(t, s, n, chat.DurabilityMemory); ok(sends, others) {
				return
			}
		}
		t.Errorf("%s: the sends took up to %v and other calls %v", what, sends, others)
	}
	sendsWhile("nobody has to wait without a replica", func(sends, others time.Duration) bool { return max(sends, others) < noWait })
	replica := startReplica(t, server)
	for { // what is known of replicas is a second old at most
		a := greeting("g", "alice")
		a.Durability = chat.DurabilityReplica
		if send(t, s, a).Durability == chat.DurabilityReplica {
			break
		}
	}
	durableSends(t, s, n, chat.DurabilityReplica)
	replica.Signal(syscall.SIGSTOP)
	sendsWhile("sends alone wait for a replica that hangs", func(sends, others time.Duration) bool { return sends > noWait && others < noWait })
	replica.Signal(syscall.SIGCONT)
	durableSends(t, s, n, chat.DurabilityReplica)
}
