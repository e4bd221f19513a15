package profiles_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/store"
)

// dying is the store of a node that dies behind the write of a profile, before others learn of it.
type dying struct {
	*store.Store
	dies bool
}

var errDied = errors.New("the node died")

func (d *dying) PublishChanges(ctx context.Context, table string, users []string) error {
	if d.dies {
		return errDied
	}
	return d.Store.PublishChanges(ctx, table, users)
}

// node is a node with its follower.
func node(b *chattest.Bench, s profiles.Store) (*profiles.Service, *table.Follower) {
	log := slog.New(slog.DiscardHandler)
	n := profiles.New(s, nil, profiles.Options{Now: time.Now, Log: log})
	return n, table.Follow(b.Store, log, n.Published())
}

func name(text string) profiles.Change {
	value, _ := json.Marshal(text)
	return profiles.Change{Name: value}
}

// TestANodeDiesWithinARename: what is stored is whole, and other nodes learn of it from a repeat, or a few minutes later.
func TestANodeDiesWithinARename(t *testing.T) {
	b := chattest.New(t)
	d := &dying{Store: b.Store, dies: true}
	one, own := node(b, d)
	other, follower := node(b, b.Store)
	b.Must(follower.Load(b.Ctx))

	if _, err := one.Patch(b.Ctx, "alice", name("Alice"), nil); !errors.Is(err, errDied) {
		t.Fatalf("got %v", err)
	}
	if stored, err := b.Store.ReadProfile(b.Ctx, "alice"); err != nil || stored.Version != 0 {
		t.Errorf("got %+v, %v: the first profile is written though nobody would ever read it", stored, err)
	}
	d.dies = false
	first, err := one.Patch(b.Ctx, "alice", name("Alice"), nil)
	b.Must(err)
	b.Must(own.Load(b.Ctx))
	ctx, stop := context.WithCancel(b.Ctx)
	ended := make(chan error, 1)
	go func() { ended <- follower.Run(ctx) }()
	learns := func(what, want string) {
		t.Helper()
		harness.Eventually(t, time.Minute, what, func() error {
			if got := other.Name(b.Ctx, "alice"); got != want {
				return fmt.Errorf("got %q, want %q", got, want)
			}
			return nil
		})
	}
	learns("the first name", "Alice")

	d.dies = true
	if _, err := one.Patch(b.Ctx, "alice", name("Al"), nil); !errors.Is(err, errDied) {
		t.Fatalf("got %v", err)
	}
	second, err := one.Get(b.Ctx, "alice")
	b.Must(err)
	if second.Name != "Al" || second.Version <= first.Version || other.Name(b.Ctx, "alice") != "Alice" {
		t.Fatalf("got %+v, and %q elsewhere: nothing is half done", second, other.Name(b.Ctx, "alice"))
	}
	d.dies = false
	again, err := one.Patch(b.Ctx, "alice", name("Al"), nil)
	b.Must(err)
	if again.Version != second.Version {
		t.Errorf("the repeat made version %d of %d", again.Version, second.Version)
	}
	learns("the name that was written twice", "Al")

	d.dies = true
	_, _, err = one.Put(b.Ctx, chattest.Operator("root"), []profiles.UserChange{{User: "alice", Profile: name("Alina")}}, nil)
	if !errors.Is(err, errDied) {
		t.Fatalf("got %v", err)
	}
	stop()
	b.Must(<-ended)
	b.Must(follower.Load(b.Ctx)) // as it does every few minutes
	learns("the name that nobody wrote again", "Alina")
}

// TestTheFirstProfileIsReadAtOnce where it was written, though no signal has come.
func TestTheFirstProfileIsReadAtOnce(t *testing.T) {
	b := chattest.New(t)
	one, _ := node(b, b.Store)
	if _, err := one.Patch(b.Ctx, "alice", name("Alice"), nil); err != nil {
		t.Fatal(err)
	}
	alice, err := one.User(b.Ctx, chat.Caller{User: "alice"}, "alice")
	if err != nil || alice.Name != "Alice" || one.Name(b.Ctx, "alice") != "Alice" {
		t.Errorf("got %+v, %v", alice, err)
	}
}

// TestNothingIsReadWithoutProfiles: as long as nobody has one, a store is not even asked.
func TestNothingIsReadWithoutProfiles(t *testing.T) {
	b := chattest.New(t)
	n, _ := node(b, nil) // which would panic
	if got := n.Versions(b.Ctx, []string{"alice"}); got != nil {
		t.Errorf("got %v", got)
	}
}
