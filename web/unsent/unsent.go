// Package unsent bounds how many bytes of answers a node holds for clients that have not taken them yet. A client that
// reads slowly then has few of its answers in memory at once, and its other calls wait before anything is read for them.
//
// A caller may hold as many bytes as are free, up to a fixed share. So one caller who takes all they can leaves half of a
// small budget, n such callers leave an n+1th of it, and a caller that holds little always finds room: the dynamic thresholds
// that switches with a shared memory use for their queues (Choudhury and Hahne, 1998).
package unsent

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of waiting for room. Answers are ended that nobody takes, so room comes within seconds.
const (
	patience    = 5 * time.Second // for an answer of which nothing was sent
	retrySpread = 3 * time.Second // over which refused clients return, after the first second
)

// Budget is what a node may hold.
type Budget struct {
	max, share int64 // bytes: of all callers, of one

	mu      sync.Mutex
	held    int64 // in memory; at most a little more than max
	callers map[string]*caller
	turns   []*caller // with an answer in line, the next one first
	refused int
}

// caller is a caller who has used some of the budget or waits for it.
type caller struct {
	used int64     // held, and reserved for what is being read
	line []*waiter // in the order of arrival
}

type waiter struct {
	answer  *Answer
	bytes   int64
	granted chan struct{} // closed when there is room
}

// New returns a budget of so many bytes, of which a caller has share at most.
func New(most, share int64) *Budget {
	return &Budget{max: most, share: share, callers: map[string]*caller{}}
}

// Answer is what one answer takes of the budget. Its methods may be called by one goroutine at a time. A nil *Answer takes
// nothing.
type Answer struct {
	budget     *Budget
	by         string
	used, held int64
}

// Answer returns an answer to a caller that takes nothing yet. Free must follow.
func (b *Budget) Answer(by string) *Answer {
	if b == nil {
		return nil
	}
	return &Answer{budget: b, by: by}
}

// Reserve makes room for an answer that is about to be read, of so many bytes at most. If there is room, only the caller's
// share is reduced: how much is read at once is bounded elsewhere, and most answers are small. Otherwise leave is called, and
// the answer waits for room in the whole budget. After an error nothing must be read: rate_limited if the caller has used their
// share, unavailable if the node is full.
func (a *Answer) Reserve(ctx context.Context, bytes int64, leave func()) error {
	if a == nil || bytes == 0 {
		return nil
	}
	b := a.budget
	b.mu.Lock()
	if c := b.callerLocked(a.by); len(c.line) == 0 && b.fitsLocked(c, bytes) {
		a.setLocked(bytes, 0)
		b.mu.Unlock()
		return nil
	}
	b.mu.Unlock()
	leave()
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := a.Take(within, bytes); err == nil || ctx.Err() != nil {
		return err
	}
	return b.refuse(a.by, bytes)
}

// Take waits until there is room for so many bytes, and holds them: those of an answer's next part, which is read then.
func (a *Answer) Take(ctx context.Context, bytes int64) error {
	if a == nil {
		return nil
	}
	b := a.budget
	w := &waiter{answer: a, bytes: bytes, granted: make(chan struct{})}
	b.mu.Lock()
	a.setLocked(0, 0)
	c := b.callerLocked(a.by)
	if c.line = append(c.line, w); len(c.line) == 1 {
		b.turns = append(b.turns, c)
	}
	b.grantLocked()
	b.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(c.line, w)
	if i < 0 {
		return nil // the room came at the same moment
	}
	if c.line = slices.Delete(c.line, i, i+1); len(c.line) == 0 {
		i := slices.Index(b.turns, c)
		b.turns = slices.Delete(b.turns, i, i+1)
		b.forgetLocked(a.by)
	}
	b.grantLocked() // the next one may ask for less
	return ctx.Err()
}

// Hold says how much of the answer is in memory now. It replaces what was reserved and never waits: it is read already.
func (a *Answer) Hold(bytes int64) {
	if a == nil {
		return
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	a.setLocked(bytes, bytes)
	b.grantLocked()
}

// Free gives back everything. It may be called more than once.
func (a *Answer) Free() {
	if a != nil && a.used > 0 {
		a.Hold(0)
	}
}

func (a *Answer) setLocked(used, held int64) {
	c := a.budget.callerLocked(a.by)
	c.used += used - a.used
	a.budget.held += held - a.held
	a.used, a.held = used, held
	a.budget.forgetLocked(a.by)
}

func (b *Budget) callerLocked(by string) *caller {
	c := b.callers[by]
	if c == nil {
		c = &caller{}
		b.callers[by] = c
	}
	return c
}

// forgetLocked drops a caller who has nothing and waits for nothing.
func (b *Budget) forgetLocked(by string) {
	if c := b.callers[by]; c != nil && c.used == 0 && len(c.line) == 0 {
		delete(b.callers, by)
	}
}

// fitsLocked tells whether a caller may have so many bytes more. One who has nothing gets one answer, however large.
func (b *Budget) fitsLocked(c *caller, bytes int64) bool {
	free := b.max - b.held
	return free > 0 && (c.used == 0 || c.used+bytes <= min(b.share, free))
}

// grantLocked gives room to those in line, the callers in turn.
func (b *Budget) grantLocked() {
	for passed := 0; passed < len(b.turns) && b.held < b.max; {
		c := b.turns[0]
		w := c.line[0]
		b.turns = append(b.turns[1:], c)
		if !b.fitsLocked(c, w.bytes) {
			passed++
			continue
		}
		passed = 0
		w.answer.setLocked(w.bytes, w.bytes)
		close(w.granted)
		if c.line = slices.Delete(c.line, 0, 1); len(c.line) == 0 {
			b.turns = b.turns[:len(b.turns)-1]
		}
	}
}

// refuse counts and returns the refusal of an answer that waited in vain.
func (b *Budget) refuse(by string, bytes int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused++
	after := time.Second + rand.N(retrySpread)
	if c := b.callers[by]; c != nil && c.used+bytes > b.share {
		return &chat.Error{Code: chat.CodeRateLimited, RetryAfter: after,
			Message: "too many answers to this user have not been read yet; nothing was done"}
	}
	const text = "too many answers have not been read yet; nothing was done"
	return &chat.Error{Code: chat.CodeUnavailable, RetryAfter: after, Message: text, Advice: text}
}
