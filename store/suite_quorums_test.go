package store_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/quorum"
)

var quorumRaces = flag.Int("quorum-races", 25, "races of everything that moves or ends a quorum, in the tests of each store; `make soak` has 1,000")

var quorumTests = map[string]func(*fixture){
	"counts, states and reminders": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		id := w.say("g", "alice", "read this")
		ask := quorum.Quorum{Group: "g", ID: id, Need: quorum.Need{Percent: 51}, Author: "alice", By: "alice", Until: chat.TimeMs(time.Now().Add(time.Hour).UnixMilli()),
			Remind: []quorum.Reminder{{AfterS: 3600, Via: "push"}}, Escalate: []string{"bob"}}
		_, err := w.PutQuorum(w.ctx, chat.Caller{User: "bob"}, ask)
		w.fails(err, chat.ErrDeletersOnly)
		for _, want := range []bool{true, false} {
			created, err := w.PutQuorum(w.ctx, chat.Caller{User: "alice"}, ask)
			w.ok(err)
			w.equal(created, want)
		}
		st, err := w.Standing(w.ctx, "g", "bob", id, "0", 1)
		w.ok(err)
		w.equal([]any{st.State, st.Of, st.Read, st.Pending, st.Remind, st.Escalate}, []any{quorum.Open, int64(2), int64(0), []string{"bob"}, ask.Remind, ask.Escalate})
		next, err := w.Standing(w.ctx, "g", "", id, st.Next, 10)
		w.ok(err)
		w.equal(next.Pending, []string{"carl"})
		tasks := len(w.takeTasks(quorum.TaskQuorum))
		w.equal(tasks > 0, true)
		t := quorum.Task{Group: "g", Epoch: st.Epoch, ID: id}
		q, due, err := w.QuorumStep(w.ctx, t)
		w.ok(err)
		w.equal([]any{q.State, due}, []any{quorum.Open, 0})
		w.equal(len(w.takeTasks(quorum.TaskQuorum)), 1)
		for _, done := range []struct {
			sent        int
			after, want string
		}{{0, "4.bob", "4.bob"}, {1, "0", "0"}, {0, "4.bob", "0"}} { // the last comes late
			w.ok(w.QuorumDone(w.ctx, q, done.sent, done.after, false))
			st, err = w.Standing(w.ctx, "g", "bob", id, "0", 1)
			w.ok(err)
			w.equal(st.RemindAfter, done.want)
		}
		_, err = w.Ack(w.ctx, "g", "bob", chat.Position{ID: id, Set: true}, true, "")
		w.ok(err)
		_, err = w.Ack(w.ctx, "g", "carl", chat.Position{ID: id, Set: true}, true, "")
		w.ok(err)
		q, _, err = w.QuorumStep(w.ctx, t)
		w.ok(err)
		w.equal([]any{q.State, q.Of, q.Read, q.Reminded}, []any{quorum.Met, int64(2), int64(2), 1})
		w.fails(w.DropQuorum(w.ctx, chat.Caller{User: "alice"}, "g", id), chat.ErrConflict)
		w.equal(len(w.takeTasks(quorum.TaskQuorum)), 1) // of the end
		n, err := w.Client().HExists(w.ctx, w.groupKey("g", "meta"), "quorums").Result()
		w.ok(err)
		w.equal(n, false)
	},
	"who has left, and what is cancelled": func(w *fixture) {
		w.group("g", []string{"bob", "carl"})
		id := w.say("g", "alice", "read this")
		ask := quorum.Quorum{Group: "g", ID: id, Need: quorum.Need{Users: []string{"bob"}}, Author: "alice", By: "alice", Until: chat.TimeMs(time.Now().Add(time.Hour).UnixMilli())}
		_, err := w.PutQuorum(w.ctx, chat.Caller{User: "alice"}, ask)
		w.ok(err)
		w.ok(w.DropQuorum(w.ctx, chat.Caller{User: "alice"}, "g", id))
		w.ok(w.DropQuorum(w.ctx, chat.Caller{User: "alice"}, "g", id))
		created, err := w.PutQuorum(w.ctx, chat.Caller{User: "alice"}, ask)
		w.ok(err)
		w.equal(created, true)
		st, err := w.Standing(w.ctx, "g", "", id, "0", 10)
		w.ok(err)
		w.equal(st.State, quorum.Open)
		ask.Until = chat.TimeMs(1)
		_, err = w.PutQuorum(w.ctx, chat.Caller{User: "alice"}, ask)
		w.ok(err)
		st, err = w.Standing(w.ctx, "g", "", id, "0", 10)
		w.ok(err)
		w.equal(fmt.Sprint(st.State, st.Pending), "missed[bob]")
	},
	"who leaves or marks as unread no longer counts": testQuorumMoves,
	"a large group is counted in steps":              testQuorumOfMany,
	"one end wins every race":                        testQuorumRaces,
}

