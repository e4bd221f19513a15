package conn

import (
	"log/slog"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue/script"
)

// TestNodesThatNobodyNeeds: a master that is away and has an heir is not waited for. It is asked seldom, the topology is not reloaded
// for it, and the lane to it is dropped.
func TestNodesThatNobodyNeeds(t *testing.T) {
	c := redistest.StartCluster(t, 3, 1)
	d, err := Open(Options{URL: c.URL(), Scripts: &script.Library{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	lanes := NewLanes(d, func(Server) *int { return new(int) })
	var slots []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		slots = append(slots, "{"+name+"}")
	}
	d.Start(slots)
	t.Cleanup(func() { _ = d.Close() })
	slot, away := c.Slot(slots[0])
	home, err := d.MasterOf(t.Context(), slots[0])
	if err != nil {
		t.Fatal(err)
	}
	lanes.To(home)
	nodes := d.cluster.(*cluster)
	b := nodes.node(away.Public()).breaker
	away.Kill()
	for b.state().Err() == nil {
		_ = home.Client.Ping(t.Context()).Err()
	}
	c.AwaitHeir(away, slot)
	comes := func(what string, is func() bool) {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for !is() {
			select {
			case <-tick.C:
			case <-t.Context().Done():
			case <-time.After(time.Minute):
				t.Fatalf("a minute later it does not hold that %s", what)
			}
		}
	}
	comes("no master is missing", func() bool { return !nodes.anyAway(nodes.homes(t.Context(), slots)) })
	comes("the lane is dropped", func() bool { return !lanes.Leads(home.Addr) })
	if b.state().Err() == nil || !b.seldom.Load() {
		t.Error("a node that is away and has an heir is taken for one that answers, or asked often")
	}
}
