package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/internal/interval"
)

// calls is a Run that shows its items, and ends when the test says so. The outcome of an item is its negative.
type calls struct {
	begun chan []int
	end   chan struct{}
	guard sync.Mutex
	ended []error // the contexts' errors when the calls ended
}

func (c *calls) run(ctx context.Context, items []int) []int {
	c.begun <- items
	<-c.end
	c.guard.Lock()
	c.ended = append(c.ended, ctx.Err())
	c.guard.Unlock()
	outcomes := make([]int, len(items))
	for i, item := range items {
		outcomes[i] = -item
	}
	return outcomes
}

// controlled is a Batcher whose callers and calls the test controls.
type controlled struct {
	*testing.T
	*calls
	*Batcher[int, int]
	callers sync.WaitGroup
}

func start(t *testing.T, alone, flying, size int) *controlled {
	c := &calls{begun: make(chan []int), end: make(chan struct{})}
	return &controlled{T: t, calls: c, Batcher: &Batcher[int, int]{Run: c.run, Alone: alone, Calls: flying, Size: size}}
}

// do calls Do, and expects the outcome of the item.
func (b *controlled) do(ctx context.Context, item int) {
	b.callers.Go(func() {
		if got, err := b.Do(ctx, item); got != -item || err != nil {
			b.Errorf("%d: got %d, %v", item, got, err)
		}
	})
}

// until waits until that is what goes on.
func (b *controlled) until(want Load) {
	b.Helper()
	var every interval.Growing
	for end := time.Now().Add(time.Minute); b.Load() != want; <-every.Next() {
		if time.Now().After(end) {
			b.Fatalf("got %+v, want %+v", b.Load(), want)
		}
	}
}

// waiting waits until so many callers wait behind one call.
func (b *controlled) waiting(n int) {
	b.Helper()
	b.until(Load{Inside: 1 + n, Flying: 1, Waiting: n})
}

// begins takes the items of the next call.
func (b *controlled) begins(want ...int) {
	b.Helper()
	if got := <-b.begun; !slices.Equal(got, want) {
		b.Errorf("a call of %v, want %v", got, want)
	}
}

// idle sees that nothing is left behind.
func (b *controlled) idle() {
	b.Helper()
	b.callers.Wait()
	if left := b.Load(); left != (Load{}) {
		b.Errorf("left behind: %+v", left)
	}
}

func TestFewCallersGoAlone(t *testing.T) {
	b := start(t, 3, 1, 9)
	for i := range 3 {
		b.do(t.Context(), i)
	}
	for range 3 {
		if items := <-b.begun; len(items) != 1 {
			t.Errorf("a call of %v", items)
		}
	}
	b.do(t.Context(), 4)
	b.until(Load{Inside: 4, Flying: 3, Waiting: 1})
	for range 3 {
		b.end <- struct{}{} // the end of the last lets the waiting caller go
	}
	b.begins(4)
	b.end <- struct{}{}
	b.idle()
}

func TestWaitingCallersGoTogetherInOrder(t *testing.T) {
	b := start(t, 0, 1, 3)
	b.do(t.Context(), 1)
	b.begins(1)
	for i := range 5 {
		b.do(t.Context(), 2+i)
		b.waiting(1 + i)
	}
	for _, items := range [][]int{{2, 3, 4}, {5, 6}} {
		b.end <- struct{}{}
		b.begins(items...)
	}
	b.end <- struct{}{}
	b.idle()
}

// Under steady load, callers that overtook waiting ones would let these wait forever.
func TestNobodyOvertakesWaitingCallers(t *testing.T) {
	b := start(t, 3, 1, 9)
	for range 3 {
		b.do(t.Context(), 1)
		b.begins(1)
	}
	b.do(t.Context(), 2)
	b.until(Load{Inside: 4, Flying: 3, Waiting: 1})
	for range 2 {
		b.end <- struct{}{}
	}
	b.until(Load{Inside: 2, Flying: 1, Waiting: 1})
	b.do(t.Context(), 3) // the third caller: alone, if nobody waited
	b.until(Load{Inside: 3, Flying: 1, Waiting: 2})
	b.end <- struct{}{}
	b.begins(2, 3)
	b.end <- struct{}{}
	b.idle()
}

