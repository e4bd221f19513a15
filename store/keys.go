package store

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/layout"
)

// coreQueue is the queue of the tasks that the scripts of this package enqueue.
const coreQueue = chat.QueueCore

// keyspace builds every key of this package. All keys of one group, or of one user, carry the tag of its partition, so
// that a script that touches several of them touches one slot. Groups and users were checked by chat.ValidGroupID and
// chat.ValidUserID before they come here: they hold neither brace nor blank, and KeyID takes the colons out of them, which is
// what makes the keys injective.
//
// Package layout lists all keys, with the names by which scripts know them; docs/redis.md says what each holds. A key has a method
// here if Go uses it alone.
type keyspace struct {
	prefix     string
	partitions []*partKeys
}

func newKeyspace(prefix string, partitions int) keyspace {
	k := keyspace{prefix: prefix, partitions: make([]*partKeys, partitions)}
	for p := range k.partitions {
		core, egress := queue.NewKeys(prefix, p, coreQueue), queue.NewKeys(prefix, p, chat.QueueEgress)
		k.partitions[p] = &partKeys{number: p, base: layout.InPartition(prefix, p),
			enqueue: core.Enqueue(), work: core.Work(), egress: egress.Enqueue()}
	}
	return k
}

// slots are a key of each partition.
func (k keyspace) slots() []string {
	keys := make([]string, len(k.partitions))
	for p, part := range k.partitions {
		keys[p] = part.base
	}
	return keys
}

// partition tells where a group or a user lives.
func (k keyspace) partition(id string) int { return queue.Partition(id, len(k.partitions)) }

// part holds the keys of a partition, home those of the one where a group or a user lives.
func (k keyspace) part(partition int) *partKeys { return k.partitions[partition] }

func (k keyspace) home(id string) *partKeys { return k.partitions[k.partition(id)] }

// partKeys are the keys of a partition that belong to no group and no user. Some are in p00 only.
type partKeys struct {
	number  int
	base    string   // what every key of the partition begins with
	enqueue []string // of the core queue: what task_enqueue takes
	work    []string // of the core queue: what task_cancel takes too
	egress  []string // of the egress queue: what task_enqueue takes
}

// taskID makes an id for a task of the partition.
func (p *partKeys) taskID() string { return queue.NewID(p.number) }

func (p *partKeys) layout() string         { return p.base + "layout" }
func (p *partKeys) public() string         { return p.base + "public" }
func (p *partKeys) named() string          { return p.base + "named" }
func (p *partKeys) reported() string       { return p.base + "reported" }
func (p *partKeys) audit() string          { return p.base + "audit" }
func (p *partKeys) auditServer() string    { return p.base + "audit:server" }
func (p *partKeys) users() string          { return p.base + "users" }
func (p *partKeys) invited() string        { return p.base + "invited" }
func (p *partKeys) reviewed() string       { return p.base + "reviewed" }
func (p *partKeys) lastSeen() string       { return p.base + "last_seen" }
func (p *partKeys) unused() string         { return p.base + "unused" }
func (p *partKeys) avatars() string        { return p.base + "avatars" }
func (p *partKeys) names() string          { return p.base + "names" }
func (p *partKeys) grown() string          { return p.base + "grown" }
func (p *partKeys) hidden() string         { return p.base + "hidden" }
func (p *partKeys) live() string           { return p.base + "live" }
func (p *partKeys) webhooks() string       { return p.base + "webhooks" }
func (p *partKeys) webhooksState() string  { return p.base + "webhooks:state" }
func (p *partKeys) webhooksHealth() string { return p.base + "webhooks:health" }
func (p *partKeys) announcements() string  { return p.base + "announcements" }
func (p *partKeys) tables() string         { return p.base + "tables" }
func (p *partKeys) archive() string        { return p.base + "archive" }
func (p *partKeys) retention() string      { return p.base + "retention" }
func (p *partKeys) health() string         { return p.base + "health" }
func (p *partKeys) healthEnds() string     { return p.base + "health:ends" }
func (p *partKeys) previews() string       { return p.base + "previews" }
func (p *partKeys) blobs() string          { return p.base + "blobs" }
func (p *partKeys) filesOf() string        { return p.base + "files" }
func (p *partKeys) erasedCounts() string   { return p.base + "erased" }

var partNames = script.Names[*partKeys]{
	Keys: layout.Names(layout.Partition, func(p *partKeys) string { return p.base }),
	Groups: map[string]func(*partKeys) []string{
		"core:enqueue":   func(p *partKeys) []string { return p.enqueue },
		"core:work":      func(p *partKeys) []string { return p.work },
		"egress:enqueue": func(p *partKeys) []string { return p.egress },
	},
}

