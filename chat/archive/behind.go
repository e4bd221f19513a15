package archive

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	behindMax  = 10_000      // logs whose lag a node knows
	behindKept = time.Minute // while a log is behind, a run looks at it every few seconds: on this node, or on another
	logEvery   = time.Minute // between two log lines about failures
)

// behind holds how far logs are behind, as this node last saw it.
type behind struct {
	mu   sync.Mutex
	logs map[Log]lagged
}

type lagged struct {
	entries int64
	oldest  time.Time // when the first of them was sent
	at      time.Time // when it was seen
}

func newBehind() *behind { return &behind{logs: map[Log]lagged{}} }

func (b *behind) note(l Lag) {
	one := lagged{entries: l.Entries(), at: time.Now()}
	if len(l.Messages) > 0 {
		one.oldest = sentAt(l.Messages[0])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.logs[l.Log]; ok || len(b.logs) < behindMax {
		b.logs[l.Log] = one
	}
}

func (b *behind) caughtUp(log Log) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.logs, log)
}

func (b *behind) total() (groups, entries int64, oldest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for log, one := range b.logs {
		if time.Since(one.at) > behindKept {
			delete(b.logs, log)
			continue
		}
		groups++
		entries += one.entries
		if !one.oldest.IsZero() {
			oldest = max(oldest, time.Since(one.oldest))
		}
	}
	return groups, entries, oldest
}

// failureLog writes a line about failures now and then, and one when the database answers again, if it had said otherwise.
type failureLog struct {
	log *slog.Logger

	mu    sync.Mutex
	at    time.Time // of the last line
	since int       // failures after it
	away  bool      // it said so
}

func (l *failureLog) failure(ctx context.Context, err error, away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since++
	if time.Since(l.at) < logEvery {
		return
	}
	message := "the archive refused entries, which wait in the store"
	if away {
		message = "the archive does not answer: entries wait in the store"
	}
	l.log.ErrorContext(ctx, message, "error", err, "failures", l.since)
	l.at, l.since, l.away = time.Now(), 0, l.away || away
}

func (l *failureLog) back(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		l.log.InfoContext(ctx, "the archive answers again")
	}
	l.away = false
}
