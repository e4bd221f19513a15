package redistest

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// Monitor collects the commands that clients send, as MONITOR reports them: one line per command, without those that
// scripts run.
type Monitor struct {
	server *Server
	conn   *Conn
	done   chan struct{}

	mu      sync.Mutex
	lines   []string
	err     error
	markers map[string]chan struct{} // closed when a command with this text was seen
}

// Watch starts collecting, until the test ends or Close is called.
func (s *Server) Watch(tb testing.TB) *Monitor {
	tb.Helper()
	conn, err := Dial(s.Addr)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := conn.Do("MONITOR"); err != nil {
		tb.Fatal(err)
	}
	m := &Monitor{server: s, conn: conn, done: make(chan struct{}), markers: map[string]chan struct{}{}}
	go m.collect()
	tb.Cleanup(m.Close)
	return m
}

// Close stops collecting; after it returns, the server is no longer monitored.
func (m *Monitor) Close() {
	m.conn.Close()
	<-m.done
}

func (m *Monitor) collect() {
	defer close(m.done)
	for {
		_ = m.conn.SetDeadline(time.Time{})
		line, err := m.conn.reply()
		m.mu.Lock()
		if err != nil {
			m.err = err
			m.mu.Unlock()
			return
		}
		text, _ := line.(string)
		if _, command, found := strings.Cut(text, "] "); found && !strings.Contains(text[:len(text)-len(command)], " lua]") {
			m.lines = append(m.lines, command)
			for marker, seen := range m.markers {
				if strings.Contains(command, marker) {
					close(seen)
					delete(m.markers, marker)
				}
			}
		}
		m.mu.Unlock()
	}
}

// Take returns the commands since the last Take, or since Watch: everything that the server ran before Take was called.
func (m *Monitor) Take(tb testing.TB) []string {
	tb.Helper()
	marker := "mark-" + strings.ReplaceAll(time.Now().Format("150405.000000000"), ".", "")
	seen := make(chan struct{})
	m.mu.Lock()
	m.markers[marker] = seen
	m.mu.Unlock()
	m.server.Do("ECHO", marker)
	select {
	case <-seen:
	case <-m.done:
		tb.Fatalf("MONITOR ended: %v", m.err)
	case <-time.After(replyTimeout):
		tb.Fatal("MONITOR does not show what was asked")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.lines
	m.lines = nil
	for i, line := range taken {
		if strings.Contains(line, marker) {
			m.lines = append(m.lines, taken[i+1:]...)
			return taken[:i]
		}
	}
	return taken
}
