package archive_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/chattest"
)

// TestArchiveOvertaken: a node is held up while it writes what it has read of a log. The log loses that, another node archives what
// came instead, and the store trims it: then nobody but the archive has it, and what the first node writes must not replace it.
func TestArchiveOvertaken(t *testing.T) {
	for name, c := range map[string]struct{ lost, sent int }{
		"entries of the same ids": {5, 5}, "more entries": {3, 8}, "fewer entries": {5, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			keep := int64(0)
			b.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep}, "ann")
			before := b.lag("g").Last
			b.Must(b.CatchUp(b.Ctx, "g", before))
			for range c.lost {
				b.Say("ann", "g", "lost")
			}
			slow := &stalled{Archive: b.db, adding: make(chan struct{}), goOn: make(chan struct{})}
			ended := make(chan error, 1)
			go func() { ended <- b.archiver(slow).CatchUp(b.Ctx, "g", chat.IDMax) }()
			receive(t, "entries are added", slow.adding)
			b.loseEnd("g", int64(c.lost), 0)
			var last int64
			for range c.sent {
				last = b.Say("ann", "g", "instead").ID
			}
			b.Must(b.CatchUp(b.Ctx, "g", last))
			b.ack("ann", "g", last)
			b.trimmed("g", keep)
			close(slow.goOn)
			if err := receive(t, "catching up ends", ended); err != nil && !errors.Is(err, chat.ErrConflict) {
				t.Error(err)
			}
			b.Must(b.CatchUp(b.Ctx, "g", chat.IDMax))
			entries := b.inArchive("g")
			if int64(len(entries)) != last {
				t.Errorf("the archive has %d entries, want %d", len(entries), last)
			}
			for _, e := range entries[before:] {
				if e.Body == nil || *e.Body != "instead" {
					t.Errorf("entry %d of the archive is %+v", e.ID, e)
				}
			}
		})
	}
}

// anotherLife is an archive into which another node writes first, so that its version is asked for. Then the group begins again.
type anotherLife struct {
	*chattest.Archive
	begin    func()
	versions []int64 // that writes had
}

func (a *anotherLife) Add(ctx context.Context, batches []archive.Batch) error {
	for _, b := range batches {
		a.versions = append(a.versions, b.Version)
	}
	if len(a.versions) == 1 {
		return chat.ErrConflict
	}
	return a.Archive.Add(ctx, batches)
}

func (a *anotherLife) Version(context.Context, archive.Log) (int64, error) {
	a.begin()
	return 3, nil
}

// TestVersionOfAnotherLife: the version of one life of a group does not let a write into another replace anything.
func TestVersionOfAnotherLife(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	db := &anotherLife{Archive: b.db}
	db.begin = func() {
		b.Must(b.DeleteGroup(b.Ctx, chattest.As("ann"), "g"))
		b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	}
	b.Must(b.archiver(db).CatchUp(b.Ctx, "g", chat.IDMax))
	if want := []int64{0, 0}; !slices.Equal(db.versions, want) || len(b.inArchive("g")) != 1 {
		t.Errorf("it was written with versions %v, want %v", db.versions, want)
	}
}

// TestForgetOvertakesAdd: what was removed because of its age does not come back with a node that was held up.
func TestForgetOvertakesAdd(t *testing.T) {
	b := newBench(t)
	keep := int64(0)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep}, "ann")
	old := b.Say("ann", "g", "old").ID
	slow := &stalled{Archive: b.db, adding: make(chan struct{}), goOn: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- b.archiver(slow).CatchUp(b.Ctx, "g", chat.IDMax) }()
	receive(t, "entries are added", slow.adding)
	b.Must(b.CatchUp(b.Ctx, "g", old))
	b.ack("ann", "g", old)
	b.trimmed("g", keep)
	b.Must(b.Forget(b.Ctx, "g", b.lag("g").Epoch, old+1))
	close(slow.goOn)
	if err := receive(t, "catching up ends", ended); err != nil && !errors.Is(err, chat.ErrConflict) {
		t.Error(err)
	}
	if got := b.inArchive("g"); len(got) != 0 {
		t.Errorf("the archive has %+v again", got)
	}
}

