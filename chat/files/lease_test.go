package files

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/chat"
)

// renewals is a store whose renewals the test answers.
type renewals struct {
	Store
	answer func() error
}

func (r renewals) RenewFile(context.Context, string, string, string, time.Duration) error {
	return r.answer()
}

// leaseOf has a writer take the lock now. Its clock is that of the bubble.
func leaseOf(t *testing.T, answer func() error) *writer {
	t.Helper()
	w := New(nil, renewals{answer: answer}, nil, Options{}).writer(t.Context(), chat.Caller{}, "g", "f")
	w.renewedAt(time.Now())
	w.renewLater()
	return w
}

// TestLeaseHasAMargin: a writer stops a while before its lease ends, so that what it has begun to write is there before another one.
func TestLeaseHasAMargin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := leaseOf(t, func() error { return chat.ErrUnavailable })
		defer w.stop()
		<-time.After(lockLease - lockMargin)
		if err := w.held(); err != nil {
			t.Errorf("before the margin: %v", err)
		}
		<-time.After(lockMargin / 2)
		if err := w.held(); !errors.Is(err, errLease) {
			t.Errorf("within the margin: got %v, want %v", err, errLease)
		}
	})
}

// TestLeaseBeginsWhenItIsAskedFor: a renewal whose answer is late has begun before that.
func TestLeaseBeginsWhenItIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := leaseOf(t, func() error {
			<-time.After(3 * time.Second)
			return nil
		})
		defer w.stop()
		<-time.After(lockRenew + 3*time.Second + lockMargin) // four seconds after it was asked for
		if err := w.held(); err != nil {
			t.Errorf("before the margin: %v", err)
		}
		<-time.After(lockMargin / 2)
		if err := w.held(); !errors.Is(err, errLease) {
			t.Errorf("within the margin: got %v, want %v", err, errLease)
		}
	})
}
