package files

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// TestTurnsAreShared has one user wait for many large pictures: the small ones of others come after the one that is being made, and
// who had much before waits no longer for it.
func TestTurnsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		var order []string
		step := make(chan struct{})
		ask := func(user, name string, cost int64) {
			go func() {
				done, err := all.take(t.Context(), user, cost)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, name)
				<-step
				done()
			}()
			synctest.Wait()
		}
		for n := range 5 {
			ask("mallory", fmt.Sprint("large ", n), 40_000_000)
		}
		ask("ann", "small", 100_000)
		ask("bob", "medium", 1_000_000)
		ask("ann", "small again", 100_000)
		gone, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := all.take(gone, "carl", 1)
			left <- err
		}()
		synctest.Wait()
		leave()
		if <-left == nil {
			t.Error("who has left gets a turn")
		}
		for range 8 {
			step <- struct{}{}
			synctest.Wait()
		}
		want := []string{"large 0", "small", "small again", "medium", "large 1", "large 2", "large 3", "large 4"}
		if !slices.Equal(order, want) {
			t.Errorf("got %q, want %q", order, want)
		}
		if all.busy || len(all.waiting)+len(all.ends) > 0 {
			t.Errorf("left behind: %+v", &all)
		}
	})
}

// TestPreviewIsKept: who leaves does not end what was begun, everyone who asks for it waits for the same, and what a user may have
// under way is bounded.
func TestPreviewIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all previews
		made := map[string]int{}
		step := make(chan struct{})
		of := func(ctx context.Context, user string, id int) chan error {
			answered := make(chan error, 1)
			f := File{}
			f.ID = fmt.Sprint(id)
			go func() {
				answered <- all.of(ctx, user, f, func(ctx context.Context, id string) error {
					select {
					case <-step:
						made[id]++
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
			}()
			synctest.Wait()
			return answered
		}
		ctx, leave := context.WithCancel(t.Context())
		first := of(ctx, "ann", 0)
		leave()
		if err := <-first; err == nil {
			t.Error("who has left is answered")
		}
		again := of(t.Context(), "bob", 0)
		step <- struct{}{}
		if err := <-again; err != nil || made["0"] != 1 {
			t.Errorf("got %v, made %v times", err, made["0"])
		}
		for n := range previewsUserMax {
			of(t.Context(), "ann", 1+n)
		}
		if err := <-of(t.Context(), "ann", 1000); err == nil {
			t.Error("more than a user may have under way")
		}
		small := of(t.Context(), "bob", 1001)
		for range 3 { // the one that is being made, and at most one of the other's before it
			step <- struct{}{}
		}
		if err := <-small; err != nil {
			t.Error(err)
		}
		all.close()
		if err := <-of(t.Context(), "bob", 1002); err == nil {
			t.Error("a preview after the end")
		}
	})
}
