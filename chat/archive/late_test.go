package archive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/chattest"
)

// late sends a change of an entry.
func (s *served) late(user, group string, c chat.Content) (chat.Sent, error) {
	return s.Send(s.Ctx, chattest.As(user), group, c, "")
}

func edit(target int64, body string) chat.Content {
	return chat.Content{Kind: chat.Edit, Target: target, Body: &body}
}

func reaction(target int64, emoji string) chat.Content {
	return chat.Content{Kind: chat.Reaction, Target: target, Emoji: ":" + emoji + ":"}
}

func TestEditsAndDeletionsOfArchivedMessages(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.archive("g", 12)
	_, err := s.late("ann", "g", edit(4, "second")) // 13
	s.Must(err)
	s.equal(*s.At("bob", "g", 4).Body, "second")
	keyed := edit(4, "third")
	keyed.ClientID = "k"
	sent, err := s.late("ann", "g", keyed) // 14
	s.Must(err)
	again, err := s.late("ann", "g", keyed)
	s.Must(err)
	s.equal([]any{again.ID, again.Duplicate}, []any{sent.ID, true})
	s.equal(*s.At("bob", "g", 4).Body, "third")
	_, err = s.late("bob", "g", edit(4, "of another"))
	s.Refused("another's message", err, chat.CodeForbidden)
	_, err = s.late("ann", "g", edit(1, "of a notice"))
	s.Refused("a notice", err, chat.CodeInvalid)
	_, err = s.late("ann", "g", edit(99, "of nothing"))
	s.Refused("beyond the end", err, chat.CodeNotFound)

	s.seen("g", 14, "ann", "bob")
	s.archive("g", 14)
	s.Say("ann", "g", "15")
	s.Say("ann", "g", "16")
	s.seen("g", 16, "ann", "bob")
	s.archive("g", 16) // 13 is trimmed, 14 is held
	s.Must(err0(s.late("ann", "g", chat.Content{Kind: chat.Delete, Target: 4})))
	for _, id := range []int64{4, 13, 14} {
		if e := s.At("bob", "g", id); e.Body != nil {
			t.Errorf("after the deletion %d says %q", id, *e.Body)
		}
	}
	_, err = s.late("ann", "g", edit(4, "deleted"))
	s.Refused("what is deleted", err, chat.CodeNotFound)
	_, err = s.late("ann", "g", reaction(4, "a"))
	s.Refused("a reaction to what is deleted", err, chat.CodeNotFound)
}

func err0(_ chat.Sent, err error) error { return err }

func TestReactionsToArchivedMessages(t *testing.T) {
	s := newServed(t, func(l *chat.Limits) { l.EmojisMax = 2 })
	s.talk("g", 12, chat.GroupDraft{})
	_, err := s.late("bob", "g", reaction(5, "a")) // 13
	s.Must(err)
	s.seen("g", 13, "ann", "bob")
	s.archive("g", 13)
	again, err := s.late("bob", "g", reaction(5, "a"))
	s.Must(err)
	s.equal([]any{again.ID, again.Duplicate}, []any{13, true})
	sent, err := s.late("ann", "g", reaction(5, "b"))
	s.Must(err)
	s.equal([]any{sent.ID, sent.Duplicate}, []any{14, false})
	keyed := reaction(5, "b")
	keyed.ClientID = "k"
	for range 2 {
		again, err = s.late("ann", "g", keyed)
		s.Must(err)
		s.equal([]any{again.ID, again.Duplicate, again.SentAt}, []any{14, true, sent.SentAt})
	}
	_, err = s.late("ann", "g", reaction(5, "c"))
	s.Refused("too many emoji", err, chat.CodeConflict)
	_, err = s.late("ann", "g", chat.Content{Kind: chat.Reaction, Target: 5, Emoji: ":a:", Removed: true})
	s.Refused("a reaction that never was", err, chat.CodeNotFound)
	off := chat.Content{Kind: chat.Reaction, Target: 5, Emoji: ":a:", Removed: true}
	s.Must(err0(s.late("bob", "g", off))) // 15
	again, err = s.late("bob", "g", off)
	s.Must(err)
	s.equal([]any{again.ID, again.Duplicate}, []any{15, true})
	s.Must(err0(s.late("ann", "g", reaction(5, "c")))) // 16
	counts, err := s.serving.Reactions(s.Ctx, "g", "ann", 1, 16)
	s.Must(err)
	s.equal(counts, "map[5:map[:b::{1 true} :c::{1 true}]]")
	_, err = s.late("ann", "g", reaction(99, "a"))
	s.Refused("beyond the end", err, chat.CodeNotFound)
}

