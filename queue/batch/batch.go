// Package batch joins calls that are made at about the same time: group commit for writes, one read for many readers.
package batch

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Batcher joins the items of concurrent callers into calls of Run. While there are few callers, each makes its own call at
// once, so that joining adds no latency. When there are more, they wait while calls are in flight, and the next call takes
// them along. It has no goroutine: the first waiting caller leads the others.
//
// Set the fields before the first Do, and leave them alone afterwards.
type Batcher[In, Out any] struct {
	// Run makes one call for all items, and returns an outcome for each, in order. Its context ends with that of the caller
	// only if the caller is alone in the call.
	Run func(ctx context.Context, items []In) []Out
	// Alone is up to how many callers each make their own call at once. Beyond that, Calls calls are in flight at most.
	Alone, Calls int
	// Size is the most items of a call.
	Size int
	// Pause is how long a call waits for more callers if another caller came no longer than that before.
	Pause time.Duration

	// Invariant: while a caller waits, a call is in flight, and its end passes on the lead.
	mu   sync.Mutex
	load Load
	last time.Time // when the last caller came; only if there is a pause
	wait []*waiter[In, Out]
}

// Load is what goes on in a Batcher.
type Load struct {
	Inside  int // callers of Do
	Flying  int // calls of Run in flight
	Waiting int // callers that wait to lead, or to be taken along
}

// waiter is a caller that waits.
type waiter[In, Out any] struct {
	item In
	turn chan struct{} // closed once it leads, or has its outcome
	// Until turn is closed, the batcher's mu guards these.
	taken, leads bool
	others       []*waiter[In, Out] // that it leads
	outcome      Out
}

// Do has the item run, alone or together with those of others, and returns its outcome. If ctx ends while it waits, it
// returns ctx.Err(): then Run may never see the item, or may be at work on it. A caller that leads others goes on for
// them although its own context has ended.
func (b *Batcher[In, Out]) Do(ctx context.Context, item In) (outcome Out, err error) {
	b.mu.Lock()
	b.load.Inside++
	defer b.leave()
	pause := b.pause()
	// Nobody overtakes waiting callers: under steady load they would wait forever.
	if len(b.wait) == 0 && (b.load.Inside <= b.Alone || b.load.Flying < b.Calls) {
		b.load.Flying++
		b.mu.Unlock()
		return b.lead(ctx, item, nil, pause), nil
	}
	w := &waiter[In, Out]{item: item, turn: make(chan struct{})}
	b.wait = append(b.wait, w)
	b.mu.Unlock()

	select {
	case <-w.turn:
	case <-ctx.Done():
		if !b.mustLead(w) {
			return outcome, ctx.Err()
		}
	}
	if w.leads {
		return b.lead(ctx, item, w.others, b.Pause), nil
	}
	return w.outcome, nil
}

// Load returns what goes on at the moment.
func (b *Batcher[In, Out]) Load() Load {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.load
	now.Waiting = len(b.wait)
	return now
}

// pause is how long a call that begins now waits for more callers. The caller holds b.mu.
func (b *Batcher[In, Out]) pause() time.Duration {
	if b.Pause == 0 {
		return 0
	}
	now := time.Now()
	alone := now.Sub(b.last) > b.Pause
	b.last = now
	if alone {
		return 0
	}
	return b.Pause
}

// lead runs an item together with those of others, and of the callers that come during a pause.
func (b *Batcher[In, Out]) lead(ctx context.Context, item In, others []*waiter[In, Out], pause time.Duration) Out {
	defer b.land()
	if pause > 0 {
		time.Sleep(pause) // its own context must not end it: it may have others to lead
		b.mu.Lock()
		others = append(others, b.take(b.Size-1-len(others))...)
		b.mu.Unlock()
	}
	items := make([]In, 1, 1+len(others))
	items[0] = item
	for _, w := range others {
		items = append(items, w.item)
	}
	if len(others) > 0 {
		ctx = context.WithoutCancel(ctx)
	}
	outcomes := b.Run(ctx, items)
	for i, w := range others {
		w.outcome = outcomes[1+i]
		close(w.turn)
	}
	return outcomes[0]
}

// take removes up to n of the waiting callers, which a call takes along. The caller holds b.mu.
func (b *Batcher[In, Out]) take(n int) []*waiter[In, Out] {
	n = min(n, len(b.wait))
	if n == 0 {
		return nil
	}
	taken := slices.Clone(b.wait[:n])
	b.wait = slices.Delete(b.wait, 0, n)
	for _, w := range taken {
		w.taken = true
	}
	return taken
}

// land notes that a call has ended, and passes the lead to the first waiting caller. The others go with it at once: when
// several calls end, the next one takes all of them along.
func (b *Batcher[In, Out]) land() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.load.Flying--
	if len(b.wait) == 0 || b.load.Flying >= b.Calls {
		return
	}
	b.load.Flying++
	call := b.take(b.Size)
	next := call[0]
	next.leads, next.others = true, call[1:]
	close(next.turn)
}

// mustLead reports whether a caller whose context has ended must go on because it leads. One that was not taken along yet
// never will be.
func (b *Batcher[In, Out]) mustLead(w *waiter[In, Out]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !w.taken {
		b.wait = slices.DeleteFunc(b.wait, func(one *waiter[In, Out]) bool { return one == w })
	}
	return w.leads
}

func (b *Batcher[In, Out]) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.load.Inside--
}
