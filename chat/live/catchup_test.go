package live

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
)

// session is a follower without a store, with a line at the end of 3..5 of the log of each group.
func session(groups ...string) *Follower {
	limits := chat.DefaultLimits()
	s := &Service{hub: newHub(nil, limits, slog.New(slog.DiscardHandler)), limits: limits, log: slog.New(slog.DiscardHandler)}
	f := &Follower{service: s, by: chat.Caller{User: "ann"}, pending: newPending("ann", false), perRound: roundBegin, perInbox: roundItemsBegin}
	for _, g := range groups {
		fd := newFeed(g, 8)
		fd.ring.begin("e", 2)
		for _, m := range texts(3, 5, "m") {
			fd.ring.push(m)
		}
		l := &line{interest: interest{feed: fd, pending: f.pending}, pos: at(5, "m"), verified: true, last: 5}
		l.line = l
		fd.add(&l.interest)
		f.follow([]*interest{&l.interest})
	}
	return f
}

// standAt puts the line of a group elsewhere, and has it looked at.
func (f *Follower) standAt(group string, id int64) {
	l := f.lines.of(group)
	l.pos.ID = id
	f.queue(l)
}

func names(lines []*line) string {
	var names []string
	for _, l := range lines {
		names = append(names, l.group())
	}
	return strings.Join(names, " ")
}

// outlines says what events are of.
func outlines(events ...Event) string {
	var list []string
	for _, e := range events {
		switch {
		case e.Messages != nil:
			list = append(list, fmt.Sprintf("%s %d..%d", e.Messages.Group, e.Messages.From, e.Messages.To))
		case e.Inbox != nil:
			list = append(list, fmt.Sprintf("inbox %d..%d", e.Inbox.From, e.Inbox.To))
		case e.Joined != "":
			list = append(list, "joined "+e.Joined)
		default:
			list = append(list, "left "+e.Left)
		}
	}
	return strings.Join(list, ", ")
}

// TestFollowerPlan says what a session reads next.
func TestFollowerPlan(t *testing.T) {
	all := func(f *Follower) {
		f.index, f.inboxDue = true, true
		f.checkGroup("x")
		f.standAt("a", 1)
	}
	for _, row := range []struct {
		what  string
		known func(*Follower)
		want  string
		todo  string
	}{
		{"nothing to do", func(*Follower) {}, "", ""},
		{"all at once", all, "index", "a"},
		{"all but the index", func(f *Follower) { all(f); f.index = false }, "check x", "a"},
		{"the inbox and a group", func(f *Follower) { f.inboxDue = true; f.standAt("a", 1) }, "inbox", "a"},
		{"a group after a round of the inbox", func(f *Follower) { f.inboxDue, f.turn = true, 1; f.standAt("a", 1) }, "ask a", ""},
		{"the inbox again, where the groups have nothing", func(f *Follower) { f.inboxDue, f.turn = true, 1 }, "inbox", ""},
		{"groups behind, in memory and with everything", func(f *Follower) {
			f.standAt("a", 1)
			f.standAt("b", 3)
			f.standAt("c", 5)
		}, "ask a", "b"},
		{"a group that others are behind in, too", func(f *Follower) {
			f.standAt("a", 1)
			f.standAt("b", 1)
			for range warmReaders - 1 {
				f.lines.of("b").feed.add(&interest{pending: f.pending})
			}
		}, "warm b ask a", ""},
		{"a group that was left", func(f *Follower) { f.standAt("a", 1); f.drop(f.lines.of("a")) }, "", ""},
		{"a membership that the session is not about", func(f *Follower) {
			f.scope = &scope{only: []string{"a", "b"}}
			f.checkGroup("x")
			f.checkGroup("a")
		}, "check a", ""},
	} {
		f := session("a", "b", "c")
		row.known(f)
		r := f.plan()
		var got []string
		if r.index {
			got = append(got, "index")
		}
		if r.inbox {
			got = append(got, "inbox")
		}
		if len(r.groups) > 0 {
			got = append(got, "check", strings.Join(r.groups, " "))
		}
		if len(r.warm) > 0 {
			got = append(got, "warm", names(r.warm))
		}
		if len(r.ask) > 0 {
			got = append(got, "ask", names(r.ask))
		}
		if len(r.ask) > 0 && f.turn != 0 {
			t.Errorf("%s: after this round it is not the turn of the inbox", row.what)
		}
		if got, todo := strings.Join(got, " "), names(f.todo); got != row.want || todo != row.todo {
			t.Errorf("%s: got %q and then %q, want %q and %q", row.what, got, todo, row.want, row.todo)
		}
	}
	var many []string
	for i := range roundGroups + 1 {
		many = append(many, fmt.Sprintf("g%03d", i))
	}
	f := session(many...)
	for _, g := range many {
		f.standAt(g, 1)
		f.checkGroup(g)
	}
	if r := f.plan(); len(r.groups) != roundGroups {
		t.Errorf("a round checks %d groups, want %d", len(r.groups), roundGroups)
	}
	clear(f.check)
	if r := f.plan(); len(r.ask) != roundGroups || len(f.todo) != 1 {
		t.Errorf("a round reads %d groups and leaves %d, want %d and 1", len(r.ask), len(f.todo), roundGroups)
	}
}