// TestChangesThatMeet: of two changes of one archived message at a time, the second is made of what the first has left.
func TestChangesThatMeet(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.archive("g", 12)
	s.late2(t, func(c *chat.Service) error {
		_, err := c.Send(s.Ctx, chattest.As("ann"), "g", edit(4, "mine"), "")
		return err
	}, func() { s.Must(err0(s.late("ann", "g", edit(4, "between")))) })
	e := s.At("bob", "g", 4)
	s.equal(*e.Body, "mine")
	messages, err := s.serving.Entries(s.Ctx, "g", []int64{4})
	s.Must(err)
	s.equal(messages[0].Edits, []int64{13, 14})

	s.late2(t, func(c *chat.Service) error {
		_, err := c.Send(s.Ctx, chattest.As("ann"), "g", reaction(5, "a"), "")
		return err
	}, func() { s.Must(err0(s.late("ann", "g", reaction(5, "a")))) })
	counts, err := s.serving.Reactions(s.Ctx, "g", "ann", 1, 16)
	s.Must(err)
	s.equal(counts, "map[5:map[:a::{1 true}]]")
	info, err := s.Info(s.Ctx, "ann", "g")
	s.Must(err)
	s.equal([]int64{info.Last, info.Late}, []int64{15, 15})
}

// late2 has something happen after the archive was read for the first time, and before the store is asked to write.
func (s *served) late2(t *testing.T, change func(*chat.Service) error, between func()) {
	t.Helper()
	once := &afterRead{Store: s.db, do: between}
	if err := change(chat.New(archive.Serve(s.Store, once, s.catchUp, s.Options().Limits), s.Options())); err != nil {
		t.Error(err)
	}
	s.equal(once.reads > 1, true)
}

type afterRead struct {
	archive.Store
	reads int
	do    func()
}

func (a *afterRead) after() {
	if a.reads++; a.reads == 1 {
		a.do()
	}
}

func (a *afterRead) Read(ctx context.Context, log archive.Log, span archive.Span) ([]chat.Message, error) {
	defer a.after()
	return a.Store.Read(ctx, log, span)
}

func (a *afterRead) Reacted(ctx context.Context, log archive.Log, target int64, user, emoji string) (archive.Reacted, error) {
	defer a.after()
	return a.Store.Reacted(ctx, log, target, user, emoji)
}

// TestAnotherLifeTakesNoLateChange: the target was read in the archive, and the group is another one now.
func TestAnotherLifeTakesNoLateChange(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.archive("g", 12)
	once := &afterRead{Store: s.db, do: func() {
		s.Must(s.DeleteGroup(s.Ctx, chattest.As("ann"), "g"))
		s.talk("g", 3, chat.GroupDraft{})
	}}
	c := chat.New(archive.Serve(s.Store, once, s.catchUp, s.Options().Limits), s.Options())
	_, err := c.Send(s.Ctx, chattest.As("ann"), "g", edit(7, "late"), "")
	s.Refused("an edit of the earlier life", err, chat.CodeNotFound)
	s.equal(s.after("bob", "g", "0", 9), "1,2,3 of 1..3 complete true more false")
}

// TestLateChangesNeedTheArchive: what is held can be changed without it.
func TestLateChangesNeedTheArchive(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.archive("g", 12)
	s.db.Away(true)
	for _, c := range []chat.Content{edit(4, "x"), reaction(4, "a"), {Kind: chat.Delete, Target: 4}} {
		_, err := s.late("ann", "g", c)
		s.Refused("a change without the archive", err, chat.CodeUnavailable)
	}
	for _, c := range []chat.Content{edit(11, "x"), reaction(11, "a"), {Kind: chat.Delete, Target: 12}} {
		s.Must(err0(s.late("ann", "g", c)))
	}
}

