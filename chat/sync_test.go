package chat_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
)

func (b *bench) sync(user string, req chat.SyncRequest) chat.SyncAnswer {
	b.t.Helper()
	a, err := b.Sync(b.ctx, as(user), req)
	b.must(err)
	return a
}

// outline writes what matters of an answer in one line.
func outline(a chat.SyncAnswer) string {
	var parts []string
	for _, g := range a.Groups {
		parts = append(parts, fmt.Sprintf("%s %d..%d/%d", g.Group, g.From, g.To, g.Last))
	}
	for _, g := range a.Left {
		parts = append(parts, "left "+g)
	}
	for _, e := range a.Errors {
		parts = append(parts, fmt.Sprintf("%s %s", e.Group, e.Code))
	}
	if a.Inbox != nil {
		parts = append(parts, fmt.Sprintf("inbox %d..%d/%d", a.Inbox.From, a.Inbox.To, a.Inbox.Last))
	}
	return strings.Join(parts, ", ")
}

func TestSync(t *testing.T) {
	b := newBench(t)
	b.group(chat.GroupDraft{ID: "busy"}, "alice", "bob")
	b.group(chat.GroupDraft{ID: "quiet"}, "alice", "bob")
	b.group(chat.GroupDraft{ID: "old"}, "alice", "bob")
	b.group(chat.GroupDraft{ID: "open", Visibility: chat.Public}, "alice")
	for i := range 28 {
		b.say("alice", "busy", fmt.Sprint(i))
	}
	b.must(b.RemoveMember(b.ctx, as("bob"), "old", "bob"))
	for _, c := range []struct {
		name string
		req  chat.SyncRequest
		want string
	}{
		{"everything", chat.SyncRequest{}, "busy 1..30/30, quiet 1..2/2"},
		{"shared fairly", chat.SyncRequest{Limit: 10}, "busy 1..8/30, quiet 1..2/2"},
		{"the quiet one first", chat.SyncRequest{Limit: 1}, "busy 1..0/30, quiet 1..1/2"},
		{"own positions", chat.SyncRequest{After: map[string]string{"busy": "25", "quiet": "2"}}, "busy 26..30/30"},
		{"a position of no log", chat.SyncRequest{After: map[string]string{"busy": "x.30.-", "quiet": "2"}, Limit: 5}, "busy 1..5/30"},
		{"what was left", chat.SyncRequest{After: map[string]string{"busy": "30", "quiet": "2", "old": "1", "none": "0", "open": "1"}},
			"left none, left old, left open"},
		{"acks", chat.SyncRequest{Ack: map[string]int64{"busy": 29, "quiet": 3, "old": 1, "a b": 1}}, "busy 30..30/30, quiet 1..2/2, left old, a b invalid_request, quiet out_of_range"},
		{"an ack below", chat.SyncRequest{Ack: map[string]int64{"busy": 3, "quiet": -1}}, "busy 30..30/30, quiet 1..2/2, quiet invalid_request"},
		{"the rest", chat.SyncRequest{Ack: map[string]int64{"busy": 30, "quiet": 2}}, ""},
	} {
		if got := outline(b.sync("bob", c.req)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for name, req := range map[string]chat.SyncRequest{"limit": {Limit: -1}, "wait": {WaitS: -1}, "after": {After: map[string]string{"busy": "x"}},
		"a group": {After: map[string]string{"a b": "1"}}, "inbox": {InboxAfter: ptr[int64](-1)}} {
		_, err := b.Sync(b.ctx, as("bob"), req)
		b.refused(name, err, chat.CodeInvalid)
	}
	idle := b.sync("bob", chat.SyncRequest{})
	if idle.NextPollS == 0 {
		t.Error("a client that does not wait is told to ask at once")
	}
}

// Whatever the limit, going on from the cursors leads through every log once and to its end.
func TestSyncServesEverythingOnce(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Limits.PageBytesMax = 3000 })
	want := map[string]int64{}
	for i := range 7 {
		g := fmt.Sprintf("g%d", i)
		b.group(chat.GroupDraft{ID: g}, "alice", "bob")
		for k := range i * i {
			b.say("alice", g, strings.Repeat("x", 1+k*20))
		}
		want[g] = int64(2 + i*i)
	}
	for _, limit := range []int{1, 2, 5, 40, 1000} {
		after := map[string]string{}
		at := map[string]int64{}
		for round := 0; ; round++ {
			if round > 200 {
				t.Fatalf("limit %d: no end after %d rounds", limit, round)
			}
			a := b.sync("bob", chat.SyncRequest{After: after, Limit: limit})
			total, more := 0, false
			for _, g := range a.Groups {
				if g.From != at[g.Group]+1 || g.To != g.From-1+int64(len(g.Messages)) || !g.Complete {
					t.Fatalf("limit %d: %s is at %d, is served %s", limit, g.Group, at[g.Group], describe(g))
				}
				at[g.Group], after[g.Group] = g.To, g.Cursor
				total, more = total+len(g.Messages), more || g.HasMore
			}
			if total > limit {
				t.Fatalf("limit %d: %d messages", limit, total)
			}
			if len(a.Groups) == 0 {
				break
			}
			if total == 0 {
				t.Fatalf("limit %d: an answer without progress: %s", limit, outline(a))
			}
		}
		for g, last := range want {
			if at[g] != last {
				t.Errorf("limit %d: %s ends at %d, want %d", limit, g, at[g], last)
			}
		}
	}
}

