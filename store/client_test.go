package store

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"
)

type nowhere struct{ Embedded }

func (nowhere) Dialer() func(context.Context, string, string) (net.Conn, error) { return nil }

// TestClientsRepeatNothing: whatever the store is reached by, go-redis leaves it to us what is done again.
func TestClientsRepeatNothing(t *testing.T) {
	for _, o := range []Options{{URL: "redis://h"}, {URL: "rediss://h"}, {URL: "redis-sentinel://h/name"}, {Embedded: nowhere{}}} {
		s, err := connected(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.client.(*redis.Client).Options().MaxRetries; got != 0 {
			t.Errorf("%q: got %d repeats, want none", o.URL, got)
		}
		_ = s.disconnect()
	}
	s, err := connected(Options{URL: "redis-cluster://h,i"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.cluster.(*cluster).redis.Options(); got.MaxRetries != -1 || got.MaxRedirects != 0 {
		t.Errorf("got %d repeats and %d redirects of a cluster, want none", got.MaxRetries, got.MaxRedirects)
	}
	_ = s.disconnect()
}

// connected makes a store that has not looked at its server yet.
func connected(o Options) (*Store, error) {
	s := &Store{log: slog.New(slog.DiscardHandler), embedded: o.Embedded}
	o.Log = s.log
	return s, s.connect(&o)
}
