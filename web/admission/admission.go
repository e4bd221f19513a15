// Package admission bounds how many requests a node works on at once. The rest waits in line, and callers take turns,
// so a caller who floods waits behind their own requests. A burst is served late rather than refused. A line that
// stands for a second is overload: from then on, a request that cannot be served soon is refused before any work is
// done for it, unless its caller asks for less than their share. Shares count units, what a request costs in the sense of
// CHATD_RATE_USER: a request that has the node look at thousands of groups is not one as any other.
//
// One caller is never given more than half of what the node works on, so others find room at once.
//
// The bound follows how long requests take, a gradient as in Netflix's concurrency-limits: if they take twice as long
// as those with few beside them, admitting more would only divide the same processors and the same store among more of
// them. failsafe-go's adaptive limiter is not used: it moves its limit by about one per second, keeps a single line
// without turns, and adds several modules for what window.go does.
package admission

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
)

// ErrOverload is the cause of a refusal before any work was done.
var ErrOverload = errors.New("more requests than can be served")

// retrySpread is the time over which refused clients return, after the first second.
const retrySpread = 3 * time.Second

// RetryAfter returns when a refused client should retry: a random time, so that they do not all return at once.
func RetryAfter() time.Duration { return time.Second + rand.N(retrySpread) }

// Refusal is the error that refused clients get.
func Refusal() *chat.Error {
	return &chat.Error{Code: chat.CodeUnavailable, RetryAfter: RetryAfter(), Cause: ErrOverload}
}

// Key identifies a caller who takes turns: a user, or the network of a request without a token.
type Key struct {
	User string
	From netip.Prefix
}

// Options bound a Line. Zero values are the defaults.
type Options struct {
	Max       int           // requests in progress, however quick they are; 1,024
	Min       int           // to which overload may lower that; 2 per processor
	Probe     int           // during a probe; 1 per processor
	Start     int           // the first bound; 16 per processor
	LineMax   int           // requests in line; 10,000
	Patience  time.Duration // the longest wait in line; 5 s
	BurstTime time.Duration // how long a line may stand before it counts as overload; 1 s
	Log       *slog.Logger  // of when overload begins and ends; nil: none
}

// Line admits requests. A nil *Line admits everything at once.
type Line struct {
	o          Options
	overloaded atomic.Bool // written under mu

	mu       sync.Mutex
	bound    float64 // requests in progress
	working  int
	waiting  int               // in line
	callers  map[Key]*caller   // those with a request in line or at work
	turns    []*caller         // callers with a request in line, the next one first
	shares   map[Key]time.Time // under overload: when each caller's used share is free again; see mayLineUpLocked
	window   window
	usual    time.Duration // duration of a request in progress; 0: unknown
	sample   sample
	probe    probe
	probed   time.Time     // when usual was measured last, or the last probe began
	perTurn  time.Duration // recent time between two requests that leave
	perUnit  time.Duration // the same for each unit of them
	standing time.Duration // how long the line has been too long
	calm     time.Duration // how long nobody has waited or been refused
	refused  int
	report   report
}

// caller is a caller with requests in line or at work.
type caller struct {
	key  Key
	line []*waiter // in the order of arrival
	load int       // weight of the requests at work
}

type waiter struct {
	units int
	turn  chan struct{} // closed when the turn has come
	slot  Slot          // set before that
}

// weightUnits is how many units make a request count once more among those of its caller at work.
const weightUnits = 50

func weight(units int) int { return 1 + units/weightUnits }

// mayWorkLocked reports whether a caller may have one more request at work. A single one always may.
func (l *Line) mayWorkLocked(c *caller, units int) bool {
	return c == nil || c.load == 0 || c.load+weight(units) <= l.roomLocked()/2
}