// TestPagesAreShared says how much is read for each of the lines that lack so many messages.
func TestPagesAreShared(t *testing.T) {
	for _, row := range []struct {
		most int
		lack []int64
		want []int // the others wait
	}{
		{512, []int64{600}, []int{512}},
		{512, []int64{10, 600}, []int{10, 256}},
		{512, []int64{0, 3}, []int{1, 3}},
		{120, []int64{600, 600, 600, 600}, []int{50, 50, 20}},
		{8, []int64{600, 600}, []int{8}},
	} {
		var lines []*line
		for _, n := range row.lack {
			l := session("g").lines[0]
			l.pos.ID, l.last = 1000-n, 1000
			lines = append(lines, l)
		}
		pages, later := planPages(lines, row.most)
		var got []int
		for i := range pages {
			p, _ := pages[i].of.Ask()
			got = append(got, p.Limit-1) // and the entry at the position
		}
		if !slices.Equal(got, row.want) || len(later) != len(lines)-len(got) {
			t.Errorf("%d for lines that lack %v: got %v, and %d wait; want %v", row.most, row.lack, got, len(later), row.want)
		}
	}
	l := session("g").lines[0]
	l.pos.ID = 2 // 3 less than the ring has
	if pages, _ := planPages([]*line{l}, 512); pages[0].gen != l.feed.ring.gen {
		t.Errorf("a page is of generation %d, want %d", pages[0].gen, l.feed.ring.gen)
	} else if p, _ := pages[0].of.Ask(); p.From != 2 || p.Limit != 4 {
		t.Errorf("got %d messages from %d on, want 4 from 2", p.Limit, p.From)
	}
}

func info(group, epoch string, last, seen int64) chat.Info {
	return chat.Info{Group: chat.Group{ID: group, Epoch: epoch, First: 1, Last: last, History: true}, Role: chat.Ordinary, Seen: seen}
}

// TestMembershipIsApplied: the index says where to look, and the groups themselves what is so.
func TestMembershipIsApplied(t *testing.T) {
	f := session("a", "b", "c")
	f.index = true
	f.applyIndex([]chat.UserGroup{{Group: "a"}, {Group: "c"}, {Group: "x"}})
	if got := slices.Sorted(maps.Keys(f.check)); f.index || !slices.Equal(got, []string{"b", "x"}) {
		t.Errorf("got %v checked, index due %v; want what one of the two lacks", got, f.index)
	}

	f = session("left", "other", "same")
	f.past = map[string]chat.Position{"again": at(4, "m"), "before": {Set: true, ID: 9, Epoch: "d"}}
	for _, g := range []string{"again", "before", "new"} {
		l := &line{interest: interest{feed: newFeed(g, 8), pending: f.pending}, last: 5}
		l.line = l
		f.follow([]*interest{&l.interest})
	}
	groups := []string{"again", "before", "left", "neither", "new", "other", "same"}
	for _, g := range groups {
		f.checkGroup(g)
	}
	f.applyMembership(groups, []chat.Info{
		info("again", "e", 5, 4), info("before", "e", 5, 2), {}, {}, info("new", "e", 5, 5), info("other", "f", 5, 2), info("same", "e", 5, 5),
	})
	if got, want := outlines(f.out...), "joined again, joined before, left left, joined new"; got != want {
		t.Errorf("the session gets %q, want %q", got, want)
	}
	if got, want := names(f.todo), "again before other same"; got != want || len(f.check) > 0 {
		t.Errorf("to be looked at: %q, to be checked: %v; want %q and none", got, f.check, want)
	}
	where := map[string]chat.Position{
		"again": at(4, "m"), "before": at(2, ""), "new": at(5, ""), "other": {Set: true, Epoch: "f"}, "same": at(5, "m"),
	}
	for g, want := range where {
		if l := f.lines.of(g); l == nil || l.pos != want || l.gapPending != (g == "other") {
			t.Errorf("%s: the line is %+v, want it at %+v", g, l, want)
		}
	}
	if l := f.lines.of("left"); l != nil || f.past["left"] != at(5, "m") || len(f.past) != 1 {
		t.Errorf("the line that was left is %+v, remembered are %v", l, f.past)
	}
}

