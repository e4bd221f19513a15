package dump

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/layout"
)

// repartition rewrites the parts of a file for a store with another number of partitions. The keys of a group or a user go to the
// partition of that id, the entries of a partition's lists go where those that they name go, and a task goes with its subject. An
// id that begins with its partition (of a task, a schedule or an erasure) begins with the new one. The parts of announcements are
// made again; see announcements.go. It reads the file twice: learn sees every part before move sees the first.
type repartition struct {
	from, to int
	atMs     int64 // when the file was made

	homes   map[digest]home   // by the ids of schedules, erasures and tasks
	follows map[digest]string // the schedule or erasure with which a task goes, of which more may come
	wants   map[string]string // of all partitions
	retains map[string]string // of p00
	paused  map[string]string // by queue
	totals  map[totalOf]int64
	waiting map[totalOf]int64 // tasks, and those of accounts and dead letters with their bytes, in the new partitions
	dead    map[digest]bool   // the dead letters
	lists   map[string]int64  // elements that were written, by key
	runs    map[string]*announced

	noted int // bytes of all these
}

// Bounds of what is kept in memory until the end.
const (
	notedMax         = 256 << 20 // bytes: four million tasks
	noteBytes        = 64        // of an entry without its text
	announcementsMax = 1000      // a store keeps as many
	beforeBytesMax   = 256 << 20 // that the parts of all announcements get together
)

// note counts an entry that is kept in memory.
func (r *repartition) note(textBytes int) { r.noted += noteBytes + textBytes }

// noteFields keeps fields of a hash in memory.
func (r *repartition) noteFields(p part, to map[string]string, which func(name string) bool) {
	pairs(p.Values, func(name, value string) {
		if which(name) {
			to[name] = value
			r.note(len(name) + len(value))
		}
	})
}

func (r *repartition) full() bool { return r.noted > notedMax || len(r.runs) > announcementsMax }

func (r *repartition) errFull() error {
	return fmt.Errorf("the file holds too many tasks or announcements for another number of partitions; import it with the number that it has, %d", r.from)
}

// digest stands for an id, so that what is noted of a task takes little memory.
type digest [16]byte

func digestOf(id string) digest {
	sum := sha256.Sum256([]byte(id))
	return digest(sum[:16])
}

// home is where a task, a schedule or an erasure goes.
type home struct {
	partition int32
	bytes     int32 // of a task with an account
}

const dropped = -1 // the partition of a task that is made again

// totalOf names a number that a queue keeps in a partition.
type totalOf struct {
	queue     string
	partition int
	field     string
}

func newRepartition(m Manifest, to int) *repartition {
	return &repartition{from: m.Partitions, to: to, atMs: m.At.UnixMilli(), homes: map[digest]home{}, follows: map[digest]string{},
		wants: map[string]string{}, retains: map[string]string{}, paused: map[string]string{}, totals: map[totalOf]int64{},
		waiting: map[totalOf]int64{}, lists: map[string]int64{}, runs: map[string]*announced{}, dead: map[digest]bool{}}
}

// learn notes what a part says of where others go. It refuses a key or a task of which it does not know where it goes.
func (r *repartition) learn(p part) error {
	if err := r.learnPart(p); err != nil {
		return err
	}
	if r.full() {
		return r.errFull()
	}
	return nil
}

func (r *repartition) learnPart(p part) error {
	key, _ := layout.Find(p.Partition, p.Key)
	words := strings.Split(p.Key, ":")
	switch key.Pattern {
	case "s:<id>":
		plan, ok := field(p.Values, "plan")
		if !ok {
			break
		}
		var target struct{ Group, User string }
		if err := json.Unmarshal([]byte(plan), &target); err != nil {
			return fmt.Errorf("%s: its plan cannot be read: %w", p.Key, err)
		}
		r.settle(words[1], r.home(target.Group+target.User))
	case "e:<id>":
		if user, ok := field(p.Values, "user"); ok {
			r.settle(words[1], r.home(user))
		}
	case "wants":
		r.learnWants(p)
	case "retention":
		if p.Partition == 0 {
			r.noteFields(p, r.retains, func(string) bool { return true })
		}
	}
	switch key.Owner() {
	case layout.Announcement:
		r.learnAnnouncement(p, words)
	case layout.Queue:
		return r.learnQueue(p, key, words)
	}
	return nil
}

// settle notes where something goes.
func (r *repartition) settle(id string, at home) {
	r.homes[digestOf(id)] = at
	r.note(0)
}

// learned completes what learn has noted.
func (r *repartition) learned() error {
	for task, owner := range r.follows {
		p, _ := r.goesTo(owner)
		r.homes[task] = home{partition: int32(p)}
	}
	r.follows = nil
	before := 0
	for _, a := range r.runs {
		if a.open() {
			before += r.to * len(a.before(r.from))
		}
	}
	if before > beforeBytesMax {
		return r.errFull()
	}
	return nil
}

