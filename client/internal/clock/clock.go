// Package clock gives the client its time and chance, by the context, so that a test decides both.
package clock

import (
	"context"
	"math/rand/v2"
	"time"
)

// Clock is time and chance.
type Clock interface {
	Now() time.Time
	// AfterFunc runs f in its own goroutine once d has passed, unless stop was called before.
	AfterFunc(d time.Duration, f func()) (stop func())
	// Random is at least 0 and below 1.
	Random() float64
}

type key struct{}

// With returns a context whose clock is c.
func With(ctx context.Context, c Clock) context.Context { return context.WithValue(ctx, key{}, c) }

// From returns the clock of a context: the machine's, unless With has set another one.
func From(ctx context.Context) Clock {
	if c, ok := ctx.Value(key{}).(Clock); ok {
		return c
	}
	return machine{}
}

type machine struct{}

func (machine) Now() time.Time  { return time.Now() }
func (machine) Random() float64 { return rand.Float64() }
func (machine) AfterFunc(d time.Duration, f func()) (stop func()) {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// Timer is closed once d has passed by the clock of ctx; stop gives up waiting.
func Timer(ctx context.Context, d time.Duration) (due <-chan struct{}, stop func()) {
	over := make(chan struct{})
	return over, From(ctx).AfterFunc(d, func() { close(over) })
}

// Sleep waits for d or the end of ctx, whichever is first.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	due, stop := Timer(ctx, d)
	defer stop()
	return Wait(ctx, due)
}

// Wait waits for due or the end of ctx.
func Wait(ctx context.Context, due <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-due:
		return nil
	}
}
