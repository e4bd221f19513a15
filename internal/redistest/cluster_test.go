package redistest

import (
	"slices"
	"testing"
)

// TestCluster: the masters share the slots, a replica takes over from one that crashes, and that comes back as its replica.
func TestCluster(t *testing.T) {
	c := StartCluster(t, 3, 1)
	var slots []string
	for _, node := range c.View() {
		if node.Master {
			slots = append(slots, node.Slots...)
		}
	}
	slices.Sort(slots)
	if want := []string{"0-5460", "10922-16383", "5461-10921"}; !slices.Equal(slots, want) {
		t.Errorf("got masters with the slots %v, want %v", slots, want)
	}
	dead := c.Nodes[0]
	dead.Kill()
	if heir := c.AwaitHeir(dead, 0); heir != c.Nodes[3] {
		t.Errorf("%s took over, want its replica %s", heir.Addr, c.Nodes[3].Addr)
	}
	dead.Restart()
	c.AwaitReady()
}
