package ws

import (
	"cmp"
	"slices"
	"time"
)

// Which sessions relieve closes, and how often it checks.
const (
	relieveAfter = time.Second            // a client that makes progress keeps its session
	relieveEvery = 100 * time.Millisecond // each check goes over all sessions
	relieveMost  = 64                     // sessions closed by one check
)

// relieve closes the sessions that have waited longest for their clients to read, because the pending events of all
// sessions together have reached their bound. Nothing is lost: a client continues from its cursors.
func (s *Sessions) relieve(now time.Time) {
	last := s.relieved.Load()
	if now.UnixMilli()-last < relieveEvery.Milliseconds() || !s.relieved.CompareAndSwap(last, now.UnixMilli()) {
		return
	}
	type waiting struct {
		*session
		since int64
	}
	var slow []waiting
	for _, one := range s.snapshot() {
		since, f := one.raw.blocked.Load(), one.started.Load()
		if since != 0 && now.UnixMilli()-since >= relieveAfter.Milliseconds() && f != nil && f.Held() > 0 {
			slow = append(slow, waiting{one, since})
		}
	}
	slices.SortFunc(slow, func(a, b waiting) int { return cmp.Compare(a.since, b.since) })
	for _, one := range slow[:min(len(slow), relieveMost)] {
		one.end(ending{code: closeStalled, reason: "too slow while too much is waiting on this node"})
	}
}