// learnWants notes what scripts of any partition want. Of the webhooks the newest copy counts.
func (r *repartition) learnWants(p part) {
	version, ok := field(p.Values, "webhooks")
	newest := ok && number(version) >= number(r.wants["webhooks"])
	if newest {
		delete(r.wants, "events")
	}
	r.noteFields(p, r.wants, func(name string) bool { return newest || name != "webhooks" && name != "events" })
}

func (r *repartition) learnQueue(p part, key layout.Found, words []string) error {
	if key.ID != chat.QueueCore && key.ID != chat.QueueEgress {
		return fmt.Errorf("the key %s is of no queue of chatd", p.Key)
	}
	if key.Move == layout.Refused {
		return fmt.Errorf("the key %s holds %s, which no task of chatd has", p.Key, key.Option)
	}
	var err error
	switch words[2] {
	case "tasks":
		pairs(p.Values, func(id, spec string) {
			if err == nil {
				err = r.learnTask(id, spec)
			}
		})
	case "dead":
		pairs(p.Values, func(_, id string) {
			r.dead[digestOf(id)] = true
			r.note(0)
		})
	case "counts":
		pairs(p.Values, func(name, value string) {
			r.totals[totalOf{words[1], p.Partition, name}] = number(value)
			r.note(len(name))
		})
	case "paused":
		r.paused[words[1]] = string(p.Values[0])
	}
	return err
}

// home is the partition of a group or a user.
func (r *repartition) home(id string) home { return home{partition: int32(queue.Partition(id, r.to))} }

// goesTo is where what has an id that begins with a partition goes. The tasks of a schedule or an erasure begin with its id and a
// dot. What is gone may go anywhere.
func (r *repartition) goesTo(id string) (partition int, bytes int32) {
	if h, ok := r.homes[digestOf(id)]; ok {
		return int(h.partition), h.bytes
	}
	if owner, _, ok := strings.Cut(id, "."); ok {
		return r.goesTo(owner)
	}
	return queue.Partition(id, r.to), 0
}

// renamed is an id, and the partition that it begins with from now on.
func (r *repartition) renamed(id string) (string, int) {
	p, _ := r.goesTo(id)
	return inPartition(id, p), p
}

// inPartition makes an id begin with another partition.
func inPartition(id string, partition int) string {
	if _, ok := queue.PartitionOf(id); !ok {
		return id
	}
	_, rest, _ := strings.Cut(id, "-")
	return fmt.Sprintf("p%02d-%s", partition, rest)
}

// move returns what becomes of a part: nothing where rest makes it.
func (r *repartition) move(p part) []part {
	key, _ := layout.Find(p.Partition, p.Key)
	words := strings.Split(p.Key, ":")
	switch key.Move {
	case layout.WithOwner:
		return []part{r.withOwner(p, key, words)}
	case layout.ByElement: // the name of a group comes before its id, behind NUL
		return r.split(p, p.step(), func(v []text) int {
			last := string(v[len(v)-1])
			return queue.Partition(last[strings.IndexByte(last, 0)+1:], r.to)
		})
	case layout.ByTask:
		return r.moveQueue(p, words)
	case layout.Targets:
		return r.moveTargets(p, words)
	case layout.Stays:
		return []part{p}
	}
	return nil
}

func (r *repartition) withOwner(p part, key layout.Found, words []string) part {
	if owner := key.Owner(); owner == layout.Group || owner == layout.User {
		p.Partition = queue.Partition(key.ID, r.to)
	} else {
		words[1], p.Partition = r.renamed(words[1])
		p.Key = strings.Join(words, ":")
	}
	switch key.Pattern {
	case "g:<id>:erasures": // erasure -> user, and more
		p = rewritten(p, func(v []text) {
			user, _, _ := strings.Cut(string(v[1]), " ")
			v[0] = text(inPartition(string(v[0]), queue.Partition(user, r.to)))
		})
	case "u:<id>:schedules", "u:<id>:firings":
		p = rewritten(p, func(v []text) {
			id, _ := r.renamed(string(v[1]))
			v[1] = text(id)
		})
	case "u:<id>:erasing":
		p = rewritten(p, func(v []text) { v[0] = text(inPartition(string(v[0]), p.Partition)) })
	}
	return p
}

