package store_test

import (
	"context"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// signalMax is how long a signal may take to arrive before a test fails.
const signalMax = time.Minute

// listen starts a listener and returns its signals. It ends with the test.
func (w *fixture) listen() <-chan live.Signal {
	w.Helper()
	ctx, stop := context.WithCancel(w.ctx)
	signals := make(chan live.Signal, 1000)
	var running sync.WaitGroup
	running.Go(func() { _ = w.Listen(ctx, func(s live.Signal) { signals <- s }) })
	w.T.Cleanup(func() {
		stop()
		running.Wait()
	})
	return signals
}

func (w *fixture) next(signals <-chan live.Signal) live.Signal {
	w.Helper()
	select {
	case s := <-signals:
		return s
	case <-time.After(signalMax):
		w.Fatal("no signal came")
		return live.Signal{}
	}
}

var signalTests = map[string]func(*fixture){
	"of a group": func(w *fixture) {
		w.group("g", []string{"bob"})
		epoch := w.info("g", "alice").Epoch
		signals := w.listen()
		w.ok(w.Follow(w.ctx, []string{"g"}, nil))
		w.ok(w.Follow(w.ctx, []string{"g"}, nil))
		id := w.say("g", "alice", "line\nfeed")
		w.equal(w.next(signals), live.Signal{Kind: live.SignalMessage, Group: "g", Epoch: epoch, Message: w.entry("g", id)})
		a, changes := revision(w, chat.Edit, "alice", id)
		_, err := w.Revise(w.ctx, a, changes, false)
		w.ok(err)
		w.equal(w.next(signals), live.Signal{Kind: live.SignalMessage, Group: "g", Epoch: epoch, Message: w.entry("g", id+1),
			Changed: []chat.Message{w.entry("g", id)}})
		w.markRead("g", "bob", id)
		w.equal(w.next(signals), live.Signal{Kind: live.SignalCursor, Group: "g", User: "bob", Seen: id, Read: id})
		w.markRead("g", "bob", id) // nothing moved: no signal
		for _, large := range []bool{false, true} {
			w.ok(w.Typing(w.ctx, "g", "bob", large))
			w.equal(w.next(signals), live.Signal{Kind: live.SignalTyping, Group: "g", User: "bob", Large: large})
		}
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		w.equal(w.next(signals), live.Signal{Kind: live.SignalDeleted, Group: "g", Epoch: epoch})
	},
	"of a cursor, with the session that moved it": func(w *fixture) {
		w.group("g", []string{"bob"})
		id := w.says("g", "alice", 5)
		signals := w.listen()
		w.ok(w.Follow(w.ctx, []string{"g"}, nil))
		want := live.Signal{Kind: live.SignalCursor, Group: "g", User: "bob"}
		for i, origin := range []string{"laptop_A-1", "", "phone"} {
			to := id - 2 + int64(i)
			_, err := w.Ack(w.ctx, "g", "bob", chat.At(to), true, origin)
			w.ok(err)
			want.Seen, want.Read, want.Origin = to, to, origin
			w.equal(w.next(signals), want)
		}
	},
	"of a group's notices": func(w *fixture) {
		w.group("g", []string{"bob"}, public)
		epoch := w.info("g", "alice").Epoch
		signals := w.listen()
		w.ok(w.Follow(w.ctx, []string{"g"}, nil))
		signalled := func(ids ...int64) {
			w.Helper()
			for _, id := range ids {
				w.equal(w.next(signals), live.Signal{Kind: live.SignalMessage, Group: "g", Epoch: epoch, Message: w.entry("g", id)})
			}
		}
		w.join("g", "carl", "carl")
		signalled(3)
		w.leave("g", "bob")
		signalled(4)
		_, _, err := w.SetRole(w.ctx, membership("g", "carl", "alice", chat.Admin))
		w.ok(err)
		signalled(5)
		name, shown := "Other", chat.Private
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{Name: &name, Visibility: &shown},
			[]chat.NoticeEntry{noticeEntry("g", "alice", chat.NoticeRenamed, ""), noticeEntry("g", "alice", chat.NoticeSettings, "")}, 5000))
		signalled(6, 7)
		w.leave("g", "alice") // the owner, so carl becomes that
		signalled(8, 9)
	},
	"of a user": func(w *fixture) {
		signals := w.listen()
		w.ok(w.Follow(w.ctx, nil, []string{"bob"}))
		w.put(item("bob", "alice", "x"))
		w.equal(w.next(signals), live.Signal{Kind: live.SignalInbox, User: "bob"})
		w.ok(w.AddUserGroups(w.ctx, []string{"bob", "carl"}, chat.UserGroup{Group: "g", Seen: 0}))
		w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, chat.UserGroup{Group: "g", Seen: 0})) // what is there may be of an earlier membership
		w.equal(w.next(signals), live.Signal{Kind: live.SignalJoined, User: "bob", Group: "g"})
		w.equal(w.next(signals), live.Signal{Kind: live.SignalJoined, User: "bob", Group: "g"})
		w.ok(w.DropUserGroup(w.ctx, "bob", "g"))
		w.equal(w.next(signals), live.Signal{Kind: live.SignalLeft, User: "bob", Group: "g"})
	},
	"a ground once what was published before is delivered": func(w *fixture) {
		w.group("g", []string{"bob"})
		signals := w.listen()
		w.ok(w.Follow(w.ctx, []string{"g"}, []string{"bob"}))
		w.inbox("bob", chat.Position{}, 1) // from then on it has a name
		ask := func() chat.Arrivals {
			w.Helper()
			a, err := w.Arrivals(w.ctx, "bob", chat.Arriving{Limit: 1, Groups: []string{"g"}, NoIndex: true, Grounded: true})
			w.ok(err)
			return a
		}
		if w.Conn().IsCluster() || w.Conn().IsEmbedded() {
			w.equal(ask(), chat.Arrivals{})
			return
		}
		ground := ""
		for begun := time.Now(); ground == ""; ground = ask().Ground {
			if time.Since(begun) > signalMax {
				w.Fatal("there is no ground")
			}
		}
		for grounded, begun := 0, time.Now(); grounded < 20; {
			id := w.say("g", "alice", "x")
			a := ask()
			if a.Ground == "" { // the machine is busy
				w.equal(w.next(signals).Message.ID, id)
				if time.Since(begun) > signalMax {
					w.Fatal("there is hardly ever a ground")
				}
				continue
			}
			grounded++
			w.equal(a.Ground, ground)
			w.equal(a.Looks, []chat.Look{{Last: id, Seen: 0, Read: -1}})
			select {
			case s := <-signals:
				w.equal(s.Message.ID, id)
			default:
				w.Fatalf("message %d is not delivered, and there is a ground", id)
			}
		}
	},
	"unfollow": func(w *fixture) {
		w.group("g", nil)
		w.group("h", nil)
		signals := w.listen()
		w.ok(w.Follow(w.ctx, []string{"g", "h"}, nil))
		w.Unfollow([]string{"g"}, nil)
		w.Unfollow([]string{"g", "none"}, nil)
		w.ok(w.Follow(w.ctx, []string{"later"}, nil)) // confirmed after what was dropped before it
		w.say("g", "alice", "x")
		w.say("h", "alice", "x")
		w.equal(w.next(signals).Group, "h")
		w.ok(w.Follow(w.ctx, []string{"g"}, nil))
		w.say("g", "alice", "x")
		w.equal(w.next(signals).Group, "g")
	},
	"follow before listening": func(w *fixture) {
		w.group("g", nil)
		ctx, stop := context.WithCancel(w.ctx)
		stop()
		w.fails(w.Follow(ctx, []string{"g"}, nil), chat.ErrUnavailable)
		signals := w.listen()
		w.ok(w.Follow(w.ctx, []string{"g"}, []string{"bob"}))
		w.say("g", "alice", "x")
		w.equal(w.next(signals).Kind, live.SignalMessage)
	},
}
