package live_test

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/bulk"
	"github.com/chatd/chatd/chat/live"
)

func TestFollowCatchUpThenLive(t *testing.T) {
	l := startLive(t, nil)
	l.group(t, "red", "ann", "bob")
	l.group(t, "blue", "bob")
	for i := range 700 { // more than one round, more than the ring
		l.say(t, "red", "ann", fmt.Sprint(i))
	}
	quiet := l.say(t, "blue", "bob", "quiet")
	bob := l.listen(t, "bob", map[string]string{"red": "0", "blue": "0"})
	w := bob.Welcome()
	if got := w.Groups["red"]; got.Last != 702 || got.Epoch == "" || got.First != 1 {
		t.Errorf("welcome: got %+v, want last 702 and first 1", got)
	}
	// A busy group never starves a quiet one: the quiet one comes before the busy one is done.
	bob.reach("blue", quiet)
	if bob.to["red"] >= 702 {
		t.Errorf("the quiet group came after all %d of the busy one", bob.to["red"])
	}
	bob.reach("red", 702)
	for i := range 20 {
		bob.reach("red", l.say(t, "red", "ann", fmt.Sprint(700+i)))
	}
	for i, body := range bob.bodies["red"] {
		if body != fmt.Sprint(i) {
			t.Fatalf("message %d: got %q", i, body)
		}
	}
}

func TestFollowResumesFromCursor(t *testing.T) {
	l := startLive(t, nil)
	l.group(t, "red", "ann", "bob")
	for i := range 5 {
		l.say(t, "red", "ann", fmt.Sprint(i))
	}
	bob := l.listen(t, "bob", map[string]string{"red": "3"})
	e := bob.until("batch", func(e live.Event) bool { return e.Messages != nil })
	if e.Messages.From != 4 || !e.Messages.Complete {
		t.Errorf("after 3: got from %d, complete %v; want 4, true", e.Messages.From, e.Messages.Complete)
	}
	bob.reach("red", 7)
	cursor := e.Messages.Cursor
	bob.Close()
	last := l.say(t, "red", "ann", "more")
	again := l.listen(t, "bob", map[string]string{"red": cursor})
	e = again.until("batch", func(e live.Event) bool { return e.Messages != nil })
	if e.Messages.From != 8 || e.Messages.To != last || !e.Messages.Complete {
		t.Errorf("after the cursor: got %d..%d, complete %v; want 8..%d, true", e.Messages.From, e.Messages.To, e.Messages.Complete, last)
	}
	for name, after := range map[string]string{
		"a position above last": "999", "a cursor of another epoch": "nosuchepoch.3.abcdef", "a cursor with another mark": w(cursor),
	} {
		lost := l.listen(t, "bob", map[string]string{"red": after})
		e = lost.until("batch", func(e live.Event) bool { return e.Messages != nil })
		if e.Messages.Complete || e.Messages.From != 1 {
			t.Errorf("%s (%s): got from %d, complete %v; want 1, false", name, after, e.Messages.From, e.Messages.Complete)
		}
		lost.reach("red", last)
	}
}

// w changes the mark of a cursor.
func w(cursor string) string { return cursor[:len(cursor)-6] + "zzzzzz" }

