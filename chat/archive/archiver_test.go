package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/store"
)

// bench is a core whose store is archived into memory. Nothing runs its tasks before work.
type bench struct {
	*chattest.Bench
	db *chattest.Archive
	*archive.Archiver
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{Bench: chattest.New(t, func(o *chat.Options) { o.Now = func() int64 { return time.Now().UnixMilli() } }),
		db: chattest.NewArchive("db")}
	b.Archiver = b.archiver(b.db)
	b.Must(b.Switch(b.Ctx))
	return b
}

// archiver is that of another node.
func (b *bench) archiver(db archive.Store) *archive.Archiver {
	return archive.New(b.Store, db, archive.Options{Delay: 10 * time.Millisecond})
}

// work runs the tasks.
func (b *bench) work() { chattest.Work(b.T, b.Store, b.Service, b.Archiver) }

// receive waits for the next value of a channel, or its end.
func receive[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	return harness.Receive(t, 20*time.Second, what, ch)
}

func (b *bench) lag(group string) archive.Lag {
	b.T.Helper()
	lag, err := b.Store.Unarchived(b.Ctx, group, 0)
	b.Must(err)
	return lag
}

// archived waits until a group is archived to its end.
func (b *bench) archived(group string) {
	b.T.Helper()
	harness.Eventually(b.T, 20*time.Second, group+" is archived", func() error {
		if lag, err := b.Store.Unarchived(b.Ctx, group, 0); err != nil || lag.Archived != lag.Last {
			return fmt.Errorf("%+v, %w", lag, err)
		}
		return nil
	})
}

// trimmed waits until a group holds no more than keep entries.
func (b *bench) trimmed(group string, keep int64) {
	b.T.Helper()
	harness.Eventually(b.T, 20*time.Second, group+" is trimmed", func() error {
		lag, err := b.Store.Unarchived(b.Ctx, group, 0)
		if n := lag.Last - lag.Held + 1; err != nil || n > keep {
			return fmt.Errorf("%d entries, %w", n, err)
		}
		return nil
	})
}

// inArchive are all entries of a group in the archive: the ids from 1 on, without a hole.
func (b *bench) inArchive(group string) []chat.Entry {
	b.T.Helper()
	log := archive.Log{Group: group, Epoch: b.lag(group).Epoch}
	list, err := b.db.Read(b.Ctx, log, archive.Span{From: 1, To: chat.IDMax, Limit: 1 << 20, BytesMax: 1 << 30})
	b.Must(err)
	entries := make([]chat.Entry, len(list))
	for i, m := range list {
		b.Must(json.Unmarshal(m.JSON, &entries[i]))
		if m.ID != int64(i+1) || entries[i].ID != m.ID {
			b.T.Fatalf("%s: entry %d of the archive is %s", group, i+1, m.JSON)
		}
	}
	return entries
}

func (b *bench) send(user, group string, c chat.Content) chat.Sent {
	b.T.Helper()
	sent, err := b.Send(b.Ctx, chattest.As(user), group, c, "")
	b.Must(err)
	return sent
}

func (b *bench) ack(user, group string, id int64) {
	b.T.Helper()
	_, err := b.Ack(b.Ctx, chattest.As(user), group, chat.At(id))
	b.Must(err)
}

