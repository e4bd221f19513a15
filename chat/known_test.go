package chat

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestKnownUsersAreWrittenOnce(t *testing.T) {
	var k known
	now := time.Now()
	writes := map[string]int{}
	meet := func(user string) {
		if k.asks(user, now) {
			writes[user]++
			k.wrote(user, nil, now)
		}
	}
	// Others come and go; whoever is seen now and then stays known, and the memory has a bound.
	for i := range 5 * knownMax {
		meet(fmt.Sprint(i))
		if i%(knownMax/2) == 0 {
			meet("alice")
		}
		if got := len(k.young) + len(k.old); got > 2*knownMax {
			t.Fatalf("%d users are remembered, more than %d", got, 2*knownMax)
		}
	}
	if writes["alice"] != 1 {
		t.Errorf("got %d writes of a user who is seen all the time, want 1", writes["alice"])
	}
	if meet("0"); writes["0"] != 2 {
		t.Errorf("got %d writes of a user who was forgotten, want 2", writes["0"])
	}
}

func TestKnownWaitsAfterAFailure(t *testing.T) {
	var k known
	now := time.Now()
	k.wrote("alice", errors.New("down"), now)
	for user, at := range map[string]time.Time{"alice": now, "bob": now.Add(knowPause - 1)} {
		if k.asks(user, at) {
			t.Errorf("%s is written %v after a failure", user, at.Sub(now))
		}
	}
	if !k.asks("alice", now.Add(knowPause)) {
		t.Error("alice is not written again")
	}
}
