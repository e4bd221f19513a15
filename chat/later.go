package chat

import (
	"context"
	"time"
)

const (
	laterPause = 2 * time.Second // after a failure
	laterLast  = 2 * time.Second // for the last write, when the node stops
)

// later writes down what a node collects beside its requests, none of which wait for it: many notes in one step. Idle, it does
// nothing.
type later struct {
	wake  chan struct{} // capacity 1: there is something to write
	delay time.Duration // gives what comes in the next moments the chance to go along
	write func(context.Context) error
}

func newLater(delay time.Duration, write func(context.Context) error) later {
	return later{wake: make(chan struct{}, 1), delay: delay, write: write}
}

// signal says that there is something to write.
func (l later) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run writes until ctx ends, and once more then: it returns the error of that.
func (l later) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), laterLast)
			defer cancel()
			return l.write(last)
		case <-l.wake:
		}
		select {
		case <-ctx.Done():
		case <-time.After(l.delay):
			if l.write(ctx) != nil {
				time.AfterFunc(laterPause, l.signal)
			}
		}
	}
}
