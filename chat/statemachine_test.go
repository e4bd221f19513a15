package chat_test

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
	"github.com/chatd/chatd/store/embedded"
)

// machineSteps is how many actions a run of the state machine takes.
const machineSteps = 60

// backend is a store with a restart: reopen gives a new service on the data that was there.
type backend struct {
	t     *rapid.T
	open  func() (*store.Store, func())
	close func()
}

func (b *backend) reopen() (*chat.Service, chat.Stores) {
	if b.close != nil {
		b.close()
	}
	s, release := b.open()
	b.close = release
	return chat.New(s, chat.Options{Limits: chat.DefaultLimits()}), s
}

func (b *backend) store(o store.Options) *store.Store {
	o.Limits = chat.DefaultLimits()
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

// runMachine runs the state machine checks times.
func runMachine(t *testing.T, checks int, newBackend func(*rapid.T) *backend) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set(fmt.Sprint(checks)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }() // its own default is no error
	}
	clear(outcomes)
	rapid.Check(t, func(rt *rapid.T) {
		b := newBackend(rt)
		defer func() { b.close() }()
		m := newMachine(context.Background(), b.reopen)
		for range machineSteps {
			m.step(rt)
		}
		for group := range m.groups {
			m.trim(rt, "", group)
			m.check(rt, group)
		}
	})
	for _, action := range []string{"create", "send", "retry", "key reused", "pull", "ack", "ack above last", "unread", "join", "put", "remove",
		"edit", "delete", "react", "settings", "delete a group", "sync", "groups", "send from outside", "pull from outside"} {
		if outcomes[action] < checks/8 && !t.Failed() {
			t.Errorf("%q happened %d times in %d runs: too seldom to say anything", action, outcomes[action], checks)
		}
	}
	t.Logf("outcomes: %v", outcomes)
}

// TestMachineEmbedded compares the service on the embedded store with the model; a restart replays the journal.
func TestMachineEmbedded(t *testing.T) {
	runMachine(t, 300, func(rt *rapid.T) *backend {
		dir, err := os.MkdirTemp(t.TempDir(), "data")
		if err != nil {
			rt.Fatal(err)
		}
		b := &backend{t: rt}
		b.open = func() (*store.Store, func()) {
			e, err := embedded.Open(context.Background(), embedded.Options{Dir: dir})
			b.fatal(err)
			s := b.store(store.Options{Embedded: e})
			return s, func() {
				b.fatal(s.Close())
				b.fatal(e.Close())
			}
		}
		return b
	})
}

// TestMachineRedis compares the service on a real redis-server with four partitions with the model. A restart is that of
// the node, and the server has forgotten the scripts.
func TestMachineRedis(t *testing.T) {
	server := redistest.Start(t)
	runs := 0
	runMachine(t, 100, func(rt *rapid.T) *backend {
		runs++
		prefix := fmt.Sprintf("run%d", runs)
		b := &backend{t: rt}
		b.open = func() (*store.Store, func()) {
			server.Do("SCRIPT", "FLUSH")
			s := b.store(store.Options{URL: server.URL(), Prefix: prefix, Partitions: 4})
			return s, func() { b.fatal(s.Close()) }
		}
		return b
	})
}
