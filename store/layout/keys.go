// Package layout lists what a store holds: the keys in Redis and the kinds of tasks. store builds its keys from it, store/doctor
// and store/dump recognise them by it, and its tests compare it with the documents. docs/redis.md says what each key holds.
package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/chatd/chatd/queue"
)

// Key is one row of Keys.
type Key struct {
	// Pattern follows the prefix and the partition. It begins with the letter of its owner; <id> stands for the owner's id, and
	// <user> for that of a user whom the key is about.
	Pattern string
	Type    string // as the command TYPE names it
	Move    Move
	Holds   string // what each element is, where store/dump can tell a right one from a wrong one; its contents say how
	Option  string // of tasks, where only those with an option need it
}

// Move is how a key comes into a store with another number of partitions.
type Move int

const (
	WithOwner Move = iota // into the partition of its group, user, schedule or erasure
	Stays                 // it is in partition 0 alone
	ByElement             // each element goes to the group or the user that it names at its end
	ByTask                // each element goes with the task that it names
	Targets               // each element goes into the list of the partition where the group or the user lives
	Anew                  // an import makes it of what all partitions had
	Refused               // not at all: no task of chatd needs it
	Left                  // not at all: it says something of servers, or of this store alone, and an export leaves it out
)

// Owner is the letter that keys begin with.
type Owner byte

// The owners of keys.
const (
	Partition    Owner = 0
	Group        Owner = 'g'
	User         Owner = 'u'
	Schedule     Owner = 's'
	Erasure      Owner = 'e'
	Announcement Owner = 'a'
	Queue        Owner = 'q'
	Table        Owner = 't'
)

// Owner tells whose key it is.
func (k Key) Owner() Owner {
	if k.Pattern == "" || k.Pattern[1] != ':' {
		return Partition
	}
	return Owner(k.Pattern[0])
}

// Keys are all keys of a store.
var Keys = slices.Concat(
	keys("", Left, "hash layout health present previews", "zset live nodes served orphans health:ends previews:at", "string blobs"),
	keys("", Stays, "hash archive webhooks=webhook webhooks:state webhooks:health a:<id>", "zset announcements", "string push_key"),
	keys("", Stays, "hash tables t:<id> t:<id>:used", "zset t:<id>:at t:<id>:gone"),
	keys("", Anew, "hash wants retention grown=number erased=number a:<id>:part"),
	keys("", ByElement, "hash files=grouped invited=grouped avatars=owned", "zset public=listed named=listed reviewed=reviewed reported=listed audit=audited audit:server=audited users=sender last_seen=sender names=word", "set reachable=sender unused=sender hidden=sender"),
	keys("g:<id>:", WithOwner, "string id",
		"hash meta=group members=member data=custom bans=ban requests=request levels=user sent:<user>=sent invites=invite reviews=review reports=report reporters=reporter pins=pin quorums=quorum pinned=pinned streams=stream streamed=streamed erasures=held files=file gone:files=file import=import",
		"zset joined=user managers=user seen=reader read=user told=user mutes=user slow=user banned=user asked=user waiting=user gone:members=user senders=sender gone:senders=sender",
		"zset msgs=entry skip=id by:<user>=id at:<user>=id reacted=reacted reactions=reactions kept=change files:unused=name files:named=named expires=id threads=thread replies=reply",
		"zset import:msgs=entry import:skip=id import:reacted=reacted import:reactions=reactions"),
	keys("g:<id>:", Left, "zset pressed here"),
	keys("u:<id>:", WithOwner, "string erasing=name files:bytes account=account", "list inbox=item", "hash profile=profile avatar=avatar",
		"hash inbox:base=inbox inbox:sent:<user>=sent strangers=stranger reviews=review added=added devices=device keys=answer uploads=grouped files=grouped drafts=draft",
		"zset groups=group_id blocks=user inbox:senders=sender inbox:server=id inbox:by:<user>=id inbox:mentions:<user>=id schedules=name firings=name keys:at"),
	keys("", WithOwner, "hash s:<id>=schedule e:<id>=erasure", "set e:<id>:groups e:<id>:held"),
	keys("", Targets, "list a:<id>:to:<user>"), // a partition, and no user
	queueKeys(),
)

// keys makes rows of what begins alike: of each list, the first word is the type, and the others are names with what they hold.
func keys(begin string, move Move, lists ...string) (rows []Key) {
	for _, list := range lists {
		kind, names, _ := strings.Cut(list, " ")
		for _, name := range strings.Split(names, " ") {
			name, holds, _ := strings.Cut(name, "=")
			rows = append(rows, Key{Pattern: begin + name, Type: kind, Move: move, Holds: holds})
		}
	}
	return rows
}

