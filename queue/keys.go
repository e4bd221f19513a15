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

// Tasks is a HASH, id -> specification: the task as it was enqueued; only Client.Rewrite changes its payload. It is one HASH, not one
// per task, so that a script declares every key it touches. Its name is also the channel that wakes workers.
func (k Keys) Tasks() string { return k.base + "tasks" }

// Runs is a HASH, id -> attempts, crashes, progress and last error. A task that never failed and reported no progress
// has no field here.
func (k Keys) Runs() string { return k.base + "runs" }

// Counts is a HASH of totals: enqueued, done, failed, crashed, buried, dropped, deleted; of dead_bytes, the bytes of the
// dead letters; and of accounts, see Client.Accounts.
func (k Keys) Counts() string { return k.base + "counts" }

// Unique is a HASH, unique key -> id of the task that holds it, with "<id> <ms>" if it does so until that time.
func (k Keys) Unique() string { return k.base + "unique" }

// Expiring is a ZSET, unique key that is held until a time -> that time in ms.
func (k Keys) Expiring() string { return k.base + "expiring" }

// Delayed is a ZSET, id -> due time in ms.
func (k Keys) Delayed() string { return k.base + "delayed" }

// Leased is a ZSET, "<id> <token>" -> end of the lease in ms. It is the only record of a running task and of its
// current token.
func (k Keys) Leased() string { return k.base + "leased" }

// Dead is a ZSET, id -> time of death in ms.
func (k Keys) Dead() string { return k.base + "dead" }

// Paused exists while nothing may be claimed.
func (k Keys) Paused() string { return k.base + "paused" }

// Periodic is a HASH, id of a periodic task -> its declaration, and "<id> at" -> whether it is paused, when it was last
// due and is due next, and how often it was fired.
func (k Keys) Periodic() string { return k.base + "periodic" }

// Batches is a HASH with the tasks of batches, see option/batch/lua/lib/batch.lua. The task that carries a batch is as any other.
func (k Keys) Batches() string { return k.base + "batches" }

// Slots is a HASH, key of a limit -> the tasks that have its slots; see option/limit/lua/lib/limit.lua.
func (k Keys) Slots() string { return k.base + "slots" }

// Lines is a ZSET with the tasks that wait for slots of limits, by key and since when; see option/limit/lua/lib/limit.lua.
func (k Keys) Lines() string { return k.base + "lines" }

// Parked is a ZSET, id of a task that waits for a slot -> since when, in us.
func (k Keys) Parked() string { return k.base + "parked" }

// Rates is a ZSET, key of a rate -> when all runs that count are over, in us, and more; see option/rate/lua/lib/rate.lua.
func (k Keys) Rates() string { return k.base + "rates" }

// Kept is a ZSET, id of a task that is complete and has left a result -> until when that is kept, in ms.
func (k Keys) Kept() string { return k.base + "kept" }

// Results is a HASH, id -> when the task was complete, in ms, and its result. It has those of Kept.
func (k Keys) Results() string { return k.base + "results" }

// ByDay is a HASH in partition 0 alone, day and kind -> how many runs ended, and how; see lua/count_days.lua.
func (k Keys) ByDay() string { return k.base + "days" }

// Ready is the LIST of ids that can be claimed at one priority, oldest at the head.
func (k Keys) Ready(p Priority) string { return k.base + "ready:" + p.String() }

// Wake is the channel that wakes sleeping workers.
func (k Keys) Wake() string { return k.Tasks() }

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