// moveQueue moves tasks, and the ids of tasks. A task that is made again goes nowhere.
func (r *repartition) moveQueue(p part, words []string) []part {
	name, state := words[1], words[2]
	return r.split(p, p.step(), func(v []text) int {
		at := len(v) - 1
		switch state {
		case "periodic": // id -> declaration, and "<id> at" -> its state
			id, _, _ := strings.Cut(string(v[0]), " ")
			return queue.Partition(id, r.to)
		case "tasks", "runs":
			at = 0
		}
		id, token, leased := strings.Cut(string(v[at]), " ") // a token, of the tasks that run
		to, bytes := r.goesTo(id)
		moved := inPartition(id, to)
		r.waits(name, state, to, moved, bytes)
		if v[at] = text(moved); leased {
			v[at] += text(" " + token)
		}
		if state == "tasks" {
			v[1] = text(r.rewrittenTask(string(v[1])))
			if r.dead[digestOf(id)] && to != dropped {
				r.waiting[totalOf{name, to, "dead_bytes"}] += int64(len(v[1]))
			}
		}
		return to
	})
}

// waits counts a task that is in a state.
func (r *repartition) waits(name, state string, to int, id string, bytes int32) {
	switch state {
	case "ready", "delayed", "leased", "dead":
	default:
		return
	}
	if to == dropped {
		return
	}
	r.waiting[totalOf{name, to, "enqueued"}]++
	if at := strings.IndexByte(id, '~'); at >= 0 && state != "dead" {
		tasks := totalOf{name, to, "tasks" + id[at:]}
		if r.waiting[tasks] == 0 {
			r.note(2 * (noteBytes + len(id)))
		}
		r.waiting[tasks]++
		r.waiting[totalOf{name, to, "bytes" + id[at:]}] += int64(bytes)
	}
}

// split divides the values of a part by where they go. where may change the values that it gets.
func (r *repartition) split(p part, step int, where func(values []text) int) []part {
	parts := r.divided(p, step, where)
	for n := range parts {
		parts[n] = r.appended(parts[n])
	}
	return parts
}

func (r *repartition) divided(p part, step int, where func(values []text) int) (parts []part) {
	found := map[int]*part{}
	for values := append([]text(nil), p.Values...); len(values) >= step; values = values[step:] {
		to := where(values[:step:step])
		if to == dropped {
			continue
		}
		one := found[to]
		if one == nil {
			one = &part{Key: p.Key, Partition: to, Kind: p.Kind, At: p.At}
			found[to] = one
		}
		one.Values = append(one.Values, values[:step]...)
	}
	for to := range r.to {
		if one := found[to]; one != nil {
			parts = append(parts, *one)
		}
	}
	return parts
}

// appended gives the part of a list its position: elements of several lists may follow each other in one.
func (r *repartition) appended(p part) part {
	if p.Kind == "list" {
		name := keyName("", p)
		if r.lists[name] == 0 {
			r.note(len(name))
		}
		p.At = r.lists[name]
		r.lists[name] += int64(len(p.Values))
	}
	return p
}

// rest goes through what the parts that were moved do not hold: what stands in every partition, numbers, and parts of announcements.
func (r *repartition) rest() iter.Seq[part] {
	return func(yield func(part) bool) {
		all := func(parts []part) bool { return !slices.ContainsFunc(parts, func(p part) bool { return !yield(p) }) }
		for _, id := range slices.Sorted(maps.Keys(r.runs)) {
			for p, parts := 0, r.announcementParts(id); p < r.to; p++ {
				if !all(parts(p)) {
					return
				}
			}
		}
		for p := range r.to {
			if !all(r.everywhere(p)) {
				return
			}
		}
	}
}

// everywhere returns what stands in every partition.
func (r *repartition) everywhere(p int) []part {
	parts := hashOf("wants", p, r.wants)
	retains := r.retains
	if p > 0 && retains["days"] != "" {
		retains = map[string]string{"days": retains["days"], "walked": "0"}
	}
	parts = append(parts, hashOf("retention", p, retains)...)
	for name, value := range r.paused {
		parts = append(parts, part{Key: "q:" + name + ":paused", Partition: p, Kind: "string", Values: []text{text(value)}})
	}
	for _, name := range []string{chat.QueueCore, chat.QueueEgress} {
		parts = append(parts, hashOf("q:"+name+":counts", p, r.counts(name, p))...)
	}
	return parts
}

// counts are the numbers of a queue in a partition. What is over counts in p00.
func (r *repartition) counts(name string, partition int) map[string]string {
	sums := map[string]int64{}
	for of, n := range r.waiting {
		if of.queue == name && of.partition == partition {
			sums[of.field] = n
		}
	}
	if partition == 0 {
		for of, n := range r.totals {
			account := strings.HasPrefix(of.field, "tasks~") || strings.HasPrefix(of.field, "bytes~")
			if of.queue != name || of.field == "enqueued" || of.field == "dead_bytes" || account {
				continue
			}
			sums[of.field] += n
			if of.field == "done" || of.field == "dropped" || of.field == "deleted" {
				sums["enqueued"] += n
			}
		}
	}
	fields := map[string]string{}
	for field, n := range sums {
		fields[field] = fmt.Sprint(n)
	}
	return fields
}
