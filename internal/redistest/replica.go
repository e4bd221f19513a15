package redistest

import (
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/internal/interval"
)

// AwaitReplica waits until a replica has everything that the server had when it was called, from all clients. WAIT does not
// tell that: it waits for what its own connection has written, which is nothing on a new one.
func (s *Server) AwaitReplica() {
	s.tb.Helper()
	offset := s.Field("replication", "master_repl_offset")
	s.await(func() bool { return s.hasReplica(offset) }, "no replica of %s has what was written before offset %d", s.Addr, offset)
}

// await looks again and again until ok, and else says what is not.
func (s *Server) await(ok func() bool, format string, args ...any) {
	s.tb.Helper()
	deadline := time.After(formTimeout)
	var every interval.Growing
	for !ok() {
		select {
		case <-deadline:
			s.tb.Fatalf(format, args...)
		case <-every.Next():
		}
	}
}

// hasReplica tells whether a replica has confirmed that it has everything up to an offset.
func (s *Server) hasReplica(offset int64) bool {
	s.tb.Helper()
	info, _ := s.Do("INFO", "replication").(string)
	for line := range lines(info) {
		_, about, _ := strings.Cut(line, "state=online,offset=") // slave0:ip=..,port=..,state=online,offset=..,lag=..
		var confirmed int64
		if _, err := fmt.Sscanf(about, "%d", &confirmed); err == nil && confirmed >= offset {
			return true
		}
	}
	return false
}
