package live_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/redistest"
)

// startMuted starts a service and the proxy that it reaches Redis through, which can make signals vanish.
func startMuted(t *testing.T, limits func(*chat.Limits)) (*node, *redistest.Proxy) {
	t.Helper()
	redis := redistest.Start(t)
	proxy := redistest.StartProxy(t, redis.Addr, 0)
	return connectLive(t, redis, proxy.URL(), limits), proxy
}

// killSubscriptions breaks every subscription: the nodes notice, and subscribe again.
func (l *node) killSubscriptions() { l.redis.Do("CLIENT", "KILL", "TYPE", "pubsub") }

// Signals that vanish unnoticed cost no more than a safety check.
func TestFollowLostSignals(t *testing.T) {
	l, proxy := startMuted(t, func(x *chat.Limits) { x.SafetyCheck = 100 * time.Millisecond })
	l.group(t, "red", "ann", "bob")
	bob := l.listen(t, "bob", nil)
	bob.reach("red", l.say(t, "red", "ann", "heard"))
	proxy.Mute(true)
	for i := range 30 {
		l.say(t, "red", "ann", fmt.Sprint(i))
		id := l.say(t, "red", "ann", "and")
		if i%3 == 0 {
			bob.reach("red", id)
		}
	}
	bob.reach("red", 63)
	body := "psst"
	if _, _, err := l.SendDirect(t.Context(), chat.Caller{User: "ann"}, "bob", chat.Direct{Body: &body}); err != nil {
		t.Fatal(err)
	}
	bob.until("inbox", func(e live.Event) bool { return e.Inbox != nil && e.Inbox.To == 1 })
	if proxy.Swallowed() == 0 {
		t.Error("no signal was lost: nothing was shown")
	}
}

// What was missed while the subscription was broken is made up for as soon as it is back, groups joined included.
func TestFollowBrokenSubscription(t *testing.T) {
	l, proxy := startMuted(t, signalsOnly)
	l.group(t, "red", "ann", "bob")
	bob := l.listen(t, "bob", nil)
	bob.reach("red", l.say(t, "red", "ann", "heard"))
	proxy.Mute(true)
	for i := range 30 {
		blue := fmt.Sprint("blue", i)
		l.group(t, blue, "ann", "bob")
		id := l.say(t, "red", "ann", fmt.Sprint(i))
		l.killSubscriptions()
		bob.reach("red", id)
		bob.reach(blue, 2)
	}
}

// A member who is no longer one, of which neither a signal nor the log says anything, is found when signals were lost.
func TestFollowLostLeave(t *testing.T) {
	l, proxy := startMuted(t, signalsOnly)
	l.group(t, "red", "ann", "bob")
	bob := l.listen(t, "bob", nil)
	bob.reach("red", l.say(t, "red", "ann", "heard"))
	proxy.Mute(true)
	if err := l.RemoveMember(t.Context(), chat.Caller{User: "ann"}, "red", "bob"); err != nil {
		t.Fatal(err)
	}
	notice := fmt.Sprint(bob.to["red"] + 1)
	l.redis.Do("ZREMRANGEBYSCORE", "chat:{p00}:g:red:msgs", notice, notice)
	l.redis.Do("DECR", "chat:{p00}:g:red:id")
	l.killSubscriptions()
	bob.until("left", func(e live.Event) bool { return e.Left == "red" })
}

