package live_test

import (
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// TestWaitingPollEndsWhenGroupsVanish: whether the store was emptied or the user left, and whether or not the call named the group, a
// call that waits is answered, not ended by its time.
func TestWaitingPollEndsWhenGroupsVanish(t *testing.T) {
	l := startLive(t, func(x *chat.Limits) { x.SafetyCheck = 200 * time.Millisecond })
	for what, vanish := range map[string]func(){
		"an emptied store": func() { l.redis.Do("FLUSHALL") },
		"leaving": func() {
			if err := l.RemoveMember(t.Context(), chat.Caller{User: "bob"}, "red", "bob"); err != nil {
				t.Fatal(err)
			}
		},
		"a deleted group": func() {
			if err := l.DeleteGroup(t.Context(), chat.Caller{User: "ann"}, "red"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, req := range []live.SyncRequest{{}, {After: map[string]string{"red": "2"}}} {
			l.group(t, "red", "ann", "bob")
			if _, err := l.Ack(t.Context(), chat.Caller{User: "bob"}, "red", chat.At(2)); err != nil {
				t.Fatal(err)
			}
			waits := make(chan struct{}, 100)
			req.WaitS, req.OnWait = 50, func() { waits <- struct{}{} }
			type outcome struct {
				live.SyncAnswer
				err error
			}
			answered := make(chan outcome, 1)
			go func() {
				a, err := l.Sync(t.Context(), chat.Caller{User: "bob"}, req)
				answered <- outcome{a, err}
			}()
			<-waits
			vanish()
			select {
			case a := <-answered:
				if a.err != nil || !slices.Equal(a.Left, []string{"red"}) {
					t.Errorf("%s, after %v: got %+v, %v, want red left", what, req.After, a.SyncAnswer, a.err)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("%s, after %v: the call still waits", what, req.After)
				t.FailNow()
			}
			l.redis.Do("FLUSHALL")
		}
	}
}
