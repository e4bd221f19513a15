package interval

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPausesGrowAndFollowTheLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Growing
		pause := func() time.Duration {
			began := time.Now()
			<-l.Next()
			return time.Since(began)
		}
		before := time.Duration(0)
		for range 20 {
			got := pause()
			if got < before || got < pauseMin || got > pauseMax {
				t.Fatalf("a pause of %v after one of %v", got, before)
			}
			before = got
		}
		if before != pauseMax {
			t.Errorf("the pauses grow to %v, want %v", before, pauseMax)
		}
		<-time.After(time.Second) // a look
		if got := pause(); got != restTimes*time.Second {
			t.Errorf("a pause of %v after a look of a second", got)
		}
	})
}