// TestArchiveHoldsTheLog: while a group is used and trimmed, every entry is archived once and reads as it does at the end.
func TestArchiveHoldsTheLog(t *testing.T) {
	b := newBench(t)
	b.work()
	keep := int64(3)
	users := []string{"ann", "bob", "cid"}
	for _, g := range []string{"g", "h", "i"} {
		b.MakeGroup(chat.GroupDraft{ID: g, Keep: &keep}, users[0], users[1:]...)
	}
	want := map[string]map[int64]string{"g": {}, "h": {}, "i": {}}
	var mu sync.Mutex
	var sending sync.WaitGroup
	var reactions atomic.Int64
	for _, g := range []string{"g", "h", "i"} {
		for _, user := range users {
			sending.Go(func() {
				for n := range 30 {
					body := fmt.Sprintf("%s %d", user, n)
					id := b.send(user, g, chat.Content{Body: &body}).ID
					then := body
					change := chat.Content{Target: id}
					switch n % 5 {
					case 1:
						then += " edited"
						change.Kind, change.Body = chat.Edit, &then
					case 2:
						then = ""
						change.Kind = chat.Delete
					case 3:
						change.Kind, change.Emoji = chat.Reaction, ":x:"
					}
					if change.Kind != "" {
						_, err := b.Send(b.Ctx, chattest.As(user), g, change, "")
						switch {
						case chat.CodeOf(err) == chat.CodeNotFound: // everybody has acked it: it may be trimmed
							then = body
						case err != nil:
							t.Error(err)
						case change.Kind == chat.Reaction:
							reactions.Add(1)
						}
					}
					b.ack(user, g, id)
					if lag := b.lag(g); lag.Held > max(lag.Archived, 0)+1 {
						t.Errorf("%s: the store begins at %d, and the archive ends at %d", g, lag.Held, lag.Archived)
					}
					mu.Lock()
					want[g][id] = then
					mu.Unlock()
				}
			})
		}
	}
	sending.Wait()
	all := int64(0)
	for g, bodies := range want {
		last := b.lag(g).Last
		for _, user := range users {
			b.ack(user, g, last)
		}
		b.archived(g)
		b.trimmed(g, keep)
		entries := b.inArchive(g)
		if int64(len(entries)) != last {
			t.Fatalf("%s: got %d entries, want %d", g, len(entries), last)
		}
		for id, body := range bodies {
			if e := entries[id-1]; (e.Body == nil) != (body == "") || e.Body != nil && *e.Body != body {
				t.Errorf("%s: entry %d reads %s, want %q", g, id, chat.Encode(e), body)
			}
		}
		counts, err := b.db.Reactions(b.Ctx, b.lag(g).Log, "ann", 1, last)
		b.Must(err)
		reactions.Add(-int64(len(counts)))
		all += last
	}
	if n := reactions.Load(); n != 0 {
		t.Errorf("%d reactions are missing", n)
	}
	if got := b.Stats(); got.Failed != 0 || got.Entries != 0 || got.Archived < all {
		t.Errorf("stats: got %+v", got)
	}
}

// TestArchiveAway: while the database is away sends go on, nothing is trimmed, and one task waits for a group. After its return
// the backlog is taken over.
func TestArchiveAway(t *testing.T) {
	b := newBench(t)
	b.work()
	keep := int64(1)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep}, "ann")
	b.archived("g")
	b.db.Away(true)
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		b.ack("ann", "g", b.Say("ann", "g", "x").ID)
	}
	last := b.Say("ann", "g", "x").ID
	lag := b.lag("g")
	if lag.Held > lag.Archived+1 || lag.Last != last {
		t.Errorf("while the database is away: %+v", lag)
	}
	if err := b.CatchUp(b.Ctx, "g", last); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("catching up while the database is away: %v", err)
	}
	harness.Eventually(t, 20*time.Second, "one task waits for the group", func() error {
		if n, err := b.Store.ArchiveWaiting(b.Ctx); err != nil || n > 1 {
			return fmt.Errorf("%d, %w", n, err)
		}
		return nil
	})
	harness.Eventually(t, 20*time.Second, "the stats tell what waits", func() error {
		got := b.Stats()
		if got.Groups != 1 || got.FailedAt.IsZero() || got.Entries != lag.Entries() || got.Oldest < time.Second || got.Failed == 0 || b.AwaySince().IsZero() {
			return fmt.Errorf("%+v, want %d entries", got, lag.Entries())
		}
		return nil
	})
	b.db.Away(false)
	b.archived("g")
	b.ack("ann", "g", last)
	b.trimmed("g", keep)
	if n := len(b.inArchive("g")); int64(n) != last {
		t.Errorf("got %d entries, want %d", n, last)
	}
	if got := b.Stats(); got.Groups != 0 || got.Entries != 0 || !b.AwaySince().IsZero() {
		t.Errorf("stats after its return: %+v", got)
	}
}

// stalled is an archive whose next Add of entries waits, after they were read, until it is let go.
type stalled struct {
	*chattest.Archive
	adding, goOn chan struct{}
	once         sync.Once
}

func (s *stalled) Add(ctx context.Context, batches []archive.Batch) error {
	s.once.Do(func() {
		close(s.adding)
		<-s.goOn
	})
	return s.Archive.Add(ctx, batches)
}

