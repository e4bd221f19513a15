package dump

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/layout"
)

// server is the name under which the server itself sends items.
const server = "$chat"

// content is what a key of a group or a user, or a list of them, holds. ok gets the owner of the key, the member of a zset or a set,
// the field of a hash or the element of a list, and the score or the value beside it.
type content struct {
	want string
	ok   func(owner, name, value string) bool
}

var (
	users   = content{"the id of a user", func(_, name, _ string) bool { return chat.ValidUserID(name) }}
	senders = content{"the id of a sender", func(_, name, _ string) bool { return validSender(name) }}
	readers = content{"the id of a user or " + archiveReader, func(_, name, _ string) bool { return chat.ValidUserID(name) || name == archiveReader }}
	groups  = content{"the id of a group", func(_, name, _ string) bool { return chat.ValidGroupID(name) }}
	ids     = content{"a whole number from 0 to 2^53-1", func(_, name, _ string) bool { return whole(name) }}
	inGroup = content{"a value that begins with the id of a group", func(_, _, value string) bool { return chat.ValidGroupID(head(value)) }}

	entries = content{"a message of the group: its id, mark and edits and the JSON of its entry, with its id as the score", func(group, stored, score string) bool {
		e, err := store.ReadEntry(stored)
		return err == nil && entryOf(e, e.ID, group) && scores(score, e.ID)
	}}
	keptEntries = content{"the id of a change and the JSON of an entry of the group", func(group, stored, score string) bool {
		change, was, _ := strings.Cut(stored, " ")
		var e chat.Entry
		return whole(change) && json.Unmarshal([]byte(was), &e) == nil && entryOf(e, e.ID, group) && scores(score, e.ID)
	}}
	items = content{"a mark and the JSON of an item", func(_, stored, _ string) bool {
		at := strings.IndexByte(stored, '{')
		var i chat.Item
		return at >= 0 && json.Unmarshal([]byte(stored[at:]), &i) == nil && i.Seq >= 1 && i.Seq <= integerMax
	}}
	reacted = content{"the id of a message, and a user and an emoji or the id of a reaction", func(_, name, _ string) bool {
		if past, ok := strings.CutPrefix(name, "="); ok {
			target, id, _ := strings.Cut(past, " ")
			return whole(target) && whole(id)
		}
		target, rest, _ := strings.Cut(strings.TrimPrefix(name, "-"), " ")
		return whole(target) && validSender(head(rest))
	}}
	reactions = content{"the id of a message, an emoji and a number", func(_, name, _ string) bool {
		return whole(head(name)) && whole(name[strings.LastIndexByte(name, ' ')+1:])
	}}
)

// contents are what keys hold that name users, groups, messages or positions, by their shape.
var contents = map[string]content{
	"g:<id>:members": {"the id of a user with a role and a time", func(_, name, value string) bool {
		role, at, _ := strings.Cut(value, " ")
		return chat.ValidUserID(name) && role != "" && whole(at)
	}},
	"g:<id>:joined": users, "g:<id>:managers": users, "g:<id>:read": users, "g:<id>:waiting": users, "g:<id>:levels": users,
	"g:<id>:told": users, "g:<id>:gone:members": users, "g:<id>:seen": readers, "g:<id>:senders": senders, "g:<id>:gone:senders": senders,
	"g:<id>:msgs": entries, "g:<id>:import:msgs": entries, "g:<id>:kept": keptEntries,
	"g:<id>:skip": ids, "g:<id>:import:skip": ids, "g:<id>:by:<user>": ids, "g:<id>:at:<user>": ids,
	"g:<id>:reacted": reacted, "g:<id>:import:reacted": reacted, "g:<id>:reactions": reactions, "g:<id>:import:reactions": reactions,
	"g:<id>:meta":   numbered("created_ms", "keep", "backlog_max", "backlog_bytes", "active_ms", "newest", "floor"),
	"g:<id>:import": numbered("at"),
	"u:<id>:groups": groups, "u:<id>:inbox": items, "u:<id>:inbox:base": numbered("base", "gaps", "acked", "told"),
	"u:<id>:inbox:senders": senders, "u:<id>:inbox:server": ids, "u:<id>:inbox:by:<user>": ids, "u:<id>:inbox:mentions:<user>": ids,
	"u:<id>:strangers": {"the id of a user and a number of bytes", func(_, name, value string) bool { return validSender(head(name)) && whole(value) }},
	"u:<id>:added": {"the id of a group", func(_, name, _ string) bool {
		return strings.HasPrefix(name, ".") || chat.ValidGroupID(name) // a dot begins the hash of who added
	}},
	"u:<id>:uploads": inGroup, "u:<id>:files": inGroup, "files": inGroup,
	"erased": {"a whole number from 0 to 2^53-1", func(_, _, value string) bool { return whole(value) }},
	"users":  senders, "reachable": senders, "unused": senders,
	"public": {"the name and the id of a group", func(_, name, _ string) bool {
		_, group, _ := strings.Cut(name, "\x00")
		return chat.ValidGroupID(group)
	}},

	"g:<id>:sent:<user>": retried, "u:<id>:inbox:sent:<user>": retried, "u:<id>:keys": created, "u:<id>:devices": devices, "webhooks": webhooks,
	"g:<id>:erasures": held, "u:<id>:erasing": made, "g:<id>:files": records, "g:<id>:gone:files": records, "g:<id>:files:unused": made,
	"g:<id>:files:named": named, "u:<id>:schedules": made, "u:<id>:firings": made,
	"grown": {ids.want, func(_, _, value string) bool { return whole(value) }},
	"s:<id>": all(numbered("version", "created_ms", "next_ms", "fired", "sent", "missed", "last_id", "last_ms"),
		readable[schedule.Plan]("plan", "the fields of a schedule: whole numbers, and its plan as JSON")),
	"e:<id>":       numbered("messages", "created_ms"),
	"q:<id>:tasks": tasks, "q:<id>:runs": tasks, "q:<id>:delayed": tasks, "q:<id>:dead": tasks, "q:<id>:leased": tasks, "q:<id>:parked": tasks,
	"q:<id>:ready:critical": tasks, "q:<id>:ready:high": tasks, "q:<id>:ready:normal": tasks, "q:<id>:ready:low": tasks,
}

