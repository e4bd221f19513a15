package conn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// breaker refuses calls while the server does not answer, so that nobody waits for it. A call that failed, or a silence
// while calls are under way, only makes it ask the server: it opens if a PING on a new connection gets no answer
// either. So neither a slow script nor one broken connection nor a caller that gives up opens it. While it is open it keeps
// asking, and closes with the first answer.
type breaker struct {
	ping     func(ctx context.Context) error // on a new connection
	patience time.Duration                   // with a ping, then it opens
	log      *slog.Logger

	calls   atomic.Int64  // under way
	spoke   atomic.Bool   // the server has answered since the last tick
	suspect chan struct{} // has an entry when a call failed
	dials   atomic.Int64  // connections that were opened
	seldom  atomic.Bool   // nobody needs the server right now: it is asked less often while it is away

	mu    sync.Mutex
	up    context.Context // ends when the breaker opens
	trip  context.CancelCauseFunc
	back  chan struct{} // closed while the breaker is closed
	conns map[*breakerConn]struct{}
}

// newBreaker makes a closed one. patience 0 is pingTimeout.
func newBreaker(ping func(context.Context) error, patience time.Duration, log *slog.Logger) *breaker {
	b := &breaker{ping: ping, patience: cmp.Or(patience, pingTimeout), log: log, suspect: make(chan struct{}, 1), conns: map[*breakerConn]struct{}{},
		back: make(chan struct{})}
	b.up, b.trip = context.WithCancelCause(context.Background())
	close(b.back)
	return b
}

// state returns a context that ends when the breaker opens; while it is open, the context has already ended.
func (b *breaker) state() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up
}

// closed returns a channel that is closed while calls are allowed.
func (b *breaker) closed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.back
}

// began notes that a call to the server starts, ended that it is over. ctx is the caller's: a call that fails because the
// caller gave up says nothing about the server.
func (b *breaker) began() { b.calls.Add(1) }

func (b *breaker) ended(ctx context.Context, err error) {
	b.calls.Add(-1)
	switch {
	case answered(err):
		b.spoke.Store(true)
	case ctx.Err() == nil:
		b.doubt()
	}
}

// doubt makes the breaker ping the server.
func (b *breaker) doubt() {
	select {
	case b.suspect <- struct{}{}:
	default:
	}
}

// answered reports whether err, of a call or a ping, shows that the server is serving.
func answered(err error) bool {
	if err == nil {
		return true
	}
	for _, word := range []string{"LOADING", "MASTERDOWN"} {
		if strings.HasPrefix(err.Error(), word) {
			return false
		}
	}
	return Refused(err)
}

// run opens and closes the breaker until ctx ends.
func (b *breaker) run(ctx context.Context) {
	tick := time.NewTicker(patienceTick)
	defer tick.Stop()
	silent := 0 // ticks
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.suspect:
		case <-tick.C:
			if silent++; b.spoke.Swap(false) || b.calls.Load() == 0 {
				silent = 0
			}
			if silent < int(silenceSuspect/patienceTick) {
				continue
			}
		}
		silent = 0
		b.spoke.Store(false)
		err := b.ask(ctx, b.patience, b.spoke.Load)
		if ctx.Err() != nil {
			return
		}
		if answered(err) {
			continue
		}
		b.open(err)
		if !b.awaitAnswer(ctx) {
			return
		}
		b.close()
	}
}

// ask sends a ping and waits for its answer, or until the server has answered someone else: under load a ping waits like any
// other call. The wait is counted in ticks: on a machine so busy that ticks come late, the answer may come late too.
func (b *breaker) ask(ctx context.Context, timeout time.Duration, spoke func() bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var pinging sync.WaitGroup
	defer pinging.Wait()
	defer cancel(nil)
	answer := make(chan error, 1)
	pinging.Go(func() { answer <- b.ping(ctx) })
	tick := time.NewTicker(patienceTick)
	defer tick.Stop()
	for range int(timeout / patienceTick) {
		select {
		case err := <-answer:
			return err
		case <-tick.C:
			if spoke() {
				return nil
			}
		}
	}
	cancel(errSilent)
	if err := <-answer; err != nil {
		return errors.Join(errSilent, err)
	}
	return nil
}

// awaitAnswer pings until the server answers; false means that ctx ended first. A ping may get lost, so the next one does not
// wait for it.
func (b *breaker) awaitAnswer(ctx context.Context) bool {
	ctx, stop := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer stop()
	back := make(chan struct{}, 1)
	slots := make(chan struct{}, pingsMax)
	tick := time.NewTicker(pingAgain)
	defer tick.Stop()
	asked := time.Now()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-back:
			return true
		case <-tick.C:
		}
		if b.seldom.Load() && time.Since(asked) < pingSeldom {
			continue
		}
		asked = time.Now()
		select {
		case slots <- struct{}{}:
		default:
			continue
		}
		asking.Go(func() {
			defer func() { <-slots }()
			if answered(b.ask(ctx, pingTimeoutOpen, func() bool { return false })) {
				select {
				case back <- struct{}{}:
				default:
				}
			}
		})
	}
}

// open refuses calls from now on, and ends those that wait: it closes their connections, which also keeps the pool from
// handing out dead ones.
func (b *breaker) open(err error) {
	b.mu.Lock()
	b.trip(ErrAway)
	b.back = make(chan struct{})
	conns := b.conns
	b.conns = map[*breakerConn]struct{}{}
	b.mu.Unlock()
	for c := range conns {
		c.dead.Store(true)
		_ = c.Conn.Close()
	}
	b.log.Warn("Redis does not answer: calls are refused until it does", "error", err)
}

// close lets calls through again: the server answers. Whether it does what they ask is another matter.
func (b *breaker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.up, b.trip = context.WithCancelCause(context.Background())
	close(b.back)
}

// dial makes a connection that ends when the breaker opens.
func (b *breaker) dial(ctx context.Context, next func(context.Context) (net.Conn, error)) (net.Conn, error) {
	up := b.state()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(up, func() { cancel(context.Cause(up)) })()
	conn, err := next(ctx)
	if err != nil {
		return nil, errors.Join(context.Cause(up), err)
	}
	b.dials.Add(1)
	c := &breakerConn{Conn: conn, of: b}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := context.Cause(up); err != nil {
		_ = conn.Close()
		return nil, err
	}
	b.conns[c] = struct{}{}
	return c, nil
}

// breakerConn is a connection that the breaker can close.
type breakerConn struct {
	net.Conn
	of   *breaker
	dead atomic.Bool // closed by the breaker
}

func (c *breakerConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// SyscallConn lets go-redis check whether a connection is still good before it uses it.
func (c *breakerConn) SyscallConn() (syscall.RawConn, error) {
	if c.dead.Load() {
		return nil, fmt.Errorf("the server did not answer: %w", net.ErrClosed)
	}
	if inner, ok := c.Conn.(syscall.Conn); ok {
		return inner.SyscallConn()
	}
	return uncheckedConn{}, nil
}

// uncheckedConn is a TLS connection, which cannot be checked.
type uncheckedConn struct{}

func (uncheckedConn) Control(func(fd uintptr)) error    { return nil }
func (uncheckedConn) Read(func(fd uintptr) bool) error  { return nil }
func (uncheckedConn) Write(func(fd uintptr) bool) error { return nil }
