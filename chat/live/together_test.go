package live_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chatd/chatd/chat"
)

// herd is so many members of g who have missed more than a ring holds, and follow it again from where they were.
func (l *node) herd(t *testing.T, members, missed int) (them []*listener, last int64) {
	t.Helper()
	users := make([]string, members)
	for i := range users {
		users[i] = "user-" + string(rune('a'+i/26)) + string(rune('a'+i%26))
	}
	if _, err := l.CreateGroup(t.Context(), chat.Caller{User: "ann"}, chat.GroupDraft{ID: "g", Members: users}); err != nil {
		t.Fatal(err)
	}
	after := map[string]string{"g": "2"}
	for range missed {
		last = l.say(t, "g", "ann", "a message that is about as long as messages are")
	}
	for _, user := range users {
		them = append(them, l.listen(t, user, after))
	}
	return them, last
}

// TestMembersBehindReadTogether: those who come back at the same time get the same batches, whose frames are made once.
func TestMembersBehindReadTogether(t *testing.T) {
	l := startLive(t, signalsOnly)
	const members, missed = 30, 300
	them, last := l.herd(t, members, missed)
	var first sync.WaitGroup // of the reads, which nobody is served before all have come
	first.Add(members)
	var came atomic.Int64
	wait := func() {
		if came.Add(1) <= members {
			first.Done()
			first.Wait()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l.store.pulling.Store(&wait)
	l.redis.Do("CONFIG", "RESETSTAT")
	shared := make([]*chat.Shared, members)
	var done sync.WaitGroup
	for i, one := range them {
		done.Go(func() {
			for one.to["g"] < last && !t.Failed() {
				e, err := one.Next(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				if b := e.Messages; b != nil {
					if shared[i] == nil {
						shared[i] = b.Shared
					}
					one.take(b)
				}
			}
		})
	}
	done.Wait()
	for i, one := range them {
		if got := len(one.bodies["g"]); got != missed {
			t.Errorf("member %d got %d messages, want %d", i, got, missed)
		}
	}
	most, counts := 0, map[*chat.Shared]int{}
	for _, s := range shared {
		if s != nil {
			counts[s]++
			most = max(most, counts[s])
		}
	}
	if most < members/2 {
		t.Errorf("%d of %d members got the same first batch", most, members)
	}
	if got := l.redis.Calls()["zrangebyscore"]; got > 3*members { // alone each needs ten or more
		t.Errorf("the store was asked for %d ranges for %d members", got, members)
	}
}

// TestMembersBehindAreServedByTheirRights: what was read for all is served to each as the store lets them see it.
func TestMembersBehindAreServedByTheirRights(t *testing.T) {
	l := startLive(t, signalsOnly)
	l.group(t, "g", "ann", "bob", "carl", "dora", "eve")
	l.history(t, false)
	l.say(t, "g", "ann", "for all")
	out := map[string]bool{"bob": true, "carl": true}
	for user := range out {
		if err := l.RemoveMember(t.Context(), chat.Caller{User: "ann"}, "g", user); err != nil {
			t.Fatal(err)
		}
	}
	secret := l.say(t, "g", "ann", "while they were out")
	for user := range out {
		if _, _, err := l.PutMember(t.Context(), chat.Caller{User: "ann"}, "g", user, ""); err != nil {
			t.Fatal(err)
		}
	}
	l.edit(t, secret, "what it says now")
	last := l.say(t, "g", "ann", "for all again")
	for range 200 {
		last = l.say(t, "g", "ann", "more")
	}
	var them []*listener
	for _, user := range []string{"ann", "bob", "carl", "dora", "eve"} {
		them = append(them, l.listen(t, user, map[string]string{"g": "2"}))
	}
	var done sync.WaitGroup
	for _, one := range them {
		done.Go(func() {
			for one.to["g"] < last && !t.Failed() {
				e, err := one.Next(t.Context())
				if err != nil {
					t.Error(err)
				} else if e.Messages != nil {
					one.take(e.Messages)
				}
			}
		})
	}
	done.Wait()
	for i, user := range []string{"ann", "bob", "carl", "dora", "eve"} {
		got := map[string]bool{}
		for _, body := range them[i].bodies["g"] {
			got[body] = true
		}
		// The message itself reads as its edit by now.
		if sees := got["what it says now"] || got["while they were out"]; sees == out[user] || !got["for all again"] || got["for all"] == out[user] {
			t.Errorf("%s, out meanwhile: %t: got %v", user, out[user], got)
		}
	}
}
