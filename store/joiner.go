package store

import (
	"context"
	"slices"
	"sync"
	"time"
)

// joiner joins reads that are requested at about the same time. A caller reads at once, unless another one came just before:
// then it waits a moment for more callers, and reads for all of them, while later ones wait for the next call. It has no
// goroutine: the first waiting caller leads the others.
//
// Invariant: while a caller waits, a call is in flight; when it ends, it passes the lead on.
type joiner[Q, A any] struct {
	read  func(ctx context.Context, asked []Q) ([]A, error) // answers in order
	most  int                                               // the most questions per call
	pause time.Duration                                     // how long a leader waits for others

	mu       sync.Mutex
	inFlight bool
	last     time.Time // when somebody asked last
	waiting  []*question[Q, A]
}

// question is what one caller asks.
type question[Q, A any] struct {
	asked Q
	turn  chan struct{} // closed once it leads, or has its answer
	// Until turn is closed, the joiner's mu guards these two. taken: a leader has taken it along, or it leads itself.
	taken, leads bool

	answer A
	err    error
}

// ask reads the answer to one question.
func (j *joiner[Q, A]) ask(ctx context.Context, asked Q) (answer A, err error) {
	w := &question[Q, A]{asked: asked}
	now := time.Now()
	j.mu.Lock()
	alone := now.Sub(j.last) > j.pause
	j.last = now
	if !j.inFlight { // nobody waits
		j.inFlight = true
		j.mu.Unlock()
		if alone {
			j.lead(ctx, []*question[Q, A]{w})
		} else {
			j.leadOthers(ctx, w)
		}
		return w.answer, w.err
	}
	w.turn = make(chan struct{})
	j.waiting = append(j.waiting, w)
	j.mu.Unlock()
	select {
	case <-w.turn:
	case <-ctx.Done():
		if !j.mustLead(w) {
			return answer, unavailable("read", ctx.Err())
		}
		<-w.turn
	}
	if w.leads {
		j.leadOthers(ctx, w)
	}
	return w.answer, w.err
}

// leadOthers waits for other callers, and reads for all of them. It goes on if the leader's context ends, which must not cut off
// the reads of the others.
func (j *joiner[Q, A]) leadOthers(ctx context.Context, w *question[Q, A]) {
	time.Sleep(j.pause)
	j.mu.Lock()
	n := min(len(j.waiting), j.most-1)
	batch := append([]*question[Q, A]{w}, j.waiting[:n]...)
	j.waiting = slices.Delete(j.waiting, 0, n)
	for _, w := range batch {
		w.taken = true
	}
	j.mu.Unlock()
	j.lead(context.WithoutCancel(ctx), batch)
}

// lead reads for a batch.
func (j *joiner[Q, A]) lead(ctx context.Context, batch []*question[Q, A]) {
	defer j.land()
	asked := make([]Q, len(batch))
	for i, w := range batch {
		asked[i] = w.asked
	}
	answers, err := j.read(ctx, asked)
	for i, w := range batch {
		if w.err = err; err == nil {
			w.answer = answers[i]
		}
		if i > 0 {
			close(w.turn)
		}
	}
}

// land notes that a call has ended, and passes the lead to the first waiting caller.
func (j *joiner[Q, A]) land() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.inFlight = len(j.waiting) > 0; j.inFlight {
		next := j.waiting[0]
		j.waiting = slices.Delete(j.waiting, 0, 1)
		next.taken, next.leads = true, true
		close(next.turn)
	}
}

// mustLead reports whether a caller whose context has ended must go on because it leads others. If it was not taken along yet,
// it never will be.
func (j *joiner[Q, A]) mustLead(w *question[Q, A]) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !w.taken {
		j.waiting = slices.DeleteFunc(j.waiting, func(one *question[Q, A]) bool { return one == w })
	}
	return w.leads
}