func TestFollowMembership(t *testing.T) {
	l := startLive(t, nil)
	ctx := t.Context()
	ann, bobCaller := chat.Caller{User: "ann"}, chat.Caller{User: "bob"}
	l.group(t, "red", "ann")
	bob := l.listen(t, "bob", map[string]string{"red": "0"})
	if e := bob.next(); e.Left != "red" {
		t.Errorf("a group one is not in: got %+v, want left", e)
	}
	l.say(t, "red", "ann", "before")
	if _, _, err := l.PutMember(ctx, ann, "red", "bob", ""); err != nil {
		t.Fatal(err)
	}
	bob.until("joined", func(e live.Event) bool { return e.Joined == "red" })
	bob.reach("red", l.say(t, "red", "ann", "hello"))
	if got := bob.bodies["red"]; len(got) != 2 || got[0] != "before" {
		t.Errorf("after joining: got %q, want the history and hello", got)
	}

	// Removed at an entry: nothing after it.
	l.say(t, "red", "ann", "last seen")
	if err := l.RemoveMember(ctx, ann, "red", "bob"); err != nil {
		t.Fatal(err)
	}
	l.say(t, "red", "ann", "secret")
	bob.until("left", func(e live.Event) bool { return e.Left == "red" })
	if _, _, err := l.PutMember(ctx, ann, "red", "bob", ""); err != nil {
		t.Fatal(err)
	}
	bob.until("joined", func(e live.Event) bool { return e.Joined == "red" })
	before := bob.to["red"]
	e := bob.until("batch", func(e live.Event) bool { return e.Messages != nil })
	if e.Messages.From != before+1 || !e.Messages.Complete {
		t.Errorf("back in the group: got from %d, complete %v; want %d, true", e.Messages.From, e.Messages.Complete, before+1)
	}
	bob.reach("red", l.say(t, "red", "bob", "back"))

	g, err := l.Group(ctx, ann, "red")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.DeleteGroup(ctx, ann, "red"); err != nil {
		t.Fatal(err)
	}
	bob.until("left", func(e live.Event) bool { return e.Left == "red" })
	l.runTask(t, chat.TaskCleanup, chat.GroupTask{Group: "red", Epoch: g.Epoch})
	if _, err := l.CreateGroup(ctx, ann, chat.GroupDraft{ID: "red", Members: []string{"bob"}}); err != nil {
		t.Fatal(err)
	}
	bob.until("joined", func(e live.Event) bool { return e.Joined == "red" })
	bob.reach("red", l.say(t, "red", "ann", "anew"))
	if err := l.RemoveMember(ctx, bobCaller, "red", "bob"); err != nil {
		t.Fatal(err)
	}
	bob.until("left", func(e live.Event) bool { return e.Left == "red" })
}

// Where a session stood in a group that was deleted says nothing of the group that has its name later.
// TestFollowRemovedTogether adds and removes several members with one notice each: they follow up to the notice, and see nothing after it.
func TestFollowRemovedTogether(t *testing.T) {
	l := startLive(t, signalsOnly)
	ctx, ann := t.Context(), chat.Caller{User: "ann"}
	l.group(t, "red", "ann")
	members := bulk.New(l.domain.Service, l.store.Groups)
	bob, cid := l.listen(t, "bob", nil), l.listen(t, "cid", nil)
	watching := l.listen(t, "ann", nil)
	if _, err := members.ChangeMembers(ctx, ann, "red", []bulk.Draft{{User: "bob"}, {User: "cid"}, {User: "dora"}}, nil); err != nil {
		t.Fatal(err)
	}
	bob.until("joined", func(e live.Event) bool { return e.Joined == "red" })
	cid.until("joined", func(e live.Event) bool { return e.Joined == "red" })
	at := l.say(t, "red", "ann", "hello")
	bob.reach("red", at)
	cid.reach("red", at)
	if _, err := members.ChangeMembers(ctx, ann, "red", nil, []string{"bob", "cid"}); err != nil {
		t.Fatal(err)
	}
	watching.reach("red", l.say(t, "red", "ann", "secret"))
	for _, one := range []*listener{bob, cid} {
		one.until("left", func(e live.Event) bool { return e.Left == "red" })
		if got := one.bodies["red"]; len(got) != 1 {
			t.Errorf("a removed member got %q, want hello alone", got)
		}
	}
}

