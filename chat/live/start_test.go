package live_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// trips are the round trips of one beginning: to follow, to read what a session begins with, and to read standings.
func (l *node) trips(do func()) [3]int64 {
	before := [3]int64{l.store.followed.Load(), l.store.begins.Load(), l.store.stands.Load()}
	do()
	return [3]int64{l.store.followed.Load() - before[0], l.store.begins.Load() - before[1], l.store.stands.Load() - before[2]}
}

// TestSessionsBeginWithOneRead counts the round trips of sessions: index, inbox and standings come with one of them where the node
// knows the groups, because the user was here before, or because others follow what the client names.
func TestSessionsBeginWithOneRead(t *testing.T) {
	l := startLive(t, signalsOnly)
	l.group(t, "g", "ann", "bob")
	l.group(t, "h", "ann", "bob")
	began := func(user string, after map[string]string, want [3]int64) *listener {
		t.Helper()
		var one *listener
		if got := l.trips(func() { one = l.listen(t, user, after) }); got != want {
			t.Errorf("%s began with %v round trips (follow, begin, standings), want %v", user, got, want)
		}
		if w := one.Welcome(); len(w.Groups) != 2 || one.Groups() != 2 {
			t.Errorf("%s is welcome in %v", user, w.Groups)
		}
		return one
	}
	first := began("bob", nil, [3]int64{2, 1, 1})  // nobody is here
	second := began("bob", nil, [3]int64{0, 1, 1}) // it is followed, but not known to be bob's
	first.Close()
	third := began("bob", nil, [3]int64{0, 1, 0})
	named := began("ann", map[string]string{"g": "1", "h": "1"}, [3]int64{1, 1, 0})
	last := l.say(t, "g", "ann", "for all")
	for _, one := range []*listener{second, third, named} {
		one.reach("g", last)
	}
}

// TestSessionsBeginWhereTheyAre: what a node remembers of a user, and what a client names, decides nothing.
func TestSessionsBeginWhereTheyAre(t *testing.T) {
	l := startLive(t, signalsOnly)
	for _, id := range []string{"stays", "left", "foreign"} {
		l.group(t, id, "ann", "carl")
	}
	for _, id := range []string{"stays", "left"} {
		if _, _, err := l.PutMember(t.Context(), chat.Caller{User: "ann"}, id, "bob", ""); err != nil {
			t.Fatal(err)
		}
	}
	l.listen(t, "carl", nil) // has all of them followed
	l.listen(t, "bob", nil).Close()
	if err := l.RemoveMember(t.Context(), chat.Caller{User: "ann"}, "left", "bob"); err != nil {
		t.Fatal(err)
	}
	l.group(t, "joined", "ann", "bob")
	bob := l.listen(t, "bob", map[string]string{"stays": "1", "left": "1", "foreign": "1", "unheard": "1"})
	w := bob.Welcome()
	var in []string
	for g := range w.Groups {
		in = append(in, g)
	}
	if slices.Sort(in); !slices.Equal(in, []string{"joined", "stays"}) || bob.Groups() != 2 {
		t.Errorf("bob is in %v, and follows %d", in, bob.Groups())
	}
	l.say(t, "foreign", "ann", "secret")
	l.say(t, "left", "ann", "secret")
	last := map[string]int64{"joined": l.say(t, "joined", "ann", "x"), "stays": l.say(t, "stays", "ann", "x")}
	var left []string
	for bob.to["joined"] < last["joined"] || bob.to["stays"] < last["stays"] || len(left) < 3 {
		e := bob.next()
		if e.Left != "" {
			left = append(left, e.Left)
		}
		if b := e.Messages; b != nil && last[b.Group] == 0 {
			t.Errorf("bob gets %d messages of %s", len(b.Messages), b.Group)
		}
	}
	if slices.Sort(left); !slices.Equal(left, []string{"foreign", "left", "unheard"}) {
		t.Errorf("bob left %v", left)
	}
}

// TestNothingIsMissedWhileSessionsBegin: what is sent, and who comes and goes, between the read and the welcome reaches the session once.
func TestNothingIsMissedWhileSessionsBegin(t *testing.T) {
	l := startLive(t, signalsOnly)
	l.group(t, "g", "ann", "bob")
	l.group(t, "left", "ann", "bob")
	for round := range 3 { // the first finds nothing that the node remembers
		var last int64
		l.store.afterBegin(func() {
			for i := range 5 {
				last = l.say(t, "g", "ann", fmt.Sprint(round, "-", i))
			}
			l.group(t, fmt.Sprint("joined-", round), "ann", "bob")
			if err := l.RemoveMember(t.Context(), chat.Caller{User: "ann"}, "left", "bob"); err != nil {
				t.Error(err)
			}
		})
		bob := l.listen(t, "bob", nil)
		_, in := bob.Welcome().Groups["left"]
		joined, left := false, !in
		for bob.to["g"] < last || !joined || !left {
			e := bob.next()
			joined = joined || e.Joined == fmt.Sprint("joined-", round)
			left = left || e.Left == "left"
		}
		if got := bob.bodies["g"]; len(got) != 5*(round+1) {
			t.Errorf("round %d: bob got %v", round, got)
		}
		bob.Close()
		if _, _, err := l.PutMember(t.Context(), chat.Caller{User: "ann"}, "left", "bob", ""); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSessionsOfKeysBeginInTheirGroups: what the node remembers of a user is not for a key that reaches less.
func TestSessionsOfKeysBeginInTheirGroups(t *testing.T) {
	l := startLive(t, signalsOnly)
	l.group(t, "g", "ann", "bob")
	l.group(t, "h", "ann", "bob")
	l.listen(t, "bob", nil).Close()
	f, err := l.Follow(t.Context(), chat.Caller{User: "bob", Reach: reach("g")}, live.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if w := f.Welcome(); len(w.Groups) != 1 || f.Groups() != 1 {
		t.Errorf("the key is welcome in %v, and follows %d", w.Groups, f.Groups())
	}
}

// reach is a key's group.
type reach string

func (r reach) InGroup(group string) bool { return group == string(r) }
