package dump

import (
	"encoding/json"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue"
)

// What stands in one text: its fields are separated by blanks, and the last one may hold any.
var (
	retried = content{"the id of a message, a time, a mark and a hash", func(_, _, value string) bool {
		f := strings.Split(value, " ")
		return len(f) == 4 && whole(f[0]) && whole(f[1])
	}}
	created = content{"a hash, a status and an answer", func(_, _, value string) bool {
		f := strings.SplitN(value, " ", 3)
		return len(f) == 3 && whole(f[1])
	}}
	devices = content{"a time, a kind, a secret and the JSON of a device", func(_, name, value string) bool {
		f := strings.SplitN(value, " ", 4)
		return chat.ValidID(name) && len(f) == 4 && whole(f[0]) && json.Unmarshal([]byte(f[3]), new(notify.Device)) == nil
	}}
	webhooks = content{"a time, a revision and the JSON of a webhook", func(_, _, value string) bool {
		f := strings.SplitN(value, " ", 3)
		var w webhook.Webhook
		return len(f) == 3 && whole(f[1]) && json.Unmarshal([]byte(f[2]), &w) == nil && len(w.Secrets) > 0
	}}
	held = content{"a user, an epoch and the id of a message", func(_, name, value string) bool {
		f := strings.Split(value, " ")
		return chat.ValidID(name) && len(f) == 3 && chat.ValidUserID(f[0]) && whole(f[2])
	}}
	records = content{"the record of a file", func(_, name, value string) bool { return chat.ValidID(name) && isFile(value) }}
	named   = content{"the id of a message, a file and two numbers of bytes, with that id as the score", func(_, name, score string) bool {
		f := strings.Split(name, " ")
		return len(f) == 4 && whole(f[0]) && chat.ValidID(f[1]) && whole(f[2]) && whole(f[3]) && scores(score, number(f[0]))
	}}
	tasks = content{"the id of a task", func(_, name, _ string) bool {
		_, ok := queue.PartitionOf(head(name))
		return ok
	}}
	made = content{"an id", func(_, name, _ string) bool { return chat.ValidID(name) }}
)

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

// readable is a hash with a field that is the JSON of to's type.
func readable[T any](field, want string) content {
	return content{want, func(_, name, value string) bool {
		return name != field || json.Unmarshal([]byte(value), new(T)) == nil
	}}
}