// TestAcksByCursorsOfArchivedMessages are compared with the archive.
func TestAcksByCursorsOfArchivedMessages(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.archive("g", 12)
	ack := func(cursor string) error {
		at, err := chat.ParsePosition(cursor)
		s.Must(err)
		_, err = s.Ack(s.Ctx, chattest.As("bob"), "g", at)
		return err
	}
	cursor := s.PullFrom("bob", "g", "4", 1).Cursor
	other := cursor[:len(cursor)-6] + "ABCabc"
	s.Must(ack(cursor))
	s.Refused("a cursor of a log that was rolled back", ack(other), chat.CodeConflict)
	edge := s.PullFrom("bob", "g", "8", 1).Cursor // of 9, which was trimmed last: the store knows its mark
	s.db.Away(true)
	s.Must(ack(other)) // it cannot be compared
	rewritten := edge[:len(edge)-6] + "ABCabc"
	s.Refused("a cursor of another log, where that is trimmed", ack(rewritten), chat.CodeConflict)
	s.Must(ack(edge))
	pulled := func(cursor string) []any {
		b := s.PullFrom("bob", "g", cursor, 1)
		return []any{b.From, b.Complete}
	}
	s.equal(pulled(edge), []any{10, true})
	s.db.Away(false)
	s.equal(pulled(rewritten), []any{1, false})
}

// TestUnreadMessagesOfTheArchive: what is seen and not read counts as unread also when only the archive has it, until it is
// read or deleted.
func TestUnreadMessagesOfTheArchive(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	unread := func() int64 {
		t.Helper()
		infos, err := s.Store.Infos(s.Ctx, "bob", []string{"g"})
		s.Must(err)
		return infos[0].Unread
	}
	was := unread()
	s.seen("g", 12, "ann", "bob")
	s.archive("g", 12)
	s.equal(unread(), was)
	_, err := s.late("ann", "g", chat.Content{Kind: chat.Delete, Target: 5})
	s.Must(err)
	s.equal(unread(), was-1)
	cursors, err := s.Read(s.Ctx, chattest.As("bob"), "g", chat.At(8))
	s.Must(err)
	s.equal(cursors.Unread, unread())
	cursors, err = s.Unread(s.Ctx, chattest.As("bob"), "g", 4)
	s.Must(err)
	s.equal([]int64{cursors.Read, cursors.Unread}, []int64{3, was - 2})
}

// TestArchivedReactionsUnderHold: what a deletion takes of reactions that the archive has is kept before, while a legal hold lasts.
func TestArchivedReactionsUnderHold(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(1))}, "alice")
	const n = 10
	target := b.send("alice", "g", chat.Content{Body: new("x")}).ID
	reactions := map[int64]string{}
	for i := range n {
		emoji := fmt.Sprintf(":e%d:", i)
		reactions[b.send("alice", "g", chat.Content{Kind: chat.Reaction, Target: target, Emoji: emoji}).ID] = emoji
	}
	b.ack("alice", "g", target+n)
	b.Must(b.CatchUp(b.Ctx, "g", chat.IDMax))
	if lag := b.lag("g"); lag.Held <= target+1 || lag.OnHold {
		t.Fatalf("got %+v", lag)
	}
	_, err := b.PutHold(b.Ctx, chattest.Operator("root"), "g", "a case")
	b.Must(err)
	b.Service = chat.New(archive.Serve(b.Store, b.db, b.CatchUp, chat.DefaultLimits()), b.Service.Options())
	deletion := b.send("alice", "g", chat.Content{Kind: chat.Delete, Target: target}).ID
	b.Must(b.CatchUp(b.Ctx, "g", chat.IDMax))
	kept, err := b.Store.Kept(b.Ctx, "g", target+1, target+n, 0)
	b.Must(err)
	for _, k := range kept {
		var e chat.Entry
		b.Must(json.Unmarshal(k.JSON, &e))
		if e.Emoji == "" || e.Emoji != reactions[k.ID] || k.Change != deletion {
			t.Errorf("of %d is kept %s", k.ID, k.JSON)
		}
		delete(reactions, k.ID)
	}
	if len(reactions) > 0 {
		t.Errorf("nothing is kept of %v", reactions)
	}
}
