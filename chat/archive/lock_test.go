package archive

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns: what is put back at once comes back spread over time, and after a pause the next turn is now.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list turns
		for n := range 1000 {
			if got, want := list.next(), time.Duration(n)*turnPause; got != want {
				t.Fatalf("turn %d: got %v, want %v", n, got, want)
			}
		}
		<-time.After(time.Minute)
		if got := list.next(); got != 0 {
			t.Errorf("after a pause: got %v, want none", got)
		}
	})
}
