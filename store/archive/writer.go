package archive

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

const (
	commitEntriesMax = 8_000   // entries of one transaction; a call that has more is not split
	commitBytesMax   = 8 << 20 // of JSON, likewise
	conflictTries    = 5       // transactions that gave way to another node's
	scrubDelay       = time.Second
)

var errClosed = errors.New("the archive is closed")

// writer runs all transactions that write, as many at a time as the engine takes. Calls that wait for it at the same time
// share a transaction: the disk syncs once for all of them.
type writer struct {
	store *Store
	tasks chan *write
	ctx   context.Context
	halt  context.CancelFunc
	runs  sync.WaitGroup
}

// write is what one caller wants done: batches to add, or a transaction that is not shared.
type write struct {
	batches []*readBatch
	alone   func(ctx context.Context, tx *sql.Tx) (erased bool, err error)
	done    chan error // has room for the answer, so that nobody waits for a caller who has gone
}

func startWriter(s *Store) *writer {
	ctx, halt := context.WithCancel(context.Background())
	w := &writer{store: s, tasks: make(chan *write), ctx: ctx, halt: halt}
	for range s.engine.writers {
		w.runs.Go(w.run)
	}
	return w
}

// stop waits for the transactions under way.
func (w *writer) stop() {
	w.halt()
	w.runs.Wait()
}

// do gives a write to the writer, once the archive is open.
func (s *Store) do(ctx context.Context, task *write) error {
	if err := s.Connect(ctx); err != nil {
		return err
	}
	return s.failed(s.writer.do(ctx, task))
}

// do hands in a write and waits for its commit. Where ctx ends first, the write may happen all the same.
func (w *writer) do(ctx context.Context, task *write) error {
	task.done = make(chan error, 1)
	select {
	case w.tasks <- task:
	case <-w.ctx.Done():
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-task.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) run() {
	scrub := time.After(scrubDelay) // a process that was killed may have left something
	var next *write
	for {
		if next == nil {
			select {
			case next = <-w.tasks:
			case <-scrub:
				scrub = w.scrub()
				continue
			case <-w.ctx.Done():
				return
			}
		}
		var erased bool
		if next.alone != nil {
			erased, next = w.answer(next), nil
		} else {
			var list []*write
			list, next = w.joined(next)
			erased = w.commit(list)
		}
		if (erased || w.store.engine.settles) && scrub == nil {
			scrub = time.After(scrubDelay)
		}
	}
}

// joined collects the writes that wait beside first, within the bounds, and the one that did not fit.
func (w *writer) joined(first *write) (list []*write, rest *write) {
	entries, bytes := 0, 0
	for task := first; ; {
		n, size := task.size()
		if task.alone != nil || len(list) > 0 && (entries+n > commitEntriesMax || bytes+size > commitBytesMax) {
			return list, task
		}
		list, entries, bytes = append(list, task), entries+n, bytes+size
		select {
		case task = <-w.tasks:
		default:
			return list, nil
		}
	}
}

func (t *write) size() (entries, bytes int) {
	for _, b := range t.batches {
		entries += len(b.Messages)
		for _, m := range b.Messages {
			bytes += len(m.JSON)
		}
	}
	return entries, bytes
}

// commit runs several writes in one transaction. Where the database refuses it, each is run alone: one bad batch fails
// for its own caller only.
func (w *writer) commit(list []*write) (erased bool) {
	if len(list) == 1 {
		return w.answer(list[0])
	}
	var all []*readBatch
	for _, task := range list {
		all = append(all, task.batches...)
	}
	erased, err := w.transaction(&write{batches: all})
	if err != nil && chat.CodeOf(w.store.failed(err)) != chat.CodeUnavailable {
		for _, task := range list {
			erased = w.answer(task) || erased
		}
		return erased
	}
	for _, task := range list {
		task.done <- err
	}
	return erased
}

func (w *writer) answer(task *write) (erased bool) {
	erased, err := w.transaction(task)
	task.done <- err
	return erased
}

// transaction runs one transaction to its commit. It has a time limit, and no caller who can cancel it.
func (w *writer) transaction(task *write) (erased bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	for range conflictTries {
		if erased, err = w.try(ctx, task); w.store.engine.fault(err) != faultConflicted {
			break
		}
	}
	return erased, err
}

func (w *writer) try(ctx context.Context, task *write) (erased bool, err error) {
	tx, err := w.store.write.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if task.alone != nil {
		erased, err = task.alone(ctx, tx)
	} else {
		erased, err = w.store.add(ctx, tx, task.batches)
	}
	if err != nil {
		return false, err
	}
	return erased, tx.Commit()
}

// scrub returns when to try again: never where all is done.
func (w *writer) scrub() <-chan time.Time {
	ctx, cancel := context.WithTimeout(w.ctx, writeTimeout)
	defer cancel()
	if again, err := w.store.engine.scrub(ctx, w.store.write); again || err != nil {
		return time.After(scrubDelay)
	}
	return nil
}
