package archive_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
)

// switchOff switches the archive off, as a node without one does at its start, and brings every group in line.
func (b *bench) switchOff() {
	b.T.Helper()
	off := archive.New(b.Store, nil, archive.Options{})
	b.Must(off.Switch(b.Ctx))
	chattest.Done(b.T, off.Handlers()[archive.TaskWalk], archive.WalkTask{ID: "db"})
}

// addLog archives an entry of a log that the store may not know.
func (b *bench) addLog(log archive.Log) {
	b.T.Helper()
	b.Must(b.db.Add(b.Ctx, []archive.Batch{{Log: log, Last: chat.IDMax,
		Messages: []chat.Message{{ID: 1, Mark: "m", JSON: []byte(`{"id":1,"kind":"text","body":"x"}`)}}}}))
}

// has waits until the archive has these logs, as "group epoch".
func (b *bench) has(want ...string) {
	b.T.Helper()
	slices.Sort(want)
	harness.Eventually(b.T, 20*time.Second, "the logs of the archive", func() error {
		if got := b.logs(); !slices.Equal(got, want) {
			return fmt.Errorf("got %d: %.300q, want %q", len(got), got, want)
		}
		return nil
	})
}

func (b *bench) logs() (list []string) {
	for _, log := range b.db.Logs() {
		list = append(list, log.Group+" "+log.Epoch)
	}
	slices.Sort(list)
	return list
}

func (b *bench) name(group string) string { return group + " " + b.lag(group).Epoch }

// TestArchiveDropsGroupsDeletedWhileOff: the archive that is switched on again drops the logs that ended meanwhile, and no others.
func TestArchiveDropsGroupsDeletedWhileOff(t *testing.T) {
	b := newBench(t)
	for _, g := range []string{"gone", "kept", "again"} {
		b.MakeGroup(chat.GroupDraft{ID: g}, "ann")
		b.Must(b.CatchUp(b.Ctx, g, 1))
	}
	for n := range 600 { // more than one step lists
		b.addLog(archive.Log{Group: fmt.Sprint("gone-", n), Epoch: "e"})
	}
	_, err := b.Store.BeginImport(b.Ctx, "past", "file", "under-way")
	b.Must(err)
	b.addLog(archive.Log{Group: "past", Epoch: "under-way"})
	b.switchOff()
	for _, g := range []string{"gone", "again"} {
		b.Must(b.DeleteGroup(b.Ctx, chattest.As("ann"), g))
	}
	_, err = b.Store.Cleanup(b.Ctx, "again", []string{"ann"})
	b.Must(err)
	b.MakeGroup(chat.GroupDraft{ID: "again"}, "ann")
	if n := len(b.logs()); n != 604 {
		t.Fatalf("the archive has %d logs, want 604", n)
	}

	b.Must(b.Switch(b.Ctx))
	b.work()
	b.has(b.name("kept"), b.name("again"), "past under-way")
}

// TestArchiveSparesWhatAStoreLost: a store that has lost everything while the archive was off knows no group that was archived.
// The archive may be the only copy.
func TestArchiveSparesWhatAStoreLost(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	b.Must(b.CatchUp(b.Ctx, "g", 1))
	lost := b.logs()
	compare := func(after string) {
		t.Helper()
		b.Must(b.Switch(b.Ctx))
		chattest.Done(t, b.Handlers()[archive.TaskCompare], archive.CompareTask{ID: "db", Pass: "p"})
		if n, err := b.Store.ArchiveWaiting(b.Ctx); err != nil || n != 0 || !slices.Equal(b.logs(), lost) {
			t.Errorf("%s: %d tasks, the archive has %q, %v", after, n, b.logs(), err)
		}
	}
	b.Must(b.Store.Client().FlushAll(b.Ctx).Err())
	compare("lost while it was on")
	b.switchOff()
	b.Must(b.Store.Client().FlushAll(b.Ctx).Err())
	compare("lost while it was off")
	b.switchOff()
	b.Must(b.Store.Client().Del(b.Ctx, b.Store.Prefix()+":{p00}:wants").Err())
	compare("a partition was lost while it was off")
	b.switchOff()
	b.Must(b.archiver(chattest.NewArchive("other")).Switch(b.Ctx))
	b.Must(archive.New(b.Store, nil, archive.Options{}).Switch(b.Ctx))
	compare("another archive was on meanwhile")
}

// lastPage is an archive whose list of logs has come to its end, where something happens.
type lastPage struct {
	*chattest.Archive
	then func()
}

func (l *lastPage) LogsAfter(context.Context, int64, int) ([]archive.Log, int64, error) {
	l.then()
	return nil, 0, nil
}

// TestArchiveSwitchedWhileItCompares: a pass that began before the archive was switched off and on again ends nothing, so that the
// next one finds what was deleted since.
func TestArchiveSwitchedWhileItCompares(t *testing.T) {
	b := newBench(t)
	_, err := b.Store.BeginImport(b.Ctx, "past", "file", "e")
	b.Must(err)
	b.addLog(archive.Log{Group: "past", Epoch: "e"})
	b.switchOff()
	b.Must(b.Switch(b.Ctx))
	slow := &lastPage{b.db, func() {
		b.switchOff()
		b.Must(b.Store.DiscardImport(b.Ctx, "past", "e"))
		b.Must(b.Switch(b.Ctx))
	}}
	old := chat.TaskRun{Payload: chat.Encode(archive.CompareTask{ID: "db", Pass: "old"})}
	b.Must(b.archiver(slow).Handlers()[archive.TaskCompare].Run(b.Ctx, old))
	b.work()
	b.has()
}

// TestArchiveComparesOnceItAnswers: a database that is away makes the task wait, without an attempt that counts.
func TestArchiveComparesOnceItAnswers(t *testing.T) {
	b := newBench(t)
	b.addLog(archive.Log{Group: "gone", Epoch: "e"})
	b.switchOff()
	b.Must(b.Switch(b.Ctx))
	task := archive.CompareTask{ID: "db", Pass: "p"}
	none := archive.New(b.Store, nil, archive.Options{}).Handlers()[archive.TaskCompare]
	if pause := chattest.Do(t, none, task); pause <= 0 {
		t.Error("a node without the archive has compared")
	}
	b.db.Away(true)
	if pause := chattest.Do(t, b.Handlers()[archive.TaskCompare], task); pause <= 0 {
		t.Error("the task does not wait for the database")
	}
	b.db.Away(false)
	b.work()
	b.has()
	harness.Eventually(t, 20*time.Second, "the pass has ended", func() error {
		if fields := b.Store.Client().HKeys(b.Ctx, b.Store.Prefix()+":{p00}:wants").Val(); slices.Contains(fields, "archive_back") {
			return fmt.Errorf("%q", fields)
		}
		return nil
	})
}