// An index that lags hides nothing that the client names, and is written down by and by.
func TestSyncWithALaggingIndex(t *testing.T) {
	b := newBench(t)
	b.group(chat.GroupDraft{ID: "g"}, "alice", "bob")
	b.must(b.stores.DropUserGroup(b.ctx, "bob", "g"))
	if got := outline(b.sync("bob", chat.SyncRequest{After: map[string]string{"g": "0"}})); got != "g 1..2/2" {
		t.Errorf("got %q", got)
	}
	// A hint above the truth, from another life of the group, hides nothing either.
	b.must(b.stores.AddUserGroups(b.ctx, []string{"bob"}, "g", 100))
	if got := outline(b.sync("bob", chat.SyncRequest{})); got != "g 1..2/2" {
		t.Errorf("got %q", got)
	}
	b.must(b.stores.DropUserGroup(b.ctx, "bob", "g"))
	b.must(b.stores.AddUserGroups(b.ctx, []string{"bob"}, "g", 0))
	ctx, stop := context.WithCancel(b.ctx)
	done := make(chan error)
	go func() { done <- b.Run(ctx) }()
	_, err := b.Ack(b.ctx, as("bob"), "g", 2)
	b.must(err)
	stop()
	<-done //nolint:errcheck // nothing but that it was stopped
	index, err := b.stores.UserGroups(b.ctx, "bob")
	b.must(err)
	if want := []chat.UserGroup{{Group: "g", Seen: 2}}; !slices.Equal(index, want) {
		t.Errorf("index: got %+v, want %+v", index, want)
	}
}

// A long poll answers with what comes after it has looked, whether it waits by then or not.
func TestSyncWaits(t *testing.T) {
	for _, between := range []bool{true, false} {
		b := newBench(t, func(o *chat.Options) { signalsOnly(&o.Limits) })
		b.live()
		b.group(chat.GroupDraft{ID: "g"}, "alice", "bob")
		b.sync("bob", chat.SyncRequest{Ack: map[string]int64{"g": 2}})
		for _, c := range []struct {
			name string
			do   func()
			want string
		}{
			{"a message", func() { b.say("alice", "g", "hi") }, "g 3..3/3"},
			{"an item", func() {
				_, _, err := b.SendDirect(b.ctx, as("alice"), "bob", chat.Direct{Body: ptr("psst")})
				b.must(err)
			}, "inbox 1..1/1"},
			{"another group", func() { b.group(chat.GroupDraft{ID: "h"}, "alice", "bob") }, "h 1..2/2"},
			{"a message there", func() { b.say("alice", "h", "hi") }, "h 3..3/3"},
		} {
			a, err := b.syncAfterLooking(c.do, between)
			if got := outline(a); err != nil || got != c.want {
				t.Errorf("%s (before it waits: %v): got %q, %v, want %q", c.name, between, got, err, c.want)
			}
			ack := chat.SyncRequest{Ack: map[string]int64{}}
			for _, g := range a.Groups {
				ack.Ack[g.Group] = g.Last
			}
			if a.Inbox != nil {
				ack.InboxAck = &a.Inbox.Last
			}
			b.sync("bob", ack)
		}
	}
}

// syncAfterLooking makes a long poll of bob and calls do once the poll has looked and found nothing: before it goes on to
// wait, or from then on.
func (b *bench) syncAfterLooking(do func(), between bool) (chat.SyncAnswer, error) {
	if between {
		b.steps.afterPull(do)
		return b.Sync(b.ctx, as("bob"), chat.SyncRequest{WaitS: 10})
	}
	looked, done := make(chan struct{}), make(chan struct{})
	b.steps.afterPull(func() { close(looked) })
	var a chat.SyncAnswer
	var err error
	go func() {
		defer close(done)
		a, err = b.Sync(b.ctx, as("bob"), chat.SyncRequest{WaitS: 10})
	}()
	<-looked
	do()
	<-done
	return a, err
}

func TestSyncWaitEnds(t *testing.T) {
	b := newBench(t)
	b.live()
	b.group(chat.GroupDraft{ID: "g"}, "alice", "bob")
	b.sync("bob", chat.SyncRequest{Ack: map[string]int64{"g": 2}})
	began := time.Now()
	if got := outline(b.sync("bob", chat.SyncRequest{WaitS: 1})); got != "" || time.Since(began) < time.Second {
		t.Errorf("nothing new: got %q after %v", got, time.Since(began))
	}
	gone, cancel := context.WithCancel(b.ctx)
	cancel()
	if _, err := b.Sync(gone, as("bob"), chat.SyncRequest{WaitS: 20}); chat.CodeOf(err) == chat.CodeInternal {
		t.Errorf("a client that is gone: %v", err)
	}
}
