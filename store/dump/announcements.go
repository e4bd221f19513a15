package dump

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
)

// announced is what decides how an announcement goes on: some fields of its record, and its parts by the old partitions.
type announced struct {
	record map[string]string
	parts  []map[string]string
}

// open tells whether the newest run is not closed yet.
func (a *announced) open() bool { return a.record["closed"] == "0" }

// at is how far the newest run is in an old partition: done, or up to a cursor.
func (a *announced) at(partition int) (cursor string, done bool) {
	p := a.parts[partition]
	if p["run"] != a.record["run"] {
		return "", false
	}
	return p["cursor"], p["done"] == "1"
}

func (r *repartition) learnAnnouncement(p part, words []string) {
	a := r.runs[words[1]]
	if a == nil {
		a = &announced{record: map[string]string{}, parts: make([]map[string]string, r.from)}
		r.runs[words[1]] = a
	}
	switch {
	case len(words) == 2:
		r.noteFields(p, a.record, func(name string) bool { return name != "draft" }) // it may name ten thousand users
	case words[2] == "part" && p.Partition < r.from:
		if a.parts[p.Partition] == nil {
			a.parts[p.Partition] = map[string]string{}
		}
		r.noteFields(p, a.parts[p.Partition], func(string) bool { return true })
	}
}

// moveTargets moves the targets of an announcement to the lists of their partitions. Those that have had the run that goes on
// are marked with it, since the new list is in another order than the part went through.
func (r *repartition) moveTargets(p part, words []string) []part {
	var from int
	if _, err := fmt.Sscanf(words[len(words)-1], "%d", &from); err != nil || from < 0 || from >= r.from {
		return nil
	}
	a := r.runs[words[1]]
	cursor, done := a.at(from)
	position := p.At
	var parts []part
	for _, one := range r.divided(p, 1, func(v []text) int {
		run, target := store.AnnouncementTarget(string(v[0]))
		if a.open() && (done || position < number(cursor)) {
			run = number(a.record["run"])
		}
		position++
		v[0] = text(target)
		if run > 0 {
			v[0] = text(fmt.Sprint(run, " ", target))
		}
		_, id, _ := strings.Cut(target, " ")
		return queue.Partition(id, r.to)
	}) {
		one.Key, one.Partition = fmt.Sprintf("a:%s:to:%02d", words[1], one.Partition), 0
		parts = append(parts, r.appended(one))
	}
	return parts
}

// announcementParts makes the parts of an announcement that has run, in each partition, and the tasks of those whose run goes on.
// What was counted so far counts in p00.
func (r *repartition) announcementParts(id string) func(partition int) []part {
	a := r.runs[id]
	run := number(a.record["run"])
	if run == 0 {
		return func(int) []part { return nil }
	}
	fields := map[string]string{"run": fmt.Sprint(run), "cursor": "", "done": "1"}
	sums := map[string]int64{"total": 0, "delivered": 0, "failed": 0}
	for _, p := range a.parts {
		if p["stopped"] != "" {
			fields["stopped"] = "1"
		}
		for name := range sums {
			if p["run"] == a.record["run"] {
				sums[name] += number(p[name])
			}
		}
	}
	if a.open() {
		fields["done"] = "0"
		if a.record["targets"] == "" {
			fields["before"] = a.before(r.from)
		}
	}
	return func(p int) []part {
		for name, n := range sums {
			fields[name] = fmt.Sprint(n)
			if p > 0 {
				fields[name] = "0"
			}
		}
		parts := hashOf("a:"+id+":part", p, fields)
		if a.open() {
			parts = append(parts, r.partTask(announce.Part{Announcement: id, Run: run, Partition: p}, a.record["priority"])...)
		}
		return parts
	}
}

// before says which users had the run to everyone before the import, also before an earlier one.
func (a *announced) before(partitions int) string {
	var b store.AnnouncedBefore
	layer := make([]*string, partitions)
	for p := range layer {
		cursor, done := a.at(p)
		if !done {
			layer[p] = &cursor
		}
		if earlier := a.parts[p]["before"]; earlier != "" && b == nil && a.parts[p]["run"] == a.record["run"] {
			_ = json.Unmarshal([]byte(earlier), &b)
		}
	}
	encoded, _ := json.Marshal(append(b, layer)) // cannot fail: strings
	return string(encoded)
}

// partTask makes the task of a part, due at once.
func (r *repartition) partTask(p announce.Part, priority string) []part {
	payload, _ := json.Marshal(p) // cannot fail: a string and two numbers
	id := store.AnnouncementTask(p)
	r.waits(chat.QueueCore, "delayed", p.Partition, id, 0)
	base := "q:" + chat.QueueCore + ":"
	return []part{
		{Key: base + "tasks", Partition: p.Partition, Kind: "hash", Values: []text{text(id), text(newTask(priority, announce.TaskPart, string(payload), r.atMs))}},
		{Key: base + "delayed", Partition: p.Partition, Kind: "zset", Values: []text{text(fmt.Sprint(r.atMs)), text(id)}},
	}
}
