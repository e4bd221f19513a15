package doctor

import (
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store"
)

// keyspace parses the keys that package store writes: docs/redis.md and queue/docs/reference.md describe each. They are
// listed a second time here on purpose: a key that it does not know becomes a finding.
type keyspace struct {
	prefix     string
	partitions int
}

type owner int

const (
	ofPartition owner = iota
	ofGroup
	ofUser
	ofSchedule
	ofAnnouncement
	ofErasure
)

// key is a parsed key.
type key struct {
	name      string
	kind      string // the type that it should have
	partition int
	of        owner
	id        string // of the group, user, schedule, announcement or erasure
	what      string // which of its keys
	user      string // the user that a key of a group or an inbox is about
}

// shape is a key without its partition. `<id>` stands for its owner, `<user>` for the user it is about.
type shape struct {
	pattern, kind string
	of            owner
}

var shapes = []shape{
	{"layout", "hash", ofPartition}, {"public", "zset", ofPartition}, {"wants", "hash", ofPartition}, {"users", "zset", ofPartition},
	{"grown", "hash", ofPartition}, {"reachable", "set", ofPartition}, {"unused", "set", ofPartition}, {"webhooks:health", "hash", ofPartition}, {"live", "zset", ofPartition}, {"nodes", "zset", ofPartition}, {"push_key", "string", ofPartition},
	{"webhooks", "hash", ofPartition}, {"webhooks:state", "hash", ofPartition}, {"announcements", "zset", ofPartition},
	{"served", "zset", ofPartition}, {"retention", "hash", ofPartition}, {"archive", "hash", ofPartition},
	{"q:<id>:tasks", "hash", ofPartition}, {"q:<id>:runs", "hash", ofPartition}, {"q:<id>:counts", "hash", ofPartition},
	{"q:<id>:unique", "hash", ofPartition}, {"q:<id>:delayed", "zset", ofPartition}, {"q:<id>:leased", "zset", ofPartition},
	{"q:<id>:dead", "zset", ofPartition}, {"q:<id>:paused", "string", ofPartition}, {"q:<id>:periodic", "hash", ofPartition}, {"q:<id>:batches", "hash", ofPartition}, {"q:<id>:slots", "hash", ofPartition}, {"q:<id>:lines", "zset", ofPartition}, {"q:<id>:parked", "zset", ofPartition}, {"q:<id>:rates", "zset", ofPartition}, {"q:<id>:kept", "zset", ofPartition}, {"q:<id>:results", "hash", ofPartition}, {"q:<id>:expiring", "zset", ofPartition}, {"q:<id>:days", "hash", ofPartition},
	{"q:<id>:ready:critical", "list", ofPartition},
	{"q:<id>:ready:high", "list", ofPartition}, {"q:<id>:ready:normal", "list", ofPartition}, {"q:<id>:ready:low", "list", ofPartition},
	{"g:<id>:id", "string", ofGroup}, {"g:<id>:meta", "hash", ofGroup}, {"g:<id>:members", "hash", ofGroup},
	{"g:<id>:joined", "zset", ofGroup}, {"g:<id>:managers", "zset", ofGroup}, {"g:<id>:seen", "zset", ofGroup},
	{"g:<id>:read", "zset", ofGroup}, {"g:<id>:msgs", "zset", ofGroup}, {"g:<id>:skip", "zset", ofGroup},
	{"g:<id>:senders", "zset", ofGroup}, {"g:<id>:reacted", "zset", ofGroup}, {"g:<id>:reactions", "zset", ofGroup},
	{"g:<id>:levels", "hash", ofGroup}, {"g:<id>:told", "zset", ofGroup}, {"g:<id>:gone:members", "zset", ofGroup},
	{"g:<id>:gone:senders", "zset", ofGroup}, {"g:<id>:waiting", "zset", ofGroup}, {"g:<id>:by:<user>", "zset", ofGroup}, {"g:<id>:at:<user>", "zset", ofGroup},
	{"g:<id>:sent:<user>", "hash", ofGroup}, {"g:<id>:import", "hash", ofGroup}, {"g:<id>:import:msgs", "zset", ofGroup},
	{"g:<id>:import:skip", "zset", ofGroup}, {"g:<id>:import:reacted", "zset", ofGroup}, {"g:<id>:import:reactions", "zset", ofGroup},
	{"u:<id>:groups", "zset", ofUser}, {"u:<id>:inbox", "list", ofUser}, {"u:<id>:inbox:base", "hash", ofUser},
	{"u:<id>:inbox:senders", "zset", ofUser}, {"u:<id>:inbox:server", "zset", ofUser}, {"u:<id>:inbox:sent:<user>", "hash", ofUser}, {"u:<id>:inbox:by:<user>", "zset", ofUser},
	{"u:<id>:inbox:mentions:<user>", "zset", ofUser}, {"u:<id>:strangers", "hash", ofUser}, {"u:<id>:added", "hash", ofUser}, {"u:<id>:schedules", "zset", ofUser}, {"u:<id>:firings", "zset", ofUser},
	{"u:<id>:devices", "hash", ofUser}, {"u:<id>:keys", "hash", ofUser}, {"u:<id>:keys:at", "zset", ofUser},
	{"g:<id>:erasures", "hash", ofGroup}, {"g:<id>:kept", "zset", ofGroup}, {"u:<id>:erasing", "string", ofUser},
	{"blobs", "string", ofPartition}, {"erased", "hash", ofPartition}, {"orphans", "zset", ofPartition}, {"files", "hash", ofPartition}, {"g:<id>:files", "hash", ofGroup}, {"g:<id>:files:unused", "zset", ofGroup}, {"g:<id>:files:named", "zset", ofGroup},
	{"g:<id>:gone:files", "hash", ofGroup}, {"u:<id>:uploads", "hash", ofUser}, {"u:<id>:files", "hash", ofUser}, {"u:<id>:files:bytes", "string", ofUser},
	{"s:<id>", "hash", ofSchedule},
	{"e:<id>", "hash", ofErasure}, {"e:<id>:groups", "set", ofErasure}, {"e:<id>:held", "set", ofErasure},
	{"a:<id>", "hash", ofAnnouncement}, {"a:<id>:part", "hash", ofAnnouncement}, {"a:<id>:to:<user>", "list", ofAnnouncement},
}

