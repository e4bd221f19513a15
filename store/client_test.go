package store

import (
	"context"
	"net"
	"testing"
)

type nowhere struct{ Embedded }

func (nowhere) Dialer() func(context.Context, string, string) (net.Conn, error) { return nil }

// TestClientsRepeatNothing: whatever the store is reached by, go-redis leaves it to us what is done again.
func TestClientsRepeatNothing(t *testing.T) {
	for _, o := range []Options{{URL: "redis://h"}, {URL: "rediss://h"}, {URL: "redis-sentinel://h/name"}, {Embedded: nowhere{}}} {
		client, _, err := connect(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := client.Options().MaxRetries; got != 0 {
			t.Errorf("%q: got %d repeats, want none", o.URL, got)
		}
		_ = client.Close()
	}
}
