package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/presence"
)

// diary is a store that records what presence reports, and fails on request.
type diary struct {
	Store
	mu    sync.Mutex
	pages []string
	down  bool
}

func (d *diary) note(what string, users []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return errors.New("down")
	}
	users = slices.Clone(users)
	slices.Sort(users)
	d.pages = append(d.pages, fmt.Sprint(what, " ", users))
	return nil
}

func (d *diary) Arrive(_ context.Context, _ string, users []string, _ time.Duration) error {
	return d.note("arrive", users)
}

func (d *diary) Depart(_ context.Context, _ string, users []string) error {
	return d.note("depart", users)
}

func (d *diary) SetState(_ context.Context, _ string, state presence.State, users []string) error {
	return d.note(string(state), users)
}

func (d *diary) Heartbeat(_ context.Context, _ string, users, _ []string, _ time.Duration) ([]int64, error) {
	return nil, d.note("heartbeat", users)
}

// wants compares what was recorded since the last call, once nothing more is to be reported.
func (d *diary) wants(t *testing.T, want ...string) {
	t.Helper()
	<-time.After(reportEvery)
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.pages, want) {
		t.Errorf("the store was told %q, want %q", d.pages, want)
	}
	d.pages = nil
}

func (d *diary) fail(down bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = down
}

func TestPresence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		s := New(chat.New(nil, chat.Options{}), d, Options{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { s.runPresence(ctx); close(ended) }()
		d.wants(t)
		<-time.After(time.Minute)
		d.wants(t) // a node without sessions reports nothing

		s.SessionsBegan("bob")
		d.wants(t, "arrive [bob]")
		s.SessionsEnded("bob")
		s.SessionsBegan("bob")
		d.wants(t, "arrive [bob]") // a session that ended before it could be reported is not reported
		s.SessionsBegan("carl")
		s.SessionsEnded("bob")
		d.wants(t, "depart [bob]", "arrive [carl]")
		<-time.After(heartbeatEvery)
		d.wants(t, "heartbeat [carl]")
		<-time.After(2 * heartbeatEvery)
		d.wants(t, "heartbeat [carl]", "heartbeat [carl]")

		s.SetAway("carl", true)
		d.wants(t, "away [carl]")
		s.SetAway("carl", true)
		s.SetAway("nobody", true)
		d.wants(t)
		s.SetAway("carl", false)
		d.wants(t, "online [carl]")

		d.fail(true)
		s.SessionsEnded("carl")
		s.SessionsBegan("dora")
		d.wants(t)
		d.fail(false)
		<-time.After(heartbeatEvery)
		d.wants(t, "depart [carl]", "arrive [dora]", "heartbeat [dora]")

		d.fail(true)
		s.SessionsEnded("dora")
		s.SessionsBegan("erin")
		d.wants(t)
		d.fail(false)
		stop()
		<-ended
		d.wants(t, "depart [dora erin]")
	})
}

// TestPresenceOfManyIsFlat: how often sessions come and go makes no more reports.
func TestPresenceOfManyIsFlat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		s := New(chat.New(nil, chat.Options{}), d, Options{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { s.runPresence(ctx); close(ended) }()
		for i := range 1000 {
			s.SessionsBegan(fmt.Sprint("user", i))
			s.SessionsEnded(fmt.Sprint("user", i/2))
			<-time.After(time.Millisecond)
		}
		stop()
		<-ended
		most := 2 * int(time.Second/reportEvery+2) // some came and some went each time
		if n := len(d.pages); n < most/2 || n > most {
			t.Errorf("%d reports in a second, want %d at most", n, most)
		}
	})
}