// TestArchiveByTwoNodes: a node that is held up between reading and writing takes nothing away that another has archived since.
func TestArchiveByTwoNodes(t *testing.T) {
	b := newBench(t)
	keep := int64(0)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep}, "ann")
	slow := &stalled{Archive: b.db, adding: make(chan struct{}), goOn: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- b.archiver(slow).CatchUp(b.Ctx, "g", 1) }()
	receive(t, "entries are added", slow.adding)
	var last int64
	for range 10 {
		last = b.Say("ann", "g", "x").ID
	}
	b.Must(b.CatchUp(b.Ctx, "g", last))
	b.ack("ann", "g", last)
	b.trimmed("g", keep)
	close(slow.goOn)
	b.Must(receive(t, "catching up ends", ended))
	if n := len(b.inArchive("g")); int64(n) != last || b.lag("g").Archived != last {
		t.Errorf("got %d entries, archived up to %d; want %d", n, b.lag("g").Archived, last)
	}
}

// TestArchiveOfALogThatLostItsEnd: what the store has lost leaves the archive too, and other entries take its place, on a node
// that has archived them itself and on one that starts now.
func TestArchiveOfALogThatLostItsEnd(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		t.Run(fmt.Sprintf("fresh=%v", fresh), func(t *testing.T) {
			b := newBench(t)
			b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
			for range 4 {
				b.Say("ann", "g", "before")
			}
			last := b.send("ann", "g", chat.Content{Kind: chat.Reaction, Target: 3, Emoji: ":x:"}).ID
			b.Must(b.CatchUp(b.Ctx, "g", last))
			b.loseEnd("g", 2, 3)
			if fresh {
				b.Archiver = b.archiver(b.db)
			}
			b.Must(b.CatchUp(b.Ctx, "g", last-2))
			if n := len(b.inArchive("g")); int64(n) != last-2 || b.lag("g").Archived != last-2 {
				t.Errorf("got %d entries, archived up to %d; want %d", n, b.lag("g").Archived, last-2)
			}
			for range 2 {
				b.Say("ann", "g", "after")
			}
			b.Must(b.CatchUp(b.Ctx, "g", last))
			entries := b.inArchive("g")
			if int64(len(entries)) != last || *entries[last-1].Body != "after" || *entries[last-2].Body != "after" {
				t.Errorf("got %s", chat.Encode(entries))
			}
			counts, err := b.db.Reactions(b.Ctx, b.lag("g").Log, "ann", 1, last)
			if err != nil || len(counts) != 0 {
				t.Errorf("the lost reaction counts: %v, %v", counts, err)
			}
		})
	}
}

// inSteps is a store of which a step of an archiver reads five entries, and something happens before it is read for the n-th time.
type inSteps struct {
	*store.Store
	n    int
	then func()
}

func (s *inSteps) Unarchived(ctx context.Context, group string, _ int) (archive.Lag, error) {
	if s.n--; s.n == 0 {
		s.then()
	}
	return s.Store.Unarchived(ctx, group, 5)
}

// TestArchiveOfALogThatLosesItsEndMeanwhile: what a log loses between two steps of a run leaves the archive too.
func TestArchiveOfALogThatLosesItsEndMeanwhile(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	last := b.lag("g").Last
	for last < 12 {
		last = b.Say("ann", "g", "x").ID
	}
	steps := &inSteps{Store: b.Store, n: 3}
	steps.then = func() { b.loseEnd("g", 5, 4) } // it was archived up to 10: it ends at 7 now, and is archived up to 6
	b.Must(archive.New(steps, b.db, archive.Options{}).CatchUp(b.Ctx, "g", chat.IDMax))
	if n := len(b.inArchive("g")); n != 7 || b.lag("g").Archived != 7 || steps.n > 0 {
		t.Errorf("got %d entries, archived up to %d, want 7", n, b.lag("g").Archived)
	}
}

// TestArchiveForgetsWhatAnotherNodeArchived: what was lost leaves the archive although it was another node that had put it
// there, and this one goes on from where it was itself.
func TestArchiveForgetsWhatAnotherNodeArchived(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	before := b.Say("ann", "g", "stays").ID
	b.Must(b.CatchUp(b.Ctx, "g", before))
	for range 2 {
		b.Say("ann", "g", "lost")
	}
	lost := b.send("ann", "g", chat.Content{Kind: chat.Reaction, Target: before, Emoji: ":x:"}).ID
	b.Must(b.archiver(b.db).CatchUp(b.Ctx, "g", lost))
	b.loseEnd("g", lost-before, before)
	last := b.Say("ann", "g", "after").ID
	b.Must(b.CatchUp(b.Ctx, "g", last))
	if n := len(b.inArchive("g")); int64(n) != last {
		t.Errorf("got %d entries, want %d", n, last)
	}
	counts, err := b.db.Reactions(b.Ctx, b.lag("g").Log, "ann", 1, last)
	if err != nil || len(counts) != 0 {
		t.Errorf("the lost reaction counts: %v, %v", counts, err)
	}
}

