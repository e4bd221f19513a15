package live_test

import (
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
)

// edit changes a message of ann's.
func (l *node) edit(t testing.TB, target int64, body string) int64 {
	t.Helper()
	sent, err := l.Send(t.Context(), chat.Caller{User: "ann"}, "g", chat.Content{Kind: chat.Edit, Target: target, Body: &body}, "")
	if err != nil {
		t.Fatal(err)
	}
	return sent.ID
}

func (l *node) history(t testing.TB, shown bool) {
	t.Helper()
	if _, err := l.UpdateGroup(t.Context(), chat.Caller{User: "ann"}, "g", chat.GroupChange{History: &shown}); err != nil {
		t.Fatal(err)
	}
}

// put makes bob a member.
func (l *node) put(t testing.TB) {
	t.Helper()
	if _, _, err := l.PutMember(t.Context(), chat.Caller{User: "ann"}, "g", "bob", ""); err != nil {
		t.Fatal(err)
	}
}

// TestFollowHidesEditsOfWhatIsHidden serves edits from memory: to members who may not see what was edited without content,
// and to the others, of the same ring, with it.
func TestFollowHidesEditsOfWhatIsHidden(t *testing.T) {
	l := startLive(t, signalsOnly)
	l.group(t, "g", "ann") // 1
	l.history(t, false)    // 2
	secret := l.say(t, "g", "ann", "secret")
	l.put(t)
	ann, bob := l.listen(t, "ann", nil), l.listen(t, "bob", nil)
	shown := l.say(t, "g", "ann", "shown")
	ann.reach("g", shown)
	bob.reach("g", shown)
	l.redis.Do("CONFIG", "RESETSTAT")
	l.edit(t, secret, "secret two")
	last := l.edit(t, shown, "shown two")
	ann.reach("g", last)
	bob.reach("g", last)
	if got := l.redis.Calls()["evalsha_ro"]; got != 2 {
		t.Errorf("got %d reads of the store, want those of the two targets only: sessions are served from memory", got)
	}
	if got := strings.Join(ann.bodies["g"], ", "); got != "secret, shown, secret two, shown two" {
		t.Errorf("ann: got %q", got)
	}
	if got := strings.Join(bob.bodies["g"], ", "); got != "shown, shown two" {
		t.Errorf("bob: got %q", got)
	}
}

// TestFollowHidesFromNowOn takes the history back while sessions follow: an edit of what a member saw before has no content
// any longer, until the history is given again.
func TestFollowHidesFromNowOn(t *testing.T) {
	l := startLive(t, signalsOnly)
	l.group(t, "g", "ann")
	old := l.say(t, "g", "ann", "old")
	l.put(t)
	ann, bob := l.listen(t, "ann", nil), l.listen(t, "bob", nil)
	for i, shown := range []bool{true, false, true} {
		l.history(t, shown)
		id := l.edit(t, old, "edit "+string(rune('1'+i)))
		ann.reach("g", id)
		bob.reach("g", id)
	}
	if got := strings.Join(ann.bodies["g"], ", "); !strings.HasSuffix(got, "edit 1, edit 2, edit 3") {
		t.Errorf("ann: got %q", got)
	}
	for _, body := range bob.bodies["g"] {
		if body == "edit 2" {
			t.Errorf("bob: got %q, served while the history was hidden", bob.bodies["g"])
		}
	}
	if got := bob.bodies["g"]; got[len(got)-1] != "edit 3" {
		t.Errorf("bob: got %q, want the last edit", got)
	}
}