// A store that lost the end of a log and rewrote it up to the same id is noticed after a loss of signals, although the
// log ends where it ended before.
func TestFollowRewrittenLog(t *testing.T) {
	l, proxy := startMuted(t, signalsOnly)
	l.group(t, "red", "ann", "bob")
	bob := l.listen(t, "bob", map[string]string{"red": "0"})
	bob.reach("red", l.say(t, "red", "ann", "kept"))
	rollBack := l.backup(t)
	bob.reach("red", l.say(t, "red", "ann", "lost"))
	proxy.Mute(true)
	rollBack()
	last := l.say(t, "red", "ann", "anew")
	if last != bob.to["red"] {
		t.Fatalf("the new message is %d, the lost one was %d: nothing would be shown", last, bob.to["red"])
	}
	l.killSubscriptions()
	e := bob.until("batch", func(e live.Event) bool { return e.Messages != nil })
	if b := e.Messages; b.Complete || b.From != 1 {
		t.Errorf("got from %d, complete %v; want 1, false", b.From, b.Complete)
	}
	bob.reach("red", last)
	if got, want := bob.bodies["red"], []string{"kept", "lost", "kept", "anew"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A log that was rewritten up to where a session stands, and trimmed just there, begins with what the session does not have
// yet. That it had something else before shows all the same: in the session, and when it begins again.
func TestFollowRewrittenLogTrimmedToThePosition(t *testing.T) {
	l, proxy := startMuted(t, signalsOnly)
	l.group(t, "red", "ann", "bob")
	keep := int64(1)
	if _, err := l.UpdateGroup(t.Context(), chat.Caller{User: "ann"}, "red", chat.GroupChange{Keep: &keep}); err != nil {
		t.Fatal(err)
	}
	bob := l.listen(t, "bob", map[string]string{"red": "0"})
	bob.reach("red", l.say(t, "red", "ann", "kept"))
	rollBack := l.backup(t)
	had := l.say(t, "red", "ann", "lost")
	lost := bob.until("batch", func(e live.Event) bool { return e.Messages != nil && e.Messages.To == had }).Messages
	proxy.Mute(true)
	rollBack()
	l.say(t, "red", "ann", "anew")
	last := l.say(t, "red", "ann", "and more")
	for _, user := range []string{"ann", "bob"} {
		if _, err := l.Ack(t.Context(), chat.Caller{User: user}, "red", chat.At(had)); err != nil {
			t.Fatal(err)
		}
	}
	l.killSubscriptions()
	again := l.listen(t, "bob", map[string]string{"red": lost.Cursor})
	for _, session := range []*listener{bob, again} {
		b := session.until("batch", func(e live.Event) bool { return e.Messages != nil }).Messages
		if b.Complete || b.From != had+1 || b.To != last {
			t.Errorf("got %d..%d, complete %v; want %d..%d, false", b.From, b.To, b.Complete, had+1, last)
		}
	}
}

// A member who was taken out, and is back because the store lost that, holds what it was given before: where the log was
// rewritten up to the same id, a session learns so, also one that began in between.
func TestFollowRewrittenLogAfterLeaving(t *testing.T) {
	l, proxy := startMuted(t, signalsOnly)
	l.group(t, "red", "ann", "bob")
	bob := l.listen(t, "bob", map[string]string{"red": "0"})
	bob.reach("red", l.say(t, "red", "ann", "kept"))
	rollBack := l.backup(t)
	had := l.say(t, "red", "ann", "lost")
	lost := bob.until("batch", func(e live.Event) bool { return e.Messages != nil && e.Messages.To == had }).Messages
	if err := l.RemoveMember(t.Context(), chat.Caller{User: "ann"}, "red", "bob"); err != nil {
		t.Fatal(err)
	}
	left := func(e live.Event) bool { return e.Left == "red" }
	bob.until("left", left)
	again := l.listen(t, "bob", map[string]string{"red": lost.Cursor})
	again.until("left", left)
	proxy.Mute(true)
	rollBack()
	for l.say(t, "red", "ann", "anew") < bob.to["red"] {
	}
	if _, err := l.Ack(t.Context(), chat.Caller{User: "bob"}, "red", chat.At(had)); err != nil {
		t.Fatal(err)
	}
	l.killSubscriptions()
	for name, session := range map[string]*listener{"the session": bob, "the one after it": again} {
		session.until("joined", func(e live.Event) bool { return e.Joined == "red" })
		e := session.until("batch", func(e live.Event) bool { return e.Messages != nil })
		if b := e.Messages; b.Complete || b.From != 1 {
			t.Errorf("%s got from %d, complete %v; want 1, false", name, b.From, b.Complete)
		}
	}
}

// An inbox that lost its end and got another item of the same seq is noticed as a log is: the session gets what there is now,
// with complete: false.
func TestFollowRewrittenInbox(t *testing.T) {
	l, proxy := startMuted(t, signalsOnly)
	send := func(body string) {
		t.Helper()
		if _, _, err := l.SendDirect(t.Context(), chat.Caller{User: "ann"}, "bob", chat.Direct{Body: &body}); err != nil {
			t.Fatal(err)
		}
	}
	bob := l.listen(t, "bob", nil)
	reach := func(seq int64) {
		t.Helper()
		bob.until("item", func(e live.Event) bool { return e.Inbox != nil && e.Inbox.To == seq })
	}
	send("kept")
	reach(1)
	rollBack := l.backup(t)
	send("lost")
	reach(2)
	proxy.Mute(true)
	rollBack()
	send("anew")
	l.killSubscriptions()
	b := bob.until("inbox", func(e live.Event) bool { return e.Inbox != nil }).Inbox
	if b.Complete || b.From != 1 || b.To != 2 || !strings.Contains(string(b.Items[1].JSON), "anew") {
		t.Errorf("got %d..%d, complete %v; want 1..2, false, with the new item", b.From, b.To, b.Complete)
	}
}

// backup copies everything that the server holds, and returns what puts it back.
func (l *node) backup(t *testing.T) (rollBack func()) {
	t.Helper()
	keys, _ := l.redis.Do("KEYS", "*").([]any)
	values := map[string]string{}
	for _, key := range keys {
		name, _ := key.(string)
		values[name], _ = l.redis.Do("DUMP", name).(string)
	}
	return func() { // in one step, as a failover does it: nobody sees a part of the store
		t.Helper()
		conn, err := redistest.Dial(l.redis.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		commands := [][]string{{"MULTI"}, {"FLUSHDB"}}
		for name, value := range values {
			commands = append(commands, []string{"RESTORE", name, "0", value})
		}
		for _, command := range append(commands, []string{"EXEC"}) {
			if _, err := conn.Do(command...); err != nil {
				t.Fatalf("%s: %v", command[0], err)
			}
		}
	}
}

// TestFollowReadsAgain: a session whose group could not be read gets what it is owed although nothing more is sent there.
func TestFollowReadsAgain(t *testing.T) {
	l := startLive(t, func(limits *chat.Limits) { limits.SafetyCheck = 50 * time.Millisecond })
	l.group(t, "g", "ann")
	last := l.say(t, "g", "ann", "owed")
	l.store.broken.Store(2)
	ann := l.listen(t, "ann", map[string]string{"g": "0"})
	ann.reach("g", last)
	if left := l.store.broken.Load(); left >= 0 {
		t.Errorf("%d of the pages that cannot be read were not asked for", left+1)
	}
}
