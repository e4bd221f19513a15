package live_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// A pool of go-redis that could not connect notices within a second that it was closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// patience is how long a test waits for an event before it calls it lost. It is no pause: tests go on at once.
const patience = 40 * time.Second

// domain keeps the methods of the core below those of the live part.
type domain struct{ *chat.Service }

// node is the core and the live part, which run over a real Redis.
type node struct {
	*live.Service
	domain
	store *stepped
	redis *redistest.Server
}

// stepped is a store that lets a test act right after a read, before the reader sees what was read.
type stepped struct {
	*store.Store
	looked atomic.Pointer[func()]
	broken atomic.Int64 // of so many pages it says that they cannot be read
	pulled atomic.Int64 // groups that a page was asked of

	recalled atomic.Int64 // syncs that began with what the node remembered
	looks    atomic.Int64 // groups that syncs have looked at

	pulling atomic.Pointer[func()] // called before each page is read

	begun                    atomic.Pointer[func()]
	begins, stands, followed atomic.Int64 // round trips to read what a session begins with, or standings, and to follow something
}

// afterBegin calls do once, when what a session begins with was read and it has yet to see it.
func (s *stepped) afterBegin(do func()) { s.begun.Store(&do) }

func (s *stepped) Begin(ctx context.Context, user string, groups []string) (live.Beginning, error) {
	s.begins.Add(1)
	b, err := s.Store.Begin(ctx, user, groups)
	if do := s.begun.Swap(nil); do != nil {
		(*do)()
	}
	return b, err
}

func (s *stepped) Standings(ctx context.Context, user string, groups []string) ([]chat.Info, error) {
	s.stands.Add(1)
	return s.Store.Standings(ctx, user, groups)
}

func (s *stepped) Follow(ctx context.Context, groups, users []string) error {
	s.followed.Add(1)
	return s.Store.Follow(ctx, groups, users)
}

// afterLook calls do once, when a sync has looked at groups and has yet to see what it found.
func (s *stepped) afterLook(do func()) { s.looked.Store(&do) }

func (s *stepped) hasLooked() {
	if do := s.looked.Swap(nil); do != nil {
		(*do)()
	}
}

func (s *stepped) Looks(ctx context.Context, user string, groups []string, at chat.LookAt) ([]chat.Look, error) {
	defer s.hasLooked()
	s.looks.Add(int64(len(groups)))
	return s.Store.Looks(ctx, user, groups, at)
}

func (s *stepped) Arrivals(ctx context.Context, user string, of chat.Arriving) (chat.Arrivals, error) {
	if len(of.Groups) > 0 {
		defer s.hasLooked()
	}
	a, err := s.Store.Arrivals(ctx, user, of)
	s.looks.Add(int64(len(of.Groups)))
	if of.NoIndex && a.Ground != "" {
		s.recalled.Add(1)
	}
	return a, err
}

func (s *stepped) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	s.pulled.Add(int64(len(pulls)))
	if wait := s.pulling.Load(); wait != nil {
		(*wait)()
	}
	pages, err := s.Store.Pull(ctx, user, pulls)
	for i := range pages {
		if s.broken.Add(-1) >= 0 {
			pages[i] = chat.Page{Info: pages[i].Info, Err: chat.ErrUnavailable}
		}
	}
	return pages, err
}

// signalsOnly turns the safety check off: whatever wakes a reader is a signal.
func signalsOnly(l *chat.Limits) { l.SafetyCheck = time.Hour }

// startLive starts a service with its loops, on a Redis of its own.
func startLive(t testing.TB, limits func(*chat.Limits)) *node {
	t.Helper()
	return joinLive(t, redistest.Start(t), limits)
}

// joinLive starts another service on the same Redis.
func joinLive(t testing.TB, redis *redistest.Server, limits func(*chat.Limits)) *node {
	t.Helper()
	return connectLive(t, redis, redis.URL(), limits)
}

