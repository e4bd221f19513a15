// Package later writes down what a node collects beside its requests.
package later

import (
	"context"
	"time"
)

const (
	pause = 2 * time.Second // after a failure
	last  = 2 * time.Second // for the last write, when the node stops
)

// Writer writes down what is collected, many notes in one step. No request waits for it. Idle, it does nothing.
type Writer struct {
	Wake  chan struct{} // capacity 1: there is something to write
	delay time.Duration // gives what comes in the next moments the chance to go along
	write func(context.Context) error
}

// New makes a Writer that calls write a moment after a signal.
func New(delay time.Duration, write func(context.Context) error) Writer {
	return Writer{Wake: make(chan struct{}, 1), delay: delay, write: write}
}

// Signal says that there is something to write.
func (l Writer) Signal() {
	select {
	case l.Wake <- struct{}{}:
	default:
	}
}

// Run writes until ctx ends, and once more then: it returns the error of that.
func (l Writer) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			final, cancel := context.WithTimeout(context.WithoutCancel(ctx), last)
			defer cancel()
			return l.write(final)
		case <-l.Wake:
		}
		select {
		case <-ctx.Done():
		case <-time.After(l.delay):
			if l.write(ctx) != nil {
				time.AfterFunc(pause, l.Signal)
			}
		}
	}
}