// within is a key set that lies in a partition: it knows the names of that too, and those of any set between.
func within[K, Outer any](outer script.Names[Outer], of func(K) Outer, own map[string]func(K) string) script.Names[K] {
	n := script.Names[K]{Keys: own, Groups: map[string]func(K) []string{}}
	for name, key := range outer.Keys {
		n.Keys[name] = func(k K) string { return key(of(k)) }
	}
	for name, keys := range outer.Groups {
		n.Groups[name] = func(k K) []string { return keys(of(k)) }
	}
	return n
}

func (k keyspace) group(id string) groupKeys {
	p := k.home(id)
	return groupKeys{partKeys: p, base: p.base + "g:" + layout.KeyID(id)}
}

// groupKeys are the keys of one group.
type groupKeys struct {
	*partKeys
	base string
}

// channel carries the wake-ups of the group.
func (g groupKeys) channel() string { return g.base }

func (g groupKeys) lastID() string          { return g.base + ":id" }
func (g groupKeys) meta() string            { return g.base + ":meta" }
func (g groupKeys) members() string         { return g.base + ":members" }
func (g groupKeys) threads() string         { return g.base + ":threads" }
func (g groupKeys) replies() string         { return g.base + ":replies" }
func (g groupKeys) memberData() string      { return g.base + ":data" }
func (g groupKeys) mutes() string           { return g.base + ":mutes" }
func (g groupKeys) reviews() string         { return g.base + ":reviews" }
func (g groupKeys) joined() string          { return g.base + ":joined" }
func (g groupKeys) seen() string            { return g.base + ":seen" }
func (g groupKeys) read() string            { return g.base + ":read" }
func (g groupKeys) msgs() string            { return g.base + ":msgs" }
func (g groupKeys) skip() string            { return g.base + ":skip" }
func (g groupKeys) reactions() string       { return g.base + ":reactions" }
func (g groupKeys) reacted() string         { return g.base + ":reacted" }
func (g groupKeys) waiting() string         { return g.base + ":waiting" }
func (g groupKeys) reports() string         { return g.base + ":reports" }
func (g groupKeys) reporters() string       { return g.base + ":reporters" }
func (g groupKeys) pins() string            { return g.base + ":pins" }
func (g groupKeys) pinned() string          { return g.base + ":pinned" }
func (g groupKeys) invites() string         { return g.base + ":invites" }
func (g groupKeys) erasures() string        { return g.base + ":erasures" }
func (g groupKeys) kept() string            { return g.base + ":kept" }
func (g groupKeys) files() string           { return g.base + ":files" }
func (g groupKeys) filesNamed() string      { return g.base + ":files:named" }
func (g groupKeys) goneMembers() string     { return g.base + ":gone:members" }
func (g groupKeys) goneSenders() string     { return g.base + ":gone:senders" }
func (g groupKeys) sent(user string) string { return g.base + ":sent:" + layout.KeyID(user) }
func (g groupKeys) by(user string) string   { return g.base + ":by:" + layout.KeyID(user) }
func (g groupKeys) at(user string) string   { return g.base + ":at:" + layout.KeyID(user) }

var groupNames = within(partNames, func(g groupKeys) *partKeys { return g.partKeys },
	withAll(layout.Names(layout.Group, func(g groupKeys) string { return g.base })))

// withAll adds where mentions of all members are counted.
func withAll(names map[string]func(groupKeys) string) map[string]func(groupKeys) string {
	names["at_all"] = func(g groupKeys) string { return g.at(chat.MentionAll) }
	return names
}

// of names one user of the group, whose keys there scripts know too.
func (g groupKeys) of(user string) memberKeys { return memberKeys{g, user} }

// memberKeys are the keys of a group with those that it keeps of one user.
type memberKeys struct {
	groupKeys
	user string
}

var memberNames = within(groupNames, func(m memberKeys) groupKeys { return m.groupKeys }, map[string]func(memberKeys) string{
	"sent": func(m memberKeys) string { return m.sent(m.user) },
	"by":   func(m memberKeys) string { return m.by(m.user) },
	"at":   func(m memberKeys) string { return m.at(m.user) },
})

func (k keyspace) user(id string) userKeys {
	p := k.home(id)
	return userKeys{partKeys: p, base: p.base + "u:" + layout.KeyID(id)}
}

// userKeys are the keys of one user.
type userKeys struct {
	*partKeys
	base string
}

// channel carries the wake-ups of the user.
func (u userKeys) channel() string { return u.base }

