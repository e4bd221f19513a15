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

// TestIsolatedMaster: a master that is cut off from the others still takes a client's writes for a moment, its replica takes over
// without them, and it becomes a replica when it is back.
func TestIsolatedMaster(t *testing.T) {
	t.Parallel()
	c := StartGatedCluster(t, 3, 1)
	slot, old := c.Slot("k")
	old.Do("SET", "k", "before")
	old.AwaitReplica()
	c.Isolate(old)
	old.Do("SET", "k", "lost")
	heir := c.AwaitHeir(old, slot)
	if got := heir.Do("GET", "k"); got != "before" {
		t.Errorf("the new master has %v", got)
	}
	for _, err := old.Try("SET", "k", "refused"); err == nil; { // until it has noticed that it is alone
		_, err = old.Try("SET", "k", "refused")
	}
	c.Join()
	c.AwaitReady()
	if _, master := c.Slot("k"); master != heir {
		t.Errorf("%s serves the slot, want %s", master.Addr, heir.Addr)
	}
}
