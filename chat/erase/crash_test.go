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
}

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

func (d *dying) EraseInboxes(ctx context.Context, from string, at []erase.At, deletedAt chat.Time) (int64, []erase.At, error) {
	if d.dies() {
		return 0, nil, errDied
	}
	half := (len(at) + 1) / 2
	if !d.halves {
		half = len(at)
	}
	n, rest, err := d.Store.EraseInboxes(ctx, from, at[:half], deletedAt)
	return n, append(rest, at[half:]...), err
}

func (d *dying) EraseEntry(ctx context.Context, e erase.EntryErasure) (int64, bool, error) {
	if d.dies() {
		return 0, false, errDied
	}
	return d.Store.EraseEntry(ctx, e)
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

// diesAt runs a task on a node that dies at its n-th write. died is false where the task was done before.
func (b *bench) diesAt(n int, kind string, payload any) (died bool) {
	b.T.Helper()
	raw, err := json.Marshal(payload)
	b.Must(err)
	node := erase.New(b.Bench.Service, &dying{Store: b.Store, n: n, halves: true}, b.Store, nil, b.Store, b.webhooks)
	err = node.Handlers()[kind].Run(b.Ctx, chat.TaskRun{Payload: raw})
	if err != nil && !errors.Is(err, errDied) {
		b.T.Fatal(err)
	}
	return err != nil
}

// TestErasureAfterACrash: a node dies at each write of an erasure in turn, and the run after it erases what is left. The inboxes are
// of more users than one page has.
func TestErasureAfterACrash(t *testing.T) {
	b := newBench(t)
	for i := range 230 {
		b.Must(b.Store.Know(b.Ctx, fmt.Sprintf("u%03d", i)))
	}
	write := func() {
		b.T.Helper()
		b.MakeGroup(chat.GroupDraft{ID: "g"}, "bob", "alice")
		b.send("alice", "g", text(secret))
		for i := range 230 / 10 {
			b.direct("alice", fmt.Sprintf("u%03d", i*10), secret)
		}
	}
	for n := 0; ; n++ {
		write()
		e, err := b.Begin(b.Ctx, root, "alice")
		b.Must(err)
		died := b.diesAt(n, erase.TaskErase, erase.Task{Erasure: e.ID})
		b.run(e.ID)
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
		b.erase("alice")
		b.Must(b.ReleaseHold(b.Ctx, root, "g"))
		task := chat.GroupTask{Group: "g", Epoch: "e"}
		died := b.diesAt(n, erase.TaskHeld, task)
		b.carryOut(erase.TaskHeld, task)
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
