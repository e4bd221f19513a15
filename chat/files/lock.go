package files

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

// writer writes to one upload, as long as it holds the lock. The lock has a short lease, so that another node may soon go on if
// this one is killed; it is renewed in the background until stop, however slowly the bytes come.
type writer struct {
	service *Service
	ctx     context.Context //nolint:containedctx // of the one request that it lives for
	cancel  context.CancelFunc
	group   string
	user    string
	id      string
	token   string

	mu       sync.Mutex
	renewed  time.Time // when the lock was asked for or last renewed: the lease began later
	lost     bool      // another writer has taken over
	stopped  bool
	timer    *time.Timer // of the next renewal; nil without a lock
	renewals sync.WaitGroup
}

// writer makes a writer, which the caller stops.
func (s *Service) writer(ctx context.Context, by chat.Caller, group, id string) *writer {
	w := &writer{service: s, group: group, user: by.User, id: id, token: s.node + rand.Text()}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w
}

// lock takes the lock. A writer who is gone gives way after its lease.
func (w *writer) lock() (Record, error) {
	sole := ""
	if w.service.opt.Sole {
		sole = w.service.node
	}
	waited := time.NewTimer(lockWaitMax)
	defer waited.Stop()
	for {
		asked := w.service.opt.Now()
		r, err := w.service.store.LockFile(w.ctx, w.group, w.user, w.id, w.token, sole, lockLease)
		if err == nil && !r.Whole {
			w.renewedAt(asked)
			w.renewLater()
		}
		if !is(err, ErrLocked) {
			return r, err
		}
		select {
		case <-w.ctx.Done():
			return Record{}, err
		case <-waited.C:
			return Record{}, err
		case <-time.After(lockWaitStep):
		}
	}
}

// unlock gives the lock back; if that fails, its lease ends it.
func (w *writer) unlock(r Record) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), commitTimeout)
	defer cancel()
	_, _ = w.service.store.CommitFile(ctx, Commit{Group: w.group, User: w.user, ID: w.id, Token: w.token, Offset: r.Offset, Hash: r.Hash})
}

// renewLater renews the lock from time to time until stop, by a timer: it needs no goroutine in between.
func (w *writer) renewLater() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.lost {
		return
	}
	w.renewals.Add(1)
	w.timer = time.AfterFunc(lockRenew, w.renew)
}

func (w *writer) renew() {
	defer w.renewals.Done()
	asked := w.service.opt.Now()
	ctx, cancel := context.WithTimeout(w.ctx, lockLease)
	err := w.service.store.RenewFile(ctx, w.group, w.id, w.token, lockLease)
	cancel()
	switch {
	case err == nil:
		w.renewedAt(asked)
	case is(err, ErrLost):
		w.mu.Lock()
		w.lost = true
		w.mu.Unlock()
	}
	w.renewLater()
}

func (w *writer) renewedAt(asked time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if asked.After(w.renewed) {
		w.renewed = asked
	}
}

// held refuses a write without the lock.
func (w *writer) held() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.lost:
		return ErrLost
	case w.service.opt.Now().Sub(w.renewed) > lockLease-lockMargin:
		return errLease
	}
	return nil
}

// stop ends the renewals, and waits for one that is under way.
func (w *writer) stop() {
	w.mu.Lock()
	w.stopped = true
	if w.timer != nil && w.timer.Stop() {
		w.renewals.Done()
	}
	w.mu.Unlock()
	w.cancel()
	w.renewals.Wait()
}
