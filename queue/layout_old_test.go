package queue

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// loadLayout1 writes the store of tasks in testdata/layout1.txt, which was made by an old engine, and returns options for it.
func loadLayout1(t *testing.T, rdb *redis.Client) Options {
	t.Helper()
	text, err := os.ReadFile("testdata/layout1.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var words []any
		for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			word, _ := strconv.Unquote(quoted)
			words, rest = append(words, word), rest[len(quoted):]
		}
		if err := rdb.Do(t.Context(), words...).Err(); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	o := options(rdb, 2)
	o.Prefix, o.Queue = "old", "core"
	return o
}

// TestOldTasksRun: this engine works off what one of layout 1 has left in every state, each task once.
func TestOldTasksRun(t *testing.T) {
	t.Parallel()
	o := loadLayout1(t, connect(t, startRedis(t)))
	s := newServer(t, o)
	was := stats(t, s.Client)
	if was.Enqueued != 22 || was.ReadyAll() != 10 || was.Delayed != 6 || was.Leased != 4 || was.Dead != 2 {
		t.Fatalf("got %+v", was)
	}
	if _, ok, err := s.Enqueue(t.Context(), Task{ID: "p00-another", Kind: "k", Unique: "p00-key"}); ok || err != nil {
		t.Errorf("an old unique key is not held: %v, %v", ok, err)
	}
	for _, id := range []string{"p00-dead", "p01-dead", "p00-delayed", "p01-delayed"} {
		if err := s.Retry(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	var mu sync.Mutex
	ran := map[string]Task{}
	s.Handle("k", func(_ context.Context, task Task) error {
		mu.Lock()
		defer mu.Unlock()
		if _, twice := ran[task.ID]; twice {
			t.Errorf("%s ran twice", task.ID)
		}
		ran[task.ID] = task
		return nil
	})
	stop := start(t, s)
	until(t, "all tasks are done", func() bool { return stats(t, s.Client).Done == was.Enqueued })
	if err := stop(); err != nil {
		t.Error(err)
	}
	if len(ran) != 22 {
		t.Errorf("%d tasks ran, want 22", len(ran))
	}
	for _, p := range []string{"p00-", "p01-"} {
		if got := ran[p+"dead"]; string(got.Payload) != "a\nb\r\x00\xff" || got.Attempt != 1 || got.Unique != p+"key of the dead" {
			t.Errorf("dead: got %+v", got)
		}
		if got := ran[p+"progressing"]; got.Attempts != 2 || got.Attempt != 5 || got.LastError == "" {
			t.Errorf("after two failures and two crashes: got %+v", got)
		}
		if got := ran[p+"ready-high"]; got.Priority != High || got.AttemptsMax != 3 || string(got.Payload) != "high" {
			t.Errorf("ready: got %+v", got)
		}
	}
	// Only the totals, and which layout it is, stay.
	for p := range 2 {
		if left, err := o.Client.Exists(t.Context(), append(s.keys[p].Work()[:1], s.keys[p].Work()[2:]...)...).Result(); left != 0 || err != nil {
			t.Errorf("partition %d: %d keys are left, %v", p, left, err)
		}
	}
}

// TestLayoutIsRaisedOnce: the record of the layout goes from an old version to this one and never back, and a newer one is
// refused by every call with both versions, before anything else is read or written.
func TestLayoutIsRaisedOnce(t *testing.T) {
	t.Parallel()
	o := loadLayout1(t, connect(t, startRedis(t)))
	recorded := func() string { return o.Client.HGet(t.Context(), layoutKey(o.Prefix), "tasks").Val() }
	other := o
	other.Partitions = 3
	_, err := newClient(t, other).Stats(t.Context())
	if refused(t, "Stats", err, "have 2 partitions"); recorded() != "" {
		t.Errorf("a client with a wrong number of partitions recorded %q", recorded())
	}
	stats(t, newClient(t, o))
	if got := recorded(); got != strconv.Itoa(layoutVersion) {
		t.Errorf("the layout is recorded as %q", got)
	}
	fresh := o
	fresh.Prefix = "fresh"
	if stats(t, newClient(t, fresh)); o.Client.HGet(t.Context(), layoutKey("fresh"), "tasks").Val() != strconv.Itoa(layoutVersion) {
		t.Error("a new store does not say which layout it has")
	}

	poke(t, o.Client, layoutKey(o.Prefix), "hset", "tasks", layoutVersion+1)
	want := "have version " + strconv.Itoa(layoutVersion+1) + ", this engine knows versions 1 to " + strconv.Itoa(layoutVersion)
	c := newClient(t, o)
	_, err = c.Stats(t.Context())
	_, _, errEnqueue := c.Enqueue(t.Context(), Task{Kind: "k"})
	s := newServer(t, o)
	for what, err := range map[string]error{"Stats": err, "Enqueue": errEnqueue, "Run": runOf(t, s)} {
		if !errors.Is(err, ErrLayout) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", what, err, want)
		}
	}
	if recorded() != strconv.Itoa(layoutVersion+1) || o.Client.HGet(t.Context(), c.keys[0].Of("counts"), "enqueued").Val() != "11" {
		t.Error("an engine that is too old wrote something")
	}
}

// runOf runs a server that is to end by itself.
func runOf(t *testing.T, s *Server) error {
	t.Helper()
	s.Handle("k", func(context.Context, Task) error { return nil })
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context()) }()
	return receive(t, "Run ends", ended)
}
