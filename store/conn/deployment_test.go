package conn

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"
)

type nowhere struct{ Embedded }

func (nowhere) Dialer() func(context.Context, string, string) (net.Conn, error) { return nil }

// TestClientsRepeatNothing: whatever the servers are reached by, go-redis leaves it to us what is done again.
func TestClientsRepeatNothing(t *testing.T) {
	for _, o := range []Options{{URL: "redis://h"}, {URL: "rediss://h"}, {URL: "redis-sentinel://h/name"}, {Embedded: nowhere{}}} {
		d := opened(t, o)
		if got := d.client.(*redis.Client).Options().MaxRetries; got != 0 {
			t.Errorf("%q: got %d repeats, want none", o.URL, got)
		}
	}
	d := opened(t, Options{URL: "redis-cluster://h,i"})
	if got := d.cluster.(*cluster).redis.Options(); got.MaxRetries != -1 || got.MaxRedirects != 0 {
		t.Errorf("got %d repeats and %d redirects of a cluster, want none", got.MaxRetries, got.MaxRedirects)
	}
}

// opened is a deployment that has not looked at its servers yet.
func opened(t *testing.T, o Options) *Deployment {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	d, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}
