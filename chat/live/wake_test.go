package live_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// A message wakes the long polls of its group to read that group, together, and neither the inbox nor the index of anybody.
func TestLongPollsReadOnlyWhatGrew(t *testing.T) {
	t.Parallel()
	const polls, perPoll = 100, 3
	l := startLive(t, signalsOnly)
	members := make([]string, polls)
	for i := range members {
		members[i] = fmt.Sprintf("u%03d", i)
	}
	l.group(t, "g", "alice", members...)
	last := l.say(t, "g", "alice", "before")
	var polling, done sync.WaitGroup
	polling.Add(polls)
	for _, user := range members {
		done.Go(func() {
			var once sync.Once
			a, err := l.Sync(t.Context(), chat.Caller{User: user}, live.SyncRequest{
				Ack: map[string]chat.Position{"g": chat.At(last)}, WaitS: 60, OnWait: func() { once.Do(polling.Done) }})
			if want := fmt.Sprintf("g %d..%d/%d", last+1, last+1, last+1); err != nil || outline(a) != want {
				t.Errorf("%s: got %q, %v, want %q", user, outline(a), err, want)
			}
		})
	}
	polling.Wait()
	l.redis.Do("CONFIG", "RESETSTAT")
	l.say(t, "g", "alice", "hi")
	done.Wait()
	calls, all := l.redis.Calls(), int64(0)
	for _, n := range calls {
		all += n
	}
	all -= 2 * calls["zadd"] // where the acks of before are noted only now: a script with one ZADD for each user
	t.Logf("%d commands for %d polls: %v", all, polls, calls)
	if all > polls*perPoll {
		t.Errorf("waking %d polls took %d commands, want at most %d: %v", polls, all, polls*perPoll, calls)
	}
}
