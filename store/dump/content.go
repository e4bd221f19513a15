package dump

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/drafts"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/layout"
)

// replyPattern are the members of g:replies: see lib/threads.lua.
var replyPattern = regexp.MustCompile(`^([ri]\d{16} \d{16} \S+|o\S+ \d{16} \d{16}|l\d{16} \d{16}|f\S+ \d{16}|t\d{16} \S+)$`)

// server is the name under which the server itself sends items.
const server = "$chat"

// content is what a key of a group or a user, or a list of them, holds. ok gets the owner of the key, the member of a zset or a set,
// the field of a hash or the element of a list, and the score or the value beside it.
type content struct {
	want string
	ok   func(owner, name, value string) bool
}

// contents are how to tell what keys hold, by the names in layout.Keys: ids of users, groups, messages and so on.
var contents = map[string]content{
	"user":     {"the id of a user", func(_, name, _ string) bool { return chat.ValidUserID(name) }},
	"sender":   {"the id of a sender", func(_, name, _ string) bool { return validSender(name) }},
	"reader":   {"the id of a user or " + archiveReader, func(_, name, _ string) bool { return chat.ValidUserID(name) || name == archiveReader }},
	"group_id": {"the id of a group", func(_, name, _ string) bool { return chat.ValidGroupID(name) }},
	"id":       {wholeNumber, func(_, name, _ string) bool { return whole(name) }},
	"number":   {wholeNumber, func(_, _, value string) bool { return whole(value) }},
	"name":     {"an id", func(_, name, _ string) bool { return chat.ValidID(name) }},
	"grouped":  {"a value that begins with the id of a group", func(_, _, value string) bool { return chat.ValidGroupID(head(value)) }},

	"group": all(numbered("created_ms", "keep", "backlog_max", "backlog_bytes", "slow_s", "expire_s", "expiring", "active_ms", "newest", "floor", "version"),
		content{"the fields of a group: whole numbers from 0 to 2^53-1, and its data as a JSON object", func(_, name, value string) bool { return name != "data" || customData(value) }}),
	"import":  numbered("at"),
	"inbox":   numbered("base", "gaps", "acked", "told"),
	"erasure": numbered("messages", "created_ms"),
	"schedule": all(numbered("version", "created_ms", "next_ms", "fired", "sent", "missed", "last_id", "last_ms"),
		readable[schedule.Plan]("plan", "the fields of a schedule: whole numbers, and its plan as JSON")),

	"member": {"the id of a user with a role and a time", func(_, name, value string) bool {
		role, at, _ := strings.Cut(value, " ")
		return chat.ValidUserID(name) && role != "" && whole(at)
	}},
	"report": {"an id and the JSON of a report", func(group, name, value string) bool {
		var r reports.Report
		return chat.ValidID(name) && json.Unmarshal([]byte(value), &r) == nil && r.ID == name && r.Group == group
	}},
	"reporter": {"an id, and the id of a message, two users, a time and who has taken the report until when", func(_, name, value string) bool {
		f := strings.Split(value, " ")
		return chat.ValidID(name) && len(f) == 6 && whole(f[0]) && validSender(f[1]) && validSender(f[2]) && whole(f[3]) && whole(f[4])
	}},
	"pin": {"the id of a message, and that of a notice, two times and two users", func(_, name, value string) bool {
		f := strings.Split(value, " ")
		return whole(name) && len(f) == 5 && whole(f[0]) && whole(f[1]) && whole(f[2]) && (f[3] == "" || validSender(f[3])) && (f[4] == "" || validSender(f[4]))
	}},
	"stream": {"the id of a message, and its author, mark and nine numbers", func(_, name, value string) bool {
		f := strings.Split(value, " ")
		ok := whole(name) && len(f) == 11 && validSender(f[0]) && f[1] != ""
		for i := 2; ok && i < len(f); i++ {
			ok = whole(f[i])
		}
		return ok
	}},
	"streamed": {"the id of a message and the number of a piece, and text", func(_, name, value string) bool {
		id, n, _ := strings.Cut(name, " ")
		return whole(id) && whole(n) && utf8.ValidString(value)
	}},
	"quorum": {"the id of a message, and the words of a quorum", func(_, name, value string) bool {
		_, err := store.ReadQuorum(name + " " + value)
		return whole(name) && err == nil
	}},
	"pinned": {"the id of a message of the group, and that as it is stored", func(group, name, value string) bool {
		e, err := store.ReadEntry(value)
		return err == nil && entryOf(e, e.ID, group) && scores(name, e.ID)
	}},
	"thread": {"the id of a message, or a user and that, also with an n or m, and the id of a message", func(_, name, score string) bool {
		of, mention := strings.CutSuffix(name, " m")
		user, root, two := strings.Cut(strings.TrimSuffix(of, " n"), " ")
		return whole(score) && (!two && whole(name) || (chat.ValidUserID(user) || mention && user == chat.MentionAll) && whole(root))
	}},
	"reply": {"a letter, and ids of messages and of a user", func(_, name, score string) bool {
		return scores(score, 0) && replyPattern.MatchString(name)
	}},
	"ban": {"the id of a user, an end, a time, a user and a reason", func(_, name, value string) bool {
		ends, rest, _ := strings.Cut(value, " ")
		at, rest, _ := strings.Cut(rest, " ")
		return chat.ValidUserID(name) && whole(ends) && whole(at) && validSender(head(rest))
	}},
	"request": {"the id of a user, a time and a note", func(_, name, value string) bool {
		at, _, _ := strings.Cut(value, " ")
		return chat.ValidUserID(name) && whole(at)
	}},
	"custom": {"the id of a user and a JSON object", func(_, name, value string) bool { return chat.ValidUserID(name) && value != "" && customData(value) }},
	"draft": {"the id of a group, an epoch, a revision and the JSON of a draft", func(_, name, value string) bool {
		f := strings.SplitN(value, " ", 3)
		var d drafts.Draft
		return chat.ValidGroupID(name) && len(f) == 3 && whole(f[1]) && json.Unmarshal([]byte(f[2]), &d) == nil && strconv.FormatInt(d.Rev, 10) == f[1]
	}},
	"stranger": {"the id of a user and a number of bytes", func(_, name, value string) bool { return validSender(head(name)) && whole(value) }},
	"added": {"the id of a group", func(_, name, _ string) bool {
		return strings.HasPrefix(name, ".") || chat.ValidGroupID(name) // a dot begins the hash of who added
	}},
	"listed": {"the name and the id of a group", func(_, name, _ string) bool {
		_, group, _ := strings.Cut(name, "\x00")
		return chat.ValidGroupID(group)
	}},

	"audited": {"an id, the epoch of a group, the JSON of an entry of the audit, and whom or what it is about", func(_, name, _ string) bool {
		id, rest, _ := strings.Cut(name, " ")
		_, rest, _ = strings.Cut(rest, " ")
		text, subject, _ := strings.Cut(rest, "\x00")
		var e audit.Entry
		return chat.ValidID(id) && json.Unmarshal([]byte(text), &e) == nil && (subject == e.Group || e.Group == "" && (subject == "" || validSender(subject)))
	}},

	"profile": {"a version, and the text and the words of a profile", func(_, name, value string) bool {
		switch name {
		case "version":
			return whole(value)
		case "text", "settings":
			return json.Valid([]byte(value))
		}
		return name == "words"
	}},
	"avatar": {"the id of an avatar, the type of a picture, and its bytes", func(_, name, value string) bool {
		switch name {
		case "id":
			return chat.ValidID(value)
		case "type":
			return value == "image/jpeg" || value == "image/png"
		}
		return name == "content" && value != ""
	}},
	"reviewed": {"the id of a review, and that of its group or of a user", func(_, name, _ string) bool {
		id, owner, _ := strings.Cut(name, "\x00")
		_, ok := chat.ParseReviewID(id)
		return ok && chat.ValidGroupID(owner)
	}},
	"review": {"the id and the JSON of a message that waits for a moderator", func(owner, name, value string) bool {
		var r chat.Review
		_, ok := chat.ParseReviewID(name)
		return ok && json.Unmarshal([]byte(value), &r) == nil && r.Group+r.To == owner && chat.ValidUserID(r.From)
	}},
	"owned": {"an id and the id of a user", func(_, name, value string) bool { return chat.ValidID(name) && chat.ValidUserID(value) }},
	"word": {"a word of a name and the id of a user", func(_, name, _ string) bool {
		_, user, _ := strings.Cut(name, "\x00")
		return chat.ValidUserID(user)
	}},

	"entry": {"a message of the group: its id, mark and edits and the JSON of its entry, with its id as the score", func(group, stored, score string) bool {
		e, err := store.ReadEntry(stored)
		return err == nil && entryOf(e, e.ID, group) && scores(score, e.ID)
	}},
	"change": {"the id of a change and the JSON of an entry of the group", func(group, stored, score string) bool {
		change, was, _ := strings.Cut(stored, " ")
		var e chat.Entry
		return whole(change) && json.Unmarshal([]byte(was), &e) == nil && entryOf(e, e.ID, group) && scores(score, e.ID)
	}},
	"item": {"a mark and the JSON of an item", func(_, stored, _ string) bool {
		at := strings.IndexByte(stored, '{')
		var i chat.Item
		return at >= 0 && json.Unmarshal([]byte(stored[at:]), &i) == nil && i.Seq >= 1 && i.Seq <= integerMax
	}},
	"reacted": {"the id of a message, and a user and an emoji or the id of a reaction", func(_, name, _ string) bool {
		if past, ok := strings.CutPrefix(name, "="); ok {
			target, id, _ := strings.Cut(past, " ")
			return whole(target) && whole(id)
		}
		target, rest, _ := strings.Cut(strings.TrimPrefix(name, "-"), " ")
		return whole(target) && validSender(head(rest))
	}},
	"reactions": {"the id of a message, an emoji and a number", func(_, name, _ string) bool {
		return whole(head(name)) && whole(name[strings.LastIndexByte(name, ' ')+1:])
	}},

	// What stands in one text: its fields are separated by blanks, and the last one may hold any.
	"sent": {"the id of a message, a time, a mark and a hash", func(_, _, value string) bool {
		f := strings.Split(value, " ")
		return len(f) == 4 && whole(f[0]) && whole(f[1])
	}},
	"answer": {"a hash, a status and an answer", func(_, _, value string) bool {
		f := strings.SplitN(value, " ", 3)
		return len(f) == 3 && whole(f[1])
	}},
	"device": {"a time, a kind, a secret and the JSON of a device", func(_, name, value string) bool {
		f := strings.SplitN(value, " ", 4)
		return chat.ValidID(name) && len(f) == 4 && whole(f[0]) && json.Unmarshal([]byte(f[3]), new(notify.Device)) == nil
	}},
	"account": {"the JSON of an account", func(_, name, _ string) bool { return accounts.CheckRecord(name) == nil }},
	"webhook": {"a time, a revision and the JSON of a webhook", func(_, _, value string) bool {
		f := strings.SplitN(value, " ", 3)
		var w webhook.Webhook
		return len(f) == 3 && whole(f[1]) && json.Unmarshal([]byte(f[2]), &w) == nil && len(w.Secrets) > 0
	}},
	"invite": {"a hash, a user, what it is good for, and a note", func(_, name, value string) bool {
		f := strings.SplitN(value, " ", 10)
		return chat.ValidID(name) && len(f) == 10 && whole(f[4]) && whole(f[5]) && whole(f[6]) && whole(f[8])
	}},
	"held": {"a user, an epoch and the id of a message", func(_, name, value string) bool {
		f := strings.Split(value, " ")
		return chat.ValidID(name) && len(f) == 3 && chat.ValidUserID(f[0]) && whole(f[2])
	}},
	"file": {"the record of a file", func(_, name, value string) bool { return chat.ValidID(name) && isFile(value) }},
	"named": {"the id of a message, a file and two numbers of bytes, with that id as the score", func(_, name, score string) bool {
		f := strings.Split(name, " ")
		return len(f) == 4 && whole(f[0]) && chat.ValidID(f[1]) && whole(f[2]) && whole(f[3]) && scores(score, number(f[0]))
	}},
	"task": {"the id of a task", func(_, name, _ string) bool {
		_, ok := queue.PartitionOf(head(name))
		return ok
	}},
}

