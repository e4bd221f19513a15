package conn

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestLanesOfServersThatAreGone: they are dropped, and those of a client that was replaced.
func TestLanesOfServersThatAreGone(t *testing.T) {
	l := NewLanes(&Deployment{}, func(Server) *int { return new(int) })
	at := func(addr string) Server {
		client := redis.NewClient(withDefaults(&redis.Options{Addr: addr}))
		t.Cleanup(func() { _ = client.Close() })
		return serverOf(client)
	}
	atA, atB := at("a:1"), at("b:1")
	a, b := l.To(atA), l.To(atB)
	l.keep(map[string]bool{"b:1": true, "": true})
	if len(l.of) != 1 || l.To(atB) != b || l.To(atA) == a {
		t.Errorf("%d lanes, want that to b:1 as it was and a new one to a:1", len(l.of))
	}
	if anew := l.To(at("b:1")); anew == b || len(l.of) != 2 {
		t.Errorf("%d lanes after b:1 got a new client, want 2 and a new one to it", len(l.of))
	}
}