func TestFollowJoinsAnotherLife(t *testing.T) {
	l := startLive(t, nil)
	ann := chat.Caller{User: "ann"}
	l.group(t, "red", "ann", "bob")
	bob := l.listen(t, "bob", nil)
	bob.reach("red", l.say(t, "red", "ann", "old"))
	old := bob.epochs["red"]
	if err := l.RemoveMember(t.Context(), ann, "red", "bob"); err != nil {
		t.Fatal(err)
	}
	bob.until("left", func(e live.Event) bool { return e.Left == "red" })
	if err := l.DeleteGroup(t.Context(), ann, "red"); err != nil {
		t.Fatal(err)
	}
	l.group(t, "red", "ann")
	for range 5 { // beyond the old position
		l.say(t, "red", "ann", "new")
	}
	if _, _, err := l.PutMember(t.Context(), ann, "red", "bob", ""); err != nil {
		t.Fatal(err)
	}
	b := bob.until("batch", func(e live.Event) bool { return e.Messages != nil }).Messages
	if b.Epoch == old || b.From != 1 || !b.Complete {
		t.Errorf("got from %d of %s, complete %v; want 1 of another life than %s, true", b.From, b.Epoch, b.Complete, old)
	}
}

func TestFollowHiddenHistory(t *testing.T) {
	l := startLive(t, nil)
	no := false
	if _, err := l.CreateGroup(t.Context(), chat.Caller{User: "ann"}, chat.GroupDraft{ID: "red", History: &no}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		l.say(t, "red", "ann", "hidden")
	}
	if _, _, err := l.PutMember(t.Context(), chat.Caller{User: "ann"}, "red", "bob", ""); err != nil {
		t.Fatal(err)
	}
	bob := l.listen(t, "bob", map[string]string{"red": "0"})
	e := bob.until("batch", func(e live.Event) bool { return e.Messages != nil })
	if e.Messages.From != 7 || !e.Messages.Complete {
		t.Errorf("got from %d, complete %v; want the notice of joining, 7, and true", e.Messages.From, e.Messages.Complete)
	}
	bob.reach("red", l.say(t, "red", "ann", "shown"))
	if got := bob.bodies["red"]; len(got) != 1 || got[0] != "shown" {
		t.Errorf("got %q, want shown alone", got)
	}
}

func TestFollowInbox(t *testing.T) {
	l := startLive(t, nil)
	body := "psst"
	send := func() {
		t.Helper()
		if _, _, err := l.SendDirect(t.Context(), chat.Caller{User: "ann"}, "bob", chat.Direct{Body: &body}); err != nil {
			t.Fatal(err)
		}
	}
	for range 250 {
		send()
	}
	bob := l.listen(t, "bob", nil)
	to := int64(0)
	take := func(upTo int64) {
		t.Helper()
		for to < upTo {
			b := bob.until("inbox", func(e live.Event) bool { return e.Inbox != nil }).Inbox
			if b.From != to+1 || !b.Complete || int64(len(b.Items)) != b.To-b.From+1 {
				t.Fatalf("got %d..%d with %d items, complete %v; want from %d", b.From, b.To, len(b.Items), b.Complete, to+1)
			}
			to = b.To
		}
	}
	take(250)
	send()
	take(251)
	if _, err := l.AckInbox(t.Context(), chat.Caller{User: "bob"}, chat.At(250)); err != nil {
		t.Fatal(err)
	}
	send()
	take(252)
	bob.Close()
	bob = l.listen(t, "bob", nil)
	to = 250
	take(252)
}

func TestFollowCursors(t *testing.T) {
	l := startLive(t, signalsOnly)
	other := joinLive(t, l.redis, signalsOnly)
	l.group(t, "red", "ann", "bob")
	last := l.say(t, "red", "ann", "hi")
	laptop := chat.Caller{User: "bob", Session: "laptop"}
	bob := l.listenAs(t, laptop, nil)
	others := map[string]*listener{
		"another member":                 l.listen(t, "ann", nil),
		"another session":                l.listenAs(t, chat.Caller{User: "bob", Session: "phone"}, nil),
		"a session without a name":       l.listen(t, "bob", nil),
		"another member on another node": other.listen(t, "ann", nil),
		"a session on another node":      other.listenAs(t, chat.Caller{User: "bob", Session: "tablet"}, nil),
	}
	moved := func(f *listener) live.CursorEvent {
		return *f.until("cursor", func(e live.Event) bool { return e.Cursor != nil }).Cursor
	}
	for _, by := range []chat.Caller{laptop, {User: "bob"}} { // over its websocket, then over HTTP
		if by.Session == "" {
			last = l.say(t, "red", "ann", "so?")
		}
		if _, err := l.Read(t.Context(), by, "red", chat.At(last)); err != nil {
			t.Fatal(err)
		}
		want := live.CursorEvent{Group: "red", User: "bob", Seen: last, Read: last, Origin: by.Session}
		for name, f := range others {
			if got := moved(f); got != want {
				t.Errorf("%s: got %+v, want %+v", name, got, want)
			}
		}
	}
	// The first event that the session itself gets is about the move it did not make.
	if got, want := moved(bob), (live.CursorEvent{Group: "red", User: "bob", Seen: last, Read: last}); got != want {
		t.Errorf("the session that acked: got %+v, want %+v", got, want)
	}
}

