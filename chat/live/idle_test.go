package live_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
)

// What a node asks about the users who are connected does not grow with their number while nothing happens.
func TestIdleSessionsCostNoLooks(t *testing.T) {
	l := startLive(t, func(x *chat.Limits) { x.SafetyCheck = 20 * time.Millisecond })
	const users, checks = 60, 40
	for i := range users {
		l.listen(t, fmt.Sprint("user", i), nil)
	}
	looked := func() int64 { return l.redis.Calls()["hgetall"] }
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	wait := func(n int64) {
		t.Helper()
		over := time.After(30 * time.Second)
		for begun := looked(); looked() < begun+n; {
			select {
			case <-tick.C:
			case <-over:
				t.Fatal("no safety check is running")
			}
		}
	}
	wait(2) // the first check compares everybody
	l.redis.Do("CONFIG", "RESETSTAT")
	wait(checks)
	calls := l.redis.Calls()
	// All of them by turns in 251 checks; each check compared all of them otherwise.
	if got, most := calls["llen"], calls["hgetall"]*users/4; got > most {
		t.Errorf("%d inboxes were compared in %d checks, want at most %d", got, calls["hgetall"], most)
	}
}
