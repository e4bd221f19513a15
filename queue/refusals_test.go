package queue

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestUnknownKindIsLogged buries several tasks of two kinds without handlers: each kind is logged once, with one of its
// tasks.
func TestUnknownKindIsLogged(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		var log syncBuffer
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		s := newServer(t, o)
		start(t, s)
		ids := []string{}
		for _, kind := range []string{"nobody", "nobody", "nobody", "none"} {
			ids = append(ids, enqueue(t, s.Client, Task{Kind: kind}))
		}
		until(t, "the tasks to be buried", func() bool { return stats(t, s.Client).Dead == 4 })
		text := log.String()
		if strings.Count(text, "kind=nobody") != 1 || strings.Count(text, "kind=none") != 1 || !strings.Contains(text, "task="+ids[3]+" queue="+s.name) {
			t.Errorf("got %q, want each kind once, with task and queue", text)
		}
	})
}

// syncBuffer is a buffer for a logger.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestNewRefusesWhatCannotSubscribe: without subscriptions no wake-up would arrive.
func TestNewRefusesWhatCannotSubscribe(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	defer func() { _ = client.Close() }()
	if _, err := New(Options{Client: noSubscriber{client}}); err == nil || !strings.Contains(err.Error(), "Subscribe") {
		t.Errorf("got %v, want that it cannot subscribe", err)
	}
}

type noSubscriber struct{ Redis }

// TestNewRefusesAClientThatRepeats: New refuses Redis clients that retry by themselves.
func TestNewRefusesAClientThatRepeats(t *testing.T) {
	const addr = "127.0.0.1:1"
	for name, c := range map[string]struct {
		client redis.UniversalClient
		ok     bool
	}{
		"default":        {redis.NewClient(&redis.Options{Addr: addr}), false},
		"one":            {redis.NewClient(&redis.Options{Addr: addr, MaxRetries: 1}), false},
		"none":           {redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1}), true},
		"Sentinel":       {redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{addr}}), false},
		"Sentinel, none": {redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{addr}, MaxRetries: -1}), true},
		"cluster":        {redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}, MaxRetries: 2}), false},
		"cluster, none":  {redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}, MaxRetries: -1}), true},
	} {
		_, err := New(Options{Client: c.client})
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "MaxRetries") {
			t.Errorf("%s: got %v, want it taken: %v", name, err, c.ok)
		}
		_ = c.client.Close()
	}
}
