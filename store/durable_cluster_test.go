package store

import (
	"crypto/rand"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
)

// writeDurably runs a script of one key, of the user who is called as the group: the other master can run it while the keys of the
// slot move. It waits for a durability.
func (b *clusterBench) writeDurably(t *testing.T, group string, want chat.Durability) chat.Durability {
	t.Helper()
	c := strangerClaimScript.On(b.store.keys.user(group)).Arg("to", string(want)).Arg("item", rand.Text()).Arg("bytes", 1).Arg("bytes_max", 1<<20)
	_, reached, err := b.store.runDurable(t.Context(), c, want)
	if err != nil {
		t.Errorf("%s: durability %s: %v", group, want, err)
	}
	return reached
}

// TestDiskDurability: a send that is to reach the disk says so once the server has confirmed it, whatever the server's settings were
// when the store was opened.
func TestDiskDurability(t *testing.T) {
	t.Parallel()
	server := redistest.StartOf(t, redistest.Valkey)
	s, err := Open(t.Context(), Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	reached := func(want chat.Durability) chat.Durability {
		c := archiveWantScript.On(s.keys.partitions[0]).Arg("delay_ms", 60_000).Arg("id", "a")
		_, reached, err := s.runDurable(t.Context(), c, want)
		if err != nil {
			t.Fatal(err)
		}
		return reached
	}
	if got := reached(chat.DurabilityDisk); got != chat.DurabilityDisk || server.Calls()["waitaof"] == 0 {
		t.Errorf("got %q after %v", got, server.Calls())
	}
	server.Do("CONFIG", "SET", "appendonly", "no")
	if !comes(func() bool { return reached(chat.DurabilityDisk) == chat.DurabilityMemory }) {
		t.Error("without an append-only file a send still reaches the disk")
	}
	server.Do("CONFIG", "SET", "appendonly", "yes")
	if !comes(func() bool { return reached(chat.DurabilityDisk) == chat.DurabilityDisk }) {
		t.Error("with an append-only file again no send reaches the disk")
	}
	if got := reached(chat.DurabilityReplica); got != chat.DurabilityMemory {
		t.Errorf("got %q without a replica", got)
	}
}

// TestDiskDurabilityInCluster: each master confirms what it can, also while a slot moves to it.
func TestDiskDurabilityInCluster(t *testing.T) {
	t.Parallel()
	c := redistest.StartClusterOf(t, 3, []string{redistest.Redis, redistest.Valkey, redistest.Valkey}, "--appendonly", "yes")
	b := onCluster(t, c)
	old, recent := b.groups[0], b.groups[1]
	for _, g := range b.groups {
		want := chat.DurabilityDisk
		if g.home == c.Nodes[0] { // Redis 7.0 has no WAITAOF
			want, old = chat.DurabilityMemory, g
		} else {
			recent = g
		}
		if got := b.writeDurably(t, g.group, chat.DurabilityDisk); got != want {
			t.Errorf("%s: got %q, want %q", g.group, got, want)
		}
	}
	c.Nodes[0].Do("CONFIG", "SET", "appendfsync", "always")
	if !comes(func() bool { return b.writeDurably(t, old.group, chat.DurabilityDisk) == chat.DurabilityDisk }) {
		t.Error("a master that always syncs does not say disk")
	}
	c.Nodes[0].Do("CONFIG", "SET", "appendfsync", "everysec")
	key := b.store.keys.group(old.group)
	slot, _ := c.Slot(key.base)
	c.Migrate(slot, old.home, recent.home, func() {
		if got := b.writeDurably(t, old.group, chat.DurabilityDisk); got != chat.DurabilityDisk {
			t.Errorf("after ASK: got %q", got)
		}
	})
	if got, _ := recent.home.Do("EXISTS", b.store.keys.user(old.group).strangers()).(int64); got != 1 {
		t.Error("nothing is at the new master")
	}
	if got := b.writeDurably(t, old.group, chat.DurabilityDisk); got != chat.DurabilityDisk {
		t.Errorf("after MOVED: got %q", got)
	}
}
