package store

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/queue"
)

// coreQueue is the queue of the tasks that the scripts of this package enqueue.
const coreQueue = chat.QueueCore

// keyspace builds every key of this package. All keys of one group, or of one user, carry the tag of its partition, so
// that a script that touches several of them touches one slot. Groups and users were checked by chat.ValidID before
// they come here: they hold neither colon nor brace nor blank, which is what makes the keys injective.
type keyspace struct {
	prefix     string
	partitions int
}

// partition tells where a group or a user lives.
func (k keyspace) partition(id string) int { return queue.Partition(id, k.partitions) }

// tagged is the beginning of every key in a partition.
func (k keyspace) tagged(partition int) string {
	return fmt.Sprintf("%s:{p%02d}:", k.prefix, partition)
}

// layout is a HASH: version and partitions, written once when the store is first opened.
func (k keyspace) layout() string { return k.tagged(0) + "layout" }

// public is a ZSET of the public groups in a partition, all of score 0 so that they stand in the order of their
// members: name, NUL, id.
func (k keyspace) public(partition int) string { return k.tagged(partition) + "public" }

// wants is a HASH: what a new entry of any log in a partition has to be told to, see lib/wants.lua.
func (k keyspace) wants(partition int) string { return k.tagged(partition) + "wants" }

// users is a ZSET of the users in a partition whom the server has ever known, all of score 0 so that they stand in the
// order of their ids.
func (k keyspace) users(partition int) string { return k.tagged(partition) + "users" }

// reachable is a SET of the users in a partition who have a device.
func (k keyspace) reachable(partition int) string { return k.tagged(partition) + "reachable" }

// live is a ZSET of `<node> <user>`, all of score 0: whose session is live on which node; nodes is a ZSET: node -> until when
// it vouches for that, in ms.
func (k keyspace) live(partition int) string  { return k.tagged(partition) + "live" }
func (k keyspace) nodes(partition int) string { return k.tagged(partition) + "nodes" }

// pushKey is a STRING: the private key by which push services know this server.
func (k keyspace) pushKey() string { return k.tagged(0) + "push_key" }

// webhooks is a HASH: id -> webhook. webhookState is a HASH: version of that list, how many of it are in use, and since
// which version there are any.
func (k keyspace) webhooks() string     { return k.tagged(0) + "webhooks" }
func (k keyspace) webhookState() string { return k.tagged(0) + "webhooks:state" }

// egress holds the keys of the egress queue's shard in a partition.
func (k keyspace) egress(partition int) queue.Keys {
	return queue.NewKeys(k.prefix, partition, chat.QueueEgress)
}

// queue holds the keys of the core queue's shard in a partition.
func (k keyspace) queue(partition int) queue.Keys {
	return queue.NewKeys(k.prefix, partition, coreQueue)
}

func (k keyspace) group(id string) groupKeys {
	p := k.partition(id)
	return groupKeys{space: k, partition: p, base: k.tagged(p) + "g:" + id}
}

func (k keyspace) user(id string) userKeys {
	return userKeys{base: k.tagged(k.partition(id)) + "u:" + id}
}

// groupKeys are the keys of one group. docs/redis.md says what each holds.
type groupKeys struct {
	space     keyspace
	partition int
	base      string
}

// channel carries the wake-ups of the group.
func (g groupKeys) channel() string { return g.base }

func (g groupKeys) id() string              { return g.base + ":id" }
func (g groupKeys) meta() string            { return g.base + ":meta" }
func (g groupKeys) members() string         { return g.base + ":members" }
func (g groupKeys) joined() string          { return g.base + ":joined" }
func (g groupKeys) managers() string        { return g.base + ":managers" }
func (g groupKeys) seen() string            { return g.base + ":seen" }
func (g groupKeys) read() string            { return g.base + ":read" }
func (g groupKeys) msgs() string            { return g.base + ":msgs" }
func (g groupKeys) skip() string            { return g.base + ":skip" }
func (g groupKeys) senders() string         { return g.base + ":senders" }
func (g groupKeys) reactions() string       { return g.base + ":reactions" }
func (g groupKeys) reacted() string         { return g.base + ":reacted" }
func (g groupKeys) goneMembers() string     { return g.base + ":gone:members" }
func (g groupKeys) goneSenders() string     { return g.base + ":gone:senders" }
func (g groupKeys) sent(user string) string { return g.base + ":sent:" + user }
func (g groupKeys) by(user string) string   { return g.base + ":by:" + user }
func (g groupKeys) at(user string) string   { return g.base + ":at:" + user }

// levels is a HASH: member -> what to be notified of, for whom it is not everything. told is a ZSET: member -> highest id
// that a notification told of.
func (g groupKeys) levels() string { return g.base + ":levels" }
func (g groupKeys) told() string   { return g.base + ":told" }

// core lists the keys that lib/core.lua binds, in its order. The scripts that are not hot take all of them.
func (g groupKeys) core() []string {
	keys := []string{
		g.id(), g.meta(), g.members(), g.joined(), g.managers(), g.seen(), g.read(), g.msgs(), g.skip(), g.senders(),
		g.reactions(), g.reacted(), g.goneMembers(), g.goneSenders(), g.space.public(g.partition),
	}
	return append(append(keys, g.enqueue()...), g.space.wants(g.partition), g.levels(), g.told())
}

// enqueue lists the keys of the core queue that task_enqueue takes.
func (g groupKeys) enqueue() []string { return g.space.queue(g.partition).Enqueue() }

// taskID makes an id for a task about the group.
func (g groupKeys) taskID() string { return queue.NewID(g.partition) }

// userKeys are the keys of one user.
type userKeys struct{ base string }

// channel carries the wake-ups of the user.
func (u userKeys) channel() string { return u.base }

func (u userKeys) groups() string       { return u.base + ":groups" }
func (u userKeys) inbox() string        { return u.base + ":inbox" }
func (u userKeys) inboxBase() string    { return u.base + ":inbox:base" }
func (u userKeys) inboxSenders() string { return u.base + ":inbox:senders" }
func (u userKeys) inboxSent(sender string) string {
	return u.base + ":inbox:sent:" + sender
}

// schedules is a ZSET: id of a schedule of the user -> when it was made, in ms.
func (u userKeys) schedules() string { return u.base + ":schedules" }

// devices is a HASH: id -> where the user is told while away, see device/put.lua.
func (u userKeys) devices() string { return u.base + ":devices" }

func (u userKeys) keys() string   { return u.base + ":keys" }
func (u userKeys) keysAt() string { return u.base + ":keys:at" }

// schedule is a HASH: one schedule, in the partition of its target, which its id begins with.
func (k keyspace) schedule(id string) (key string, partition int, ok bool) {
	p, ok := queue.PartitionOf(id)
	if !ok || p >= k.partitions {
		return "", 0, false
	}
	return k.tagged(p) + "s:" + id, p, true
}

// followed tells what a channel is of: a group or a user.
func (k keyspace) followed(channel string) (group, user string, ok bool) {
	rest, ok := strings.CutPrefix(channel, k.prefix+":{p")
	if !ok {
		return "", "", false
	}
	_, rest, ok = strings.Cut(rest, "}:")
	if !ok {
		return "", "", false
	}
	if id, ok := strings.CutPrefix(rest, "g:"); ok {
		return id, "", true
	}
	if id, ok := strings.CutPrefix(rest, "u:"); ok {
		return "", id, true
	}
	return "", "", false
}

// hashed names something long by 120 bits of its hash.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:15])
}

// shortHash names a retry key inside a HASH: 72 bits, so that a sender's own thousand keys do not meet, in 12 bytes.
func shortHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