var shapesByPattern = func() map[string]shape {
	found := make(map[string]shape, len(shapes))
	for _, s := range shapes {
		found[s.pattern] = s
	}
	return found
}()

// shapeOf finds the shape of a key without its partition, its owner and the user it is about.
func shapeOf(rest string) (s shape, id, user string, ok bool) {
	if strings.ContainsAny(rest, "{} ") {
		return s, "", "", false
	}
	if s, ok = shapesByPattern[rest]; ok {
		return s, "", "", !strings.Contains(rest, "<")
	}
	words := strings.Split(rest, ":")
	if len(words) < 2 || words[1] == "" {
		return s, "", "", false
	}
	id, words[1] = words[1], "<id>"
	if s, ok = shapesByPattern[strings.Join(words, ":")]; ok {
		return s, id, "", true
	}
	last := len(words) - 1
	user, words[last] = words[last], "<user>"
	s, ok = shapesByPattern[strings.Join(words, ":")]
	return s, id, user, ok && user != ""
}

// owns reports whether a key is under the prefix.
func (k keyspace) owns(name string) bool { return strings.HasPrefix(name, k.prefix+":") }

// parse parses a key.
func (k keyspace) parse(name string) (key, bool) {
	rest, ok := strings.CutPrefix(name, k.prefix+":{")
	if !ok {
		return key{}, false
	}
	tag, rest, ok := strings.Cut(rest, "}:")
	partition, isTag := queue.PartitionOf(tag + "-x")
	if !ok || !isTag || partition >= k.partitions {
		return key{}, false
	}
	s, id, user, ok := shapeOf(rest)
	if !ok {
		return key{}, false
	}
	one := key{name: name, kind: s.kind, partition: partition, of: s.of, what: s.pattern}
	one.id, _ = store.IDOfKey(id)
	one.user, _ = store.IDOfKey(user)
	inHome := one.of != ofGroup && one.of != ofUser || queue.Partition(one.id, k.partitions) == partition
	return one, inHome
}

// Key describes a key of chatd. ID is the group, user or other owner that it names, About the user that it is about; "" for none.
// InHome: it is in the partition where chatd looks for it.
type Key struct {
	Kind, Shape, ID, About string
	OfGroup, OfUser        bool
	InHome                 bool
}

// KeyOf describes a key, which is given without its prefix and partition; Kind is "" where chatd writes no such key.
func KeyOf(rest string, partition, partitions int) Key {
	all := keyspace{partitions: partitions}
	k, inHome := all.parse(all.part(partition) + rest)
	return Key{k.kind, k.what, k.id, k.user, k.kind != "" && k.of == ofGroup, k.kind != "" && k.of == ofUser, inHome}
}

// part returns the prefix of the keys of a partition.
func (k keyspace) part(p int) string { return fmt.Sprintf("%s:{p%02d}:", k.prefix, p) }

func (k keyspace) home(id string) string { return k.part(queue.Partition(id, k.partitions)) }

// group holds the keys of a group.
func (k keyspace) group(id string) groupKeys {
	return groupKeys{id, k.home(id), k.home(id) + "g:" + store.KeyID(id) + ":"}
}

type groupKeys struct{ id, part, base string }

var groupNames = names(map[string]func(groupKeys) string{
	"last_id": below("id"), "meta": below("meta"), "members": below("members"), "joined": below("joined"),
	"managers": below("managers"), "seen": below("seen"), "read": below("read"), "msgs": below("msgs"), "skip": below("skip"),
	"senders": below("senders"), "reactions": below("reactions"), "levels": below("levels"), "notified": below("told"),
	"gone_members": below("gone:members"), "gone_senders": below("gone:senders"),
	"files": below("files"), "unused_files": below("files:unused"), "named": below("files:named"), "files_of": besides("files"),
	"waiting": below("waiting"), "kept": below("kept"), "public": besides("public"), "wants": besides("wants"),
	"tasks": besides("q:" + chat.QueueCore + ":tasks"), "dead": besides("q:" + chat.QueueCore + ":dead"),
	"unique": besides("q:" + chat.QueueCore + ":unique"), "leased": besides("q:" + chat.QueueCore + ":leased"),
})

func below(name string) func(groupKeys) string {
	return func(g groupKeys) string { return g.base + name }
}

// besides makes another key of the group's partition.
func besides(name string) func(groupKeys) string {
	return func(g groupKeys) string { return g.part + name }
}

func names[K any](keys map[string]func(K) string) script.Names[K] { return script.Names[K]{Keys: keys} }
