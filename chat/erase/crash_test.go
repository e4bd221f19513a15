package erase_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/erase"
)

var errDied = errors.New("the node died")

// dying is a store in which a node dies: its calls that write fail from the n-th on.
type dying struct {
	erase.Store
	n      int
	halves bool // a call for inboxes gets to half of them
	late   bool // it dies right after what the n-th call erases
}

// dead tells whether it died before this call.
func (d *dying) dead() bool { return d.n < -1 || !d.late }

func (d *dying) dies() bool {
	d.n--
	return d.n < 0
}

func (d *dying) MoveErasure(ctx context.Context, r erase.Record, p erase.Progress) error {
	if d.dies() {
		return errDied
	}
	return d.Store.MoveErasure(ctx, r, p)
}

func (d *dying) ErasePerson(ctx context.Context, user string) (bool, error) {
	if d.dies() {
		return false, errDied
	}
	return d.Store.ErasePerson(ctx, user)
}

func (d *dying) EraseInboxes(ctx context.Context, erasure, from string, at []erase.At, deletedAt chat.Time) ([]erase.At, error) {
	dies := d.dies()
	if dies && d.dead() {
		return nil, errDied
	}
	half := (len(at) + 1) / 2
	if !d.halves {
		half = len(at)
	}
	rest, err := d.Store.EraseInboxes(ctx, erasure, from, at[:half], deletedAt)
	if dies {
		return nil, errDied
	}
	return append(rest, at[half:]...), err
}

func (d *dying) EraseEntry(ctx context.Context, e erase.EntryErasure) (int64, bool, error) {
	dies := d.dies()
	if dies && d.dead() {
		return 0, false, errDied
	}
	id, held, err := d.Store.EraseEntry(ctx, e)
	if dies {
		return 0, false, errDied
	}
	return id, held, err
}

func (d *dying) DropTraces(ctx context.Context, group, user string) error {
	if d.dies() {
		return errDied
	}
	return d.Store.DropTraces(ctx, group, user)
}

func (d *dying) HoldErasure(ctx context.Context, erasure, group, epoch, user string) (bool, error) {
	if d.dies() {
		return false, errDied
	}
	return d.Store.HoldErasure(ctx, erasure, group, epoch, user)
}

func (d *dying) FinishErasure(ctx context.Context, r erase.Record, keep time.Duration) error {
	if d.dies() {
		return errDied
	}
	return d.Store.FinishErasure(ctx, r, keep)
}

// diesAt runs a task on a node that dies at a write: before the first, after it, before the second, and so on. died is false where the task was done before.
func (b *bench) diesAt(n int, kind string, payload any) (died bool) {
	b.T.Helper()
	raw, err := json.Marshal(payload)
	b.Must(err)
	node := erase.New(b.Bench.Service, &dying{Store: b.Store, n: n / 2, halves: true, late: n%2 == 1}, b.Store, nil, b.Store, b.webhooks)
	err = node.Handlers()[kind].Run(b.Ctx, chat.TaskRun{Payload: raw})
	if err != nil && !errors.Is(err, errDied) {
		b.T.Fatal(err)
	}
	return err != nil
}

// TestErasureAfterACrash: a node dies at each write of an erasure in turn, and the run after it erases what is left and counts
// everything once. The inboxes are of more users than one page has.
func TestErasureAfterACrash(t *testing.T) {
	b := newBench(t)
	for i := range 230 {
		b.Must(b.Store.Know(b.Ctx, fmt.Sprintf("u%03d", i)))
	}
	write := func() {
		b.T.Helper()
		b.MakeGroup(chat.GroupDraft{ID: "g"}, "bob", "alice")
		b.send("alice", "g", text(secret))
		b.MakeGroup(chat.GroupDraft{ID: "alone"}, "alice")
		b.send("alice", "alone", text(secret))
		for _, to := range []string{"u000", "u150", "u199", "u229"} { // in both halves of a page, and in the next one
			b.direct("alice", to, secret)
		}
	}
	for n := 0; ; n++ {
		write()
		e, err := b.Begin(b.Ctx, root, "alice")
		b.Must(err)
		died := b.diesAt(n, erase.TaskErase, erase.Task{Erasure: e.ID})
		b.run(e.ID)
		if got := b.get(e.ID).Messages; got != 1+1+4 {
			t.Errorf("%d messages were erased, want 6", got)
		}
		b.nowhere(secret)
		b.Must(b.DeleteGroup(b.Ctx, root, "g"))
		if t.Failed() {
			t.Fatalf("the node died at write %d", n)
		}
		if !died {
			break
		}
	}
}

// TestReleaseAfterACrash: the same at the end of a legal hold.
func TestReleaseAfterACrash(t *testing.T) {
	b := newBench(t)
	for n := 0; ; n++ {
		b.MakeGroup(chat.GroupDraft{ID: "g"}, "bob", "alice")
		b.send("alice", "g", text(secret))
		_, err := b.PutHold(b.Ctx, root, "g", "a lawsuit")
		b.Must(err)
		e := b.erase("alice")
		b.Must(b.ReleaseHold(b.Ctx, root, "g"))
		task := chat.GroupTask{Group: "g", Epoch: "e"}
		died := b.diesAt(n, erase.TaskHeld, task)
		b.carryOut(erase.TaskHeld, task)
		if got := b.get(e.ID).Messages; got != 1 {
			t.Errorf("%d messages were erased, want 1", got)
		}
		b.nowhere(secret)
		b.Must(b.DeleteGroup(b.Ctx, root, "g"))
		if t.Failed() {
			t.Fatalf("the node died at write %d", n)
		}
		if !died {
			break
		}
	}
}
