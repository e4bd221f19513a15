package hook

import (
	"sync"
	"time"

	"github.com/chatd/chatd/queue/backoff"
)

// The breaker of a hook: after this many failures in a row nobody asks it for a time that doubles, and then one question tries.
const (
	breakerFailures = 5
	breakerMin      = time.Second
	breakerMax      = time.Minute
)

// asked is a hook as this node asks it.
type asked struct {
	*Hook
	line *line
}

// line is what a node has under way with a hook, and how the hook fares.
type line struct {
	mu       sync.Mutex
	working  int64
	failures int       // in a row
	shut     time.Time // nobody asks before then
	trying   bool      // one question tries whether the hook is back
}

// enter takes a place for a question. The word says why there is none; empty: there was one, and leave must follow.
func (l *line) enter(most int64, now time.Time) (why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	broken := l.failures >= breakerFailures
	switch {
	case broken && (l.trying || now.Before(l.shut)):
		return outcomeAway
	case l.working >= most:
		return outcomeFull
	}
	l.trying = broken
	l.working++
	return ""
}

// leave gives a place back. answered is nil where the question ended for another reason than the hook's.
func (l *line) leave(answered *bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working--
	l.trying = false
	switch {
	case answered == nil:
	case *answered:
		l.failures = 0
	default:
		l.failures++
		if more := l.failures - breakerFailures; more >= 0 {
			l.shut = now.Add(backoff.Spread(backoff.Doubled(breakerMin, breakerMax, more)))
		}
	}
}
