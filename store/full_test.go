package store_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
)

// TestFullServer: a Redis whose memory is full refuses what adds to it. Reading, acks, leaving, deleting and the tasks go on,
// so that it empties, and then it serves everything again.
func TestFullServer(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL(), Prefix: "full"})
	for _, g := range []string{"g", "left", "deleted"} {
		group(t, s, g, 0, 10_000)
		send(t, s, greeting(g, "alice"))
	}
	keyed := greeting("g", "alice")
	keyed.Key, keyed.Content = "k", "c"
	send(t, s, keyed)
	if _, _, _, err := s.InboxAppend(t.Context(), chat.NewItem{To: "bob", From: "ann", Rest: []byte(`"body":"hi"}`), SentAtMs: 1}); err != nil {
		t.Fatal(err)
	}
	tasks, err := s.TaskClient(queue.Options{Queue: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, _, err := tasks.Enqueue(t.Context(), queue.Task{Kind: "k", Subject: "g", Payload: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	last := fill(t, server, s)

	t.Run("what reads", func(t *testing.T) { readsGoOn(t, s, last) })
	if !send(t, s, keyed).Duplicate {
		t.Error("a send whose key is known was appended again")
	}
	t.Run("what frees", func(t *testing.T) { freeingGoesOn(t, s) })
	t.Run("tasks", func(t *testing.T) { tasksGoOn(t, s) })
	t.Run("a node starts", func(t *testing.T) { open(t, store.Options{URL: server.URL(), Prefix: "full"}) })
	sendIsRefused(t, s)
	for _, user := range []string{"alice", "bob"} {
		if _, err := s.Ack(t.Context(), "g", user, chat.At(last), false, ""); err != nil {
			t.Fatal(err)
		}
	}
	for more := true; more; {
		if more, err = s.Trim(t.Context(), "g"); err != nil {
			t.Fatal(err)
		}
	}
	send(t, s, greeting("g", "alice"))
}

// fill sends 8 MiB and takes 2 MiB of what the server needs away from it. It returns the id of the last message.
func fill(t *testing.T, server *redistest.Server, s *store.Store) (last int64) {
	t.Helper()
	long := greeting("g", "alice")
	long.Rest = []byte(strings.Replace(string(long.Rest), "hi", strings.Repeat("x", 10_000), 1))
	for range 800 {
		last = send(t, s, long).ID
	}
	// What the server used for the sends themselves, it gives back a moment later.
	for range 10 {
		server.Do("CONFIG", "SET", "maxmemory", strconv.FormatInt(field(t, server, "memory", "used_memory")-2<<20, 10))
		sent, err := s.Append(t.Context(), greeting("g", "alice"))
		if err != nil {
			break
		}
		last = sent.ID
	}
	sendIsRefused(t, s)
	return last
}

func sendIsRefused(t *testing.T, s *store.Store) {
	t.Helper()
	if _, err := s.Append(t.Context(), greeting("g", "bob")); !errors.Is(err, chat.ErrUnavailable) {
		t.Fatalf("got error %v of a send while the server is full, want unavailable", err)
	}
}

func readsGoOn(t *testing.T, s *store.Store, last int64) {
	ctx := t.Context()
	pages, err := s.Pull(ctx, "bob", []chat.Pull{{Group: "g", From: last - 4, Limit: 3}, {Group: "g", Before: 4, Limit: 2},
		{Group: "left", From: 1, Limit: 10}, {Group: "g"}, {Group: "none", From: 1, Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int64{{last - 4, last - 3, last - 2}, {2, 3}, {1, 2, 3}, {}, {}} {
		var got []int64
		for _, m := range pages[i].Messages {
			got = append(got, m.ID)
		}
		if len(got) != len(want) || len(got) > 0 && (got[0] != want[0] || got[len(got)-1] != want[len(want)-1]) {
			t.Errorf("page %d: got ids %v, want %v", i, got, want)
		}
	}
	if in := pages[0].Info; in.Last != last || in.Role != chat.Ordinary || in.Epoch != "e" {
		t.Errorf("got info %+v", in)
	}
	if pages[4].Err == nil {
		t.Error("a group that is not there was read")
	}
	if entries, end, err := s.Range(ctx, "g", last-1, 10, 0); err != nil || len(entries) != 2 || end.Last != last || end.Epoch != "e" {
		t.Errorf("got %d entries, end %+v, %v", len(entries), end, err)
	}
	if b, err := s.InboxPull(ctx, "bob", chat.Position{}, 10); err != nil || len(b.Items) != 1 {
		t.Errorf("got inbox %+v, %v", b, err)
	}
	if _, err := s.InboxPull(ctx, "nobody-yet", chat.Position{}, 10); err != nil {
		t.Errorf("an inbox that nobody wrote to: %v", err)
	}
	if _, _, err := s.AllWebhooks(ctx); err != nil {
		t.Error(err)
	}
}

func freeingGoesOn(t *testing.T, s *store.Store) {
	ctx := t.Context()
	if _, err := s.Ack(ctx, "left", "alice", chat.At(3), true, ""); err != nil {
		t.Errorf("ack: %v", err)
	}
	if _, err := s.InboxAck(ctx, "bob", chat.At(1)); err != nil {
		t.Errorf("ack of the inbox: %v", err)
	}
	old, err := s.Entries(ctx, "g", []int64{3})
	if err != nil || len(old) != 1 {
		t.Fatalf("got %d entries, %v", len(old), err)
	}
	revise := func(kind chat.Kind) error {
		changed := old[0]
		changed.JSON = []byte(`{"id":3,"group":"g","from":"alice","kind":"text"}`)
		_, err := s.Revise(ctx, chat.Append{Group: "g", From: "alice", Kind: kind, Mark: "cccccc", Target: 3, SentAtMs: 2,
			Rest: []byte(`"group":"g","from":"alice","kind":"` + string(kind) + `","target":3}`)},
			[]chat.Change{{Old: old[0], New: changed}}, false)
		return err
	}
	if err := revise(chat.Edit); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("got error %v of an edit, want unavailable", err)
	}
	if err := revise(chat.Delete); err != nil {
		t.Errorf("delete a message: %v", err)
	}
	leave := chat.Membership{Group: "left", User: "bob", By: chat.Caller{User: "bob"}, Notice: notice("left"), HeirMark: "dddddd",
		HeirHead: []byte(`"user":"`), HeirTail: []byte(`"}`), AtMs: 2}
	if _, err := s.Leave(ctx, leave); err != nil {
		t.Errorf("leave: %v", err)
	}
	if err := s.DeleteGroup(ctx, chat.Caller{User: "alice"}, "deleted", nil); err != nil {
		t.Errorf("delete a group: %v", err)
	}
	if _, err := s.Cleanup(ctx, "deleted", []string{"alice", "bob"}); err != nil {
		t.Errorf("clean up: %v", err)
	}
}

func tasksGoOn(t *testing.T, s *store.Store) {
	server, err := s.TaskServer(queue.Options{Queue: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{}, 20)
	var snoozed atomic.Bool
	server.Handle("k", func(context.Context, queue.Task) error {
		if !snoozed.Swap(true) {
			return queue.Snooze(time.Millisecond)
		}
		done <- struct{}{}
		return nil
	})
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	for range 10 {
		<-done
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	stats, err := s.TaskClient(queue.Options{Queue: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := stats.Stats(t.Context()); err != nil || got.Leased+got.Delayed != 0 {
		t.Errorf("got %+v, %v: tasks that are done are still there", got, err)
	}
}