// numbered is a hash of which some fields are whole numbers, or empty.
func numbered(fields ...string) content {
	all := map[string]bool{}
	for _, f := range fields {
		all[f] = true
	}
	return content{"a whole number from 0 to 2^53-1", func(_, name, value string) bool { return !all[name] || value == "" || whole(value) }}
}

// checkContent refuses ids, messages and numbers that no chatd has written: its own readers would fail on them.
func (p part) checkContent(key layout.Found) error {
	check, known := contents[key.Pattern]
	scored := p.Kind == "zset" && (key.Owner() == layout.Group || key.Owner() == layout.User)
	for n := 0; n < len(p.Values) && (known || scored); n += p.step() {
		name, value := string(p.Values[n]), ""
		switch p.Kind {
		case "hash":
			value = string(p.Values[n+1])
		case "zset":
			name, value = string(p.Values[n+1]), name
		}
		if scored && !validScore(value, key.Pattern) {
			return fmt.Errorf("%q has the score %.40q for %.100q: must be a whole number from 0 to 2^53-1", p.Key, value, name)
		}
		if known && !check.ok(key.ID, name, value) {
			return fmt.Errorf("%q holds %.100q %.40q: must be %s", p.Key, name, value, check.want)
		}
	}
	return nil
}

// validOwners tells whether a key names a group or a user that can be.
func validOwners(key layout.Found) bool {
	switch key.Owner() {
	case layout.Group:
		return chat.ValidGroupID(key.ID) && (key.About == "" || validSender(key.About))
	case layout.User:
		return chat.ValidUserID(key.ID) && (key.About == "" || validSender(key.About))
	}
	return true
}

// validSender: what sends is a user, a webhook, an API key or the server.
func validSender(id string) bool { return chat.ValidGroupID(id) || id == server }

// validScore: scores are ids or times. Only the index of a user's groups has them below 0, for groups where the user has not acted.
func validScore(text, shape string) bool {
	score, err := strconv.ParseFloat(text, 64)
	return err == nil && score == math.Trunc(score) && score <= integerMax && (score >= 0 || shape == "u:<id>:groups")
}

func scores(text string, id int64) bool {
	score, err := strconv.ParseFloat(text, 64)
	return err == nil && score == float64(id)
}

// entryOf tells whether an entry is the one of a group with an id.
func entryOf(e chat.Entry, id int64, group string) bool {
	return e.ID == id && id >= 1 && id <= integerMax && e.Group == group
}

// whole tells whether a text is a whole number of the store.
func whole(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && n >= 0 && n <= integerMax
}

// head is what a text has up to its first blank.
func head(text string) string {
	first, _, _ := strings.Cut(text, " ")
	return first
}
