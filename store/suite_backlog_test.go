package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/queue"
)

var backlogTests = map[string]func(*fixture){
	"the bytes of files block a group": func(w *fixture) {
		w.group("g", []string{"bob", "carl"}, keep(0), blocking(10_000), backlogBytes(25))
		for i := range 4 {
			w.whole(fmt.Sprint("F", i))
		}
		first := w.send(w.naming("alice", "F0"))
		second := w.naming("alice", "F1")
		second.Key, second.Content = "k", "c"
		w.send(second)
		w.blocked(w.Append(w.ctx, w.naming("alice", "F2"))).by("bob 20", "carl 20") // 30 would be too much
		w.blocked(w.CreateFile(w.ctx, "g", draft(w.f("G"), "alice", 6))).by("bob 20", "carl 20")
		w.upload(w.f("G"), 5)
		w.upload(w.f("G"), 5) // again: the answer is known
		w.say("g", "alice", "without a file")
		w.equal(w.send(second).Duplicate, true)

		w.ack("g", "carl", first.ID)
		w.blocked(w.Append(w.ctx, w.naming("alice", "F2"))).by("bob 20")
		w.ack("g", "alice", first.ID)
		w.leave("g", "bob") // frees what he held
		w.trimsFiles("g")
		last := w.send(w.naming("alice", "F2"))
		w.blocked(w.Append(w.ctx, w.naming("alice", "F3"))).by("carl 20")
		w.ack("g", "carl", last.ID)
		w.send(w.naming("alice", "F3"))
		w.equal(w.bytesBehind("g"), map[string]int64{"alice": 30, "carl": 10}) // a sender is not waited for
	},
	"bytes of files block those without files too": func(w *fixture) {
		w.group("g", []string{"bob"}, blocking(10_000), backlogBytes(10))
		w.whole("F")
		w.say("g", "alice", "free")
		id := w.send(w.naming("alice", "F")).ID
		w.blocked(w.Append(w.ctx, text("g", "alice", "refused"))).by("bob 10")
		w.blocked(w.Append(w.ctx, reaction("alice", id, "👍", false))).by("bob 10")
		w.ack("g", "alice", id)
		w.say("g", "bob", "who is behind may send")
		w.ack("g", "bob", id)
		w.say("g", "alice", "free")
	},
	"a file larger than the backlog comes alone": func(w *fixture) {
		w.group("g", []string{"bob"}, blocking(10_000), backlogBytes(3))
		w.whole("F")
		w.whole("G")
		id := w.send(w.naming("alice", "F")).ID
		w.blocked(w.Append(w.ctx, w.naming("alice", "G"))).by("bob 10")
		w.ack("g", "bob", id)
		w.send(w.naming("alice", "G"))
	},
	"bytes behind where nothing blocks": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(0), backlogBytes(3))
		w.whole("F")
		w.send(w.naming("alice", "F"))
		id := w.send(w.naming("alice", "F")).ID
		w.equal(w.bytesBehind("g"), map[string]int64{"alice": 20, "bob": 20})
		w.ack("g", "alice", id)
		w.ack("g", "bob", id-1)
		w.equal(w.bytesBehind("g"), map[string]int64{"bob": 10})
		w.ack("g", "bob", id)
		w.equal(w.bytesBehind("g"), map[string]int64{})
		w.trimsFiles("g")
	},
	"bytes behind are those of the messages that are left": func(w *fixture) {
		w.group("g", []string{"bob", "carl", "dora"}, keep(0))
		random := rand.New(rand.NewPCG(3, 4))
		bytes, seen, made := map[int64]int64{}, map[string]int64{}, 0
		last := w.info("g", "alice").Last
		for range 200 {
			switch user := []string{"alice", "bob", "carl", "dora"}[random.IntN(4)]; random.IntN(4) {
			case 0:
				a := text("g", "alice", "see")
				for range random.IntN(4) {
					name := fmt.Sprint("F", made-random.IntN(3)) // it may be named already
					_, err := w.ReadFile(w.ctx, "g", "alice", w.f(name))
					if slices.Contains(a.Files, w.f(name)) || err != nil {
						made++
						name = fmt.Sprint("F", made)
						w.whole(name)
					}
					a.Files = append(a.Files, w.f(name))
				}
				last = w.send(a).ID
				bytes[last] = 10 * int64(len(a.Files))
			case 1:
				if id := last - random.Int64N(5); bytes[id] > 0 && slices.Contains(w.kept("g"), id) {
					w.deleteMessage(id)
					last, bytes[id] = last+1, 0
				}
			case 2:
				seen[user] = max(seen[user], last-random.Int64N(5))
				w.ack("g", user, seen[user])
			case 3:
				w.expireFiles()
			}
			want := map[string]int64{}
			for _, user := range []string{"alice", "bob", "carl", "dora"} {
				seen[user] = w.info("g", user).Seen
				for id := seen[user] + 1; id <= last; id++ {
					want[user] += bytes[id]
				}
			}
			w.equal(w.bytesBehind("g"), want)
		}
	},
}

func backlogBytes(n int64) func(*chat.NewGroup) {
	return func(g *chat.NewGroup) { g.BacklogBytes = n }
}

// refusal is a send or a creation that was refused because others are behind.
type refusal struct {
	*fixture
	err error
}

func (w *fixture) blocked(_ any, err error) refusal {
	w.Helper()
	w.fails(err, chat.ErrBacklogFull)
	return refusal{w, err}
}

// by checks who is behind, by how many bytes.
func (r refusal) by(want ...string) {
	r.Helper()
	var e *chat.Error
	if !errors.As(r.err, &e) {
		r.Fatalf("got %v", r.err)
	}
	var got []string
	for _, b := range e.Blockers {
		got = append(got, fmt.Sprint(b.User, " ", b.Bytes))
	}
	slices.Sort(got)
	r.equal(got, want)
}

// bytesBehind is what the list of those who hold back trimming says.
func (w *fixture) bytesBehind(group string) map[string]int64 {
	w.Helper()
	list, err := w.Blockers(w.ctx, chat.Caller{User: "root", Admin: true}, group)
	w.ok(err)
	bytes := map[string]int64{}
	for _, b := range list {
		bytes[b.User] = b.Bytes
	}
	return bytes
}

// trimsFiles checks that a task waits to remove the files of trimmed messages now, and not in ten minutes.
func (w *fixture) trimsFiles(group string) {
	w.Helper()
	tasks, _, err := w.core().List(w.ctx, queue.ListQuery{State: queue.Ready, Limit: 100})
	w.ok(err)
	for _, t := range tasks {
		if t.Kind == files.TaskExpire && string(t.Payload) == `{"group":"`+group+`"}` {
			return
		}
	}
	w.Fatalf("got %v, and none that removes the files", tasks)
}
