package redistest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Written returns the length of the append-only file once everything that was answered is in it. Rewind goes back
// there.
func (s *Server) Written() int64 {
	s.tb.Helper()
	// During an fsync, a server that syncs each second buffers its writes for up to two seconds.
	deadline := time.Now().Add(startTimeout)
	for {
		info, _ := s.Do("INFO", "persistence").(string)
		if strings.Contains(info, "aof_buffer_length:0\r\n") {
			break
		}
		if time.Now().After(deadline) {
			s.tb.Fatal("redis-server does not write its append-only file")
		}
	}
	stat, err := os.Stat(s.appendOnlyFile())
	if err != nil {
		s.tb.Fatal(err)
	}
	return stat.Size()
}

// Rewind kills the server and starts it again with the first `written` bytes of its append-only file: as after a power
// failure, or from a backup.
func (s *Server) Rewind(written int64) {
	s.tb.Helper()
	s.stop(syscall.SIGKILL)
	if err := os.Truncate(s.appendOnlyFile(), written); err != nil {
		s.tb.Fatal(err)
	}
	s.run()
}

// appendOnlyFile returns the file that commands are appended to. The tests write too little for the server to start a
// second one.
func (s *Server) appendOnlyFile() string {
	s.tb.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		s.tb.Fatalf("got the append-only files %q, %v; want one", files, err)
	}
	return files[0]
}