func queueKeys() (rows []Key) {
	for _, k := range queue.KeyTable() {
		row := Key{Pattern: "q:<id>:" + k.Name, Type: k.Type, Move: ByTask, Holds: "task", Option: k.Option}
		switch {
		case k.Option != "":
			row.Move, row.Holds = Refused, ""
		case k.Name == "days":
			row.Move, row.Holds = Stays, ""
		case k.Name == "counts", k.Name == "paused":
			row.Move, row.Holds = Anew, ""
		case k.Name == "unique", k.Name == "periodic":
			row.Holds = "" // names of other things
		}
		rows = append(rows, row)
	}
	return rows
}

// irregular are the names by which scripts know keys whose own name is taken by another, or is not the house's word.
var irregular = map[string]string{
	"files": "files_of", "erased": "erased_counts", "g:<id>:id": "last_id", "g:<id>:data": "member_data", "g:<id>:told": "notified", "u:<id>:files": "user_files",
}

// nouns are what scripts call owners that have a key without a further name, and what the names of their other keys begin with.
var nouns = map[Owner]string{Schedule: "schedule", Announcement: "announcement", Erasure: "erasure", Table: "rows"}

var byPattern = func() map[string]Key {
	found := make(map[string]Key, len(Keys))
	for _, k := range Keys {
		found[k.Pattern] = k
	}
	return found
}()

// Names returns the keys of an owner by the names that scripts use; scripts get those about a user otherwise. base is what they
// begin with: the partition, and the letter and the id of the owner.
func Names[K any](owner Owner, base func(K) string) map[string]func(K) string {
	names := map[string]func(K) string{}
	for _, k := range Keys {
		_, rest, ok := strings.Cut(k.Pattern, "<id>")
		if !ok {
			rest = k.Pattern
		}
		name := cmp.Or(irregular[k.Pattern], strings.Trim(strings.ReplaceAll(nouns[owner]+rest, ":", "_"), "_"))
		if k.Owner() == owner && !strings.HasSuffix(rest, "<user>") {
			names[name] = func(keys K) string { return base(keys) + rest }
		}
	}
	return names
}

// InPartition is what every key of a partition begins with.
func InPartition(prefix string, partition int) string {
	return fmt.Sprintf("%s:{p%02d}:", prefix, partition)
}

// Cut is the inverse of InPartition: it divides the name of a key. ok is false for one of another program.
func Cut(prefix, name string) (partition int, rest string, ok bool) {
	name, ours := strings.CutPrefix(name, prefix+":{")
	tag, rest, tagged := strings.Cut(name, "}:")
	partition, isTag := queue.PartitionOf(tag + "-x")
	return partition, rest, ours && tagged && isTag
}

// KeyID is how the id of a group or a user stands in a key or a channel: a colon would separate parts of the key, so a tilde,
// which is in no id, stands for it.
func KeyID(id string) string { return strings.ReplaceAll(id, ":", "~") }

// IDOfKey is the inverse of KeyID. ok is false for what is no single part of a key.
func IDOfKey(part string) (id string, ok bool) {
	return strings.ReplaceAll(part, "~", ":"), part != "" && !strings.Contains(part, ":")
}

// Found is a key of a store. ID is the group, user or other owner that it names, About the user whom it is about; "" for none.
type Found struct {
	Key
	Partition int
	ID, About string
}

// Find recognises a key, given without its prefix and partition. ok is false for one that chatd does not write.
func Find(partition int, rest string) (f Found, ok bool) {
	if strings.ContainsAny(rest, "{} ") {
		return f, false
	}
	f.Partition = partition
	if f.Key, ok = byPattern[rest]; ok {
		return f, !strings.Contains(rest, "<")
	}
	words := strings.Split(rest, ":")
	if len(words) < 2 || words[1] == "" {
		return f, false
	}
	f.ID, _ = IDOfKey(words[1])
	words[1] = "<id>"
	if f.Key, ok = byPattern[strings.Join(words, ":")]; ok {
		return f, true
	}
	last := len(words) - 1
	f.About, ok = IDOfKey(words[last])
	words[last] = "<user>"
	f.Key = byPattern[strings.Join(words, ":")]
	return f, ok && f.Pattern != ""
}

// InHome tells whether the key of a group or a user is in the partition where chatd looks for it, of so many.
func (f Found) InHome(partitions int) bool {
	return f.Owner() != Group && f.Owner() != User || queue.Partition(f.ID, partitions) == f.Partition
}
