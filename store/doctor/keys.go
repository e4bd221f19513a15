package doctor

import (
	"maps"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/layout"
)

// keyspace finds and builds the keys of a store. A key that package layout does not list becomes a finding.
type keyspace struct {
	prefix     string
	partitions int
}

// key is a key that was found.
type key struct {
	layout.Found
	name string
}

// owns reports whether a key is under the prefix.
func (k keyspace) owns(name string) bool { return strings.HasPrefix(name, k.prefix+":") }

// parse parses a key.
func (k keyspace) parse(name string) (key, bool) {
	partition, rest, ok := layout.Cut(k.prefix, name)
	if !ok || partition >= k.partitions {
		return key{}, false
	}
	found, ok := layout.Find(partition, rest)
	return key{found, name}, ok && found.InHome(k.partitions)
}

// part returns the prefix of the keys of a partition.
func (k keyspace) part(p int) string { return layout.InPartition(k.prefix, p) }

func (k keyspace) home(id string) string { return k.part(queue.Partition(id, k.partitions)) }

// group holds the keys of a group.
func (k keyspace) group(id string) groupKeys {
	return groupKeys{id, k.home(id), k.home(id) + "g:" + layout.KeyID(id) + ":"}
}

type groupKeys struct{ id, part, base string }

var groupNames = names(func(g groupKeys) string { return g.part },
	layout.Names(layout.Group, func(g groupKeys) string { return strings.TrimSuffix(g.base, ":") }))

// names are the keys of an owner by the names that scripts use, with those of its partition and of the core queue there. part is
// what the keys of the partition begin with.
func names[K any](part func(K) string, own map[string]func(K) string) script.Names[K] {
	all := layout.Names(layout.Queue, func(k K) string { return part(k) + "q:" + chat.QueueCore })
	maps.Copy(all, layout.Names(layout.Partition, part))
	maps.Copy(all, own)
	return script.Names[K]{Keys: all}
}