// wholeNumber is what whole takes.
const wholeNumber = "a whole number from 0 to 2^53-1"

// numbered is a hash of which some fields are whole numbers, or empty.
func numbered(fields ...string) content {
	all := map[string]bool{}
	for _, f := range fields {
		all[f] = true
	}
	return content{wholeNumber, func(_, name, value string) bool { return !all[name] || value == "" || whole(value) }}
}

// checkContent refuses ids, messages and numbers that no chatd has written: its own readers would fail on them.
func (p part) checkContent(key layout.Found) error {
	check, known := contents[key.Holds]
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

// validScore: scores are ids or times. Only the index of a user's groups has them below 0, for groups where the user has not acted,
// and what mentions a member, for messages in which they mentioned all.
func validScore(text, shape string) bool {
	score, err := strconv.ParseFloat(text, 64)
	return err == nil && score == math.Trunc(score) && score <= integerMax && score >= -integerMax &&
		(score >= 0 || shape == "u:<id>:groups" || shape == "g:<id>:at:<user>")
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

// isFile reads a record as store/lua/lib/file_record.lua writes it.
func isFile(text string) bool {
	f := strings.SplitN(text, " ", 11)
	if len(f) != 11 || f[0] != "open" && f[0] != "whole" && f[0] != "lost" {
		return false
	}
	for _, n := range []int{2, 3, 4, 5, 7} { // size, offset, created, expires, until
		if !whole(f[n]) {
			return false
		}
	}
	return json.Valid([]byte(f[10]))
}

// all is content that has to be of each kind.
func all(of ...content) content {
	return content{of[len(of)-1].want, func(owner, name, value string) bool {
		for _, one := range of {
			if !one.ok(owner, name, value) {
				return false
			}
		}
		return true
	}}
}

// customData tells whether a text is custom fields as they are stored, or none.
func customData(text string) bool {
	merged, err := chat.MergeData(nil, json.RawMessage(text))
	return err == nil && string(merged) == text
}

// readable is a hash with a field that is the JSON of to's type.
func readable[T any](field, want string) content {
	return content{want, func(_, name, value string) bool {
		return name != field || json.Unmarshal([]byte(value), new(T)) == nil
	}}
}
