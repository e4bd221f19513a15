package chat

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestKnownUsersAreWrittenOnce(t *testing.T) {
	k := newKnown()
	writes := map[string]int{}
	meet := func(user string) {
		t.Helper()
		k.note(user)
		if err := k.flush(t.Context(), func(_ context.Context, user string) error { writes[user]++; return nil }); err != nil {
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
	k := newKnown()
	for i := range knownMax + 10 {
		k.note(fmt.Sprint(i))
	}
	if len(k.waiting) != knownMax || len(k.wake) != 1 {
		t.Fatalf("%d users wait, %d signals; want %d and one", len(k.waiting), len(k.wake), knownMax)
	}
	k = newKnown()
	k.note("alice")
	away := errors.New("away")
	if err := k.flush(t.Context(), func(context.Context, string) error { return away }); !errors.Is(err, away) {
		t.Fatalf("got %v", err)
	}
	var wrote []string
	if err := k.flush(t.Context(), func(_ context.Context, user string) error { wrote = append(wrote, user); return nil }); err != nil || len(wrote) != 1 {
		t.Errorf("got %v, %v; want alice written when the store is back", wrote, err)
	}
	if k.note("alice"); len(k.waiting) != 0 {
		t.Error("alice waits again although she was written")
	}
}