// TestChangesAfterALostEdit: the archive keeps what an edit made of a message although the store has lost the edit. What took its
// place in the log is not deleted with the message, and the message can be edited again.
func TestChangesAfterALostEdit(t *testing.T) {
	for name, archivedBefore := range map[string]bool{"archived at once": true, "archived later": false} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Service = chat.New(archive.Serve(b.Store, b.db, b.CatchUp, chat.DefaultLimits()), b.Options())
			keep := int64(0)
			b.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep}, "ann", "bob")
			target := b.Say("ann", "g", "first").ID
			b.Must(b.CatchUp(b.Ctx, "g", target))
			b.ack("ann", "g", target)
			b.ack("bob", "g", target)
			b.trimmed("g", keep)
			change := func(kind chat.Kind, body *string) int64 {
				return b.send("ann", "g", chat.Content{Kind: kind, Target: target, Body: body}).ID
			}
			for _, body := range []string{"lost", "lost too", "and lost"} {
				change(chat.Edit, &body)
			}
			b.Must(b.CatchUp(b.Ctx, "g", target+3))
			b.loseEnd("g", 3, 3)
			if id := b.Say("bob", "g", "of bob").ID; id != target+1 {
				t.Fatalf("the message got the id %d, want that of the first edit, %d", id, target+1)
			}
			if archivedBefore {
				b.Must(b.CatchUp(b.Ctx, "g", target+1))
			}
			again := "again"
			change(chat.Edit, &again)
			if e := b.At("bob", "g", target); e.Body == nil || *e.Body != again {
				t.Errorf("after another edit it reads %s", chat.Encode(e))
			}
			change(chat.Delete, nil)
			if e := b.At("bob", "g", target); e.Body != nil {
				t.Errorf("after its deletion it reads %s", chat.Encode(e))
			}
			if e := b.At("bob", "g", target+1); e.Body == nil || *e.Body != "of bob" {
				t.Errorf("what took the place of an edit reads %s", chat.Encode(e))
			}
		})
	}
}

// TestReactionsAfterALostReaction: the archive knows of a reaction that the store has lost. Who reacts so again is not told that it
// is there, whether its place in the log is empty or has another entry.
func TestReactionsAfterALostReaction(t *testing.T) {
	for name, overtaken := range map[string]bool{"its place is empty": false, "its place has another entry": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			serving := archive.Serve(b.Store, b.db, b.CatchUp, chat.DefaultLimits())
			b.Service = chat.New(serving, b.Options())
			keep := int64(0)
			b.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep}, "ann", "bob")
			target := b.Say("ann", "g", "first").ID
			b.Must(b.CatchUp(b.Ctx, "g", target))
			b.ack("ann", "g", target)
			b.ack("bob", "g", target)
			b.trimmed("g", keep)
			react := chat.Content{Kind: chat.Reaction, Target: target, Emoji: ":a:"}
			b.send("bob", "g", react)
			b.Must(b.CatchUp(b.Ctx, "g", target+1))
			b.loseEnd("g", 1, 1)
			b.Must(b.Store.Client().HDel(b.Ctx, b.Store.Prefix()+":{p00}:g:g:meta", "late", "changed").Err())
			want := target + 1
			if overtaken {
				want = b.Say("ann", "g", "in its place").ID + 1
			}
			if again := b.send("bob", "g", react); again.ID != want || again.Duplicate {
				t.Errorf("reacting again: got id %d, duplicate %v; want %d", again.ID, again.Duplicate, want)
			}
			counts, err := serving.Reactions(b.Ctx, "g", "bob", target, target)
			b.Must(err)
			if got := counts[target][":a:"]; got != (chat.ReactionCount{Count: 1, Mine: true}) {
				t.Errorf("got %+v", counts)
			}
		})
	}
}
