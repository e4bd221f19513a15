package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/conn"
)

const (
	causeLineEvery  = time.Minute // between two lines of a cause
	causeProbeEvery = time.Second // between two looks whether it is over
)

// causeLog keeps the log short while the store fails: everything that needs it fails then, many times a second. Of each cause
// it passes one line a minute, which names the cause and how many were left out, and it says when the store takes writes
// again.
type causeLog struct {
	writable func(context.Context) error
	now      func() time.Time

	mu     sync.Mutex
	causes map[conn.Cause]*trouble
	began  chan struct{} // has an entry when there is a new cause
}

// trouble is one cause, now or in the last minute.
type trouble struct {
	since  time.Time // zero: it is over
	seenAt time.Time
	lineAt time.Time
	said   bool // a line was passed since it began
	left   int  // lines that were left out since the last one
}

func newCauseLog() *causeLog {
	return &causeLog{now: time.Now, causes: map[conn.Cause]*trouble{}, began: make(chan struct{}, 1)}
}

// pass tells whether to write a line of the cause, and how many were left out before it.
func (l *causeLog) pass(cause conn.Cause) (left int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	t := l.causes[cause]
	if t == nil {
		t = &trouble{}
		l.causes[cause] = t
	}
	if t.since.IsZero() {
		t.since, t.said = now, false
		select {
		case l.began <- struct{}{}:
		default:
		}
	}
	t.seenAt = now
	if !t.lineAt.IsZero() && now.Sub(t.lineAt) < causeLineEvery {
		t.left++
		return 0, false
	}
	left = t.left
	t.lineAt, t.said, t.left = now, true, 0
	return left, true
}

// run says when troubles are over, until ctx ends.
func (l *causeLog) run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(causeProbeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.began:
		}
		for l.exec(ctx, log) {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// exec looks once whether troubles are over, and reports whether there are any left. A trouble is over when the store takes
// writes, and nothing failed of it since the last look; missing rights, of which that says nothing, when nothing failed of
// them for as long as there is between two lines.
func (l *causeLog) exec(ctx context.Context, log *slog.Logger) (left bool) {
	probing, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	writable := l.writable(probing) == nil
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for cause, t := range l.causes {
		if t.since.IsZero() {
			continue
		}
		quiet := now.Sub(t.seenAt)
		if cause == conn.CauseRights && quiet < causeLineEvery || !writable || quiet < causeProbeEvery {
			left = true
			continue
		}
		if t.said {
			log.Info("the store answers again", "cause", cause, "after", now.Sub(t.since).Round(time.Millisecond).String(), "left_out", t.left)
			t.left = 0
		}
		t.since = time.Time{}
	}
	return left
}

// causeHandler passes the lines of a log through causeLog. calls: all its errors are of calls of the store.
type causeHandler struct {
	slog.Handler
	shared *causeLog
	calls  bool
}

// over returns a log whose lines pass through l. calls: it is the log of what calls the store with no package between, whose
// errors do not say what they are of.
func (l *causeLog) over(log *slog.Logger, calls bool) *slog.Logger {
	return slog.New(&causeHandler{log.Handler(), l, calls})
}

func (h *causeHandler) Handle(ctx context.Context, r slog.Record) error {
	cause := h.causeOf(r)
	if cause == "" {
		return h.Handler.Handle(ctx, r)
	}
	left, ok := h.shared.pass(cause)
	if !ok {
		return nil
	}
	r = r.Clone()
	r.AddAttrs(slog.String("cause", string(cause)))
	if left > 0 {
		r.AddAttrs(slog.Int("left_out", left))
	}
	return h.Handler.Handle(ctx, r)
}

func (h *causeHandler) causeOf(r slog.Record) (cause conn.Cause) {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && a.Key == "error" {
			if cause = store.CauseOf(err); h.calls {
				cause = store.CauseOfCall(err)
			}
		}
		return cause == ""
	})
	return cause
}

func (h *causeHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &causeHandler{h.Handler.WithAttrs(attrs), h.shared, h.calls}
}

func (h *causeHandler) WithGroup(name string) slog.Handler {
	return &causeHandler{h.Handler.WithGroup(name), h.shared, h.calls}
}