// connectLive starts a service that reaches redis by url.
func connectLive(t testing.TB, redis *redistest.Server, url string, limits func(*chat.Limits)) *node {
	t.Helper()
	l := chat.DefaultLimits()
	if limits != nil {
		limits(&l)
	}
	opened, err := store.Open(t.Context(), store.Options{URL: url, Limits: l, Patience: patience}) // a stalled disk is no server that is away
	if err != nil {
		t.Fatal(err)
	}
	st := &stepped{Store: opened}
	core := chat.New(st, chat.Options{Limits: l})
	readers := live.New(core, st)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = core.Run(ctx) })
	wg.Go(func() { _ = readers.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &node{Service: readers, domain: domain{core}, store: st, redis: redis}
}

func (l *node) group(t testing.TB, id, owner string, members ...string) {
	t.Helper()
	if _, err := l.CreateGroup(t.Context(), chat.Caller{User: owner}, chat.GroupDraft{ID: id, Members: members[:min(1, len(members))]}); err != nil {
		t.Fatal(err)
	}
	for _, user := range members[min(1, len(members)):] { // each with a notice of their own
		if _, _, err := l.PutMember(t.Context(), chat.Caller{User: owner}, id, user, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *node) say(t testing.TB, group, from, body string) int64 {
	t.Helper()
	sent, err := l.Send(t.Context(), chat.Caller{User: from}, group, chat.Content{Body: &body}, "")
	if err != nil {
		t.Fatal(err)
	}
	return sent.ID
}

// runTask does what a worker would.
func (l *node) runTask(t testing.TB, kind string, payload any) {
	t.Helper()
	b, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Handlers()[kind].Run(t.Context(), chat.TaskRun{Payload: b}); err != nil {
		t.Fatal(err)
	}
}

// listener is a follower with what it was given so far.
type listener struct {
	t testing.TB
	*live.Follower
	to     map[string]int64 // highest id by group
	bodies map[string][]string
	epochs map[string]string
}

func (l *node) listen(t testing.TB, user string, after map[string]string) *listener {
	t.Helper()
	return l.listenAs(t, chat.Caller{User: user}, after)
}

func (l *node) listenAs(t testing.TB, by chat.Caller, after map[string]string) *listener {
	t.Helper()
	f, err := l.Follow(t.Context(), by, live.Scope{After: after})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return &listener{t: t, Follower: f, to: map[string]int64{}, bodies: map[string][]string{}, epochs: map[string]string{}}
}

// next waits for an event, and checks what holds for every batch.
func (l *listener) next() live.Event {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	e, err := l.Next(ctx)
	if err != nil {
		l.t.Fatalf("next: %v", err)
	}
	if b := e.Messages; b != nil {
		l.take(b)
	}
	return e
}

func (l *listener) take(b *chat.Batch) {
	l.t.Helper()
	if last, begun := l.to[b.Group]; begun && b.Complete && l.epochs[b.Group] == b.Epoch && b.From != last+1 {
		l.t.Fatalf("%s: a batch from %d after %d", b.Group, b.From, last)
	}
	for i, m := range b.Messages {
		var e chat.Entry
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			l.t.Fatal(err)
		}
		if e.ID != b.From+int64(i) || e.ID != m.ID {
			l.t.Fatalf("%s: message %d at %d", b.Group, e.ID, b.From+int64(i))
		}
		if e.Body != nil {
			l.bodies[b.Group] = append(l.bodies[b.Group], *e.Body)
		}
	}
	if want := b.From - 1 + int64(len(b.Messages)); b.To != want {
		l.t.Fatalf("%s: a batch to %d, want %d", b.Group, b.To, want)
	}
	l.to[b.Group], l.epochs[b.Group] = b.To, b.Epoch
}

// until waits until want holds for an event.
func (l *listener) until(what string, want func(live.Event) bool) live.Event {
	l.t.Helper()
	for range 100_000 {
		if e := l.next(); want(e) {
			return e
		}
	}
	l.t.Fatalf("no %s", what)
	return live.Event{}
}

// reach waits until the group was given up to id.
func (l *listener) reach(group string, id int64) {
	l.t.Helper()
	for l.to[group] < id {
		l.next()
	}
}