// asks asks for a message of alice's to be read by so many until a time.
func (w *fixture) asks(id int64, until time.Time, need quorum.Need) {
	w.Helper()
	q := quorum.Quorum{Group: "g", ID: id, Need: need, Author: "alice", By: "alice", Until: chat.TimeMs(until.UnixMilli())}
	_, err := w.PutQuorum(w.ctx, chat.Caller{User: "alice"}, q)
	w.ok(err)
}

func (w *fixture) quorumOf(id int64) quorum.Standing {
	w.Helper()
	st, err := w.Standing(w.ctx, "g", "", id, "0", 500)
	w.ok(err)
	return st
}

// quorumSteps makes the steps of a quorum until all who have read are counted, and returns how many it took.
func (w *fixture) quorumSteps(id int64) (n int) {
	w.Helper()
	for t := (quorum.Task{Group: "g", Epoch: w.info("g", "alice").Epoch, ID: id}); ; n++ {
		_, due, err := w.QuorumStep(w.ctx, t)
		w.ok(err)
		if due != quorum.MoreToCount {
			return n
		}
	}
}

func testQuorumMoves(w *fixture) {
	w.group("g", []string{"bob", "carl", "dora", "eve", "fred"})
	id := w.say("g", "alice", "read this")
	w.join("g", "late", "alice")
	stands := func(state quorum.State, of, read int64, pending ...string) {
		w.Helper()
		st := w.quorumOf(id)
		w.equal([]any{st.State, st.Of, st.Read, st.Pending}, []any{state, of, read, slices.Clip(pending)})
	}
	w.markRead("g", "bob", id)
	w.asks(id, time.Now().Add(time.Hour), quorum.Need{Count: 4})
	stands(quorum.Open, 5, 1, "carl", "dora", "eve", "fred")
	for _, user := range []string{"carl", "carl", "late", "alice", "dora"} {
		w.markRead("g", user, id)
	}
	w.ack("g", "eve", id) // has it, and has not read it
	stands(quorum.Open, 5, 3, "eve", "fred")
	_, err := w.Unread(w.ctx, "g", "carl", id)
	w.ok(err)
	w.leave("g", "dora")
	stands(quorum.Open, 4, 1, "carl", "eve", "fred")
	w.join("g", "dora", "alice")
	w.markRead("g", "dora", w.info("g", "alice").Last)
	stands(quorum.Open, 4, 1, "carl", "eve", "fred")
	w.markRead("g", "carl", w.info("g", "alice").Last)
	w.markRead("g", "eve", id)
	w.markRead("g", "fred", id)
	stands(quorum.Met, 4, 4)
	_, err = w.Unread(w.ctx, "g", "carl", id)
	w.ok(err)
	stands(quorum.Met, 4, 4, "carl")

	// With those who leave, fewer are needed.
	two := w.say("g", "alice", "and this")
	id = two
	w.asks(two, time.Now().Add(time.Hour), quorum.Need{Percent: 50})
	w.markRead("g", "bob", two)
	w.markRead("g", "carl", two)
	stands(quorum.Open, 6, 2, "eve", "fred", "late", "dora")
	w.leave("g", "eve")
	w.leave("g", "fred")
	stands(quorum.Met, 4, 2, "late", "dora")
}

func testQuorumOfMany(w *fixture) {
	var early []string
	for i := range 1200 {
		early = append(early, fmt.Sprintf("u%04d", i))
	}
	w.group("g", early)
	id := w.say("g", "alice", "read this")
	for i := range 20 {
		w.join("g", fmt.Sprint("late", i), "alice")
	}
	// All read it but four; by hand, because so many acks take their time.
	w.hand(fmt.Sprintf(`for _, user in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
		if not string.find('alice %s %s %s %s', user, 1, true) then redis.call('ZADD', KEYS[1], %d, user) end
	end return 1`, early[0], early[600], early[900], early[1199], id), w.groupKey("g", "read"))
	w.asks(id, time.Now().Add(time.Hour), quorum.Need{Count: 1199})
	st := w.quorumOf(id)
	w.equal([]any{st.State, st.Of, st.Read > 400 && st.Read < 700}, []any{quorum.Open, int64(1200), true})
	w.markRead("g", early[0], id)    // is counted
	w.markRead("g", early[1199], id) // is not
	w.leave("g", early[1])
	w.leave("g", early[1198])
	_, err := w.Unread(w.ctx, "g", "late0", id)
	w.ok(err)
	w.equal(w.quorumSteps(id) > 0, true)
	st = w.quorumOf(id)
	w.equal([]any{st.State, st.Of, st.Read, st.Pending}, []any{quorum.Open, int64(1198), int64(1196), []string(nil)})
	again, err := w.Standing(w.ctx, "g", "", id, st.Next, 500)
	w.ok(err)
	w.equal(again.Pending, []string{early[600], early[900]})

	// Few have read: they are counted at once, however many members there are.
	two := w.say("g", "alice", "and this")
	w.markRead("g", early[1199], two)
	w.asks(two, time.Now().Add(time.Hour), quorum.Need{Count: 3})
	w.equal(w.quorumSteps(two), 0)
	w.equal(w.quorumOf(two).Read, int64(1))
	w.equal(w.quorumOf(id).Read, int64(1196))
}

