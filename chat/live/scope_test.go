package live_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// Two syncs that wait for some groups alone: what others get does not end them, what these get does, and so does leaving one.
func TestSyncWaitsForSomeGroups(t *testing.T) {
	l := startLive(t, nil)
	for _, g := range []string{"red", "blue"} {
		l.group(t, g, "ann", "bob")
	}
	bob := chat.Caller{User: "bob"}
	l.sync(t, bob, live.SyncRequest{Ack: map[string]chat.Position{"red": chat.At(2), "blue": chat.At(2)}, Only: []string{}})
	wait := func(do func()) live.SyncAnswer {
		return l.whileWaiting(t, bob, live.SyncRequest{Only: []string{"red"}}, do)
	}
	a := wait(func() {
		l.say(t, "blue", "ann", "not this one")
		l.say(t, "red", "ann", "this one")
	})
	if got := outline(a); got != "red 3..3/3" {
		t.Errorf("got %q, want red alone", got)
	}
	l.sync(t, bob, live.SyncRequest{Ack: map[string]chat.Position{"red": chat.At(3)}, Only: []string{}})
	a = wait(func() {
		if err := l.RemoveMember(t.Context(), bob, "red", "bob"); err != nil {
			t.Error(err)
		}
	})
	if got := outline(a); got != "red not_found" {
		t.Errorf("after leaving it: got %q, want not_found", got)
	}
}

// Errors that a request would bring on again end no wait: a client that repeats it would spin. They stand in the answer when
// it comes.
func TestSyncWaitsInSpiteOfErrors(t *testing.T) {
	l := startLive(t, nil)
	for _, g := range []string{"red", "blue"} {
		l.group(t, g, "ann", "bob")
	}
	bob := chat.Caller{User: "bob"}
	l.sync(t, bob, live.SyncRequest{Ack: map[string]chat.Position{"red": chat.At(2), "blue": chat.At(2)}, Only: []string{}})
	for i, c := range []struct {
		req  live.SyncRequest
		want string
	}{
		{live.SyncRequest{After: map[string]string{"red": "x"}}, "red invalid_request"},
		{live.SyncRequest{InboxAfter: chat.Unreadable}, " invalid_request"},
		{live.SyncRequest{Only: []string{"blue", "elsewhere"}}, "elsewhere not_found"},
		{live.SyncRequest{Only: []string{"blue", "red"}, After: map[string]string{"red": "x"}}, "red invalid_request"},
		{live.SyncRequest{Ack: map[string]chat.Position{"red": chat.At(99)}}, "red out_of_range"},
	} {
		if a := l.sync(t, bob, c.req); outline(a) != c.want || a.NextPollS == 0 {
			t.Errorf("without waiting: got %q, next_poll_s %d, want %q and to be asked to pause", outline(a), a.NextPollS, c.want)
		}
		news := int64(i + 3)
		a := l.whileWaiting(t, bob, c.req, func() { l.say(t, "blue", "ann", "news") })
		if got, want := outline(a), fmt.Sprintf("blue %d..%d/%d, %s", news, news, news, c.want); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		l.sync(t, bob, live.SyncRequest{Ack: map[string]chat.Position{"blue": chat.At(news)}, Only: []string{}})
		c.req.WaitS = 1
		if a := l.sync(t, bob, c.req); outline(a) != c.want {
			t.Errorf("when the time is up: got %q, want %q", outline(a), c.want)
		}
	}
}

// A poll waits while a group cannot be read, serves what is new elsewhere, and asks again well before its time is up.
func TestSyncWaitsForWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	l := startLive(t, nil)
	for _, g := range []string{"red", "blue"} {
		l.group(t, g, "ann", "bob")
	}
	bob := chat.Caller{User: "bob"}
	l.sync(t, bob, live.SyncRequest{Ack: map[string]chat.Position{"blue": chat.At(2)}, Only: []string{}})
	l.store.broken.Store(1000)
	a := l.whileWaiting(t, bob, live.SyncRequest{}, func() {
		l.store.broken.Store(0)
		l.say(t, "blue", "ann", "news")
	})
	if got := outline(a); got != "blue 3..3/3, red 1..2/2" {
		t.Errorf("got %q, want blue, and red, which can be read again", got)
	}
	l.sync(t, bob, live.SyncRequest{Ack: map[string]chat.Position{"blue": chat.At(3)}, Only: []string{}})
	l.store.broken.Store(1000)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if a, err := l.Sync(ctx, bob, live.SyncRequest{WaitS: 50}); err != nil || ctx.Err() != nil || outline(a) != "red unavailable" {
		t.Errorf("got %q, %v, %v; want an answer within a few seconds", outline(a), err, ctx.Err())
	}
}