// New returns an empty line.
func New(o Options) *Line {
	processors := runtime.GOMAXPROCS(0)
	o.Max = cmp.Or(o.Max, 1024)
	o.Min = cmp.Or(o.Min, min(2*processors, o.Max))
	o.Probe = cmp.Or(o.Probe, min(processors, o.Max))
	o.Start = cmp.Or(o.Start, min(16*processors, o.Max))
	o.LineMax = cmp.Or(o.LineMax, 10_000)
	o.Patience = cmp.Or(o.Patience, 5*time.Second)
	o.BurstTime = cmp.Or(o.BurstTime, time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Line{
		o: o, bound: float64(o.Start), callers: map[Key]*caller{}, shares: map[Key]time.Time{}, window: window{begin: time.Now()},
	}
}

// Slot is what an admitted request holds. The zero Slot holds nothing.
type Slot struct {
	line     *Line
	caller   *caller
	units    int
	since    time.Time
	measured bool
	sample   int // the number of the sample
}

// Enter waits for the turn of a request that costs so many units, at least one. ok is false if it is refused or ctx ends;
// otherwise Leave must follow.
func (l *Line) Enter(ctx context.Context, key Key, units int) (p Slot, ok bool) {
	if l == nil {
		return Slot{}, true
	}
	units = max(units, 1)
	now := time.Now()
	l.mu.Lock()
	l.learnLocked(now)
	if l.waiting > 0 {
		l.admitLocked(now) // the bound may have grown
	}
	c := l.callers[key]
	if l.working < l.roomLocked() && l.mayWorkLocked(c, units) {
		p = l.beginLocked(l.callerLocked(key), units, now)
		l.mu.Unlock()
		return p, true
	}
	if !l.lineUpLocked(key, units, now) {
		l.refuseLocked()
		l.mu.Unlock()
		return Slot{}, false
	}
	c = l.callerLocked(key)
	if len(c.line) == 0 {
		l.turns = append(l.turns, c)
	}
	w := &waiter{units: units, turn: make(chan struct{})}
	c.line = append(c.line, w)
	l.waiting++
	l.mu.Unlock()
	return l.wait(ctx, c, w)
}

func (l *Line) callerLocked(key Key) *caller {
	c := l.callers[key]
	if c == nil {
		c = &caller{key: key}
		l.callers[key] = c
	}
	return c
}

// forgetLocked forgets a caller who has nothing here any more.
func (l *Line) forgetLocked(c *caller) {
	if len(c.line) == 0 && c.load == 0 {
		delete(l.callers, c.key)
	}
}

func (l *Line) wait(ctx context.Context, c *caller, w *waiter) (Slot, bool) {
	patience := time.NewTimer(l.o.Patience)
	defer patience.Stop()
	select {
	case <-w.turn:
		return w.slot, true
	case <-patience.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.slot.line != nil { // the turn came at the same moment
		return w.slot, true
	}
	l.giveUpLocked(c, w)
	if ctx.Err() == nil {
		l.refuseLocked()
	}
	return Slot{}, false
}

// giveUpLocked takes a waiter out of the line. It is usually near the head, since the oldest give up first.
func (l *Line) giveUpLocked(c *caller, w *waiter) {
	l.waiting--
	i := slices.Index(c.line, w)
	c.line = slices.Delete(c.line, i, i+1)
	if len(c.line) == 0 {
		i := slices.Index(l.turns, c)
		l.turns = slices.Delete(l.turns, i, i+1)
		l.forgetLocked(c)
	}
}

// Overloaded reports whether requests are refused at the moment.
func (l *Line) Overloaded() bool { return l != nil && l.overloaded.Load() }

// Full reports whether Enter would refuse a request of key now. If so, it counts as refused.
func (l *Line) Full(key Key, units int) bool {
	if !l.Overloaded() {
		return false
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learnLocked(now)
	units = max(units, 1)
	if l.working < l.roomLocked() && l.mayWorkLocked(l.callers[key], units) || l.mayLineUpLocked(key, units, now) {
		return false
	}
	l.refuseLocked()
	return true
}

// Leave ends a request; the next in line gets its turn. It may be called more than once.
func (p *Slot) Leave() {
	l := p.line
	if l == nil {
		return
	}
	p.line = nil
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endLocked(*p, now)
	l.learnLocked(now)
	l.admitLocked(now)
}

func (l *Line) refuseLocked() {
	l.refused++
	l.window.refused++
}

// admitLocked gives turns as far as the bound allows. A caller that still waits while there is room has their share at work.
func (l *Line) admitLocked(now time.Time) {
	for l.working < l.roomLocked() {
		c, w := l.nextLocked()
		if w == nil {
			l.window.late = 0 // nobody waits for the node
			break
		}
		l.waiting--
		w.slot = l.beginLocked(c, w.units, now)
		close(w.turn)
	}
	l.window.shortest = min(l.window.shortest, l.waiting)
	l.window.late = min(l.window.late, l.waiting)
}

// nextLocked takes the first waiter of the caller whose turn it is; nil if nobody waits who may go.
func (l *Line) nextLocked() (*caller, *waiter) {
	i := slices.IndexFunc(l.turns, func(c *caller) bool { return l.mayWorkLocked(c, c.line[0].units) })
	if i < 0 {
		return nil, nil
	}
	c := l.turns[i]
	l.turns = slices.Delete(l.turns, i, i+1)
	w := c.line[0]
	c.line[0] = nil
	if c.line = c.line[1:]; len(c.line) > 0 {
		l.turns = append(l.turns, c)
	}
	return c, w
}
