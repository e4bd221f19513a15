package live_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/chattest"
)

// bench is the live part of a node over the core of a chattest.Bench. Its loops run only after run.
type bench struct {
	*chattest.Bench
	*live.Service
	steps *stepped // what the live part sees of the store
}

func newBench(t *testing.T, change ...func(*chat.Options)) *bench {
	t.Helper()
	b := chattest.New(t, change...)
	steps := &stepped{Store: b.Store}
	return &bench{Bench: b, Service: live.New(b.Service, steps), steps: steps}
}

// run runs the loops of core and live part until the test ends.
func (b *bench) run() {
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = b.Bench.Run(ctx) })
	wg.Go(func() { _ = b.Run(ctx) })
	b.T.Cleanup(func() { stop(); wg.Wait() })
}

func ptr[T any](v T) *T { return &v }

func (b *bench) sync(user string, req live.SyncRequest) live.SyncAnswer {
	b.T.Helper()
	a, err := b.Sync(b.Ctx, chattest.As(user), req)
	b.Must(err)
	return a
}

// outline writes what matters of an answer in one line.
func outline(a live.SyncAnswer) string {
	var parts []string
	for _, g := range a.Groups {
		part := fmt.Sprintf("%s %d..%d/%d", g.Group, g.From, g.To, g.Last)
		if !g.Complete {
			part += " hole"
		}
		parts = append(parts, part)
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
	b.MakeGroup(chat.GroupDraft{ID: "busy"}, "alice", "bob")
	b.MakeGroup(chat.GroupDraft{ID: "quiet"}, "alice", "bob")
	b.MakeGroup(chat.GroupDraft{ID: "old"}, "alice", "bob")
	b.MakeGroup(chat.GroupDraft{ID: "open", Visibility: chat.Public}, "alice")
	for i := range 28 {
		b.Say("alice", "busy", fmt.Sprint(i))
	}
	b.Must(b.RemoveMember(b.Ctx, chattest.As("bob"), "old", "bob"))
	for _, c := range []struct {
		name string
		req  live.SyncRequest
		want string
	}{
		{"everything", live.SyncRequest{}, "busy 1..30/30, quiet 1..2/2"},
		{"shared fairly", live.SyncRequest{Limit: 10}, "busy 1..8/30, quiet 1..2/2"},
		{"the quiet one first", live.SyncRequest{Limit: 1}, "busy 1..0/30, quiet 1..1/2"},
		{"own positions", live.SyncRequest{After: map[string]string{"busy": "25", "quiet": "2"}}, "busy 26..30/30"},
		{"a position that cannot be read", live.SyncRequest{After: map[string]string{"busy": "x", "quiet": "0", "old": "y"}, InboxAfter: chat.Unreadable},
			"quiet 1..2/2, left old,  invalid_request, busy invalid_request"},
		{"the newest", live.SyncRequest{Limit: 5, Newest: true}, "busy 28..30/30 hole, quiet 1..2/2"},
		{"the newest where a position is known", live.SyncRequest{Limit: 5, Newest: true, After: map[string]string{"busy": "0"}}, "busy 1..3/30, quiet 1..2/2"},
		{"no room for the newest", live.SyncRequest{Limit: 1, Newest: true}, "quiet 2..2/2 hole"},
		{"only one", live.SyncRequest{Limit: 5, Only: []string{"busy", "busy"}}, "busy 1..5/30"},
		{"only others' ones", live.SyncRequest{Only: []string{"none", "open", "old", "quiet"}, After: map[string]string{"old": "1"}, Ack: map[string]chat.Position{"gone": chat.At(1)}},
			"quiet 1..2/2, left gone, left old, none not_found, open not_found"},
		{"the inbox alone", live.SyncRequest{Only: []string{}}, ""},
		{"a position of no log", live.SyncRequest{After: map[string]string{"busy": "x.30.-", "quiet": "2"}, Limit: 5}, "busy 1..5/30 hole"},
		{"what was left", live.SyncRequest{After: map[string]string{"busy": "30", "quiet": "2", "old": "1", "none": "0", "open": "1"}},
			"left none, left old, left open"},
		{"acks", live.SyncRequest{Ack: map[string]chat.Position{"busy": chat.At(29), "quiet": chat.At(3), "old": chat.At(1), "a b": chat.At(1)}}, "busy 30..30/30, quiet 1..2/2, left old, a b invalid_request, quiet out_of_range"},
		{"an ack below", live.SyncRequest{Ack: map[string]chat.Position{"busy": chat.At(3), "quiet": chat.At(-1)}}, "busy 30..30/30, quiet 1..2/2, quiet invalid_request"},
		{"the rest", live.SyncRequest{Ack: map[string]chat.Position{"busy": chat.At(30), "quiet": chat.At(2)}}, ""},
	} {
		if got := outline(b.sync("bob", c.req)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for name, req := range map[string]live.SyncRequest{"limit": {Limit: -1}, "wait": {WaitS: -1},
		"a group": {After: map[string]string{"a b": "1"}}, "only": {Only: []string{"a b"}}} {
		_, err := b.Sync(b.Ctx, chattest.As("bob"), req)
		b.Refused(name, err, chat.CodeInvalid)
	}
	idle := b.sync("bob", live.SyncRequest{})
	if idle.NextPollS == 0 {
		t.Error("a client that does not wait is told to ask at once")
	}
}

// A sync reads no more groups than its answer has or names, however many have something new, and what it does is counted.
func TestSyncReadsWhatItAnswers(t *testing.T) {
	const groups, named = 30, 2
	b := newBench(t, func(o *chat.Options) { o.Limits.PageBytesMax = named * 4 * 400 })
	for i := range groups {
		b.MakeGroup(chat.GroupDraft{ID: fmt.Sprint("g", i)}, "alice", "bob")
	}
	m := &chat.Meter{}
	a, err := b.Sync(chat.WithMeter(b.Ctx, m), chattest.As("bob"), live.SyncRequest{Limit: 1})
	b.Must(err)
	if got := b.steps.pulled.Load(); got != 1+named || len(a.Groups) != 1+named {
		t.Errorf("%d groups were read for an answer of %d, want %d", got, len(a.Groups), 1+named)
	}
	if got, want := m.Groups(), groups+(1+named)*chat.PageLooks; got != want {
		t.Errorf("%d looks were counted, want %d", got, want)
	}
	if n, ok := m.Index(); n != groups || !ok {
		t.Errorf("the index has %d groups, %v, want %d", n, ok, groups)
	}
	_, err = b.Sync(chat.WithMeter(b.Ctx, m), chattest.As("bob"), live.SyncRequest{Limit: 1, Only: []string{}})
	b.Must(err)
	if got := m.Groups(); got != 0 {
		t.Errorf("of the inbox alone: %d looks were counted", got)
	}
}

// Whatever the limit, going on from the cursors leads through every log once and to its end.
func TestSyncServesEverythingOnce(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Limits.PageBytesMax = 3000 })
	want := map[string]int64{}
	for i := range 7 {
		g := fmt.Sprintf("g%d", i)
		b.MakeGroup(chat.GroupDraft{ID: g}, "alice", "bob")
		for k := range i * i {
			b.Say("alice", g, strings.Repeat("x", 1+k*20))
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
			a := b.sync("bob", live.SyncRequest{After: after, Limit: limit})
			total, more := 0, false
			for _, g := range a.Groups {
				if g.From != at[g.Group]+1 || g.To != g.From-1+int64(len(g.Messages)) || !g.Complete {
					t.Fatalf("limit %d: %s is at %d, is served %d..%d, complete %v", limit, g.Group, at[g.Group], g.From, g.To, g.Complete)
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
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	b.Must(b.Store.DropUserGroup(b.Ctx, "bob", "g"))
	if got := outline(b.sync("bob", live.SyncRequest{After: map[string]string{"g": "0"}})); got != "g 1..2/2" {
		t.Errorf("got %q", got)
	}
	// A hint above the truth, from another life of the group, hides nothing either.
	b.Must(b.Store.AddUserGroups(b.Ctx, []string{"bob"}, chat.UserGroup{Group: "g", Seen: 100}))
	if got := outline(b.sync("bob", live.SyncRequest{})); got != "g 1..2/2" {
		t.Errorf("got %q", got)
	}
	b.Must(b.Store.DropUserGroup(b.Ctx, "bob", "g"))
	b.Must(b.Store.AddUserGroups(b.Ctx, []string{"bob"}, chat.UserGroup{Group: "g"}))
	ctx, stop := context.WithCancel(b.Ctx)
	done := make(chan error)
	go func() { done <- b.Bench.Run(ctx) }()
	_, err := b.Ack(b.Ctx, chattest.As("bob"), "g", chat.At(2))
	b.Must(err)
	stop()
	<-done //nolint:errcheck // nothing but that it was stopped
	index, err := b.Store.UserGroups(b.Ctx, "bob")
	b.Must(err)
	if want := []chat.UserGroup{{Group: "g", Seen: 2}}; !slices.Equal(index, want) {
		t.Errorf("index: got %+v, want %+v", index, want)
	}
}

// A long poll answers with what comes after it has looked, whether it waits by then or not.
func TestSyncWaits(t *testing.T) {
	for _, between := range []bool{true, false} {
		b := newBench(t, func(o *chat.Options) { signalsOnly(&o.Limits) })
		b.run()
		b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
		b.sync("bob", live.SyncRequest{Ack: map[string]chat.Position{"g": chat.At(2)}})
		for _, c := range []struct {
			name string
			do   func()
			want string
		}{
			{"a message", func() { b.Say("alice", "g", "hi") }, "g 3..3/3"},
			{"an item", func() {
				_, _, err := b.SendDirect(b.Ctx, chattest.As("alice"), "bob", chat.Direct{Body: ptr("psst")})
				b.Must(err)
			}, "inbox 1..1/1"},
			{"another group", func() { b.MakeGroup(chat.GroupDraft{ID: "h"}, "alice", "bob") }, "h 1..2/2"},
			{"a message there", func() { b.Say("alice", "h", "hi") }, "h 3..3/3"},
		} {
			a, err := b.syncAfterLooking(c.do, between)
			if got := outline(a); err != nil || got != c.want {
				t.Errorf("%s (before it waits: %v): got %q, %v, want %q", c.name, between, got, err, c.want)
			}
			ack := live.SyncRequest{Ack: map[string]chat.Position{}}
			for _, g := range a.Groups {
				ack.Ack[g.Group] = chat.At(g.Last)
			}
			if a.Inbox != nil {
				ack.InboxAck = a.Inbox.Position()
			}
			b.sync("bob", ack)
		}
	}
}

// syncAfterLooking makes a long poll of bob and calls do once the poll has looked and found nothing: before it goes on to
// wait, or from then on.
func (b *bench) syncAfterLooking(do func(), between bool) (live.SyncAnswer, error) {
	if between {
		b.steps.afterLook(do)
		return b.Sync(b.Ctx, chattest.As("bob"), live.SyncRequest{WaitS: 60})
	}
	looked, done := make(chan struct{}), make(chan struct{})
	b.steps.afterLook(func() { close(looked) })
	var a live.SyncAnswer
	var err error
	go func() {
		defer close(done)
		a, err = b.Sync(b.Ctx, chattest.As("bob"), live.SyncRequest{WaitS: 60})
	}()
	<-looked
	do()
	<-done
	return a, err
}

func TestSyncWaitEnds(t *testing.T) {
	b := newBench(t)
	b.run()
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	b.sync("bob", live.SyncRequest{Ack: map[string]chat.Position{"g": chat.At(2)}})
	began := time.Now()
	if got := outline(b.sync("bob", live.SyncRequest{WaitS: 1})); got != "" || time.Since(began) < time.Second {
		t.Errorf("nothing new: got %q after %v", got, time.Since(began))
	}
	gone, cancel := context.WithCancel(b.Ctx)
	cancel()
	if _, err := b.Sync(gone, chattest.As("bob"), live.SyncRequest{WaitS: 20}); chat.CodeOf(err) == chat.CodeInternal {
		t.Errorf("a client that is gone: %v", err)
	}
}

// An answer is bounded in bytes, groups and inbox together, however many of them are large; and all of it comes in the end.
func TestSyncAnswersAreBounded(t *testing.T) {
	const groups, each, items = 40, 3, 60
	b := newBench(t)
	body := strings.Repeat("x", 16<<10)
	content := chat.Content{Body: &body, Data: []byte(`"` + body[2:] + `"`)}
	keep := int64(each + 2)
	for i := range groups {
		group := fmt.Sprintf("g%02d", i)
		b.MakeGroup(chat.GroupDraft{ID: group, Keep: &keep}, "bob", "alice")
		for range each {
			_, err := b.Send(b.Ctx, chattest.As("bob"), group, content, "")
			b.Must(err)
		}
	}
	for range items {
		_, _, err := b.SendDirect(b.Ctx, chattest.As("bob"), "alice", chat.Direct{Body: &body, Data: content.Data})
		b.Must(err)
	}
	after := map[string]string{}
	req := live.SyncRequest{After: after, Limit: 1000}
	served, got := 0, 0
	for round := 0; served < groups*(each+2) || got < items; round++ {
		if round > 20 {
			t.Fatalf("after %d answers: %d messages and %d items, want %d and %d", round, served, got, groups*(each+2), items)
		}
		a := b.sync("alice", req)
		bytes := 0
		for _, g := range a.Groups {
			bytes += 250
			for _, m := range g.Messages {
				bytes += len(m.JSON) + 1
			}
			served += len(g.Messages)
			after[g.Group] = g.Cursor
		}
		if a.Inbox != nil {
			for _, item := range a.Inbox.Items {
				bytes += len(item.JSON) + 1
			}
			got += len(a.Inbox.Items)
			pos, err := chat.ParsePosition(a.Inbox.Cursor)
			b.Must(err)
			req.InboxAfter = pos
		}
		if bytes > 1<<20 {
			t.Errorf("answer %d has %d bytes, want at most 1 MiB", round, bytes)
		}
	}
}
