package embedded

import (
	"log/slog"
	"time"
)

// aheadMax is how far the scripts' clock may be ahead of the host's before that is logged.
const aheadMax = time.Second

// hostClock is the clock of the scripts. The caller of its methods holds order.
type hostClock struct {
	now    func() time.Time // of the host
	log    *slog.Logger
	lastUs int64     // the last time that it told
	readAt time.Time // when that was, by the host's clock
	ahead  bool      // of the host's clock, which was moved back; logged once
}

// nowUs is the scripts' clock, in us since 1970: the host's, but it never goes backward. If the host's clock was moved
// back, or the journal is from the future, it continues from where it was, a tenth slower until the host's has caught
// up, so that leases still end and tasks become due.
func (s *hostClock) nowUs() int64 {
	now := s.now()
	passed := int64(0)
	if !s.readAt.IsZero() {
		passed = max(now.Sub(s.readAt).Microseconds(), 0)
	}
	s.readAt = now
	host := now.UnixMicro()
	if host >= s.lastUs {
		s.lastUs = host
		s.noteAhead(false, 0)
		return host
	}
	s.lastUs = max(host, s.lastUs+passed-passed/10)
	by := time.Duration(s.lastUs-host) * time.Microsecond
	s.noteAhead(s.ahead || by > aheadMax, by)
	return s.lastUs
}

func (s *hostClock) noteAhead(ahead bool, by time.Duration) {
	if ahead == s.ahead {
		return
	}
	s.ahead = ahead
	if ahead {
		s.log.Warn("embedded store: the host's clock was set back; the store's clock runs a tenth slower until the two agree",
			"ahead", by.Round(time.Second).String())
		return
	}
	s.log.Info("embedded store: the host's clock has caught up")
}
