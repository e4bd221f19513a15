package live_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/interval"
)

const rememberGroups = 10

func remembering(l *chat.Limits) {
	l.RememberGroups = rememberGroups / 2
	l.SafetyCheck = time.Hour // whatever is noticed is noticed at once
}

// asker is a client that asks without waiting, and keeps what it is given.
type asker struct {
	*node
	t     testing.TB
	user  string
	after map[string]string // nil: the server's own positions
}

// poll asks once, and says what came.
func (p *asker) poll() string {
	p.t.Helper()
	return outline(p.ask())
}

func (p *asker) ask() live.SyncAnswer {
	p.t.Helper()
	a, err := p.Sync(p.t.Context(), chat.Caller{User: p.user}, live.SyncRequest{After: p.after, Limit: 1000})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, b := range a.Groups {
		if p.after != nil {
			p.after[b.Group] = b.Cursor
		}
	}
	for _, g := range a.Left {
		delete(p.after, g)
	}
	return a
}

// settle asks until the node begins with what it remembers.
func (p *asker) settle() {
	p.t.Helper()
	begun := time.Now()
	for before := p.store.recalled.Load(); p.store.recalled.Load() == before; p.poll() {
		if time.Since(begun) > patience {
			p.t.Fatal("nothing is remembered")
		}
	}
}

// polling starts two nodes on one Redis, and a client of the first in some groups; the other one is where things happen.
func polling(t *testing.T) (p *asker, other *node) {
	l := startLive(t, remembering)
	other = joinLive(t, l.redis, remembering)
	for i := range rememberGroups {
		other.group(t, fmt.Sprint("g", i), "ann", "bob")
	}
	p = &asker{node: l, t: t, user: "bob", after: map[string]string{}}
	p.settle()
	return p, other
}

// What a node remembers costs it nothing: it looks only at what has changed, and misses nothing that was answered for, wherever.
func TestSyncRemembers(t *testing.T) {
	p, other := polling(t)
	for begun, free := time.Now(), false; !free; {
		looked, recalled := p.store.looks.Load(), p.store.recalled.Load()
		if got := p.poll(); got != "" {
			t.Errorf("got %q, want nothing", got)
		}
		// On a busy machine the node may hear too late that nothing is missing, and look.
		free = p.store.looks.Load() == looked && p.store.recalled.Load() > recalled
		if time.Since(begun) > patience {
			t.Fatal("every sync looks at groups")
		}
	}
	for i := range 300 {
		group := fmt.Sprint("g", i%rememberGroups)
		id := other.say(t, group, "ann", "at once")
		if got, want := p.poll(), fmt.Sprintf("%s %d..%d/%d", group, id, id, id); got != want {
			t.Fatalf("after message %d: got %q, want %q", i, got, want)
		}
	}
	if _, _, err := other.PutMember(t.Context(), chat.Caller{User: "ann"}, "g0", "carl", ""); err != nil {
		t.Fatal(err)
	}
	if got, want := p.poll(), "g0 33..33/33"; got != want {
		t.Errorf("a member more: got %q, want %q", got, want)
	}
	if err := other.RemoveMember(t.Context(), chat.Caller{User: "ann"}, "g0", "bob"); err != nil {
		t.Fatal(err)
	}
	if got, want := p.poll(), "left g0"; got != want {
		t.Errorf("removed: got %q, want %q", got, want)
	}
	if err := other.DeleteGroup(t.Context(), chat.Caller{User: "ann"}, "g1"); err != nil {
		t.Fatal(err)
	}
	if got, want := p.poll(), "left g1"; got != want {
		t.Errorf("deleted: got %q, want %q", got, want)
	}
	other.group(t, "new", "ann", "bob")
	if got, want := p.poll(), "new 1..2/2"; got != want {
		t.Errorf("a group more: got %q, want %q", got, want)
	}
	if _, _, err := other.PutMember(t.Context(), chat.Caller{User: "ann"}, "g0", "bob", ""); err != nil {
		t.Fatal(err)
	}
	if got, want := p.poll(), "g0 1..35/35"; got != want {
		t.Errorf("added again: got %q, want %q", got, want)
	}
}