// logReads counts how often entries are read of the store.
type logReads struct {
	*store.Store
	n atomic.Int64
}

func (s *logReads) Unarchived(ctx context.Context, group string, limit int) (archive.Lag, error) {
	if limit > 1 {
		s.n.Add(1)
	}
	return s.Store.Unarchived(ctx, group, limit)
}

// TestArchiveAwayReadsNothing: while the database is left alone, nobody reads what it would be given.
func TestArchiveAwayReadsNothing(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	reads := &logReads{Store: b.Store}
	a := archive.New(reads, b.db, archive.Options{})
	b.db.Away(true)
	task := chat.Encode(chat.GroupTask{Group: "g", Epoch: b.lag("g").Epoch})
	for range 500 {
		if err := a.CatchUp(b.Ctx, "g", 1); !errors.Is(err, chat.ErrUnavailable) {
			t.Fatalf("catching up: %v", err)
		}
		b.Must(a.Handlers()[archive.TaskArchive].Run(b.Ctx, chat.TaskRun{Payload: task}))
	}
	if n := reads.n.Load(); n == 0 || n > 50 {
		t.Errorf("the log was read %d times in 1000 runs", n)
	}
	if got := a.Stats(); got.Entries != 1 {
		t.Errorf("stats: %+v, want one entry that waits", got)
	}
}

// loseEnd takes the newest entries from a log, and puts its cursors where they were before.
func (b *bench) loseEnd(group string, entries, archivedBefore int64) {
	b.T.Helper()
	lag, base := b.lag(group), b.Store.Prefix()+":{p00}:g:"+group
	for _, err := range []error{
		b.Store.Client().ZRemRangeByScore(b.Ctx, base+":msgs", fmt.Sprint(lag.Last-entries+1), "+inf").Err(),
		b.Store.Client().DecrBy(b.Ctx, base+":id", entries).Err(),
		b.Store.Client().Eval(b.Ctx, `return redis.call('ZADD', KEYS[1], ARGV[1], '$archive')`, []string{base + ":seen"},
			lag.Archived-archivedBefore).Err(),
	} {
		b.Must(err)
	}
}

// TestArchiveSwitch: what is there when the archive is switched on is taken over, also where nothing comes any more. Switched
// off, nothing holds trimming back.
func TestArchiveSwitch(t *testing.T) {
	b := newBench(t)
	b.Must(archive.New(b.Store, nil, archive.Options{}).Switch(b.Ctx))
	keep := int64(1)
	groups := []string{"a", "b", "c"}
	for _, g := range groups {
		b.MakeGroup(chat.GroupDraft{ID: g, Keep: &keep}, "ann")
		b.ack("ann", g, b.Say("ann", g, "trimmed").ID)
		b.Say("ann", g, "kept")
	}
	b.work()
	b.Must(b.Switch(b.Ctx))
	for _, g := range groups {
		b.archived(g)
		first, err := b.Store.Client().HGet(b.Ctx, b.Store.Prefix()+":{p00}:g:"+g+":meta", "archived_from").Int64()
		if err != nil || first != 2 {
			t.Errorf("%s is archived from %d, %v; want 2", g, first, err)
		}
	}
	b.walked(true)
	other := b.archiver(chattest.NewArchive("other"))
	if err := other.Switch(b.Ctx); err == nil || !strings.Contains(err.Error(), "CHATD_ARCHIVE") {
		t.Errorf("another database: %v", err)
	}
	b.Must(archive.New(b.Store, nil, archive.Options{}).Switch(b.Ctx))
	b.walked(false)
	for _, g := range groups {
		if lag := b.lag(g); lag.Archived != -1 || lag.On {
			t.Errorf("%s after switching off: %+v", g, lag)
		}
	}
	// Now another one may have it: it begins with what is there.
	b.Must(other.Switch(b.Ctx))
	b.Must(other.CatchUp(b.Ctx, "a", 1))
	if lag := b.lag("a"); lag.Archived != lag.Last {
		t.Errorf("with another database: %+v", lag)
	}
}