// testQuorumRaces has what moves and what ends a quorum come at once. Who looks meanwhile sees it open, and then in one other state;
// and what was counted is who is there and has read.
func testQuorumRaces(w *fixture) {
	w.group("g", []string{"bob", "carl", "dora", "eve"})
	ends := map[quorum.State]int{}
	for range *quorumRaces {
		stays := w.say("g", "alice", "stays open")
		w.asks(stays, time.Now().Add(time.Hour), quorum.Need{Count: 1000})
		id := w.say("g", "alice", "read this")
		needs := []quorum.Need{{Count: int64(2 + rand.IntN(4))}, {Percent: int64(40 + rand.IntN(61))}, {Users: []string{"bob", "dora"}}}
		end := time.Now().Add(time.Duration(rand.IntN(40)) * time.Millisecond)
		w.asks(id, end, needs[rand.IntN(len(needs))])
		final := w.quorumRace(id)
		ends[final]++
		if st := w.quorumOf(stays); st.State != quorum.Open || st.Of-int64(len(st.Pending)) != st.Read {
			w.Fatalf("%s: %d of %d are counted, and %v have not read", st.State, st.Read, st.Of, st.Pending)
		}
		n, err := w.Client().HGet(w.ctx, w.groupKey("g", "meta"), "quorums").Result()
		w.ok(err)
		w.equal(n, "1")
		for _, user := range []string{"bob", "carl", "dora", "eve"} {
			if w.info("g", user).Role == "" {
				w.join("g", user, "alice")
			}
		}
		w.leave("g", "late")
		w.ok(w.DropQuorum(w.ctx, chat.Caller{User: "alice"}, "g", stays))
	}
	w.Log(ends)
}

// quorumRace lets all come at once to the quorum of a message, and returns what became of it.
func (w *fixture) quorumRace(id int64) (final quorum.State) {
	w.Helper()
	t := quorum.Task{Group: "g", Epoch: w.info("g", "alice").Epoch, ID: id}
	begin := make(chan struct{})
	deletion, changes := revision(w, chat.Delete, "alice", id)
	read := func(user string) func() error {
		return func() error { _, err := w.Ack(w.ctx, "g", user, chat.At(id), true, ""); return err }
	}
	acts := []func() error{
		read("bob"), read("carl"), read("dora"), read("eve"),
		func() error { _, err := w.Leave(w.ctx, membership("g", "carl", "carl", "")); return err },
		func() error { _, err := w.Leave(w.ctx, membership("g", "dora", "alice", "")); return err },
		func() error { _, err := w.Unread(w.ctx, "g", "eve", id); return err },
		func() error {
			_, _, err := w.Join(w.ctx, membership("g", "late", "alice", chat.Ordinary))
			return errors.Join(err, read("late")())
		},
	}
	if rand.IntN(2) == 0 {
		acts = append(acts, func() error { return w.DropQuorum(w.ctx, chat.Caller{User: "alice"}, "g", id) })
	}
	if rand.IntN(4) == 0 {
		acts = append(acts, func() error { _, err := w.Revise(w.ctx, deletion, changes, false); return err })
	}
	rand.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
	errs := make([]error, len(acts)+1)
	var acting, looking sync.WaitGroup
	for i, act := range acts {
		acting.Go(func() {
			<-begin
			if err := act(); chat.CodeOf(err) == chat.CodeInternal || chat.CodeOf(err) == chat.CodeUnavailable {
				errs[i] = err
			}
		})
	}
	looking.Go(func() {
		<-begin
		for final == "" && errs[len(acts)] == nil { // until its end is over at the latest
			q, _, err := w.QuorumStep(w.ctx, t)
			errs[len(acts)] = err
			if q.State != quorum.Open {
				final = q.State
			}
		}
	})
	close(begin)
	looking.Wait()
	acting.Wait()
	w.ok(errors.Join(errs...))
	_, _, err := w.QuorumStep(w.ctx, t)
	w.ok(err)
	st := w.quorumOf(id)
	w.equal([]any{st.State, st.DecidedAt != nil}, []any{final, true})
	needed := st.Need.Count
	switch {
	case st.Need.Percent > 0:
		needed = max(1, (st.Of*st.Need.Percent+99)/100)
	case st.Need.Users != nil:
		needed = max(1, st.Of)
	}
	if final == quorum.Met && st.Read < needed || final == quorum.Missed && st.Read >= needed || st.Read > st.Of {
		w.Fatalf("%s with %d of %d, where %d are needed", final, st.Read, st.Of, needed)
	}
	return final
}