// whileWaiting makes a sync, does something once it waits, and returns its answer.
func (l *node) whileWaiting(t *testing.T, by chat.Caller, req live.SyncRequest, do func()) live.SyncAnswer {
	t.Helper()
	waits := make(chan struct{}, 9)
	answered := make(chan live.SyncAnswer, 1)
	req.WaitS, req.OnWait = 20, func() { waits <- struct{}{} }
	go func() {
		a, err := l.Sync(t.Context(), by, req)
		if err != nil {
			t.Error(err)
		}
		answered <- a
	}()
	select {
	case <-waits:
		do()
		return <-answered
	case a := <-answered:
		t.Errorf("answered at once: %s", outline(a))
		do()
		return a
	}
}

func (l *node) sync(t *testing.T, by chat.Caller, req live.SyncRequest) live.SyncAnswer {
	t.Helper()
	a, err := l.Sync(t.Context(), by, req)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A session serves all but what it was told to leave out or cannot begin, for as long as it lasts.
func TestFollowScope(t *testing.T) {
	l := startLive(t, nil)
	for _, g := range []string{"red", "blue", "green"} {
		l.group(t, g, "ann", "bob")
	}
	l.group(t, "anns", "ann")
	follow := func(of live.Scope) *listener {
		f, err := l.Follow(t.Context(), chat.Caller{User: "bob"}, of)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Close)
		return &listener{t: t, Follower: f, to: map[string]int64{}, bodies: map[string][]string{}, epochs: map[string]string{}}
	}
	begins := func(f *listener, groups string, errors string) {
		t.Helper()
		w := f.Welcome()
		var in []string
		for g := range w.Groups {
			in = append(in, g)
		}
		slices.Sort(in)
		if got := fmt.Sprint(in); got != groups {
			t.Errorf("welcome to %s, want %s", got, groups)
		}
		if got := fmt.Sprint(w.Errors); got != errors {
			t.Errorf("errors %s, want %s", got, errors)
		}
	}
	unread := follow(live.Scope{After: map[string]string{"red": "x", "blue": "2"}, InboxAfter: chat.Unreadable})
	begins(unread, "[blue green]", "[{red false invalid_request} { true invalid_request}]")
	one := follow(live.Scope{Only: []string{"red", "anns", "none"}})
	begins(one, "[red]", "[{anns false not_found} {none false not_found}]")
	inbox := follow(live.Scope{Only: []string{}})
	begins(inbox, "[]", "[]")

	l.group(t, "later", "ann", "bob")
	for _, g := range []string{"red", "blue", "green", "later"} {
		l.say(t, g, "ann", "news")
	}
	for _, g := range []string{"blue", "green", "later"} {
		unread.reach(g, 3)
	}
	one.reach("red", 3)
	sent, _, err := l.SendDirect(t.Context(), chat.Caller{User: "ann"}, "bob", chat.Direct{Body: ptr("psst")})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*listener{one, inbox} {
		f.until("item", func(e live.Event) bool { return e.Inbox != nil && e.Inbox.To == sent.Seq })
	}
	for f, foreign := range map[*listener][]string{unread: {"red"}, one: {"blue", "green", "later"}, inbox: {"red", "blue", "green", "later"}} {
		for e, ok, err := f.TryNext(t.Context()); ok; e, ok, err = f.TryNext(t.Context()) {
			if err != nil || e.Inbox != nil && f == unread {
				t.Errorf("got %+v, %v; want nothing of the inbox, whose position cannot be read", e, err)
			}
			if e.Messages != nil {
				f.take(e.Messages)
			}
		}
		for _, g := range foreign {
			if to, served := f.to[g]; served {
				t.Errorf("a session that is not about %s got it up to %d", g, to)
			}
		}
	}
}

// A session that begins at the newest page says that there is more below, and only there.
func TestFollowNewest(t *testing.T) {
	l := startLive(t, nil)
	for _, g := range []string{"long", "known", "short"} {
		l.group(t, g, "ann", "bob")
		l.say(t, g, "ann", "first")
	}
	page := l.Options().Limits.PageMessages
	for i := range page {
		l.say(t, "long", "ann", fmt.Sprint(i))
		l.say(t, "known", "ann", fmt.Sprint(i))
	}
	f, err := l.Follow(t.Context(), chat.Caller{User: "bob"}, live.Scope{Newest: true, After: map[string]string{"known": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	type begin struct {
		from     int64
		complete bool
	}
	got, want := map[string]begin{}, map[string]begin{"long": {4, false}, "known": {2, true}, "short": {1, true}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for len(got) < len(want) {
		e, err := f.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if b := e.Messages; b != nil && got[b.Group] == (begin{}) {
			got[b.Group] = begin{b.From, b.Complete}
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