func TestCallerGivesUpWaiting(t *testing.T) {
	b := start(t, 0, 1, 9)
	b.do(t.Context(), 1)
	b.begins(1)
	ctx, cancel := context.WithCancel(t.Context())
	quit := make(chan error)
	go func() {
		_, err := b.Do(ctx, 2)
		quit <- err
	}()
	b.waiting(1)
	b.do(t.Context(), 3)
	b.waiting(2)
	cancel()
	if err := <-quit; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	b.end <- struct{}{}
	b.begins(3) // without the one that gave up
	b.end <- struct{}{}
	b.idle()
}

// TestLeaderThatGivesUpGoesOn: the others' call is not cut off with the context of the caller that makes it.
func TestLeaderThatGivesUpGoesOn(t *testing.T) {
	b := start(t, 0, 1, 9)
	b.do(t.Context(), 1)
	b.begins(1)
	ctx, cancel := context.WithCancel(t.Context())
	b.do(ctx, 2)
	b.waiting(1)
	b.do(t.Context(), 3)
	b.waiting(2)
	b.end <- struct{}{}
	b.begins(2, 3)
	cancel()
	b.end <- struct{}{}
	b.idle()
	if err := errors.Join(b.ended...); err != nil {
		t.Errorf("a call's context ended: %v", err)
	}
}

// waits puts callers into the queue that do nothing until they are looked at.
func (b *controlled) waits(n int) (list []*waiter[int, int]) {
	for i := range n {
		list = append(list, &waiter[int, int]{item: i, turn: make(chan struct{})})
	}
	b.wait = slices.Clone(list)
	return list
}

// TestLeadIsNotLost: the lead goes to a caller whose context ends at that very moment.
func TestLeadIsNotLost(t *testing.T) {
	b := start(t, 0, 1, 2)
	list := b.waits(3)
	b.load.Flying = 1
	b.land()
	for i, leads := range []bool{true, false, false} {
		if b.mustLead(list[i]) != leads {
			t.Errorf("caller %d leads: %v, want %v", i, !leads, leads)
		}
	}
	if len(b.wait) != 0 || b.load.Flying != 1 {
		t.Errorf("got %+v, %d wait; want the last caller gone, who gave up", b.load, len(b.wait))
	}
}

// TestCallsThatEndTogetherAreFollowedByOne: the first that ends gives all waiting callers to the next call.
func TestCallsThatEndTogetherAreFollowedByOne(t *testing.T) {
	b := start(t, 0, 2, 9)
	list := b.waits(3)
	b.load.Flying = 2
	b.land()
	b.land()
	if !list[0].leads || !slices.Equal(list[0].others, list[1:]) || list[1].leads || b.load.Flying != 1 {
		t.Errorf("got %+v, leading %d others; want one call with all", b.load, len(list[0].others))
	}
}

func TestCallersAtOnceWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got [][]int
		b := Batcher[int, int]{Calls: 1, Size: 9, Pause: time.Millisecond, Run: func(_ context.Context, items []int) []int {
			got = append(got, items)
			return items
		}}
		do := func(item int) {
			if out, err := b.Do(t.Context(), item); out != item || err != nil {
				t.Errorf("got %d, %v", out, err)
			}
		}
		began := time.Now()
		do(1) // alone: at once
		if took := time.Since(began); took != 0 {
			t.Errorf("the first took %v", took)
		}
		var callers sync.WaitGroup
		for i := range 3 {
			callers.Go(func() { do(2 + i) })
			synctest.Wait()
		}
		callers.Wait()
		<-time.After(time.Second)
		do(5)
		if len(got) != 3 || !slices.Equal(got[1], []int{2, 3, 4}) || !slices.Equal(got[2], []int{5}) {
			t.Errorf("got the calls %v", got)
		}
	})
}
