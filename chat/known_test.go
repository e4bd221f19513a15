package chat

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// knowing is a store that only lists users.
type knowing struct {
	IndexStore
	know func(user string) error
}

func (k knowing) KnowAll(_ context.Context, users []string) (written []string, err error) {
	for _, user := range users {
		if e := k.know(user); e != nil {
			err = e
			continue
		}
		written = append(written, user)
	}
	return written, err
}

func TestKnownUsersAreWrittenOnce(t *testing.T) {
	writes := map[string]int{}
	k := newKnown(knowing{know: func(user string) error { writes[user]++; return nil }})
	meet := func(user string) {
		t.Helper()
		k.Know(user)
		if err := k.FlushKnown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// Others come and go; a user who is seen now and then stays known, and the memory has a bound.
	for i := range 3 * knownMax {
		meet(fmt.Sprint(i))
		if i%(knownMax/2) == 0 {
			meet("alice")
		}
		if got := k.written.Len(); got > 2*knownMax {
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

// TestKnownUsersWaitForTheStore: noting waits for nothing, has a bound, and loses nobody while the store is away.
func TestKnownUsersWaitForTheStore(t *testing.T) {
	var wrote []string
	away := errors.New("away")
	answer := away
	store := knowing{know: func(user string) error {
		if answer == nil {
			wrote = append(wrote, user)
		}
		return answer
	}}
	k := newKnown(store)
	for i := range knownMax + 10 {
		k.Know(fmt.Sprint(i))
	}
	if len(k.waiting) != knownMax || len(k.later.Wake) != 1 {
		t.Fatalf("%d users wait, %d signals; want %d and one", len(k.waiting), len(k.later.Wake), knownMax)
	}
	k = newKnown(store)
	k.Know("alice")
	if err := k.FlushKnown(t.Context()); !errors.Is(err, away) {
		t.Fatalf("got %v", err)
	}
	answer = nil
	if err := k.FlushKnown(t.Context()); err != nil || len(wrote) != 1 {
		t.Errorf("got %v, %v; want alice written when the store is back", wrote, err)
	}
	if k.Know("alice"); len(k.waiting) != 0 {
		t.Error("alice waits again although she was written")
	}
}
