package queue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestRunNeedsAHandlerInEveryQueue: the error names the queue and the kinds that are registered.
func TestRunNeedsAHandlerInEveryQueue(t *testing.T) {
	t.Parallel()
	o := options(connectWith(t, startEmbedded(t)), 1)
	o.Queues = []QueueOptions{{Name: "core"}, {Name: "egress"}}
	nothing := func(context.Context, Task) error { return nil }
	for _, test := range []struct {
		name     string
		register func(*Server)
		handler  bool // ErrNoHandler is what fails
		want     string
	}{
		{"none", func(*Server) {}, true, `no handler for queue "core": none is registered`},
		{"one queue only", func(s *Server) {
			s.HandlePolicy("mail", Policy{Queues: []string{"core"}}, nothing)
			s.HandlePolicy("index", Policy{Queues: []string{"core"}}, nothing)
		}, true, `no handler for queue "egress": the kinds ["index" "mail"] are of other queues`},
		{"another queue", func(s *Server) {
			s.Handle("mail", nothing)
			s.HandlePolicy("push", Policy{Queues: []string{"push"}}, nothing)
		}, false, `the kind "push" is for queue "push", which this server does not serve: it serves ["core" "egress"]`},
	} {
		s := newServer(t, o)
		test.register(s)
		patience, stop := context.WithTimeout(t.Context(), 10*time.Second) // without the check Run works until it is stopped
		err := s.Run(patience)
		stop()
		if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrNoHandler) != test.handler {
			t.Errorf("%s: got error %v, want %q", test.name, err, test.want)
		}
	}
}

// TestKindsThatNobodyRunsAreNamed: servers announce what they run in each queue, and the figures name the other kinds
// of waiting tasks. A kind of another queue is buried like an unknown one.
func TestKindsThatNobodyRunsAreNamed(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		o.Queues = []QueueOptions{{Name: "core"}, {Name: "egress"}}
		s := newServer(t, o)
		nothing := func(context.Context, Task) error { return nil }
		s.HandlePolicy("index", Policy{Queues: []string{"core"}}, nothing)
		s.HandlePolicy("push", Policy{Queues: []string{"egress"}}, nothing)
		s.Handle("both", nothing)
		clients := clientsOf(t, o)
		core, egress := clients[0], clients[1]
		for _, kind := range []string{"push", "index", "new", "both", "new"} {
			for p := range o.Partitions {
				enqueue(t, core, Task{ID: NewID(p), Kind: kind, Delay: time.Hour})
			}
		}
		named := func(c *Client, want ...string) bool { return slices.Equal(stats(t, c).Unserved, want) }
		if got := stats(t, core).Unserved; !slices.Equal(got, []string{"both", "index", "new", "push"}) {
			t.Errorf("before the start: got %q", got)
		}
		start(t, s)
		until(t, "the announcement", func() bool { return named(core, "new", "push") })
		enqueue(t, egress, Task{Kind: "index", Delay: time.Hour})
		enqueue(t, egress, Task{Kind: "push", Delay: time.Hour})
		if got := stats(t, egress).Unserved; !slices.Equal(got, []string{"index"}) {
			t.Errorf("egress: got %q", got)
		}
		if got, err := egress.Serving(t.Context()); err != nil || !slices.Equal(got, []string{"both", "push"}) {
			t.Errorf("egress serves %q, %v", got, err)
		}
		enqueue(t, core, Task{Kind: "push"})
		until(t, "the task to be buried", func() bool { return stats(t, core).Dead == 1 })

		// An announcement ends with the servers that made it.
		members, err := o.Client.ZRange(t.Context(), servedKey(o.Prefix), 0, -1).Result()
		if err != nil || len(members) != 2 {
			t.Fatalf("got %q, %v", members, err)
		}
		for _, m := range members {
			poke(t, o.Client, servedKey(o.Prefix), "ZADD", 1, m)
		}
		if !named(core, "both", "index", "new", "push") {
			t.Errorf("after the servers: got %q", stats(t, core).Unserved)
		}
	})
}

// TestAnnouncementsAreFew: whatever a server does, it announces at most once in announceEvery, and with a step.
func TestAnnouncementsAreFew(t *testing.T) {
	t.Parallel()
	s := newServer(t, options(redis.NewClient(clientOptions("127.0.0.1:1")), 1))
	t.Cleanup(func() { _ = s.rdb.Close() })
	s.Handle("k", func(context.Context, Task) error { return nil })
	news, now, calls := newAnnouncer(s), time.Now(), 0
	for range 1000 {
		if one := news.call("test", now); one != nil {
			if calls++; one.Err() != nil {
				t.Fatal(one.Err())
			}
		}
		now = now.Add(announceEvery / 100)
	}
	if calls != 10 {
		t.Errorf("%d calls in 1,000 steps, want 10", calls)
	}
}
