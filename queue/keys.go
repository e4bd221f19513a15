package queue

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Keys are the Redis keys of one queue in one partition. All carry the same hash tag, so a script may touch any of
// them, also in Redis Cluster, and a script may use them together with the keys of a group or a user of the same
// partition.
type Keys struct {
	base string
}

// NewKeys returns the keys of queue in a partition. The prefix is the application's ("chat"); neither the prefix nor
// the queue name may contain a brace or a colon.
func NewKeys(prefix string, partition int, queue string) Keys {
	return Keys{base: prefix + ":{" + tag(partition) + "}:q:" + queue + ":"}
}

// Of returns the key with this name in KeyTable.
func (k Keys) Of(name string) string { return k.base + name }

// Wake is the channel that wakes sleeping workers.
func (k Keys) Wake() string { return k.Of("tasks") }

// KeyRow describes one of the keys that a queue has in a partition.
type KeyRow struct {
	Name   string // what stands behind "<prefix>:{pNN}:q:<queue>:"
	Type   string // as the command TYPE names it
	Option string // of what it is, where only tasks with an option need it
}

// keyTable has the keys of Enqueue first, then those that Work has too, each in the order in which scripts take them.
var keyTable = []KeyRow{
	{"tasks", "hash", ""}, {"counts", "hash", ""}, {"unique", "hash", ""}, {"delayed", "zset", ""},
	{"ready:critical", "list", ""}, {"ready:high", "list", ""}, {"ready:normal", "list", ""}, {"ready:low", "list", ""},
	{"slots", "hash", "limits of tasks"}, {"expiring", "zset", "unique keys for a time"},

	{"leased", "zset", ""}, {"runs", "hash", ""}, {"dead", "zset", ""}, {"paused", "string", ""},
	{"batches", "hash", "batches of tasks"}, {"parked", "zset", "limits of tasks"}, {"rates", "zset", "rates of tasks"},
	{"kept", "zset", "results of tasks"}, {"results", "hash", "results of tasks"}, {"lines", "zset", "limits of tasks"},

	{"periodic", "hash", ""}, {"days", "hash", ""},
}

const enqueueKeys, workKeys = 10, 20 // how many rows these are

// KeyTable lists the keys of a queue. docs/reference.md says what each holds.
func KeyTable() []KeyRow { return slices.Clone(keyTable) }

// KeyNames returns the names that scripts use for the keys of Enqueue and Work, in their order: a script.Library with
// these as its Groups may include EnqueueLua and CancelLua.
func KeyNames() map[string][]string {
	names := make([]string, workKeys)
	for i := range names {
		names[i] = strings.TrimPrefix(keyTable[i].Name, "ready:")
	}
	return map[string][]string{"enqueue": names[:enqueueKeys:enqueueKeys], "work": names}
}

// Enqueue lists the keys that task_enqueue of EnqueueLua takes, in its order.
func (k Keys) Enqueue() []string { return k.first(enqueueKeys) }

// Work lists the keys of the scripts that move existing tasks, in the order that task_cancel of CancelLua takes them.
// Those of Enqueue come first, so that scripts may share functions.
func (k Keys) Work() []string { return k.first(workKeys) }

func (k Keys) first(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = k.base + keyTable[i].Name
	}
	return keys
}

// layoutKey is a HASH with the number of partitions of all queues under a prefix, and whatever else the application
// records there.
func layoutKey(prefix string) string { return prefix + ":{" + tag(0) + "}:layout" }

// servedKey is a ZSET, "<queue> <kind> <kind> ..." -> until when a server has announced that it runs these kinds, in ms.
func servedKey(prefix string) string { return prefix + ":{" + tag(0) + "}:served" }

// tag is the partition's name in the hash tag and at the start of a task's id.
func tag(partition int) string { return fmt.Sprintf("p%02d", partition) }

// NewID returns a new task id. It begins with the partition, so that the id alone locates the task; the rest is 130
// random bits.
func NewID(partition int) string { return tag(partition) + "-" + rand.Text() }

// newToken returns the fencing token of a claim, see lua/lib/common.lua.
func newToken() string { return (rand.Text() + rand.Text())[:40] }

// PartitionOf returns the partition in an id; false if there is none.
func PartitionOf(id string) (int, bool) {
	head, rest, ok := strings.Cut(id, "-")
	if !ok || rest == "" || !strings.HasPrefix(head, "p") {
		return 0, false
	}
	n, err := strconv.Atoi(head[1:])
	if err != nil || n < 0 || tag(n) != head {
		return 0, false
	}
	return n, true
}

// Partition returns the partition of a subject's tasks, out of n: FNV-1a of the name, as for groups and users, so that
// scripts can handle a task together with its subject.
func Partition(subject string, n int) int {
	hash := uint32(2166136261)
	for i := range len(subject) {
		hash = (hash ^ uint32(subject[i])) * 16777619
	}
	return int(hash % uint32(n))
}