// TestInboxIsApplied: items fill a round, and the groups are next.
func TestInboxIsApplied(t *testing.T) {
	f := session()
	f.inboxDue = true
	batch := chat.InboxBatch{Epoch: "e", From: 1, To: 3, Last: 3, Complete: true, Cursor: chat.FormatPosition("e", 3, "m")}
	for seq := range 3 {
		item := fmt.Appendf(nil, `{"seq":%d,"body":%q}`, seq+1, strings.Repeat("x", 30<<10))
		batch.Items = append(batch.Items, chat.StoredItem{Mark: "m", JSON: item})
	}
	f.applyInbox(batch)
	if got := outlines(f.out...); got != "inbox 1..2" || !f.inboxDue || f.inboxPos != at(2, "m") || f.turn != roundBytesMax || f.perInbox != roundEntriesMin {
		t.Errorf("got %s, more %v after %+v, %d bytes for groups, then %d items", got, f.inboxDue, f.inboxPos, f.turn, f.perInbox)
	}
	f.out = nil
	f.applyInbox(chat.InboxBatch{Epoch: "e", From: 4, To: 3, Last: 3, Complete: true, Cursor: chat.FormatPosition("e", 3, "m")})
	if len(f.out) > 0 || f.inboxDue {
		t.Errorf("nothing new: got %s, more %v", outlines(f.out...), f.inboxDue)
	}
}

// TestInboxTakesTurns: after a round of the inbox come the groups, as much as a round holds, and then the inbox again.
func TestInboxTakesTurns(t *testing.T) {
	f := session("a", "b", "c")
	for _, l := range f.lines {
		m := text(6, "m")
		m.JSON = make([]byte, roundBytesMax/2)
		l.feed.ring.take("e", m, nil)
		f.queue(l)
	}
	f.applyInbox(chat.InboxBatch{Epoch: "e", From: 1, To: 1, Last: 2, HasMore: true, Complete: true, Cursor: chat.FormatPosition("e", 1, "m"),
		Items: []chat.StoredItem{{Mark: "m", JSON: []byte(`{"seq":1}`)}}})
	var got []string
	for e, ok, behind := f.Ready(); ok || !behind; e, ok, behind = f.Ready() {
		got = append(got, outlines(e))
	}
	if got, want := strings.Join(got, ", "), "inbox 1..1, a 6..6, b 6..6"; got != want || !f.plan().inbox {
		t.Errorf("got %s before the next round of the inbox, want %s", got, want)
	}
	f.turn = roundBytesMax
	if e, ok, _ := f.Ready(); !ok || e.Messages == nil || e.Messages.Group != "c" {
		t.Errorf("got %+v, want the message of c", e)
	}
	if e, ok, behind := f.Ready(); ok || !behind || !f.plan().inbox {
		t.Errorf("got %+v, behind %v; want the inbox read where the groups have nothing", e, behind)
	}
}

// TestPagesAreApplied: a round is given as far as it fits, and one group that cannot be read holds up no other.
func TestPagesAreApplied(t *testing.T) {
	f := session("broken", "gone", "large", "late", "read")
	var pages []page
	for _, l := range f.lines {
		l.pos.ID = 4
		of := answered(l.group(), l.pos, 9, 1, 5, 9)
		switch l.group() {
		case "broken":
			of = &chat.Reading{Err: chat.ErrUnavailable}
		case "gone":
			of = &chat.Reading{Err: chat.ErrNotFound}
		case "large":
			of.Messages[0].JSON = make([]byte, roundBytesMax)
		}
		pages = append(pages, page{l, *of, 1})
	}
	slices.SortFunc(pages, func(a, b page) int { // what comes after the large one has to wait
		order := []string{"read", "broken", "gone", "large", "late"}
		return slices.Index(order, a.line.group()) - slices.Index(order, b.line.group())
	})
	if err := f.applyPages(pages); err != nil {
		t.Fatal(err)
	}
	if got, want := outlines(f.out...), "read 5..5, left gone, large 5..5"; got != want {
		t.Errorf("the session gets %q, want %q", got, want)
	}
	if got, want := names(f.todo), "late"; got != want {
		t.Errorf("to be read again: %q, want %q", got, want)
	}
	if unread := f.lines.of("broken").feed.unread; len(unread) != 1 || f.lines.of("gone") != nil {
		t.Errorf("to be looked at after the next safety check: %v; the line that is gone: %v", unread, f.lines.of("gone"))
	}
	if f.perRound != roundEntriesMin {
		t.Errorf("the next round asks for %d messages, want %d: these were large", f.perRound, roundEntriesMin)
	}
}