func TestFollowTyping(t *testing.T) {
	l := startLive(t, nil)
	l.group(t, "red", "ann", "bob")
	ann, bob := l.listen(t, "ann", nil), l.listen(t, "bob", nil)
	if err := l.Typing(t.Context(), chat.Caller{User: "bob"}, "red"); err != nil {
		t.Fatal(err)
	}
	if e := ann.until("typing", func(e live.Event) bool { return e.Typing != nil }); e.Typing.User != "bob" {
		t.Errorf("typing: got %+v, want bob", e.Typing)
	}
	if err := l.Typing(t.Context(), chat.Caller{User: "eve"}, "red"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("typing from outside: got %v, want %s", err, chat.CodeNotFound)
	}
	next := l.say(t, "red", "ann", "so?")
	for bob.to["red"] < next {
		if e := bob.next(); e.Typing != nil {
			t.Errorf("who types got %+v", e)
		}
	}
}

// An edit is served to who comes late with the new content, from memory as from the store.
func TestFollowEdited(t *testing.T) {
	l := startLive(t, nil)
	l.group(t, "red", "ann", "bob")
	holder := l.listen(t, "ann", nil) // keeps the ring
	id := l.say(t, "red", "ann", "first")
	body := "second"
	sent, err := l.Send(t.Context(), chat.Caller{User: "ann"}, "red", chat.Content{Kind: chat.Edit, Target: id, Body: &body}, "")
	if err != nil {
		t.Fatal(err)
	}
	holder.reach("red", sent.ID)
	bob := l.listen(t, "bob", map[string]string{"red": fmt.Sprint(id - 1)})
	bob.reach("red", sent.ID)
	if got := bob.bodies["red"]; len(got) != 2 || got[0] != "second" {
		t.Errorf("got %q, want the new content twice", got)
	}
}

// Two nodes on one Redis deliver the same, to sessions and to long polls.
func TestFollowTwoNodes(t *testing.T) {
	one := startLive(t, signalsOnly)
	two := joinLive(t, one.redis, signalsOnly)
	one.group(t, "red", "ann", "bob")
	bob := two.listen(t, "bob", nil)
	for i := range 50 {
		bob.reach("red", one.say(t, "red", "ann", fmt.Sprint(i)))
	}
	one.store.afterLook(func() { two.say(t, "red", "ann", "wake up") })
	late, err := one.Sync(t.Context(), chat.Caller{User: "bob"}, live.SyncRequest{Ack: map[string]chat.Position{"red": chat.At(52)}, WaitS: 20})
	if got, want := outline(late), "red 53..53/53"; err != nil || got != want {
		t.Errorf("a long poll on the other node: got %q, %v, want %q", got, err, want)
	}
}

// A user of many groups is followed with few calls, and hears of each.
func TestFollowManyGroups(t *testing.T) {
	l := startLive(t, nil)
	const groups = 450
	for i := range groups {
		l.group(t, fmt.Sprint("g", i), "ann")
	}
	ann := l.listen(t, "ann", nil)
	if got := len(ann.Welcome().Groups); got != groups {
		t.Errorf("welcome: got %d groups, want %d", got, groups)
	}
	for i := range groups {
		l.say(t, fmt.Sprint("g", i), "ann", "hi")
	}
	for i := range groups {
		ann.reach(fmt.Sprint("g", i), 2)
	}
}
