package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/interval"
	"github.com/chatd/chatd/internal/redistest"
)

// valve holds script calls back while it is closed, and counts round trips.
type valve struct {
	mu    sync.Mutex
	open  chan struct{}
	trips int
}

func (v *valve) pass() {
	v.mu.Lock()
	v.trips++
	open := v.open
	v.mu.Unlock()
	<-open
}

// count is how many script calls, or pipelines of them, have come so far.
func (v *valve) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.trips
}

// hold lets everyone through who has come, and holds back those who come from now on.
func (v *valve) hold() {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.open)
	v.open = make(chan struct{})
}

func (v *valve) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (v *valve) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "evalsha") {
			v.pass()
		}
		return next(ctx, cmd)
	}
}

func (v *valve) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if strings.HasPrefix(cmds[0].Name(), "evalsha") {
			v.pass()
		}
		return next(ctx, cmds)
	}
}

// TestJoinedSendsKeepTheirOutcome: sends that wait for others go together, and each gets the answer that it would have got alone.
func TestJoinedSendsKeepTheirOutcome(t *testing.T) {
	server := redistest.Start(t)
	s, err := Open(t.Context(), Options{URL: server.URL(), Prefix: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, group := range []string{"g", "h"} {
		err = s.CreateGroup(t.Context(), chat.NewGroup{Group: chat.Group{ID: group, Name: "G", CreatedBy: "alice", CreatedAt: chat.TimeMs(1),
			Epoch: "e", Keep: 4, BacklogMax: 1000, Post: chat.PostMembers}, Notices: []chat.NoticeEntry{{Mark: "created", Rest: []byte(`"a":1}`)}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	message := func(group, from, key, content string) chat.Append {
		return chat.Append{Group: group, From: from, Kind: chat.Text, Mark: "bbbbbb", Rest: []byte(`"a":1}`), SentAtMs: 5, Key: key, Content: content}
	}
	first, err := s.Append(t.Context(), message("g", "alice", "known", "c"))
	if err != nil {
		t.Fatal(err)
	}
	v := &valve{open: make(chan struct{})}
	s.conn.Client().AddHook(v)

	var running sync.WaitGroup
	send := func(ctx context.Context, a chat.Append, check func(chat.Appended, error)) {
		running.Go(func() {
			done, err := s.Append(ctx, a)
			check(done, err)
		})
	}
	arrived := func(inside, waiting int) {
		t.Helper()
		var every interval.Growing
		for end := time.Now().Add(2 * time.Minute); ; <-every.Next() {
			got := s.sends.To(serverOf(t, s)).Load()
			if got.Inside == inside && got.Waiting == waiting {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("got %+v, want %d sends under way and %d that wait", got, inside, waiting)
			}
		}
	}
	var mu sync.Mutex
	ids := map[string]bool{}
	stored := func(done chat.Appended, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil || done.Duplicate || done.Epoch != "e" || done.Mark != "bbbbbb" {
			t.Errorf("got %+v, %v", done, err)
		}
		ids[fmt.Sprint(done.ID)] = true
	}
	for range sendsAlone {
		send(t.Context(), message("g", "alice", "", ""), stored)
	}
	arrived(sendsAlone, 0)
	impatient, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 2)
	for range 2 { // one would be the leader
		send(impatient, message("g", "alice", "", ""), func(_ chat.Appended, err error) { cancelled <- err })
	}
	arrived(sendsAlone+2, 2)
	for range 90 { // more than one call takes
		send(t.Context(), message("g", "alice", "", ""), stored)
	}
	send(t.Context(), message("g", "alice", "known", "c"), func(done chat.Appended, err error) {
		if err != nil || !done.Duplicate || done.ID != first.ID {
			t.Errorf("a known key: got %+v, %v", done, err)
		}
	})
	send(t.Context(), message("g", "alice", "known", "other"), func(_ chat.Appended, err error) {
		if !errors.Is(err, chat.ErrKeyReused) {
			t.Errorf("a key with other content: got %v", err)
		}
	})
	for _, group := range []string{"g", "nowhere"} {
		send(t.Context(), message(group, "dora", "", ""), func(_ chat.Appended, err error) {
			if !errors.Is(err, chat.ErrNotFound) {
				t.Errorf("a stranger in %s: got %v", group, err)
			}
		})
	}
	send(t.Context(), message("h", "alice", "", ""), func(done chat.Appended, err error) {
		if err != nil || done.ID != 2 {
			t.Errorf("another group: got %+v, %v", done, err)
		}
	})
	arrived(sendsAlone+97, 97)
	cancel()
	for range 2 {
		if err := <-cancelled; chat.CodeOf(err) != chat.CodeUnavailable {
			t.Errorf("a send that was given up: got %v", err)
		}
	}
	arrived(sendsAlone+95, 95)
	close(v.open)
	running.Wait()
	last, _ := s.conn.Client().Get(t.Context(), s.keys.group("g").lastID()).Int64()
	if want := sendsAlone + 90; len(ids) != want || last != first.ID+int64(want) {
		t.Errorf("%d messages have ids and the log ends at %d, want %d and %d", len(ids), last, want, first.ID+int64(want))
	}
	// Each of the first ones, one or two for the rest, two refusals decided by the other script, and trims.
	if most := sendsAlone + 2 + 2 + 6; v.trips > most {
		t.Errorf("%d round trips, want at most %d", v.trips, most)
	}
}

// TestJoinedSendsAfterARestart: a server that has forgotten the scripts, and tasks that are wanted since the last send, cost another
// round trip and no message.
func TestJoinedSendsAfterARestart(t *testing.T) {
	server, s := openWithGroup(t, 1000)
	server.Do("HSET", "p:{p00}:wants", "notify", "1500")
	server.Do("SCRIPT", "FLUSH")
	list := slices.Repeat([]*chat.Append{{Group: "g", From: "alice", Kind: chat.Text, Mark: "bbbbbb", Rest: []byte(`"a":1}`),
		SentAtMs: 5}}, 3)
	for i, out := range s.appendTogether(t.Context(), serverOf(t, s), list) {
		if out.err != nil || out.done.ID != int64(2+i) {
			t.Errorf("message %d: got %+v", i, out)
		}
	}
	if got := server.Do("HLEN", "p:{p00}:q:core:unique"); got != int64(1) {
		t.Errorf("got %v tasks that wait, want that of notifications", got)
	}
}

// TestLeaderThatGivesUp: the caller that leads others does not take their messages with it if its context ends.
func TestLeaderThatGivesUp(t *testing.T) {
	_, s := openWithGroup(t, 1000)
	message := chat.Append{Group: "g", From: "alice", Kind: chat.Text, Mark: "bbbbbb", Rest: []byte(`"a":1}`), SentAtMs: 5}
	first := make(chan struct{})
	v := &valve{open: first}
	s.conn.Client().AddHook(v)
	reached := func(what string, done func() bool) {
		t.Helper()
		var every interval.Growing
		for end := time.Now().Add(2 * time.Minute); !done(); <-every.Next() {
			if time.Now().After(end) {
				t.Fatalf("gave up waiting for %s", what)
			}
		}
	}
	trips := func(n int) func() bool {
		return func() bool {
			v.mu.Lock()
			defer v.mu.Unlock()
			return v.trips == n
		}
	}
	var running sync.WaitGroup
	send := func(ctx context.Context, who string) {
		running.Go(func() {
			if _, err := s.Append(ctx, message); err != nil {
				t.Errorf("%s: got %v", who, err)
			}
		})
	}
	for range sendsAlone {
		send(t.Context(), "one that goes alone")
	}
	reached("those that go alone", trips(sendsAlone))
	leader, giveUp := context.WithCancel(t.Context())
	for waiting, ctx := range []context.Context{leader, t.Context(), t.Context()} {
		send(ctx, fmt.Sprintf("waiting caller %d", waiting))
		reached("a caller that waits", func() bool {
			return s.sends.To(serverOf(t, s)).Load().Waiting == waiting+1
		})
	}
	second := make(chan struct{})
	v.mu.Lock()
	v.open = second
	v.mu.Unlock()
	close(first)
	reached("the joined call", trips(sendsAlone+1))
	giveUp()
	close(second)
	running.Wait()
	if end, _ := s.conn.Client().Get(t.Context(), s.keys.group("g").lastID()).Int(); end != 1+sendsAlone+3 {
		t.Errorf("the log ends at %d, want all %d messages and the notice", end, sendsAlone+3)
	}
}