// The same by the positions that the server has, which any other node may move.
func TestSyncRemembersSeen(t *testing.T) {
	p, other := polling(t)
	for i := range rememberGroups {
		if _, err := other.Ack(t.Context(), chat.Caller{User: "bob"}, fmt.Sprint("g", i), chat.At(2)); err != nil {
			t.Fatal(err)
		}
	}
	p.after = nil
	p.settle()
	for i := range 100 {
		group := fmt.Sprint("g", i%rememberGroups)
		id := other.say(t, group, "ann", "at once")
		want := fmt.Sprintf("%s %d..%d/%d", group, id, id, id)
		for range 2 {
			if got := p.poll(); got != want {
				t.Fatalf("after message %d: got %q, want %q", i, got, want)
			}
		}
		if _, err := other.Ack(t.Context(), chat.Caller{User: "bob"}, group, chat.At(id)); err != nil {
			t.Fatal(err)
		}
		if got := p.poll(); got != "" {
			t.Fatalf("after message %d was acked: got %q", i, got)
		}
	}
}

// What is remembered does not outlive what it was built on.
func TestSyncRemembersNothingWrong(t *testing.T) {
	for name, lose := range map[string]func(l *node, i int){
		"subscription": func(l *node, _ int) { l.killSubscriptions() },
	} {
		t.Run(name, func(t *testing.T) {
			p, other := polling(t)
			for i := range 40 {
				group := fmt.Sprint("g", i%rememberGroups)
				lose(p.node, i)
				id := other.say(t, group, "ann", "at once")
				if got, want := p.poll(), fmt.Sprintf("%s %d..%d/%d", group, id, id, id); got != want {
					t.Fatalf("message %d: got %q, want %q", i, got, want)
				}
				if i%4 == 0 {
					p.settle()
				}
			}
		})
	}
	t.Run("signals", func(t *testing.T) {
		l, proxy := startMuted(t, remembering)
		other := joinLive(t, l.redis, remembering)
		for i := range rememberGroups {
			other.group(t, fmt.Sprint("g", i), "ann", "bob")
		}
		p := &asker{node: l, t: t, user: "bob", after: map[string]string{}}
		p.settle()
		proxy.Mute(true)
		for i := range 5 {
			group := fmt.Sprint("g", i)
			id := other.say(t, group, "ann", "unheard")
			if got, want := p.poll(), fmt.Sprintf("%s %d..%d/%d", group, id, id, id); got != want {
				t.Fatalf("message %d: got %q, want %q", i, got, want)
			}
		}
	})
	t.Run("everything", func(t *testing.T) {
		p, _ := polling(t)
		p.redis.Do("FLUSHALL")
		if a := p.ask(); len(a.Left) != rememberGroups {
			t.Errorf("the store was emptied: got %q", outline(a))
		}
	})
	t.Run("the end", func(t *testing.T) {
		p, other := polling(t)
		for i := range 3 {
			written := p.redis.Written()
			other.say(t, "g3", "ann", "lost")
			p.poll()
			p.settle()
			p.redis.Rewind(written)
			awaitServed(t, p.node)
			awaitServed(t, other)
			if i > 0 {
				other.say(t, "g3", "ann", "instead")
			}
			if a := p.ask(); len(a.Groups) != 1 || a.Groups[0].Complete {
				t.Fatalf("round %d: the log lost its end: got %q", i, outline(a))
			}
			p.settle()
		}
	})
}

// awaitServed waits until a node reaches its store.
func awaitServed(t *testing.T, l *node) {
	t.Helper()
	var every interval.Growing
	begun := time.Now()
	for {
		_, err := l.Sync(t.Context(), chat.Caller{User: "ann"}, live.SyncRequest{Limit: 1})
		if err == nil {
			return
		}
		if time.Since(begun) > patience {
			t.Fatal(err)
		}
		<-every.Next()
	}
}

// A client that waits again and again finds what came in between.
func TestLongPollRemembers(t *testing.T) {
	p, other := polling(t)
	ids := map[string]int64{}
	for i := range 50 {
		group := fmt.Sprint("g", i%rememberGroups)
		ids[group] = other.say(t, group, "ann", "at once")
		a, err := p.Sync(t.Context(), chat.Caller{User: "bob"}, live.SyncRequest{After: p.after, Limit: 1000, WaitS: 20})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(a.Groups, func(b chat.Batch) bool { return b.Group == group })
		if at < 0 || a.Groups[at].To != ids[group] {
			t.Fatalf("message %d: got %q", i, outline(a))
		}
		for _, b := range a.Groups {
			p.after[b.Group] = b.Cursor
		}
	}
	p.settle()
}