func (u userKeys) groups() string               { return u.base + ":groups" }
func (u userKeys) inbox() string                { return u.base + ":inbox" }
func (u userKeys) inboxBase() string            { return u.base + ":inbox:base" }
func (u userKeys) inboxSenders() string         { return u.base + ":inbox:senders" }
func (u userKeys) inboxServer() string          { return u.base + ":inbox:server" }
func (u userKeys) inboxBy(sender string) string { return u.base + ":inbox:by:" + layout.KeyID(sender) }
func (u userKeys) inboxMentions(sender string) string {
	return u.base + ":inbox:mentions:" + layout.KeyID(sender)
}
func (u userKeys) inboxSent(sender string) string {
	return u.base + ":inbox:sent:" + layout.KeyID(sender)
}
func (u userKeys) blocks() string    { return u.base + ":blocks" }
func (u userKeys) drafts() string    { return u.base + ":drafts" }
func (u userKeys) schedules() string { return u.base + ":schedules" }
func (u userKeys) reviews() string   { return u.base + ":reviews" }
func (u userKeys) devices() string   { return u.base + ":devices" }
func (u userKeys) strangers() string { return u.base + ":strangers" }
func (u userKeys) added() string     { return u.base + ":added" }
func (u userKeys) profile() string   { return u.base + ":profile" }
func (u userKeys) avatar() string    { return u.base + ":avatar" }
func (u userKeys) uploads() string   { return u.base + ":uploads" }
func (u userKeys) files() string     { return u.base + ":files" }
func (u userKeys) account() string   { return u.base + ":account" }

var userNames = within(partNames, func(u userKeys) *partKeys { return u.partKeys },
	layout.Names(layout.User, func(u userKeys) string { return u.base }))

// schedule holds the keys of a schedule, in the partition of its target, which its id begins with.
func (k keyspace) schedule(id string) (scheduleKeys, bool) {
	p, ok := queue.PartitionOf(id)
	if !ok || p >= len(k.partitions) {
		return scheduleKeys{}, false
	}
	return scheduleKeys{k.part(p), id}, true
}

// scheduleKeys are the keys of one schedule.
type scheduleKeys struct {
	*partKeys
	id string
}

func (s scheduleKeys) schedule() string { return s.base + "s:" + s.id }

var scheduleNames = within(partNames, func(s scheduleKeys) *partKeys { return s.partKeys },
	layout.Names(layout.Schedule, func(s scheduleKeys) string { return s.schedule() }))

func (k keyspace) announcement(id string) announceKeys { return announceKeys{k.part(0), k, id} }

// announceKeys are the keys of one announcement: the record and the lists of its targets in p00, and a part in each
// partition.
type announceKeys struct {
	*partKeys
	space keyspace
	id    string
}

func (a announceKeys) announcement() string { return a.base + "a:" + a.id }

// part holds how far the newest run is in a partition.
func (a announceKeys) part(partition int) string {
	return a.space.part(partition).base + "a:" + a.id + ":part"
}

// targets lists those that live in a partition.
func (a announceKeys) targets(partition int) string {
	return fmt.Sprintf("%sa:%s:to:%02d", a.base, a.id, partition)
}

func (a announceKeys) allTargets() []string {
	lists := make([]string, len(a.space.partitions))
	for p := range lists {
		lists[p] = a.targets(p)
	}
	return lists
}

var announceNames = within(partNames, func(a announceKeys) *partKeys { return a.partKeys },
	layout.Names(layout.Announcement, func(a announceKeys) string { return a.announcement() }))

// erasure holds the keys of the erasure of a user, in the user's partition, which its id begins with.
func (k keyspace) erasure(user, id string) erasureKeys {
	return erasureKeys{k.user(user), k.home(user).base + "e:" + id}
}

// erasureKeys are the keys of one erasure, with those of the user.
type erasureKeys struct {
	userKeys
	base string
}

func (e erasureKeys) erasure() string       { return e.base }
func (e erasureKeys) erasureGroups() string { return e.base + ":groups" }
func (e erasureKeys) erasureHeld() string   { return e.base + ":held" }

var erasureNames = within(userNames, func(e erasureKeys) userKeys { return e.userKeys },
	layout.Names(layout.Erasure, func(e erasureKeys) string { return e.base }))

// followed tells whose channel it is: that of a group or of a user.
func (k keyspace) followed(channel string) (group, user string, ok bool) {
	rest, ok := strings.CutPrefix(channel, k.prefix+":{p")
	if !ok {
		return "", "", false
	}
	_, rest, ok = strings.Cut(rest, "}:")
	if !ok {
		return "", "", false
	}
	if part, isGroup := strings.CutPrefix(rest, "g:"); isGroup {
		group, ok = layout.IDOfKey(part)
		return group, "", ok
	}
	if part, isUser := strings.CutPrefix(rest, "u:"); isUser {
		user, ok = layout.IDOfKey(part)
		return "", user, ok
	}
	return "", "", false
}

// hashed names something long by 120 bits of its hash.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:15])
}

// shortHash names a retry key inside a HASH: 72 bits, so that the thousand keys of a sender do not collide, in 12 bytes.
func shortHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
