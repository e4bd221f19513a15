package client

import "time"

// Status is how a Stream is connected.
type Status struct {
	By    string    // ByWebsocket or ByPoll; empty: not connected
	Retry time.Time // of the next attempt, if it waits for one; zero: it connects, is connected, or has ended
}

// The ways to be connected.
const (
	ByWebsocket = "websocket"
	ByPoll      = "poll"
)

// status is what a Status is made of. The mutex of the stream guards it.
type status struct {
	retry     time.Time // of the websocket; zero: now
	polling   bool
	polled    bool      // the last poll was answered
	pollRetry time.Time // zero: now
	over      bool
	shown     Status
}

// turn changes how the stream is connected.
func (s *Stream) turn(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.status.shown
	change()
	now := s.status.show(s.live != nil)
	s.status.shown = now
	close(s.turned)
	s.turned = make(chan struct{})
	if now != was && s.opts.Changed != nil {
		s.opts.Changed(now)
	}
}

func (s status) show(live bool) Status {
	switch {
	case s.over:
		return Status{}
	case live:
		return Status{By: ByWebsocket}
	case s.polled:
		return Status{By: ByPoll}
	case s.polling && s.pollRetry.Before(s.retry):
		return Status{Retry: s.pollRetry}
	}
	return Status{Retry: s.retry}
}