func (b *bench) walked(on bool) {
	b.T.Helper()
	harness.Eventually(b.T, 20*time.Second, "every group is in line", func() error {
		if s, err := b.Store.ArchiveState(b.Ctx); err != nil || s.On != on || !s.Walked {
			return fmt.Errorf("%+v, %w", s, err)
		}
		return nil
	})
}

// TestArchiveDropsDeletedGroups: the log of a group that is gone goes, also where its entries were written after that.
func TestArchiveDropsDeletedGroups(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	slow := &stalled{Archive: b.db, adding: make(chan struct{}), goOn: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- b.archiver(slow).CatchUp(b.Ctx, "g", 1) }()
	receive(t, "entries are added", slow.adding)
	b.Must(b.DeleteGroup(b.Ctx, chattest.As("ann"), "g"))
	close(slow.goOn)
	if err := receive(t, "catching up ends", ended); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("catching up with a group that is deleted meanwhile: %v", err)
	}
	if logs := b.db.Logs(); len(logs) != 0 {
		t.Errorf("%v are left", logs)
	}
	b.MakeGroup(chat.GroupDraft{ID: "h"}, "ann")
	b.Must(b.CatchUp(b.Ctx, "h", 1))
	b.Must(b.DeleteGroup(b.Ctx, chattest.As("ann"), "h"))
	b.work()
	harness.Eventually(t, 20*time.Second, "the log is gone", func() error {
		if logs := b.db.Logs(); len(logs) != 0 {
			return fmt.Errorf("%v", logs)
		}
		return nil
	})
}

// TestArchiveTasksOfOtherNodes: a node without an archive leaves the tasks to the others, as long as there are any.
func TestArchiveTasksOfOtherNodes(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	off := archive.New(b.Store, nil, archive.Options{}).Handlers()
	task := chat.GroupTask{Group: "g", Epoch: b.lag("g").Epoch}
	raw, err := json.Marshal(task)
	b.Must(err)
	b.Must(off[archive.TaskArchive].Run(b.Ctx, chat.TaskRun{Payload: raw}))
	if n, err := b.Store.ArchiveWaiting(b.Ctx); err != nil || n != 1 {
		t.Errorf("got %d tasks, %v", n, err)
	}
	chattest.Done(t, b.Handlers()[archive.TaskArchive], task)
	if lag := b.lag("g"); lag.Archived != lag.Last {
		t.Errorf("got %+v", lag)
	}
	if err := archive.New(b.Store, nil, archive.Options{}).CatchUp(b.Ctx, "g", 1); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("catching up without an archive: %v", err)
	}
	chattest.RefuseGarbage(t, b.Handlers())
}

// TestArchiveSwitchedOffAndOnAgain: where the archiver has not left a group yet, nothing is trimmed that is not archived, so
// that it may go on there.
func TestArchiveSwitchedOffAndOnAgain(t *testing.T) {
	b := newBench(t)
	keep := int64(0)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep}, "ann")
	last := b.Say("ann", "g", "archived").ID
	b.Must(b.CatchUp(b.Ctx, "g", last))
	b.Must(archive.New(b.Store, nil, archive.Options{}).Switch(b.Ctx))
	for range 3 {
		last = b.Say("ann", "g", "while it is off").ID
	}
	b.ack("ann", "g", last)
	if lag := b.lag("g"); lag.Held > lag.Archived+1 {
		t.Errorf("the store begins at %d, and the archive ends at %d", lag.Held, lag.Archived)
	}
	b.Must(b.Switch(b.Ctx))
	b.Must(b.CatchUp(b.Ctx, "g", last))
	if n := len(b.inArchive("g")); int64(n) != last || b.lag("g").Held != last+1 {
		t.Errorf("got %d entries, the store begins at %d; want %d and %d", n, b.lag("g").Held, last, last+1)
	}
}

// TestArchiveOfAStoreThatLostEverything: the node that has the archive switches it on again.
func TestArchiveOfAStoreThatLostEverything(t *testing.T) {
	b := newBench(t)
	b.Must(b.Store.Client().FlushAll(b.Ctx).Err())
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	b.Must(b.Resume(b.Ctx))
	b.work()
	b.archived("g")
	// What someone has switched off stays off.
	b.Must(archive.New(b.Store, nil, archive.Options{}).Switch(b.Ctx))
	b.Must(b.Resume(b.Ctx))
	if lag := b.lag("g"); lag.On {
		t.Errorf("switched off: %+v", lag)
	}
}
